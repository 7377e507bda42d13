"""Consensus of judgements of pairs, same or different."""
