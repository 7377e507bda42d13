"""The section on the people: whose sorts represent the others best, and how far each agrees with the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from consilience.annotations import Groupings
from consilience.inspection.names import listed, name_text
from consilience.inspection.random_sorters import marked_names
from consilience.inspection.report.annotators import mean_with_others
from consilience.inspection.report.subject import Section, Subject
from consilience.inspection.report.tables import Cell, Column, Table, download, name_cell, number, percent, row
from consilience.inspection.words import current_words

FEWEST, MOST = 4, 400  # people
MOST_REPRESENTATIVES = 3
LEAST_GAIN = 0.02  # in the mean agreement of people with the sort nearest to theirs, or a further one is not shown
LEAST_COVERAGE = 0.5  # mean share of the items that somebody sorted
SHOWN = 100  # rows of the table
ITEMS = 12  # items of a group that are listed
RANDOM_READING = (
    "Random sorts that agree as well: of random sorts into groups of the same sizes, the share that agree with the "
    "other {people} at least as well as this {person} does. Probably random: how probable it is that this {person} "
    "sorted at random, given how well the {people} agree in general; from 50% they are marked. Whoever is marked may "
    "have sorted by a principle of their own: look at their groups before leaving them out. "
)
NAMED = 8  # people in a sentence of the findings


@dataclass(frozen=True)
class Representatives:
    """A few people whose sorts stand for those of all.

    Attributes
    ----------
    chosen : places of these people, in the order in which they were found
    agreement : mean over people of the agreement with the nearest of the first one, two, … of them
    nearest : for each person, which of the chosen agrees most with them; -1 if that is unknown
    """

    chosen: list[int]
    agreement: list[float]
    nearest: Int[np.ndarray, " annotators"]

    @classmethod
    def of(
        cls,
        agreement: Float[np.ndarray, "annotators annotators"],
        odd: Bool[np.ndarray, " annotators"] | None = None,
    ) -> Representatives:
        """Choose people one by one, each so that everybody's agreement with the nearest of them is highest on average.

        Somebody chosen agrees with themselves, which does not count. Pairs of people of unknown agreement count as 0.
        Nobody is chosen who is `odd`, unless all are.
        """
        barred = np.zeros(len(agreement), dtype=bool) if odd is None or odd.all() else odd
        known = np.where(np.isfinite(agreement), agreement, 0.0)
        np.fill_diagonal(known, np.nan)
        chosen: list[int] = []
        means: list[float] = []
        best = np.full(len(known), np.nan)
        while len(chosen) < MOST_REPRESENTATIVES:
            reached = np.fmax(best[:, None], known)
            reached[chosen] = np.nan
            np.fill_diagonal(reached, np.nan)
            score = np.nanmean(reached, axis=0)
            score[chosen] = score[barred] = -np.inf
            person = int(score.argmax())
            if chosen and score[person] < means[-1] + LEAST_GAIN:
                break
            chosen.append(person)
            means.append(float(score[person]))
            best = np.fmax(best, known[:, person])
        to_chosen = np.where(np.isfinite(known[:, chosen]), known[:, chosen], np.inf)  # themselves
        nearest = to_chosen.argmax(1)
        seen = np.isfinite(agreement[:, chosen]).any(1)
        return cls(chosen, means, np.where(seen, nearest, -1))


def section(subject: Subject) -> Section | None:
    """Return the section; None unless people sorted, one grouping each, most of the items."""
    annotations = subject.annotations
    if not isinstance(annotations, Groupings) or not FEWEST <= annotations.n_annotators <= MOST:
        return None
    if annotations.n_groupings != annotations.n_annotators or annotations.summary().coverage < LEAST_COVERAGE:
        return None
    agreement = subject.agreement.to_numpy()
    if not np.isfinite(agreement[np.triu_indices(len(agreement), 1)]).any():
        return None
    found = Representatives.of(agreement, standing_out(subject))
    tables = [representatives_table(annotations, agreement, found), people_table(subject, found)]
    return Section(
        "represented", "Whose groups represent the others", _sentences(annotations, agreement, found), tables
    )


def standing_out(subject: Subject) -> Bool[np.ndarray, " annotators"]:
    """Whether each person stands out: at chance, far below the others, or with groups that say nothing."""
    annotations: Any = subject.annotations
    sizes = np.asarray(annotations.incidence.sum(0))
    owner, n = annotations.annotator_of_group, annotations.n_annotators
    odd = (np.bincount(owner, sizes > 0, n) <= 1) | (np.bincount(owner, sizes > 1, n) == 0)
    if subject.random_sorters is not None:
        odd |= subject.random_sorters["random"].to_numpy()
    if subject.can.fuses:
        odd |= subject.annotators["remark"].reindex(annotations.annotators).fillna("").to_numpy() != ""
    return odd


def random_in_short(subject: Subject) -> list[str]:
    """Say who sorted no better than chance; nothing if nobody did, or all who stand out are said elsewhere."""
    names = marked_names(subject.random_sorters)
    if not names or subject.can.fuses:  # a fusion says who stands out, and why
        return []
    words, left = current_words(), len(names) - NAMED
    shown = [name_text(name) for name in names[:NAMED]] + ([f"{left:,} more"] if left > 0 else [])
    verb = "agrees" if len(names) == 1 else "agree"
    return [
        f"{len(names):,} of {words.n_annotators(subject.annotations.n_annotators)} {verb} with the others no better "
        f"than random groups would: {listed(shown)}."
    ]


def _sentences(annotations: Groupings, agreement: np.ndarray, found: Representatives) -> list[str]:
    words, names = current_words(), [name_text(annotations.annotators[place]) for place in found.chosen]
    mean = mean_with_others(subject_frame(annotations, agreement))
    sentences = [
        f"The groups of {names[0]} agree most with those of the others ({number(float(mean[found.chosen[0]]))} on "
        "average)."
    ]
    if len(names) > 1:
        sentences.append(
            f"{listed(names)} together stand for more: the mean agreement of {words.an_annotator} with the nearest of "
            f"them is {number(found.agreement[-1])}, with {names[0]} alone {number(found.agreement[0])}."
        )
    return [*sentences, "Their groups can serve as drafts of a structure that people would recognise."]


def subject_frame(annotations: Groupings, agreement: np.ndarray) -> pd.DataFrame:
    """Return the matrix of agreement with names."""
    return pd.DataFrame(agreement, annotations.annotators, annotations.annotators)


def representatives_table(annotations: Groupings, agreement: np.ndarray, found: Representatives) -> Table:
    """Return the table of these people with their groups, and for how many they stand."""
    words = current_words()
    mean = mean_with_others(subject_frame(annotations, agreement))
    rows = []
    for order, place in enumerate(found.chosen):
        nearest = np.flatnonzero(found.nearest == order)
        others = nearest[nearest != place]
        with_nearest = number(float(np.nanmean(agreement[others, place]))) if len(others) else "–"
        cells = (number(float(mean[place])), f"{len(others):,}", with_nearest, _groups_of(annotations, place))
        rows.append(row(name_cell(annotations.annotators[place]), *cells))
    return Table(
        "representatives",
        f"A few {words.annotators} who represent the others",
        [
            *(Column(words.Annotator, "text"), Column("Agreement with all others"), Column("Nearest to")),
            *(Column("Agreement with these"), Column("Groups", "wide")),
        ],
        rows,
        reading=(
            f"The first has the highest mean agreement (adjusted Rand index) with all others; each further one raises "
            f"most the agreement of everybody with the nearest of them, by at least {LEAST_GAIN:g}. Nearest to: how "
            f"many other {words.annotators} agree most with this one of them."
        ),
    )


def _groups_of(annotations: Groupings, place: int) -> Cell:
    groups = np.flatnonzero(annotations.annotator_of_group == place)
    members = annotations.incidence.tocsc()
    pairs = []
    for group in groups:
        items = members.indices[members.indptr[group] : members.indptr[group + 1]]
        left = len(items) - ITEMS
        text = ", ".join(name_text(annotations.items[item]) for item in items[:ITEMS])
        if len(items):
            text += f" and {left:,} more" if left > 0 else ""
            pairs.append((f"{name_text(annotations.group_names[group])}:", text))
    return Cell(pairs=tuple(pairs))


def people_table(subject: Subject, found: Representatives) -> Table:
    """Return the table of everybody, those who agree least with the others first."""
    words = subject.words
    frame = people_frame(subject, found)
    judged = "random_probability" in frame
    heads = ["Groups", f"{words.Items} sorted", "Agreement with others"]
    heads += ["Random sorts that agree as well", "Probably random"] if judged else []
    shown = frame.iloc[::-1].head(SHOWN)
    rows = [row(*_cells_of_person(name, person, judged)) for name, person in shown.iterrows()]
    left = len(frame) - len(rows)
    views = ["view"] if "view" in frame else []
    return Table(
        "people",
        f"The {words.annotators}, those who agree least with the others first",
        [
            *(Column(words.Annotator, "text"), *map(Column, heads)),
            *(Column("Nearest representative", "text"), *(Column("View") for _ in views)),
        ],
        rows,
        reading=(
            "Agreement with others: mean adjusted Rand index with each of the others, 1 for the same groups and 0 for "
            "agreement by chance. "
            + (RANDOM_READING.format(people=words.annotators, person=words.annotator) if judged else "")
            + "The option leave-out repeats the fit without some of them."
        ),
        more=words.n_annotators(left) + " who agree more" if left > 0 else "",
        download=download("participants.csv", frame.round(4), "annotator"),
    )


def _cells_of_person(name: Any, person: pd.Series, judged: bool) -> list[Any]:
    """Return the cells of a row of the table of people."""
    marked = judged and bool(person["random"])
    cells = [name_cell(name, "flag" if marked else ""), f"{person['n_groups']:,}", f"{person['n_items']:,}"]
    cells.append(number(person["agreement"]))
    if judged:
        cells.append(_share(person["random_p_value"]))
        cells.append(Cell(_share(person["random_probability"]), tone="flag" if marked else ""))
    cells.append(Cell(names=(name_text(person["nearest"]),)))
    return [*cells, *([f"{person['view']}"] if "view" in person else [])]


def _share(value: float) -> str:
    return percent(value) if np.isfinite(value) else "–"


def people_frame(subject: Subject, found: Representatives) -> pd.DataFrame:
    """Return the number of groups and items, the agreement and the nearest representative of each person."""
    annotations: Any = subject.annotations
    summary, sizes = annotations.summary(), np.asarray(annotations.incidence.sum(0))
    names = [annotations.annotators[place] for place in found.chosen]
    frame = pd.DataFrame(
        {
            "n_groups": np.bincount(annotations.annotator_of_group, sizes > 0, annotations.n_annotators).astype(int),
            "n_items": summary.items_per_annotator.to_numpy(),
            "agreement": mean_with_others(subject.agreement),
            "nearest": [names[place] if place >= 0 else "–" for place in found.nearest],
        },
        index=annotations.annotators,
    )
    if subject.random_sorters is not None:
        random = subject.random_sorters
        frame["random_p_value"], frame["random_probability"] = random["p_value"], random["probability"]
        frame["random"] = random["random"]
    if subject.can.has_views:
        frame["view"] = subject.estimator.annotators_["view"].reindex(frame.index).to_numpy()
    return frame.sort_values("agreement", ascending=False, kind="stable", na_position="last")


def left_out_sentence(left_out: tuple[Any, ...]) -> str:
    """Say who was left out of the fit; empty if nobody was."""
    if not left_out:
        return ""
    words, most = current_words(), 12
    names = [name_text(name) for name in left_out]
    shown = names if len(names) <= most else [*names[:most], f"{len(names) - most:,} more"]
    be = "was" if len(names) == 1 else "were"
    return (
        f"{words.n_annotators(len(names)).capitalize()} {be} left out of the fit and of this report: {listed(shown)}."
    )
