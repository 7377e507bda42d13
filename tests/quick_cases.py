"""Which part of the product of all estimators and all cases `make test` runs; `make test-all` runs the rest.

What is passed to estimators is read by the `fit` of their base, or by one of their own. An estimator for each of these
stands for the others and meets every fifth case, so that each case is met by several of them. The others meet every
eleventh case in turn, so that what is particular to them is met, too.
"""

import pytest

from consilience import registry
from consilience.consensus import KCC, DawidSkene

QUICK = {name: {} for name in registry.ESTIMATORS} | {
    "PartitionLabelModel": {"prior_variance": 1.0, "n_init": 1, "max_clusters": 3, "random_state": 0},
    "ProductMixture": {"max_iter": 30},
    "DawidSkene": {"max_iter": 30},
    "OrdinalRatings": {"max_iter": 30},
    "TagConsensus": {"max_iter": 30},
    "SpectralEM": {"n_init": 2, "n_starts": 20, "max_iter": 30, "random_state": 0},
    "StagewiseEM": {"max_iter": 10, "refine": None},
    "SubsetFusion": {"max_clusters": 4, "random_state": 0},
    "MCVC": {"n_clusters": 2, "n_init": 5, "implied_pairs": "independent", "random_state": 0},
    "MECC": {"n_clusters": 2, "n_init": 2, "random_state": 0},
    "MPCKMeans": {"n_clusters": 2, "n_init": 2, "random_state": 0},
    "ITMLClustering": {"n_clusters": 2, "n_init": 2, "random_state": 0},
    "SemiCrowd": {"n_clusters": 2, "n_init": 2, "random_state": 0},
    "DawidSkeneClassifier": {"consensus": DawidSkene(tol=1e-4), "random_state": 0},
    "InductiveConsensus": {"consensus": KCC(2, n_init=2), "random_state": 0},
    "CorrelationClustering": {"n_init": 1, "random_state": 0},
    "Crowdclustering": {"n_init": 1, "max_iter": 5, "max_clusters": 2, "n_components": 2, "random_state": 0},
    "KCC": {"n_clusters": 2, "n_init": 2, "random_state": 0},
    "CSPA": {"max_clusters": 2, "random_state": 0},
    "MetaClustering": {"max_clusters": 4, "random_state": 0},
    "BayesSCDC": {"n_clusters": 3, "n_latent": 2, "hidden": (16,), "batch_size": 8, "n_epochs": 60, "random_state": 0},
    "SCDC": {"n_clusters": 2, "n_latent": 2, "hidden": (16,), "batch_size": 8, "n_epochs": 60, "random_state": 0},
    "DeepMCVC": {"n_clusters": 2, "max_views": 1, "hidden": (16,), "n_init": 3, "n_sweeps": 60, "random_state": 0},
}
"""Settings with which an estimator is fitted in a fraction of a second, where its defaults take longer."""
REPRESENTATIVES = {
    "MajorityVote",
    "KCC",
    "MPCKMeans",
    "MECC",
    *("DawidSkene", "PartitionLabelModel", "InductiveConsensus", "CorrelationClustering", "Crowdclustering"),
    "DawidSkeneClassifier",
}
"""One for each base; and those with a `fit` of their own."""
COMPILED = ("BayesSCDC", "SCDC", "DeepMCVC")
"""Those that compile for every shape, some seconds each: checked by `make test-all`; see also tests/deep."""


def is_quick(name, turn):
    """Whether an estimator meets a case, by the number of the case, in the quick tests."""
    stands = name in REPRESENTATIVES
    # among the representatives alone, so that two of the ten meet every case at least
    names = [known for known in registry.ESTIMATORS if known in REPRESENTATIVES or not stands]
    # by two further, so that each of the others meets one of ten cases
    return name not in COMPILED and (names.index(name) + turn + (0 if stands else 2)) % (5 if stands else 11) == 0


def in_turn(names, cases, called="case"):
    """Parametrize a test by ``name`` and case: the whole product, slow where another estimator stands for one."""
    return pytest.mark.parametrize(
        ("name", called),
        [
            pytest.param(name, case, marks=() if is_quick(name, turn) else pytest.mark.slow)
            for turn, case in enumerate(cases)
            for name in names
        ],
    )


def some_quick(cases, number=1):
    """Return the cases of a test, of which the quick tests meet the first few."""
    return [mark_slow(case) if place >= number else case for place, case in enumerate(cases)]


def quick_in_turn(cases, turn, *, every=5):
    """Return the cases of a test, of which the quick tests meet every fifth, or one of fewer, in turn."""
    cases = list(cases)
    every = min(every, len(cases))
    return [case if (place + turn) % every == 0 else mark_slow(case) for place, case in enumerate(cases)]


def mark_slow(case):
    values, marks, name = (case.values, case.marks, case.id) if hasattr(case, "marks") else (as_tuple(case), (), None)
    return pytest.param(*values, marks=[*marks, pytest.mark.slow], id=name)


def as_tuple(case):
    return case if isinstance(case, tuple) else (case,)
