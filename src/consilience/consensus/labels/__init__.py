"""Consensus of labels, whose names all annotators share."""
