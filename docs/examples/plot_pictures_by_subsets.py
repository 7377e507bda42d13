"""
Sorting pictures, a few at a time
=================================

There are 120 pictures, too many for anybody to sort. Each of sixty people was shown sixteen of them and made piles.
Nobody saw how the others sorted, and no pair of people saw the same pictures.
"""

# %%
# The pictures are digits, and people judge by what they look like, not by what they are.

import matplotlib.pyplot as plt
import numpy as np

from consilience.consensus import SubsetFusion
from consilience.datasets import load_digits
from consilience.inspection import CoOccurrenceDisplay
from consilience.simulation import ClusteringPopulation, present, random_subsets

digits = load_digits()
few = np.flatnonzero(np.isin(digits.target, [0, 1, 4, 6]))[:120]
pictures = digits.data.iloc[few]
people = ClusteringPopulation(pictures, random_state=0)
subsets = random_subsets(pictures.index, 16, 60, random_state=0)
sorts = present(people, subsets, items=pictures.index)
print(sorts.summary())

# %%
# The fusion of all piles, with the number of clusters that they show:

model = SubsetFusion(max_clusters=12, random_state=0).fit(sorts)
print(model.n_clusters_, "clusters of", np.bincount(model.labels_[model.labels_ >= 0]), "pictures")

_, ax = plt.subplots(figsize=(6, 5), layout="constrained")
CoOccurrenceDisplay.from_estimator(model, ax=ax, labels=False)
plt.show()

# %%
# The eight most typical pictures of each cluster, a row for each:

figure, axes = plt.subplots(model.n_clusters_, 8, figsize=(6, 0.8 * model.n_clusters_), squeeze=False)
for cluster, row in enumerate(axes):
    typical = np.argsort(-model.responsibilities_[:, cluster])[:8]
    for ax, place in zip(row, typical):
        ax.imshow(pictures.iloc[place].to_numpy().reshape(8, 8), cmap="gray_r")
        ax.axis("off")
plt.show()
