"""What a study consists of, how it is run, and what is allowed: no storage, no web."""
