"""InductiveConsensus: any consensus of annotations, and any classifier that predicts its clusters from features.

The baseline "KCC + LR" of Chen et al. (2018), Crowdclustering with Partition Labels, for any two estimators:

1. The consensus model finds the clusters of the annotated items. It uses no features.
2. The classifier learns these clusters from the features, and predicts those of all other items. It uses no
annotations.

Decided here
------------
Annotated items keep the cluster of the consensus, whatever the classifier predicts. Clusters, or names of classes, are
those of the consensus model, in its order. If it finds a single cluster there is nothing to learn, and every item is in
that cluster.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from consilience.annotations import Annotations
from consilience.annotations.canonical import arrange
from consilience.annotations.display import show_value
from consilience.annotations.fit_arguments import values_of_missing
from consilience.annotations.types import AnnotationsLike, FeaturesLike, Flag, Missing, Name, Names, RandomSource, Self
from consilience.errors import InputError, UnannotatedWarning
from consilience.estimators import learned, scoring
from consilience.estimators.base import CrowdEstimator
from consilience.estimators.labels import LabelAggregator, posterior_of
from consilience.estimators.learned import Attributes
from consilience.estimators.nested import set_seeds
from consilience.estimators.scoring import rates, score_of_clusters
from consilience.estimators.user_order import Axes
from consilience.inference.randomness import check_random_state
from consilience.semisupervised.learning_classifiers import default_classifier, predict_classes, predicts_codes


def _gives_probabilities(model: Any) -> bool:
    if model.classifier is None:
        return True
    return hasattr(getattr(model, "classifier_", model.classifier), "predict_proba")


class InductiveConsensus(CrowdEstimator):
    """Consensus of annotations that also predicts items without annotations, from their features.

    The consensus clusters the annotated items, and the classifier learns to predict these clusters.

    Parameters
    ----------
    consensus : estimator
        Any model of the package that needs no features, such as ``KCC(5)``.
    classifier : estimator, optional
        Any scikit-learn compatible classifier, or a `Pipeline` that ends with one. Default: logistic regression on
        standardised features.
    verbose : bool, default=False
        Show a progress bar: in a notebook, or in a terminal on standard error.
    random_state : int, RandomState, Generator or None, default=None
        For the consensus and the classifier, if theirs is None.

    Attributes
    ----------
    labels_ : ndarray, shape (n_items,)
        Cluster of each item: from the consensus model, and for items without annotations from the classifier. Numbers,
        or names of classes if the consensus model predicts classes.
    responsibilities_ : ndarray, shape (n_items, n_clusters_)
        Probability of each cluster, from the same two; one-hot if the classifier gives no probabilities.
    n_clusters_ : int
        Number of clusters of the consensus model.
    items_ : Index, shape (n_items,)
    annotators_ : DataFrame, one row for each annotator
        As in the consensus model.
    consensus_, classifier_ : fitted estimators
    n_features_in_, feature_names_in_ : as in scikit-learn

    Raises
    ------
    InputError
        On `fit`, for features and annotations that do not match, or unsuitable estimators.

    See Also
    --------
    PartitionLabelModel : Learns clusters and boundaries together.
    consilience.consensus.KCC : The consensus of the baseline.

    References
    ----------
    Chen, Chang, Castaldi, Cho, Hobbs & Dy (2018). Crowdclustering with Partition Labels. AISTATS, PMLR 84.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from consilience.consensus import KCC
    >>> from consilience.semisupervised import InductiveConsensus
    >>> from consilience.simulation import simulate_experts
    >>> X, species = load_iris(return_X_y=True)
    >>> experts = simulate_experts(species, random_state=0)
    >>> annotated, new = np.arange(0, 150, 2), np.arange(1, 150, 2)
    >>> model = InductiveConsensus(KCC(3), random_state=0).fit(X[annotated], experts[annotated])
    >>> model.predict(X[new]).shape
    (75,)
    """

    _axes: ClassVar[Axes] = CrowdEstimator._axes | {"_codes": ("items",), "_posterior": ("items",)}

    _learned: ClassVar[Attributes] = {
        **learned.FEATURES,
        "items_": learned.names("items"),
        "n_clusters_": learned.size("clusters"),
        "responsibilities_": learned.array(float, "items", "clusters", low=0, high=1),
        "_posterior": learned.optional(learned.array(float, "items", "clusters", low=0, high=1)),
        "_codes": learned.codes("items", of="clusters"),
        "labels_": learned.array(None, "items"),
        "consensus_": learned.ANYTHING,
        "classifier_": learned.ANYTHING,
        "annotators_": learned.table("annotators", {}),
        "_rates": learned.array(float, None, 2, low=0, high=1),
        "_rated": learned.names("annotators rated"),
    }

    def __init__(
        self, consensus: Any = None, classifier: Any = None, *, verbose: Flag = False, random_state: RandomSource = None
    ) -> None:
        self.consensus = consensus
        self.classifier = classifier
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: FeaturesLike | None, y: AnnotationsLike | None = None, *, missing: Missing | None = None) -> Self:
        """Fit the consensus to the annotations, then the classifier to the consensus.

        Parameters
        ----------
        X : DataFrame or array, shape (n_items, n_features)
            Features, finite. A DataFrame is matched with the annotations by the item names in its index, an array by
            position.
        y : what the consensus model reads
            Items of X without annotations get the classifier's prediction.
        missing : optional
            Value or list of values that means missing, in addition to blank cells; for tables and arrays.
            By default -1 if it is the only negative integer.

        Returns
        -------
        InductiveConsensus

        Raises
        ------
        InputError
            Features and annotations that do not match, or unsuitable estimators.
        """
        self._check_parameters()
        self._require_annotations(X, y)
        features = self._features(X, reset=True)
        self.consensus_, classifier = self._estimators()
        labels = isinstance(self.consensus_, LabelAggregator)
        self._missing = values_of_missing(missing)
        read = self._labels_beside(X, y, missing) if labels else self._judgements(X, y, missing)
        with warnings.catch_warnings(), self._progress():
            warnings.simplefilter("ignore", UnannotatedWarning)  # the classifier answers for such items
            self.consensus_.fit(read)
        self.items_, self.n_clusters_ = read.items, self.consensus_.n_clusters_
        self.annotators_ = self.consensus_.annotators_
        codes = np.asarray(self.consensus_._cluster_codes())
        known = (codes >= 0) & (read.summary().annotators_per_item.to_numpy() > 0)
        # most classifiers need two clusters
        if len(np.unique(codes[known])) < 2:
            classifier = DummyClassifier(strategy="most_frequent")
        arranged = arrange(read, features)
        order = arranged.items
        annotated, others = order[known[order]], order[~known[order]]
        self.classifier_ = classifier.fit(features[annotated], codes[annotated])
        self.responsibilities_ = np.array(self.consensus_.responsibilities_)
        self._posterior = np.array(posterior_of(self.consensus_))
        self._codes = codes.copy()
        if len(others):
            self._codes[others] = self.classifier_.predict(features[others])
            self.responsibilities_[others] = self._posterior[others] = self._probabilities(features[others])
        self.labels_ = self._named(self._codes)
        self._rates, self._rated = rates(arranged.ordered, self.responsibilities_[order]), arranged.ordered.annotators
        return self

    def predict(self, X: FeaturesLike) -> np.ndarray:
        """Predict the cluster of items from their features alone, by the classifier.

        Parameters
        ----------
        X : DataFrame or array, shape (n_items, n_features)

        Returns
        -------
        ndarray, shape (n_items,)
            Numbers of clusters, or names of classes.

        Raises
        ------
        InputError
            Features that are not finite.
        """
        check_is_fitted(self)
        return self._named(np.asarray(self.classifier_.predict(self._features(X, reset=False))))

    @available_if(_gives_probabilities)
    def predict_proba(self, X: FeaturesLike) -> Float[np.ndarray, "items clusters"]:
        """Predict the probability of each cluster of items from their features alone, by the classifier.

        Parameters
        ----------
        X : DataFrame or array, shape (n_items, n_features)

        Returns
        -------
        ndarray, shape (n_items, n_clusters_)

        Raises
        ------
        InputError
            Features that are not finite.
        """
        check_is_fitted(self)
        return self._probabilities(self._features(X, reset=False))

    score = scoring.score

    def _score(self, X: FeaturesLike, judgements: Annotations) -> float:
        of_item = self._probabilities(self._features(X, reset=False))
        return score_of_clusters(judgements, of_item, self._rates, self._rated)

    def _same(
        self, a: Int[np.ndarray, " pairs"], b: Int[np.ndarray, " pairs"], annotator: Name | None
    ) -> Float[np.ndarray, " pairs"]:
        """Of an annotator: as the consensus model predicts, which does not use features."""
        if annotator is None:
            return super()._same(a, b, None)
        same: np.ndarray = self.consensus_.predict_same(self.items_.take(a), self.items_.take(b), annotator=annotator)
        return same

    @available_if(lambda model: hasattr(model.consensus, "forecast_same"))
    def forecast_same(self, items_a: Names, items_b: Names) -> float | Float[np.ndarray, " pairs"]:
        """Probability that a new person puts two fitted items together, as the consensus model forecasts it.

        Parameters
        ----------
        items_a, items_b : names of items, or lists of names of one length

        Returns
        -------
        float, or ndarray of shape (n_pairs,) if lists were given

        Raises
        ------
        InputError
            An unknown item, or lists of different lengths.
        """
        found: float | np.ndarray = self.consensus_.forecast_same(items_a, items_b)
        return found

    def _depends_on_scale(self) -> bool:
        """No: the consensus uses no features, and the default classifier standardises them."""
        return False

    def _cluster_codes(self) -> Int[np.ndarray, " items"]:
        codes: np.ndarray = self._codes
        return codes

    def _cluster_names(self) -> pd.Index:
        names: pd.Index = self.consensus_._cluster_names()
        return names

    def _named(self, codes: Int[np.ndarray, " items"]) -> np.ndarray:
        """Clusters by the names of the consensus model."""
        if isinstance(self.consensus_, LabelAggregator):
            return np.asarray(self.consensus_.classes_)[codes]
        return codes.astype(np.intp)

    def _probabilities(self, features: Float[np.ndarray, "items features"]) -> Float[np.ndarray, "items clusters"]:
        """Probabilities of the classifier, a column for each cluster; 0 for those it was not trained on."""
        if hasattr(self.classifier_, "predict_proba"):
            return predict_classes(self.classifier_, features, self.n_clusters_)
        return np.eye(self.n_clusters_)[self.classifier_.predict(features)]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        consensus, classifier = self.consensus, self.classifier
        if not isinstance(consensus, CrowdEstimator) or _reads_features(consensus):
            raise InputError(
                "The 'consensus' parameter of InductiveConsensus must be an estimator of the package that needs no "
                f"features, such as KCC(5). Got {show_value(consensus)} instead."
            )
        consensus._check_parameters()
        methods = (hasattr(classifier, name) for name in ("fit", "predict", "get_params"))
        if classifier is not None and not all(methods):
            raise InputError(
                "The 'classifier' parameter of InductiveConsensus must be None or a scikit-learn classifier. "
                f"Got {show_value(classifier)} instead."
            )

    def _estimators(self) -> tuple[Any, Any]:
        """Unfitted copies of the consensus model and the classifier."""
        classifier = self.classifier
        if classifier is None:
            classifier = default_classifier()
        copies = clone(self.consensus), clone(classifier)
        if self.random_state is not None:
            rng = check_random_state(self.random_state)
            for copy in copies:
                set_seeds(copy, rng)
        return copies

    def _contradictions(self) -> Iterator[str]:
        yield from super()._contradictions()
        consensus = self.consensus_
        if not (isinstance(consensus, CrowdEstimator) and type(consensus) is type(self.consensus)):
            yield "consensus_"
            return
        if not hasattr(consensus, "items_") or not consensus.items_.equals(self.items_):
            yield "consensus_"
        elif consensus.n_clusters_ != self.n_clusters_:
            yield "n_clusters_"
        if len(self._rates) != len(self._rated) + 1:
            yield "_rates"
        if not (hasattr(self.classifier_, "predict") and predicts_codes(self.classifier_, self.n_clusters_)):
            yield "classifier_"


def _reads_features(estimator: CrowdEstimator) -> bool:
    """Whether `fit` needs annotations in addition to its first argument."""
    return bool(estimator.__sklearn_tags__().target_tags.required)
