"""Tables of a report about the annotators: what their groups stand for, how good they are, whom they agree with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float
from markupsafe import Markup

from consilience.annotations import Groupings
from consilience.inspection.names import counted, name_text
from consilience.inspection.report.svg import swatch
from consilience.inspection.report.tables import (
    Cell,
    Column,
    Download,
    Table,
    download,
    name_cell,
    names_cell,
    number,
    percent,
    row,
)

MIN_ACCURACY = 0.8
GUESS = 0.7  # of q(t): a single label gives about 0.8
DISTINCTIONS = 10
NAMINGS = 8
OTHER_DISTINCTIONS = 15
UNMATCHED = 15
ANNOTATORS = 100
LISTED = 12
IN_FILE = " (in mapping.csv)"

Key = tuple[Any, Any]


def distinction_tables(estimator: Any) -> list[Table]:
    """Groupings that draw the same lines between the clusters, their namings beside each other; Table 4.

    A table for each distinction that several groupings draw, and one for all others.
    """
    found = estimator.annotator_groups(min_accuracy=MIN_ACCURACY)
    mapping = estimator.annotator_mapping_
    unsure = mapping[mapping["probability"] < GUESS]
    guessed = set(unsure[["annotator", "grouping", "group"]].itertuples(index=False, name=None))
    each = [namings for _, namings in found.groupby("distinction")]
    shared = [namings for namings in each if namings["n_groupings"].sum() > 1][:DISTINCTIONS]
    tables = [_distinction(namings, guessed) for namings in shared]
    others = each[len(shared) :]  # the commonest come first
    if not others:
        return tables
    caption = counted(len(others), "further distinction" if tables else "distinction")
    return [*tables, _other_distinctions(others, guessed, caption)]


def _distinction(namings: pd.DataFrame, guessed: set) -> Table:
    first = namings.iloc[0]
    rows = []
    for groupings, naming in zip(namings["groupings"].head(NAMINGS), namings["naming"]):
        parts = [name_cell(name) for name in _parts(groupings, naming, guessed)]
        rows.append(row(names_cell(owners(groupings), LISTED, IN_FILE), *parts))
    left = len(namings) - len(rows)
    n_groupings = counted(int(namings["n_groupings"].sum()), "grouping")
    return Table(
        f"distinction-{first['distinction']}",
        f"Distinction {first['distinction']}: {n_groupings}, {counted(len(namings), 'naming')}",
        [Column("Groupings", "names"), *map(_part_column, first["clusters"])],
        rows,
        more=counted(left, "more naming") + IN_FILE if left > 0 else "",
    )


def _other_distinctions(others: list[pd.DataFrame], guessed: set, caption: str) -> Table:
    rows = []
    for namings in others[:OTHER_DISTINCTIONS]:
        first = namings.iloc[0]
        whose = owners([key for groupings in namings["groupings"] for key in groupings])
        heads = [", ".join(map(str, clusters)) for clusters in first["clusters"]]
        names = _parts(first["groupings"], first["naming"], guessed)
        parts = Cell(pairs=tuple(zip(heads, names, strict=True)))
        rows.append(row(str(first["distinction"]), names_cell(whose, LISTED, IN_FILE), parts))
    left = len(others) - len(rows)
    return Table(
        "other-distinctions",
        caption,
        [Column("No."), Column("Groupings", "names"), Column("Clusters, and the name of their group", "wide")],
        rows,
        more=counted(left, "more distinction") + IN_FILE if left > 0 else "",
    )


def _parts(groupings: list[Key], naming: tuple, guessed: set) -> list[str]:
    """Names of the groups, with a question mark where one of their clusters is a guess."""
    return [
        name_text(group) + (" (?)" if any((*grouping, group) in guessed for grouping in groupings) else "")
        for group in naming
    ]


def _part_column(clusters: tuple[int, ...]) -> Column:
    head = f"{'Cluster' if len(clusters) == 1 else 'Clusters'}\u00a0{', '.join(map(str, clusters))}"
    return Column(head, "text", Markup("").join(map(swatch, clusters)))


def owners(keys: list[Key]) -> list[str]:
    """Names of groupings: their annotators' where these gave one each."""
    return [
        name_text(annotator) if annotator == grouping else f"{name_text(annotator)} / {name_text(grouping)}"
        for annotator, grouping in keys
    ]


def weak_groupings(estimator: Any) -> list[str]:
    """Names of the groupings that the clusters predict too badly to be among the distinctions."""
    accuracy = estimator.groupings_["accuracy"]
    return owners(accuracy.index[~accuracy.ge(MIN_ACCURACY).to_numpy()].tolist())


def mapping_file(estimator: Any) -> Download:
    """What every group stands for, as a file."""
    mapping = estimator.annotator_mapping_
    clusters = mapping["clusters"].map(lambda found: " ".join(map(str, found)))
    return download("mapping.csv", mapping.assign(clusters=clusters, probability=mapping["probability"].round(4)))


def unmatched_table(estimator: Any) -> Table | None:
    """Groups that no cluster goes by."""
    mapping = estimator.annotator_mapping_
    unmatched = mapping[mapping["clusters"].map(len) == 0].sort_values("n_items", ascending=False, kind="stable")
    if unmatched.empty:
        return None
    shown = unmatched.head(UNMATCHED)
    whose = owners(list(zip(shown["annotator"], shown["grouping"], strict=True)))
    rows = [
        row(name_cell(owner), name_cell(group), f"{n_items:,}")
        for owner, group, n_items in zip(whose, shown["group"], shown["n_items"], strict=True)
    ]
    left = len(unmatched) - len(rows)
    return Table(
        "unmatched",
        "Groups that no cluster goes by",
        [Column("Grouping", "text"), Column("Group", "text"), Column("Items")],
        rows,
        reading=(
            "The annotator set these items apart, but the others' groupings and the features do not: a slip, or a view "
            "that nobody shares."
        ),
        more=f"{left:,} more, with no more items each{IN_FILE}" if left > 0 else "",
    )


def annotator_frame(estimator: Any, groupings: Groupings, agreement: pd.DataFrame) -> pd.DataFrame:
    """Figures of every annotator, the best first.

    The columns of ``annotators_``, and ``by_guessing`` (accuracy of always saying the annotator's largest group),
    ``agreement`` (mean adjusted Rand index with the others) and ``remark``.
    """
    frame = estimator.annotators_.copy()
    sizes = pd.Series(np.asarray(groupings.incidence.sum(0)), index=groupings.grouping_of_group)
    largest = sizes.groupby(level=0).max().reindex(range(groupings.n_groupings), fill_value=0.0).to_numpy()
    common = np.bincount(groupings.annotator_of_grouping, largest, groupings.n_annotators)
    place = groupings.annotators.get_indexer(frame.index)
    frame["by_guessing"] = common[place] / frame["n_labels"].replace(0, np.nan)
    frame["agreement"] = mean_with_others(agreement)[place]
    frame["remark"] = [_remark(*figures) for figures in zip(frame["accuracy"], frame["by_guessing"], strict=True)]
    return frame.sort_values("accuracy", ascending=False, kind="stable", na_position="last")


def mean_with_others(agreement: pd.DataFrame) -> Float[np.ndarray, " annotators"]:
    """Mean agreement of each annotator with the others, NaN where none is known."""
    others = agreement.to_numpy(copy=True)
    np.fill_diagonal(others, np.nan)
    known = np.isfinite(others).sum(1)
    return np.divide(np.nansum(others, 1), known, out=np.full(len(known), np.nan), where=known > 0)


def _remark(accuracy: float, by_guessing: float) -> str:
    if np.isnan(accuracy):
        return "no labels"
    if by_guessing == 1:
        return "one group only"
    if accuracy <= by_guessing:
        return "no better than guessing"
    return f"below {MIN_ACCURACY:.0%}" if accuracy < MIN_ACCURACY else ""


def annotators_table(frame: pd.DataFrame) -> Table:
    """How well the clusters predict what each annotator said, the weakest last."""
    several = bool((frame["n_groupings"] > 1).any())
    shown, gap = cut(frame)
    rows = []
    for annotator, figures in shown.iterrows():
        tone = "flag" if figures["remark"] else ""
        cells = [name_cell(annotator, tone), f"{int(figures['n_labels']):,}"]
        cells += [f"{int(figures['n_groupings']):,}"] if several else []
        cells += [f"{int(figures['n_groups']):,}"]
        cells += [percent(figures[name]) for name in ("accuracy", "by_guessing", "expected_accuracy")]
        cells += [number(figures["agreement"]), Cell(figures["remark"], tone=tone)]
        rows.append(row(*cells))
    heads = ["Labels", "Groupings"] if several else ["Labels"]
    heads += ["Groups", "Accuracy", "By guessing", "Expected", "Agreement"]
    return Table(
        "annotators",
        "The annotators, the weakest last",
        [Column("Annotator", "text"), *map(Column, heads), Column("Remark", "text")],
        rows,
        reading=(
            "Accuracy: share of the annotator's labels that the clusters predict. By guessing: what always saying the "
            "annotator's largest group would reach. Expected: the model's estimate for labels to come, close to the "
            "prior where labels are few. Agreement: mean adjusted Rand index with the other annotators, about 0 of who "
            "sorts at random."
        ),
        gap=gap,
        download=download("annotators.csv", frame.round(4), "annotator"),
    )


def cut(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[int, str] | None]:
    """Leave out the middle of a table of too many annotators: what is left, and where and what to say of the rest."""
    half = ANNOTATORS // 2
    if len(frame) <= ANNOTATORS:
        return frame, None
    gap = (half, f"{len(frame) - ANNOTATORS:,} more annotators between these")
    return pd.concat([frame.iloc[:half], frame.iloc[-half:]]), gap


def agreement_sentences(agreement: pd.DataFrame) -> list[str]:
    """What is to be seen in the heat map of agreement, in words."""
    values = agreement.to_numpy()
    upper = np.triu_indices(len(values), 1)
    known = np.isfinite(values[upper])
    if len(values) < 2:
        return []
    if not known.any():
        return ["No two annotators have two items in common, so their agreement is unknown."]
    found = np.where(known, values[upper], -np.inf)
    names = [name_text(name) for name in agreement.index]
    best = int(found.argmax())
    sentences = [
        f"Two annotators agree with an adjusted Rand index of {number(values[upper][known].mean())} on average, "
        f"most of all {names[upper[0][best]]} and {names[upper[1][best]]} ({number(found[best])})."
    ]
    if (~known).any():
        sentences.append(f"{counted(int((~known).sum()), 'pair')} of annotators have fewer than two items in common.")
    return sentences


def agreement_file(agreement: pd.DataFrame, order: np.ndarray) -> Download:
    """The matrix of agreement in the order in which it is drawn, as a file."""
    return download("agreement.csv", agreement.iloc[order, order].round(3), "annotator")
