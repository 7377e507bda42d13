"""Paper 5: the pinwheel, partly annotated faces, and handwritten digits with a real crowd.

pinwheel  500 points in five arms; 20 workers of accuracy .9 judge 49 pairs each of 100 of them, or there are none.
          BayesSCDC, the best of ten restarts by the bound; with our settings, and with the paper's.
faces     624 CMU faces, pose as truth, 20 principal components; five workers of accuracies .95 to .75 judge 200 to 2000
          pairs each, of all faces or of a hundred: the deep models, on the draws of `multiple_views`.
peers     the same with settings of the other methods chosen on other draws.
digits    60 000 pictures of MNIST; 48 workers grouped 2759 of them, 36 at a time, or there are no annotations.
defaults  small data and MNIST, by BayesSCDC with its defaults alone, beside k-means and PartitionLabelModel.
sheets    6000 of the pictures, with none, some and all of the sheets that people sorted.
training  clusters and latent space of the pinwheel, and images of clusters of the digits, after some and many epochs.
published the settings of the paper and of its authors' program, on faces and digits.
"""

from __future__ import annotations

from typing import Any

from benchmarks.experiments import Claim, Page, Record
from benchmarks.experiments.statistics import mean_sd
from benchmarks.papers.deep_parts import defaults, digits, faces, pinwheel, published, sheets, training

IN_TABLE = (pinwheel, faces, digits, published, defaults, sheets)


def tables(record: Record) -> dict[str, str]:
    blocks = [part.table(record) for part in IN_TABLE]
    return {"deep.txt": "\n\n\n".join("\n".join(block) for block in blocks) + "\n"}


def quotes(record: Record) -> dict[str, Any]:
    return {part.PART.name: part.quotes(record) for part in IN_TABLE}


def claims(record: Record) -> list[Claim]:
    """Compare with the paper's table of the digits, its pinwheel and its faces."""
    rows = []
    for part, data, name, reported in (
        ("digits", digits.JUDGED, "BayesSCDC", 0.8424),
        ("digits", digits.JUDGED, "SCDC", 0.8187),
        ("digits", digits.ALONE, "BayesSCDC", 0.7764),
        ("digits", digits.ALONE, "SCDC", 0.6592),
        ("pinwheel", pinwheel.JUDGED, "BayesSCDC", 0.966),
        ("pinwheel", pinwheel.JUDGED, "as published", 0.966),
        ("pinwheel", pinwheel.ALONE, "BayesSCDC", 0.956),
    ):
        found = record.frame(part)
        accuracy = found[(found["data"] == data) & (found["model"] == name)]["accuracy"]
        reached = accuracy.mean() >= reported
        reason = ": how its networks start is not published" if name == "as published" else ""
        given = " (given ten clusters)" if data == digits.ALONE and name == "SCDC" else ""
        text = f"{name}, {part} {data}: accuracy{given}"
        rows.append(Claim(text, f"{reported:.3f}", mean_sd(accuracy), "met" if reached else f"missed{reason}"))
    some = faces.quotes(record)["verdicts"]["some"]
    above = {name: verdicts.count("above") for name, verdicts in some.items()}
    below = sum(verdicts.count("below") for verdicts in some.values())
    ours = "; ".join(f"{name} above the best peer in {count} of {len(some[name])}" for name, count in above.items())
    text = "deep models are better on faces of which 100 are annotated (settings chosen)"
    return [*rows, Claim(text, "curves", ours, "missed" if below else "met")]


PAGE = Page(
    "deep",
    parts=(
        faces.OF_PEERS,
        pinwheel.PART,
        faces.PART,
        digits.PART,
        defaults.PART,
        sheets.PART,
        training.PART,
        published.PART,
    ),
    tables=tables,
    quotes=quotes,
    claims=claims,
    plots={
        "deep_faces.svg": faces.draw,
        "deep_digits.png": digits.draw,
        "deep_pinwheel_training.svg": training.draw_pinwheel,
        "deep_digits_training.png": training.draw_digits,
    },
    others=("multiple_views",),
)
