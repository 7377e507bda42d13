"""Simulation of annotations with known truth: for demonstrations, tests and the papers' experiments."""

from consilience.simulation.agents import CooccurrenceAgent, ReplayAgent
from consilience.simulation.clustering_agents import ClusteringAgent, ClusteringPopulation
from consilience.simulation.clusters import gaussian_clusters
from consilience.simulation.experts import simulate_crowd, simulate_experts
from consilience.simulation.features import simulate_labels_with_features
from consilience.simulation.labels import noisy_crowd, simulate_copies, simulate_labels, sparse_crowd
from consilience.simulation.map_population import MapPopulation
from consilience.simulation.pairs import simulate_pairs
from consilience.simulation.presenting import complete, present, random_subsets
from consilience.simulation.ratings import simulate_ratings
from consilience.simulation.tags import simulate_tags

__all__ = [
    "ClusteringAgent",
    "ClusteringPopulation",
    "CooccurrenceAgent",
    "MapPopulation",
    "ReplayAgent",
    "complete",
    "gaussian_clusters",
    "noisy_crowd",
    "present",
    "random_subsets",
    "simulate_copies",
    "simulate_crowd",
    "simulate_experts",
    "simulate_labels",
    "simulate_labels_with_features",
    "simulate_pairs",
    "simulate_ratings",
    "simulate_tags",
    "sparse_crowd",
]

__dir__ = __all__.copy
