"""
Digits, sorted by a crowd
=========================

Twelve people each sort 150 of 600 images of digits. Most do not distinguish all ten digits: they have merged some. One
image in ten goes onto the wrong pile, and some images are not seen by anybody. The pixels carry the annotations of some
images over to the others.
"""

# %%
# The images and the crowd.

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
# Twenty principal components of the pixels suffice as features. With ``set_output`` they keep the index of the images,
# by which they are matched with the crowd's groupings.

pipeline = make_pipeline(
    StandardScaler(),
    PCA(n_components=20, random_state=0),
    PartitionLabelModel(max_clusters=20, prior_variance=0.3, n_init=6, random_state=0),
).set_output(transform="pandas")
model = pipeline.fit(X, crowd)[-1]

# %%
# How much of the truth is recovered, for all images and for those that nobody saw?

unseen = (crowd.incidence.sum(1) == 0).ravel()
print(model.n_clusters_, "clusters")
print(f"NMI with the digits: {nmi(truth, model.labels_):.2f}")
print(f"... of {unseen.sum()} that nobody saw: {nmi(truth[unseen], model.labels_[unseen]):.2f}")

# %%
# New images are assigned to clusters by their pixels alone.

predicted = pipeline.predict(digits.data[600:1200])
print(f"NMI with the digits: {nmi(digits.target[600:1200], predicted):.2f}")

# %%
# The piles of some annotators, and the clusters that they stand for. A row with several dark cells is a pile of merged
# digits.

_, ax = plt.subplots(figsize=(6, 6.5), layout="constrained")
plot_mapping(model, max_groups=36, ax=ax)
plt.show()

# %%
# The most typical image of each cluster.

fig, axes = plt.subplots(1, model.n_clusters_, figsize=(model.n_clusters_ * 0.7, 1.2))
for cluster, ax in enumerate(np.atleast_1d(axes)):
    ax.imshow(digits.images[model.responsibilities_[:, cluster].argmax()], cmap="gray_r")
    ax.set_title(cluster, fontsize=9)
    ax.axis("off")
plt.show()
