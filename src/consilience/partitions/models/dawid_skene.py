"""`DawidSkene` fitted to partitions: the steps of its in-memory fit, with sums over partitions in place of arrays.

    survey        names of annotators and classes, numbers of items and labels              1 pass over the source
    constant      annotators who give one label to everything: counts, pairs, evidence      3 passes over the parts
    copies        from a sample of the items of at most `MOST_PAIRS` pairs of labels        1
    start         pairs of labels, sums of the shares of the votes                          2
    sweeps        the E-step of each partition; the M-step here                             1 a sweep
    calibration   from a sample of the items of about `MOST_LABELS` labels                  1
    annotators    labels that are right, sums for intervals                                 1 or 2

Each sum has the size of the confusion matrices at most, and each sample a fixed size: nothing here grows with the
number of items, but for three numbers of each partition.

Decided here
------------
A sample of all items is what the in-memory fit samples, too, if there are few enough: then both fits are the same up to
rounding. Beyond, evenly spaced items are taken, here in the order of the partitions and there in canonical order. The
test of copies takes its standard errors from tenths of the items, which differ for the same reason, and so do its p
values.

Subtypes are found by an eigenvector over all items, which is no sum of a fixed size. So they are not found here, and
``subtypes=1`` has to be said.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from consilience.annotations.names import outside
from consilience.consensus.labels.accuracy_interval import accuracy_interval, add_interval
from consilience.consensus.labels.calibration import Calibration, calibration, uncalibrated
from consilience.consensus.labels.constant_annotators import as_constant, constant_among, warn_of_constant
from consilience.consensus.labels.copies import MOST_PAIRS
from consilience.consensus.labels.copies_result import copies_of, say_who_weighs_together
from consilience.consensus.labels.dawid_skene import Evidence, State, imagined_by_pairs, run
from consilience.consensus.labels.dawid_skene_estimator import NOTHING_TELLS, DawidSkene
from consilience.consensus.labels.samples import MOST_LABELS
from consilience.errors import AnnotationWarning, InputError
from consilience.estimators.labels import MAX_TABLE_ENTRIES, information, tabulate_matrices, tabulate_quality
from consilience.estimators.parameters import is_auto
from consilience.estimators.traces import keep_trace
from consilience.inference import Trace
from consilience.inference.copies import ALONE, Group
from consilience.inference.parts import LabelsInParts, Parts
from consilience.partitions.engine.checkpoint import Runs, runs_at
from consilience.partitions.models import dawid_skene_sums, label_parts
from consilience.partitions.models.dawid_skene_sums import Calibrated, Heard, Sizes
from consilience.partitions.survey.label_survey import Survey, digest_of


def require_fittable(model: DawidSkene, checkpoint: Any) -> None:  # a checkpoint changes nothing
    """Raise an InputError if the parameters need all items at once."""
    has_one = model.confusion != "full" or model.prior is None if is_auto(model.subtypes) else int(model.subtypes) == 1
    if not has_one:
        raise InputError(
            "Over partitions, DawidSkene finds no subtypes of classes: they are divided along an eigenvector with an "
            f"entry for each item, which is no sum over partitions. Give subtypes=1. Got subtypes={model.subtypes!r}."
        )


def fit_dawid_skene(
    model: DawidSkene, parts: Parts, survey: Survey, checkpoint: Any, counts: Int[np.ndarray, "annotators labels"]
) -> None:
    """Fit the model to parts over the annotators and classes of the survey.

    Parameters
    ----------
    model : gets the attributes of its in-memory fit that have no axis of items.
    parts : of `LabelPart`.
    survey : of the same table.
    checkpoint : path, or None.
    counts : number of labels of each annotator, of each class.
    """
    _require_table(survey)
    learned = model.prior is not None
    runs: Runs[State] = runs_at(checkpoint, model, labels=digest_of(survey, counts))
    no_one = np.zeros(len(survey.annotators), dtype=bool)
    constant = constant_among(parts, counts) if learned else no_one
    everyone = Heard(no_one, np.full(len(no_one), ALONE))
    warn_of_constant(label_parts.no_labels_by(survey.annotators, survey.classes), constant, "DawidSkene")
    group = _copies(model, parts, survey, list(parts.results(dawid_skene_sums.sizes_of, everyone)))
    heard = Heard(constant, group)
    imagined = imagined_by_pairs(parts.total(dawid_skene_sums.pairs_heard, heard)) if learned else 0.0
    trace = _run(model, parts, heard, runs, imagined, len(survey.classes))
    keep_trace(model, trace)
    found = _calibration(model, parts, heard, trace.state, survey)
    read_off(model, parts, survey, heard, counts, trace.state, found, imagined)
    if len(model.copies_) and is_auto(model.copies):
        warnings.warn(say_who_weighs_together(model), AnnotationWarning, stacklevel=outside())


def _require_table(survey: Survey) -> None:
    if not survey.n_labels:
        raise InputError(f"DawidSkene needs labels, and none of the {survey.n_items} items has any.")
    shape = len(survey.annotators), len(survey.classes), len(survey.classes)
    if np.prod(shape, dtype=float) > MAX_TABLE_ENTRIES:
        raise InputError(
            f"DawidSkene keeps a probability for each annotator, class and label: {' × '.join(map(str, shape))}, more "
            f"than {MAX_TABLE_ENTRIES}. Are the labels names of classes?"
        )


def _copies(model: DawidSkene, parts: Parts, survey: Survey, sizes: list[Sizes]) -> Group:
    """Find the groups that `copies` asks for, and set ``copies_``; the evidence is that of a sample of the items."""
    if model.copies is None:
        return copies_of(model, label_parts.no_labels_by(survey.annotators, survey.classes)).group
    share = MOST_PAIRS / max(sum(one.n_squared for one in sizes), 1)
    first = np.cumsum([0] + [one.n_items for one in sizes])
    sample = label_parts.join_labels(list(parts.results(label_parts.take_evenly_spaced, first, min(share, 1.0))))
    return copies_of(model, label_parts.name_labels(sample, survey.annotators, survey.classes)).group


def _run(model: DawidSkene, parts: Parts, heard: Heard, runs: Runs, imagined: Any, n_classes: int) -> Trace[State]:
    """Sweep until the bound converges."""
    onehot = parts.map(dawid_skene_sums.encoded, heard)
    trace = run(
        parts.total(dawid_skene_sums.first_sums, heard),
        Evidence(LabelsInParts(onehot, n_classes), 0.0, imagined),
        one_coin=model.confusion == "one-coin",
        learned=model.prior is not None,
        max_iter=model.max_iter,
        tol=model.tol,
        loop=runs.run,
    )
    onehot.forget()
    return trace


def _calibration(model: DawidSkene, parts: Parts, heard: Heard, state: State, survey: Survey) -> Calibration:
    """Find the temperature from items with several labels, a sample of them if there are many."""
    if not model.calibrate:
        return uncalibrated(len(survey.classes))
    sizes = list(parts.results(dawid_skene_sums.sizes_of, heard))
    n_several, n_labels = sum(one.n_several for one in sizes), sum(one.n_of_several for one in sizes)
    places = np.arange(n_several)
    if n_labels > MOST_LABELS:
        number = max(int(n_several * MOST_LABELS / n_labels), 1)
        places = np.linspace(0, n_several - 1, number).astype(int)
    first = np.cumsum([0] + [one.n_several for one in sizes])
    table = state.model.log_table.reshape(-1, len(state.log_weights))
    found = list(parts.results(dawid_skene_sums.sampled, heard, first, places, state.log_weights, table))
    sample = label_parts.join_labels([one.labels for one in found])
    q = np.concatenate([one.responsibilities for one in found])
    free = np.full(len(sample), True)
    result = calibration(sample, state.model, state.log_weights, q, free=free, told=False)
    if result.is_assumed:
        warnings.warn(NOTHING_TELLS, AnnotationWarning, stacklevel=outside())
    return result


# ---- the attributes


def read_off(
    model: DawidSkene,
    parts: Parts,
    survey: Survey,
    heard: Heard,
    labels: Int[np.ndarray, "annotators labels"],
    state: State,
    found: Calibration,
    imagined: Any,
) -> None:
    """Set the attributes.

    Parameters
    ----------
    labels : number of labels of each annotator, of each class.
    imagined : items of each class in the prior of the proportions.
    """
    shape = (len(survey.annotators), len(survey.classes), len(survey.classes))
    log_table = state.model.log_table.reshape(-1, shape[1])
    sums = parts.total(dawid_skene_sums.quality, heard, state.log_weights, log_table)
    confusion = state.model.matrices()
    counts = state.expected.counts.reshape(shape).transpose(0, 2, 1)
    share = sums.sizes / sums.n_items
    annotators = add_interval(
        tabulate_quality(labels.sum(1), sums.right, share, confusion, survey.annotators),
        *accuracy_interval(state.model, share, sums.doubted),
    )
    constant = heard.constant
    if constant.any():
        of_all = parts.total(dawid_skene_sums.calibrated, heard, found, state.log_weights, log_table)
        confusion, counts = confusion.copy(), counts.copy()
        confusion[constant] = as_constant(of_all.counts)[constant]
        counts[constant] = of_all.counts.transpose(0, 2, 1)[constant]
        annotators = _with_constant(annotators, constant, confusion, of_all)
    model.keep_annotators(survey.classes, survey.classes, confusion, annotators)
    model.confusion_counts_ = tabulate_matrices(counts, survey.annotators, survey.classes, survey.classes)
    model.keep_state(state, found, imagined, 1)
    model.silence(np.flatnonzero(constant))


def _with_constant(
    annotators: pd.DataFrame,
    constant: dawid_skene_sums.Annotators,
    confusion: Float[np.ndarray, "annotators classes labels"],
    sums: Calibrated,
) -> pd.DataFrame:
    """Replace what is told of annotators who were not heard."""
    share = sums.sizes / sums.sizes.sum()
    own = {
        "accuracy": np.einsum("akk,k->a", confusion, share),
        "accuracy_low": np.nan,
        "accuracy_high": np.nan,
        "information": information(share, confusion),
    }
    return annotators.assign(**{name: np.where(constant, value, annotators[name]) for name, value in own.items()})
