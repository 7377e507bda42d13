"""
Who labels well, and what a few known classes are worth
=======================================================

Thirty people label images of cats, dogs and foxes, four people for each image. Some are careful, some are hasty, some
cannot distinguish dogs from foxes, and some say "cat" whatever they see. ``DawidSkene`` estimates the quality of each,
and weights their labels accordingly.
"""

# %%
# The four kinds of people, as confusion matrices: a row for each true class, a column for each label.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from consilience.consensus import DawidSkene, MajorityVote
from consilience.inspection import plot_annotators, plot_confusion
from consilience.simulation import simulate_labels

kinds = {
    "careful": [[0.90, 0.05, 0.05], [0.05, 0.90, 0.05], [0.05, 0.05, 0.90]],
    "hasty": [[0.60, 0.20, 0.20], [0.20, 0.60, 0.20], [0.20, 0.20, 0.60]],
    "dog = fox": [[0.90, 0.05, 0.05], [0.10, 0.45, 0.45], [0.10, 0.45, 0.45]],
    "cat!": [[0.90, 0.05, 0.05], [0.90, 0.05, 0.05], [0.90, 0.05, 0.05]],
}
kind = np.repeat(list(kinds), [8, 10, 6, 6])
crowd = np.array([kinds[name] for name in kind])
classes = np.array(["cat", "dog", "fox"])[np.arange(300) % 3]
labels = simulate_labels(classes, confusion=crowd, annotators_per_item=4, random_state=0)
print(labels.summary())

# %%
# The majority vote gives all labels equal weight.

vote, model = MajorityVote().fit(labels), DawidSkene().fit(labels)
print(f"right: vote {(vote.labels_ == classes).mean():.1%}, DawidSkene {(model.labels_ == classes).mean():.1%}")
print(f"ties of the vote: {vote.n_ties_} of {len(labels)} items")

# %%
# The model's estimates for the annotators. It does not know the kinds.

table = model.annotators_.assign(kind=kind)
print(table.groupby("kind")[["n_labels", "agreement", "accuracy", "information"]].mean().round(2))

# %%
# Each point is an annotator. Those at the bottom are uninformative: either they are careless, or their instructions
# were unclear.

_, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
plot_annotators(model, ax=ax)
plt.show()

# %%
# The confusion matrices show which. One annotator of each kind, and the crowd:

first = [model.annotators_.index[np.argmax(kind == name)] for name in kinds]
plt.figure(figsize=(7.5, 4))
plot_confusion(model, first)
plt.show()

# %%
# How certain is it? Where the model is certain it is right more often, though not quite as often as it claims. Collect
# more labels of the other images.

sure = pd.cut(model.responsibilities_.max(axis=1), [0, 0.6, 0.8, 0.95, 1])
right = pd.Series(model.labels_ == classes)
print(right.groupby(sure, observed=True).agg(["size", "mean"]).round(2))

# %%
# A second batch arrives: 60 images, each labelled by only two people. So few labels show little about the quality of
# annotators, and by itself ``DawidSkene`` is worse than the vote. But the people are known: `confusion_counts_` of the
# first fit is the history of the next. And twelve of the new images are checked by hand: these are gold. The plot
# shows, for eight such batches, the share of correct classes among the unchecked images, and its mean.

rows = []
for study in range(8):
    rng = np.random.default_rng(study)
    new = np.array(["cat", "dog", "fox"])[rng.integers(3, size=60)]
    batch = simulate_labels(
        new, confusion=crowd, annotators_per_item=2, items=[f"new {i}" for i in range(60)], random_state=study
    )
    gold = dict(zip(batch.items[:12], new[:12], strict=True))
    history = model.confusion_counts_
    fits = {
        "vote": MajorityVote().fit(batch),
        "DawidSkene": DawidSkene().fit(batch),
        "with gold": DawidSkene().fit(batch, gold=gold),
        "with history": DawidSkene().fit(batch, history=history),
        "with both": DawidSkene().fit(batch, gold=gold, history=history),
    }
    rows.append({name: (fit.labels_ == new)[12:].mean() for name, fit in fits.items()})
scores = pd.DataFrame(rows)

_, ax = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
for place, name in enumerate(scores):
    ax.plot(scores[name], np.full(len(scores), place), "o", ms=5, mfc="none", color="0.6")
    ax.plot(scores[name].mean(), place, "D", ms=7, color="C0")
ax.set(yticks=range(len(scores.columns)), yticklabels=scores.columns, xlabel="share of right classes", xlim=(None, 1))
ax.invert_yaxis()
plt.show()
