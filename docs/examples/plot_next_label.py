"""
Which label next?
=================

Two hundred items, and people who label them, some well and some badly. How many labels does it take until few classes
are wrong, and does it help to choose the items, and whom to ask?
"""

# %%
# A simulated crowd: twenty people, right between half of the time and nine times out of ten. What each would say about
# every item is drawn beforehand, so that all studies meet the same people.

import matplotlib.pyplot as plt
import numpy as np

from consilience.active import LabelSession
from consilience.consensus import DawidSkene
from consilience.simulation import simulate_labels

rng = np.random.default_rng(0)
truth = rng.integers(3, size=200)
crowd = simulate_labels(truth, n_annotators=20, accuracy=rng.uniform(0.5, 0.9, 20), random_state=0).to_matrix()
order = [rng.permutation(crowd.columns) for _ in truth]  # in which people come to each item

# %%
# A study asks for 60 labels a round. Either whoever comes next labels the item that is asked about, or the session also
# chooses among the people. With ``random_share=1``, all items are drawn at random.


def study(random_share, choose_people):
    """Return the share of wrong classes after each round."""
    model = DawidSkene("one-coin", copies=None)  # all errors are equally likely here
    session = LabelSession(range(200), model=model, random_share=random_share, random_state=0)
    n_labels, wrong = np.zeros(200, dtype=int), []
    for _ in range(12):
        for question in session.ask(60, annotators=list(crowd) if choose_people else None):
            comes_next = order[question.item][n_labels[question.item]]
            who = comes_next if question.annotator is None else question.annotator
            session.tell(crowd.loc[question.item, who], question=question, annotator=who)
            n_labels[question.item] += 1
        wrong.append(np.mean(session.consensus().labels_ != truth) if session.labels_.n_rows > 200 else np.nan)
    return session, np.array(wrong)


studies = {
    "items at random": study(1.0, choose_people=False),
    "items chosen": study(0.1, choose_people=False),
    "items and people chosen": study(0.1, choose_people=True),
}

_, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
for (name, (_, wrong)), colour, marker in zip(studies.items(), ("#D55E00", "#0072B2", "#009E73"), "sod"):
    ax.plot(60 * np.arange(1, 13) / 200, wrong, marker + "-", color=colour, label=name)
ax.set(xlabel="labels for each item", ylabel="share of items whose class is wrong", ylim=(0, None))
ax.legend(frameon=False)
plt.show()

# %%
# The session forecasts what a budget leaves, and says when to stop. It does not know the truth:

session, wrong = studies["items chosen"]
print(session.should_stop().reason)
print(f"wrong now: {wrong[-1]:.1%}; the session expects {session.labels_needed(0.01).error:.1%}")
print(f"after 200 more labels, it expects {session.forecast_error(200):.1%}")

# %%
# A tenth of the questions were about items drawn at random. Their labels show whether the model, by which the others
# were chosen, is right about how often people agree with it:

print(session.checks_.round(2).to_string())
