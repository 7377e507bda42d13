"""Each model that partitions fit, in a file of its name."""
