"""
Subtypes of a disease, by five pathologists
===========================================

Five pathologists each sort 80 of 200 cases into subtypes. They do not use the same names, and some distinguish more
subtypes than others. There are six laboratory values for every case. Which subtypes explain what all five say, and
which would be found for a new patient?
"""

# %%
# The cases have four subtypes. Two pathologists distinguish all of them; the other three merge some.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from consilience import Groupings
from consilience.inspection import MappingDisplay
from consilience.metrics import ari
from consilience.semisupervised import PartitionLabelModel

rng = np.random.default_rng(0)
cases = pd.Index([f"case {number:03d}" for number in range(200)], name="case")
subtype = np.arange(200) % 4
centres = rng.normal(scale=1.6, size=(4, 6))
values = pd.DataFrame(centres[subtype] + rng.normal(size=(200, 6)), cases, [f"marker {letter}" for letter in "ABCDEF"])

words = {
    "Dr Adams": ["I", "II", "III", "IV"],
    "Dr Baker": ["classic", "mixed", "basal", "other"],
    "Dr Chen": ["low", "low", "high", "high"],
    "Dr Diaz": ["A", "B", "B", "C"],
    "Dr Evans": ["typical", "atypical", "atypical", "atypical"],
}
sorts = {}
for pathologist, names in words.items():
    seen = rng.permutation(200)[:80]
    said = np.where(rng.random(80) < 0.9, subtype[seen], rng.integers(4, size=80))
    sorts[pathologist] = pd.Series(np.array(names)[said], cases[seen])
sorts = Groupings.from_matrix(pd.DataFrame(sorts).reindex(cases))
print(sorts.summary())

# %%
# The model sees neither the subtypes nor their number. It uses the values to carry what is said of some cases over to
# others.

pipeline = make_pipeline(StandardScaler(), PartitionLabelModel(max_clusters=8, n_init=3, random_state=0))
pipeline.set_output(transform="pandas")
model = pipeline.fit(values, sorts)[-1]
print(f"{model.n_clusters_} subtypes; agreement with the truth (ARI): {ari(subtype, model.labels_):.2f}")

# %%
# What each pathologist's words stand for: Dr Chen's "low" are two subtypes of Dr Adams.

_, ax = plt.subplots(figsize=(7, 5), layout="constrained")
MappingDisplay.from_estimator(model, ax=ax)
plt.show()

# %%
# A new patient needs no pathologist:

patient = values.iloc[[0]] + 0.1
print(pipeline.predict(patient), pipeline.predict_proba(patient).round(2))
