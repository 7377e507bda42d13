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

Whether the cautious prior is better, see `choice_of_prior`, is not asked: it is taken only where most items have one
label and few several.

Subtypes are found by an eigenvector over all items, which is no sum of a fixed size. So they are not found here, and
``subtypes=1`` has to be said.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Int

from consilience.consensus.labels.annotator_models import NO_PULL
from consilience.consensus.labels.calibration import Calibration, no_calibration
from consilience.consensus.labels.choice_of_prior import PULL_OF_ONE, are_too_few, note_on_few, prior_of_classes
from consilience.consensus.labels.constant_annotators import constant_among, warn_of_constant
from consilience.consensus.labels.dawid_skene import DawidSkeneEvidence, DawidSkeneState, columns_of
from consilience.consensus.labels.dawid_skene_estimator import DawidSkene, warn_of_ratings
from consilience.consensus.labels.samples import join_labels, most_labels, sampled_places
from consilience.consensus.labels.shared_errors import count_independent, warn_of_shared_errors
from consilience.errors import InputError
from consilience.estimators.parameters import is_auto
from consilience.estimators.traces import keep_trace
from consilience.inference.parts import LabelsInParts, Parts
from consilience.partitions.engine.checkpoint import Runs, runs_at
from consilience.partitions.models import dawid_skene_sums, label_parts
from consilience.partitions.models.label_parts import Heard
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
    """Fit the model; see `registry.PartitionedModel`."""
    label_parts.require_table(model, survey, len(survey.classes))
    warn_of_ratings(survey.a_label_of_each_class())
    learned = model.prior is not None
    runs: Runs[DawidSkeneState] = runs_at(checkpoint, model, labels=digest_of(survey, counts))
    no_one = np.zeros(len(survey.annotators), dtype=bool)
    constant = constant_among(parts, counts) if learned else no_one
    warn_of_constant(label_parts.no_labels_by(survey.annotators, survey.classes), constant, "DawidSkene")
    heard = Heard(constant, label_parts.copies_among(model, parts, survey))
    pairs = parts.total(dawid_skene_sums.pairs_heard, heard)
    pull = PULL_OF_ONE if model.may_be_cautious(len(survey.classes)) and are_too_few(pairs) else NO_PULL
    model.is_cautious_ = pull != NO_PULL
    imagined = prior_of_classes(pairs, pull) if learned else 0.0
    onehot = parts.map(label_parts.encode_part, len(survey.classes), heard)
    evidence = DawidSkeneEvidence(LabelsInParts(onehot, len(survey.classes)), 0.0, imagined, pull=pull)
    trace = model.learn(parts.total(dawid_skene_sums.first_sums, heard), evidence, runs.run)
    onehot.forget()
    keep_trace(model, trace)
    found = _calibration(model, parts, heard, trace.state, survey)
    read_off(model, parts, survey, heard, counts, trace.state, evidence, found)
    model.notes_ = note_on_few(pairs, has_gold=False) if model.is_cautious_ else []
    label_parts.warn_of_copies(model)
    if model.calibrate:
        n_independent = count_independent((counts.sum(1) > 0) & ~constant, heard.group)
        warn_of_shared_errors("DawidSkene", n_independent, False, pairs)


def _calibration(model: DawidSkene, parts: Parts, heard: Heard, state: DawidSkeneState, survey: Survey) -> Calibration:
    """Find the temperature from items with several labels, a sample of them if there are many."""
    if not model.calibrate:
        return no_calibration(len(survey.classes))
    sizes = list(parts.results(dawid_skene_sums.sizes_of, heard))
    most = most_labels(len(survey.classes))
    places = sampled_places(sum(one.n_several for one in sizes), sum(one.n_of_several for one in sizes), most)
    first = np.cumsum([0] + [one.n_several for one in sizes])
    table = columns_of(state.model.log_table)
    found = list(parts.results(dawid_skene_sums.sample_labels, heard, first, places, state.log_weights, table))
    sample = join_labels([one.labels for one in found])
    q = np.concatenate([one.responsibilities for one in found])
    return model.calibration_of(sample, state, q, free=np.full(len(sample), True))


# ---- the attributes


def read_off(
    model: DawidSkene,
    parts: Parts,
    survey: Survey,
    heard: Heard,
    labels: Int[np.ndarray, "annotators labels"],
    state: DawidSkeneState,
    evidence: DawidSkeneEvidence,
    found: Calibration,
) -> None:
    """Set the attributes; `labels` are the numbers of labels of each annotator, of each class."""
    log_table = columns_of(state.model.log_table)
    sums = parts.total(dawid_skene_sums.quality, heard, found, state.log_weights, log_table)
    label_parts.keep_annotators(model, survey, survey.classes, state.model.matrices(), labels.sum(1), sums.told)
    model.keep_learned(state, evidence, found, sums.told.share, sums.doubted, sums.moved)
    if heard.constant.any():
        of_all = parts.total(dawid_skene_sums.calibration_sums, heard, found, state.log_weights, log_table)
        model.keep_constant(np.flatnonzero(heard.constant), of_all.counts, of_all.sizes / sums.told.n_items)
