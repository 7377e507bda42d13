"""Generators of annotations whose truth is known: for demonstrations, tests and the papers' experiments."""

from consilience.simulation.experts import simulate_crowd, simulate_experts
from consilience.simulation.labels import simulate_labels, sparse_crowd

__all__ = ["simulate_crowd", "simulate_experts", "simulate_labels", "sparse_crowd"]
