"""StagewiseEM: the estimator of `consilience.consensus.labels.stagewise_em`. Zhao & Zucker."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
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
from consilience.consensus.labels.copies import merged
from consilience.consensus.labels.copies_result import COPIES, compare_with_apart, copies_of
from consilience.consensus.labels.informative_set import Selection, criterion, informs, onehot_of, refine
from consilience.consensus.labels.mixture_result import give_to_copies, read_off
from consilience.consensus.labels.product_mixture import SMOOTHING, Mixture, m_step, matched
from consilience.consensus.labels.stagewise_em import Settings, Stage, Study
from consilience.errors import AnnotationWarning
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
from consilience.inference.product_distributions import Responsibilities, expectation_of, posterior, vote_shares

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
    n_iter_ : int
        Rounds of the stagewise algorithm.
    converged_ : bool
        Whether the informative set stopped changing; with ``refine="all"`` whether EM converged; without refining
        whether the stagewise algorithm settled within `max_iter` rounds.

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

    def _aggregate(self, labels: Labels, known: np.ndarray | None) -> StagewiseEM:
        copies = copies_of(self, labels)
        study = self._of_independent(merged(labels, copies.group))
        give_to_copies(self, labels, copies)
        if len(copies):  # of whom conditional_information tells what they share
            study = Study.of(labels, self.n_clusters_, float(self.entry_level))
        self._pair_information = self._remaining_information(labels, study)
        compare_with_apart(self, copies, lambda apart: apart._aggregate(labels, known), labels)
        return self

    def _of_independent(self, labels: Labels) -> Study:
        """Fit to labels of which none are copies."""
        n_components = labels.n_classes if is_auto(self.n_clusters) else int(self.n_clusters)
        study = Study.of(labels, n_components, float(self.entry_level))
        settings = Settings(n_components, bool(self.weighted))
        trace, rounds = stagewise.run(study, settings, max_iter=self.max_iter)
        self.trace_ = trace_table(rounds, study, labels)
        self.n_iter_, self.converged_ = trace.n_iter, trace.converged  # without a warning: the rounds may go in circles
        self.starts_: pd.DataFrame | None = None
        stage = trace.state
        if len(stage.log_weights) < n_components and (self.refine is None or n_components != labels.n_classes):
            found = f"Pairs of annotators distinguish {len(stage.log_weights)} of {n_components} components"
            warnings.warn(f"StagewiseEM: {found}; there are fewer.", AnnotationWarning, stacklevel=outside())
        finish = {None: self._read_stage, "all": self._read_all, "informative": self._read_selection}
        finish[self.refine](labels, stage, study, n_components)
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

    def _starts(self, labels: Labels, stage: Stage, study: Study, n_components: int) -> list[Start]:
        """Starts of refining: the stagewise solution and the votes, if they have all components."""
        starts, everyone = [], tuple(range(labels.n_annotators))
        if len(stage.log_weights) == n_components or n_components != labels.n_classes:
            members = stage.members or everyone
            starts.append(Start("stagewise", members, stagewise.regularised_posterior(stage, study)))
        if n_components == labels.n_classes:
            starts.append(Start("votes", everyone, vote_shares(labels)))
        return starts

    def _read_stage(self, labels: Labels, stage: Stage, study: Study, n_components: int) -> None:
        """End with the stagewise solution."""
        q = stagewise.regularised_posterior(stage, study)
        mixture = Mixture(stage.log_weights, stage.log_table, 0.0, expectation_of(study.onehot, q))
        self._finish(labels, mixture, q, stage.members)

    def _read_all(self, labels: Labels, stage: Stage, study: Study, n_components: int) -> None:
        """End with EM on all annotators."""
        first = self._starts(labels, stage, study, n_components)[0]
        trace = product_mixture.run(first.q, study.onehot, labels.n_classes, max_iter=EM_ITER, tol=EM_TOL)
        mixture, self.converged_ = trace.state, trace.converged
        q = posterior(study.onehot, mixture.log_weights, mixture.log_table)
        self._finish(labels, mixture, q, stage.members, deciding=range(labels.n_annotators))

    def _read_selection(self, labels: Labels, stage: Stage, study: Study, n_components: int) -> None:
        """End with EM on the refined informative set, from the better start."""
        starts = self._starts(labels, stage, study, n_components)
        settings: dict[str, Any] = {"level": self.level, "max_iter": ROUND_ITER, "tol": EM_TOL}
        traces = [refine(labels, start.members, start.q, **settings) for start in starts]
        ends = [trace.state for trace in traces]
        scores = [criterion(labels, end) for end in ends]
        best = int(np.argmax([penalised for _, penalised in scores]))
        last, inside, self.converged_ = ends[best], list(ends[best].members), traces[best].converged
        if not informs(last.p_values, last.probability, self.level).any():
            nothing = "no annotator's labels depend on those of the others; the classes may be chance"
            warnings.warn(f"StagewiseEM: {nothing}.", AnnotationWarning, stacklevel=outside())
        end = plain_end(last) if n_components != labels.n_classes else end_with_prior(labels, last)
        expected = expectation_of(study.onehot, end.q)
        shape = (labels.n_annotators, labels.n_classes, end.q.shape[1])
        table, evidence = m_step(expected, labels.n_classes, SMOOTHING)[1].reshape(shape), np.zeros(shape)
        table[inside] = end.log_table.reshape(-1, *shape[1:])
        evidence[inside] = end.evidence.reshape(-1, *shape[1:])
        whole = Mixture(end.log_weights, table.reshape(-1, shape[2]), 0.0, expected)
        first = [annotator for annotator in stage.members if annotator in inside]
        added = sorted(set(inside) - set(first), key=lambda annotator: last.p_values[annotator])
        self._finish(labels, whole, end.q, [*first, *added], evidence=evidence.reshape(-1, shape[2]))
        self.annotators_["p_value"] = last.p_values
        outcome = {
            "n_informative": [len(end.members) for end in ends],
            "log_likelihood": [log_likelihood for log_likelihood, _ in scores],
            "criterion": [penalised for _, penalised in scores],
        }
        self.starts_ = pd.DataFrame(outcome, index=pd.Index([start.name for start in starts], name="start"))

    def _finish(
        self,
        labels: Labels,
        mixture: Mixture,
        q: Responsibilities,
        members: Sequence[int],
        deciding: Sequence[int] | None = None,
        evidence: np.ndarray | None = None,
    ) -> None:
        read_off(self, labels, mixture, q, members if deciding is None else deciding, evidence)
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
    """

    log_weights: Float[np.ndarray, " components"]
    log_table: Float[np.ndarray, "columns components"]
    evidence: Float[np.ndarray, "columns components"]
    q: Responsibilities


def plain_end(selection: Selection) -> End:
    """Return the mixture of the informative set unchanged."""
    state = selection.mixture.state
    return End(state.log_weights, state.log_table, state.log_table, softmax(selection.scores, axis=1))


def end_with_prior(labels: Labels, selection: Selection) -> End:
    """Continue from the mixture of the informative set with the learned prior of `dawid_skene`.

    With few informative annotators, maximum likelihood overfits their confusion matrices.
    """
    n_classes = labels.n_classes
    counts = selection.mixture.state.expected.counts.reshape(-1, n_classes, n_classes)
    q = softmax(selection.scores, axis=1)[:, matched(counts)]
    evidence = dawid_skene.Evidence(onehot_of(labels, selection.members, n_classes), 0.0)
    state = dawid_skene.run(q, evidence, one_coin=False, learned=True, max_iter=EM_ITER, tol=EM_TOL).state
    table = state.model.log_table.reshape(-1, n_classes)
    means = np.log(state.model.matrices().transpose(0, 2, 1)).reshape(-1, n_classes)
    weights = state.log_weights - logsumexp(state.log_weights)
    return End(weights, means, table, posterior(evidence.onehot, weights, table))


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
