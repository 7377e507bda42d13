"""
Several tags for each photo, by people who overlook some
========================================================

Twelve people tag 150 photos with what they see: people, food, water, night, snow, animals. A photo may have several
tags, or none. Most people overlook some, one gives tags nearly at random. What is in each photo, and who can be relied
on?
"""

# %%
# Each photo is seen by four people. Whoever gave it no tag has a row that says so.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import f1_score

from consilience.consensus import TagConsensus
from consilience.simulation import simulate_tags

tags = ["people", "food", "water", "night", "snow", "animals"]
often = [0.5, 0.2, 0.3, 0.15, 0.1, 0.2]
truth = pd.DataFrame(np.random.default_rng(1).random((150, 6)) < often, columns=tags)
said = simulate_tags(
    truth,
    n_annotators=12,
    annotators_per_item=4,
    sensitivity=[0.9, 0.85, 0.8, 0.8, 0.75, 0.7, 0.7, 0.65, 0.6, 0.6, 0.5, 0.35],
    specificity=[0.98] * 11 + [0.7],
    random_state=1,
)
print(said)
print(said.to_frame().head(6).to_string(index=False))

# %%
# A model that knows who overlooks what finds more of the tags than the vote of half of those who saw a photo.

model = TagConsensus().fit(said)
frame = said.to_frame()
votes = pd.crosstab(frame["item"], frame["label"])[tags].to_numpy() / 4 >= 0.5
order = [model.tags_.tolist().index(tag) for tag in tags]
for name, found in (("votes", votes), ("TagConsensus", model.indicator_[:, order])):
    print(f"{name}: {(found != truth).to_numpy().mean():.1%} wrong, F1 {f1_score(truth, found, average='macro'):.2f}")

# %%
# The people. Their rates for all tags are alike, and the model learned that: a large likeness.

print(model.annotators_[["n_items", "sensitivity", "specificity", "information", "weak"]].round(2))
print(model.likeness_.round())

people = model.annotators_
fig, ax = plt.subplots()
ax.scatter(1 - people["specificity"], people["sensitivity"], c=np.where(people["weak"], "tab:red", "tab:blue"))
ax.plot([0, 1], [0, 1], color="grey", linestyle="--")
ax.set(xlabel="gives a tag that is not there", ylabel="gives a tag that is there", xlim=(0, 1), ylim=(0, 1))
plt.show()

# %%
# The tags of the first photos, and their probabilities.

table = pd.DataFrame(model.probabilities_[:5].round(2), columns=model.tags_)
print(table.assign(found=model.labels_[:5]).to_string())
