"""Presentation of subsets of the items to agents, and their answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from consilience.annotations import Groupings
from consilience.annotations.names import is_default, unique_names
from consilience.annotations.types import RandomSource
from consilience.errors import InputError
from consilience.simulation._checks import generator, require_count, require_size
from consilience.simulation.agents import Agent, require_distinct

__all__ = ["complete", "present", "random_subsets"]


def present(
    agent: Agent | Sequence[Any],
    subsets: Iterable[Iterable[Any]],
    *,
    items: Iterable[Any],
    annotators: Iterable[Any] | None = None,
) -> Groupings:
    """Show subsets to agents, and collect their answers.

    Parameters
    ----------
    agent : callable ``items -> groups``, or a list of these
        See `consilience.simulation.agents`. Agents of a list take turns: the first subset goes to the first.
    subsets : iterable of iterables of names
    items : iterable of names
        All items in order, also those in no subset.
    annotators : iterable of names, optional
        A name for each agent of a list, by default "agent 1", "agent 2", ...; with a single agent a name for each
        answer, by default "answer 1", "answer 2", ..., as answers of an agent need not be consistent. Repeat one name
        if they are.

    Returns
    -------
    Groupings
        One grouping per subset. Items that an agent left out are missing; groups without items are dropped.

    Raises
    ------
    InputError
        A subset is empty or holds an item twice or one that is not in `items`; an answer is not a list of groups, or
        holds an item twice or one that is not in the subset; the number of `annotators` does not fit.

    Examples
    --------
    >>> from consilience.simulation import present
    >>> def careful(items):
    ...     return [[item for item in items if item < 10], [item for item in items if item >= 10]]
    >>> def careless(items):
    ...     return [items[:2]]
    >>> present([careful, careless], [[1, 2, 30], [4, 50, 60], [1, 40, 60]], items=[1, 2, 4, 30, 40, 50, 60]).to_frame()
       item annotator  grouping  group
    0     1   agent 1         0      0
    1     1   agent 1         2      0
    2     2   agent 1         0      0
    3     4   agent 2         1      0
    4    30   agent 1         0      1
    5    40   agent 1         2      1
    6    50   agent 2         1      0
    7    60   agent 1         2      1
    """
    names = unique_names(items, "items")
    presented = _checked_subsets(subsets, set(names))
    agents = [agent] if callable(agent) else list(agent)
    if not agents or not all(callable(each) for each in agents):
        raise InputError("The 'agent' parameter of present must be a callable, or a list of at least one callable.")
    what, n = ("answer", len(presented)) if callable(agent) else ("agent", len(agents))
    whose = [f"{what} {k}" for k in range(1, n + 1)] if annotators is None else list(annotators)
    if len(whose) != n:
        raise InputError(
            f"The 'annotators' parameter of present must have a name for each {what}, {n} in total. Got {len(whose)}."
        )
    answers = []
    for number, subset in enumerate(presented):
        turn = number % len(agents)
        name = "the agent" if callable(agent) else f"agent {turn + 1}"
        subject = f"The answer of {name} to subset {number + 1}"
        answers.append(_checked_answer(agents[turn](list(subset)), subset, subject))
    each = [whose[k % n] for k in range(len(presented))]
    return Groupings.from_lists(answers, annotators=each, items=range(len(names)) if is_default(names) else names)


def complete(agent: Agent | Sequence[Any], items: Iterable[Any], n_presentations: int) -> Groupings:
    """Show all items to agents in each presentation.

    Parameters
    ----------
    agent : callable ``items -> groups``, or a list of these
        As for `present`.
    items : iterable of names
    n_presentations : int

    Returns
    -------
    Groupings
        One grouping per presentation; annotators are named as by `present`.

    Raises
    ------
    InputError
        As for `present`, or `n_presentations` is not a positive int.

    References
    ----------
    Veeramachaneni & O'Reilly. Clustering using subset groupings. Section 6, "Complete".

    Examples
    --------
    >>> from consilience.simulation import ClusteringPopulation, complete, gaussian_clusters
    >>> task = gaussian_clusters(100, random_state=0)
    >>> complete(ClusteringPopulation(task.data, random_state=0), task.data.index, 5).summary().coverage
    1.0
    """
    require_count("n_presentations", n_presentations, "complete")
    names = list(items)
    return present(agent, [names] * n_presentations, items=names)


def random_subsets(
    items: Iterable[Any], size: int, n_subsets: int, *, random_state: RandomSource = None
) -> list[list[Any]]:
    """Draw random subsets, independently of each other: an item can be in many of them or in none.

    Parameters
    ----------
    items : iterable of names
    size : int
        Number of items in each subset, at most the number of items.
    n_subsets : int
    random_state : int, RandomState, Generator or None
        Source of the randomness; an int gives the same subsets each time.

    Returns
    -------
    list of lists of names
        Items of a subset are distinct, and in random order.

    Raises
    ------
    InputError
        Two items have the same name, or a parameter is out of range.

    Examples
    --------
    >>> from consilience.simulation import random_subsets
    >>> random_subsets(["ant", "bee", "cow", "dog"], 3, 2, random_state=0)
    [['cow', 'dog', 'bee'], ['dog', 'cow', 'ant']]
    """
    names = unique_names(items, "items").tolist()
    require_count("size", size, "random_subsets", at_most=len(names))
    require_count("n_subsets", n_subsets, "random_subsets")
    require_size(n_subsets, size, "items", "random_subsets")
    rng = generator(random_state)
    drawn = [rng.choice(len(names), size, replace=False) for _ in range(n_subsets)]
    return [[names[place] for place in places.tolist()] for places in drawn]


def _checked_subsets(subsets: Iterable[Iterable[Any]], known: set[Any]) -> list[list[Any]]:
    presented = [list(subset) for subset in subsets]
    for number, subset in enumerate(presented, start=1):
        if not subset:
            raise InputError(f"Subset {number} is empty.")
        require_distinct(subset, known, f"Subset {number}", f"among the {len(known)} items")
    return presented


def _checked_answer(answer: Any, subset: list[Any], subject: str) -> list[list[Any]]:
    """Return the groups of an answer as lists, without empty ones."""
    remedy = "must be a list of groups, each a list of names of items"
    try:
        parts = list(answer)
    except TypeError as error:
        raise InputError(f"{subject} {remedy}. Got {answer!r} instead.") from error
    groups = []
    for part in parts:
        if isinstance(part, str) or not isinstance(part, Iterable):
            raise InputError(f"{subject} {remedy}. Got the group {part!r} instead.")
        groups.append(list(part))
    require_distinct([item for group in groups for item in group], set(subset), subject, "in that subset")
    return [group for group in groups if group]
