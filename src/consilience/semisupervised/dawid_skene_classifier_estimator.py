"""DawidSkeneClassifier: the estimator of `consilience.semisupervised.dawid_skene_classifier`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from copy import copy
from typing import Any, ClassVar, cast

import numpy as np
import pandas as pd
from jaxtyping import Float, Int
from scipy.special import logsumexp, softmax
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from consilience import registry
from consilience.annotations import Labels
from consilience.annotations.canonical import arrange
from consilience.annotations.display import show_value
from consilience.annotations.fit_arguments import values_of_missing
from consilience.annotations.names import MISSING, outside
from consilience.annotations.types import (
    AnnotationsLike,
    FeaturesLike,
    Flag,
    Gold,
    Integer,
    Missing,
    RandomSource,
    Self,
)
from consilience.consensus.labels.accuracy_interval import (
    accuracy_interval,
    add_interval,
    doubted_labels,
    sum_right,
    widen_interval,
)
from consilience.consensus.labels.annotator_models import AnnotatorModel
from consilience.consensus.labels.calibration import ASSUMED
from consilience.errors import AnnotationWarning, InputError, UnannotatedWarning
from consilience.estimators import learned
from consilience.estimators.annotator_tables import annotator_quality
from consilience.estimators.gold import gold_codes
from consilience.estimators.labels import LabelAggregator, log_of_table, posterior_of
from consilience.estimators.learned import Attributes
from consilience.estimators.nested import set_seeds
from consilience.estimators.traces import keep_trace
from consilience.estimators.user_order import Axes, restore
from consilience.inference.clusters import most_probable
from consilience.inference.product_distributions import Weights, log_scores
from consilience.inference.randomness import spawn_seeds
from consilience.inference.sparse_tables import SparseTable
from consilience.inference.threads import one_blas_thread
from consilience.semisupervised.class_probabilities import columns_by_name, match_columns, require_probabilities
from consilience.semisupervised.cross_fitting import N_FOLDS, Predict, cross_fit, divide_folds
from consilience.semisupervised.crowd_alone import CrowdAlone
from consilience.semisupervised.dawid_skene_classifier import (
    GATE,
    Depth,
    FeatureState,
    Trust,
    calibrate_features,
    calibrated_probabilities,
    deepen,
    depths_for,
    fit_annotators,
    init_features,
    run_features,
)
from consilience.semisupervised.item_prior import Mixing, Probabilities
from consilience.semisupervised.learning_classifiers import (
    FOR_SOFT_TARGETS,
    FittedClassifier,
    default_classifier,
    learn_classifiers,
    predict_classes,
    predicts_codes,
)

GIVEN = "probabilities"
NOTHING_TELLS = (
    "DawidSkeneClassifier: no item has two labels, and the features tell nothing of the classes, so that nothing tells "
    f"how often a label is right. The probabilities assume {ASSUMED:.0%}. Collect a second label of some items, or "
    "give gold."
)
ALONE = (
    *("annotators_", "confusion_matrices_", "_sparse_matrices", "class_proportions_", "temperature_"),
    *("lower_bound_", "lower_bounds_", "n_iter_", "converged_"),
)  # attributes of Dawid-Skene alone where features are not used
EXPECTED = "None, 'probabilities' or a scikit-learn classifier with predict_proba"


class DawidSkeneClassifier(LabelAggregator):
    """Class of each item from labels and features, by the model of Dawid and Skene and a classifier.

    The classifier learns what the labels mean, and its probabilities for an item, from other items alone, are read
    with the item's labels. Items that nobody labelled, and new ones, are classified by their features. If the features
    tell nothing of the classes, the result is that of `DawidSkene`.

    Parameters
    ----------
    classifier : estimator or "probabilities", optional
        Any scikit-learn classifier with `predict_proba`, or a `Pipeline` that ends with one. It learns soft targets if
        it takes weights of rows, else the most probable classes. Default: logistic regression with C=0.1 on
        standardised features. "probabilities": the features are probabilities of the classes by a classifier of yours,
        one column for each class; they must not come from labels of the same item, as those of cross-validation do not.
    consensus : DawidSkene, optional
        The model of the labels, with settings of yours. Default: ``DawidSkene()``. With ``calibrate=False``,
        `responsibilities_` are the posterior.
    n_jobs : int, optional
        Number of threads that share the classifiers, as in joblib.
    verbose : bool, default=False
        Show a progress bar: in a notebook, or in a terminal on standard error.
    random_state : int, RandomState, Generator or None, default=None
        For the folds, and for the classifier if it has none.

    Attributes
    ----------
    labels_ : ndarray of class names, shape (n_items,)
        Most probable class, of items without labels by their features.
    labels_series_ : Series
        The same, indexed by item.
    undecided_ : ndarray of bool, shape (n_items,)
        Items of which several classes are equally probable, to a millionth: `labels_` has the first of them.
    responsibilities_ : ndarray, shape (n_items, n_classes)
        Probability of each class. Those of items with labels, and those of items without, are calibrated apart, by
        how well they predict labels.
    pred_probs_ : ndarray, shape (n_items, n_classes)
        Probabilities by classifiers that saw no label of the item, as they are; "out of fold".
    uses_features_ : bool
        Whether the features tell something of the classes.
    gain_ : float
        By which they raise the bound, nats, over that of `DawidSkene`, or of this model with equal probabilities for
        all items; below 10 it may be by chance.
    temperature_ : float
        By which the evidence of an item's labels is divided, at least 1; 1 if annotators err independently.
    classes_ : ndarray of class names, shape (n_classes,)
    class_proportions_ : ndarray, shape (n_classes,)
        Of the items with labels.
    items_ : Index, shape (n_items,)
    annotators_ : DataFrame, one row for each annotator
        As in `DawidSkene`; the features take part in which labels are right.
    confusion_matrices_ : DataFrame, shape (n_annotators * n_classes, n_classes)
        Posterior mean probability of each label, indexed by annotator and class.
    copies_ : DataFrame, one row for each group of annotators who weigh together
        As in `DawidSkene`.
    labels_apart_ : ndarray of class names, shape (n_items,)
        `labels_` if every annotator weighs alone.
    n_clusters_ : int
        Number of classes.
    consensus_ : DawidSkene
        Fitted to the labels alone.
    classifier_ : fitted classifier, or None if the features are probabilities
        Learned from all items with labels.
    notes_ : list of str
        Whether the features were used, and why.
    lower_bound_ : float
        Bound on ln p(labels), nats.
    lower_bounds_ : ndarray, shape (n_iter_,)
        After each round of updates.
    n_iter_ : int
    converged_ : bool
    n_features_in_, feature_names_in_ : as in scikit-learn

    Raises
    ------
    InputError
        On `fit`, for features and labels that do not match, or unsuitable estimators.

    See Also
    --------
    consilience.consensus.DawidSkene : Without features.
    InductiveConsensus : Any consensus model, whose result a classifier then learns.

    References
    ----------
    Dawid & Skene (1979). Maximum likelihood estimation of observer error-rates using the EM algorithm. Applied
    Statistics 28(1). Raykar and others (2010). Learning from crowds. Journal of Machine Learning Research 11, learns a
    classifier in the same EM, without folds.

    Examples
    --------
    >>> from consilience.semisupervised import DawidSkeneClassifier
    >>> from consilience.simulation import simulate_labels_with_features
    >>> data = simulate_labels_with_features(n_features=20, shift=1.0, random_state=0)
    >>> model = DawidSkeneClassifier(random_state=0).fit(data.data, data.annotations)
    >>> float((model.labels_ == data.target).mean()) > 0.9
    True
    >>> model.predict(data.data[:3]).shape
    (3,)
    """

    _axes: ClassVar[Axes] = LabelAggregator._axes | {"pred_probs_": ("items",), "_posterior": ("items",)}

    _learned: ClassVar[Attributes] = {
        **learned.FEATURES,
        **learned.BOUNDED,
        "pred_probs_": learned.array(float, "items", "clusters", low=0, high=1),
        "_posterior": learned.optional(learned.array(float, "items", "clusters", low=0, high=1, shares=True)),
        "class_proportions_": learned.array(float, "clusters", low=0, high=1, shares=True),
        "uses_features_": learned.TRUTH,
        "gain_": learned.number(),
        "temperature_": learned.number(1),
        "notes_": learned.NOTES,
        "consensus_": learned.ANYTHING,
        "classifier_": learned.ANYTHING,
        "_column_of_class": learned.or_none(learned.codes("clusters", of="clusters")),
        "_log_weights": learned.array(float, "clusters", high=learned.ROUNDING, inf=True),
        "_sharpness": learned.number(0),
        "_weight": learned.number(0),
    }

    _reads_alone = False

    def __init__(
        self,
        classifier: Any = None,
        consensus: Any = None,
        *,
        n_jobs: Integer | None = None,
        verbose: Flag = False,
        random_state: RandomSource = None,
    ) -> None:
        self.classifier = classifier
        self.consensus = consensus
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @property
    def reads_probabilities(self) -> bool:
        """Whether the features are probabilities of the classes, which must not be scaled."""
        return isinstance(self.classifier, str) and self.classifier == GIVEN

    def fit(
        self,
        X: FeaturesLike,
        y: AnnotationsLike | None = None,
        *,
        missing: Missing | None = None,
        gold: Gold | None = None,
    ) -> Self:
        """Fit the model of the labels, then with it the classifier.

        Parameters
        ----------
        X : DataFrame or array, shape (n_items, n_features)
            Features, finite. A DataFrame is matched with the labels by the item names in its index, an array by
            position. With ``classifier="probabilities"``, a column for each class: matched by its name in a DataFrame,
            in the order of the sorted names in an array.
        y : Labels, DataFrame or array of shape (n_items, n_annotators)
            Labels, as for `DawidSkene`. Items of X may have none.
        missing : optional
            Value or list of values that means missing, in addition to blank cells; for tables and arrays.
            By default -1 if it is the only negative integer.
        gold : Series or dict, optional
            Known classes by item; items that are not among those of X are an error.

        Returns
        -------
        DawidSkeneClassifier

        Raises
        ------
        InputError
            Features and labels that do not match, or unsuitable estimators.

        Warns
        -----
        AnnotationWarning
            As in `DawidSkene`.
        ConvergenceWarning
            The bound still changed after the last sweep.
        """
        self._check_parameters()
        self._require_annotations(X, y)
        features = self._features(X, reset=True)
        labels = self._labels_beside(X, y, missing)
        self._missing = values_of_missing(missing)
        self._column_of_class = None
        if self.reads_probabilities:
            labels, self._column_of_class = match_columns(X, labels)
            features = require_probabilities(features, labels.items)[:, self._column_of_class]
        require_labels(labels)
        known = gold_codes(gold, labels)
        arranged = arrange(labels, features if known is None else np.column_stack([features, known]))
        known = None if known is None else known[arranged.items]
        with one_blas_thread(), self._progress():
            self._aggregate(arranged.ordered, known, features[arranged.items])
        restore(self.consensus_, arranged)
        self._restore(arranged)
        return self

    def _aggregate(self, labels: Labels, known: Int[np.ndarray, " items"] | None, values: Any) -> Any:
        """Fit to labels and features; both readings of copies have one seed."""
        known = np.full(len(labels), MISSING) if known is None else known
        self._fit(labels, values, known, spawn_seeds(self.random_state, 1)[0])
        return self

    def _fit(
        self, labels: Labels, features: Float[np.ndarray, "items features"], known: Int[np.ndarray, " items"], seed: int
    ) -> None:
        self.consensus_ = self._fit_consensus(labels, known)
        crowd = CrowdAlone.of(self.consensus_, labels, known)
        best, self.pred_probs_, self.gain_ = self._fit_features(crowd, features, np.random.RandomState(seed))
        self.uses_features_ = best is not None and self.gain_ >= GATE
        self.notes_ = [self._say_whether_used(), *self.consensus_.notes_]
        if crowd.items.is_single and not self.uses_features_:
            warnings.warn(NOTHING_TELLS, AnnotationWarning, stacklevel=outside())
        self._keep_classes(labels, known)
        if best is not None and self.uses_features_:
            keep_trace(self, best.trace)
            self._keep_together(labels, crowd, best.trace.state)
        else:
            self._keep_alone(crowd)
        self.labels_ = self.classes_[most_probable(self.responsibilities_)]
        self._compare_with_apart(labels, features, known, seed)

    def _fit_consensus(self, labels: Labels, known: Int[np.ndarray, " items"]) -> Any:
        """Fit Dawid-Skene alone."""
        consensus = make_consensus() if self.consensus is None else clone(self.consensus)
        gold = pd.Series(labels.classes[known[known >= 0]], index=labels.items[known >= 0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnannotatedWarning)  # the features answer for such items
            warnings.filterwarnings("ignore", ".* no item has two labels", AnnotationWarning)  # features may tell
            return consensus.fit(labels, gold=gold)

    def _fit_features(
        self, crowd: CrowdAlone, features: Float[np.ndarray, "items features"], rng: np.random.RandomState
    ) -> tuple[Depth | None, Probabilities, float]:
        """Fit with features; return the best fit, if there are items for folds, p of all items, and the gain."""
        alone, n_classes = (crowd.scores / crowd.temperature, crowd.log_weights), len(crowd.log_weights)
        limits = {"max_iter": self.consensus_.max_iter, "tol": self.consensus_.tol}

        def fit_to(probabilities: Probabilities, predict: Predict | None) -> Depth:
            start = init_features(crowd.items, crowd.scores, crowd.log_weights, probabilities, crowd.temperature)
            return Depth(run_features(start, crowd.temperature, **limits), probabilities, predict)

        flat = np.full_like(crowd.scores, 1 / n_classes)
        bound = max(crowd.lower_bound, fit_to(flat, None).trace.lower_bound)
        if self.reads_probabilities:
            self.classifier_ = None
            best = fit_to(features[crowd.labelled], None)
            return best, features, best.trace.lower_bound - bound
        classifier = default_classifier(FOR_SOFT_TARGETS) if self.classifier is None else clone(self.classifier)
        target, n_folds = np.asarray(softmax(alone[0] + alone[1], axis=1)), min(N_FOLDS, len(flat))
        fold = divide_folds(most_probable(target), rng, n_folds)
        set_seeds(classifier, rng)
        learn = learn_classifiers(classifier, features[crowd.labelled], self.n_jobs)
        if n_folds == 1:  # nothing is out of fold
            (final,) = learn([(np.arange(1), target)])
            deepest = None
        else:
            depths = [depth for depth in depths_for(flat.size) if depth < n_folds]
            deepest = deepen(lambda depth: fit_to(*cross_fit(learn, *alone, fold, depth)), depths, bound)
            final = deepest.predict
        self.classifier_ = cast(FittedClassifier, final).classifier
        told = predict_classes(self.classifier_, features, n_classes)
        told[crowd.labelled] = flat if deepest is None else deepest.probabilities
        return deepest, told, 0.0 if deepest is None else deepest.trace.lower_bound - bound

    def _keep_classes(self, labels: Labels, known: Int[np.ndarray, " items"]) -> None:
        """Set what does not depend on whether the features are used."""
        alone = self.consensus_
        self.items_, self._gold, self._label_names = labels.items, known, labels.classes
        self.classes_, self.n_clusters_ = alone.classes_, alone.n_clusters_
        self.copies_, self._copy_group = alone.copies_, alone._copy_group

    def _keep_alone(self, crowd: CrowdAlone) -> None:
        """Set the results of Dawid-Skene alone, and of items without labels by their features."""
        alone, items = self.consensus_, crowd.items
        for name in ALONE:
            self.__dict__.pop(name, None)
        self.__dict__.update({name: copy(value) for name, value in vars(alone).items() if name in ALONE})
        told = self.pred_probs_[crowd.labelled]
        q, matrices = crowd.responsibilities(), fit_annotators(items, crowd.responsibilities())
        self._keep_unlabelled(calibrate_features(items, matrices, crowd.log_weights, q, told), crowd.log_weights)
        self.responsibilities_, self._posterior = alone.responsibilities_.copy(), posterior_of(alone).copy()
        for told in (self.responsibilities_, self._posterior):
            told[~crowd.labelled] = self._by_features(self.pred_probs_[~crowd.labelled])

    def _keep_together(self, labels: Labels, crowd: CrowdAlone, state: FeatureState) -> None:
        """Set the results of labels and features."""
        model, items = state.dawid_skene.model, crowd.items
        log_weights, q = state.dawid_skene.log_weights, state.responsibilities()
        trust = calibrate_features(items, model, log_weights, q, self.pred_probs_[crowd.labelled])
        self._keep_unlabelled(trust, log_weights)
        self.temperature_ = trust.temperature if self.consensus_.calibrate else 1.0
        posterior = self._by_features(self.pred_probs_)
        self.responsibilities_ = posterior.copy()
        posterior[crowd.labelled] = q
        self._posterior = posterior
        self.responsibilities_[crowd.labelled] = (
            calibrated_probabilities(state, trust) if self.consensus_.calibrate else q
        )
        sizes = q.sum(0) + items.learned + items.sizes
        self.class_proportions_ = sizes / sizes.sum()
        self._keep_matrices(labels, crowd, model, posterior)

    def _keep_matrices(
        self, labels: Labels, crowd: CrowdAlone, model: AnnotatorModel, posterior: Probabilities
    ) -> None:
        """Set the tables of annotators; those who are not heard have the matrices of Dawid-Skene alone."""
        silent = self.consensus_.are_silent(labels)
        matrices, rows = model.matrices(), np.flatnonzero(silent)
        if isinstance(matrices, SparseTable):
            matrices = matrices.with_others(rows, self.consensus_._sparse_matrices.take(rows))
        else:
            matrices[rows] = self.consensus_.confusion_matrices_.to_numpy().reshape(matrices.shape)[rows]
        quality = annotator_quality(labels, posterior, matrices, labels.annotators, named=True)
        self.keep_annotators(labels.classes, labels.classes, matrices, quality)
        doubted = doubted_labels(crowd.labels, posterior, crowd.weight, len(matrices))
        interval = accuracy_interval(model, posterior.mean(0), doubted)
        moved = sum_right(labels, self.responsibilities_ - posterior, len(matrices))
        low, high = widen_interval(*interval, moved / np.maximum(quality["n_labels"].to_numpy(), 1))
        low, high = (np.where(silent, np.nan, end) for end in (low, high))
        self.annotators_ = add_interval(self.annotators_, low, high)

    def _keep_unlabelled(self, trust: Trust, log_weights: Weights) -> None:
        """Set what gives the probabilities of items without labels."""
        self._log_weights = log_weights
        self._sharpness, self._weight = trust.unlabelled.sharpness, trust.unlabelled.weight

    def _by_features(self, probabilities: Probabilities) -> Probabilities:
        """Probabilities of items by their features alone, calibrated."""
        return Mixing(self._sharpness, self._weight).predict(self._log_weights, probabilities)

    def _say_whether_used(self) -> str:
        if self.uses_features_:
            return f"Features take part in the classes: they raise the bound by {self.gain_:,.0f} nats."
        why = (
            f"they raise the bound by {max(self.gain_, 0.0):.1f} nats, and features that tell nothing by up to {GATE:g}"
        )
        return f"Features tell nothing of the classes: {why}. Classes of items with labels are those of DawidSkene."

    def _compare_with_apart(
        self, labels: Labels, features: Float[np.ndarray, "items features"], known: Int[np.ndarray, " items"], seed: int
    ) -> None:
        """Set `labels_apart_`, the classes if all annotators weighed alone."""
        if self.copies_.empty:
            self.labels_apart_ = self.labels_.copy()
            return
        consensus = clone(self.consensus_).set_params(copies=None)
        apart = clone(self).set_params(consensus=consensus)
        apart._column_of_class = self._column_of_class
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit of this one gave them
            apart._fit(labels, features, known, seed)
        self.labels_apart_ = apart.labels_

    def predict(self, X: FeaturesLike) -> np.ndarray:  # type: ignore[override]
        """Most probable class of items by their features alone.

        Parameters
        ----------
        X : DataFrame or array, shape (n_items, n_features)

        Returns
        -------
        ndarray of class names, shape (n_items,)

        Raises
        ------
        InputError
            Features that are not finite, or are no probabilities if those were fitted.
        """
        probabilities = self.predict_proba(X)
        return np.asarray(self.classes_[most_probable(probabilities)])

    def predict_proba(self, X: FeaturesLike) -> Float[np.ndarray, "items classes"]:  # type: ignore[override]
        """Probability of each class of items by their features alone.

        Parameters
        ----------
        X : DataFrame or array, shape (n_items, n_features)

        Returns
        -------
        ndarray, shape (n_items, n_classes)
            Columns in the order of `classes_`.

        Raises
        ------
        InputError
            Features that are not finite, or are no probabilities if those were fitted.
        """
        check_is_fitted(self)
        features = self._features(X, reset=False)
        if self._column_of_class is None:
            return self._by_features(predict_classes(self.classifier_, features, self.n_clusters_))
        columns = columns_by_name(X, self.classes_, self._column_of_class)
        return self._by_features(require_probabilities(features, None)[:, columns])

    def score(self, X: FeaturesLike, y: AnnotationsLike | None = None, *, missing: Missing | None = None) -> float:
        """Mean log probability of labels of other items, predicted from their features.

        The labels of an item are predicted jointly: ln Σ_k p_k Π_a p(label by a | class k), with the probabilities of
        classes p by the features, and the confusion matrices. Higher is better.

        Parameters
        ----------
        X : DataFrame or array, shape (n_items, n_features)
        y : Labels, DataFrame or array, as for `fit`
            With labels among those fitted. An annotator who was not fitted is taken to be like the crowd.
        missing : optional
            Value or list of values that means missing, in addition to blank cells; for tables and arrays.
            By default -1 if it is the only negative integer.

        Returns
        -------
        float
            Nats per label, at most 0.

        Raises
        ------
        InputError
            A label was not fitted, or there are none.

        Warns
        -----
        AnnotationWarning
            Annotators were not fitted.
        """
        probabilities = self.predict_proba(X)
        labels = self._labels_beside(X, y, missing)
        require_labels(labels)
        onehot, logs = self._encode(labels, log_of_table(self._mixture()[1]), weigh=False)
        said = np.concatenate(list(log_scores(onehot, np.zeros(self.n_clusters_), logs)))
        return float(logsumexp(said + log_of_table(probabilities), axis=1).sum() / labels.n_rows)

    def _can_be_sparse(self) -> bool:
        return bool((make_consensus() if self.consensus is None else self.consensus)._can_be_sparse())

    def _depends_on_scale(self) -> bool:
        """No: the default classifier standardises features, and others are the user's choice."""
        return False

    def _check_parameters(self) -> None:
        super()._check_parameters()
        classifier, consensus = self.classifier, self.consensus
        learns = not isinstance(classifier, type) and all(
            hasattr(classifier, name) for name in ("fit", "predict_proba", "get_params")
        )
        if not (classifier is None or self.reads_probabilities or learns):
            raise InputError(
                f"The 'classifier' parameter of DawidSkeneClassifier must be {EXPECTED}. Got {show_value(classifier)} "
                "instead."
            )
        if consensus is not None and type(consensus) is not registry.estimator("DawidSkene"):
            raise InputError(
                "The 'consensus' parameter of DawidSkeneClassifier must be None or a DawidSkene. Got "
                f"{show_value(consensus)} instead."
            )
        if consensus is not None:
            consensus._check_parameters()

    def _contradictions(self) -> Iterator[str]:
        yield from super()._contradictions()
        alone = self.consensus_
        is_fitted = type(alone) is registry.estimator("DawidSkene") and hasattr(alone, "items_")
        if not is_fitted or not alone.items_.equals(self.items_) or alone.n_clusters_ != self.n_clusters_:
            yield "consensus_"
        if self._column_of_class is None and not predicts_codes(self.classifier_, self.n_clusters_):
            yield "classifier_"


def make_consensus() -> Any:
    """Dawid-Skene with its defaults; models do not import each other."""
    return registry.estimator("DawidSkene")()


def require_labels(labels: Labels) -> None:
    """Raise an InputError unless some item has a label."""
    if not labels.n_rows:
        raise InputError(f"DawidSkeneClassifier needs labels, and none of the {len(labels)} items has any.")
