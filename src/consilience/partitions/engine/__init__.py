"""Sums over parts, wherever they are, and the last finished sweep in a file."""
