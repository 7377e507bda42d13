"""Collecting groupings in the browser."""
