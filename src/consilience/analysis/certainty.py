"""How far clusters depend on who was asked: what another group of as many people would repeat.

A model's own probabilities are given its clusters and these people, and take people to err independently. People are
the sample, though: another group might hold other views, share other confusions, and lead to other clusters. The
certainty repeats the fit under weights of the people that stand for such a group (`consilience.inference.reweighted`),
and counts what comes out the same.

Decided here
------------
A draw is compared with the fit, not with another draw: the question is how far *this* clustering would be repeated.
That another group differs from the population, as this one does, is in the variance of the weights.

The figure of an item is the expected share of its pairs with other items, together or apart, that are repeated. It
needs no matching of clusters, and is what can be checked on two groups of people (`benchmarks/certainty.py`). For the
share of draws in which an item stays in its cluster, the clusters of a draw are matched with the fitted ones such that
as many items as possible agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int
from scipy.optimize import linear_sum_assignment
from sklearn.pipeline import Pipeline

from consilience.analysis.capabilities import attributes
from consilience.analysis.certainty_models import (
    BUILDERS,
    FEWEST,
    NEED_FEATURES,
    Fitted,
    build_reweighted,
    count_rows,
    fewest_people,
    people_behind,
)
from consilience.analysis.clustering import FoundClusters
from consilience.analysis.fitted import given_or_kept, rows_of_items, unwrap
from consilience.annotations import Groupings, Labels, Pairs
from consilience.annotations.canonical import arrange
from consilience.annotations.name_lists import list_names
from consilience.annotations.names import MISSING
from consilience.annotations.spelling import places_of_fitted
from consilience.annotations.types import AnnotationsLike, FeaturesLike, Integer, NameList, RandomSource
from consilience.consensus.labels.tag_sets import answers_of
from consilience.errors import InputError
from consilience.estimators.labels import posterior_of
from consilience.inference.clusters import agreement_with
from consilience.inference.memberships import Memberships
from consilience.inference.progress import counting
from consilience.inference.randomness import spawn_generator
from consilience.inference.reweighted import say_few_people, weights_of_another_group
from consilience.inference.threads import one_blas_thread

LOW, HIGH = 0.05, 0.95  # of intervals
# The draws weigh the same few people, who may all be better or worse than others. What 4 people would repeat needed
# intervals 2.1 times as wide as those of the draws to hold it in 9 of 10 cases, of 6 people 1.5, and of 10 people 1.2
# (five models on simulated crowds, even draws).
WIDER = 4.0
LARGEST_TABLE = 5000  # items up to which a table of all pairs is returned
MOST_ROWS = 30_000  # memberships, labels or judged pairs for which reports make all draws; fewer draws for more
FEWEST_DRAWS = 20  # that are worth stating
ROUNDING = 1e-9  # of a sum of shares


@dataclass(frozen=True)
class Certainty:
    """How far clusters would be repeated by another group of as many people; see `certainty`.

    Attributes
    ----------
    items : DataFrame, one row for each item
        ``cluster``, its number or class in the fit (-1 or None for items of none); ``repeats``, the expected share of
        its pairs with other items, together or apart, that another group repeats; ``stays``, the share of draws in
        which it is in the same cluster; ``elsewhere``, the cluster in which it is most often otherwise (-1 or None if
        never, or if that is a cluster which the fit does not have). A cluster of a draw counts as one of the fit here
        if it holds at least half of its items. NaN for items of no cluster.
    n_clusters : DataFrame, indexed by n_clusters
        ``share`` of draws with this number of clusters.
    annotators : DataFrame, one row for each annotator
        ``agreement`` with the clusters of the fit, and ``low`` and ``high``, 90 % interval of the agreement with
        those of a draw: for groupings and tags the adjusted Rand index over all pairs, for labels whose names are the
        classes the share that name the item's class, for judged pairs the share that agree. NaN where it is undefined.
    repeats : float
        Expected share of all pairs of items, together or apart, that another group repeats.
    low, high : float
        90 % interval of this share: that of one more draw, whose distance from the mean is multiplied by
        1 + 4 / n_people, since draws weigh the same few people.
    chance : float
        The share that would be repeated if the clusters of another group had their sizes, and items at random.
    n_people : int
        Number of people who decide: annotators who weigh together are one, and those whose labels have no influence
        on the fit are none.
    draws : ndarray of int, shape (n_draws, n_items)
        Number of each item's cluster in each draw, in the order of the fit's clusters and then of those without a
        match; -1 for items of none.
    weights : ndarray, shape (n_draws, n_annotators)
        Weight of each annotator in each draw, of mean 1; 1 for those whose labels have no influence.
    """

    items: pd.DataFrame
    n_clusters: pd.DataFrame
    annotators: pd.DataFrame
    repeats: float
    low: float
    high: float
    chance: float
    n_people: int
    draws: Int[np.ndarray, "draws items"]
    weights: Float[np.ndarray, "draws annotators"]

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return len(self.draws)

    @cached_property
    def repeats_together(self) -> float:
        """Share of the pairs of items together in the fit that are together in a draw, on average; NaN if none are."""
        kept = (self.draws >= 0).all(0)
        own, _ = pd.factorize(self.items["cluster"].to_numpy()[kept])
        n_together = _ordered_pairs(np.bincount(own))
        counts = [_ordered_pairs(contingency(own, draw)) for draw in self.draws[:, kept]]
        return float(np.mean(counts) / n_together) if n_together else np.nan

    @cached_property
    def chance_together(self) -> float:
        """Share of the pairs of items that are together in a draw: `repeats_together`, were items drawn at random."""
        draws = self.draws[:, (self.draws >= 0).all(0)]
        n_items = draws.shape[1]
        counts = [_ordered_pairs(np.bincount(draw)) for draw in draws]
        return float(np.mean(counts) / (n_items * (n_items - 1))) if n_items > 1 else np.nan

    @property
    def usual_numbers(self) -> tuple[int, int]:
        """The smallest and largest number of clusters that come out, without the outer twentieths of the draws."""
        share = self.n_clusters["share"].sort_index()
        reached = share.to_numpy().cumsum() + ROUNDING
        few, many = np.searchsorted(reached, [LOW, HIGH]).tolist()
        return int(share.index.to_numpy()[few]), int(share.index.to_numpy()[many])

    def share_joined(self, codes: Int[np.ndarray, " items"], n_clusters: int) -> Float[np.ndarray, "clusters clusters"]:
        """Share of the draws in which more than half of the items of two clusters of the fit are in one cluster.

        codes : cluster of each item, -1 for none.
        """
        in_one = np.zeros((n_clusters, n_clusters))
        for draw in self.draws:
            kept = (codes >= 0) & (draw >= 0)
            counts = contingency(draw[kept], codes[kept], n_clusters)
            most = 2 * counts > counts.sum(0)
            in_one += most.T @ most
        return in_one / self.n_draws

    def pairs(self, items: NameList | None = None) -> pd.DataFrame:
        """Share of the draws in which two items are in one cluster.

        Parameters
        ----------
        items : list of names, optional
            By default all, in the order of the fit.

        Returns
        -------
        DataFrame, shape (n_items, n_items)
            1 on the diagonal; NaN for items of no cluster.

        Raises
        ------
        InputError
            Too many items for a table, or an unknown item.
        """
        known = self.items.index
        places = np.arange(len(known)) if items is None else places_of_fitted(list_names(items, "items"), known, "Item")
        if len(places) > LARGEST_TABLE:
            raise InputError(
                f"A table of all pairs of {len(places)} items is too large (the limit is {LARGEST_TABLE}): "
                "name some of the items."
            )
        share = np.zeros((len(places), len(places)))
        for draw in self.draws[:, places]:
            share += draw[:, None] == draw
        share /= self.n_draws
        nowhere = (self.draws[:, places] < 0).all(0)
        share[nowhere], share[:, nowhere] = np.nan, np.nan
        return pd.DataFrame(share, index=known[places], columns=known[places])


def certainty(
    model: Any,
    annotations: AnnotationsLike | None = None,
    X: FeaturesLike | None = None,
    *,
    n_draws: Integer = 100,
    random_state: RandomSource = None,
) -> Certainty:
    """Repeat a fit as another group of as many people might have led to it, and count what comes out the same.

    People are the sample: each draw weighs them as drawn anew from the population that they come from, and repeats the
    fit with few sweeps. Models whose people can be weighed: CSPA, CorrelationClustering, DawidSkene, KCC, MajorityVote,
    MCVC, MECC, PartitionLabelModel, ProductMixture, SpectralEM, StagewiseEM, SubsetFusion and TagConsensus, of which
    items are together that have the same tags.

    Parameters
    ----------
    model : fitted estimator, or a Pipeline that ends in one
    annotations : Groupings, Labels, Pairs or array
        The annotations that were passed to `fit`; not needed for models that keep them.
    X : DataFrame or array, shape (n_items, n_features), optional
        The features that were passed to `fit`, if any were.
    n_draws : int, default=100
        Number of draws.
    random_state : int, RandomState, Generator or None, default=None
        An int makes the result reproducible.

    Returns
    -------
    Certainty

    Raises
    ------
    InputError
        The people of this model cannot be weighed; there are fewer than four, or than fifteen for MECC; or annotations
        or features are not those of the fit.
    sklearn.exceptions.NotFittedError
        The model was not fitted.

    References
    ----------
    Rubin (1981). The Bayesian bootstrap. Annals of Statistics 9.

    Examples
    --------
    >>> from consilience import Groupings
    >>> from consilience.consensus import SubsetFusion
    >>> from consilience.inspection import certainty
    >>> sorts = [[["ant", "bee"], ["cow", "pig"]]] * 4 + [[["ant", "bee", "pig"], ["cow"]]] * 2
    >>> fusion = SubsetFusion(random_state=0).fit(Groupings.from_lists(sorts))
    >>> found = certainty(fusion, random_state=0)
    >>> found.items["repeats"].idxmin()
    'pig'
    """
    if isinstance(n_draws, bool) or not isinstance(n_draws, int | np.integer) or n_draws < 2:
        raise InputError(f"The 'n_draws' parameter of certainty must be an int of at least 2. Got {n_draws!r} instead.")
    estimator = unwrap(model)
    require_weighable(estimator)
    given = given_or_kept(model, annotations, "certainty")
    rng = spawn_generator(random_state)
    clusters = FoundClusters.of(estimator)
    fitted, person = _arrange(model, given, X, clusters, rng)
    heard = person >= 0
    draws = np.empty((n_draws, len(given)), dtype=np.intp)
    weights = np.empty((n_draws, given.n_annotators))
    with one_blas_thread(), counting("draws", n_draws) as done:
        repeat = build_reweighted(fitted.ordered)
        for number in range(n_draws):
            of_draw = np.ones(len(person))
            of_draw[heard] = weights_of_another_group(person[heard], rng)
            weights[number, fitted.annotators] = of_draw
            draws[number, fitted.items] = repeat.draw(of_draw, rng)
            done.update()
    if isinstance(given, Labels) and getattr(estimator, "reads_tags", False):
        given = answers_of(given)[0].to_groupings()
    return _compare_draws(given, clusters, draws, weights, int(person.max()) + 1)


def few_people(estimator: Any, annotations: Groupings | Labels | Pairs) -> str:
    """Say in a sentence that what others would repeat cannot be told from so few people; "" if they are enough."""
    number = int(people_behind(estimator, annotations)[0].max(initial=-1)) + 1
    few = say_few_people(number, fewest_people(estimator)) if number else ""
    return few and f"How far others would repeat this cannot be told, since {few}"


def certainty_of_report(
    model: Any, annotations: Groupings | Labels | Pairs, X: Any, n_draws: int
) -> tuple[Certainty | None, str]:
    """Return the certainty that a report or a summary states, or None and the reason.

    The seed is fixed, so that a report can be repeated, and there are fewer draws of large annotations.

    model, annotations, X : as for `certainty`
    n_draws : at most; 0 for none.
    """
    if not n_draws:
        return None, "It was not asked for."
    share = min(1.0, MOST_ROWS / max(count_rows(unwrap(model), annotations), 1))
    number = max(int(n_draws * share), 2)
    if number < min(FEWEST_DRAWS, n_draws):
        return None, "The annotations are large; consilience.inspection.certainty takes the time that it needs."
    needs_features = type(unwrap(model)).__name__ in NEED_FEATURES
    try:
        return certainty(model, annotations, X if needs_features else None, n_draws=number, random_state=0), ""
    except InputError as error:
        return None, str(error)


def can_be_weighed(estimator: Any) -> bool:
    """Whether there is a certainty for models of this kind."""
    return type(estimator).__name__ in BUILDERS


def require_weighable(estimator: Any) -> None:
    """Raise an InputError unless the people of a model can be weighed."""
    if not can_be_weighed(estimator):
        raise InputError(
            f"The people of {type(estimator).__name__} cannot be weighed, so it has no certainty over people. Models "
            f"that have one: {', '.join(sorted(BUILDERS))}."
        )


@dataclass(frozen=True)
class _Ordered:
    """A fitted model in canonical order, and the positions of its items and annotators in the order given."""

    ordered: Fitted
    items: Int[np.ndarray, " items"]
    annotators: Int[np.ndarray, " annotators"]


def _arrange(
    model: Any, given: Groupings | Labels | Pairs, X: Any, clusters: FoundClusters, rng: np.random.Generator
) -> tuple[_Ordered, Int[np.ndarray, " annotators"]]:
    """Bring a fitted model into canonical order; also return the person behind each annotator, see `people_behind`."""
    estimator = unwrap(model)
    features = _features(model, X, len(given))
    arranged = arrange(given, features)
    ordered, items = arranged.ordered, arranged.items
    person, group = people_behind(estimator, ordered)
    if (n_people := int(person.max(initial=-1)) + 1) < (fewest := fewest_people(estimator)):
        of_model = f" of {type(estimator).__name__}" if type(estimator).__name__ in FEWEST else ""
        raise InputError(
            f"The certainty over people{of_model} needs at least {fewest} people, whose labels decide: "
            f"fewer do not show how far others would differ. Got {n_people}."
        )
    q = posterior_of(estimator)[items]
    known = attributes(estimator, ["_gold"]).get("_gold", np.full(len(items), MISSING))[items]
    fitted = Fitted(estimator, ordered, items, clusters.codes[items], q, group, known, features[items], rng)
    return _Ordered(fitted, items, arranged.annotators), person


def _features(model: Any, X: Any, n_items: int) -> Float[np.ndarray, "items features"]:
    """Return the features as the last step of a pipeline saw them; without columns if there are none."""
    if X is None:
        return np.empty((n_items, 0))
    table = rows_of_items(model, X, "X", attributes(model, ["feature_names_in_"]).get("feature_names_in_"))
    seen = model[:-1].transform(table) if isinstance(model, Pipeline) and len(model.steps) > 1 else table
    try:
        return np.asarray(seen, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError("The certainty needs the features that the model was fitted to, which are numbers.") from error


def _compare_draws(
    given: Groupings | Labels | Pairs,
    clusters: FoundClusters,
    draws: Int[np.ndarray, "draws items"],
    weights: Float[np.ndarray, "draws annotators"],
    n_people: int,
) -> Certainty:
    """Compare the draws with the fit."""
    fitted, n_fitted = clusters.codes, len(clusters.index)
    draws = draws.copy()
    clustered = (fitted >= 0) & (draws >= 0).all(0)
    draws[:, ~clustered] = MISSING
    agreement = agreements(given, clusters, fitted)
    of_draws = np.array([agreements(given, clusters, draw) for draw in draws])
    own = fitted[clustered]
    if not clusters.is_named:
        draws[:, clustered] = [match_clusters(own, draw, n_fitted) for draw in draws[:, clustered]]
    kept = draws[:, clustered]
    counts = [repeated_pairs(own, draw) for draw in kept]
    n_others = max(len(own) - 1, 1)
    shares = np.array([each.mean() for each in counts]) / n_others
    items = _table_of_items(given.items, clusters, clustered, np.mean(counts, axis=0) / n_others, kept)
    numbers = pd.Series([len(np.unique(draw)) for draw in kept]).value_counts(normalize=True).sort_index()
    low, high = _quantiles(of_draws)
    wide = shares.mean() + (1 + WIDER / n_people) * (np.array(interval_of_another(shares)) - shares.mean())
    return Certainty(
        items=items,
        n_clusters=numbers.rename_axis("n_clusters").rename("share").to_frame(),
        annotators=pd.DataFrame(
            {"agreement": agreement, "low": low, "high": high}, index=given.annotators.rename("annotator")
        ),
        repeats=float(shares.mean()),
        low=max(wide[0], 0.0),
        high=min(wide[1], 1.0),
        chance=float(np.mean([chance_share(own, draw) for draw in kept])),
        n_people=n_people,
        draws=draws,
        weights=weights,
    )


def _quantiles(of_draws: Float[np.ndarray, "draws annotators"]) -> tuple[np.ndarray, np.ndarray]:
    known = np.isfinite(of_draws)
    filled = np.where(known, of_draws, 0.0)
    low, high = interval_of_another(filled)
    some = known.all(0)
    return np.where(some, low, np.nan), np.where(some, high, np.nan)


def interval_of_another(draws: np.ndarray) -> tuple[Any, Any]:
    """Return the ends of the interval in which one more draw is with a probability of `HIGH` - `LOW`.

    One more of m draws is below the k-th smallest with a probability of k / (m + 1). NumPy's usual quantiles describe
    the draws at hand: one more of 40 is between them in .86 of the cases, of 100 in .88.

    draws : (draws, ...).
    """
    low, high = np.quantile(draws, [LOW, HIGH], axis=0, method="weibull")
    return low, high


def _table_of_items(
    names: pd.Index,
    clusters: FoundClusters,
    clustered: Bool[np.ndarray, " items"],
    repeats: Float[np.ndarray, " clustered"],
    draws: Int[np.ndarray, "draws clustered"],
) -> pd.DataFrame:
    own = clusters.codes[clustered]
    elsewhere = np.full(len(names), MISSING)
    places = places_in_fit(clusters, own, draws)
    elsewhere[clustered] = _most_often_elsewhere(own, places, len(clusters.index))
    stays = (places == own).mean(0)
    table = pd.DataFrame(index=names.rename("item"))
    table["cluster"] = clusters.names_of(clusters.codes)
    for name, values in (("repeats", repeats), ("stays", stays)):
        column = np.full(len(names), np.nan)
        column[clustered] = values
        table[name] = column
    table["elsewhere"] = clusters.names_of(elsewhere)
    return table


def _most_often_elsewhere(
    own: Int[np.ndarray, " clustered"], places: Int[np.ndarray, "draws clustered"], n_fitted: int
) -> Int[np.ndarray, " clustered"]:
    """Return the cluster in which each item is most often when not in its own; -1 if never, or if it is a new one."""
    often = np.zeros((len(own), n_fitted + 1), dtype=int)
    for place in places:
        away = np.flatnonzero(place != own)
        often[away, place[away]] += 1  # in new clusters, -1: the last column
    most = often.argmax(1)
    return np.where((often.max(1, initial=0) > 0) & (most < n_fitted), most, MISSING)


def places_in_fit(
    clusters: FoundClusters, own: Int[np.ndarray, " clustered"], draws: Int[np.ndarray, "draws clustered"]
) -> Int[np.ndarray, "draws clustered"]:
    """Return which cluster of the fit each item is in, in each draw; -1 for a new one, which holds half of none.

    A new cluster of a draw may have the number of one of the fit, of which it holds nothing, as no other is left. An
    item that is a cluster of its own is in that only if it is alone.
    """
    n_fitted = len(clusters.index)
    sizes = np.bincount(own, minlength=n_fitted)
    places = np.full(draws.shape, MISSING)
    for draw, place in zip(draws, places, strict=True):
        kept = np.bincount(own[draw == own], minlength=n_fitted)
        holds = np.append((2 * kept >= sizes) | clusters.is_named, False)  # a class is a class without items, too
        number = np.minimum(draw, n_fitted)
        others = np.bincount(number, minlength=n_fitted + 1) > 1
        is_joined = np.append((sizes == 1) & (not clusters.is_named), False) & others
        is_known = (holds[number] | (draw == own)) & ~is_joined[number]
        place[is_known] = number[is_known]
    return places


def repeated_pairs(first: Int[np.ndarray, " items"], second: Int[np.ndarray, " items"]) -> Int[np.ndarray, " items"]:
    """Return for each item with how many others two clusterings agree that it belongs together, or that it does not."""
    table = contingency(first, second)
    both, mine, theirs = table[first, second], table.sum(1)[first], table.sum(0)[second]
    return np.asarray(len(first) - mine - theirs + 2 * both - 1)


def _ordered_pairs(counts: Int[np.ndarray, "..."]) -> int:
    return int((counts * (counts - 1)).sum())


def chance_share(first: Int[np.ndarray, " items"], second: Int[np.ndarray, " items"]) -> float:
    """Return the expected share of pairs on which two clusterings of these sizes, of items at random, agree."""
    pairs = max(len(first) * (len(first) - 1), 1)
    together = [_ordered_pairs(sizes) / pairs for sizes in (np.bincount(first), np.bincount(second))]
    return float(np.prod(together) + np.prod(1 - np.array(together)))


def match_clusters(
    fitted: Int[np.ndarray, " items"], drawn: Int[np.ndarray, " items"], n_fitted: int
) -> Int[np.ndarray, " items"]:
    """Number the clusters of a draw like those of the fit; those without a match follow.

    Examples
    --------
    >>> match_clusters(np.array([0, 0, 1, 1]), np.array([2, 1, 0, 0]), 2).tolist()
    [2, 0, 1, 1]
    """
    _, code = np.unique(drawn, return_inverse=True)
    overlap = contingency(code, fitted, n_fitted)
    rows, columns = linear_sum_assignment(-overlap)
    number = np.full(len(overlap), MISSING)
    number[rows] = columns
    without = number == MISSING
    number[without] = n_fitted + np.arange(int(without.sum()))
    return np.asarray(number[code])


def contingency(
    first: Int[np.ndarray, " items"], second: Int[np.ndarray, " items"], n_second: int = 0
) -> Int[np.ndarray, "first second"]:
    """Count the items in each cluster of one clustering and of another, which has at least `n_second`."""
    shape = int(first.max(initial=-1)) + 1, max(int(second.max(initial=-1)) + 1, n_second)
    return np.bincount(first * shape[1] + second, minlength=shape[0] * shape[1]).reshape(shape)


def agreements(
    annotations: Groupings | Labels | Pairs, clusters: FoundClusters, cluster: Int[np.ndarray, " items"]
) -> Float[np.ndarray, " annotators"]:
    """Agreement of each annotator with clusters, as in the table of annotators of `Certainty`."""
    if isinstance(annotations, Pairs):
        together = cluster[annotations.item_a] == cluster[annotations.item_b]
        return _mean_by(annotations.annotator, together == annotations.same, annotations.n_annotators)
    if isinstance(annotations, Labels) and clusters.is_named and annotations.classes.equals(clusters.index):
        return _mean_by(annotations.annotator, cluster[annotations.item] == annotations.label, annotations.n_annotators)
    groupings = annotations.to_groupings() if isinstance(annotations, Labels) else annotations
    memberships, seen = Memberships.of(groupings), np.flatnonzero(cluster >= 0)
    return agreement_with(memberships.of_items(seen), cluster[seen])


def _mean_by(
    annotator: Int[np.ndarray, " rows"], agrees: Bool[np.ndarray, " rows"], n_annotators: int
) -> Float[np.ndarray, " annotators"]:
    """Share of the rows of each annotator that agree; NaN for annotators without any."""
    of = np.bincount(annotator, minlength=n_annotators)
    counts = np.bincount(annotator, agrees, n_annotators)
    return np.divide(counts, of, out=np.full(n_annotators, np.nan), where=of > 0)
