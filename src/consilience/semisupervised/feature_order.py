"""An order of features that depends only on their values and on the annotations, not on how columns were given.

Models draw at random for every weight, and items are put into an order by the first feature, then the second, and so on
(`consilience.annotations.canonical`): results would depend on the order of the columns, which is arbitrary.

Items and features get colours in turn, as in the refinement of graphs: that of a feature from the colours of the items
at each of its ranks, that of an item from the colours of the features and its rank in each. The order of the items
makes no difference. Ranks, unlike values, do not change by rounding, for example where columns were standardised.

Decided here
------------
Items start with a colour from the sizes of the groups that annotators put them into. Features that rank all items alike
are ordered by their mean size; where that is equal too, they keep the order in which they were given.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int, UInt64
from scipy.sparse import csr_array
from scipy.stats import rankdata

from consilience.annotations.refinement import mix

ROUNDS = 2  # the first colours items by their ranks, which are the same numbers in every feature without ties


def order_of_features(features: Float[np.ndarray, "items features"], labels: csr_array) -> Int[np.ndarray, " features"]:
    """Return the positions of the features in an order that depends neither on that of columns nor on that of items.

    features : X.
    labels : (items, groups) sparse 0/1.
    """
    ranks = rankdata(features, method="min", axis=0).astype(np.uint64)
    of_items = colours_of_items(labels)
    of_features = np.zeros(features.shape[1], dtype=np.uint64)
    for _ in range(ROUNDS):
        of_items = mix(of_items + mix(ranks + mix(of_features)).sum(1, dtype=np.uint64))
        of_features = mix(ranks + of_items[:, None]).sum(0, dtype=np.uint64)
    return np.lexsort((np.abs(features).mean(0), of_features))


def colours_of_items(labels: csr_array) -> UInt64[np.ndarray, " items"]:
    """Colour of each item by the sizes of its groups."""
    groups = labels.tocoo()
    item, group = groups.coords
    sizes = np.bincount(group, minlength=labels.shape[1]).astype(np.uint64)
    colours = np.zeros(labels.shape[0], dtype=np.uint64)
    np.add.at(colours, item, mix(sizes)[group])
    return colours
