"""Estimators that need only annotations: ``fit(annotations)``."""

from consilience.consensus.groupings.cspa_estimator import CSPA
from consilience.consensus.groupings.kcc_estimator import KCC
from consilience.consensus.groupings.meta_clustering_estimator import MetaClustering
from consilience.consensus.groupings.subset_fusion_estimator import SubsetFusion
from consilience.consensus.labels.dawid_skene_estimator import DawidSkene
from consilience.consensus.labels.majority_vote_estimator import MajorityVote
from consilience.consensus.labels.product_mixture_estimator import ProductMixture
from consilience.consensus.labels.spectral_em_estimator import SpectralEM
from consilience.consensus.labels.stagewise_em_estimator import StagewiseEM
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
    "ProductMixture",
    "SpectralEM",
    "StagewiseEM",
    "SubsetFusion",
]


def __dir__() -> list[str]:
    return sorted(__all__)
