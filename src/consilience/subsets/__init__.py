"""Items that are too many to cluster at once: subsets of them are clustered, and their groupings are fused."""

from consilience.subsets.subset_clustering_estimator import SubsetClustering

__all__ = ["SubsetClustering"]

__dir__ = __all__.copy
