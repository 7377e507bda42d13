"""
Three hospitals that may not pool their data
============================================

Three hospitals measured different things of the same patients, and no table may leave its hospital. Each clusters its
own patients, and sends which of them belong together, nothing else. One clustering is made of what they send.
"""

# %%
# The tables: wines stand for patients. Each hospital has 140 of 178, and four or five of the thirteen columns.

import matplotlib.pyplot as plt
import pandas as pd

from consilience.datasets import load_wine
from consilience.metrics import ami
from consilience.sites import fuse_sites, summarise_site

wine = load_wine()
patients = wine.data.rename(index="patient {}".format)
tables = {
    site: patients.sample(140, random_state=number).iloc[:, number::3]
    for number, site in enumerate(("Delft", "Leiden", "Utrecht"))
}
summaries = {site: summarise_site(table, site=site, random_state=0) for site, table in tables.items()}

# %%
# What a summary discloses is known before it is sent:

print("\n".join(summaries["Delft"].disclosures()))

# %%
# The fusion:

fused = fuse_sites(list(summaries.values()), n_clusters=3, random_state=0)
print(fused.sites.round(2).to_string())
truth = dict(zip(patients.index, wine.target))


def agreement(labels):
    """Return the adjusted mutual information of clusters, a Series by patient, with the kinds of wine."""
    return ami([truth[item] for item in labels.index], labels.to_numpy())


# %%
# A hospital alone, and all together. Delft happens to have the telling columns, and gains nothing. Leiden and Utrecht
# gain much, without having seen a single value from Delft.

scores = {}
for site, table in tables.items():
    alone = summarise_site(table, site=site, n_groups=3, random_state=0)
    scores[f"{site} alone"] = agreement(pd.Series(alone.groups[:, 0], alone.items))
scores["all three"] = agreement(fused.labels)
figure, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
ax.barh(list(scores), list(scores.values()), color=["#56B4E9"] * 3 + ["#0072B2"])
ax.set(xlabel="adjusted mutual information with the kinds of wine", xlim=(0, 1))
ax.invert_yaxis()
plt.show()
print(", ".join(f"{name}: {score:.2f}" for name, score in scores.items()))
