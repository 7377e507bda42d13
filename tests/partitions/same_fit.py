"""Fits of labels to partitions and in memory, compared in all that has no axis of items, and in results of items."""

import warnings

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from consilience.errors import AnnotationWarning
from consilience.partitions import PartitionedTable, fit, item_results
from tests.partitions import made


def assert_same_fit(model, frames, *, arrays=(), tables=(), tolerance=1e-6, **fit_arguments):
    """Fit both ways; `arrays` and `tables` are attributes that are compared besides those of all models."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnnotationWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        here = clone(model).fit(made.whole(frames))
        there = fit(clone(model), PartitionedTable(frames), **fit_arguments)
        results = pd.concat(item_results(there, PartitionedTable(frames))).set_index("item").loc[here.items_]
    close = {"rtol": tolerance, "atol": tolerance}
    assert (here.n_iter_, here.converged_, here.n_clusters_) == (there.n_iter_, there.converged_, there.n_clusters_)
    assert here.classes_.tolist() == there.classes_.tolist()
    for name in ("lower_bounds_", *arrays):
        np.testing.assert_allclose(getattr(here, name), getattr(there, name), err_msg=name, **close)
    for name in ("annotators_", "confusion_matrices_", *tables):
        pd.testing.assert_frame_equal(getattr(here, name), getattr(there, name), check_index_type=False, **close)
    known = ~pd.isna(here.labels_)
    assert known.tolist() == results["label"].notna().tolist()
    assert here.labels_[known].tolist() == results["label"][known].tolist()
    np.testing.assert_allclose(here.responsibilities_.max(1)[known], results["probability"][known], **close)
    return here, there
