"""
How many people does a card sort need?
======================================

A card sort has cards, people and piles, but no features. Before you ask anybody, simulate: generate people as careful
and as coarse as you expect them to be, and see how many are needed to recover the true clusters.
"""

# %%
# Forty cards that belong to six clusters. A person misplaces one card in five and merges about a third of the clusters.

import matplotlib.pyplot as plt
import numpy as np

from consilience.inspection import annotator_agreement, plot_agreement, plot_clusters
from consilience.metrics import ari
from consilience.semisupervised import PartitionLabelModel
from consilience.simulation import simulate_crowd

truth = np.arange(40) % 6
sort = simulate_crowd(truth, n_annotators=20, accuracy=0.8, merge=0.3, random_state=0)
print(sort.summary())

# %%
# The model is fitted without features: ``None`` is passed instead.

model = PartitionLabelModel(max_clusters=12, prior_variance=3.0, random_state=0).fit(None, sort)
print(model.n_clusters_, "clusters")
print(f"adjusted Rand index with the truth: {ari(truth, model.labels_):.2f}")

# %%
# Cards that the same people put together are close to each other.

_, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
plot_clusters(model, groupings=sort, ax=ax)
plt.show()

# %%
# The agreement of every two people (adjusted Rand index; 0 is chance). It is low between people who merged different
# clusters, though none of them is wrong: the model explains all of them with one clustering.

_, ax = plt.subplots(figsize=(7, 6), layout="constrained")
plot_agreement(annotator_agreement(sort), ax=ax)
plt.show()

# %%
# Now back to the question. There are five simulated studies for each number of people; the line is their mean.


def recovered(n_people, study):
    """How much of the truth one simulated study finds."""
    sort = simulate_crowd(truth, n_annotators=n_people, accuracy=0.8, merge=0.3, random_state=study)
    model = PartitionLabelModel(max_clusters=12, prior_variance=3.0, n_init=4, random_state=0)
    return ari(truth, model.fit(None, sort).labels_)


people = [3, 5, 10, 20, 30]
scores = np.array([[recovered(n, study) for study in range(5)] for n in people])

_, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.plot(np.repeat(people, 5), scores.ravel(), "o", ms=4, mfc="none", color="0.6", label="one study")
ax.plot(people, scores.mean(1), "o-", label="mean")
ax.set(xlabel="people", ylabel="adjusted Rand index", ylim=(0, 1.05))
ax.legend(frameon=False)
plt.show()

# %%
# Real people do not behave exactly like simulated ones: treat the result as a lower limit.
