"""Whether labels that came with the items are right, judged by annotators' labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
from jaxtyping import Int

from consilience.analysis.capabilities import Capabilities
from consilience.analysis.fitted import given_or_kept, unwrap
from consilience.analysis.names import join_names, quantify
from consilience.analysis.votes import votes_table
from consilience.analysis.words import current_words
from consilience.annotations import Labels
from consilience.annotations.names import MISSING, name_index, plain
from consilience.errors import InputError
from consilience.estimators.labels import without_floors
from consilience.inference.wrong_labels import wrong_labels

WIDE = 0.1  # of the checked labels: a range that says so
CHECKED, UNGIVEN, SILENT, STRANGE = "checked", "no given label", "no annotations", "unknown label"


@dataclass(frozen=True)
class LabelQuality:
    """How far given labels can be trusted.

    Attributes
    ----------
    items : DataFrame, one row for each item of the model, in its order
        ``given``: the given label; ``label``: the most probable class by the annotations; ``probability``: that the
        given label is right, by the annotations and the accuracy of the given labels; ``by_annotations``: the
        probability of that class by the annotations alone; ``votes_for`` and ``n_votes``: how many labels by
        annotators are the given one, of how many; and ``state``: "checked"; "unknown label", if no class of the model
        has this name; "no annotations"; or "no given label". The probabilities are NaN unless the label was checked.
    n_checked : int
        Number of given labels that were checked.
    n_wrong : float
        Expected number of wrong ones among them.
    low, high : int
        A range of that number. On real crowds whose given labels were made wrong at random, it held the true number in
        90 of 100 draws; in 69 to 75, where all wrong labels were of one kind
        (``benchmarks/given_labels.py``).
    others : Index
        Items that have a given label and are not among those of the model.
    has_probabilities : bool
        Whether the model gives probabilities; if it counts votes, all figures are rough.
    """

    items: pd.DataFrame
    n_checked: int
    n_wrong: float
    low: int
    high: int
    others: pd.Index
    has_probabilities: bool

    @property
    def issues(self) -> pd.DataFrame:
        """Items whose given label was checked, or that no class has, those most likely wrong first.

        Labels that no class has come first, since they cannot be judged and must be looked at.
        """
        shown = self.items[self.items["state"].isin([CHECKED, STRANGE])]
        order = np.lexsort((np.arange(len(shown)), shown["probability"].fillna(-1)))
        return shown.iloc[order]

    @property
    def n_doubtful(self) -> int:
        """Number of checked labels that are more likely wrong than right."""
        return int((self.items["probability"] < 0.5).sum())


def label_quality(model: Any, annotations: Any, given: Any) -> LabelQuality:
    """Judge labels that came with the items by what annotators say.

    Given labels, such as those of a data set that is to be cleaned, are treated as one more annotator, of unknown
    accuracy, who did not see the labels of the others. If they were made from the same annotations, such as by majority
    vote, they agree with them in any case, and the result says nothing about their errors.

    Parameters
    ----------
    model : fitted estimator of labels
        Such as `DawidSkene`; its classes are those of the labels.
    annotations : Labels, DataFrame or array
        What was passed to `fit`.
    given : Series or dict of labels by item, or array of one for each item
        None, NaN and blank text mean that no label is given.

    Returns
    -------
    LabelQuality

    Raises
    ------
    InputError
        The model does not find named classes, the annotations are not those it was fitted to, an item has two given
        labels, or none of the given labels is of an item of the model.

    References
    ----------
    Goh, Tkachenko and Mueller (2022), CROWDLAB: Supervised learning to infer consensus labels and quality scores for
    data with multiple annotators, treat the predictions of a classifier as one more annotator in a similar way.

    Examples
    --------
    >>> import pandas as pd
    >>> from consilience import Labels
    >>> from consilience.consensus import DawidSkene
    >>> from consilience.inspection import label_quality
    >>> rows = [(item, who, "cat" if item < 5 else "dog") for item in range(10) for who in ("Ann", "Bo", "Cy", "Di")]
    >>> labels = Labels.from_frame(pd.DataFrame(rows, columns=["item", "annotator", "label"]))
    >>> given = pd.Series(["cat"] * 4 + ["dog"] * 5 + ["cow"])
    >>> found = label_quality(DawidSkene().fit(labels), labels, given)
    >>> found.issues[["given", "label", "state"]].head(2).reset_index()
       item given label          state
    0     9   cow   dog  unknown label
    1     4   dog   cat        checked
    """
    estimator = unwrap(model)
    labels = cast(Labels, given_or_kept(model, annotations, "label_quality"))
    _require_classes(estimator, labels)
    series = _series(given, estimator.items_)
    items = estimator.items_
    inside = series.index.isin(items)
    if len(series) and not inside.any():
        raise InputError(
            f"None of the {quantify(len(series), 'given label')} is of an item of the model: the first is of "
            f"{plain(series.index[0])!r}, and the model's first item is {plain(items[0])!r}."
        )
    places, codes = _codes(series[inside], items, pd.Index(estimator.classes_, tupleize_cols=False))
    return _quality(estimator, labels, series, places, codes)


def _quality(
    estimator: Any,
    labels: Labels,
    series: pd.Series,
    places: Int[np.ndarray, " given"],
    codes: Int[np.ndarray, " given"],
) -> LabelQuality:
    items, probability = estimator.items_, without_floors(estimator)
    inside = series.index.isin(items)
    found = estimator._cluster_codes()
    code, is_given = np.full(len(items), MISSING), np.zeros(len(items), dtype=bool)
    code[places], is_given[places] = codes, True
    silent = np.bincount(labels.item, minlength=len(items)) == 0
    state = np.select([~is_given, silent, code < 0], [UNGIVEN, SILENT, STRANGE], CHECKED)
    checked = np.flatnonzero(state == CHECKED)
    judged = wrong_labels(probability[checked], code[checked])
    right, alone = np.full(len(items), np.nan), np.full(len(items), np.nan)
    right[checked], alone[checked] = judged.right, probability[checked, code[checked]]
    votes, place = votes_table(labels), labels.classes.get_indexer(pd.Index(estimator.classes_, tupleize_cols=False))
    of_label = np.where(code >= 0, place[code], MISSING)
    votes_for = np.where(of_label >= 0, votes[np.arange(len(items)), of_label], 0)
    named = np.full(len(items), None, dtype=object)
    named[places] = series[inside].to_numpy(object)
    frame = pd.DataFrame(
        {
            "given": named,
            "label": [estimator.classes_[k] if k >= 0 else None for k in found.tolist()],
            "probability": right,
            "by_annotations": alone,
            "votes_for": votes_for.astype(int),
            "n_votes": votes.sum(1).astype(int),
            "state": state,
        },
        index=items.rename("item"),
    )
    return LabelQuality(
        items=frame,
        n_checked=len(checked),
        n_wrong=float((1 - judged.right).sum()),
        low=judged.low,
        high=judged.high,
        others=series.index[~inside],
        has_probabilities=not Capabilities.of(estimator).counts_votes,
    )


def in_words(found: LabelQuality) -> list[str]:
    """Say how many given labels are wrong, and what was not checked and why."""
    if not found.n_checked:
        return ["No given label could be checked.", *_say_unchecked(found)]
    number = f"{found.n_wrong:.0f}" if found.n_wrong >= 9.5 else f"{found.n_wrong:.1f}"
    share = found.n_wrong / found.n_checked
    text = (
        f"About {number} of the {quantify(found.n_checked, 'given label')} ({share:.1%}) are wrong, by what "
        f"{current_words().annotators} say: between {found.low:,} and {found.high:,}."
    )
    if not found.has_probabilities:
        text += " The model counts votes, so that these are rough figures; DawidSkene estimates probabilities."
    if found.high - found.low > WIDE * found.n_checked:
        text += f" So wide a range means that nothing tells whether given labels or {current_words().annotators} err."
    doubtful = f"{found.n_doubtful:,} {'is' if found.n_doubtful == 1 else 'are'}" if found.n_doubtful else "None is"
    return [text, f"{doubtful} more likely wrong than right.", *_say_unchecked(found)]


def _say_unchecked(found: LabelQuality) -> list[str]:
    counts = found.items["state"].value_counts()
    reasons = {
        STRANGE: "a given label that is none of the model's classes",
        SILENT: "a given label, but no annotations",
        UNGIVEN: "no given label",
    }
    parts = []
    for state, reason in reasons.items():
        if number := int(counts.get(state, 0)):
            parts.append(f"{current_words().n_items(number)} {'has' if number == 1 else 'have'} {reason}")
    if len(found.others):
        names = [repr(plain(name)) for name in found.others[:3]] + (["…"] if len(found.others) > 3 else [])
        words = current_words()
        what = f"given label is of {words.an_item}" if len(found.others) == 1 else f"given labels are of {words.items}"
        parts.append(f"{len(found.others):,} {what} that the model does not know ({', '.join(names)})")
    return [f"Not checked: {join_names(parts)}."] if parts else []


def _require_classes(estimator: Any, labels: Any) -> None:
    if not Capabilities.of(estimator).names_classes or not isinstance(labels, Labels):
        raise InputError(
            f"Given labels can be checked with a model that finds named classes from labels, such as DawidSkene. Got "
            f"{type(estimator).__name__}."
        )
    classes = pd.Index(estimator.classes_, tupleize_cols=False)
    if not classes.equals(labels.classes):
        raise InputError(
            f"The components of {type(estimator).__name__} are not the classes that annotators name, so that given "
            "labels cannot be checked; leave out n_clusters."
        )


def _series(given: Any, items: pd.Index) -> pd.Series:
    """Return given labels by item, without those that are missing."""
    if isinstance(given, dict):
        given = pd.Series(list(given.values()), index=name_index(list(given)), dtype=object)
    elif not isinstance(given, pd.Series):
        values = np.asarray(given, dtype=object)
        if values.ndim != 1 or len(values) != len(items):
            raise InputError(
                f"Given labels must be a Series or a dict by item, or one for each of the {len(items)} items in "
                f"order. Got an array of shape {values.shape}."
            )
        given = pd.Series(values, index=items)
    blank = given.isna() | np.array([isinstance(value, str) and not value.strip() for value in given], dtype=bool)
    given = given[~blank]
    twice = given.index.duplicated()
    if twice.any():
        raise InputError(f"There are two given labels for the item {plain(given.index[twice][0])!r}.")
    return given


def _codes(
    series: pd.Series, items: pd.Index, classes: pd.Index
) -> tuple[Int[np.ndarray, " given"], Int[np.ndarray, " given"]]:
    """Return the places of the items, and the codes of their given classes, -1 for an unknown one."""
    places = items.get_indexer(series.index)
    names = name_index(series.to_numpy()) if len(series) else classes[:0]
    return places, classes.get_indexer(names)
