"""The default model of ``consilience fit``, and how the number of clusters is passed to a model.

Nothing here imports NumPy or a model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from inspect import signature
from typing import Any

from consilience import registry
from consilience.errors import InputError


@dataclass(frozen=True)
class Choice:
    """A model, and the reason for it as the end of a sentence "Chose …, since …"."""

    model: str
    why: str


CHOICES = {  # by the kind of the annotations, and whether there are features
    ("groupings", True): Choice("PartitionLabelModel", "the file holds groupings, and there are features"),
    ("groupings", False): Choice("SubsetFusion", "the file holds groupings, and there are no features"),
    ("labels", True): Choice(
        "DawidSkeneClassifier", "the file holds labels, whose names all annotators share, and there are features"
    ),
    ("labels", False): Choice("DawidSkene", "the file holds labels, whose names all annotators share"),
    ("ratings", True): Choice("OrdinalRatings", "the file holds ratings, whose levels have an order"),
    ("ratings", False): Choice("OrdinalRatings", "the file holds ratings, whose levels have an order"),
    ("tags", True): Choice("TagConsensus", "the file holds tags, of which an item may have several"),
    ("tags", False): Choice("TagConsensus", "the file holds tags, of which an item may have several"),
    ("pairs", True): Choice("MECC", "the file holds judgements of pairs, and there are features"),
    ("pairs", False): Choice("CorrelationClustering", "the file holds judgements of pairs, and there are no features"),
}


def choose(kind: str, *, features: bool) -> Choice:
    """Return the default model for a kind of annotations, with or without features.

    Examples
    --------
    >>> choose("groupings", features=False).model
    'SubsetFusion'
    """
    return CHOICES[kind, features]


def reason_for(choice: Choice) -> str:
    """Say in one line which model was chosen, and how to choose another.

    Examples
    --------
    >>> reason_for(choose("pairs", features=True))[:76]
    'Chose MECC, since the file holds judgements of pairs, and there are features'
    """
    from consilience.annotations.keywords import spell  # not at the top, so that --help is quick

    other = f"Use {spell(model=None)} for another; 'consilience compare' compares them."
    return f"Chose {choice.model}, since {choice.why}. {other}"


def with_clusters(model: str, settings: Mapping[str, Any], clusters: int | str | None) -> dict[str, Any]:
    """Return the settings of a model with the number of clusters that was asked for.

    Raises InputError: the model takes no number, does not find it, or it is also among the settings.
    """
    if clusters is None:
        return dict(settings)
    from consilience.annotations.keywords import spell  # not at the top, so that --help is quick

    known = registry.entry(model)
    if known.clusters is not None and known.clusters in settings:
        both = f"{spell(clusters=None)} and {spell(settings={known.clusters: ...})}"
        raise InputError(f"{both} are the same; give one of them.")
    if clusters == "auto":
        if known.finds_clusters:
            return dict(settings)
        raise InputError(f"{model} does not find the number of clusters. {_instead(known)}")
    if known.clusters is None:
        raise InputError(f"{model} does not take a number of clusters. {_instead(known, clusters)}")
    return dict(settings) | {known.clusters: clusters}


def _instead(known: registry.Entry, clusters: Any = ...) -> str:
    """Say what to do if a model does not take, or does not find, a number of clusters."""
    from consilience.annotations.keywords import spell  # not at the top, so that --help is quick

    if known.clusters is None and known.reads == ("labels",):
        number = spell(model="ProductMixture", clusters=clusters)
        return f"Its classes are those of the labels; {number} takes any number."
    if known.reads == ("labels",):
        return f"Without {spell(clusters=None)}, there are as many classes as names of labels."
    if known.clusters is None:
        return "Its number of clusters is that of its consensus model."
    return f"Give {spell(clusters=...)}, or let 'consilience compare' try several ({spell(clusters=(2, 8))})."


def make_estimator(name: str, settings: Mapping[str, Any]) -> Any:
    """Make an estimator of the registry, with progress shown.

    Raises InputError: there is no such estimator, or it has no such parameter.
    """
    made = registry.estimator(name)
    if registry.entry(name).module == "consilience.deep":
        from consilience.deep.compilation import keep_compiled

        keep_compiled()  # each command is a process of its own
    known = signature(made).parameters
    for key in settings:
        if key not in known:
            near = get_close_matches(key, known, n=1, cutoff=0.5)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            has = ", ".join(known) or "none"
            raise InputError(f"{name} has no parameter {key!r}; it has {has}.{hint}")
    usual = {"verbose": True, "random_state": 0}
    return made(**{key: value for key, value in usual.items() if key in known} | dict(settings))
