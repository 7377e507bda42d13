"""How many axes of the map `map_axes` finds in simulated panels that have none, one, two or three.

    python -m benchmarks.map_axes [--panels 100] [--seed 1]

- *k axes*: the items are in k + 1 clusters of about equal size, at the corners of a simplex of k dimensions; a person
  puts an item into its cluster with a given probability, else into any, and half of the people divide one cluster in
  two at random. None: everybody sorts at random, into 2 to 6 groups;
- *a row*: items in a row, of which each person, with noise, makes 2 to 5 groups of neighbours: one property, and a
  horseshoe on the map.
"""

import argparse
from collections.abc import Callable

import numpy as np

from consilience.analysis.one_panel import ward_groups
from consilience.inspection import map_axes

SIZES = ((12, 20), (12, 60), (20, 40))  # items, people

Panel = Callable[[np.random.Generator, int, int], np.ndarray]


def with_axes(k: int, right: float) -> Panel:
    """Return a panel with k axes."""

    def panel(rng: np.random.Generator, n_items: int, n_people: int) -> np.ndarray:
        shape = (n_people, n_items)
        if k == 0:
            return (rng.random(shape) * rng.integers(2, 7, n_people)[:, None]).astype(int)
        sorts = np.where(rng.random(shape) < right, np.arange(n_items) % (k + 1), rng.integers(k + 1, size=shape))
        divided = np.where(rng.random(n_people) < 0.5, rng.integers(k + 1, size=n_people), -1)
        return sorts + (k + 1) * ((sorts == divided[:, None]) & (rng.random(shape) < 0.5))

    return panel


def in_a_row(noise: float) -> Panel:
    """Return a panel that sees items in a row."""

    def panel(rng: np.random.Generator, n_items: int, n_people: int) -> np.ndarray:
        views = np.linspace(0, 1, n_items)[:, None] + noise * rng.standard_normal((n_people, n_items, 1))
        return ward_groups(views, np.ones((n_people, n_items), dtype=bool), rng.integers(2, 6, n_people))

    return panel


PANELS: dict[str, tuple[int, Panel]] = {
    "no axis": (0, with_axes(0, 0.0)),
    **{f"{k} axes, {right} right": (k, with_axes(k, right)) for k in (1, 2, 3) for right in (0.5, 0.8)},
    "a row": (1, in_a_row(0.2)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--panels", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(f"{'':20s}items people  fewer  right   more")
    for number, (name, (k, panel)) in enumerate(PANELS.items()):
        for n_items, n_people in SIZES:
            found = []
            for draw in range(given.panels):
                rng = np.random.default_rng([given.seed, number, n_items, n_people, draw])
                sorts = panel(rng, n_items, n_people)
                found.append(int(map_axes(sorts.T, n_permutations=99, random_state=draw)["real"].sum()))
            shares = [np.mean([np.sign(each - k) == sign for each in found]) for sign in (-1, 0, 1)]
            print(f"{name:20s}{n_items:5d}{n_people:7d}" + "".join(f"{share:7.2f}" for share in shares), flush=True)


if __name__ == "__main__":
    main()
