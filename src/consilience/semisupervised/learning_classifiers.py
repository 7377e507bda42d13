"""Any scikit-learn classifier, fitted to soft targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter

from consilience.inference.clusters import most_probable
from consilience.inference.iterate import restarts
from consilience.semisupervised.cross_fitting import LearnAll, Predict, Rows
from consilience.semisupervised.item_prior import Probabilities

LEAST = 1e-3  # weight of a row that is learned
FOR_SOFT_TARGETS = 0.1  # inverse penalty: noisy targets bear less than certain ones

Features = Float[np.ndarray, "items features"]


def default_classifier(inverse_penalty: float = 1.0) -> Any:
    """Logistic regression on standardised features."""
    return make_pipeline(StandardScaler(), LogisticRegression(C=inverse_penalty, max_iter=1000))


@dataclass(frozen=True)
class FittedClassifier:
    """A classifier, and the features of all items.

    Called with items, it returns their probabilities.
    """

    classifier: Any
    features: Features
    n_classes: int

    def __call__(self, rows: Rows) -> Probabilities:
        return predict_classes(self.classifier, self.features[rows], self.n_classes)


def predict_classes(classifier: Any, features: Features, n_classes: int) -> Probabilities:
    """Return probabilities with a column for each class; 0 for classes that the classifier was not trained on."""
    found = np.zeros((len(features), n_classes))
    found[:, classifier.classes_] = classifier.predict_proba(features)
    return found


def learn_classifiers(classifier: Any, features: Features, n_jobs: int | None) -> LearnAll:
    """Return what fits copies of a classifier to the features of items and their targets, side by side."""

    def learn(rows: Rows, targets: Probabilities) -> Predict:
        fitted = fit_soft(clone(classifier), features[rows], targets)
        return FittedClassifier(fitted, features, targets.shape[1])

    return lambda tasks: restarts(learn, tasks, n_jobs=n_jobs, unit="classifiers")


def fit_soft(classifier: Any, features: Features, targets: Probabilities) -> Any:
    """Fit to a row for each item and class, weighted by the target; or to the most probable classes."""
    weights = name_of_weights(classifier)
    if weights is None:
        item, label = np.arange(len(targets)), most_probable(targets)
    else:
        item, label = np.nonzero(targets > LEAST)
    if len(np.unique(label)) < 2:  # most classifiers need two
        return DummyClassifier(strategy="most_frequent").fit(features[item], label)
    return classifier.fit(features[item], label, **({} if weights is None else {weights: targets[item, label]}))


def name_of_weights(classifier: Any) -> str | None:
    """Return the argument of `fit` that takes weights of rows.

    None if there is none, or if the classifier divides rows into folds itself: those of one item would be in several.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> name_of_weights(default_classifier()), name_of_weights(KNeighborsClassifier())
    ('logisticregression__sample_weight', None)
    """
    if isinstance(classifier, Pipeline):
        step, last = classifier.steps[-1]
        inner = name_of_weights(last)
        return None if inner is None else f"{step}__{inner}"
    divides = "cv" in classifier.get_params(deep=False)
    return "sample_weight" if has_fit_parameter(classifier, "sample_weight") and not divides else None


def predicts_codes(classifier: Any, n_clusters: int) -> bool:
    """Whether a fitted classifier gives numbers of clusters, or of classes."""
    classes = getattr(classifier, "classes_", None)
    if not (isinstance(classes, np.ndarray) and classes.ndim == 1 and classes.dtype.kind in "iu" and len(classes)):
        return False
    return 0 <= int(classes.min()) <= int(classes.max()) < n_clusters
