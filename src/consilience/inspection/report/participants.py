"""The section on the people: whose sorts represent the others best, and how far each agrees with the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, cast
from warnings import catch_warnings, simplefilter

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from sklearn.base import clone

from consilience.analysis.annotator_frames import AT_CHANCE, SORTED_AT_RANDOM, mean_with_others
from consilience.analysis.cuts import are_moved
from consilience.analysis.folding import is_name
from consilience.analysis.names import as_text, join_names, join_some, name_key, name_text, shorten
from consilience.analysis.random_sorters import (
    DOUBTFUL,
    MOST_PERMUTATIONS,
    N_PERMUTATIONS,
    P_VALUE,
    are_at_chance,
    marked_names,
)
from consilience.analysis.words import Words, current_words
from consilience.annotations import Groupings
from consilience.consensus.groupings.subset_fusion_estimator import SubsetFusion
from consilience.inspection.report.annotators import TIME, minutes
from consilience.inspection.report.explorer import EXPLORED
from consilience.inspection.report.sorts_data import are_shown
from consilience.inspection.report.subject import Section, Subject
from consilience.inspection.report.tables import (
    Cell,
    Column,
    ReportTable,
    download,
    name_cell,
    number,
    percent,
    row,
    set_apart_constants,
)

FEWEST, MOST = 4, 400  # people
MOST_REPRESENTATIVES = 3
LEAST_GAIN = 0.02  # in the mean agreement of people with the sort nearest to theirs, or a further one is not shown
LEAST_COVERAGE = 0.5  # mean share of the items that somebody sorted
ITEMS = 12  # items of a group that are listed
RANDOM_READING = (
    "Random sorts that agree as well: of random sorts into groups of the same sizes, the share that agree with the "
    "other {people} at least as well as this {person} does; from {level:.0%}, the {person} is at chance: not shown to "
    "agree better. Of the others, each counts the less, the more probably they are as if at random, too. As if at "
    "random: of those at chance, how probable it is that these are groups of somebody who sorts at random, and not of "
    "one who sorts as most do; marked from 50%. It is as high for groups that follow a principle of the {person}'s "
    "own: look at them before leaving anybody out. "
)
UNTESTED_READING = (
    "Cannot be told, and dashes: with these groups, and so little agreement, {person} who sorts like the others may "
    "not agree better than random sorts, either. "
)
RANDOM_COMPUTED = (
    "The share of random sorts that agree as well follows from the mean, the spread and the skewness of all such "
    "sorts; from {low:.1%} to {high:.0%} it is counted among {n_sorts} of them, or up to {most:,} near {level:.0%}, of "
    "which one is the {person}'s own. The probability that somebody sorted as if at random can be near 100% although "
    "only 6% of random sorts agree as well, where the sorts of all others agree far better."
)
AS_IF_RANDOM = "As if at random"  # heading of a column
HEADING = "Whose groups represent the others"
NAMED = 8  # people in a sentence of the findings
ODD = 5  # people in that on who stands out
NEARLY_ALL = 0.75  # share of the items in one group, above which that is said
LITTLE = 0.5  # of the usual consistency, below which somebody counts little in a fusion
THAN_MOST = "than most"  # in remarks on outliers
FEW = 4  # people in it, or the names of their groups are left out
OWN_NAMES, LONGEST = 2, 32  # names of a person's groups, and the characters of one
MANY = 0.25  # share of people at chance from which the findings say so before anything about others


@dataclass(frozen=True)
class Representatives:
    """A few people whose sorts stand for those of all.

    chosen : places of these people, in the order in which they were found
    agreement : mean over all others of the agreement with the nearest of the first one, two, … of them
    nearest : for each person, which of the chosen agrees most with them; -1 if none agrees more than by chance
    """

    chosen: list[int]
    agreement: list[float]
    nearest: Int[np.ndarray, " annotators"]

    @classmethod
    def of(
        cls, agreement: Float[np.ndarray, "annotators annotators"], odd: Bool[np.ndarray, " annotators"] | None = None
    ) -> Representatives:
        """Choose people one by one, each of whom raises most the agreement of the others with the nearest of them.

        A gain is a mean over the people who are then not chosen, so nobody's agreement with themselves counts. Pairs of
        people of unknown agreement count as 0. Nobody is chosen who is `odd`, unless all are.
        """
        barred = np.zeros(len(agreement), dtype=bool) if odd is None or odd.all() else odd.copy()
        known = np.where(np.isfinite(agreement), agreement, 0.0)
        others = ~np.eye(len(known), dtype=bool)  # of each candidate, in columns
        chosen: list[int] = []
        reached = np.zeros(len(known))
        while len(chosen) < MOST_REPRESENTATIVES:
            raised = np.maximum(known - reached[:, None], 0.0) if chosen else known
            gain = (raised * others).sum(0) / others.sum(0)
            gain[barred] = -np.inf
            person = int(gain.argmax())
            if chosen and gain[person] < LEAST_GAIN:
                break
            chosen.append(person)
            barred[person], others[person] = True, False
            reached = known[:, chosen].max(1)
        rest = np.delete(known, chosen, axis=0)[:, chosen]
        to_chosen = known[:, chosen]
        to_chosen[chosen, range(len(chosen))] = np.inf  # themselves
        nearest = np.where((to_chosen > 0).any(1), to_chosen.argmax(1), -1)
        return cls(chosen, np.maximum.accumulate(rest, axis=1).mean(0).tolist(), nearest)


def section(subject: Subject) -> Section | None:
    """Return the section; None unless people sorted, one grouping each, most of the items."""
    annotations: Any = subject.as_written
    if not is_shown(subject):
        return None
    agreement = subject.agreement.to_numpy()
    found = Representatives.of(agreement, standing_out(subject))
    tables = [representatives_table(annotations, agreement, found), people_table(subject, found)]
    return Section("represented", HEADING, _sentences(annotations, agreement, found), tables)


def is_shown(subject: Subject) -> bool:
    """Whether people sorted, one grouping each, most of the items, and some two of them the same ones."""
    annotations = subject.annotations
    if not isinstance(annotations, Groupings) or not FEWEST <= annotations.n_annotators <= MOST:
        return False
    if annotations.n_groupings != annotations.n_annotators or annotations.summary().coverage < LEAST_COVERAGE:
        return False
    agreement = subject.agreement.to_numpy()
    return bool(np.isfinite(agreement[np.triu_indices(len(agreement), 1)]).any())


def standing_out(subject: Subject) -> Bool[np.ndarray, " annotators"]:
    """Whether each person stands out: at chance, far below the others, or with groups that say nothing."""
    annotations: Any = subject.annotations
    sizes = np.asarray(annotations.incidence.sum(0))
    owner, n = annotations.annotator_of_group, annotations.n_annotators
    odd = (np.bincount(owner, sizes > 0, n) <= 1) | (np.bincount(owner, sizes > 1, n) == 0)
    if subject.random_sorters is not None:
        odd |= are_at_chance(subject.random_sorters).to_numpy()
    if subject.can.fuses:
        odd |= subject.annotators["remark"].reindex(annotations.annotators).fillna("").to_numpy() != ""
    return odd


def at_chance(subject: Subject) -> list[Any]:
    """Return those whose agreement with the others is no rarer than P_VALUE among random sorts, the least first.

    Those who share too few items with the others to tell are not among them.
    """
    found = subject.random_sorters
    if found is None:
        return []
    share = found["p_value"]
    return share[are_at_chance(found)].sort_values(ascending=False, kind="stable").index.tolist()


def nobody_odd() -> str:
    return f"Nobody stands out, so no {current_words().annotator} needs leaving out."


def odd_in_short(subject: Subject) -> list[str]:
    """Say who stands out and why, but for those said to be at chance; or that nobody does, if everybody was tested."""
    words, frame, said = current_words(), subject.annotators, at_chance(subject)
    odd = frame["remark"][(frame["remark"] != "") & ~frame["remark"].isin((SORTED_AT_RANDOM, AT_CHANCE))][::-1]
    found, is_sort = subject.random_sorters, subject.groups and not subject.can.names_classes
    if odd.empty:
        is_open = said or (is_sort and (found is None or not found["tested"].all()))
        return [] if is_open else [nobody_odd()]
    names = odd.index.tolist()
    known = {name: remark.removeprefix("outlier: ").partition(":")[0] for name, remark in odd.items()}
    far = odd.index[odd.str.contains(THAN_MOST, regex=False)]
    for name in far:
        known[name] += f"; agreement with the others {number(frame.loc[name, 'with_others'])}"
        if found is not None:
            known[name] += f"; {_share(found.loc[name, 'p_value'])} of random sorts agree as well"
    verb, who = "stands" if len(names) == 1 else "stand", words.n_annotators(len(frame))
    listed, end = join_some([f"{name_text(name)} ({remark})" for name, remark in known.items()], ODD), "."
    if len(far):
        listed = _some_with_groups(subject, names, known)
        end = f"{_without(subject, names)}. Look at the groups before you leave anybody out."
    return [f"{len(names):,} of {who} {verb} out: {listed}{end}"]


def are_many_at_chance(subject: Subject) -> bool:
    """Whether so many people are at chance that it must be said first."""
    return len(at_chance(subject)) >= MANY * subject.annotations.n_annotators


def chance_in_short(subject: Subject) -> list[str]:
    """Say who is at chance, by which rule, and who of them sorts as if at random; nothing if nobody is."""
    names, n_people = at_chance(subject), subject.annotations.n_annotators
    if not names:
        return _untested_in_short(subject)
    words, one = current_words(), len(names) == 1
    half = 2 * len(names) - n_people
    of_panel = "" if half < 0 else ", most of the panel," if half else ", half of the panel,"
    n_tested = int(cast(pd.DataFrame, subject.random_sorters)["tested"].sum())
    people = words.n_annotators(n_people) if n_tested == n_people else f"the {words.n_annotators(n_tested)} tested"
    are_marked = set(names) == set(marked_names(cast(pd.DataFrame, subject.random_sorters)))  # and named there
    who = "" if are_marked else f": {join_some(list(map(name_text, names)), NAMED)}"
    return [
        f"{len(names):,} of {people}{of_panel} {'sorts' if one else 'sort'} at chance: at least {P_VALUE:.0%} of "
        f"random sorts agree as well{who}. {_probably_random(subject)}",
        *_untested_in_short(subject),
    ]


def _untested_in_short(subject: Subject) -> list[str]:
    """Say of how many people nobody can tell whether they sort at random, if they are many."""
    found, words = subject.random_sorters, current_words()
    if found is None:
        return []
    n_untested = int((found["p_value"].notna() & ~found["tested"]).sum())
    if n_untested < MANY * len(found):
        return []
    if is_nobody_tested(subject) and is_shown(subject):
        few = words.n_items(subject.annotations.n_items)
        return [
            f"With {few} and no more agreement than this, no {words.annotator} can be tested for sorting at random: "
            "low agreement may be chance."
        ]
    who = f"{n_untested:,} of {words.n_annotators(len(found))}"
    return [
        f"Whether {who} sorted at random cannot be told: the {words.items} that they have in common with the "
        "others are too few for a test where people agree so little."
    ]


def is_nobody_tested(subject: Subject) -> bool:
    """Whether nobody could be compared with random sorts."""
    found = subject.random_sorters
    return found is not None and not found["tested"].any()


def _probably_random(subject: Subject) -> str:
    found, words = subject.random_sorters, current_words()
    if found is None or found["probability"].isna().all():
        return f"The {words.annotators} agree too little to tell who of them sorted at random."
    marked = marked_names(found)
    if not marked:
        return "None of them is as if at random with a probability of 50% or more."
    verb, own = ("Sorts", "a principle") if len(marked) == 1 else ("Sort", "principles")
    known = {name: f"{_share(found.loc[name, 'p_value'])} of random sorts agree as well" for name in marked}
    names = _some_with_groups(subject, marked, known)
    return (
        f"{verb} unlike most others, as if at random or by {own} that few share: {names}. "
        f"{_how_they_count(subject, marked)}{_without(subject, marked)}; look at the groups."
    )


def _without(subject: Subject, names: list[Any]) -> str:
    """Say what the clusters would be without some people; nothing of many, and of models that are slow to fit."""
    sorts = subject.annotations
    if not isinstance(subject.estimator, SubsetFusion) or len(names) > NAMED or sorts.n_annotators > MOST:
        return ""
    told = subject.told_without
    if tuple(names) not in told:
        told[tuple(names)] = _say_clusters_without(subject, names)
    return told[tuple(names)]


def _say_clusters_without(subject: Subject, names: list[Any]) -> str:
    sorts, codes = subject.annotations, subject.clusters.codes
    with catch_warnings():
        simplefilter("ignore")  # those of the fit have been told
        found = clone(subject.estimator).fit(cast(Groupings, sorts).leave_out(names))
    words, both = current_words(), (found.labels_ >= 0) & (codes >= 0)
    n_moved = int(are_moved(found.labels_[both], codes[both]).sum())
    same = found.n_clusters_ == subject.estimator.n_clusters_
    if same and not n_moved:
        return "; without, the clusters would be the same"
    number_of = "as many" if same else f"{found.n_clusters_:,}"
    return f"; without, there would be {number_of} clusters, and {words.n_items(n_moved)} elsewhere"


def _how_they_count(subject: Subject, names: list[Any]) -> str:
    """Say what those who sort as if at random, who are all kept, decide."""
    they = "This one is kept, and counts" if len(names) == 1 else "They are kept, and count"
    if subject.can.fuses and subject.estimator.refined_:
        consistency = subject.estimator.annotators_["consistency"]
        if (consistency[names] < LITTLE * consistency.median()).all():
            return f"{they} little in the clusters, fully in the map, the matrix and the tree"
    return f"{they} in the clusters and in all figures"


def _some_with_groups(subject: Subject, names: list[Any], known: Mapping[Any, str] = MappingProxyType({})) -> str:
    """Name people, with what is known of each; if they are few, with what they call their largest groups, too."""
    annotations, few = subject.as_written, len(names) <= FEW
    about = [[known[name]] if name in known else [] for name in names]
    if few and isinstance(annotations, Groupings):
        about = [[*said, *_about_groups(subject, annotations, name)] for said, name in zip(about, names, strict=True)]
    each = [
        name_text(name) + (f" ({'; '.join(said)})" if said else "") for name, said in zip(names, about, strict=True)
    ]
    return join_names(each) if few else join_some(each, NAMED)


def _about_groups(subject: Subject, annotations: Groupings, person: Any) -> list[str]:
    """Say that a person put nearly all items into one group, and how the largest groups are called, if they are."""
    groups = np.flatnonzero(annotations.annotator_of_group == annotations.annotators.get_loc(person))
    sizes = np.asarray(annotations.incidence.sum(0))[groups]
    names = [annotations.group_names[group] for group in groups[np.argsort(-sizes, kind="stable")]]
    shown = [f"“{shorten(name_text(name), LONGEST)}”" for name in names if is_name(name_key(as_text(name)))][:OWN_NAMES]
    most, n_sorted = int(sizes.max(initial=0)), int(sizes.sum())
    lumped = [f"{most:,} of {n_sorted:,} in one group"] if most > NEARLY_ALL * n_sorted else []
    return [*lumped, *([", ".join(shown)] if shown else ["gave no names"] if subject.n_namers else [])]


def about_measures(subject: Subject) -> list[str]:
    """Say how the measures of who sorts like whom differ; nothing if nobody was compared with random sorts."""
    if subject.random_sorters is None:
        return []
    if is_nobody_tested(subject):
        return _untested_in_short(subject)
    words = current_words()
    where = f" (in “{HEADING}”)" if is_shown(subject) else ""
    return [
        f"Whether {words.an_annotator} is at chance tests their agreement with the others against random sorts into "
        f"groups of the same sizes{where}; the other figures answer other questions. Agreeing less than most is no "
        "reason to leave anybody out."
    ]


def _sentences(annotations: Groupings, agreement: np.ndarray, found: Representatives) -> list[str]:
    words, names = current_words(), [name_text(annotations.annotators[place]) for place in found.chosen]
    mean = mean_with_others(subject_frame(annotations, agreement))
    sentences = [
        f"The groups of {names[0]} agree most with those of the others ({number(float(mean[found.chosen[0]]))} on "
        "average). Those who represent others are examples, not points of view."
    ]
    if len(names) > 1:
        sentences.append(
            f"{join_names(names)} together stand for more: the mean agreement of all other {words.annotators} with the "
            f"nearest of them is {number(found.agreement[-1])}, with {names[0]} alone {number(found.agreement[0])}."
        )
    return sentences


def subject_frame(annotations: Groupings, agreement: np.ndarray) -> pd.DataFrame:
    """Return the matrix of agreement with names."""
    return pd.DataFrame(agreement, annotations.annotators, annotations.annotators)


def representatives_table(annotations: Groupings, agreement: np.ndarray, found: Representatives) -> ReportTable:
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
    return ReportTable(
        "representatives",
        f"A few {words.annotators} who represent the others",
        [
            *(Column(words.Annotator, "text"), Column("Agreement with all others"), Column("Nearest for")),
            *(Column("Agreement with these"), Column("Groups", "wide")),
        ],
        rows,
        reading=(
            f"The first has the highest mean agreement with all others; each further one raises "
            f"most the mean agreement of the others with the nearest of them, by at least {LEAST_GAIN:g}. Nearest for: "
            f"how many other {words.annotators} agree most with this one of them."
        ),
    )


def _groups_of(annotations: Groupings, place: int) -> Cell:
    groups = np.flatnonzero(annotations.annotator_of_group == place)
    members = annotations.incidence.tocsc()
    named = [is_name(name_key(as_text(annotations.group_names[group]))) for group in groups]
    nameless = "unnamed:" if any(named) else "•"
    pairs = []
    for group, has_name in zip(groups, named, strict=True):
        items = members.indices[members.indptr[group] : members.indptr[group + 1]]
        left = len(items) - ITEMS
        text = ", ".join(name_text(annotations.items[item]) for item in items[:ITEMS])
        if len(items):
            text += f" and {left:,} more" if left > 0 else ""
            pairs.append((f"{name_text(annotations.group_names[group])}:" if has_name else nameless, text))
    return Cell(pairs=tuple(pairs))


def people_table(subject: Subject, found: Representatives) -> ReportTable:
    """Return the table of everybody, those who agree least with the others first."""
    words = subject.words
    frame = people_frame(subject, found)
    judged = "random_probability" in frame and not is_nobody_tested(subject)
    heads = ["Groups", "Largest", f"{words.Items} sorted", "Agreement with others"]
    heads += ["Random sorts that agree as well", AS_IF_RANDOM] if judged else []
    heads += [TIME.head] if TIME.fits(frame) else []
    cells = [row(*_cells_of_person(name, person, judged)) for name, person in frame.iloc[::-1].iterrows()]
    views = ["view"] if "view" in frame else []
    columns = [Column(words.Annotator, "text"), *map(Column, heads)]
    columns += [Column("Nearest representative", "text"), *(Column("View") for _ in views)]
    columns, rows, constant = set_apart_constants(columns, cells)
    unknown = judged and (frame["random_p_value"].notna() & frame["random_probability"].isna()).any()
    return ReportTable(
        "people",
        f"The {words.annotators} and who represents them, those who agree least with the others first",
        columns,
        rows,
        order="those who agree least with the others first",
        reading=(
            f"{constant}Agreement with others: the mean with each of the others, 1 for the same groups and 0 for "
            "agreement by chance. "
            + _how_to_see_groups(subject)
            + (random_reading(words) if judged else "")
            + (UNTESTED_READING.format(person=words.an_annotator) if unknown else "")
            + _how_to_leave_out([] if not judged else frame.index[frame["at_chance"]][::-1].tolist())
        ),
        download=download(
            "annotators-agreement.csv", frame.drop(columns="at_chance", errors="ignore").round(4), "annotator"
        ),
    )


def _how_to_see_groups(subject: Subject) -> str:
    words, annotations = current_words(), subject.annotations
    if not isinstance(annotations, Groupings) or not are_shown(annotations, annotations.n_items):
        return ""
    return f"To see the groups of one of them, choose the {words.annotator} as the colours of “{EXPLORED}”. "


def random_reading(words: Words) -> str:
    """Say how to read the columns on random sorts."""
    return RANDOM_READING.format(people=words.annotators, person=words.annotator, level=P_VALUE)


def random_computed(subject: Subject) -> list[str]:
    """Say how these columns were computed; nothing if nobody was compared with random sorts."""
    if subject.random_sorters is None or is_nobody_tested(subject) or not is_shown(subject):
        return []
    low, high = DOUBTFUL
    draws = {"n_sorts": N_PERMUTATIONS + 1, "most": MOST_PERMUTATIONS + 1, "level": P_VALUE}
    return [RANDOM_COMPUTED.format(person=subject.words.annotator, low=low, high=high, **draws)]


def _how_to_leave_out(names: list[Any]) -> str:
    """Name the commands that repeat a fit without some people, with two of those at chance as the example."""
    few = [name_text(name) for name in names[:2]]
    example = ",".join(few) if few and not any({",", '"'} & set(name) for name in few) else "names.txt"
    return (
        "To repeat the fit without some of them, add the option leave-out to the command consilience fit or "
        f'consilience fuse, with names separated by commas or a file of names: "{example}". In Python, fit the '
        "annotations that their method leave_out returns."
    )


def _cells_of_person(name: Any, person: pd.Series, judged: bool) -> list[Any]:
    """Return the cells of a row of the table of people."""
    marked = judged and bool(person["random"])
    counts = (f"{person[column]:,}" for column in ("n_groups", "n_largest", "n_items"))
    cells = [name_cell(name, "flag" if marked else ""), *counts]
    cells.append(number(person["agreement"]))
    if judged:
        cells.append(_chance(person))
        probability = _share(person["random_probability"]) if person["at_chance"] else "–"
        cells.append(Cell(probability, tone="flag" if marked else ""))
    cells += [minutes(person["seconds"])] if "seconds" in person else []
    cells.append(Cell(names=(name_text(person["nearest"]),)))
    return [*cells, *([f"{person['view']}"] if "view" in person else [])]


def _chance(person: pd.Series) -> str:
    value = person["random_p_value"]
    share = f"{value:.1%}" if abs(value - P_VALUE) < 0.005 else _share(value)  # 4.6% is not at chance, 5% would be
    if person["at_chance"]:
        return f"at chance: {share}"
    return share if person["tested"] or not value >= P_VALUE else "cannot be told"


def _share(value: float) -> str:
    return percent(value) if np.isfinite(value) else "–"


def people_frame(subject: Subject, found: Representatives) -> pd.DataFrame:
    """Return the number of groups and items, the agreement and the nearest representative of each person."""
    annotations: Any = subject.annotations
    summary, sizes = annotations.summary(), np.asarray(annotations.incidence.sum(0))
    names = [annotations.annotators[place] for place in found.chosen]
    largest = np.zeros(annotations.n_annotators, dtype=int)
    np.maximum.at(largest, annotations.annotator_of_group, sizes)
    frame = pd.DataFrame(
        {
            "n_groups": np.bincount(annotations.annotator_of_group, sizes > 0, annotations.n_annotators).astype(int),
            "n_largest": largest,
            "n_items": summary.items_per_annotator.to_numpy(),
            "agreement": mean_with_others(subject.agreement),
            "nearest": [names[place] if place >= 0 else "–" for place in found.nearest],
        },
        index=annotations.annotators,
    )
    if subject.random_sorters is not None:
        random = subject.random_sorters
        frame["random_p_value"], frame["random_probability"] = random["p_value"], random["probability"]
        frame["random"], frame["tested"] = random["random"], random["tested"]
        frame["at_chance"] = are_at_chance(random)
    if subject.seconds is not None:
        frame["seconds"] = subject.seconds
    if subject.can.has_views:
        frame["view"] = subject.estimator.annotators_["view"].reindex(frame.index).to_numpy()
    return frame.sort_values("agreement", ascending=False, kind="stable", na_position="last")


def left_out_sentence(left_out: tuple[Any, ...]) -> str:
    """Say who was left out of the fit; empty if nobody was."""
    if not left_out:
        return ""
    words, names = current_words(), [name_text(name) for name in left_out]
    be = "was" if len(names) == 1 else "were"
    who = words.n_annotators(len(names)).capitalize()
    return f"{who} {be} left out of the fit and of this report: {join_some(names)}."
