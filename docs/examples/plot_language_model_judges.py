"""
Reviewing answers with people and a language model
==================================================

Six reviewers and a language model say of 400 answers of an assistant whether they are right, partly right or wrong.
The model is asked with three prompts, since that is cheap. Is it as good as the reviewers, and may its three answers
count as three?
"""

# %%
# The prompts are copies of each other: what the model gets wrong with one, it gets wrong with the others.

import warnings

import matplotlib.pyplot as plt
import numpy as np

from consilience.consensus import DawidSkene, MajorityVote
from consilience.inspection import AnnotatorsDisplay
from consilience.simulation import simulate_copies, simulate_labels

truth = np.array(["partly", "right", "wrong"])[np.random.default_rng(1).integers(3, size=400)]
accuracy = [0.85, 0.8, 0.8, 0.75, 0.75, 0.7, 0.5]
reviews = simulate_labels(truth, n_annotators=7, accuracy=accuracy, random_state=1)
reviews = simulate_copies(reviews, "annotator 7", n_copies=2, alike=0.95, random_state=1)
names = {"annotator 7": "prompt 1", "annotator 7 (copy 1)": "prompt 2", "annotator 7 (copy 2)": "prompt 3"}
reviews = reviews.to_matrix().rename(columns=names | {f"annotator {n}": f"reviewer {n}" for n in range(1, 7)})

# %%
# The fit notices. Its warning says who agrees with whom more than independent people would.

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model = DawidSkene().fit(reviews)
print(caught[0].message)

# %%
# Counted as three, the prompts outvote some of the reviewers, and more answers get the wrong verdict.

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    apart = DawidSkene(copies=None).fit(reviews)
    votes = MajorityVote(copies=None).fit(reviews)
for name, fit in {"prompts weigh as one": model, "prompts weigh as three": apart, "votes": votes}.items():
    print(f"{name}: {(fit.labels_ != truth).mean():.1%} wrong")

# %%
# How good each judge is, estimated without the truth:

_, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
AnnotatorsDisplay.from_estimator(model, ax=ax)
plt.show()
print(model.annotators_["accuracy"].round(2).to_string())
