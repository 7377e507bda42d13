"""Make the pictures of the page on free sorts in the documentation: `python tools/sensory_pictures.py`.

They show SensoMineR's smoothies, and the kinship terms of `load_free_sort`; both need the folder of real data in the
environment variable CONSILIENCE_DATA. `--table FILE.csv` only writes the table of the smoothies with which the page
begins.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from consilience import Groupings
from consilience.consensus import SubsetFusion
from consilience.datasets import load_free_sort
from consilience.inspection import panel_segments, plot_annotator_map, plot_word_map
from consilience.inspection.plots.style import plain_text

FOLDER = Path(__file__).parents[1] / "docs" / "_static"
SOURCE = Path("free-sort") / "smoothies8_sensominer_raw.csv"


def smoothies() -> pd.DataFrame:
    """Return the words of the 24 judges for the groups of the eight smoothies."""
    raw = pd.read_csv(Path(os.environ["CONSILIENCE_DATA"]) / SOURCE, index_col="item")
    words = raw[[f"C{judge}" for judge in range(1, 25)]]
    return words.set_axis([f"J{judge}" for judge in range(1, 25)], axis=1)


def save(figure: Figure, name: str) -> None:
    """Save a figure as SVG with white paper, the same at every run."""
    figure.savefig(FOLDER / name, metadata={"Date": None}, facecolor="white")


def main() -> None:
    """Write free-sort-words.svg and free-sort-segments.svg."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=Path)
    options = parser.parse_args()
    if options.table:
        smoothies().rename_axis("").to_csv(options.table)
        return
    sorts = Groupings.from_matrix(smoothies())
    model = SubsetFusion(random_state=0).fit(sorts)
    kinship = load_free_sort("kinship15_rosenberg1975").annotations
    with plain_text():
        for name, draw in (
            ("words", lambda ax: plot_word_map(model, ax=ax)),
            ("segments", lambda ax: plot_annotator_map(kinship, panel_segments(kinship, random_state=0), ax=ax)),
        ):
            figure = Figure(figsize=(7.2, 5.0), layout="tight")
            draw(figure)
            save(figure, f"free-sort-{name}.svg")


if __name__ == "__main__":
    main()
