"""Estimators that need only annotations: ``fit(annotations)``."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from consilience.consensus.groupings.cspa_estimator import CSPA
    from consilience.consensus.groupings.kcc_estimator import KCC
    from consilience.consensus.groupings.meta_clustering_estimator import MetaClustering
    from consilience.consensus.groupings.subset_fusion_estimator import SubsetFusion
    from consilience.consensus.labels.dawid_skene_estimator import DawidSkene
    from consilience.consensus.labels.majority_vote_estimator import MajorityVote
    from consilience.consensus.labels.ordinal_ratings_estimator import OrdinalRatings
    from consilience.consensus.labels.product_mixture_estimator import ProductMixture
    from consilience.consensus.labels.spectral_em_estimator import SpectralEM
    from consilience.consensus.labels.stagewise_em_estimator import StagewiseEM
    from consilience.consensus.labels.tag_consensus_estimator import TagConsensus
    from consilience.consensus.pairs.correlation_clustering_estimator import CorrelationClustering
    from consilience.consensus.pairs.crowdclustering_estimator import Crowdclustering

__all__ = [
    "CSPA",
    "KCC",
    "CorrelationClustering",
    "Crowdclustering",
    "DawidSkene",
    "MajorityVote",
    "MetaClustering",
    "OrdinalRatings",
    "ProductMixture",
    "SpectralEM",
    "StagewiseEM",
    "SubsetFusion",
    "TagConsensus",
]

_HOME = {
    "CSPA": "groupings.cspa_estimator",
    "KCC": "groupings.kcc_estimator",
    "MetaClustering": "groupings.meta_clustering_estimator",
    "SubsetFusion": "groupings.subset_fusion_estimator",
    "DawidSkene": "labels.dawid_skene_estimator",
    "MajorityVote": "labels.majority_vote_estimator",
    "OrdinalRatings": "labels.ordinal_ratings_estimator",
    "ProductMixture": "labels.product_mixture_estimator",
    "SpectralEM": "labels.spectral_em_estimator",
    "StagewiseEM": "labels.stagewise_em_estimator",
    "TagConsensus": "labels.tag_consensus_estimator",
    "CorrelationClustering": "pairs.correlation_clustering_estimator",
    "Crowdclustering": "pairs.crowdclustering_estimator",
}


def __getattr__(name: str) -> Any:
    """Import the model that is asked for, and no other."""
    if name not in _HOME:
        raise AttributeError(f"module 'consilience.consensus' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"consilience.consensus.{_HOME[name]}"), name)
    return value


__dir__ = __all__.copy
