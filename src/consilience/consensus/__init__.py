"""Estimators that need only what people said: ``fit(annotations)``."""

from consilience.consensus.crowdclustering import Crowdclustering
from consilience.consensus.cspa import CSPA
from consilience.consensus.dawid_skene import DawidSkene
from consilience.consensus.kcc import KCC
from consilience.consensus.majority_vote import MajorityVote
from consilience.consensus.meta_clustering import MetaClustering
from consilience.consensus.product_mixture import ProductMixture
from consilience.consensus.spectral_em import SpectralEM
from consilience.consensus.stagewise_em import StagewiseEM
from consilience.consensus.subset_fusion import SubsetFusion

__all__ = [
    "CSPA",
    "KCC",
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
