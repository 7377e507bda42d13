"""Names next to points, placed by Consilience, textalloc and adjustText: how many are shown, what their lines cross.

    pip install adjustText textalloc
    python benchmarks/point_labels.py [--draws 3] [--first-seed 0]

Each draw has 90 points in six clumps with long names, and thin lines from points to the names further away. Lines are
counted as crossing if they run through another name or come within 3 points (1/24 inch) of another point's centre.
Names that adjustText leaves on top of points or of other names are hidden afterwards, since it hides none itself.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any, cast

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text
from matplotlib.transforms import Bbox

from consilience.inspection.plots.point_labels import AWAY, PointNames, name_points

N_POINTS, N_CLUMPS = 90, 6
SIZE = (8.2, 6.2)  # inches
HALF = 5.0  # half the side of the square around a point that names must not cover, in points
NEXT_TO = 10.5  # distance in points up to which a name needs no line
N_ITERATIONS = 100  # iterations of adjustText

Boxes = dict[int, np.ndarray]  # (left, bottom, right, top) in points, of the names that are shown


def ours(texts: list[Annotation], places: np.ndarray, wide: float, tall: float) -> Boxes:
    """Place names as the plots of Consilience do."""
    axes = cast(Axes, texts[0].axes)
    names = next(artist for artist in axes.artists if isinstance(artist, PointNames))
    names.fit(cast(Any, axes.figure).canvas.get_renderer())
    return {number: box_of(text) for number, text in enumerate(texts) if text.get_visible()}


def textalloc(texts: list[Annotation], places: np.ndarray, wide: float, tall: float) -> Boxes:
    """Place names with textalloc, which tries a list of places for each name and hides names without room."""
    from textalloc import allocate

    _, _, placed, _ = allocate(
        empty_axes(wide, tall),
        *places.T,
        [text.get_text() for text in texts],
        x_scatter=places[:, 0],
        y_scatter=places[:, 1],
        scatter_sizes=np.full(len(places), HALF * plt.rcParams["figure.dpi"] / 72),
        textsize=texts[0].get_fontsize(),
        margin=0.5 / wide,
        min_distance=AWAY / wide,
        max_distance=65 / wide,
        draw_all=False,
        avoid_label_lines_overlap=True,
        avoid_crossing_label_lines=True,
    )
    return {number: box_of(text) for number, text in enumerate(placed) if text is not None}


def adjust_text(texts: list[Annotation], places: np.ndarray, wide: float, tall: float) -> Boxes:
    """Place names with adjustText, which pushes them apart step by step; hide those that still cover something."""
    from adjustText import adjust_text

    axes = empty_axes(wide, tall)
    moved = [
        axes.text(*place, text.get_text(), fontsize=text.get_fontsize(), ha="center", va="center")
        for place, text in zip(places, texts, strict=True)
    ]
    taken = [Bbox([place - HALF, place + HALF]) for place in places]
    adjust_text(moved, objects=list(taken), ax=axes, iter_lim=N_ITERATIONS)
    shown = {}
    for number, text in enumerate(moved):
        box = Bbox(box_of(text).reshape(2, 2))
        inside = min(box.x0, box.y0) >= 0 and box.x1 <= wide and box.y1 <= tall
        if inside and not box.count_overlaps(taken):
            taken.append(box)
            shown[number] = box_of(text)
    return shown


def empty_axes(wide: float, tall: float) -> Axes:
    """Return axes of the given size in points, whose data coordinates are points."""
    axes = Figure((wide / 72, tall / 72)).add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, wide), ylim=(0, tall))
    return axes


def box_of(text: Text) -> np.ndarray:
    """Return the box of a text without its line, in points from the corner of its axes."""
    figure, axes = cast(Figure, text.get_figure(root=True)), cast(Axes, text.axes)
    return (Text.get_window_extent(text).extents - np.tile(axes.bbox.min, 2)) * 72 / figure.dpi


def crossings(boxes: Boxes, places: np.ndarray) -> tuple[int, int]:
    """Return how many names have a line, and how many of these lines cross another point or name."""
    n_lines = n_crossing = 0
    for number, box in boxes.items():
        start = places[number]
        end = np.clip(start, box[:2], box[2:])
        if np.linalg.norm(end - start) <= NEXT_TO:
            continue
        line = start + np.linspace(0, 1, 100)[:, None] * (end - start)
        others = places[np.linalg.norm(places - start, axis=1) > HALF]  # others are hardly distinguishable from it
        through_point = (np.linalg.norm(line[:, None] - others, axis=2) < 3).any()
        names = np.array([other for key, other in boxes.items() if key != number]).reshape(-1, 4)
        through_name = ((line[:, None] > names[:, :2]) & (line[:, None] < names[:, 2:])).all(2).any()
        n_lines += 1
        n_crossing += bool(through_point or through_name)
    return n_lines, n_crossing


def compare(seed: int) -> list[dict[str, Any]]:
    """Place the same names by each of the three."""
    rng = np.random.default_rng(seed)
    points = rng.normal(0, 3, (N_CLUMPS, 2))[np.arange(N_POINTS) % N_CLUMPS] + rng.normal(0, 0.35, (N_POINTS, 2))
    figure, axes = plt.subplots(figsize=SIZE)
    axes.plot(*points.T, "o", ms=5)
    axes.margins(0.12, 0.08)
    name_points(axes, points, [f"a rather long name {number}" for number in range(N_POINTS)], leaders=True)
    figure.canvas.draw()
    frame = axes.get_window_extent()
    scale = 72 / figure.dpi
    places = (axes.transData.transform(points) - frame.min) * scale
    rows = []
    placers: list[Callable[..., Boxes]] = [ours, textalloc, adjust_text]
    for place in placers:
        start = time.perf_counter()
        boxes = place(list(axes.texts), places, frame.width * scale, frame.height * scale)
        seconds = time.perf_counter() - start
        n_lines, n_crossing = crossings(boxes, places)
        rows.append(
            {"placed by": place.__name__, "names": len(boxes), "lines": n_lines, "crossing": n_crossing, "s": seconds}
        )
    plt.close(figure)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    options = parser.parse_args()
    rows = [row for draw in range(options.draws) for row in compare(options.first_seed + draw)]
    table = pd.DataFrame(rows).groupby("placed by", sort=False).sum()
    table["times ours"] = table["s"] / table.loc["ours", "s"]
    print(f"sums over {options.draws} draws of {N_POINTS} names")
    print(table.round(2).to_string())


if __name__ == "__main__":
    main()
