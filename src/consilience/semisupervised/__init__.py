"""Models that take features and annotations: ``fit(X, annotations)``."""

from consilience.semisupervised.dawid_skene_classifier_estimator import DawidSkeneClassifier
from consilience.semisupervised.inductive_consensus_estimator import InductiveConsensus
from consilience.semisupervised.itml_estimator import ITMLClustering
from consilience.semisupervised.mcvc_estimator import MCVC, MECC
from consilience.semisupervised.mpckmeans_estimator import MPCKMeans
from consilience.semisupervised.partition_label_model_estimator import PartitionLabelModel
from consilience.semisupervised.semicrowd_estimator import SemiCrowd

__all__ = [
    "MCVC",
    "MECC",
    "DawidSkeneClassifier",
    "ITMLClustering",
    "InductiveConsensus",
    "MPCKMeans",
    "PartitionLabelModel",
    "SemiCrowd",
]

__dir__ = __all__.copy
