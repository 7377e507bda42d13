"""
Choosing a model, and the number of clusters
============================================

Fifteen people sorted 60 cards, and three models could cluster them, each into any number of clusters. There is no
truth to compare with. But a good model predicts what people say who were held out.
"""

# %%
# In this simulation there are six groups of cards.

import matplotlib.pyplot as plt
import numpy as np

from consilience.consensus import CSPA, KCC, SubsetFusion
from consilience.selection import compare
from consilience.simulation import simulate_crowd

sorts = simulate_crowd(np.arange(60) % 6, n_annotators=15, items_each=40, accuracy=0.75, random_state=0)

# %%
# Numbers of clusters first. The log loss is smaller the better held-out judgements of pairs are predicted.

numbers = [3, 4, 5, 6, 7, 9]
found = compare({f"{k}": KCC(k, random_state=0) for k in numbers}, sorts, n_folds=3, random_state=0)
print(found)
loss = found.table["log_loss"]

_, ax = plt.subplots(figsize=(6.5, 3.5), layout="constrained")
ax.plot(numbers, [loss[f"{k}"] for k in numbers], "o-", color="#0072B2", label="KCC")
ax.axhline(loss["co-occurrence"], color="#767676", linestyle="--", label="co-occurrence, without clusters")
ax.set(xlabel="number of clusters", ylabel="log loss of held-out judgements (nats)")
ax.legend(frameon=False)
plt.show()

# %%
# Then the models, two of which find the number themselves:

models = {"KCC, 6": KCC(6, random_state=0), "CSPA": CSPA(random_state=0), "SubsetFusion": SubsetFusion(random_state=0)}
print(compare(models, sorts, n_folds=3, random_state=0))
