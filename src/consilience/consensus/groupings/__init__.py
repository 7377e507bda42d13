"""Consensus of groupings, whose group names have no meaning outside their grouping."""
