"""The base of the estimators that need groupings alone: groupings brought in, clusters read off."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from scipy.sparse import issparse

from consilience.annotations import Groupings, Labels, Pairs
from consilience.annotations.files.reading import in_long_frame
from consilience.base import as_groupings
from consilience.consensus_estimator import ConsensusEstimator, one_blas_thread
from consilience.errors import InputError


class GroupingConsensus(ConsensusEstimator):
    """What the estimators of clusters from groupings share: ``fit(groupings)``.

    A subclass implements `_fuse`, which reads `Groupings` and returns the fitted estimator.
    """

    def fit(self, annotations: Any, y: Any = None) -> Any:
        """Fit the model.

        Parameters
        ----------
        annotations : Groupings, Labels, DataFrame or array of shape (n_items, n_annotators)
            Groupings; a long table of item, annotator and / or grouping, group; or a matrix of group names, in which
            NaN and None mean that the annotator left the item out.
        y : ignored

        Returns
        -------
        fitted estimator

        Raises
        ------
        InputError
            Annotations that hold no groupings, or a wrong parameter.
        """
        self._check_parameters()
        groupings = self._read_groupings(annotations, reset=True)
        with one_blas_thread():
            return self._fuse(groupings)

    @abstractmethod
    def _fuse(self, groupings: Groupings) -> Any:
        """Fit to groupings that hold at least one item."""

    def _read_groupings(self, annotations: Any, *, reset: bool) -> Groupings:
        model = type(self).__name__
        if reset:
            self._forget_columns()
        annotations = in_long_frame(annotations)
        if issparse(annotations):
            raise InputError(f"{model} reads matrices of group names that are not sparse. Got a sparse one.")
        elif annotations is not None and not isinstance(annotations, Groupings | Labels | Pairs):
            self._require_matrix(annotations, reset=reset)
        groupings = as_groupings(annotations, None, model)
        if not groupings.n_rows:
            raise InputError(f"{model} needs groupings, and none of the {len(groupings)} items is in any.")
        return groupings
