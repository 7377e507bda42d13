"""What all partitions of a table hold together: names, numbers, samples."""
