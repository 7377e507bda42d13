"""Generators of annotations whose truth is known: for demonstrations, tests and the papers' experiments."""

from consilience.simulation.experts import simulate_crowd, simulate_experts

__all__ = ["simulate_crowd", "simulate_experts"]
