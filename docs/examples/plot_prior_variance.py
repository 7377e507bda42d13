"""
What the prior variance does, and how it is chosen
==================================================

The prior variance σ² controls how steep the boundaries between clusters may be. If it is too small, the features cannot
separate the clusters; if it is too large, noise in the features does. By default the model chooses it on held-out
labels.
"""

# %%
# Wines of three cultivars, and eight annotators who each sort 40 of them.

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from consilience.datasets import load_wine
from consilience.inspection import plot_prior_variance
from consilience.metrics import nmi
from consilience.semisupervised import PartitionLabelModel
from consilience.simulation import simulate_crowd

wine = load_wine()
crowd = simulate_crowd(wine.target, n_annotators=8, items_each=40, accuracy=0.85, items=wine.item_names, random_state=0)


def fitted(prior_variance):
    """Fit the model with one prior variance."""
    model = PartitionLabelModel(max_clusters=8, prior_variance=prior_variance, n_init=4, random_state=0)
    pipeline = make_pipeline(StandardScaler(), model).set_output(transform="pandas")  # keeps the items' names
    return pipeline.fit(wine.data, crowd)[-1]


# %%
# ``"auto"`` tries five values. The model stores the search.

model = fitted("auto")
print(model.prior_variance_search_.round(3).to_string(index=False))

# %%
# The smallest value is chosen for which held-out labels are about as probable as for the best one: within a standard
# error of the difference.

_, ax = plt.subplots(figsize=(6, 4), layout="constrained")
plot_prior_variance(model, ax=ax)
plt.show()

# %%
# The truth, which the model never sees, shows how good the choice was.

rows = []
for variance in model.prior_variance_search_["prior_variance"]:
    other = fitted(variance)
    rows.append((variance, other.n_clusters_, nmi(wine.target, other.labels_)))
print(
    pd.DataFrame(rows, columns=["prior_variance", "clusters", "NMI with the cultivars"]).round(3).to_string(index=False)
)
