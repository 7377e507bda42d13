"""How often `divide_clusters` divides clusters of equal products, and how often those of two kinds.

    python -m benchmarks.divisions [--panels 100] [--seed 1]

A person puts each of 12 products into its kind with a given probability, else into any group; half of the people join
two kinds. *Equal*: three clusters of four equal products. *Two kinds*: one of two clusters has three products of each
of two kinds. *Found*: equal, but in the clusters that SubsetFusion finds. The share of panels in which any cluster of
equal products is divided should be at most 5 %.
"""

import argparse

import numpy as np

from consilience import Groupings
from consilience.analysis.divisions import divide_clusters
from consilience.analysis.separation import LEVEL
from consilience.consensus import SubsetFusion

PEOPLE = (12, 30)
EQUAL, TWO_KINDS = np.repeat([0, 1, 2], 4), np.repeat([0, 1, 2], [3, 3, 6])


def panel(kind: np.ndarray, right: float, n_people: int, rng: np.random.Generator) -> Groupings:
    """Return sorts of products of three kinds, of which half of the people join two."""
    shape = (n_people, len(kind))
    group = np.where(rng.random(shape) < right, kind, rng.integers(3, size=shape))
    joined = np.array([rng.permutation([0, 0, 1]) if rng.random() < 0.5 else np.arange(3) for _ in range(n_people)])
    return Groupings.from_matrix(np.take_along_axis(joined, group, 1).T.astype(str))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--panels", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print("right  people  equal  found  two kinds")
    for right in (0.5, 0.8):
        for n_people in PEOPLE:
            divided = np.zeros(3)
            for draw in range(given.panels):
                rng = np.random.default_rng([given.seed, n_people, int(10 * right), draw])
                sorts, mixed = panel(EQUAL, right, n_people, rng), panel(TWO_KINDS, right, n_people, rng)
                found = SubsetFusion(random_state=0).fit(sorts).labels_
                for case, (of, codes) in enumerate([(sorts, EQUAL), (sorts, found), (mixed, TWO_KINDS // 2)]):
                    p = [each.p_value for each in divide_clusters(of, codes) if case < 2 or each.cluster == 0]
                    divided[case] += min(p, default=1.0) <= LEVEL
            print(f"{right:5.1f}{n_people:8d}", *(f"{each:8.2f}" for each in divided / given.panels), flush=True)


if __name__ == "__main__":
    main()
