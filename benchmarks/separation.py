"""How often `separated_items` calls items separated that are equal, and how often it finds those that are not.

    python -m benchmarks.separation [--panels 200] [--seed 1]

Simulated panels in which some of 12 products are equal:

- map: products lie in the plane, two at each of six points; each person sees each product at its place and noise, and
  cuts Ward's hierarchy into 3 to 5 groups. *Outlying pair*: one of the equal pairs lies far from the others, and is
  seen with thrice the noise, which is the worst case for the test of items that are kept apart;
- clusters: a person puts a product into its cluster with a given probability, else into any; the four products of each
  of three clusters are equal;
- one kind: all are equal, and sorted at random.

The share of panels in which any equal pair is called separated should be at most 5 %.
"""

import argparse
from collections.abc import Callable

import numpy as np

from consilience.analysis.one_panel import ward_groups
from consilience.inspection import separated_items

N_ITEMS = 12
PEOPLE = (10, 30, 100)

Panel = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]


def on_a_map(noise: float, outlying: float = 1.0) -> Panel:
    """Return a panel of people who see products in the plane."""

    def panel(rng: np.random.Generator, n_people: int) -> tuple[np.ndarray, np.ndarray]:
        kind = np.arange(N_ITEMS) // 2
        angle = 2 * np.pi * np.arange(6) / 6
        points = np.column_stack([np.cos(angle), np.sin(angle)])[kind]
        spread = np.full((N_ITEMS, 1), noise)
        if outlying > 1:
            points[kind == 0] *= outlying
            spread[kind == 0] *= outlying
        views = points + spread * rng.standard_normal((n_people, N_ITEMS, 2))
        held = np.ones((n_people, N_ITEMS), dtype=bool)
        return ward_groups(views, held, rng.integers(3, 6, n_people)).T, kind

    return panel


def in_clusters(right: float) -> Panel:
    """Return a panel of people who put products into clusters."""

    def panel(rng: np.random.Generator, n_people: int) -> tuple[np.ndarray, np.ndarray]:
        kind = np.arange(N_ITEMS) // 4
        shape = (N_ITEMS, n_people)
        return np.where(rng.random(shape) < right, kind[:, None], rng.integers(3, size=shape)), kind

    return panel


def of_one_kind(rng: np.random.Generator, n_people: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a panel of people who sort at random."""
    n_groups = rng.integers(2, 7, n_people)
    return (rng.random((N_ITEMS, n_people)) * n_groups).astype(int), np.zeros(N_ITEMS, dtype=int)


PANELS: dict[str, Panel] = {
    "map, little noise": on_a_map(0.3),
    "map, much noise": on_a_map(0.8),
    "map, outlying pair": on_a_map(0.5, outlying=3.0),
    "clusters, .8 right": in_clusters(0.8),
    "clusters, .5 right": in_clusters(0.5),
    "one kind": of_one_kind,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--panels", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(f"{'':24s}people  panels with an equal pair separated  pairs that differ: separated")
    for number, (name, panel) in enumerate(PANELS.items()):
        for n_people in PEOPLE:
            wrong, found, differ = 0, 0, 0
            for draw in range(given.panels):
                sorts, kind = panel(np.random.default_rng([given.seed, number, n_people, draw]), n_people)
                first, second = np.triu_indices(N_ITEMS, 1)
                equal = kind[first] == kind[second]
                separated = separated_items(sorts).pairs["separated"].to_numpy()
                wrong += bool(separated[equal].any())
                found, differ = found + int(separated[~equal].sum()), differ + int((~equal).sum())
            power = f"{found / differ:.2f}" if differ else "–"
            print(f"{name:24s}{n_people:6d}{wrong / given.panels:34.3f}{power:>30s}", flush=True)


if __name__ == "__main__":
    main()
