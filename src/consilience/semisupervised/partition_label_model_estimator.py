"""PartitionLabelModel: the estimator of `consilience.semisupervised.partition_label_model`. Chen et al. (2018)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, TypeVar

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from consilience.annotations import Groupings
from consilience.annotations.canonical import Arrangement, arrange
from consilience.annotations.fit_arguments import values_of_missing
from consilience.annotations.names import inverse, outside
from consilience.annotations.types import (
    AnnotationsLike,
    FeaturesLike,
    Flag,
    Integer,
    Literal,
    Missing,
    Name,
    NameGroups,
    NumberOfClusters,
    RandomSource,
    Real,
    Self,
)
from consilience.errors import AnnotationWarning, InputError
from consilience.estimators import forecasts, learned
from consilience.estimators.base import CrowdEstimator
from consilience.estimators.copies import COPIES
from consilience.estimators.grouping_copies import ReadGroupings, notes_on_copies, read_once
from consilience.estimators.learned import Attributes
from consilience.estimators.little_told import notes_on_little_told
from consilience.estimators.parameters import (
    AUTO,
    NONE,
    NOT_NEGATIVE,
    POSITIVE,
    RESTARTS,
    TRUTH,
    Requirements,
    is_auto,
    one_of,
    whole,
)
from consilience.estimators.traces import keep_trace
from consilience.estimators.user_order import Axes
from consilience.inference import Trace
from consilience.inference.clusters import by_falling_size
from consilience.inference.confusion import ConfusionCells, ConfusionPrior
from consilience.inference.iterate import Loop, begin, restarts
from consilience.inference.randomness import check_random_state, spawn_seeds
from consilience.inference.softmax import posteriors, with_offset
from consilience.inference.threads import one_blas_thread
from consilience.semisupervised import mapping, prior_variance
from consilience.semisupervised.feature_order import order_of_features
from consilience.semisupervised.feature_selection import associated_features
from consilience.semisupervised.partition_label_model import (
    Observations,
    PartitionLabelModelEvidence,
    PartitionLabelModelPrior,
    PartitionLabelModelProblem,
    PartitionLabelModelState,
    expected_accuracy,
    label_evidence,
    label_probability,
    merge,
    merge_to,
    read_groupings,
    run_from,
)
from consilience.semisupervised.prior_variance import Fold, VarianceSearch

Observed = TypeVar("Observed", bound=Observations)

MAX_CLUSTERS = 50
MANY = 0.5  # features per item from which it is chosen whether only associated ones are used
MOSTLY = 0.9  # share that are associated from which there is nothing to choose: a tenth of those kept are so by chance
CLEARLY = 2  # standard errors by which they have to be better
SEARCH_ITEMS = 5000  # largest number of items on which the prior variance is chosen
GUESSING = 0.5  # reliability up to which an annotator is named as one who sorts like people who guess
MOST_NAMED = 10  # annotators in a note

Start = Callable[[PartitionLabelModelEvidence, PartitionLabelModelPrior, int, int], PartitionLabelModelState]


class PartitionLabelModel(CrowdEstimator):
    """Clusters that explain the partition labels of several annotators and can be predicted from the features.

    Estimates the number of clusters, the linear boundaries between them, and for every annotator which clusters each
    label stands for. Standardise the features first, for example in a `Pipeline`.

    Parameters
    ----------
    n_clusters : "auto" or int, default="auto"
        Number of clusters. "auto" estimates it. With a number, clusters are joined until this many own items, each time
        the two whose join lowers the bound least; a warning says if the annotations do not distinguish as many.
    max_clusters : int, optional
        Upper bound K on the number of clusters; at most the number of items. Default: 50, or the number of items if
        that is smaller.
    prior_variance : "auto" or float, default="auto"
        Variance σ² of the weights. "auto" chooses by the probability of held-out annotations (3 folds over the labels,
        on at most 5000 items) among values that give the score of a typical item a prior variance of 1, 3, 10, 30 or
        100: the smallest that is within a standard error of the best.
    rich_get_richer : float, optional
        Weight λ ≥ 0 of the term that favours large clusters. Default: 1 / (2 n_items σ²), the largest for which the
        M-step is concave.
    diagonal_concentration, off_diagonal_concentration : float, default=40.0 and 10.0
        Dirichlet prior of the label given when j is correct: 40 (J - 1) for j and 10 for each other of J labels, so
        that labels are expected to be right with probability 0.8.
    reliability : {"learned", "prior"}, default="learned"
        How accurate each annotator is expected to be: "learned" finds the value between that of guessing and the
        prior's, so that people who sort at random hardly count; "prior" gives all the prior's, as in the paper.
    copies : "auto", None or list of lists of annotators, default="auto"
        Annotators who are copies of each other, such as one person who took part twice or one language model asked with
        several prompts, and weigh together as one annotator. "auto": groups who sort more alike than independent people
        would; `notes_` names them. None: every annotator weighs alone. A list: these groups.
    init : {"features", "random"}, default="features"
        Start of a restart: from a k-means clustering of the features into 0.8 K clusters, or from small random weights
        as in the paper. Without features always the latter.
    merge : bool, default=True
        Whether clusters are joined afterwards, while the bound increases.
    select_features : bool, default=True
        With at least half as many features as items, whether only those that are associated with the annotations are
        used if annotations that were held out are then more probable by more than two standard errors; features that
        are associated with the clusters are then added. All are used if `prior_variance` or `rich_get_richer` is given.
    n_init : int, default=5
        Number of restarts; the one with the highest bound is kept. A single one often ends with a lower bound and too
        many clusters; raise the number if the best of ``restart_bounds_`` was reached only once.
    max_iter : int, default=500
        Maximum number of sweeps of a restart.
    tol : float, default=1e-5
        A restart has converged when the relative gain of the bound is less than this.
    n_jobs : int, optional
        Number of restarts run in parallel threads, as in joblib.
    verbose : bool, default=False
        Show a progress bar: in a notebook, or in a terminal on standard error.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the result reproducible.

    Attributes
    ----------
    labels_ : ndarray of int, shape (n_items,)
        Cluster of each item, numbered by decreasing size.
    responsibilities_ : ndarray, shape (n_items, n_clusters_)
        Probability of each cluster given the features and the labels of the item.
    items_ : Index, shape (n_items,)
        Names of the items.
    n_clusters_ : int
        Number of clusters that own an item.
    coef_ : ndarray, shape (n_clusters_, n_features)
    intercept_ : ndarray, shape (n_clusters_,)
        ``X @ coef_.T + intercept_`` are the log-odds of the clusters; the intercept includes λ ‖w‖².
    prior_variance_ : float
        σ² in use. Where features were added after the choice, it gives the score of a typical item the same prior
        variance as the value chosen.
    prior_variance_search_ : DataFrame or None
        Log probability of held-out annotations under each candidate; None if σ² was given. A candidate that the first
        folds left far behind was not tried on the others: its difference from the best there stands for all.
    annotators_ : DataFrame, one row for each annotator
        n_labels, n_groupings, n_groups, reliability (0: expected to guess, 1: the prior's accuracy), accuracy (share of
        the annotator's labels that the model predicts) and expected_accuracy (posterior mean probability of the correct
        label). Of people who sort at random both are far below those of the others, unless they gave few labels.
    groupings_ : DataFrame, one row for each grouping
        n_labels, n_groups, accuracy and expected_accuracy of each (annotator, grouping).
    annotator_mapping_ : DataFrame, one row for each group
        annotator, grouping, group, n_items, clusters (those with this label; empty if none) and probability
        (the smallest of their q(t)).
    mapping_probabilities_ : DataFrame, shape (n_groups, n_clusters_)
        q(t): the probability that a label is that of a cluster.
    label_probabilities_ : DataFrame, shape (n_groups, n_clusters_)
        Probability that the annotator gives the label to an item of the cluster.
    copies_ : DataFrame, one row for each group of annotators who weigh together
        annotators; n_items that at least two of them grouped; agreement, the adjusted Rand index of two of them;
        expected, what the other annotators explain of it, NaN if they do not agree with each other; dependence, how far
        the agreement goes from there towards 1; p_value of agreement at the limit for independent people, before
        correction for the number of pairs.
    lower_bound_ : float
        Bound on ln p(annotations, weights | features), nats, of the kept restart.
    lower_bounds_ : ndarray, shape (n_iter_,)
        The bound after each sweep of the kept restart; a merger with its sweeps counts as one.
    restart_bounds_ : ndarray, shape (n_init,)
        The bound that each restart reached, before merging.
    n_iter_ : int
    converged_ : bool
    features_used_ : ndarray of bool, shape (n_features,)
        The features that are used, among them those added. The others have coefficients of 0.
    feature_search_ : DataFrame or None
        Number of features, prior variance chosen and log probability of held-out annotations with all features and with
        those associated with the annotations, and the standard error of its difference from the better; None if there
        was nothing to choose.
    notes_ : list of str
        Sentences that say how many features are used if not all are, or that none is associated with the annotations;
        that name annotators who weigh together, those who put nearly all items into one group or leave nearly all
        alone, and those with a reliability of at most 0.5, if there are any.
    n_features_in_, feature_names_in_ : as in scikit-learn

    See Also
    --------
    consilience.consensus.SubsetFusion : Groupings of a few items each.
    MCVC : People who group by different criteria.
    consilience.deep.BayesSCDC : Rich data.
    InductiveConsensus : A simpler way to use features.

    References
    ----------
    Chen, Chang, Castaldi, Cho, Hobbs & Dy (2018). Crowdclustering with Partition Labels. AISTATS, PMLR 84.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from consilience.semisupervised import PartitionLabelModel
    >>> from consilience.simulation import simulate_experts
    >>> X, species = load_iris(return_X_y=True)
    >>> experts = simulate_experts(species, random_state=0)
    >>> model = make_pipeline(StandardScaler(), PartitionLabelModel(n_init=3, random_state=0)).fit(X, experts)
    >>> model[-1].n_clusters_
    3
    """

    _does_without_features = True
    _axes: ClassVar[Axes] = CrowdEstimator._axes | {
        "groupings_": ("groupings",),
        "annotator_mapping_": ("groups",),
        "mapping_probabilities_": ("groups",),
        "label_probabilities_": ("groups",),
    }

    _learned: ClassVar[Attributes] = {
        **learned.FEATURES,
        **learned.CLUSTERS,
        **learned.BOUNDED,
        **learned.annotators(n_labels="c", n_groupings="c", n_groups="c", accuracy="p", expected_accuracy="p"),
        **learned.copies(agreement="f"),
        "notes_": learned.NOTES,
        "prior_variance_": learned.number(0),
        "prior_variance_search_": learned.or_none(learned.table(None, {})),
        "feature_search_": learned.or_none(learned.table(None, {"features": "O", "n_features": "c"})),
        "features_used_": learned.array(bool, "features"),
        "restart_bounds_": learned.array(float, None),
        "coef_": learned.reals("clusters", "features"),
        "intercept_": learned.reals("clusters"),
        "mapping_probabilities_": learned.table("groups", "clusters", keys=learned.GROUPS, dtype="p"),
        "label_probabilities_": learned.table("groups", "clusters", keys=learned.GROUPS, dtype="p"),
        "annotator_mapping_": learned.table(
            "groups", {**dict.fromkeys(learned.GROUPS, "O"), "n_items": "c", "clusters": "O", "probability": "p"}
        ),
        "groupings_": learned.table(
            "groupings",
            {"n_labels": "c", "n_groups": "c", "accuracy": "p", "expected_accuracy": "p"},
            keys=learned.GROUPS[:2],
        ),
    }

    _requirements: ClassVar[Requirements] = {
        "n_clusters": AUTO | whole(1),
        "max_clusters": NONE | whole(1),
        "prior_variance": AUTO | POSITIVE,
        "rich_get_richer": NONE | NOT_NEGATIVE,
        "diagonal_concentration": POSITIVE,
        "off_diagonal_concentration": POSITIVE,
        "reliability": one_of("learned", "prior"),
        "copies": COPIES,
        "init": one_of("features", "random"),
        "merge": TRUTH,
        "select_features": TRUTH,
        "n_init": RESTARTS,
        "max_iter": whole(1),
        "tol": NOT_NEGATIVE,
    }

    def __init__(
        self,
        n_clusters: NumberOfClusters = "auto",
        max_clusters: Integer | None = None,
        prior_variance: Literal["auto"] | Real = "auto",
        rich_get_richer: Real | None = None,
        diagonal_concentration: Real = 40.0,
        off_diagonal_concentration: Real = 10.0,
        reliability: Literal["learned", "prior"] = "learned",
        copies: NameGroups = "auto",
        init: Literal["features", "random"] = "features",
        merge: Flag = True,
        select_features: Flag = True,
        n_init: Integer = 5,
        max_iter: Integer = 500,
        tol: Real = 1e-5,
        n_jobs: Integer | None = None,
        verbose: Flag = False,
        random_state: RandomSource = None,
    ):
        self.n_clusters = n_clusters
        self.max_clusters = max_clusters
        self.prior_variance = prior_variance
        self.rich_get_richer = rich_get_richer
        self.diagonal_concentration = diagonal_concentration
        self.off_diagonal_concentration = off_diagonal_concentration
        self.reliability = reliability
        self.copies = copies
        self.init = init
        self.merge = merge
        self.select_features = select_features
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: FeaturesLike | None, y: AnnotationsLike | None = None, *, missing: Missing | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : DataFrame or array, shape (n_items, n_features), or None
            Features, finite. A DataFrame is matched with the annotations by the item names in its index, an array by
            position. Without features (None) the clusters depend on the labels alone.
        y : Groupings, Labels, or array of shape (n_items, n_annotators) or (n_items,)
            Partition labels. Items of X without annotations are clustered by their features.
        missing : optional
            Value or list of values that means missing, in addition to blank cells; for tables and arrays.
            By default -1 if it is the only negative integer.

        Returns
        -------
        PartitionLabelModel

        Raises
        ------
        InputError
            Features and annotations that do not match or carry no information, or an invalid parameter.

        Warns
        -----
        ConvergenceWarning
            The kept restart still improved after `max_iter` sweeps.
        AnnotationWarning
            The number of clusters that own items is not the number requested.
        """
        self._check_parameters()
        self._require_annotations(X, y)
        self._forget_columns()
        features = None if X is None else self._features(X, reset=True)
        self._missing = values_of_missing(missing)
        groupings = self._groupings(X, y, missing)
        features = np.empty((len(groupings), 0)) if features is None else features
        n_clusters = self.number_of_clusters(len(features))
        require_information(features, groupings)
        columns = order_of_features(features, groupings.incidence)
        features = features[:, columns]
        arranged = arrange(groupings, features)
        features, groupings = np.ascontiguousarray(features[arranged.items]), arranged.ordered
        read = read_once(self, groupings)
        rng = check_random_state(self.random_state)

        with one_blas_thread(), self._progress():
            self.search(features, read.kept, n_clusters, rng)
            seeds = spawn_seeds(rng, self.n_init)
            problem, prior, (best, traces, evidence) = self._learned_from(features, read.kept, n_clusters, seeds)
            # features are only added, so that this ends
            while self._finds_features(features, _posteriors(best.state, evidence, prior), seeds[0]):
                problem, prior, (best, traces, evidence) = self._learned_from(features, read.kept, n_clusters, seeds)
        keep_trace(self, best)
        self.restart_bounds_ = np.array([trace.lower_bound for trace in traces])
        state, found = best.state, _posteriors(best.state, evidence, prior)
        if read.has_copies:
            state, problem = self._with_copies(state, found, problem, read)
        self._read_off(state, found, problem, prior, groupings)
        self.restore_features(columns)
        self._restore(arranged)
        on_features = _on_features(self.features_used_, self.feature_search_)
        guessers = note_guessers(self.annotators_["reliability"])
        self.notes_ = [*on_features, *notes_on_copies(self), *notes_on_little_told(arranged.given), *guessers]
        forecasts.note_number_of_clusters(self, arranged.given)
        self.warn_unless_as_many()
        return self

    forecast_same = forecasts.forecast_same

    def warn_unless_as_many(self) -> None:
        """Warn unless as many clusters were found as were requested."""
        if not is_auto(self.n_clusters) and self.n_clusters_ != self.n_clusters:
            warnings.warn(
                f"{type(self).__name__} found {self.n_clusters_} clusters instead of the {self.n_clusters} requested: "
                "the annotations and features do not distinguish as many.",
                AnnotationWarning,
                stacklevel=outside(),
            )

    def predict(self, X: FeaturesLike) -> Int[np.ndarray, " items"]:
        """Most probable cluster of new items by their features.

        Parameters
        ----------
        X : DataFrame or array, shape (n_items, n_features)

        Returns
        -------
        ndarray of int, shape (n_items,)
            From the features alone: fitted items may be in another cluster than in `labels_`, which use their
            annotations as well.

        Raises
        ------
        InputError
            Features that are not finite, or a model fitted without any.
        """
        return self._log_odds(X).argmax(1)

    def predict_proba(self, X: FeaturesLike) -> Float[np.ndarray, "items clusters"]:
        """Probability of each cluster for new items by their features; (2), over the clusters found.

        Parameters
        ----------
        X : DataFrame or array, shape (n_items, n_features)

        Returns
        -------
        ndarray, shape (n_items, n_clusters_)

        Raises
        ------
        InputError
            Features that are not finite, or a model fitted without any.
        """
        return softmax(self._log_odds(X), axis=1)

    def _same(
        self, a: Int[np.ndarray, " pairs"], b: Int[np.ndarray, " pairs"], annotator: Name | None
    ) -> Float[np.ndarray, " pairs"]:
        """Of an annotator: that both items get the same label, averaged over the groupings."""
        return super()._same(a, b, None) if annotator is None else self._same_label(a, b, annotator)

    def score(self, X: FeaturesLike, y: AnnotationsLike | None = None, *, missing: Missing | None = None) -> float:
        """Mean log probability of labels that known annotators give to other items, predicted from the items' features.

        Parameters
        ----------
        X : DataFrame or array, shape (n_items, n_features)
        y : Groupings, Labels or array, as for `fit`
            By annotators, in groupings and groups that were fitted.
        missing : optional
            Value or list of values that means missing, in addition to blank cells; for tables and arrays.
            By default -1 if it is the only negative integer.

        Returns
        -------
        float
            Nats per label; higher is better.

        Raises
        ------
        InputError
            A group that was not fitted, or no labels at all.
        """
        posterior = self.predict_proba(X)
        groupings = self._groupings(X, y, missing)
        item, group = groupings.incidence.tocoo().coords
        if not len(item):
            raise InputError("None of these items has a label, so there is nothing to score.")
        index = mapping.group_index(groupings)
        place = self.label_probabilities_.index.get_indexer(index)
        if (place[group] < 0).any():
            annotator, grouping, name = index[group[np.argmax(place[group] < 0)]]
            raise InputError(f"Group {name!r} of grouping {grouping!r} by annotator {annotator!r} was not fitted.")
        probability = self.label_probabilities_.to_numpy()[place]
        return float(_log_probability(item, group, posterior, probability).mean())

    def annotator_groups(self, min_accuracy: float = 0.8) -> pd.DataFrame:
        """Find annotators who make the same distinctions between clusters; Table 4 of the paper.

        Parameters
        ----------
        min_accuracy : float
            Groupings that the model predicts with a lower accuracy are left out.

        Returns
        -------
        DataFrame, one row for each distinction and naming
            ``distinction`` (0, 1, …, the most common first), ``clusters`` (the partition of the clusters, a tuple of
            tuples), ``naming`` (the annotators' names of these parts), ``n_groupings`` and ``groupings`` (a list of
            (annotator, grouping)). Rows of one distinction differ only in the names.
        """
        check_is_fitted(self)
        return mapping.same_distinctions(self.annotator_mapping_, self.groupings_["accuracy"], min_accuracy)

    def _run_restarts(
        self, problem: PartitionLabelModelProblem, prior: PartitionLabelModelPrior, n_clusters: int, seeds: list[int]
    ) -> tuple[Trace[PartitionLabelModelState], list[Trace[PartitionLabelModelState]], PartitionLabelModelEvidence]:
        """Return the best restart, all restarts, and their evidence."""
        start = self._start(problem)
        return self.run_restarts(
            lambda most: problem.evidence(problem.labels, most),
            lambda evidence, most, seed: start(evidence, prior, most, seed),
            lambda state, evidence: _owners(state, evidence, prior),
            prior,
            n_clusters,
            seeds,
            n_jobs=self.n_jobs,
        )

    def run_restarts(
        self,
        evidence_for: Callable[[int], Observed],
        start: Callable[[Observed, int, int], PartitionLabelModelState],
        owners: Callable[[PartitionLabelModelState, Observed], Int[np.ndarray, " owning"]],
        prior: PartitionLabelModelPrior,
        n_clusters: int,
        seeds: list[int],
        *,
        n_jobs: int | None = None,
        loop: Loop = begin,
    ) -> tuple[Trace[PartitionLabelModelState], list[Trace[PartitionLabelModelState]], Observed]:
        """Return the best restart, all restarts, and their evidence, wherever the items are.

        If a number of clusters was requested and joining does not lead to it, runs start again from this number.

        Parameters
        ----------
        evidence_for : a largest number of clusters.
        start : evidence, number of clusters, seed → first state.
        owners : state, evidence → clusters that own items.
        loop : what runs the sweeps.
        """
        requested = None if is_auto(self.n_clusters) else int(self.n_clusters)
        limits: dict[str, Any] = {"max_iter": self.max_iter, "tol": self.tol, "loop": loop}
        for most in dict.fromkeys([n_clusters, requested or n_clusters]):
            evidence = evidence_for(most)
            jobs = [(evidence, prior, partial(start, evidence, most, seed)) for seed in seeds]
            traces = restarts(partial(run_from, **limits), jobs, n_jobs=n_jobs)
            best = self._joined(traces, evidence, prior, owners, limits)
            if requested in (None, len(owners(best.state, evidence))):
                break
        return best, traces, evidence

    def _joined(
        self,
        traces: list[Trace[PartitionLabelModelState]],
        evidence: Observed,
        prior: PartitionLabelModelPrior,
        owners: Any,
        limits: dict[str, Any],
    ) -> Trace[PartitionLabelModelState]:
        """Return the best restart with its clusters joined, if possible among those with the number requested."""
        requested = None if is_auto(self.n_clusters) else int(self.n_clusters)
        if requested is not None:
            traces = [trace for trace in traces if len(owners(trace.state, evidence)) >= requested] or traces
        best = max(traces, key=lambda trace: trace.lower_bound)
        if self.merge:
            best = merge(best, evidence, prior, fewest=requested or 1, **limits)
        if requested is None:
            return best
        return merge_to(best, requested, lambda state: owners(state, evidence), evidence, prior, **limits)

    def _start(self, problem: PartitionLabelModelProblem) -> Start:
        from_features = self.init == "features" and problem.n_weights > 1
        return problem.start_from_features if from_features else problem.start_at_random

    def _run(
        self,
        start: Start,
        evidence: PartitionLabelModelEvidence,
        prior: PartitionLabelModelPrior,
        n_clusters: int,
        seed: int,
    ) -> Trace[PartitionLabelModelState]:
        first = partial(start, evidence, prior, n_clusters, seed)
        return run_from(evidence, prior, first, max_iter=self.max_iter, tol=self.tol)

    def prior_of(self, problem: PartitionLabelModelProblem, variance: float) -> PartitionLabelModelPrior:
        """Return the priors of a problem.

        Raises
        ------
        InputError
            `rich_get_richer` is too large for this prior variance.
        """
        limit = 1 / (2 * len(problem.design) * variance)
        richness = limit if self.rich_get_richer is None else self.rich_get_richer
        if richness > limit * (1 + 1e-12):  # a limit that the user computed may be rounded otherwise
            raise InputError(
                f"The 'rich_get_richer' parameter of PartitionLabelModel must be at most {limit:.6g} "
                f"= 1 / (2 n_items prior_variance), beyond which the M-step is not concave. Got {richness:g} instead."
            )
        confusion = ConfusionPrior.of(
            problem.cells,
            problem.annotator_of_group,
            problem.n_annotators,
            self.diagonal_concentration,
            self.off_diagonal_concentration,
        )
        return PartitionLabelModelPrior(
            variance, richness, confusion, problem.n_weights, learned=self.reliability == "learned"
        )

    def chooses_features(self, n_items: int, n_features: int) -> bool:
        """Whether it is chosen if all features are used, or those associated with the annotations."""
        wanted = is_auto(self.prior_variance) and bool(self.select_features) and not self.rich_get_richer
        return wanted and n_features >= MANY * n_items

    def search(self, features: np.ndarray, groupings: Groupings, n_clusters: int, rng: np.random.RandomState) -> None:
        """Set the prior variance and the features that are used, and what both were chosen from."""
        self.features_used_ = np.ones(features.shape[1], dtype=bool)
        self.prior_variance_search_ = self.feature_search_ = None
        if not isinstance(self.prior_variance, str):
            self.prior_variance_ = float(self.prior_variance)
            return
        some: Any = slice(None)
        if len(features) > SEARCH_ITEMS:
            some = np.sort(rng.permutation(len(features))[:SEARCH_ITEMS])
        few, grouped = features[some], groupings[some]
        folds = prior_variance.split(grouped.incidence, rng)
        variances = self._variances(few)
        found = self._searched(
            [(PartitionLabelModelProblem.of(few, grouped), variances)] * len(folds), variances, folds, n_clusters
        )
        used = self.features_used_
        if self.chooses_features(*features.shape):
            used = associated_features(features, groupings.incidence, groupings.grouping_of_group, folds[0].seed)
        if np.count_nonzero(used) < MOSTLY * len(used):
            parts = [
                few[:, associated_features(few, fold.kept, grouped.grouping_of_group, fold.seed)] for fold in folds
            ]
            trials = [(PartitionLabelModelProblem.of(part, grouped), self._variances(part)) for part in parts]
            fewer = self._searched(trials, self._variances(few[:, used]), folds, n_clusters)
            sizes = [len(used), int(np.count_nonzero(used))]
            self.feature_search_ = prior_variance.compare({"all": found, "associated": fewer}, sizes)
            lead, error = fewer.lead(found)
            if lead > CLEARLY * error:
                self.features_used_, found = used, fewer
        self.prior_variance_search_, self.prior_variance_ = found.table, found.variance

    def _searched(
        self,
        trials: list[tuple[PartitionLabelModelProblem, Float[np.ndarray, " candidates"]]],
        variances: Float[np.ndarray, " candidates"],
        folds: list[Fold],
        n_clusters: int,
    ) -> VarianceSearch:
        """Log probability of held-out annotations under each candidate; `trials` has the candidates of each fold."""

        def evaluate(candidate: int, fold: int) -> np.ndarray:
            problem, of_fold = trials[fold]
            evidence = problem.evidence(folds[fold].kept, n_clusters)
            prior = self.prior_of(problem, float(of_fold[candidate]))
            state = self._run(self._start(problem), evidence, prior, n_clusters, folds[fold].seed).state
            probability = label_probability(state, problem.cells)
            item, group = folds[fold].left_out.coords
            logs = _log_probability(item, group, _posteriors(state, evidence, prior), probability)
            return np.bincount(item, logs, len(problem.design))

        return prior_variance.search(variances, folds, evaluate, n_jobs=self.n_jobs)

    def _variances(self, features: np.ndarray) -> Float[np.ndarray, " candidates"]:
        """Candidates of the prior variance: with a given λ, those for which the M-step is concave."""
        variances = prior_variance.candidates(features)
        if self.rich_get_richer:
            limit = 1 / (2 * len(features) * self.rich_get_richer)
            variances = variances[: max(np.count_nonzero(variances <= limit), 1)]
        return variances

    def _learned_from(
        self, features: np.ndarray, groupings: Groupings, n_clusters: int, seeds: list[int]
    ) -> tuple[
        PartitionLabelModelProblem,
        PartitionLabelModelPrior,
        tuple[Trace[PartitionLabelModelState], list[Trace[PartitionLabelModelState]], PartitionLabelModelEvidence],
    ]:
        """Return problem and prior of the features that are used, and what `_learned` finds."""
        problem = PartitionLabelModelProblem.of(features[:, self.features_used_], groupings)
        prior = self.prior_of(problem, self.prior_variance_)
        return problem, prior, self._run_restarts(problem, prior, n_clusters, seeds)

    def _finds_features(self, features: np.ndarray, found: Float[np.ndarray, "items clusters"], seed: int) -> bool:
        """Use features, too, that are associated with the clusters found without them; whether there are any."""
        left_out = np.flatnonzero(~self.features_used_)
        if not len(left_out):
            return False
        clusters = one_hot(found.argmax(1))
        more = left_out[
            associated_features(features[:, left_out], clusters, np.zeros(clusters.shape[1], dtype=int), seed)
        ]
        before = self._variances(features[:, self.features_used_])
        self.features_used_[more] = True
        # the variance of the scores stays, though more features make them up
        place = np.argmin(np.abs(before - self.prior_variance_))
        self.prior_variance_ = float(self._variances(features[:, self.features_used_])[place])
        return bool(len(more))

    def _with_copies(
        self,
        state: PartitionLabelModelState,
        found: Float[np.ndarray, "items clusters"],
        problem: PartitionLabelModelProblem,
        read: ReadGroupings,
    ) -> tuple[PartitionLabelModelState, PartitionLabelModelProblem]:
        """State and problem with the groupings of all annotators: a copy is as reliable as who was read instead."""
        problem = problem.of_groupings(read.given)
        state = replace(state, reliability=state.reliability[read.first_of_each()])
        prior = self.prior_of(problem, self.prior_variance_)
        return read_groupings(state, found, problem, prior, max_iter=self.max_iter, tol=self.tol), problem

    def _read_off(
        self,
        state: PartitionLabelModelState,
        everything: Float[np.ndarray, "items clusters"],
        problem: PartitionLabelModelProblem,
        prior: PartitionLabelModelPrior,
        groupings: Groupings,
    ) -> None:
        """Set the clusters that own items, by decreasing size, and their labels by annotator."""
        sizes = np.bincount(everything.argmax(1), minlength=everything.shape[1])
        kept = by_falling_size(sizes)
        self.responsibilities_ = everything[:, kept] / everything[:, kept].sum(1, keepdims=True)
        self.labels_ = self.responsibilities_.argmax(1)
        coefficients = state.weights if problem.basis is None else problem.basis @ state.weights
        self.keep_linear_model(coefficients[:, kept], prior.richness)
        found = self.responsibilities_
        self.keep_meanings(
            state, kept, problem.cells, groupings, lambda likely: mapping.correct_labels(groupings, found, likely)
        )

    def keep_linear_model(self, coefficients: Float[np.ndarray, "weights clusters"], richness: float) -> None:
        """Set what predicts the clusters from the features that are used."""
        self.n_clusters_ = coefficients.shape[1]
        self.coef_ = np.zeros((self.n_clusters_, len(self.features_used_)))
        self.coef_[:, self.features_used_] = coefficients[:-1].T
        self.intercept_ = coefficients[-1] + richness * (coefficients**2).sum(0)

    def keep_meanings(
        self,
        state: PartitionLabelModelState,
        kept: Int[np.ndarray, " clusters"],
        cells: ConfusionCells,
        groupings: Groupings,
        correct: Callable[[Float[np.ndarray, "groups clusters"]], Int[np.ndarray, " groups"]],
    ) -> None:
        """Set what the groups mean, and how good annotators are.

        Parameters
        ----------
        kept : clusters that own items.
        groupings : in the order of the state; of all items, or the numbers of items of each group in one row.
        correct : from the probabilities of labels in each cluster to the number of labels of each group that they
            predict.
        """
        index = mapping.group_index(groupings)
        assignment = state.assignment[:, kept]
        probability = label_probability(state, cells)[:, kept]
        self.mapping_probabilities_ = pd.DataFrame(assignment, index=index)
        self.label_probabilities_ = pd.DataFrame(probability, index=index)
        self.annotator_mapping_ = mapping.mapping_table(groupings, assignment)
        due = expected_accuracy(state, cells)
        self.groupings_ = mapping.grouping_quality(groupings, correct(probability), due)
        self.annotators_ = mapping.annotator_quality(groupings, self.groupings_)
        self.annotators_.insert(3, "reliability", state.reliability)

    def restore_features(self, columns: Int[np.ndarray, " features"]) -> None:
        """Put what was learned about the features into the order in which they were given."""
        place = inverse(columns, len(columns))
        self.features_used_, self.coef_ = self.features_used_[place], self.coef_[:, place]

    def _restore(self, arrangement: Arrangement[Any]) -> None:
        super()._restore(arrangement)
        forecasts.keep(self, arrangement.given)
        self.annotator_mapping_ = self.annotator_mapping_.reset_index(drop=True)

    def _log_odds(self, X: Any) -> Float[np.ndarray, "items clusters"]:
        check_is_fitted(self)
        if not self.coef_.shape[1]:
            raise InputError("The model was fitted without features, so it cannot predict new items; see labels_.")
        return self._features(X, reset=False) @ self.coef_.T + self.intercept_

    def _same_label(
        self, a: Int[np.ndarray, " pairs"], b: Int[np.ndarray, " pairs"], annotator: Any
    ) -> Float[np.ndarray, " pairs"]:
        self._place_of_annotator(annotator)
        whose = self.label_probabilities_.index.get_level_values("annotator") == annotator
        probability = self.label_probabilities_[whose].to_numpy()
        both = (self.responsibilities_[a] @ probability.T) * (self.responsibilities_[b] @ probability.T)
        return both.sum(1) / max(self.annotators_.loc[annotator, "n_groupings"], 1)

    def number_of_clusters(self, n_items: int) -> int:
        """Return the number of clusters that a restart begins with.

        Raises
        ------
        InputError
            The parameters ask for more clusters than there are items, or there are too few items.
        """
        if n_items < 2:
            raise InputError(f"PartitionLabelModel needs at least 2 items (n_samples >= 2). Got n_samples = {n_items}.")
        if self.max_clusters is not None and self.max_clusters > n_items:
            raise InputError(
                f"The 'max_clusters' parameter of PartitionLabelModel must be at most the number of items, {n_items}. "
                f"Got {self.max_clusters} instead."
            )
        requested = 1 if is_auto(self.n_clusters) else int(self.n_clusters)
        most = n_items if self.max_clusters is None else int(self.max_clusters)
        if requested > most:
            what = f"the number of items, {n_items}" if self.max_clusters is None else f"max_clusters, {most}"
            raise InputError(
                f"The 'n_clusters' parameter of PartitionLabelModel must be at most {what} (n_samples = {n_items}). "
                f"Got {requested} instead."
            )
        if self.n_clusters == 1:
            return 1
        return max(min(MAX_CLUSTERS, n_items), requested) if self.max_clusters is None else most


def require_information(features: Float[np.ndarray, "items features"], groupings: Groupings) -> None:
    """Raise an InputError if labels or features do not distinguish any items."""
    if features.shape[1] and not np.ptp(features, axis=0).any():
        raise InputError(
            f"All {features.shape[1]} features are constant over the {len(features)} items, so they do not distinguish "
            "any. Give features that vary, or None to use the annotations alone."
        )
    if not groupings.incidence.nnz:
        raise InputError("None of the items has a label, so there is nothing to learn from.")
    groups = np.bincount(groupings.grouping_of_group, minlength=groupings.n_groupings)
    if groups.max() < 2:
        raise InputError(
            "Every annotator gave one label only, so the annotations do not distinguish any items. "
            "Expected at least one grouping with two groups."
        )


def _on_features(used: Bool[np.ndarray, " features"], search: pd.DataFrame | None) -> list[str]:
    """Return a note on features that are not used, or not associated with the annotations."""
    if search is None:
        return []
    many, associated = search["n_features"]
    if used.all():
        return [] if associated else [f"None of the {many:,} features is by itself associated with the annotations."]
    which = "those that are associated with the annotations or the clusters"
    found = f"Of the {many:,} features, {np.count_nonzero(used):,} are used: {which}."
    if not used.any():
        found = f"None of the {many:,} features is associated with the annotations, so none is used."
    return [f"{found} With all {many:,}, annotations that were held out are less probable (feature_search_)."]


def note_guessers(reliability: pd.Series) -> list[str]:
    """Return a note on the annotators who hardly count."""
    of = reliability[reliability <= GUESSING].sort_values(kind="stable")
    if of.empty:
        return []
    named = [f"{name!r} ({value:.2f})" for name, value in of.head(MOST_NAMED).items()]
    named += [f"{len(of) - MOST_NAMED:,} more"] * (len(of) > MOST_NAMED)
    return [
        f"{len(of):,} of {len(reliability):,} annotators sort like people who guess, and hardly count (reliability in "
        f"parentheses): {', '.join(named)}."
    ]


def _posteriors(
    state: PartitionLabelModelState, evidence: PartitionLabelModelEvidence, prior: PartitionLabelModelPrior
) -> Float[np.ndarray, "items clusters"]:
    """(16), for all items."""
    of_labels = label_evidence(state.assignment, state.expected, evidence.cells)
    found = np.empty((sum(len(chunk.design) for chunk in evidence.chunks), state.weights.shape[1]))
    start = 0
    for part in posteriors(evidence.chunks, with_offset(state.weights, prior.richness), of_labels):
        found[start : start + len(part)] = part
        start += len(part)
    return found


def one_hot(clusters: Int[np.ndarray, " items"]) -> csr_array:
    """Return the table of items and the clusters that own any, sparse 0/1."""
    _, cluster = np.unique(clusters, return_inverse=True)
    return csr_array((np.ones(len(cluster)), cluster, np.arange(len(cluster) + 1)))


def _owners(
    state: PartitionLabelModelState, evidence: PartitionLabelModelEvidence, prior: PartitionLabelModelPrior
) -> Int[np.ndarray, " owning"]:
    """Clusters that own items."""
    return np.unique(_posteriors(state, evidence, prior).argmax(1))


def _log_probability(
    item: Int[np.ndarray, " labels"],
    group: Int[np.ndarray, " labels"],
    posterior: Float[np.ndarray, "items clusters"],
    probability: Float[np.ndarray, "groups clusters"],
) -> Float[np.ndarray, " labels"]:
    """ln Σ_k q(z = k) p(label | k) of each label."""
    return np.log(np.einsum("lk,lk->l", posterior[item], probability[group]))
