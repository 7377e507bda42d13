"""The section of a report on labels that lists the items with their votes, those in doubt first."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
import pandas as pd
from jaxtyping import Int

from consilience.analysis.clustering import FoundClusters
from consilience.analysis.names import join_names, name_text
from consilience.analysis.votes import doubtful_first
from consilience.analysis.words import current_words
from consilience.annotations import Labels
from consilience.inspection.report.item_tables import cluster_cell
from consilience.inspection.report.subject import Section, Subject
from consilience.inspection.report.tables import Cell, Column, ReportTable, download, name_cell, number, percent, row

MOST_ROWS = 300
MOST_VOTERS = 6  # annotators named for a label of an item
MOST_CLASSES = 4  # probabilities listed for an item
LEAST = 0.005  # probability that is listed
MOST_CSV = 1_500_000  # bytes
FILE = "votes.csv"


def section(subject: Subject) -> Section:
    labels = cast(Labels, subject.annotations)
    table = cast(pd.DataFrame, subject.votes)
    words = current_words()
    heading = words.told("Each item and its labels")
    return Section("votes", heading, _sentences(subject, table), [_table(subject, table, labels)])


def _sentences(subject: Subject, table: pd.DataFrame) -> list[str]:
    voted = table[table["n_votes"] > 0]
    unanimous = int((voted["disagreement"] == 0).sum())
    several = int((voted["n_votes"] > 1).sum())
    words = current_words()
    text = f"All labels agree on {unanimous:,} of the {words.n_items(len(voted))} with labels"
    text += f", {several:,} of which have more than one label." if several < len(voted) else "."
    sentences = [text]
    is_known = np.isin(np.arange(len(table)), list(subject.known))
    if n_outvoted := int((table["differs"] & is_known).sum()):
        other = (
            f"{n_outvoted:,} of the {len(subject.known):,} classes that were known {'is' if n_outvoted == 1 else 'are'}"
        )
        sentences.append(f"{other} not the one most {words.annotators} named.")
    differs = table["differs"] & ~is_known
    if differs.any():
        names = [name_text(name) for name in table.index[differs][:3]]
        number_of = int(differs.sum())
        more = [f"{number_of - len(names):,} more"] if number_of > len(names) else []
        sentences.append(
            f"The class of {words.n_items(number_of)} is not the one most {words.annotators} named: "
            f"{join_names(names + more)}. There, the labels of more reliable {words.annotators} weigh more."
        )
    elif subject.can.counts_votes is False and not subject.clusters.index.equals(_classes(subject)):
        sentences.append(f"The classes found are not those that {words.annotators} name.")
    elif not n_outvoted:
        sentences.append(f"The class of every {words.item} is one of those that most {words.annotators} named.")
    return sentences


def _classes(subject: Subject) -> pd.Index:
    return cast(Labels, subject.annotations).classes


def _table(subject: Subject, table: pd.DataFrame, labels: Labels) -> ReportTable:
    clusters = subject.clusters
    order = doubtful_first(table)
    shown = order[:MOST_ROWS]
    rows = []
    probability, by_votes = np.asarray(subject.estimator.responsibilities_), clusters.measure != "probability"
    for place, (name, share, differs, n_votes, disagreement) in zip(
        shown.tolist(),
        table.iloc[shown][["probability", "differs", "n_votes", "disagreement"]].itertuples(name=None),
        strict=True,
    ):
        code = int(clusters.codes[place])
        known = n_votes > 0
        rows.append(
            row(
                name_cell(name),
                _class_cell(clusters, code, known=place in subject.known) if code >= 0 else "–",
                f"{subject.votes_for_class[place]:,} of {n_votes:,}" if known and code >= 0 else "–",
                _votes(place, labels),
                Cell("yes", tone="flag") if differs else "no" if known else "–",
                number(disagreement) if known else "–",
                *(
                    []
                    if by_votes
                    else [number(share), _probabilities(probability[place], clusters.names)]
                    if code >= 0
                    else ["–", "–"]
                ),
            )
        )
    left = len(table) - len(rows)
    about = "" if by_votes else ", which is the model's own, given all labels and how it found each annotator to label"
    words = current_words()
    return ReportTable(
        "votes",
        words.told(
            f"All {len(table):,} items, doubtful ones first" if not left else f"The {len(rows):,} most doubtful items"
        ),
        [
            Column(words.Item, "text", of_items=True),
            Column("Class", "text"),
            Column("Labels that name it", "line"),
            Column("Who gave which label", "wide"),
            Column("Outvoted", "text"),
            Column("Disagreement"),
            *([] if by_votes else [Column("Probability of the model"), Column("All its probabilities", "wide")]),
        ],
        rows,
        order="" if left else "doubtful ones first",
        reading=words.told(
            f"Sorted by the {clusters.measure} of the class{about}. Disagreement is the entropy of the labels in bits: "
            "0 if all are equal, 1 if two labels are equally frequent, more with more labels. An item is outvoted if "
            "its class is not among the labels given most often."
        ),
        more=f"{left:,} more {words.items}, in {FILE}" if left else "",
        download=download(FILE, table.iloc[order].round(4), "item", most=MOST_CSV),
    )


def _class_cell(clusters: FoundClusters, code: int, *, known: bool) -> Cell:
    cell = cluster_cell(clusters, code)
    return replace(cell, more="(known)") if known else cell


def _probabilities(probability: np.ndarray, names: list[str]) -> Cell:
    order = np.argsort(-probability, kind="stable")[:MOST_CLASSES]
    pairs = [(percent(probability[code]), names[code]) for code in order.tolist() if probability[code] >= LEAST]
    return Cell(pairs=tuple(pairs))


def _votes(place: int, labels: Labels) -> Cell:
    """Cell with the labels of an item, the most frequent first, each with its annotators."""
    rows = slice(labels.indptr[place], labels.indptr[place + 1])
    label, annotator = labels.label[rows], labels.annotator[rows]
    if not len(label):
        return Cell("none")
    counts = np.bincount(label, minlength=labels.n_classes)
    given = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    pairs = [(f"{name_text(labels.classes[k])} ({counts[k]:,})", _voters(annotator[label == k], labels)) for k in given]
    return Cell(pairs=tuple(pairs))


def _voters(annotators: Int[np.ndarray, " labels"], labels: Labels) -> str:
    names = [name_text(labels.annotators[who]) for who in annotators[:MOST_VOTERS].tolist()]
    left = len(annotators) - len(names)
    return ", ".join(names) + (f" and {left:,} more" if left else "")
