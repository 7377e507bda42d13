"""A study to try: pictures of handwritten digits, of which each person sorts a few."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from consilience.collect.settings.model import Item, Picture, Study, StudySettings
from consilience.collect.store import Store, new_picture

N_ITEMS = 120
SIZE = 24  # of a subset
SIDE = 128  # pixels
TITLE = "Demo: handwritten digits"
INSTRUCTIONS = """Put pictures that show the **same digit** into one group. Make as many groups as you need.

Some are hard to read; put these where you think they belong."""


def make(store: Store) -> Study:
    """Make the study in a store, and open it."""
    return store.open_study(make_draft(store, TITLE).id)


def make_draft(store: Store, title: str) -> Study:
    """Make the study under a title, as a draft."""
    pictures = [picture(image) for image in images()]
    items = [
        Item(number, f"digit {number + 1}", picture=one.hash, alt=f"handwritten digit {number + 1}")
        for number, one in enumerate(pictures)
    ]
    settings = StudySettings(instructions=INSTRUCTIONS, subset_size=SIZE, per_participant=N_ITEMS // SIZE)
    return store.create_study(title, items, settings=settings, pictures=pictures)


def images() -> Any:
    """Return the images that the study shows, as many of each digit, in random order; shape (n, 8, 8), 0 to 16."""
    return _digits()[0]


def digits() -> Any:
    """Return the digit that each image shows."""
    return _digits()[1]


def _digits() -> tuple[Any, Any]:
    from sklearn.datasets import load_digits

    data = load_digits()
    rng = np.random.default_rng(0)
    each = [rng.choice(np.flatnonzero(data.target == digit), N_ITEMS // 10, replace=False) for digit in range(10)]
    chosen = rng.permutation(np.concatenate(each))
    return data.images[chosen], data.target[chosen]


def picture(image: Any) -> Picture:
    """Return an image of 8 × 8 grey values as a picture, black on white."""
    from PIL import Image

    drawn = Image.fromarray(np.uint8(255 - image * (255 / 16))).resize((SIDE, SIDE), Image.Resampling.BICUBIC)
    file = io.BytesIO()
    drawn.save(file, "PNG")
    return new_picture(file.getvalue(), "image/png", SIDE, SIDE)
