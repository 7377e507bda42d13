"""Would fewer clusters do, or more? Cuts of the tree of the items, compared by agreement and silhouette."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
import pandas as pd
from jaxtyping import Int

from consilience.analysis.cut_figures import (
    AS_GOOD,
    AS_OWN,
    BEST,
    BETTER,
    LESS,
    LITTLE,
    CutFigures,
    OwnClusters,
    joined_and_apart,
)
from consilience.analysis.cuts import ABOUT_SILHOUETTE
from consilience.analysis.item_places import count_apart
from consilience.analysis.names import join_names, join_some, name_text, quantify
from consilience.analysis.words import current_words
from consilience.inspection.report.subject import Section, Subject
from consilience.inspection.report.tables import Cell, Column, ReportTable, download, number, row
from consilience.metrics.clusterings import ari

NAMED = 8  # items that a cut puts elsewhere, in a sentence
HEADING = "Fewer clusters, or more"
ALONE = "leaves"
DIVIDERS = 0.25  # share of the people who divide a cluster, for it to be said
DIVISIONS = 2  # clusters in two parts that are said
EXPLAINED = 2  # cuts that are nearly as good, and are said to join or leave what


def section(subject: Subject) -> Section | None:
    """Return the section on cuts into fewer or more clusters; None if the items cannot be explored."""
    if subject.cuts is None:
        return None
    found, own = subject.cuts
    own = replace(own, divided=tuple(divided_by_people(subject)))
    return Section("cuts", HEADING, sentences(found, own), [table(found, own)])


def divided_by_people(subject: Subject) -> list[OwnClusters]:
    """Return the report's clusters with one in two parts that many people keep apart, or others would."""
    if subject.cuts is None:
        return []
    likely = {tuple(split.items) for split in subject.moves.splits} if subject.certainty is not None else set()
    least = DIVIDERS * subject.annotations.n_annotators
    divided = subject.cuts[1].divided
    return [part for part in divided if tuple(_new(subject, part)) in likely or count_dividers(subject, part) >= least]


def count_dividers(subject: Subject, part: OwnClusters) -> int:
    """Count who has most of a part of a cluster apart from most of the rest; 0 if some sorted several times."""
    if subject.places is None:
        return 0
    new, codes = _new(subject, part), subject.clusters.codes
    return count_apart(subject.groupings, new, np.setdiff1d(np.flatnonzero(codes == codes[new[0]]), new))[0]


def _new(subject: Subject, part: OwnClusters) -> Int[np.ndarray, " some"]:
    """Return the places of the items that are a cluster of their own in a divided one."""
    own = cast(tuple[CutFigures, OwnClusters], subject.cuts)[1]
    return np.sort(subject.annotations.items.get_indexer(own.items[part.codes != own.codes]))


def in_short(subject: Subject) -> list[str]:
    """Say if a cut of the tree agrees clearly better with people than the report's clusters; nothing if none does."""
    if subject.cuts is None:
        return []
    found, own = subject.cuts
    if not found.is_clearly_better(own):
        return []
    n = int(found.n_clusters[found.best])
    return [
        f"{current_words().Annotators} agree better with the tree cut into {quantify(n, 'cluster')} "
        f"({number(found.agreement[found.best])}) than with these {own.n_clusters} ({number(own.agreement)}). "
        f"The report's section “{HEADING}” compares them."
    ]


def other_division_in_short(subject: Subject) -> list[str]:
    """Say if the best cut is another division into as many clusters as the report's, and agrees slightly better."""
    if subject.cuts is None:
        return []
    found, own = subject.cuts
    most, here = number(found.agreement[found.best]), number(own.agreement)
    if int(found.n_clusters[found.best]) != own.n_clusters or found.is_clearly_better(own):
        return []
    if not (found.agreement[found.best] > own.agreement and most != here and (how := _how_of(found, found.best, own))):
        return []
    slightly = "slightly " if found.mark_of(own) else ""
    return [
        f"Another division into {quantify(own.n_clusters, 'cluster')}, a cut of the tree, agrees {slightly}better with "
        f"{current_words().annotators} ({most}; these {here}): it {how}."
    ]


def _how_of(found: CutFigures, cut: int, own: OwnClusters) -> str:
    return say_how(found.clusters[cut], own.codes, own.titles, own.items)


def say_how(
    others: Int[np.ndarray, " items"], codes: Int[np.ndarray, " items"], titles: list[str], items: pd.Index
) -> str:
    """Say which clusters others join, and which items are in a new one, or elsewhere."""
    joined, apart, elsewhere = joined_and_apart(others, codes, titles, items)
    joins = [f"joins {join_names([f'“{title}”' for title in titles])}" for titles in joined]
    sets = [f"has a cluster of {join_some(list(map(name_text, items)), NAMED)}" for items in apart if len(items) > 1]
    alone = [name_text(items[0]) for items in apart if len(items) == 1]
    sets += [f"{ALONE} {join_some(alone, NAMED)} alone"] if alone else []
    sets += [f"has {join_some(list(map(name_text, elsewhere)), NAMED)} elsewhere"] if elsewhere else []
    return "; ".join([*joins, *sets])


def compare_cut(found: CutFigures, own: OwnClusters) -> list[str]:
    """Say how the cut into as many clusters as the report has differs from them; nothing if there is none."""
    cut = np.flatnonzero(found.n_clusters == own.n_clusters)
    if not len(cut):
        return []
    n, how = quantify(own.n_clusters, "cluster"), _how_of(found, int(cut[0]), own)
    if not how:
        return [f"The cut into {n} has the same {current_words().items} in each as the report's {n}."]
    return [f"The report's {n} (of the model) and the cut into {n} (of the tree) are not the same: the cut {how}."]


def sentences(found: CutFigures, own: OwnClusters) -> list[str]:
    """Answer whether fewer clusters, or more, would do."""
    n_found, agreement = own.n_clusters, own.agreement
    marks = found.marks()
    best = found.best
    k, most = int(found.n_clusters[best]), float(found.agreement[best])
    text = f"Cuts of the tree agree best with people's groups at {quantify(k, 'cluster')} ({number(most)})"
    near = [cut for cut, mark in enumerate(marks) if mark == AS_GOOD]
    answers = [f"{text}; every other number agrees clearly less."]
    if near:
        answers = [f"{text}; {_say_cuts(found, near, own)} would do nearly as well."]
    clearest = found.n_clusters[_are_clearest(found)].tolist()
    if len(clearest):
        first = next((own_or_best for own_or_best in (n_found, k) if own_or_best in clearest), clearest[0])
        others = [number_ for number_ in clearest if number_ != first]
        as_clear = f"; {_ranges(others)} {'are' if len(others) > 1 else 'is'} as clear" if others else ""
        silhouette = number(found.silhouette[found.n_clusters == first][0])
        if first != k or others:
            n_first = quantify(first, "cluster")
            answers.append(f"Of the cuts, {n_first} are the clearest by the silhouette ({silhouette}){as_clear}.")
    answers.insert(
        1,
        f"The agreement of this report's {quantify(n_found, 'cluster')}, which need not follow the tree, is "
        f"{number(agreement)}{_say_joined_and_divided(own)}.",
    )
    return [*answers, *compare_cut(found, own)]


def _say_cuts(found: CutFigures, cuts: list[int], own: OwnClusters) -> str:
    """List numbers of clusters of cuts; of few, with how they differ from the report's, and which leave items alone."""
    how = {cut: _how_of(found, cut, own) for cut in cuts}
    single = [cut for cut in cuts if how[cut].startswith(ALONE) and ";" not in how[cut]]
    rest = [cut for cut in cuts if cut not in single]
    texts = [f"{found.n_clusters[cut]}" + (f" ({how[cut]})" if how[cut] else "") for cut in rest]
    if len(rest) > EXPLAINED:
        texts = [_ranges(found.n_clusters[rest].tolist())]
    if single:
        few = f"only {how[single[0]]}" if len(single) == 1 else f"only leave single {current_words().items} alone"
        texts.append(f"{_ranges(found.n_clusters[single].tolist())} (which {few})")
    return join_names(texts)


def _say_joined_and_divided(own: OwnClusters) -> str:
    """Say how well the report's clusters with two of them joined, or one divided, agree with people."""
    others = [(join, f"{_joined_titles(join, own)} joined") for join in own.joined]
    others += [(part, say_divided(part, own)) for part in own.divided[:DIVISIONS]]
    told = [(own.beside(other), f"{other.n_clusters} with {how} ({number(other.agreement)})") for other, how in others]
    undecided, better, less = ([text for verdict, text in told if verdict == each] for each in (AS_OWN, BETTER, LESS))
    limit = f"within {LITTLE:g} or one standard error of it"
    said = [f"these sorts do not decide between it and {' or '.join(undecided)}, {limit}"] if undecided else []
    said += [f"better {'; '.join(better)}"] if better else []
    said += [f"less well {'; '.join(less)}"] if less else []
    return "".join(f"; {each}" for each in said)


def say_divided(part: OwnClusters, own: OwnClusters) -> str:
    """Say which items of a cluster of the report are one of their own."""
    new = part.codes != own.codes
    title = own.titles[int(own.codes[new][0])]
    return f"“{title}” without {join_some(list(map(name_text, own.items[new])), NAMED)}"


def _joined_titles(join: OwnClusters, own: OwnClusters) -> str:
    """Return the two clusters of the report that are joined."""
    joined = np.unique(own.codes[np.isin(join.codes, join.codes[join.codes != own.codes])])
    return " + ".join(f"“{own.titles[code]}”" for code in joined)


def _are_clearest(found: CutFigures) -> np.ndarray:
    """Whether each cut has the largest silhouette, as the table writes it; none if there is none."""
    if not np.isfinite(found.silhouette).any():
        return np.zeros(len(found.silhouette), dtype=bool)
    largest = number(float(np.nanmax(found.silhouette)))
    return np.array([number(value) == largest for value in found.silhouette])


def _ranges(numbers: list[int]) -> str:
    """List numbers in a sentence, three or more in a row as a range."""
    texts, first = [], 0
    for place, number_ in enumerate(numbers):
        if place + 1 < len(numbers) and numbers[place + 1] == number_ + 1:
            continue
        run = numbers[first : place + 1]
        texts += [f"{run[0]} to {run[-1]}"] if len(run) > 2 else list(map(str, run))
        first = place + 1
    return join_names(texts)


def _say_skipped(found: CutFigures) -> str:
    """Say why numbers of clusters are missing; empty if none is."""
    given = found.n_clusters.tolist()
    missing = [k for k in range(2, max(given)) if k not in given]
    if not missing:
        return ""
    return f" No cut leaves {_ranges(missing)} clusters, where several branches meet at the same height."


def table(found: CutFigures, own: OwnClusters) -> ReportTable:
    """Return the table of the cuts, with the report's own clusters last."""
    rows = []
    below, error = found.shortfall()
    marks, like = found.marks(), found.like(own.codes)
    clearest = _are_clearest(found)
    for cut, k in enumerate(found.n_clusters.tolist()):
        tone = "low" if marks[cut] else ""
        less = number(0.0, 3) if marks[cut] == BEST else f"{number(below[cut], 3)} ± {number(error[cut], 3)}"
        rows.append(
            row(
                f"{k} of the cut (tree)",
                Cell(number(found.agreement[cut]), tone=tone),
                less,
                Cell(number(found.silhouette[cut]), tone="low" if clearest[cut] else ""),
                number(like[cut]),
                Cell(marks[cut]),
                Cell(names=(_how_of(found, cut, own) or "the same",)),
            )
        )
    report = f"{own.n_clusters} of the report (model)"
    short, uncertain = found.shortfall_of(own)
    less = f"{number(short, 3)} ± {number(uncertain, 3)}"
    rows.append(row(report, number(own.agreement), less, number(own.silhouette), number(1.0), found.mark_of(own), "–"))
    others = [(join, f"joins {_joined_titles(join, own)}") for join in own.joined]
    others += [(part, f"has {say_divided(part, own)}") for part in own.divided[:DIVISIONS]]
    for other, how in others:
        less = "{} ± {}".format(*(number(value, 3) for value in found.shortfall_of(other)))
        cells = (number(other.agreement), less, number(other.silhouette), number(ari(own.codes, other.codes)))
        which = f"{other.n_clusters} of the report"
        rows.append(row(which, *cells, own.beside(other), Cell(names=(how,))))
    frame = pd.DataFrame(
        {
            "n_clusters": found.n_clusters,
            "agreement": found.agreement,
            "below_best": below,
            "standard_error": error,
            "silhouette": found.silhouette,
            "like_report": like,
        }
    )
    return ReportTable(
        "cuts",
        "The tree cut into fewer or more clusters",
        [
            Column("Clusters", "text"),
            Column("Agreement with people"),
            Column("Below the best"),
            Column("Silhouette"),
            Column("Like the report's"),
            Column("How good", "line"),
            Column("Beside the report's", "wide"),
        ],
        rows,
        reading=(
            "Agreement: of the clusters with the groups of each person, on average, 1 for the same groups "
            "and 0 for agreement by chance. Below the best: the mean difference to the best cut, with its standard "
            f"error over people; within {LITTLE:g} or one standard error, a cut is nearly as good. Silhouette: "
            f"{ABOUT_SILHOUETTE} Like the report's: agreement with the clusters that the model found, 1 for the same "
            "ones; the last rows join two of them, or divide one: as others probably would, if they would, else as its "
            "own tree does, and are compared with the report's by the same limits. Coloured are the best "
            f"agreement, those that are nearly as good, and the best silhouette.{_say_skipped(found)}"
        ),
        download=download("cuts.csv", frame.round(4)),
    )
