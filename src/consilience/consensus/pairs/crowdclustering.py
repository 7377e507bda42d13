"""The estimator of `item_embeddings`: Gomes, Welinder, Krause & Perona (2011), Crowdclustering."""

from __future__ import annotations

MAX_PAIRS = 500_000  # judgements that `fit` takes: each is met in every sweep
MOST_CLUSTERS = 10_000
MOST_COMPONENTS = 10  # beyond it the tables of an annotator grow large
SHUFFLE = 0  # seed of the order of items, so that those of one batch are not alike
