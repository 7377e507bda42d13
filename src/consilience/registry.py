"""Registry of all estimators by name, without importing them.

The command line, saved models and the tests of all estimators use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Literal

from consilience.errors import InputError

__all__ = ["ESTIMATORS", "Entry", "entry", "estimator"]

__dir__ = __all__.copy


AnnotationKind = Literal["groupings", "pairs", "labels"]


@dataclass(frozen=True)
class Entry:
    """Facts about an estimator that are known without importing it.

    Attributes
    ----------
    name : str
        Name of the class.
    module : str
        Module from which it is imported.
    reads : tuple of {"groupings", "pairs", "labels"}
        Annotations that `fit` takes; the first kind is the native one, to which the others are converted.
    description : str
        One line.
    clusters : str or None
        Parameter that sets the number of clusters (of each view, or of components), or the largest number if clusters
        without items are dropped; None if there is no such parameter.
    max_clusters : str or None
        Parameter that bounds the number of clusters to be found.
    finds_clusters : bool
        Whether the number of clusters is found, up to a bound, unless it is set.
    over_partitions : mapping or None
        Parameters with which `consilience.partitions.fit` fits it, where a default needs all items at once; None if it
        does not fit it.
    """

    name: str
    module: str
    reads: tuple[AnnotationKind, ...]
    description: str
    clusters: str | None = None
    max_clusters: str | None = None
    finds_clusters: bool = False
    over_partitions: Mapping[str, Any] | None = None

    @property
    def kind(self) -> Literal["semisupervised", "consensus"]:
        """Whether `fit` takes features and annotations, or annotations alone."""
        return "consensus" if self.module == "consilience.consensus" else "semisupervised"

    def load(self) -> type[Any]:
        """Import the class.

        Returns
        -------
        type
        """
        found: type[Any] = getattr(import_module(self.module), self.name)
        return found


ESTIMATORS: dict[str, Entry] = {
    known.name: known
    for known in [
        Entry(
            name="PartitionLabelModel",
            module="consilience.semisupervised",
            reads=("groupings", "labels"),
            description="Clusters that explain partition labels and can be separated by the features; finds their "
            "number, and which clusters each annotator's labels mean.",
            clusters="n_clusters",
            max_clusters="max_clusters",
            finds_clusters=True,
            over_partitions={"copies": None},
        ),
        Entry(
            name="MajorityVote",
            module="consilience.consensus",
            reads=("labels",),
            description="The class that most annotators gave each item; all votes count equally.",
        ),
        Entry(
            name="DawidSkene",
            module="consilience.consensus",
            reads=("labels",),
            description="Class of each item and confusion matrix of each annotator, with a prior learned from the "
            "crowd; takes known classes and earlier counts.",
            over_partitions={"subtypes": 1},
        ),
        Entry(
            name="OrdinalRatings",
            module="consilience.consensus",
            reads=("labels",),
            description="Level of each item from ratings, such as 1 to 5, by raters who each have a bias, a slope, a "
            "noise and lapses; the mean where they cannot be told.",
            over_partitions={},
        ),
        Entry(
            name="TagConsensus",
            module="consilience.consensus",
            reads=("labels",),
            description="Tags of each item, where annotators may give it several or none, by annotators who miss some "
            "and invent others, alike for all tags as far as they are.",
        ),
        Entry(
            name="ProductMixture",
            module="consilience.consensus",
            reads=("labels",),
            description="Mixture with a number of components that may differ from the number of classes; within a "
            "component, annotators label independently.",
            clusters="n_clusters",
            over_partitions={},
        ),
        Entry(
            name="SpectralEM",
            module="consilience.consensus",
            reads=("labels",),
            description="Confusion matrices from the moments of three groups of annotators, then EM: a start that does "
            "not depend on the votes.",
        ),
        Entry(
            name="StagewiseEM",
            module="consilience.consensus",
            reads=("labels",),
            description="Finds the informative annotators among many who label at random, and the classes that they "
            "distinguish.",
            clusters="n_clusters",
            over_partitions={},
        ),
        Entry(
            name="SubsetFusion",
            module="consilience.consensus",
            reads=("groupings", "labels"),
            description="One clustering from many groupings of small subsets; finds the number of clusters, and which "
            "annotators sort consistently.",
            clusters="n_clusters",
            max_clusters="max_clusters",
            finds_clusters=True,
            over_partitions={"copies": None},
        ),
        Entry(
            name="MCVC",
            module="consilience.semisupervised",
            reads=("pairs", "groupings", "labels"),
            description="Several clusterings of the same items, each predicted from the features and held by some "
            "of the annotators; finds how many, and who holds which.",
            clusters="n_clusters",
            finds_clusters=True,
            over_partitions={},
        ),
        Entry(
            name="MECC",
            module="consilience.semisupervised",
            reads=("pairs", "groupings", "labels"),
            description="One clustering predicted from the features, of which annotators judge pairs, each with their "
            "own reliability.",
            clusters="n_clusters",
            finds_clusters=True,
            over_partitions={},
        ),
        Entry(
            name="MPCKMeans",
            module="consilience.semisupervised",
            reads=("pairs", "groupings", "labels"),
            description="k-means that respects judgements of pairs and learns a metric; tolerates contradictions.",
            clusters="n_clusters",
        ),
        Entry(
            name="ITMLClustering",
            module="consilience.semisupervised",
            reads=("pairs", "groupings", "labels"),
            description="k-means in a metric that brings items judged the same together and moves others apart.",
            clusters="n_clusters",
        ),
        Entry(
            name="SemiCrowd",
            module="consilience.semisupervised",
            reads=("groupings", "labels", "pairs"),
            description="Completes the matrix of agreement on pairs, and learns a metric that predicts it.",
            clusters="n_clusters",
        ),
        Entry(
            name="DawidSkeneClassifier",
            module="consilience.semisupervised",
            reads=("labels",),
            description="DawidSkene with a classifier: features take part in the classes of labelled items, and "
            "predict those of others.",
        ),
        Entry(
            name="InductiveConsensus",
            module="consilience.semisupervised",
            reads=("groupings", "labels"),
            description="Any consensus model, then any classifier on the features, for items that nobody annotated.",
        ),
        Entry(
            name="BayesSCDC",
            module="consilience.deep",
            reads=("groupings", "pairs", "labels"),
            description="Clusters of images and other rich data in a latent space that a network decodes, from few "
            "annotated items or none; finds the number of clusters.",
            clusters="n_clusters",
            finds_clusters=True,
        ),
        Entry(
            name="SCDC",
            module="consilience.deep",
            reads=("pairs", "groupings", "labels"),
            description="Predecessor of BayesSCDC: point estimates, a classifying network, slower with more clusters.",
            clusters="n_clusters",
        ),
        Entry(
            name="DeepMCVC",
            module="consilience.deep",
            reads=("pairs", "groupings", "labels"),
            description="MCVC with networks instead of linear boundaries between the clusters.",
            clusters="n_clusters",
            finds_clusters=True,
        ),
        Entry(
            name="CorrelationClustering",
            module="consilience.consensus",
            reads=("pairs", "groupings", "labels"),
            description="Clusters from judgements of pairs alone, few large ones or hundreds of small ones; weights "
            "annotators by their sensitivity and specificity; finds the number of clusters.",
            clusters="n_clusters",
            finds_clusters=True,
        ),
        Entry(
            name="Crowdclustering",
            module="consilience.consensus",
            reads=("pairs", "groupings", "labels"),
            description="Clusters from judgements of pairs alone, by annotators who each see the items in their own "
            "way; finds the number of clusters.",
            clusters="n_clusters",
            max_clusters="max_clusters",
            finds_clusters=True,
        ),
        Entry(
            name="KCC",
            module="consilience.consensus",
            reads=("groupings", "labels"),
            description="Clusters most similar to all groupings together, by k-means on the memberships; places new "
            "items by known groups.",
            clusters="n_clusters",
            over_partitions={},
        ),
        Entry(
            name="CSPA",
            module="consilience.consensus",
            reads=("groupings", "labels"),
            description="Clusters of items that are often put together, relative to how often they were seen together; "
            "the plain baseline for groupings.",
            clusters="n_clusters",
            max_clusters="max_clusters",
            finds_clusters=True,
        ),
        Entry(
            name="MetaClustering",
            module="consilience.consensus",
            reads=("groupings", "labels"),
            description="Several clusterings, one for each set of annotators who group alike; finds how many.",
            clusters="n_clusters",
            max_clusters="max_clusters",
            finds_clusters=True,
        ),
    ]
}


def entry(name: str) -> Entry:
    """Return the registry entry of an estimator.

    Parameters
    ----------
    name : str
        Name of its class.

    Returns
    -------
    Entry
        What is known of the estimator without importing it.

    Raises
    ------
    InputError
        There is no estimator with this name; the message lists all names.

    Examples
    --------
    >>> from consilience import registry
    >>> registry.entry("PartitionLabelModel").reads
    ('groupings', 'labels')
    """
    if name not in ESTIMATORS:
        near = get_close_matches(name, ESTIMATORS, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise InputError(f"There is no model {name!r}; choose one of {', '.join(ESTIMATORS)}.{hint}")
    return ESTIMATORS[name]


def estimator(name: str) -> type[Any]:
    """Import an estimator.

    Parameters
    ----------
    name : str
        Name of its class.

    Returns
    -------
    type
        The class.

    Raises
    ------
    InputError
        There is no estimator with this name.

    Examples
    --------
    >>> from consilience import registry
    >>> registry.estimator("PartitionLabelModel")(max_clusters=5)
    PartitionLabelModel(max_clusters=5)
    """
    return entry(name).load()
