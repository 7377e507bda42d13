"""
A folder of pictures, some of them sorted
=========================================

Eight people each sort some of the pictures in a folder; most pictures are seen by nobody. A deep model with
convolutional networks learns from all pictures, and carries the people's groups over to those that nobody saw.
"""

# %%
# First, a folder of small colour pictures and a table of sorts, as you may have them: one file per picture, and one row
# per picture that somebody sorted. Here, the pictures show a disc, a square or a cross in a random colour and place.
# People sort by shape, and put one picture in ten into a wrong group.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from PIL import Image, ImageDraw

from consilience import read_annotations, write_annotations
from consilience.deep import BayesSCDC
from consilience.inspection import plot_latent, report
from consilience.metrics import nmi
from consilience.simulation import simulate_crowd

SHAPES = ("disc", "square", "cross")
rng = np.random.default_rng(0)


def draw(shape):
    """A picture of a shape, somewhere, in some colour."""
    picture = Image.new("RGB", (16, 16), "black")
    x, y = (int(place) for place in rng.integers(1, 7, 2))
    colour = tuple(int(part) for part in rng.integers(90, 256, 3))
    canvas = ImageDraw.Draw(picture)
    if shape == "disc":
        canvas.ellipse((x, y, x + 8, y + 8), fill=colour)
    elif shape == "square":
        canvas.rectangle((x, y, x + 8, y + 8), outline=colour, width=2)
    else:
        canvas.line((x, y, x + 8, y + 8), fill=colour, width=3)
        canvas.line((x, y + 8, x + 8, y), fill=colour, width=3)
    return picture


folder = Path(tempfile.mkdtemp())
shapes = pd.Series({f"picture-{number:03d}": SHAPES[number % 3] for number in range(400)})
for name, shape in shapes.items():
    draw(shape).save(folder / f"{name}.png")
write_annotations(simulate_crowd(shapes, n_annotators=8, items_each=36, random_state=0), folder / "sorts.csv")

# %%
# Read the pictures, by name, and the sorts.

pictures = pd.Series({file.stem: np.asarray(Image.open(file).convert("RGB")) for file in sorted(folder.glob("*.png"))})
sorts = read_annotations(folder / "sorts.csv")
print(len(pictures), "pictures of", pictures.iloc[0].shape)
print(sorts.summary())

# %%
# People's groups are not what varies most in these pictures: that is the place and the colour. So the clusters start
# from the judgements. Few pictures were sorted, and these count ten times as much as the others.

model = BayesSCDC(
    12,
    networks="convolutional",
    hidden=(50,),
    likelihood="bernoulli",
    init="judgements",
    annotated_weight=10,
    batch_size=32,
    annotated_batch_size=32,
    n_epochs=40,
    random_state=0,
).fit(pictures, sorts)
seen = pictures.index.isin(sorts.to_frame()["item"])
found = model.labels_series_
print(model.n_clusters_, "clusters")
print(f"NMI with the shapes, of {seen.sum()} pictures that people sorted: {nmi(shapes[seen], found[seen]):.2f}")
print(f"NMI with the shapes, of {(~seen).sum()} that nobody saw: {nmi(shapes[~seen], found[~seen]):.2f}")

# %%
# The positions of the pictures in the latent space, and pictures drawn from each cluster.

_, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
plot_latent(model, pictures, ax=ax)
plt.show()

figure, axes = plt.subplots(model.n_clusters_, 8, figsize=(6, 0.8 * model.n_clusters_), squeeze=False)
for cluster, row in enumerate(axes):
    drawn, _ = model.sample(len(row), cluster=cluster, random_state=0)
    for ax, picture in zip(row, drawn, strict=True):
        ax.imshow(picture)
        ax.axis("off")
plt.show()

# %%
# The report shows the pictures beside the names.

report(model, sorts, pictures=folder, path=folder / "report.html")
