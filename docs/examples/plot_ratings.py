"""
Ratings from 1 to 5, by people who use the scale differently
============================================================

Eight people rate 120 wines from 1 to 5. Some are generous, some harsh, some use only the middle of the scale, and one
does not taste at all. What is each wine worth, and who can be relied on?
"""

# %%
# The raters: how much higher than others they rate, how far they stretch differences, how noisy they are, and how often
# they lapse.

import matplotlib.pyplot as plt
import numpy as np

from consilience.consensus import DawidSkene, OrdinalRatings
from consilience.inspection import plot_raters, plot_values
from consilience.metrics import krippendorff_alpha
from consilience.simulation import simulate_ratings

worth = np.random.default_rng(0).normal(3, 1.1, 120).clip(0.6, 5.4)
ratings = simulate_ratings(
    worth,
    n_annotators=8,
    bias=[0.9, 0.6, 0.0, 0.0, -0.3, -0.8, 0.0, 0.0],
    slope=[1.0, 1.2, 0.5, 0.6, 1.3, 1.0, 1.0, 1.0],
    noise=[0.6, 0.4, 0.5, 0.4, 0.6, 0.5, 1.4, 0.6],
    lapse=[0.0, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
    annotators_per_item=4,
    random_state=0,
)
alpha = krippendorff_alpha(ratings, level="ordinal")
print(f"{ratings}; ordinal alpha {alpha.value:.2f} ({alpha.low:.2f} to {alpha.high:.2f})")

# %%
# Three ways to a level for each wine. ``DawidSkene`` does not know that 4 is nearer to 5 than to 1, and says so in a
# warning, which is not shown here.

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    classes = DawidSkene().fit(ratings)
mean, model = OrdinalRatings(annotator_model="equal").fit(ratings), OrdinalRatings().fit(ratings)
true = np.floor(worth + 0.5)
for name, each in (("DawidSkene", classes), ("mean", mean), ("OrdinalRatings", model)):
    print(f"{name}: off by {np.abs(each.labels_ - true).mean():.2f} levels")

# %%
# Who rates how. Annotator 8 did not taste: no one has as many lapses, or labels of which as little is due to the wines.

print(model.annotators_[["bias", "slope", "noise", "lapse", "reliability", "weak"]].round(2))
plot_raters(model)
plt.show()

# %%
# The values of the wines, with 90 % intervals.

plot_values(model)
plt.show()
