"""
Hyperplanes between clusters that experts distinguish
=====================================================

Six experts each answer one binary question about 150 irises, and 10 % of their labels are wrong. No expert knows all
three species. The model finds clusters that explain all labels and that linear boundaries in two features separate.
"""

# %%
# The irises and the experts. Each expert labels one species positive and one negative, and does not label the third.

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
# Features are standardised inside a pipeline, so that new irises are treated in the same way. With ``set_output`` they
# keep their index, by which they are matched with the experts' labels.

pipeline = make_pipeline(StandardScaler(), PartitionLabelModel(prior_variance=1.0, random_state=0))
model = pipeline.set_output(transform="pandas").fit(X, experts)[-1]
print(f"{model.n_clusters_} clusters; NMI with the species {nmi(iris.target, model.labels_):.2f}")

# %%
# The regions show the model's prediction for a new iris from its petals alone.

_, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
plot_clusters(pipeline, X, experts, ax=ax)
plt.show()

# %%
# What the labels stand for: for each expert, the clusters labelled "positive" and those labelled "negative". A
# probability near one half means that the expert labelled no item of one of these clusters, so that its assignment is
# arbitrary.

columns = ["annotator", "group", "n_items", "clusters", "probability"]
print(model.annotator_mapping_[columns].round(2).to_string(index=False))
