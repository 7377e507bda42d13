"""Data sets with features, with real annotations, or both, as scikit-learn Bunches.

Data sets bundled with scikit-learn load anywhere. All others are read from the folder named by the environment variable
CONSILIENCE_DATA; if a file is missing, a `MissingDataError` names it and the source of the data.
"""

from consilience.datasets.cardsorts import load_cardsort_animals, load_cardsort_greek_sites
from consilience.datasets.catalogue import list_datasets, load_dataset
from consilience.datasets.crowds import (
    load_cifar10h,
    load_crowd_labels,
    load_dogs_birds,
    load_mnist_crowd,
    load_orchestra,
)
from consilience.datasets.features import load_cmu_faces, load_digits, load_faces, load_iris, load_uci, load_wine
from consilience.datasets.freesorts import load_free_sort
from consilience.datasets.tutorial import write_tutorial_tables

__all__ = [
    "list_datasets",
    "load_cardsort_animals",
    "load_cardsort_greek_sites",
    "load_cifar10h",
    "load_cmu_faces",
    "load_crowd_labels",
    "load_dataset",
    "load_digits",
    "load_dogs_birds",
    "load_faces",
    "load_free_sort",
    "load_iris",
    "load_mnist_crowd",
    "load_orchestra",
    "load_uci",
    "load_wine",
    "write_tutorial_tables",
]

__dir__ = __all__.copy
