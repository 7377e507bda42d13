"""Base classes of the estimators: reading, matching and checking of input, and fitted attributes."""
