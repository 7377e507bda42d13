"""
Which records are of the same person?
=====================================

Three registers hold 240 records of 100 people. Clerks were shown pairs of records, each pair twice, and said whether
they are of the same person. One answer in twenty is wrong, and answers contradict each other: A is B, B is C, but A
is not C.
"""

# %%
# Pairs that nobody would confuse are not asked about: blocking has left these.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from consilience import Pairs
from consilience.consensus import CorrelationClustering
from consilience.metrics import pairwise_f

rng = np.random.default_rng(0)
person = np.sort(np.r_[np.arange(100), rng.integers(100, size=140)])
record = np.array([f"record {number:03d}" for number in range(240)])
a, b = np.triu_indices(240, 1)
asked = np.repeat(np.flatnonzero((person[a] == person[b]) | (rng.random(len(a)) < 0.03)), 2)
same = (person[a[asked]] == person[b[asked]]) ^ (rng.random(len(asked)) < 0.05)
clerk = [f"clerk {number}" for number in rng.integers(1, 9, size=len(asked))]
answers = pd.DataFrame({"item_a": record[a[asked]], "item_b": record[b[asked]], "annotator": clerk, "same": same})
print(answers.head(3).to_string())

# %%
# To join whatever was called the same, by anybody, makes a few people of everybody:

pairs = Pairs.from_frame(answers, items=record)
yes = answers[answers["same"]]
joined = pd.Series(record, record)
for one, other in zip(yes["item_a"], yes["item_b"]):
    joined[joined == joined[other]] = joined[one]
print(f"joined: {joined.nunique()} people, F = {pairwise_f(person, joined.to_numpy()).f:.2f}")

# %%
# The model weighs the answers against each other. It is not told how many people there are.

model = CorrelationClustering(random_state=0).fit(pairs)
scores = pairwise_f(person, model.labels_)
print(f"model: {model.n_clusters_} people, F = {scores.f:.2f}")

# %%
# How many records each person has:

sizes = {"true": np.bincount(np.unique(person, return_counts=True)[1])}
sizes["found"] = np.bincount(np.unique(model.labels_, return_counts=True)[1])
table = pd.DataFrame({name: pd.Series(counts) for name, counts in sizes.items()}).fillna(0).drop(0)
_, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
table.plot.bar(rot=0, xlabel="records of a person", ylabel="people", color=["#767676", "#0072B2"], ax=ax)
plt.show()
