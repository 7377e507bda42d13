"""The difference of two studies of the same items."""
