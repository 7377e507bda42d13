"""Notes on the answers of deep models: few items, clusters that are too coarse, judgements that hardly count."""

from __future__ import annotations

import pandas as pd

from consilience.deep.model import Data

FEW_ITEMS = 1000  # with fewer, simpler models are often better
COARSE = 0.5  # sensitivity below which people divide the clusters
SEPARATE = 0.9  # specificity above which they agree that the clusters differ
UNHEARD = 0.1  # sensitivity + specificity − 1, below which judgements hardly count; 0 is chance
FROM_JUDGEMENTS = "init='judgements', trust_epochs of half the epochs, and enough latent dimensions"


def notes(data: Data, annotators: pd.DataFrame, n_found: int, n_clusters: int) -> list[str]:
    """Return what limits the answer, a sentence or two each.

    data : that were fitted
    annotators : reliabilities; see `annotators_`.
    n_found : number of clusters found
    n_clusters : number of components
    """
    found = [_on_few_items(data)] if data.n_items < FEW_ITEMS else []
    if n_found == 1 < min(n_clusters, data.n_items):
        found.append(_on_one_cluster(data))
    if n_found == 1 or annotators.empty:
        return found
    weight = annotators["sensitivity"] + annotators["specificity"] - 1
    if weight.median() < UNHEARD:
        found.append(
            "Most people's judgements fit the clusters hardly better than chance, so that they have lost their weight. "
            f"If people judge by something that changes the features little, try {FROM_JUDGEMENTS}."
        )
    elif annotators["sensitivity"].median() < COARSE and annotators["specificity"].median() > SEPARATE:
        found.append(
            "Most people divide the clusters: of two items in one cluster, they put less than half together. Different "
            "groups may share a cluster: try more warm_epochs, and compare the clusters with those of "
            "PartitionLabelModel."
        )
    return found


def _on_few_items(data: Data) -> str:
    others = "k-means or a mixture of Gaussians" if data.judgements is None else "PartitionLabelModel or MECC"
    return f"{data.n_items:,} items are few for a network to learn from. Compare the clusters with those of {others}."


def _on_one_cluster(data: Data) -> str:
    found = f"All {data.n_items:,} items are in one cluster. The warm start may be too short: try more warm_epochs."
    if data.judgements is None:
        return f"{found} Or their features show no more: ask people about some of the items."
    return f"{found} If that does not help, try {FROM_JUDGEMENTS}."
