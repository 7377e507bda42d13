"""The version of the package, which everything else may import."""

__version__ = "0.1.0"
