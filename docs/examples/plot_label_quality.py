"""
Who labels well, and what a few known answers are worth
=======================================================

Thirty people label pictures of cats, dogs and foxes, four of them each picture. Some are careful, some are hasty, some
cannot tell a dog from a fox, and some say "cat" whatever they see. ``DawidSkene`` finds out who is who, and weighs what
they say accordingly.
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
# The vote counts all alike.

vote, model = MajorityVote().fit(labels), DawidSkene().fit(labels)
print(f"right: vote {(vote.labels_ == classes).mean():.1%}, DawidSkene {(model.labels_ == classes).mean():.1%}")
print(f"ties of the vote: {vote.n_ties_} of {len(labels)} items")

# %%
# What the model thinks of the annotators. It was not told the kinds.

table = model.annotators_.assign(kind=kind)
print(table.groupby("kind")[["n_labels", "agreement", "accuracy", "information"]].mean().round(2))

# %%
# Each point is an annotator. Those low down tell little: the question is whether they do not care, or were not told
# how.

_, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
plot_annotators(model, ax=ax)
plt.show()

# %%
# The confusion matrices say which. One annotator of each kind, beside the crowd:

first = [model.annotators_.index[np.argmax(kind == name)] for name in kinds]
plt.figure(figsize=(7.5, 4))
plot_confusion(model, first)
plt.show()

# %%
# How sure is it? Where the model is sure it is right more often, if not quite as often as it says. Ask again about the
# others.

sure = pd.cut(model.responsibilities_.max(axis=1), [0, 0.6, 0.8, 0.95, 1])
right = pd.Series(model.labels_ == classes)
print(right.groupby(sure, observed=True).agg(["size", "mean"]).round(2))

# %%
# A second batch comes in: 60 pictures, and only two people label each. So few labels say little about who is good, and
# alone ``DawidSkene`` does worse than the vote. But the people are known: `confusion_counts_` of the first fit is the
# history of the next. And twelve of the new pictures are checked by hand: these are gold. Eight such batches: the share
# of right classes among the pictures that nobody checked, and its mean.

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
