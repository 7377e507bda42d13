"""Models that take features and annotations: ``fit(X, annotations)``."""

from consilience.semisupervised.inductive_consensus import InductiveConsensus
from consilience.semisupervised.itml import ITMLClustering
from consilience.semisupervised.mcvc import MCVC, MECC
from consilience.semisupervised.mpckmeans import MPCKMeans
from consilience.semisupervised.partition_label_model import PartitionLabelModel
from consilience.semisupervised.semicrowd import SemiCrowd

__all__ = [
    "MCVC",
    "MECC",
    "ITMLClustering",
    "InductiveConsensus",
    "MPCKMeans",
    "PartitionLabelModel",
    "SemiCrowd",
]


def __dir__() -> list[str]:
    return sorted(__all__)
