"""
Digits, sorted by a crowd
=========================

Twelve people sort 150 of 600 pictures of digits each. Most do not keep all ten digits apart: they have merged some. One
picture in ten goes onto the wrong pile, and some pictures are seen by nobody. The pixels carry what was said about some
pictures over to the others.
"""

# %%
# The pictures and the crowd.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from consilience.datasets import load_digits
from consilience.inspection import plot_mapping
from consilience.metrics import nmi
from consilience.semisupervised import PartitionLabelModel
from consilience.simulation import simulate_crowd

digits = load_digits()
X, truth = digits.data[:600], digits.target[:600]
crowd = simulate_crowd(truth, n_annotators=12, items_each=150, merge=0.3, items=X.index, random_state=0)
print(crowd.summary())

# %%
# Twenty principal components of the pixels are features enough. With ``set_output`` they keep the pictures' index, by
# which they are matched with what the crowd said.

pipeline = make_pipeline(
    StandardScaler(),
    PCA(n_components=20, random_state=0),
    PartitionLabelModel(max_clusters=20, prior_variance=0.3, n_init=6, random_state=0),
).set_output(transform="pandas")
model = pipeline.fit(X, crowd)[-1]

# %%
# How much of the truth came back, for all pictures and for those that nobody saw?

unseen = (crowd.incidence.sum(1) == 0).ravel()
print(model.n_clusters_, "clusters")
print(f"NMI with the digits: {nmi(truth, model.labels_):.2f}")
print(f"... of {unseen.sum()} that nobody saw: {nmi(truth[unseen], model.labels_[unseen]):.2f}")

# %%
# New pictures are placed by their pixels alone.

predicted = pipeline.predict(digits.data[600:1200])
print(f"NMI with the digits: {nmi(digits.target[600:1200], predicted):.2f}")

# %%
# The piles of some annotators, and the clusters that go by them. A row with several dark cells is a pile of merged
# digits.

_, ax = plt.subplots(figsize=(6, 6.5), layout="constrained")
plot_mapping(model, max_groups=36, ax=ax)
plt.show()

# %%
# A picture from the middle of each cluster.

fig, axes = plt.subplots(1, model.n_clusters_, figsize=(model.n_clusters_ * 0.7, 1.2))
for cluster, ax in enumerate(np.atleast_1d(axes)):
    ax.imshow(digits.images[model.responsibilities_[:, cluster].argmax()], cmap="gray_r")
    ax.set_title(cluster, fontsize=9)
    ax.axis("off")
plt.show()
