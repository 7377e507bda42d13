"""
From Label Studio and back
==========================

Five people labelled messages in Label Studio, three people for each message. The export holds every answer. What is
wanted back is one class for each message, so that reviewers begin with the doubtful ones.
"""

# %%
# An export in the JSON of Label Studio, made here of simulated answers:

import json
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from consilience import read_annotations
from consilience.consensus import DawidSkene
from consilience.inspection import ConfusionDisplay
from consilience.interchange import to_label_studio
from consilience.simulation import simulate_labels

topics = np.array(["billing", "delivery", "returns"])[np.arange(150) % 3]
said = simulate_labels(
    topics, n_annotators=5, annotators_per_item=3, accuracy=[0.95, 0.9, 0.85, 0.7, 0.5], random_state=0
).to_frame()


def answer(row):
    """Return an annotation as Label Studio exports it."""
    choice = {"from_name": "topic", "to_name": "text", "type": "choices", "value": {"choices": [row.label]}}
    return {"completed_by": int(row.annotator.split()[1]), "result": [choice]}


texts = {item: {"text": f"message {item}"} for item in said["item"].unique()}
tasks = [
    {"id": int(item), "data": texts[item], "annotations": [answer(row) for row in rows.itertuples()]}
    for item, rows in said.groupby("item")
]
folder = tempfile.TemporaryDirectory()
export = Path(folder.name, "export.json")
export.write_text(json.dumps(tasks))

# %%
# Reading it needs no options, and the fit none either:

labels = read_annotations(export)
print(labels)
model = DawidSkene().fit(labels)
print(model.annotators_[["n_labels", "accuracy"]].round(2).to_string())

plt.figure(figsize=(7.5, 3.5))
ConfusionDisplay.from_estimator(model)
plt.show()

# %%
# Back: predictions with a score, by which Label Studio can order the tasks of the reviewers.

data = {item: {"text": f"message {item}"} for item in model.items_}
predictions = to_label_studio(model, data, from_name="topic", to_name="text")
print(json.dumps(predictions[0], indent=1))
score = np.array([task["predictions"][0]["score"] for task in predictions])
print(f"{(score < 0.9).sum()} of {len(score)} messages are less than 90 % certain")
folder.cleanup()
