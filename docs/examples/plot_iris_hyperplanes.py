"""
Hyperplanes between clusters that experts can tell apart
========================================================

Six experts answer one binary question each about 150 irises and err in 10 % of the answers. No expert knows the three
species. The model finds clusters that explain all answers and that straight lines in two features separate.
"""

# %%
# The irises, and the experts. Each expert calls one species positive and one negative, and says nothing of the third.

import matplotlib.pyplot as plt
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from consilience.datasets import load_iris
from consilience.inspection import plot_clusters
from consilience.metrics import nmi
from consilience.semisupervised import PartitionLabelModel
from consilience.simulation import simulate_experts

iris = load_iris()
X = iris.data[["petal length (cm)", "petal width (cm)"]]
experts = simulate_experts(iris.target, n_annotators=6, items=iris.item_names, random_state=1)
print(experts.summary())

# %%
# Features are standardised inside a pipeline, so that new irises are treated alike. With ``set_output`` they keep their
# index, by which they are matched with what the experts said.

pipeline = make_pipeline(StandardScaler(), PartitionLabelModel(prior_variance=1.0, random_state=0))
model = pipeline.set_output(transform="pandas").fit(X, experts)[-1]
print(f"{model.n_clusters_} clusters; NMI with the species {nmi(iris.target, model.labels_):.2f}")

# %%
# The regions are what the model predicts for a new iris from its petals alone.

_, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
plot_clusters(pipeline, X, experts, ax=ax)
plt.show()

# %%
# What the answers mean: for each expert, the clusters that go by "positive" and those that go by "negative". A
# probability near one half says that the expert labelled no item of one of these clusters: a toss-up.

columns = ["annotator", "group", "n_items", "clusters", "probability"]
print(model.annotator_mapping_[columns].round(2).to_string(index=False))
