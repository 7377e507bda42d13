"""
A crowd in which one in ten is informed
=======================================

A hundred people label a thousand items of three classes. Ten of them are informed, and right six times out of ten.
The others label at random, each with their own favourite label. We do not know who is who.
"""

# %%
# The crowd and its labels.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from consilience.consensus import DawidSkene, MajorityVote, StagewiseEM
from consilience.simulation import simulate_labels, sparse_crowd

classes = np.array(["A", "B", "C"])[np.arange(1000) % 3]
crowd = sparse_crowd(n_annotators=100, n_classes=3, alpha=0.1, accuracy=0.6, random_state=1)
labels = simulate_labels(classes, confusion=crowd, random_state=1)
print(labels.summary())

# %%
# The majority is uninformed, and the vote is wrong for four items in ten. ``StagewiseEM`` begins from the two
# annotators whose labels have the most mutual information: labels given at random have none with those of anybody.

vote, model = MajorityVote().fit(labels), StagewiseEM().fit(labels)
print(f"right: vote {(vote.labels_ == classes).mean():.1%}, StagewiseEM {(model.labels_ == classes).mean():.1%}")

# %%
# Is a better result possible? This is the accuracy of the best classes if one knew the confusion matrix of each
# annotator.

said = labels.label.reshape(1000, 100)
evidence = sum(np.log(crowd[j][:, said[:, j]].T) for j in range(100))
print(f"right with the crowd known: {(labels.classes[evidence.argmax(axis=1)] == classes).mean():.1%}")

# %%
# The model also identifies the informed annotators. They are the first ten.

experts = [f"annotator {i}" for i in range(1, 11)]
print("found", sorted(model.informative_set_, key=experts.index))

# %%
# How the set grew, round by round. The largest mutual information of two annotators given the class falls to the level
# of chance: then the classes explain why annotators agree.

trace = model.trace_
fig, (top, bottom) = plt.subplots(2, 1, sharex=True, figsize=(6, 4.6), layout="constrained")
top.plot(trace.index, trace["information"], "o-", ms=4)
top.set(ylabel="information (nats)", ylim=(0, None))
bottom.step(trace.index, trace["n_informative"], where="post")
bottom.set(xlabel="round", ylabel="informative set", xticks=range(0, len(trace), 5), yticks=range(0, 15, 5))
plt.show()

# %%
# The rounds may include somebody by chance. Afterwards every annotator is tested against the others, and the set is
# corrected. Experts are far from everybody else.

p_value = model.annotators_["p_value"].clip(lower=1e-12)
knows = p_value.index.isin(experts)
_, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
for mask, marker, label in ((~knows, "o", "at random"), (knows, "D", "knows")):
    ax.semilogy(np.flatnonzero(mask) + 1, p_value[mask], marker, ms=5, label=label)
ax.axhline(0.01 / 100, color="0.5", lw=1, ls="--", label="1 % for all tests together")
ax.set(xlabel="annotator", ylabel="p-value (1e-12 or less at the top)", ylim=(5, 1e-13))
ax.legend(frameon=False, loc="center right")
plt.show()

# %%
# How few experts suffice? There are three crowds for each share of experts; the line is their mean. ``DawidSkene``
# begins from the vote. If enough annotators are informed, it does as well.

models = {"MajorityVote": MajorityVote, "DawidSkene": DawidSkene, "StagewiseEM": StagewiseEM}
rows = []
for alpha in (0.05, 0.1, 0.15, 0.2):
    for study in range(3):
        crowd = sparse_crowd(alpha=alpha, accuracy=0.6, random_state=study)
        labels = simulate_labels(classes, confusion=crowd, random_state=study)
        right = {name: (make().fit(labels).labels_ == classes).mean() for name, make in models.items()}
        rows.append({"alpha": alpha, **right})
right = pd.DataFrame(rows)

_, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
for colour, name in enumerate(models):
    ax.plot(right["alpha"], right[name], "o", ms=4, mfc="none", color=f"C{colour}", alpha=0.5)
    ax.plot(right.groupby("alpha")[name].mean(), "o-", color=f"C{colour}", label=name)
ax.set(
    xlabel="share of annotators who know", ylabel="share of right classes", ylim=(0, 1), xticks=[0.05, 0.1, 0.15, 0.2]
)
ax.legend(frameon=False, loc="lower right")
plt.show()
