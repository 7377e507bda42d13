"""
A website before and after its redesign
=======================================

Thirty people sorted sixteen pages of a website into piles. The menu was then rebuilt after these piles, and thirty
other people sorted the pages again. Did people's idea of the site change, or are these merely other people?
"""

# %%
# In this simulation one page did move: *Gift cards* was thought of as something to buy, and now as a way to pay.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from consilience.inspection import plot_flow, study_difference
from consilience.simulation import simulate_crowd

menu = {
    "Products": ["Shoes", "Coats", "Hats", "Gift cards"],
    "Payment": ["Invoice", "Credit card", "Instalments", "Vouchers"],
    "Delivery": ["Track a parcel", "Pick-up points", "Express", "Abroad"],
    "Help": ["Returns", "Complaints", "Sizes", "Contact"],
}
before = pd.Series({page: heading for heading, pages in menu.items() for page in pages})
after = before.copy()
after["Gift cards"] = "Payment"
first = simulate_crowd(before, n_annotators=30, accuracy=0.8, random_state=0)
second = simulate_crowd(after, n_annotators=30, accuracy=0.8, random_state=1)

# %%
# The comparison asks how far random groups of these people would differ.

found = study_difference(first, second, names=("before", "after"), n_permutations=199, n_draws=20, random_state=0)
print(found.differ, found.moved)
print(found.moves.T.to_string())

# %%
# *Coats*, a former neighbour, stands out as well, but it has the neighbours that it had: only *Gift cards* went
# elsewhere.

# %%
# A band is a set of pages that went from one pile to another; those with a dark edge changed their neighbours.

_, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
plot_flow(found, ax=ax)
plt.show()

# %%
# With nothing changed, nothing is found:

third = simulate_crowd(before, n_annotators=30, accuracy=0.8, random_state=2)
same = study_difference(first, third, n_permutations=199, n_draws=20, random_state=0)
print(same.differ, same.moved, np.round(same.p_value, 2))
