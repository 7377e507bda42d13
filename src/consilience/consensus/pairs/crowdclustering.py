"""Limits of the `Crowdclustering` estimator, whose model is `item_embeddings`."""

from __future__ import annotations

MAX_PAIRS = 500_000  # judgements that `fit` accepts: every sweep processes each of them
MOST_CLUSTERS = 10_000
MOST_COMPONENTS = 10  # beyond this the tables of an annotator become large
SHUFFLE = 0  # seed of the order of items, so that the items of a batch are not similar
