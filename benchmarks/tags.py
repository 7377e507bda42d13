"""Tags by simulated crowds, and recorded classes read as tags: TagConsensus, DawidSkene for each tag, and votes.

    python -m benchmarks.tags [--draws 4] [--csv FILE]
    python -m benchmarks.tags recorded [--csv FILE]

Simulated: 8 tags, which items have with shares of Beta(2, 6), 15 annotators, 4 of whom see each item. Annotators are
alike for all tags (likeness 500), nearly (10) or different for each (2), see `simulate_tags`. The model was developed
on seeds 100 to 103; figures are told of seeds from 0. Recorded: the nine sets of `load_crowd_labels`, each class a tag,
so that every label is a set of one; their classes exclude each other, which no method is told. The floors of the
calibration were learned from these sets, as classes of DawidSkene.

Log loss is in nats an item and tag, errors are shares of the items and tags. "posterior" is ``calibrate=False``. Votes
are the share of those who saw an item that gave it the tag, with half an answer of yes and half an answer of no added.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.people.label_crowds import RECORDED, recorded
from consilience import Labels
from consilience.annotations.tags import TagSets
from consilience.consensus import DawidSkene, TagConsensus
from consilience.estimators.labels import posterior_of
from consilience.simulation import simulate_tags

N_TAGS, N_ANNOTATORS, EACH = 8, 15, 4
LIKENESS = {"alike": 500.0, "nearly alike": 10.0, "different": 2.0}
N_ITEMS = (150, 600)
SMALLEST = 1e-12  # probability

Probabilities = np.ndarray


def draw(likeness: float, n_items: int, seed: int) -> tuple[np.ndarray, Labels]:
    """Return which items have which tags, and what annotators say."""
    rng = np.random.default_rng([seed, n_items])
    truth = rng.random((n_items, N_TAGS)) < rng.beta(2, 6, N_TAGS)
    options = {"n_annotators": N_ANNOTATORS, "annotators_per_item": EACH, "likeness": likeness}
    return truth, simulate_tags(truth, **options, random_state=rng)


def votes(labels: Labels) -> Probabilities:
    """Return the share of those who saw an item that gave it the tag, smoothed."""
    sets = TagSets.of(labels)
    given = np.zeros((len(labels), len(sets.tags)))
    np.add.at(given, (sets.item, sets.tag), 1)
    return (given + 0.5) / (np.asarray(sets.seen.sum(1)).ravel()[:, None] + 1)


def each_tag(labels: Labels) -> tuple[Probabilities, Probabilities]:
    """Fit `DawidSkene` to each tag, with yes and no; return its probabilities and its posterior."""
    sets = TagSets.of(labels)
    item, annotator = sets.seen.nonzero()
    found = np.empty((2, len(labels), len(sets.tags)))
    for tag in range(len(sets.tags)):
        said = np.zeros(sets.seen.shape, dtype=bool)
        of_it = sets.tag == tag
        said[sets.item[of_it], sets.annotator[of_it]] = True
        said_of_it = np.where(said[item, annotator], "yes", "no")
        frame = pd.DataFrame({"item": item, "annotator": annotator, "label": said_of_it})
        answers = Labels.from_frame(frame, items=range(len(labels)), classes=["no", "yes"])
        model = DawidSkene(copies=None).fit(answers)
        found[:, :, tag] = model.responsibilities_[:, 1], posterior_of(model)[:, 1]
    return found[0], found[1]


def tell_by_all(labels: Labels) -> dict[str, Probabilities]:
    """Return the probabilities by each method."""
    told, posterior = each_tag(labels)
    return {
        "TagConsensus": TagConsensus().fit(labels).probabilities_,
        "TagConsensus, posterior": TagConsensus(calibrate=False).fit(labels).probabilities_,
        "DawidSkene a tag": told,
        "DawidSkene a tag, posterior": posterior,
        "votes": votes(labels),
    }


def score(probabilities: Probabilities, truth: np.ndarray) -> tuple[float, float]:
    """Return the log loss, and the share of wrong tags."""
    right = np.where(truth, probabilities, 1 - probabilities)
    return float(-np.log(np.maximum(right, SMALLEST)).mean()), float(((probabilities > 0.5) != truth).mean())


def measure(labels: Labels, truth: np.ndarray, known: np.ndarray | slice = slice(None)) -> dict[str, float]:
    """Return the figures of all methods for one crowd."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few annotators, and of people who never give a tag
        for name, probabilities in tell_by_all(labels).items():
            loss, wrong = score(probabilities[known], truth)
            found |= {f"log loss, {name}": loss, f"errors, {name}": wrong}
    return found


def simulated(draws: int) -> pd.DataFrame:
    """Return means over draws for each kind of crowd."""
    rows = {}
    for kind, likeness in LIKENESS.items():
        for n_items in N_ITEMS:
            each = [
                measure(labels, truth) for truth, labels in (draw(likeness, n_items, seed) for seed in range(draws))
            ]
            rows[f"{kind}, {n_items} items"] = pd.DataFrame(each).mean()
            print(f"{kind}, {n_items} items", flush=True)
    return pd.DataFrame(rows).T


def of_recorded() -> pd.DataFrame:
    """Return the figures of each recorded set, and their means."""
    rows = {}
    for name in RECORDED:
        crowd = recorded(name)
        known = np.flatnonzero(crowd.truth >= 0)
        truth = np.eye(crowd.labels.n_classes, dtype=bool)[crowd.truth[known]]
        rows[name] = pd.Series(measure(crowd.labels, truth, known))
        print(name, flush=True)
    table = pd.DataFrame(rows).T
    return pd.concat([table, table.mean().to_frame("mean").T])


def main() -> None:
    """Print the figures, and write them as CSV if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["simulated", "recorded"], default="simulated")
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--csv", type=Path)
    given = parser.parse_args()
    table = simulated(given.draws) if given.what == "simulated" else of_recorded()
    table = table.round(3).rename_axis("crowd")
    print(table.to_string())
    if given.csv is not None:
        table.to_csv(given.csv)


if __name__ == "__main__":
    main()
