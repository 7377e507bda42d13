"""Paper 2, Figs. 3 to 5 and Table 1: informative sets in sparse crowds, and errors on real labels.

Protocol (Zhao & Zucker, section 4). Figs. 3 and 4: 100 annotators label 1000 items of 3 classes; annotator i of the
first 30 is right with a probability that falls from 0.7 to 0.45, the others draw labels from one distribution each.
Fig. 5: the first 5, 10, 15 or 20 of 100 annotators are right with probability 0.6; 20 draws of crowd, classes and
labels (the paper: 10). Table 1: real labels; methods that draw random numbers are run from ten seeds. Known classes
are used only to count errors.

Ours are compared with the methods of crowd-kit at their defaults. Its Wawa and ZeroBasedSkill cannot predict with
scikit-learn 1.7 and later; their skills weigh crowd-kit's majority vote, as their predict does. peerannot needs PyTorch
to be imported, which this project does not use.
"""

from __future__ import annotations

from typing import Any

from benchmarks.experiments import Claim, Page, Part, Record
from benchmarks.experiments.statistics import paired
from benchmarks.papers.stagewise_parts.errors import (
    ALPHAS,
    cells_of_errors,
    compute_errors,
    draw_errors,
    errors,
    exact_sets,
    table_of_errors,
)
from benchmarks.papers.stagewise_parts.labels import (
    N_SEEDS,
    RANDOM,
    cells_of_labels,
    compute_labels,
    is_constant,
    quotes_of_labels,
    table_of_labels,
    wrong_items,
)
from benchmarks.papers.stagewise_parts.rounds import (
    cells_of_information,
    cells_of_rounds,
    compute_information,
    compute_rounds,
    draw_information,
    draw_rounds,
    summary_of_draws,
    table_of_information,
    table_of_rounds,
)
from benchmarks.papers.stagewise_parts.setting import DEFAULT, MODELS, N_CLASSES, STAGES, TRUE


def tables(record: Record) -> dict[str, str]:
    blocks = [table_of_rounds(record), table_of_information(record), table_of_errors(record), table_of_labels(record)]
    return {"stagewise.txt": "\n\n\n".join("\n".join(block) for block in blocks) + "\n"}


def quotes(record: Record) -> dict[str, Any]:
    """Count what the sentences of the page quote."""
    found, sets = errors(record), exact_sets(record)
    gaps = [paired(found.loc[f"{alpha:.2f}", DEFAULT], found.loc[f"{alpha:.2f}", TRUE]) for alpha in ALPHAS]
    stages = record.frame("errors", model=STAGES).set_index(["data", "draw"])
    whole = stages["classes"] == N_CLASSES
    behind = (found[STAGES] - found[TRUE])[whole].groupby("data").mean()
    at_most = stages.loc[f"{ALPHAS[-1]:.2f}"]
    return {
        "seeds": N_SEEDS,
        "random": len(RANDOM),
        "constant": sum(is_constant(record, name) for name in RANDOM),
        "rounds": summary_of_draws(record),
        "alphas": len(ALPHAS),
        "level_with_truth": sum(gap.verdict == "level" for gap in gaps),
        "largest_gap": max(abs(gap.mean) for gap in gaps),
        "exact": int(sets["exact"].sum()),
        "sets": len(sets),
        "stuck": int((~whole).sum()),
        "stages_behind": behind.to_dict(),
        "few": (at_most["experts"] + at_most["others"])[whole.loc[f"{ALPHAS[-1]:.2f}"]].astype(int).tolist(),
        "mean": found.loc[f"{ALPHAS[0]:.2f}"].mean().to_dict(),
        "tied": int(record.frame("labels", data="rte")["tied"].max()),
    } | quotes_of_labels(record)


def claims(record: Record) -> list[Claim]:
    """Compare with Figs. 3 to 5 and Table 1."""
    found, rounds = quotes(record), summary_of_draws(record)
    refined, stages = (wrong_items(record, "bluebird")[name] for name in ("StagewiseEM(refine='all')", STAGES))
    means = errors(record).groupby("data").mean()
    lowest = int((means[DEFAULT] < means[[name for name in MODELS if name != DEFAULT]].min(axis=1)).sum())
    return [
        Claim(
            "StageEM-refine, error on bluebird", "10.19 %", f"{refined.mean():.2f} %",
            "met" if f"{refined.mean():.2f}" == "10.19" else "missed",
        ),
        Claim(
            "StageEM, error on bluebird", "12.04 %", f"{stages.mean():.2f} %",
            "met" if stages.mean() <= 12.04 else f"missed: by {(stages.mean() - 12.04) / 100 * stages.shape[1]:.0f} of "
            f"{stages.shape[1]} items",
        ),
        Claim("errors on dog", "20.69 and 16.73 %", found["error"]["dog"]["stages"] + " and "
              + found["error"]["dog"]["refined"] + " %", "not comparable: another file of dog"),
        Claim(
            "the first eight to enter are among the 15 best (Fig. 4)", "all, in one draw",
            f"all in {rounds['all_of_15']} of the {rounds['complete']} draws that come to three classes",
            "met" if 2 * rounds["all_of_15"] > rounds["complete"] else "missed",
        ),
        Claim(
            "size of the set after the stages (Fig. 3)", "fewer than about 10",
            f"{min(rounds['sizes'])} to {max(rounds['sizes'])}",
            "met" if max(rounds["sizes"]) < 10 else "missed: the paper gives no rule to stop",
        ),
        Claim(
            "lowest error in sparse crowds (Fig. 5), by our default", "at every α, as curves",
            f"lowest mean at {lowest} of {found['alphas']} α; level with the true model at {found['level_with_truth']}",
            "met" if lowest == found["alphas"] else "missed",
        ),
    ]  # fmt: skip


PAGE = Page(
    "stagewise",
    parts=(
        Part("rounds", cells_of_rounds, compute_rounds),
        Part("information", cells_of_information, compute_information),
        Part("errors", cells_of_errors, compute_errors),
        Part("labels", cells_of_labels, compute_labels),
    ),
    tables=tables,
    quotes=quotes,
    claims=claims,
    plots={
        "stagewise_rounds.svg": draw_rounds,
        "stagewise_information.svg": draw_information,
        "stagewise_errors.svg": draw_errors,
    },
)
