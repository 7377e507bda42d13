"""
Labels with features: what a classifier adds to a crowd
=======================================================

Twenty people label scikit-learn's handwritten digits, three people for each, and each is right on about half of them.
The pixels know better: ``DawidSkeneClassifier`` learns from the labels what the pixels tell, and reads both together.
"""

# %%
# A crowd, and 500 of the digits, of which 400 are labelled.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

from consilience.consensus import DawidSkene, MajorityVote
from consilience.semisupervised import DawidSkeneClassifier
from consilience.simulation import noisy_crowd, simulate_labels

images, digits = load_digits(return_X_y=True)
chosen = np.random.default_rng(0).permutation(len(digits))[:500]
images, digits = images[chosen], digits[chosen]
crowd = noisy_crowd(20, 10, low=0.35, high=0.65, random_state=0)
labels = simulate_labels(digits, confusion=crowd, annotators_per_item=3, random_state=0)
labelled = np.arange(400)
partial = labels[labelled].reindex(labels.items)  # nobody labels the last hundred

# %%
# Without features, three such labels often disagree. With features, labelled images are mended, and the others are
# classified.

vote, alone = MajorityVote().fit(labels[labelled]), DawidSkene().fit(labels[labelled])
model = DawidSkeneClassifier(random_state=0).fit(images, partial)
right = model.labels_ == digits
for name, share in {
    "majority vote": (vote.labels_ == digits[labelled]).mean(),
    "DawidSkene": (alone.labels_ == digits[labelled]).mean(),
    "DawidSkeneClassifier, labelled": right[labelled].mean(),
    "DawidSkeneClassifier, not labelled": right[400:].mean(),
}.items():
    print(f"{name:35s} {share:.1%}")
print(model.notes_[0])

# %%
# Probabilities are as sure as they should be, with labels and without: a point for each fifth of the images.

_, ax = plt.subplots(figsize=(5, 4.5), layout="constrained")
for name, items in (("with labels", labelled), ("without labels", np.arange(400, 500))):
    sure = pd.Series(model.responsibilities_[items].max(axis=1))
    parts = sure.groupby(pd.qcut(sure.rank(method="first"), 5, labels=False))
    ax.plot(parts.mean(), pd.Series(right[items]).groupby(parts.ngroup()).mean(), "o-", label=name)
ax.plot([0.3, 1], [0.3, 1], color="grey", linewidth=1)
ax.set(xlabel="probability of the class", ylabel="share of right classes")
ax.legend()
plt.show()

# %%
# Annotators are judged by better classes, so that it shows who is careful: estimated accuracies against the true ones.

true = crowd[:, 0, 0]
_, ax = plt.subplots(figsize=(5, 4.5), layout="constrained")
for name, fitted in (("labels alone", alone), ("with features", model)):
    found = fitted.annotators_["accuracy"].to_numpy()
    ax.plot(true, found, "o", label=f"{name}: mean error {np.abs(found - true).mean():.3f}")
ax.plot([0.3, 0.7], [0.3, 0.7], color="grey", linewidth=1)
ax.set(xlabel="true accuracy", ylabel="estimated accuracy")
ax.legend()
plt.show()

# %%
# Features that tell nothing do no harm: the fit is then that of ``DawidSkene``.

noise = np.random.default_rng(0).normal(size=(500, 20))
useless = DawidSkeneClassifier(random_state=0).fit(noise, partial)
print(useless.uses_features_, bool((useless.labels_[labelled] == alone.labels_).all()))
