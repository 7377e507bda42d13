"""
How many people to invite
=========================

You are about to invite people to a card sort of 16 cards. Six colleagues have sorted them already. How many people
does it take until another group of as many would find much the same clusters?
"""

# %%
# The colleagues are the pilot. How far any two of them agree decides how many people are needed.

import matplotlib.pyplot as plt
import numpy as np

from consilience.active import plan
from consilience.inspection import plot_plan
from consilience.metrics import mean_agreement
from consilience.simulation import simulate_crowd

cards = np.arange(16) % 4
pilot = simulate_crowd(cards, n_annotators=6, accuracy=0.85, random_state=0)
print(f"agreement of two colleagues (ARI): {mean_agreement(pilot):.2f}")

# %%
# Simulated people who agree as far as the colleagues do sort the cards again and again:

found = plan(pilot=pilot, target=0.8, n_draws=2, random_state=0)
print(f"{found.annotators:.0f} people; two such groups agree to {found.target} (adjusted mutual information)")
print(found.table[["agreement", "n_clusters"]].round(2).to_string())

# %%
# The curve, with the number of people at which it reaches the target:

_, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
plot_plan(found, ax=ax)
plt.show()
