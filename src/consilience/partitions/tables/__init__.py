"""Tables in partitions, each read on its own: labels, and items with features."""
