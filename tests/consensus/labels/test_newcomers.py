"""Labels of annotators who were not fitted: taken to be like the crowd, with a warning."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from consilience import Labels
from consilience.consensus import DawidSkene, MajorityVote, ProductMixture, SpectralEM, StagewiseEM
from consilience.errors import AnnotationWarning
from consilience.simulation import simulate_labels

TRUE = np.random.default_rng(0).integers(3, size=300)
LABELS = simulate_labels(TRUE, n_annotators=12, accuracy=0.7, random_state=0)
MODELS = {
    "full": DawidSkene(calibrate=False),
    "one-coin": DawidSkene("one-coin", calibrate=False),
    "maximum likelihood": DawidSkene(prior=None, calibrate=False),
    "MajorityVote": MajorityVote(),
    "ProductMixture": ProductMixture(),
    "SpectralEM": SpectralEM(n_init=1, n_starts=20, random_state=0),
    "StagewiseEM": StagewiseEM(),
}
NEW = pd.DataFrame({"item": ["p", "p", "q"], "annotator": ["Zoe", "Yan", "Zoe"], "label": [1, 1, 2]})
WHO = "2 annotators were not fitted and are taken to be like the crowd: 'Zoe', 'Yan'."


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
def test_newcomers_are_like_the_crowd(model):
    fitted = type(model)(**model.get_params()).fit(LABELS)
    with pytest.warns(AnnotationWarning, match=f"^{type(model).__name__}: {WHO}$"):
        assert fitted.predict(NEW).tolist() == [1, 2]
    with pytest.warns(AnnotationWarning, match="taken to be like the crowd"):
        found = fitted.predict_proba(NEW)
    matrix = fitted._of_newcomer()
    np.testing.assert_allclose(matrix.sum(1), 1)
    assert (matrix.argmax(1) == np.arange(3)).all()
    if type(model).__name__ != "MajorityVote":
        expected = np.exp(fitted._log_weights) * [matrix[:, 1] ** 2, matrix[:, 2]]
        np.testing.assert_allclose(found, expected / expected.sum(1, keepdims=True))
    with pytest.warns(AnnotationWarning, match="taken to be like the crowd"):
        assert np.isfinite(fitted.score(NEW))


def test_the_newcomer_is_the_mean_of_the_learned_prior():
    alike = simulate_labels(TRUE, n_annotators=40, accuracy=0.7, random_state=1)
    for confusion in ("full", "one-coin"):
        matrix = DawidSkene(confusion).fit(alike)._of_newcomer()
        np.testing.assert_allclose(np.diag(matrix), 0.7, atol=0.04)
        np.testing.assert_allclose(matrix[~np.eye(3, dtype=bool)], 0.15, atol=0.04)


def test_known_annotators_are_read_as_before():
    """A newcomer's label changes only the items that have it."""
    fitted = DawidSkene().fit(LABELS)
    extra = Labels.from_frame(
        pd.concat([LABELS.to_frame(), pd.DataFrame({"item": [5], "annotator": "Zoe", "label": 1})])
    )
    with pytest.warns(AnnotationWarning, match=r"^DawidSkene: 1 annotator was not fitted and is taken .*: 'Zoe'\.$"):
        found = fitted.predict_proba(extra)
    same = np.arange(300) != 5
    np.testing.assert_allclose(found[same], fitted.predict_proba(LABELS)[same])


def test_annotators_without_labels_are_not_named():
    fitted = MajorityVote().fit(LABELS)
    silent = replace(LABELS, annotators=LABELS.annotators.append(pd.Index(["Zoe"])))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted.predict(silent)


def test_without_a_prior_a_newcomer_takes_the_mean_of_the_crowd_weighted_by_labels():
    frame = LABELS.to_frame()
    fitted = DawidSkene(prior=None).fit(frame[(frame["annotator"] != frame["annotator"].iloc[0]) | (frame.index < 400)])
    n_labels = fitted.annotators_["n_labels"].to_numpy()
    assert len(set(n_labels)) > 1
    matrices = fitted.confusion_matrices_.to_numpy().reshape(len(n_labels), 3, 3)
    mean = np.einsum("a,ajk->jk", n_labels / n_labels.sum(), matrices)
    np.testing.assert_allclose(fitted._of_newcomer(), mean)
    assert np.abs(mean - matrices.mean(axis=0)).max() > 1e-3
