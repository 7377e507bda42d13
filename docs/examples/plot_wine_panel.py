"""
A panel that tastes wines
=========================

Seven tasters each sorted 60 of 178 wines into groups of wines that taste alike. Which wines belong together, which of
the tasters agree, and does anybody sort by something else?
"""

# %%
# The table comes with the package: a row for each wine, a column for each taster, blank if the taster did not taste
# it.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

from consilience import read_annotations
from consilience.consensus import SubsetFusion
from consilience.datasets import write_tutorial_tables
from consilience.inspection import ItemMapDisplay, plot_annotator_map

with tempfile.TemporaryDirectory() as folder:
    write_tutorial_tables(folder)
    sorts = read_annotations(Path(folder, "sorts.csv"))
print(sorts.summary())

# %%
# Names of groups are each taster's own. The fusion needs none: it reads who put what together.

model = SubsetFusion(random_state=0).fit(sorts)
print(model.n_clusters_, "clusters")
print(model.annotators_[["n_items", "agreement", "weight"]].round(2).to_string())

# %%
# The map of the wines: those that tasters put together are close.

_, ax = plt.subplots(figsize=(7, 5), layout="constrained")
ItemMapDisplay.from_estimator(model, ax=ax, labels=False)
plt.show()

# %%
# The map of the tasters. Eva, Finn and Gina made two groups each, and each of them left something else together.

_, ax = plt.subplots(figsize=(5, 4), layout="constrained")
plot_annotator_map(sorts, ax=ax)
plt.show()
