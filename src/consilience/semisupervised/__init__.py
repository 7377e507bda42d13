"""Models that take features and annotations: ``fit(X, annotations)``."""

from consilience.semisupervised.partition_label_model import PartitionLabelModel

__all__ = ["PartitionLabelModel"]
