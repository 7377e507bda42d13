"""TagConsensus: the estimator of `consilience.consensus.labels.tag_consensus`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from scipy.special import expit, logit, softmax
from sklearn.utils.validation import check_is_fitted

from consilience.annotations import Labels
from consilience.annotations.names import MISSING, NO_TAG, is_no_tag
from consilience.annotations.tags import TagSets
from consilience.annotations.types import AnnotationsLike, Flag, Gold, Integer, Missing, Name, Real
from consilience.consensus.labels.copies_result import compare_with_apart, copies_of
from consilience.consensus.labels.tag_calibration import allow_for_shared_errors, rates_of_good
from consilience.consensus.labels.tag_consensus import (
    ABSENT,
    PRESENT,
    OfTags,
    TagEvidence,
    TagState,
    log_joint_of,
    run,
    with_known,
)
from consilience.consensus.labels.tag_rates import log_answers, tabulate_annotators, tabulate_rates, tabulate_shares
from consilience.consensus.labels.tag_sets import distinct_sets, known_tags, name_sets
from consilience.errors import InputError
from consilience.estimators import learned
from consilience.estimators.labels import LabelAggregator
from consilience.estimators.learned import Attributes
from consilience.estimators.parameters import NOT_NEGATIVE, TRUTH, Requirements, whole
from consilience.estimators.traces import keep_trace
from consilience.estimators.user_order import Axes
from consilience.inference.clusters import TIE
from consilience.inference.exponential_family import expected_log_dirichlet

SMALLEST = 1e-15  # probability of which a logarithm is taken


class TagConsensus(LabelAggregator):
    """Tags of each item, where annotators may give it several, or none.

    Each tag is present or absent. An annotator misses some tags that are there, and gives some that are not: both rates
    are drawn towards the annotator's own over all tags, and these towards the crowd's, as far as the answers show that
    annotators and tags are alike. An annotator who gave an item some tags says no to all others.

    Parameters
    ----------
    calibrate : bool, default=True
        Whether probabilities allow for errors that annotators share, by as much as recorded crowds teach. If not, they
        are the posterior of the model, which takes errors to be independent. Which tags are more probable than not is
        the same.
    max_iter : int, default=500
        Maximum number of sweeps.
    tol : float, default=1e-6
        Converged when the relative gain of the bound is at most this.
    verbose : bool, default=False
        Show a progress bar: in a notebook, or in a terminal on standard error.

    Attributes
    ----------
    tags_ : ndarray of names, shape (n_tags,)
    probabilities_ : ndarray, shape (n_items, n_tags)
        Probability that an item has a tag.
    indicator_ : ndarray of int, shape (n_items, n_tags)
        1 where it is above 1/2: the multilabel indicator matrix of scikit-learn.
    prevalence_ : Series, shape (n_tags,)
        Mean probability of each tag.
    rates_ : DataFrame, shape (n_annotators * n_tags, 2)
        sensitivity and specificity of each annotator for each tag: the probability of giving a tag that an item has,
        and of not giving one that it has not.
    annotators_ : DataFrame, one row for each annotator
        n_labels, tags given, an item without any counting as one; n_items that the annotator saw; agreement, the
        expected share of right answers to whether these have each tag; accuracy, the probability of a right answer of
        an item of the crowd's mixture; information of the answers about the tags, bits an item; sensitivity and
        specificity over all tags; weak, whether sensitivity + specificity - 1 is below 1/4.
    labels_ : ndarray of names, shape (n_items,)
        The tags of an item as one name: the tag, several joined by a comma, or "(no tag)". Missing (NaN if all are
        numbers, else None) for items that nobody saw and that are not known.
    labels_series_ : Series
        The same, indexed by item.
    classes_ : ndarray of names, shape (n_sets,)
        The sets of tags that items have, those of fewer tags first.
    responsibilities_ : ndarray, shape (n_items, n_sets)
        Probability of each of these sets, if it is one of them.
    undecided_ : ndarray of bool, shape (n_items,)
        Items of which a tag is as probable as not, to a millionth: `indicator_` has 0.
    items_ : Index, shape (n_items,)
    likeness_ : Series, shape (2,)
        How much alike an annotator's sensitivities, and specificities, for all tags are: the concentration, s and r of
        the model, around the annotator's own. Above 100 one rate of an annotator serves all tags; below 3 each tag is
        a skill of its own.
    confusion_matrices_ : DataFrame, shape (n_annotators * n_sets, n_labels)
        Share of each tag among those that an annotator gives items of each set, indexed by annotator and set.
    copies_ : DataFrame
        Empty: all annotators weigh alone.
    labels_apart_ : ndarray of names, shape (n_items,)
        `labels_`.
    n_clusters_ : int
        Number of sets.
    lower_bound_ : float
        Bound on ln p(tags given), nats.
    lower_bounds_ : ndarray, shape (n_iter_,)
    n_iter_ : int
    converged_ : bool

    See Also
    --------
    DawidSkene : If every item has one class.

    References
    ----------
    Dawid & Skene (1979). Maximum likelihood estimation of observer error-rates using the EM algorithm. Applied
    Statistics 28(1).

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.consensus import TagConsensus
    >>> from consilience.simulation import simulate_tags
    >>> truth = np.random.default_rng(0).random((200, 5)) < 0.3
    >>> said = simulate_tags(truth, n_annotators=10, annotators_per_item=5, random_state=0)
    >>> model = TagConsensus().fit(said)
    >>> model.tags_.tolist()
    ['tag 1', 'tag 2', 'tag 3', 'tag 4', 'tag 5']
    >>> float((model.indicator_ == truth).mean().round(2))
    0.97
    """

    copies = None  # every annotator weighs alone: what tells copies apart is a class of each item
    reads_tags = True

    _axes: ClassVar[Axes] = LabelAggregator._axes | {
        "probabilities_": ("items",),
        "_tag_posterior": ("items",),
        "rates_": ("annotators",),
        "_log_rates": (None, None, "annotators"),
        "_known": ("items",),
    }

    _learned: ClassVar[Attributes] = {
        **learned.BOUNDED,
        **learned.annotators(
            **{"n_labels": "c", "agreement": "p", "accuracy": "p", "information": "f"},
            **{"n_items": "c", "sensitivity": "p", "specificity": "p", "weak": "b"},
        ),
        "responsibilities_": learned.optional(learned.array(float, "items", "clusters", low=0, high=1, shares=True)),
        "tags_": learned.names("tags", array=True),
        "probabilities_": learned.array(float, "items", "tags", low=0, high=1),
        "_tag_posterior": learned.array(float, "items", "tags", low=0, high=1),
        "rates_": learned.table("annotators × tags", 2, keys=("annotator", "tag"), dtype="p"),
        "_likeness": learned.array(float, 2, low=0),
        "_sets": learned.array(bool, "clusters", "tags"),
        "_log_rates": learned.array(float, 2, 2, "annotators", "tags", high=learned.ROUNDING),
        "_newcomer": learned.array(float, 2, 2, low=0, high=1),
        "_log_prevalence": learned.array(float, "tags", 2, high=learned.ROUNDING),
        "_good": learned.array(float, 2, "tags", low=0, high=1),
        "_known": learned.optional(learned.array(int, "items", "tags", low=-1, high=1)),
    }

    _requirements: ClassVar[Requirements] = {"calibrate": TRUTH, "max_iter": whole(1), "tol": NOT_NEGATIVE}

    def __init__(self, calibrate: Flag = True, max_iter: Integer = 500, tol: Real = 1e-6, verbose: Flag = False):
        self.calibrate = calibrate
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose

    @property
    def indicator_(self) -> Int[np.ndarray, "items tags"]:
        """1 where an item has a tag, else 0: the multilabel indicator matrix of scikit-learn."""
        check_is_fitted(self)
        return _is_present(self.probabilities_).astype(int)

    @property
    def prevalence_(self) -> pd.Series:
        """Mean probability of each tag.

        Returns
        -------
        Series, shape (n_tags,)
        """
        check_is_fitted(self)
        tags = pd.Index(self.tags_, tupleize_cols=False, name="tag")
        return pd.Series(self.probabilities_.mean(0), tags, name="prevalence")

    @property
    def likeness_(self) -> pd.Series:
        """How much alike an annotator's rates for all tags are: the concentration around the annotator's own.

        Returns
        -------
        Series, shape (2,)
            Indexed by sensitivity and specificity.
        """
        check_is_fitted(self)
        return pd.Series(self._likeness, ["sensitivity", "specificity"], name="likeness")

    @property
    def responsibilities_(self) -> Float[np.ndarray, "items sets"]:
        """Probability of each set of tags that items have, if it is one of them.

        Returns
        -------
        ndarray, shape (n_items, n_sets)
        """
        if "probabilities_" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'responsibilities_'")
        return self._of_sets(self.probabilities_)

    @property
    def _posterior(self) -> Float[np.ndarray, "items sets"]:
        """What predicts tags that are given, see `estimators.labels.posterior_of`."""
        return self._of_sets(self._tag_posterior)

    @property
    def undecided_(self) -> Bool[np.ndarray, " items"]:
        """Items of which a tag is as probable as not, to a millionth: `indicator_` has 0."""
        check_is_fitted(self)
        return np.asarray((np.abs(self.probabilities_ - 0.5) <= TIE).any(1) & ~pd.isna(self.labels_))

    def predict_tags(self, annotations: AnnotationsLike, *, missing: Missing | None = None) -> OfTags:
        """Probability of each tag of fitted or new items, by what annotators said of them alone.

        Parameters
        ----------
        annotations : Labels, DataFrame or array, as for `fit`
            With tags among `tags_`. An annotator who was not fitted is taken to be like the crowd.
        missing : as for `fit`

        Returns
        -------
        ndarray, shape (n_items, n_tags)

        Raises
        ------
        InputError
            A tag was not fitted.

        Warns
        -----
        AnnotationWarning
            Annotators were not fitted.
        """
        check_is_fitted(self)
        return self._predict(self._labels(annotations, reset=False, missing=missing))

    def tell_classes(self, labels: Labels) -> tuple[np.ndarray, Float[np.ndarray, "items sets"]]:
        """Return the tags of each item as one name, missing where nobody saw it, and the probability of each set."""
        found = self._predict(labels)
        is_seen = np.diff(labels.indptr) > 0
        return self._named_sets(labels, _is_present(found), is_seen), self._of_sets(found)

    def are_silent(self, labels: Labels) -> Bool[np.ndarray, " annotators"]:
        """Whether what each annotator says has no influence: nobody's has none."""
        return np.zeros(labels.n_annotators, dtype=bool)

    def score(self, annotations: AnnotationsLike, y: Any = None, *, missing: Missing | None = None) -> float:
        """Mean log probability of what annotators say of other items.

        All answers to whether an item has a tag are predicted jointly. Higher is better.

        Parameters
        ----------
        annotations : Labels, DataFrame or array
            As for `predict_tags`, which says what is raised, too.
        y : ignored
        missing : optional
            As for `predict_tags`.

        Returns
        -------
        float
            Nats per tag given, an item without any counting as one; at most 0.
        """
        check_is_fitted(self)
        labels = self._labels(annotations, reset=False, missing=missing)
        log_joint = self._log_joint(labels, log_answers(*self._mean_rates()))[0]
        return float(np.logaddexp(*log_joint).sum() / labels.n_rows)

    def _codes_of_gold(self, gold: Gold | None, labels: Labels) -> Int[np.ndarray, "items tags"] | None:
        return known_tags(gold, labels)

    def _labels(self, annotations: Any, *, reset: bool, missing: Any = None, gold: Any = None) -> Labels:
        labels = super()._labels(annotations, reset=reset, missing=missing)  # gold names no classes of its own
        if reset and all(map(is_no_tag, labels.classes[np.unique(labels.label)])):
            raise InputError("TagConsensus needs tags, and no annotator gave any.")
        return labels

    def _aggregate(self, labels: Labels, known: Int[np.ndarray, "items tags"] | None, values: None) -> TagConsensus:
        copies = copies_of(self, labels)
        sets = TagSets.of(labels)
        evidence = TagEvidence(sets.seen, sets.item, sets.annotator, sets.tag, len(sets.tags), known)
        trace = run(evidence, max_iter=int(self.max_iter), tol=float(self.tol))
        keep_trace(self, trace)
        self._read_off(labels, sets, evidence, trace.state)
        compare_with_apart(self, copies, lambda apart: apart._aggregate(labels, known, None), labels)
        return self

    def _read_off(self, labels: Labels, sets: TagSets, evidence: TagEvidence, state: TagState) -> None:
        sensitivity, specificity = state.rates
        n_items = np.asarray(evidence.seen.sum(0)).ravel().astype(int)
        self.tags_, self.items_ = sets.tags.to_numpy(), labels.items
        self._likeness = np.array([state.present.concentration[PRESENT], state.absent.concentration[ABSENT]])
        self._log_rates, self._log_prevalence = state.log_rates, expected_log_dirichlet(state.prevalence)
        self._newcomer = np.stack([model.crowd / model.crowd.sum() for model in (state.present, state.absent)])
        self._good = rates_of_good(sensitivity, specificity, state.probabilities.mean(0), n_items)
        self._known = np.full((len(labels), len(sets.tags)), MISSING) if evidence.known is None else evidence.known
        posterior = state.probabilities
        told = self._told(evidence, self._joint_of(evidence, self._log_rates)) if self.calibrate else posterior
        self.probabilities_, self._tag_posterior = told, posterior
        is_told = (np.diff(labels.indptr) > 0) | (self._known >= 0).any(1)
        present = _is_present(self.probabilities_)
        self._sets = distinct_sets(present[is_told])
        quality = tabulate_annotators(labels, evidence, posterior, sensitivity, specificity)
        confusion = tabulate_shares(self._sets, sensitivity, specificity, labels.classes)
        self.keep_annotators(name_sets(self._sets, sets.tags), labels.classes, confusion, quality)
        self.rates_ = tabulate_rates(sensitivity, specificity, labels.annotators, sets.tags)
        self.labels_ = self._named_sets(labels, present, is_told)

    def _told(self, evidence: TagEvidence, log_joint: Float[np.ndarray, "classes items tags"]) -> OfTags:
        """Return the probabilities that are told of items, whose known tags stay."""
        log_odds = self._log_prevalence[:, 0] - self._log_prevalence[:, 1]
        n_seen = np.asarray(evidence.seen.sum(1)).ravel()
        votes = evidence.gather(np.ones(len(evidence.tag)))
        return with_known(allow_for_shared_errors(log_joint, log_odds, votes, n_seen, self._good), evidence.known)

    def _joint_of(
        self, evidence: TagEvidence, log_rates: Float[np.ndarray, "classes answers annotators tags"]
    ) -> Float[np.ndarray, "classes items tags"]:
        return log_joint_of(evidence, log_rates, self._log_prevalence)

    def _log_joint(
        self, labels: Labels, log_rates: Float[np.ndarray, "classes answers annotators tags"]
    ) -> tuple[Float[np.ndarray, "classes items tags"], TagEvidence]:
        """E ln p(answers, z) of fitted or new items, by what fitted annotators and newcomers say."""
        place = self._places_of_annotators(labels)
        newcomer = np.repeat(log_answers(*self._newcomer[:, :1, None]), len(self.tags_), axis=3)
        rates = np.concatenate([log_rates, newcomer], axis=2)[:, :, place]
        evidence = self.evidence_of(labels)
        return self._joint_of(evidence, rates), evidence

    def _predict(self, labels: Labels) -> OfTags:
        log_joint, evidence = self._log_joint(labels, self._log_rates)
        return self._told(evidence, log_joint) if self.calibrate else expit(log_joint[1] - log_joint[0])

    def _places_of_annotators(self, labels: Labels) -> Int[np.ndarray, " annotators"]:
        """Return the places of annotators among those fitted; a newcomer's is their number."""
        self._fitted_codes(labels)  # warns of newcomers, and refuses tags that were not fitted
        place = self.annotators_.index.get_indexer(labels.annotators)
        return np.where(place == MISSING, len(self.annotators_), place)

    def _fitted_codes(self, labels: Labels) -> tuple[np.ndarray, np.ndarray]:
        if NO_TAG in self._label_names or NO_TAG not in labels.classes:
            return super()._fitted_codes(labels)
        return super()._fitted_codes(labels._rows(np.flatnonzero(labels.label != labels.classes.get_loc(NO_TAG))))

    def _mean_rates(self) -> tuple[Float[np.ndarray, "annotators tags"], Float[np.ndarray, "annotators tags"]]:
        values = self.rates_.to_numpy().reshape(len(self.annotators_), len(self.tags_), 2)
        return values[:, :, 0], values[:, :, 1]

    def _of_sets(self, probabilities: OfTags) -> Float[np.ndarray, "items sets"]:
        """Return the probability of each set that items have, if it is one of them."""
        sure = probabilities.clip(SMALLEST, 1 - SMALLEST)
        return softmax(logit(sure) @ self._sets.T.astype(float), axis=1)

    def _probabilities(self, labels: Labels) -> Float[np.ndarray, "items sets"]:
        return self._of_sets(self._predict(labels))

    def _named_sets(
        self, labels: Labels, present: Bool[np.ndarray, "items tags"], is_told: Bool[np.ndarray, " items"]
    ) -> np.ndarray:
        """Name the tags of each item; missing, with a warning, where nothing is known."""
        codes = self.codes_of_sets(present)
        if (codes[is_told] >= 0).all():
            return self._name_codes(labels, np.maximum(codes, 0), is_told)
        names = self.classes_.astype(object)[np.maximum(codes, 0)]
        new = np.flatnonzero(codes < 0)
        names[new] = name_sets(present[new], pd.Index(map(str, self.tags_), dtype=object))
        names[~is_told] = None
        return names

    def evidence_of(self, labels: Labels, known: Int[np.ndarray, "items tags"] | None = None) -> TagEvidence:
        """Return what annotators said of fitted tags.

        known : 1 or 0 where it is known whether an item has a tag, else -1.
        """
        sets = TagSets.of(labels)
        tag = pd.Index(self.tags_, tupleize_cols=False).get_indexer(sets.tags)
        return TagEvidence(sets.seen, sets.item, sets.annotator, tag[sets.tag], len(self.tags_), known)

    def codes_of_sets(self, present: Bool[np.ndarray, "items tags"]) -> Int[np.ndarray, " items"]:
        """Return the place of each set among those that items have, -1 for others."""
        known = {row.tobytes(): place for place, row in enumerate(self._sets)}
        return np.array([known.get(row.tobytes(), MISSING) for row in np.ascontiguousarray(present)], dtype=np.intp)

    def _item_codes(self) -> Int[np.ndarray, " items"]:
        codes = self.codes_of_sets(_is_present(self.probabilities_))
        return np.where(codes == MISSING, self.responsibilities_.argmax(1), codes)

    def _same(
        self, a: Int[np.ndarray, " pairs"], b: Int[np.ndarray, " pairs"], annotator: Name | None
    ) -> Float[np.ndarray, " pairs"]:
        """That both items have, or are given by an annotator, the same tags."""
        p = self.probabilities_
        if annotator is not None:
            p = self._tag_posterior
            place = self._place_of_annotator(annotator)
            sensitivity, specificity = (rate[place] for rate in self._mean_rates())
            p = p * sensitivity + (1 - p) * (1 - specificity)
        return np.asarray((p[a] * p[b] + (1 - p[a]) * (1 - p[b])).prod(1))

    def _contradictions(self) -> Iterator[str]:
        yield from super()._contradictions()
        if not np.array_equal(np.unique(self._sets, axis=0), np.unique(distinct_sets(self._sets), axis=0)):
            yield "_sets"


def _is_present(probabilities: OfTags) -> Bool[np.ndarray, "items tags"]:
    return np.asarray(probabilities > 0.5 + TIE)
