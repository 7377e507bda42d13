"""`StagewiseEM` fitted to partitions: its in-memory fit, with sums over partitions in place of arrays of items.

    survey       names of annotators and classes, numbers of items and labels        1 pass over the source
    pairs        common items of every two annotators; then each partition lists
                 the co-labels of the pairs that have enough of them                 2 passes over the parts
    rounds       tables of the pairs; posteriors and their change; the likelihood    3 a round
    splits       tables within S and their derivatives                               2 a split
    refining     the E-step of each partition, of the annotators in S                1 a sweep
    annotators   labels that are right; information of the pairs given the class     2 or more

The tables of pairs are the largest sums: of the size of the annotators² × labels² × components, at most `MOST_CELLS`
cells a component.

Decided here
------------
Annotators who enter S together, or whose evidence in refining is equal, are in order of first appearance in the table,
in memory in canonical order; so where fewer than three have evidence, others without any may be chosen than in memory.

Copies are merged item by item, which changes the labels themselves: ``copies=None`` has to be said.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Int

from consilience.annotations.names import outside, plain
from consilience.consensus.labels.copies_result import copies_of
from consilience.consensus.labels.informative_set import MOST_ROUNDS, informs
from consilience.consensus.labels.product_mixture import SMOOTHING, Mixture, m_step
from consilience.consensus.labels.stagewise_em import Settings, Stage, conditional, settled
from consilience.consensus.labels.stagewise_em_estimator import EM_ITER, StagewiseEM, plain_end
from consilience.errors import AnnotationWarning
from consilience.estimators.parameters import is_auto
from consilience.estimators.traces import keep_end
from consilience.inference.product_distributions import LogTable
from consilience.partitions.engine.checkpoint import Runs, runs_at
from consilience.partitions.engine.map_reduce import Parts
from consilience.partitions.models import label_parts, product_mixture
from consilience.partitions.models.annotator_pairs import Pairs, common_items
from consilience.partitions.models.requirements import require_no_copies
from consilience.partitions.models.stagewise_em_selection import Refining, Start, criterion
from consilience.partitions.models.stagewise_em_sweeps import Given, Round, Sweeps, encoded, expected, study_of
from consilience.partitions.survey.label_survey import Survey, digest_of


def require_fittable(model: StagewiseEM, checkpoint: Any) -> None:  # a checkpoint changes nothing
    """Raise an InputError unless the parameters are valid, and need no statistics that grow with the items."""
    model._check_parameters()
    require_no_copies(model)


def fit_stagewise_em(
    model: StagewiseEM, parts: Parts, survey: Survey, checkpoint: Any, counts: Int[np.ndarray, "annotators labels"]
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
    n_components = len(survey.classes) if is_auto(model.n_clusters) else int(model.n_clusters)
    label_parts.require_table(model, survey, n_components)
    runs: Runs[Any] = runs_at(checkpoint, model, labels=digest_of(survey, counts))
    copies_of(model, label_parts.no_labels_by(survey.annotators, survey.classes))
    common = parts.total(common_items)
    study = study_of(counts, common, survey.n_items, n_components, float(model.entry_level))
    own = parts.map(encoded, n_components, Pairs(study.tables.first, study.tables.second))
    sweeps = Sweeps(own, study, Settings(n_components, bool(model.weighted)), common, counts)
    trace = runs.run(
        sweeps.init,
        sweeps.step,
        lambda state: state.stage.log_likelihood,
        max_iter=model.max_iter,
        settled=lambda state: settled(state.stage),
    )
    stage, n_named = trace.state.stage, len(survey.classes)
    model.trace_, model.n_iter_ = trace_table(trace.state, sweeps, survey), trace.n_iter
    model.starts_, model.fell_back_ = None, False
    if model.refine is None:
        keep_end(model, trace)
    if len(stage.log_weights) < n_components and (model.refine is None or n_components != n_named):
        found = f"Pairs of annotators distinguish {len(stage.log_weights)} of {n_components} components"
        warnings.warn(f"StagewiseEM: {found}; there are fewer.", AnnotationWarning, stacklevel=outside())
    refining = Refining(own, counts, runs, float(model.level))
    finish = {None: _from_stage, "all": _from_all, "informative": _from_selection}[model.refine]
    _read_off(model, own, survey, finish(model, stage, sweeps, refining), counts.sum(1))
    model._pair_information = _remaining_information(model, sweeps, survey)
    own.forget()


@dataclass(frozen=True)
class Final:
    """Result of a fit, without posteriors.

    mixture : of all annotators.
    members : the informative set, in order of entry.
    deciding : annotators whose labels decide an item's component.
    evidence : of each label for each component; by default its log probability.
    p_values : of the tests, if there were any.
    """

    mixture: Mixture
    members: Sequence[int]
    deciding: Sequence[int]
    evidence: LogTable | None = None
    p_values: Float[np.ndarray, " annotators"] | None = None


def _from_stage(model: StagewiseEM, stage: Stage, sweeps: Sweeps, refining: Refining) -> Final:
    """End with the stagewise solution."""
    sums = sweeps.parts.total(expected, Given.by(stage, sweeps.study.n_labels))
    return Final(Mixture(stage.log_weights, stage.log_table, 0.0, sums), stage.members, stage.members)


def _from_all(model: StagewiseEM, stage: Stage, sweeps: Sweeps, refining: Refining) -> Final:
    """End with EM on all annotators."""
    everyone = refining.everyone
    trace = refining.mixture(everyone, _starts(stage, sweeps, refining)[0].given, EM_ITER)
    model._keep_converged(trace.converged, f"EM still improved after {EM_ITER} rounds")
    return Final(trace.state, stage.members, everyone)


def _from_selection(model: StagewiseEM, stage: Stage, sweeps: Sweeps, refining: Refining) -> Final:
    """End with EM on the refined informative set, from the better start; or with all annotators."""
    starts = _starts(stage, sweeps, refining)
    traces = [refining.refined(start) for start in starts]
    ends = [trace.state for trace in traces]
    scores = [criterion(refining.counts, end) for end in ends]
    best = int(np.argmax([penalised for _, penalised in scores]))
    last, members, n_labels = ends[best], ends[best].members, sweeps.study.n_labels
    if sweeps.settings.n_components != n_labels:
        end, lead = plain_end(last), 0.0
    else:
        end = refining.end_with_prior(last)
        lead = refining.lead_of_all(members, end.lower_bound)
    model.fell_back_ = lead > 0
    none = not informs(last.p_values, last.probability, refining.level).any()
    if model.fell_back_:
        members = refining.heard()[1]
        model._warn_of_fall_back(len(last.members), len(members), lead, none=none)
        end = refining.end_with_prior_of_all()
    elif none:
        nothing = "no annotator's labels depend on those of the others; the classes may be chance"
        warnings.warn(f"StagewiseEM: {nothing}.", AnnotationWarning, stacklevel=outside())
    converged = end.converged if model.fell_back_ else traces[best].converged
    what = "EM still improved" if model.fell_back_ else "the informative set still changed"
    model._keep_converged(converged, f"{what} after {EM_ITER if model.fell_back_ else MOST_ROUNDS} rounds")
    given = refining.given(end.log_weights, end.evidence, members)
    sums = sweeps.parts.total(expected, given)
    table = m_step(sums, n_labels, SMOOTHING)[1]
    inside = np.repeat(np.isin(refining.everyone, members), n_labels)
    table[inside] = end.log_table
    first = [annotator for annotator in stage.members if annotator in members]
    added = sorted(set(members) - set(first), key=lambda annotator: last.p_values[annotator])
    outcome = {
        "n_informative": [len(each.members) for each in ends],
        "log_likelihood": [log_likelihood for log_likelihood, _ in scores],
        "criterion": [penalised for _, penalised in scores],
    }
    model.starts_ = pd.DataFrame(outcome, index=pd.Index([start.name for start in starts], name="start"))
    mixture, order = Mixture(end.log_weights, table, 0.0, sums), [*first, *added]
    return Final(mixture, order, order, given.log_table, last.p_values)


def _starts(stage: Stage, sweeps: Sweeps, refining: Refining) -> list[Start]:
    """Starts of refining: the stagewise solution and the votes, if they have all components."""
    n_components, n_labels = sweeps.settings.n_components, sweeps.study.n_labels
    starts, everyone = [], refining.everyone
    if len(stage.log_weights) == n_components or n_components != n_labels:
        starts.append(Start("stagewise", stage.members or everyone, Given.by(stage, n_labels)))
    if n_components == n_labels:
        starts.append(Start("votes", everyone, None))
    return starts


def _read_off(
    model: StagewiseEM, own: Parts, survey: Survey, final: Final, n_given: Int[np.ndarray, " annotators"]
) -> None:
    """Set the attributes; `n_given` is the number of labels of each annotator."""
    product_mixture.read_off(model, own, survey, final.mixture, n_given, final.deciding, final.evidence)
    model.n_components_ = model.n_clusters_
    model.informative_set_ = [plain(name) for name in survey.annotators.take(list(final.members))]
    model.annotators_["informative"] = np.isin(np.arange(len(n_given)), list(final.members))
    if final.p_values is not None:
        model.annotators_["p_value"] = final.p_values


def _remaining_information(model: StagewiseEM, sweeps: Sweeps, survey: Survey) -> pd.DataFrame:
    """(13) of all pairs of annotators under the final posteriors."""
    information, total = sweeps.information(Given(model._log_weights, model._log_table))
    return pd.DataFrame(
        {
            "first": survey.annotators.take(sweeps.study.tables.first),
            "second": survey.annotators.take(sweeps.study.tables.second),
            "information": conditional(information, total),
        }
    )


def trace_table(last: Round, sweeps: Sweeps, survey: Survey) -> pd.DataFrame:
    """Tabulate the rounds; see `StagewiseEM`."""
    n_components, log_likelihood, information, n_informative = last.record.T
    sizes = n_informative.astype(int).tolist()
    names = [plain(name) for name in survey.annotators.take(list(last.stage.members))]
    remaining = conditional(*sweeps.information(last.given)).max(initial=0.0)
    table = {
        "n_components": n_components.astype(int),
        "log_likelihood": log_likelihood,
        "information": [*information[1:].tolist(), float(remaining)],  # a round starts with what the one before left
        "n_informative": sizes,
        "entered": [names[before:now] for before, now in zip([0, *sizes], sizes)],
    }
    return pd.DataFrame(table).rename_axis("round")
