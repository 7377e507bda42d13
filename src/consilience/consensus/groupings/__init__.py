"""Consensus of groupings, whose groups have names of their own in each."""
