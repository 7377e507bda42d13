"""StagewiseEM: the estimator of `consilience.consensus.labels.stagewise_em`. Zhao & Zucker."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from sklearn.utils.validation import check_is_fitted

from consilience.annotations import Labels
from consilience.annotations.names import name_index, outside, plain
from consilience.annotations.types import Flag, Integer, Literal, NameGroups, NumberOfClusters, Real
from consilience.consensus.labels import stagewise_em as stagewise
from consilience.consensus.labels.copies import merge_groups
from consilience.consensus.labels.copies_result import compare_with_apart, copies_of
from consilience.consensus.labels.informative_set import (
    MOST_ROUNDS,
    Known,
    OfPart,
    Refining,
    Start,
    criterion,
    informs,
    posterior_among,
    posterior_with_gold,
    shares_of_votes,
)
from consilience.consensus.labels.mixture_result import OF_TABLE, give_to_copies, read_off
from consilience.consensus.labels.product_mixture import SMOOTHING, ProductMixtureState, m_step, match_labels
from consilience.consensus.labels.stagewise_em import Stage, StagewiseSettings
from consilience.consensus.labels.stagewise_ends import (
    EM_ITER,
    choose_heard,
    end_with_prior,
    end_with_prior_of_all,
    lead_of_all,
    plain_end,
)
from consilience.consensus.labels.stagewise_evidence import Posterior, StagewiseEvidence, count_gold, sum_part
from consilience.errors import AnnotationWarning, InputError
from consilience.estimators import learned
from consilience.estimators.copies import COPIES
from consilience.estimators.gold import require_named
from consilience.estimators.labels import LabelAggregator
from consilience.estimators.learned import Attributes
from consilience.estimators.parameters import AUTO, TRUTH, Requirements, interval, is_auto, one_of, whole
from consilience.estimators.traces import keep_end
from consilience.inference.iterate import Loop, UnsettledWarning, begin
from consilience.inference.product_distributions import LogTable


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
    undecided_ : ndarray of bool, shape (n_items,)
        Items of which several classes are equally probable, to a millionth: `labels_` has the first of them.
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
    copies_, labels_apart_ : as in `DawidSkene`
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

    See Also
    --------
    DawidSkene : The usual case.
    MajorityVote : The baseline.

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

    _learned: ClassVar[Attributes] = {
        **OF_TABLE,
        **learned.SETTLED,
        "weights_": learned.array(float, "clusters", low=0, high=1),
        "trace_": learned.table(
            None, {"n_components": "c", "log_likelihood": "f", "information": "f", "n_informative": "c"}
        ),
        "starts_": learned.or_none(learned.table(None, {})),
        "fell_back_": learned.TRUTH,
        "informative_set_": learned.list_of(learned.NAME),
        "n_components_": learned.whole(1),
        "_pair_information": learned.table(None, {"first": "O", "second": "O", "information": "f"}),
    }

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
        evidence = self._of_independent(merge_groups(labels, copies.group), known)
        give_to_copies(self, labels, copies)
        if len(copies):  # of whom conditional_information tells what they share
            evidence = StagewiseEvidence.in_memory(labels, self.n_clusters_, float(self.entry_level))
        self.keep_information(evidence, self.responsibilities_, labels.annotators)
        compare_with_apart(self, copies, lambda apart: apart._aggregate(labels, known, None), labels)
        return self

    def _of_independent(self, labels: Labels, known: Known) -> StagewiseEvidence:
        """Fit to labels of which none are copies."""
        n_components = self.number_of_components(labels.classes)
        require_named(known, n_components, labels, type(self).__name__)
        evidence = StagewiseEvidence.in_memory(labels, n_components, float(self.entry_level), known)
        final = self.learn(evidence, labels.annotators)
        function, parameters = final.posterior
        (q,) = evidence.parts.results(function, *parameters)
        read_off(self, labels, final.mixture, q, final.deciding, final.evidence, known)
        self.keep_members(final, labels.annotators)
        return evidence

    def number_of_components(self, classes: pd.Index) -> int:
        """Return the number of components that the parameters ask for, given the names of the classes."""
        return len(classes) if is_auto(self.n_clusters) else int(self.n_clusters)

    def learn(self, evidence: StagewiseEvidence, annotators: pd.Index, loop: Loop = begin) -> Final:
        """Find the informative set and the components; set what is told of the search.

        Parameters
        ----------
        evidence : of the labels of all items, wherever they are.
        annotators : their names.
        loop : what runs rounds and EM.
        """
        study = evidence.study
        trace = stagewise.run(
            evidence, StagewiseSettings(study.n_components, bool(self.weighted)), max_iter=self.max_iter, loop=loop
        )
        stage, self.n_iter_ = trace.state, trace.n_iter
        self.trace_ = trace_table(stage, evidence, annotators)
        self.starts_: pd.DataFrame | None = None
        self.fell_back_ = False
        if evidence.has_gold and len(stage.log_weights) == study.n_components:
            stage = in_order_of_classes(stage, evidence)
        if self.refine is None:
            keep_end(self, trace)
        has_fewer = len(stage.log_weights) < study.n_components
        if has_fewer and (self.refine is None or study.n_components != study.n_labels):
            found = f"Pairs of annotators distinguish {len(stage.log_weights)} of {study.n_components} components"
            warnings.warn(f"StagewiseEM: {found}; there are fewer.", AnnotationWarning, stacklevel=outside())
        finish = {None: self._end_with_stage, "all": self._end_with_all, "informative": self._end_with_selection}
        return finish[self.refine](stage, evidence, Refining(evidence.parts, study.counts, float(self.level), loop))

    def keep_members(self, final: Final, annotators: pd.Index) -> None:
        """Set what is told of the informative set."""
        members = list(final.members)
        self.n_components_ = self.n_clusters_
        self.informative_set_ = [plain(name) for name in annotators.take(members)]
        self.annotators_["informative"] = np.isin(np.arange(len(annotators)), members)
        if final.p_values is not None:
            self.annotators_["p_value"] = final.p_values

    def give_to_copies(self, stands: Int[np.ndarray, " annotators"]) -> None:
        """Tell of each annotator what the search found of the one who stands for them."""
        for name in {"informative", "p_value"} & set(self.annotators_):
            self.annotators_[name] = self.annotators_[name].to_numpy()[stands]

    def keep_information(self, evidence: StagewiseEvidence, q: Posterior, annotators: pd.Index) -> None:
        """Keep (13) of all pairs of annotators under the final posteriors, for `conditional_information`."""
        information, total = evidence.information(q)
        self._pair_information = pd.DataFrame(
            {
                "first": annotators.take(evidence.study.pairs.first),
                "second": annotators.take(evidence.study.pairs.second),
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

    def _end_with_stage(self, stage: Stage, evidence: StagewiseEvidence, refining: Refining) -> Final:
        """End with the stagewise solution."""
        n_labels = evidence.study.n_labels
        if evidence.has_gold and len(stage.log_weights) < n_labels:
            raise InputError(
                f"gold names classes, and StagewiseEM(refine=None) found {len(stage.log_weights)} components for "
                f"{n_labels} classes. Leave out gold, or set refine='informative'."
            )
        posterior = posterior_with_gold, (stage.given(n_labels),)
        sums, weights, table = evidence.parts.total(sum_part, *posterior), stage.log_weights, stage.log_table
        if evidence.has_gold:
            weights, table = m_step(sums, n_labels, SMOOTHING)
        return Final(ProductMixtureState(weights, table, 0.0, sums), posterior, stage.members, stage.members)

    def _end_with_all(self, stage: Stage, evidence: StagewiseEvidence, refining: Refining) -> Final:
        """End with EM on all annotators."""
        everyone = refining.everyone
        trace = refining.mixture(everyone, starts_of(stage, evidence, refining)[0].posterior, EM_ITER)
        mixture = trace.state
        self._keep_converged(trace.converged, f"EM still improved after {EM_ITER} rounds")
        posterior = posterior_among, (everyone, mixture.log_weights, mixture.log_table)
        return Final(mixture, posterior, stage.members, everyone)

    def _end_with_selection(self, stage: Stage, evidence: StagewiseEvidence, refining: Refining) -> Final:
        """End with EM on the refined informative set, from the better start; or with all annotators."""
        starts = starts_of(stage, evidence, refining)
        traces = [refining.refine(start) for start in starts]
        ends = [trace.state for trace in traces]
        scores = [criterion(refining.counts, end) for end in ends]
        best = int(np.argmax([penalised for _, penalised in scores]))
        last, members, study = ends[best], ends[best].members, evidence.study
        if study.n_components != study.n_labels:
            end, lead, by_subtypes = plain_end(last), 0.0, False
        else:
            end = end_with_prior(refining, last, has_gold=evidence.has_gold)
            lead, by_subtypes = lead_of_all(refining, members, end.lower_bound)
        self.fell_back_ = lead > 0
        none = not informs(last.p_values, last.probability, refining.level).any()
        if self.fell_back_:
            members = choose_heard(refining)[1]
            self._warn_of_fall_back(len(last.members), len(members), lead, none=none, by_subtypes=by_subtypes)
            end = end_with_prior_of_all(refining)
        elif none:
            nothing = "no annotator's labels depend on those of the others; the classes may be chance"
            warnings.warn(f"StagewiseEM: {nothing}.", AnnotationWarning, stacklevel=outside())
        converged = end.converged if self.fell_back_ else traces[best].converged
        what = "EM still improved" if self.fell_back_ else "the informative set still changed"
        self._keep_converged(converged, f"{what} after {EM_ITER if self.fell_back_ else MOST_ROUNDS} rounds")
        outcome = {
            "n_informative": [len(each.members) for each in ends],
            "log_likelihood": [log_likelihood for log_likelihood, _ in scores],
            "criterion": [penalised for _, penalised in scores],
        }
        self.starts_ = pd.DataFrame(outcome, index=pd.Index([start.name for start in starts], name="start"))
        sums = evidence.parts.total(sum_part, *end.posterior)
        table = m_step(sums, study.n_labels, SMOOTHING)[1]
        table[np.repeat(np.isin(refining.everyone, members), study.n_labels)] = end.log_table
        first = [annotator for annotator in stage.members if annotator in members]
        added = sorted(set(members) - set(first), key=lambda annotator: last.p_values[annotator])
        told = refining.given(end.log_weights, end.evidence, members).log_table
        mixture, order = ProductMixtureState(end.log_weights, table, 0.0, sums), [*first, *added]
        return Final(mixture, end.posterior, order, order, told, last.p_values)

    def _keep_converged(self, converged: bool, otherwise: str) -> None:
        """Set ``converged_``, and warn if it is False."""
        self.converged_ = converged
        if not converged:
            warnings.warn(f"StagewiseEM: {otherwise}.", UnsettledWarning, stacklevel=outside())

    def _warn_of_fall_back(
        self, n_members: int, n_annotators: int, lead: float, *, none: bool, by_subtypes: bool
    ) -> None:
        """Warn that the classes are those of all annotators."""
        why = f"its informative set of {n_members} of {n_annotators} annotators explains the labels worse than all do"
        chance = "; no annotator's labels depend on those of the set, so see whether they agree at all" if none else ""
        subtypes = " where classes have subtypes; DawidSkene itself also uses these" if by_subtypes else ""
        warnings.warn(
            f"StagewiseEM fell back to DawidSkene with all annotators: {why}, by {lead:.3g} nats{subtypes}{chance}.",
            AnnotationWarning,
            stacklevel=outside(),
        )


@dataclass(frozen=True)
class Final:
    """Result of a fit.

    mixture : of all annotators.
    posterior : of the items.
    members : the informative set, in order of entry.
    deciding : annotators whose labels decide an item's component.
    evidence : of each label for each component; by default its log probability.
    p_values : of the tests, if there were any.
    """

    mixture: ProductMixtureState
    posterior: OfPart
    members: Sequence[int]
    deciding: Sequence[int]
    evidence: LogTable | None = None
    p_values: Float[np.ndarray, " annotators"] | None = None


def starts_of(stage: Stage, evidence: StagewiseEvidence, refining: Refining) -> list[Start]:
    """Starts of refining: the stagewise solution and the votes, if they have all components."""
    study, everyone = evidence.study, refining.everyone
    starts = []
    if len(stage.log_weights) == study.n_components or study.n_components != study.n_labels:
        posterior = posterior_with_gold, (stage.given(study.n_labels),)
        starts.append(Start("stagewise", stage.members or everyone, posterior))
    if study.n_components == study.n_labels:
        nobody = np.zeros(len(everyone), dtype=bool)
        starts.append(Start("votes", everyone, (shares_of_votes, (nobody,))))
    return starts


def in_order_of_classes(stage: Stage, evidence: StagewiseEvidence) -> Stage:
    """Give the components the order of the classes: that of gold items, and the names of the labels of the set."""
    n_classes = evidence.study.n_labels
    sums, gold = evidence.parts.total(count_gold, stage.given(n_classes))
    counts = sums.counts.reshape(-1, n_classes, n_classes)[list(stage.members)]
    order = match_labels(np.concatenate([counts, gold[None]]))
    return replace(stage, log_weights=stage.log_weights[order], log_table=stage.log_table[:, order])


def trace_table(last: Stage, evidence: StagewiseEvidence, annotators: pd.Index) -> pd.DataFrame:
    """Tabulate the rounds; see `StagewiseEM`."""
    n_components, log_likelihood, information, n_informative = last.record.T
    sizes = n_informative.astype(int).tolist()
    names = [plain(name) for name in annotators.take(list(last.members))]
    remaining = stagewise.conditional(*evidence.information(last.q)).max(initial=0.0)
    table = {
        "n_components": n_components.astype(int),
        "log_likelihood": log_likelihood,
        "information": [*information[1:].tolist(), float(remaining)],  # a round starts with what the one before left
        "n_informative": sizes,
        "entered": [names[before:now] for before, now in zip([0, *sizes], sizes)],
    }
    return pd.DataFrame(table).rename_axis("round")
