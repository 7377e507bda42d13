"""StagewiseEM: the estimator of `consilience.consensus.labels.stagewise_em`. Zhao & Zucker."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.special import logsumexp, softmax
from sklearn.utils.validation import check_is_fitted

from consilience.annotations import Labels
from consilience.annotations.names import name_index, outside, plain
from consilience.annotations.types import Flag, Integer, Literal, NameGroups, NumberOfClusters, Real
from consilience.consensus.labels import dawid_skene, product_mixture
from consilience.consensus.labels import stagewise_em as stagewise
from consilience.consensus.labels.constant_annotators import constant_annotators, without
from consilience.consensus.labels.copies import merged
from consilience.consensus.labels.copies_result import COPIES, compare_with_apart, copies_of
from consilience.consensus.labels.fall_back import evidence_of_others, log_number_of_sets
from consilience.consensus.labels.informative_set import (
    MOST_ROUNDS,
    Known,
    Selection,
    criterion,
    informs,
    onehot_of,
    refine,
)
from consilience.consensus.labels.mixture_result import give_to_copies, read_off
from consilience.consensus.labels.product_mixture import SMOOTHING, Mixture, m_step, matched
from consilience.consensus.labels.stagewise_em import Settings, Stage, Study
from consilience.errors import AnnotationWarning, InputError
from consilience.estimators.gold import require_named, with_known
from consilience.estimators.labels import LabelAggregator
from consilience.estimators.parameters import (
    AUTO,
    TRUTH,
    Requirements,
    interval,
    is_auto,
    one_of,
    whole,
)
from consilience.estimators.traces import keep_end
from consilience.inference import Trace
from consilience.inference.iterate import UnsettledWarning
from consilience.inference.product_distributions import Responsibilities, posterior, vote_shares

EM_ITER, EM_TOL = 500, 1e-6
ROUND_ITER = 100  # EM sweeps between two tests of the annotators


class StagewiseEM(LabelAggregator):
    """Classes from a few informative annotators, found among many who are not.

    A crowd in which most label at random defeats the majority vote and models that start from it. This model starts
    from the pair of annotators with the highest mutual information, and adds others as they help.

    Parameters
    ----------
    n_clusters : "auto" or int, default="auto"
        Number of components. "auto": as many as there are classes among the labels. Components have
        the classes' names if there are as many, else they are numbered by decreasing size.
    refine : {"informative", "all", None}, default="informative"
        What follows the stagewise algorithm. "informative": EM on the informative set alternates with a test of every
        annotator's labels against those of the others, until the set no longer changes; once from the stagewise
        solution and once from the votes of all, of which the better is kept; finally with the learned prior of
        `DawidSkene` if components are classes. "all": EM on all annotators, the paper's StageEM-refine. None: nothing,
        the paper's StageEM.
    weighted : bool, default=True
        Whether a component's information is weighted by the component's weight, as in (13) of the paper, or not, as in
        its algorithm.
    entry_level : float, default=0.001
        In the stagewise algorithm, the probability that the information of a pair of annotators exceeds the threshold
        of entry by chance.
    level : float, default=0.01
        In refining, the probability that any annotator enters the informative set by chance.
    max_iter : int, default=20
        Maximum number of rounds of the stagewise algorithm.
    copies : "auto", None or list of lists of annotators, default="auto"
        Annotators who are copies of each other, such as one person who answered twice or one language model asked with
        several prompts, and weigh together as one annotator. "auto": groups who agree with each other more than
        independent people would, with a warning that names them. None: every annotator weighs alone. A list: these
        groups. The member with the most labels stands for the group, with the label that most of them gave; all have
        the same confusion matrix.
    verbose : bool, default=False
        Show a progress bar: in a notebook, or in a terminal on standard error.

    Attributes
    ----------
    labels_ : ndarray, shape (n_items,)
        Name of the most probable class of each item, or number of its component. Missing (NaN for numbers, else None)
        for items without labels.
    labels_series_ : Series
        The same, indexed by item.
    responsibilities_ : ndarray, shape (n_items, n_components_)
    classes_ : ndarray, shape (n_components_,)
    weights_ : ndarray, shape (n_components_,)
        Share of each class.
    informative_set_ : list of names
        Annotators whose labels determine the classes, in order of entry; those that refining adds, with the strongest
        evidence first.
    trace_ : DataFrame, one row for each round, indexed by round
        n_components; log_likelihood of all labels, nats; information, the largest conditional mutual information of
        two annotators' labels given the class, nats; n_informative, the size of the informative set; entered, the
        names added. Row 0 is the single component. Fig. 3 of the paper.
    starts_ : DataFrame, or None
        With ``refine="informative"``, for each start ("stagewise", and "votes" if components are classes) the size of
        its final informative set, the log likelihood of all labels and Schwarz's criterion, nats. The result with the
        highest criterion was kept.
    n_components_ : int
        Fewer than requested if no pair of annotators distinguishes more classes.
    items_ : Index, shape (n_items,)
    annotators_ : DataFrame, one row for each annotator
        n_labels, agreement, accuracy, information (bits); informative, whether in the informative set; and with
        ``refine="informative"`` p_value, of the test of independence between the annotator's labels and the class by
        the others.
    confusion_matrices_ : DataFrame, shape (n_annotators * n_components_, n_labels)
        Probability of each label of an annotator in each class, indexed by annotator and class.
    copies_ : DataFrame, one row for each group of annotators who weigh together
        annotators; n_items that at least two of them labelled; agreement, the share of equal labels of two of them;
        expected, the share that the other annotators explain, NaN if they do not agree with each other; dependence,
        how far the agreement goes from there towards 1, beyond chance; p_value of agreement at the limit for
        independent people, before correction for the number of pairs.
    labels_apart_ : ndarray of class names, shape (n_items,)
        `labels_` if every annotator weighs alone.
    n_clusters_ : int
        The same as `n_components_`.
    fell_back_ : bool
        Whether the informative set was given up, with a warning, since `DawidSkene` with all annotators explains the
        labels better. The classes are then those of all annotators, who make up `informative_set_`; `starts_` and
        p_value remain those of the set. With ``refine="informative"`` only.
    n_iter_ : int
        Rounds of the stagewise algorithm.
    converged_ : bool
        Whether the informative set stopped changing; with ``refine="all"``, or if `fell_back_`, whether EM converged;
        without refining whether the stagewise algorithm settled within `max_iter` rounds. A warning says if not.

    References
    ----------
    Zhao & Zucker. Stagewise Learning for Sparse Clustering of Discretely-Valued Data.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.consensus import StagewiseEM
    >>> from consilience.simulation import simulate_labels, sparse_crowd
    >>> classes = np.arange(600) % 3
    >>> crowd = sparse_crowd(40, 3, alpha=0.1, accuracy=0.7, random_state=0)
    >>> labels = simulate_labels(classes, confusion=crowd, random_state=0)
    >>> model = StagewiseEM().fit(labels)
    >>> len(model.informative_set_)
    4
    >>> bool((model.labels_ == classes).mean() > 0.85)
    True
    """

    _merges_copies: ClassVar[bool] = True

    _requirements: ClassVar[Requirements] = {
        "n_clusters": AUTO | whole(1),
        "refine": one_of("informative", "all", None),
        "weighted": TRUTH,
        "entry_level": interval(0, 1, "neither"),
        "level": interval(0, 1, "neither"),
        "max_iter": whole(1),
        "copies": COPIES,
    }

    def __init__(
        self,
        n_clusters: NumberOfClusters = "auto",
        refine: Literal["informative", "all", None] = "informative",
        weighted: Flag = True,
        entry_level: Real = 0.001,
        level: Real = 0.01,
        max_iter: Integer = 20,
        copies: NameGroups = "auto",
        verbose: Flag = False,
    ):
        self.n_clusters = n_clusters
        self.refine = refine
        self.weighted = weighted
        self.entry_level = entry_level
        self.level = level
        self.max_iter = max_iter
        self.copies = copies
        self.verbose = verbose

    def _aggregate(self, labels: Labels, known: Known, values: None) -> StagewiseEM:
        copies = copies_of(self, labels, known=known)
        study = self._of_independent(merged(labels, copies.group), known)
        give_to_copies(self, labels, copies)
        if len(copies):  # of whom conditional_information tells what they share
            study = Study.of(labels, self.n_clusters_, float(self.entry_level))
        self._pair_information = self._remaining_information(labels, study)
        compare_with_apart(self, copies, lambda apart: apart._aggregate(labels, known, None), labels)
        return self

    def _of_independent(self, labels: Labels, known: Known) -> Study:
        """Fit to labels of which none are copies."""
        n_components = labels.n_classes if is_auto(self.n_clusters) else int(self.n_clusters)
        require_named(known, n_components, labels, type(self).__name__)
        study = Study.of(labels, n_components, float(self.entry_level))
        settings = Settings(n_components, bool(self.weighted))
        trace, rounds = stagewise.run(study, settings, max_iter=self.max_iter)
        self.trace_ = trace_table(rounds, study, labels)
        self.n_iter_ = trace.n_iter
        self.starts_: pd.DataFrame | None = None
        self.fell_back_ = False
        stage = trace.state
        if known is not None and len(stage.log_weights) == n_components:
            stage = in_order_of_classes(stage, study, known)
        if self.refine is None:
            keep_end(self, trace)
        if len(stage.log_weights) < n_components and (self.refine is None or n_components != labels.n_classes):
            found = f"Pairs of annotators distinguish {len(stage.log_weights)} of {n_components} components"
            warnings.warn(f"StagewiseEM: {found}; there are fewer.", AnnotationWarning, stacklevel=outside())
        finish = {None: self._read_stage, "all": self._read_all, "informative": self._read_selection}
        finish[self.refine](labels, stage, study, known)
        self.n_components_ = self.n_clusters_
        return study

    def _remaining_information(self, labels: Labels, study: Study) -> pd.DataFrame:
        """(13) of all pairs of annotators under the final posteriors."""
        information, total = stagewise.conditional_information(self.responsibilities_, study)
        return pd.DataFrame(
            {
                "first": labels.annotators.take(study.tables.first),
                "second": labels.annotators.take(study.tables.second),
                "information": stagewise.conditional(information, total),
            }
        )

    def conditional_information(self) -> pd.DataFrame:
        """Mutual information of every two annotators' labels given the class, nats; (13), Fig. 4 of the paper.

        Near zero if the classes explain why annotators agree; the rest is noise of about (R - 1)² / 2n for R labels and
        n items in common, or agreement of another origin, such as annotators who copy.

        Returns
        -------
        DataFrame, shape (n_annotators, n_annotators)
            Symmetric; NaN on the diagonal and for pairs with few items in common.
        """
        check_is_fitted(self)
        names, pairs = self.annotators_.index, self._pair_information
        table = np.full((len(names), len(names)), np.nan)
        first, second = (names.get_indexer(name_index(pairs[one])) for one in ("first", "second"))
        table[first, second] = table[second, first] = pairs["information"]
        return pd.DataFrame(table, index=names, columns=names)

    def _starts(self, labels: Labels, stage: Stage, study: Study, known: Known) -> list[Start]:
        """Starts of refining: the stagewise solution and the votes, if they have all components."""
        n_components = study.onehot.n_components
        starts, everyone = [], tuple(range(labels.n_annotators))
        if len(stage.log_weights) == n_components or n_components != labels.n_classes:
            q = stagewise.regularised_posterior(stage, study)
            starts.append(Start("stagewise", stage.members or everyone, with_known(q, known)))
        if n_components == labels.n_classes:
            starts.append(Start("votes", everyone, with_known(vote_shares(labels), known)))
        return starts

    def _read_stage(self, labels: Labels, stage: Stage, study: Study, known: Known) -> None:
        """End with the stagewise solution."""
        if known is not None and len(stage.log_weights) < labels.n_classes:
            raise InputError(
                f"gold names classes, and StagewiseEM(refine=None) found {len(stage.log_weights)} components for "
                f"{labels.n_classes} classes. Leave out gold, or set refine='informative'."
            )
        q = with_known(stagewise.regularised_posterior(stage, study), known)
        expected, weights, table = study.onehot.expectation_of(q), stage.log_weights, stage.log_table
        if known is not None:
            weights, table = m_step(expected, labels.n_classes, SMOOTHING)
        self._finish(labels, Mixture(weights, table, 0.0, expected), q, stage.members, known)

    def _read_all(self, labels: Labels, stage: Stage, study: Study, known: Known) -> None:
        """End with EM on all annotators."""
        first = self._starts(labels, stage, study, known)[0]
        everyone = range(labels.n_annotators)
        onehot = onehot_of(labels, tuple(everyone), study.onehot.n_components, known)
        trace = product_mixture.run(first.q, onehot, labels.n_classes, max_iter=EM_ITER, tol=EM_TOL)
        mixture = trace.state
        self._keep_converged(trace.converged, f"EM still improved after {EM_ITER} rounds")
        q = posterior(onehot, mixture.log_weights, mixture.log_table)
        self._finish(labels, mixture, q, stage.members, known, deciding=everyone)

    def _read_selection(self, labels: Labels, stage: Stage, study: Study, known: Known) -> None:
        """End with EM on the refined informative set, from the better start; or with all annotators."""
        starts = self._starts(labels, stage, study, known)
        settings: dict[str, Any] = {"level": self.level, "max_iter": ROUND_ITER, "tol": EM_TOL, "known": known}
        traces = [refine(labels, start.members, start.q, **settings) for start in starts]
        ends = [trace.state for trace in traces]
        scores = [criterion(labels, end) for end in ends]
        best = int(np.argmax([penalised for _, penalised in scores]))
        last, members = ends[best], ends[best].members
        if study.onehot.n_components != labels.n_classes:
            end, lead = plain_end(last), 0.0
        else:
            end = end_with_prior(labels, last, known)
            lead = lead_of_all(labels, last.members, end.lower_bound, known)
        self.fell_back_ = lead > 0
        none = not informs(last.p_values, last.probability, self.level).any()
        if self.fell_back_:
            members = heard(labels)[1]
            self._warn_of_fall_back(len(last.members), len(members), lead, none=none)
            end = end_with_prior_of_all(labels, known)
        elif none:
            nothing = "no annotator's labels depend on those of the others; the classes may be chance"
            warnings.warn(f"StagewiseEM: {nothing}.", AnnotationWarning, stacklevel=outside())
        converged = end.converged if self.fell_back_ else traces[best].converged
        what = "EM still improved" if self.fell_back_ else "the informative set still changed"
        self._keep_converged(converged, f"{what} after {EM_ITER if self.fell_back_ else MOST_ROUNDS} rounds")
        inside = list(members)
        expected = study.onehot.expectation_of(end.q)
        shape = (labels.n_annotators, labels.n_classes, end.q.shape[1])
        table, evidence = m_step(expected, labels.n_classes, SMOOTHING)[1].reshape(shape), np.zeros(shape)
        table[inside] = end.log_table.reshape(-1, *shape[1:])
        evidence[inside] = end.evidence.reshape(-1, *shape[1:])
        whole = Mixture(end.log_weights, table.reshape(-1, shape[2]), 0.0, expected)
        first = [annotator for annotator in stage.members if annotator in inside]
        added = sorted(set(inside) - set(first), key=lambda annotator: last.p_values[annotator])
        self._finish(labels, whole, end.q, [*first, *added], known, evidence=evidence.reshape(-1, shape[2]))
        self.annotators_["p_value"] = last.p_values
        outcome = {
            "n_informative": [len(end.members) for end in ends],
            "log_likelihood": [log_likelihood for log_likelihood, _ in scores],
            "criterion": [penalised for _, penalised in scores],
        }
        self.starts_ = pd.DataFrame(outcome, index=pd.Index([start.name for start in starts], name="start"))

    def _keep_converged(self, converged: bool, otherwise: str) -> None:
        """Set ``converged_``, and warn if it is False."""
        self.converged_ = converged
        if not converged:
            warnings.warn(f"StagewiseEM: {otherwise}.", UnsettledWarning, stacklevel=outside())

    def _warn_of_fall_back(self, n_members: int, n_annotators: int, lead: float, *, none: bool) -> None:
        """Warn that the classes are those of all annotators."""
        why = f"its informative set of {n_members} of {n_annotators} annotators explains the labels worse than all do"
        chance = "; no annotator's labels depend on those of the set, so see whether they agree at all" if none else ""
        warnings.warn(
            f"StagewiseEM fell back to DawidSkene with all annotators: {why}, by {lead:.3g} nats{chance}.",
            AnnotationWarning,
            stacklevel=outside(),
        )

    def _finish(
        self,
        labels: Labels,
        mixture: Mixture,
        q: Responsibilities,
        members: Sequence[int],
        known: Known,
        deciding: Sequence[int] | None = None,
        evidence: np.ndarray | None = None,
    ) -> None:
        read_off(self, labels, mixture, q, members if deciding is None else deciding, evidence, known)
        self.informative_set_ = [plain(name) for name in labels.annotators.take(list(members))]
        self.annotators_["informative"] = np.isin(np.arange(labels.n_annotators), list(members))


@dataclass(frozen=True)
class Start:
    """Start of refining: an informative set and posteriors."""

    name: str
    members: tuple[int, ...]
    q: Responsibilities


@dataclass(frozen=True)
class End:
    """Result of refining, for the informative set.

    log_weights : (components,).
    log_table : (columns, components) log probability of each label.
    evidence : (columns, components) evidence of each label for each component.
    q : (items, components) posteriors.
    lower_bound : of the labels of the set, nats.
    converged : whether the last EM converged.
    """

    log_weights: Float[np.ndarray, " components"]
    log_table: Float[np.ndarray, "columns components"]
    evidence: Float[np.ndarray, "columns components"]
    q: Responsibilities
    lower_bound: float
    converged: bool


def plain_end(selection: Selection) -> End:
    """Return the mixture of the informative set unchanged."""
    state, q = selection.mixture.state, softmax(selection.scores, axis=1)
    trace = selection.mixture
    return End(state.log_weights, state.log_table, state.log_table, q, trace.lower_bound, trace.converged)


def end_with_prior(labels: Labels, selection: Selection, known: Known) -> End:
    """Continue from the mixture of the informative set with the learned prior of `dawid_skene`.

    With few informative annotators, maximum likelihood overfits their confusion matrices.
    """
    n_classes = labels.n_classes
    counts = selection.mixture.state.expected.counts.reshape(-1, n_classes, n_classes)
    order = matched(counts) if known is None else np.arange(n_classes)
    q = softmax(selection.scores, axis=1)[:, order]
    evidence = dawid_skene.Evidence(onehot_of(labels, selection.members, n_classes, known), 0.0)
    return _end_of(evidence, _with_learned_prior(q, evidence))


def heard(labels: Labels) -> tuple[Labels, tuple[int, ...]]:
    """Return what `DawidSkene` reads: the labels and annotators without constant ones."""
    rest = without(labels, constant_annotators(labels))
    return rest, tuple(np.unique(rest.annotator).tolist())


def end_with_prior_of_all(labels: Labels, known: Known) -> End:
    """Fit the model of `dawid_skene` to all annotators, as `DawidSkene` does."""
    rest, members = heard(labels)
    sizes = dawid_skene.imagined_sizes(rest)
    evidence = dawid_skene.Evidence(onehot_of(labels, members, labels.n_classes, known), 0.0, sizes)
    return _end_of(evidence, _with_learned_prior(dawid_skene.first_guess(rest, known), evidence))


def lead_of_all(labels: Labels, members: tuple[int, ...], bound: float, known: Known) -> float:
    """By how much all annotators explain the labels better than a set whose labels have this bound, nats; 0 if not.

    Constant annotators count as everyone outside the set does.
    """
    rest, everyone = heard(labels)
    if set(everyone) <= set(members):
        return 0.0
    evidence = dawid_skene.Evidence(onehot_of(labels, everyone, labels.n_classes, known), 0.0)
    bound_of_all = _with_learned_prior(dawid_skene.first_guess(rest, known), evidence).lower_bound
    n_annotators = len(np.unique(labels.annotator))
    of_all, of_set = (
        one + evidence_of_others(labels, who) - log_number_of_sets(n_annotators, len(who))
        for one, who in ((bound_of_all, everyone), (bound, members))
    )
    return max(of_all - of_set, 0.0)


def _with_learned_prior(q: Responsibilities, evidence: dawid_skene.Evidence) -> Trace[dawid_skene.State]:
    return dawid_skene.run(q, evidence, one_coin=False, learned=True, max_iter=EM_ITER, tol=EM_TOL)


def _end_of(evidence: dawid_skene.Evidence, trace: Trace[dawid_skene.State]) -> End:
    state, n_classes = trace.state, evidence.onehot.n_components
    table = state.model.log_table.reshape(-1, n_classes)
    means = np.log(state.model.matrices().transpose(0, 2, 1)).reshape(-1, n_classes)
    weights = state.log_weights - logsumexp(state.log_weights)  # E ln π belongs to weights whose sum is below 1
    q = posterior(evidence.chunks, weights, table)
    return End(weights, means, table, q, trace.lower_bound, trace.converged)


def in_order_of_classes(stage: Stage, study: Study, known: np.ndarray) -> Stage:
    """Give the components the order of the classes: that of gold items, and the names of the labels of the set."""
    q, n_classes = stagewise.regularised_posterior(stage, study), study.n_labels
    counts = study.onehot.expectation_of(q).counts.reshape(-1, n_classes, n_classes)[list(stage.members)]
    gold = (np.eye(n_classes)[known] * (known >= 0)[:, None]).T @ q
    order = matched(np.concatenate([counts, gold[None]]))
    moved = {"log_weights": stage.log_weights[order], "log_table": stage.log_table[:, order], "q": stage.q[:, order]}
    return replace(stage, **moved)


def trace_table(rounds: list[Stage], study: Study, labels: Labels) -> pd.DataFrame:
    """Tabulate the rounds; see `StagewiseEM`."""
    states = [stagewise.init(study), *rounds]
    information = [after.largest for after in rounds]  # a round starts with what the previous one ended with
    last = stagewise.conditional(*stagewise.conditional_information(states[-1].q, study))
    before: tuple[int, ...] = ()
    entered = []
    for state in states:
        entered.append([plain(labels.annotators[place]) for place in state.members[len(before) :]])
        before = state.members
    table = {
        "n_components": [len(state.log_weights) for state in states],
        "log_likelihood": [state.log_likelihood for state in states],
        "information": [*information, float(last.max(initial=0.0))],
        "n_informative": [len(state.members) for state in states],
        "entered": entered,
    }
    return pd.DataFrame(table).rename_axis("round")
