"""
Sorting more items than anybody can see
=======================================

There are a hundred items, and people who each sort eight of them at a time. How many such subsets (here called sheets)
are needed until their fusion is right, and does it help to choose the sheets instead of drawing them at random?
"""

# %%
# Ten clusters of ten items. People sort the items that they are shown, each by some of the features, into their own
# number of piles. This is the task of Veeramachaneni & O'Reilly.

import matplotlib.pyplot as plt
import numpy as np

from consilience.active import ActiveSession
from consilience.consensus import SubsetFusion
from consilience.metrics import nmi
from consilience.simulation import (
    ClusteringPopulation,
    CooccurrenceAgent,
    gaussian_clusters,
    present,
    random_subsets,
)

task = gaussian_clusters(100, n_clusters=10, separation=5, random_state=0)
people = ClusteringPopulation(task.data, random_state=0)
sheets = random_subsets(task.data.index, 8, 600, random_state=0)
print([[len(pile) for pile in people(sheet)] for sheet in sheets[:3]], "items in the piles of three sheets")

# %%
# Four fusions, each of which also has to estimate the number of clusters. In the paper's fusion, a pair that nobody saw
# together counts as separated, and most pairs were not seen. ``"presented"`` and ``"degree"`` ignore such pairs. With
# ``refine``, the default, a mixture of groupings then reassigns the items.

COLOURS = ["#0072B2", "#009E73", "#D55E00", "#000000"]  # can be distinguished with any colour vision (Okabe & Ito)
FUSIONS = {
    "degree, refined (the default)": {"normalize": "degree", "refine": True},
    "degree": {"normalize": "degree", "refine": False},
    "presented": {"normalize": "presented", "refine": False},
    "the paper's": {"normalize": None, "refine": False},
}
n_sheets = [150, 300, 600]
sort = present(people, sheets, items=task.data.index)  # each grouping is by a different person
first = [sort.restrict(annotators=sort.annotators[:n]) for n in n_sheets]


def right(n_clusters, groupings, settings):
    """Return the normalised mutual information of a fusion with the truth."""
    fusion = SubsetFusion(n_clusters, max_clusters=15, random_state=0, **settings).fit(groupings)
    return nmi(task.target, fusion.labels_)


_, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
for (name, settings), colour, marker in zip(FUSIONS.items(), COLOURS, "osD^"):
    found = [right("auto", groupings, settings) for groupings in first]
    ax.plot(n_sheets, found, marker + "-", color=colour, label=name)
ax.set(xlabel="sheets of 8 of 100 items", ylabel="mutual information with the truth", ylim=(0, 1.02))
ax.legend(frameon=False, loc="lower right")
plt.show()

# %%
# Part of the difference is due to the number of clusters. If it is known, pass it:

for name, settings in FUSIONS.items():
    print(f"{right(10, sort, settings):.2f}  {name}, 10 clusters given")

# %%
# Now the sheets are chosen. There are eighty items in eight clusters; every person puts two items of a cluster together
# with probability 0.8, and two others with probability 0.08. ``ask`` composes the sheets, ``tell`` takes the piles. The
# strategy ``"informative"`` asks about items for which the model is uncertain whether they belong together.

truth = np.arange(80) % 8
probability = np.where(truth[:, None] == truth, 0.8, 0.08)


def study(strategy, random_state):
    """Return how much of the truth is recovered, after every second round of twelve sheets."""
    person = CooccurrenceAgent(probability, random_state=random_state)
    fusion = SubsetFusion(n_clusters=8, random_state=0)
    session = ActiveSession(range(80), strategy=strategy, fusion=fusion, random_state=random_state)
    found = []
    for number in range(1, 11):
        for sheet in session.ask(n_subsets=12, size=8):
            session.tell(person(sheet.items), subset=sheet)
        if number % 2 == 0:
            found.append(nmi(truth, session.consensus().labels_))
    return found


asked = 12 * np.arange(2, 11, 2)
found = {strategy: np.array([study(strategy, seed) for seed in range(3)]) for strategy in ("informative", "random")}

_, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
for (strategy, curves), colour, marker in zip(found.items(), ("#0072B2", "#D55E00"), "os"):
    ax.plot(np.tile(asked, (3, 1)).T, curves.T, marker, ms=4, mfc="none", color=colour, alpha=0.5)
    ax.plot(asked, curves.mean(0), marker + "-", color=colour, label=strategy)
ax.set(xlabel="sheets of 8 of 80 items", ylabel="mutual information with the truth", ylim=(0, 1.02))
ax.legend(frameon=False, loc="lower right")
plt.show()

# %%
# Small marks are single studies, lines their means. How much it helps depends on the people and on the items: simulate
# them as you expect them to be. If people always make several piles, whatever they are shown, choosing similar items
# may not help at all.
