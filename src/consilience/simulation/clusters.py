"""Items in Gaussian clusters: the task of clustering agents.

Source: Veeramachaneni & O'Reilly, Clustering using subset groupings, section 6.

Decided here
------------
- The paper sets "the standard deviations for each dimension such that no two clusters are closer than τ (σ_i + σ_j)/2",
  which bounds them without determining them, and does not specify the distribution of the centres or the sizes. Here
  centres are standard normal, a cluster has the same width in all dimensions, and σ_i is the distance to the nearest
  other centre divided by τ. As that distance is no larger than the one to any other centre, each pair keeps the bound;
  for a pair of mutual nearest neighbours it is tight.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.spatial.distance import pdist, squareform
from sklearn.utils import Bunch

from consilience.annotations.types import RandomSource
from consilience.datasets._bunch import DataBunch
from consilience.errors import InputError
from consilience.estimators.parameters import is_number
from consilience.simulation._checks import generator, require_count, require_size

__all__ = ["gaussian_clusters"]


def gaussian_clusters(
    n_items: int,
    *,
    n_clusters: int = 10,
    n_features: int = 8,
    separation: int | float = 5.0,
    random_state: RandomSource = None,
) -> Bunch:
    """Generate items in Gaussian clusters of given separation: the paper's task for clustering agents.

    Centres are standard normal. The standard deviation of a cluster, the same in all dimensions, is the distance to
    the nearest other centre divided by `separation`, so that no two centres are closer than
    separation * (σ_i + σ_j) / 2.

    Parameters
    ----------
    n_items : int
        At least n_clusters.
    n_clusters : int, default=10
        At least 2. Sizes of clusters differ by at most one item; items are assigned at random.
    n_features : int, default=8
    separation : float, default=5.0
        The paper's τ, above 0: from 0.1, where clusters cannot be distinguished, to 20.
    random_state : int, RandomState, Generator or None
        Source of the randomness; an int gives the same data each time.

    Returns
    -------
    Bunch
        `data` (DataFrame, items 0 to n_items - 1), `target` (n_items,) true clusters, `centres`
        (n_clusters, n_features), `deviations` (n_clusters,).

    Raises
    ------
    InputError
        A parameter is out of range.

    References
    ----------
    Veeramachaneni & O'Reilly. Clustering using subset groupings. Section 6.

    Examples
    --------
    >>> from consilience.simulation import gaussian_clusters
    >>> task = gaussian_clusters(100, separation=5, random_state=0)
    >>> task.data.shape, task.target[:5].tolist()
    ((100, 8), [1, 9, 6, 7, 1])
    """
    require_count("n_items", n_items, "gaussian_clusters")
    require_count("n_clusters", n_clusters, "gaussian_clusters", at_most=n_items)
    require_count("n_features", n_features, "gaussian_clusters")
    require_size(n_items, n_features, "numbers", "gaussian_clusters")
    if n_clusters < 2:
        raise InputError("The 'n_clusters' parameter of gaussian_clusters must be at least 2. Got 1 instead.")
    if not is_number(separation):
        raise InputError(
            f"The 'separation' parameter of gaussian_clusters must be a positive number. Got {separation!r} instead."
        )
    rng = generator(random_state)
    centres = rng.standard_normal((n_clusters, n_features))
    distances = squareform(pdist(centres))
    np.fill_diagonal(distances, np.inf)
    deviations = distances.min(axis=1) / separation
    target = rng.permutation(np.arange(n_items) % n_clusters)
    values = centres[target] + deviations[target, None] * rng.standard_normal((n_items, n_features))
    data = pd.DataFrame(values, columns=[f"feature {j}" for j in range(1, n_features + 1)])
    return DataBunch(data=data, target=target, centres=centres, deviations=deviations)
