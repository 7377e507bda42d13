"""Sections of a report on labels whose names annotators share: the classes, and each annotator's errors."""

from __future__ import annotations

from typing import cast

import numpy as np
from matplotlib.figure import Figure as MatplotlibFigure
from scipy.special import entr

from consilience.analysis.copies import groups_of_copies, n_changed_by_copies, sentences_on_copies
from consilience.analysis.names import join_names, name_text, quantify
from consilience.analysis.ties import sentences_on_ties
from consilience.analysis.words import current_words
from consilience.inspection.plots.annotators import plot_annotators
from consilience.inspection.plots.heatmaps import plot_confusion
from consilience.inspection.plots.point_labels import n_named
from consilience.inspection.plots.style import Sheet
from consilience.inspection.report import item_tables, label_tables
from consilience.inspection.report.annotators import OF_CLOSED_SORTS, OF_NOBODY_COMPARED, OF_TAGS, Ranking, of_labels
from consilience.inspection.report.figure_files import small
from consilience.inspection.report.participants import odd_in_short
from consilience.inspection.report.subject import Figure, Subject
from consilience.inspection.report.tables import download, percent

NAMED_CLASSES = 6  # up to this number, the findings give the size of each
WEAKEST = 3
READABLE = 860  # CSS pixels that many small matrices need


def sizes_in_short(subject: Subject) -> str:
    """Say how many items each class has."""
    words = current_words()
    clusters, nowhere = subject.clusters, int((subject.clusters.codes < 0).sum())
    none = f" {words.n_items(nowhere)} {'has' if nowhere == 1 else 'have'} no labels and no class." if nowhere else ""
    if len(clusters.names) > NAMED_CLASSES:
        sizes, empty = clusters.sizes, int((clusters.sizes == 0).sum())
        text = f"{quantify(len(sizes), 'class', 'classes')} of {sizes.min():,} to {sizes.max():,} {words.items}."
        text += (
            f" {quantify(empty, 'class is', 'classes are')} the most likely class of no {words.item}." if empty else ""
        )
        return text + none
    each = [f"{title} ({size:,})" for title, size in zip(clusters.titles, clusters.sizes, strict=True)]
    return f"{words.Items} by class: {join_names(each)}.{none}"


def copies_in_short(subject: Subject) -> list[str]:
    """Say which annotators weigh together, and what that changes."""
    model = subject.estimator
    return sentences_on_copies(groups_of_copies(model), n_changed_by_copies(model), len(model.labels_))


def certainty_in_short(subject: Subject) -> list[str]:
    """Say how many items are certain of their class, unless it is said of other people; and how many have ties."""
    words = current_words()
    model = subject.estimator
    ties = sentences_on_ties(subject.can.n_ties, list(model.items_[model.undecided_]))
    if subject.certainty or subject.can.assumes_accuracy:
        return ties
    sure = int((subject.items["probability"] >= item_tables.SURE).sum())
    share = f"{percent(sure / len(subject.items))} of the {words.items} ({sure:,} of {len(subject.items):,})"
    text = f"{share} belong to their class with a {subject.clusters.measure} of at least {item_tables.SURE:g}."
    return [" ".join([text, *ties])]


def annotators_in_short(subject: Subject) -> str:
    """Say how many labels name the class, and who is the least accurate, or names it least; or that nothing tells."""
    words = current_words()
    if subject.can.assumes_accuracy:
        return (
            f"No {words.item} has labels of two {words.annotators}, so that nothing tells how often a label, or the "
            f"class of {words.an_item}, is right."
        )
    by = "agreement" if words.are_of_a_sort else "accuracy"
    quality = subject.estimator.annotators_
    quality = quality[quality["n_labels"] > 0].sort_values(by, kind="stable")
    if quality[by].isna().any():
        return f"The classes found are not those that {words.annotators} name, so no label is right or wrong."
    right = np.average(quality["agreement"], weights=quality["n_labels"])
    worst = [f"{name_text(name)} ({percent(share)})" for name, share in quality[by].head(WEAKEST).items()]
    who = "least so those of" if words.are_of_a_sort else f"the least accurate {words.annotators} are"
    text = (
        f"About {percent(right)} of the {quantify(int(quality['n_labels'].sum()), 'label')} name the {words.item}'s "
        "class"
    )
    text = f"{text}; {who} {join_names(worst)}." if len(quality) > WEAKEST else f"{text}."
    return " ".join([text, *odd_in_short(subject)])


def ranking(subject: Subject) -> Ranking:
    """Return the layout of the table of annotators: of a sort, nobody is more or less accurate."""
    if subject.can.has_tags:
        return OF_TAGS
    if subject.can.assumes_accuracy:
        return OF_NOBODY_COMPARED
    if current_words().are_of_a_sort:
        return OF_CLOSED_SORTS
    return of_labels(float(entr(subject.estimator.responsibilities_.mean(0)).sum() / np.log(2)))


def quality_figures(subject: Subject) -> list[Figure]:
    """Draw how accurate annotators are, unless of a sort, and which classes they confuse, unless they are too many."""
    if subject.can.has_tags or subject.can.assumes_accuracy:
        return []  # of an annotator of tags, two rates tell more than one accuracy
    is_drawn = not label_tables.what_is_listed(subject.estimator)
    accuracy = [] if current_words().are_of_a_sort else [_accuracy(subject)]
    return [*accuracy, *([_confusion(subject)] if is_drawn else [])]


def _accuracy(subject: Subject) -> Figure:
    words = current_words()
    ax = plot_annotators(subject.model, ax=Sheet())
    caption = f"Each {words.annotator} by {' '.join(ax.get_ylabel().split())} and {ax.get_xlabel()}"
    if ax.child_axes:
        caption += ", the stronger the colour, the more a label tells about the class"
    caption += "."
    if ax.get_legend():
        caption += (
            f" {words.Annotators} below the dashed line are no better than always giving the most frequent class."
        )
    file = small(download("accuracy.csv", subject.estimator.annotators_.round(4), "annotator"))
    some, sheet = " The most unusual are named, where there is room.", cast(MatplotlibFigure, ax.figure)
    described = f"Scatter plot. {caption}"
    return Figure.of("accuracy", sheet, described, caption, file, named=lambda: some if n_named(ax) else "")


def _confusion(subject: Subject) -> Figure:
    words = current_words()
    estimator = subject.estimator
    panels = plot_confusion(subject.model, ax=Sheet())
    sheet, n_drawn = cast(MatplotlibFigure, panels[0].figure), len(panels) - 1
    caption = (
        f"Labels given to the {words.items} of each class: one row per class, one column per label; numbers are "
        "percentages of the row as the model estimates them, drawn towards the average where labels are few. The first "
        f"matrix is the mean over all {words.annotators}, weighted by their numbers "
        "of labels"
    )
    n_labels = estimator.annotators_["n_labels"]
    n_annotators, differ = int((n_labels > 0).sum()), n_labels[n_labels > 0].nunique() > 1
    who = "with the most labels" if differ else "whose labels name the classes least"
    whose = f"the {n_drawn} of {n_annotators} {words.annotators} {who}" if n_drawn < n_annotators else "all"
    order = "those who name the classes most often first" if words.are_of_a_sort else "the most accurate first"
    caption += f"; the others are those of {whose}, {order}." if n_drawn else "."
    shown = f"Heat maps of the confusion matrices of the crowd and of {words.n_annotators(n_drawn)}."
    return Figure.of("confusion", sheet, shown, caption, label_tables.confusion_file(estimator), readable=READABLE)
