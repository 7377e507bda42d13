"""Which part of the product of all estimators and all cases `make test` runs; `make test-all` runs the rest.

What is passed to estimators is read by the `fit` of their base, or by one of their own. An estimator for each of these
stands for the others and meets every fourth case, so that each case is met by several of them. The others meet every
twelfth case in turn, so that what is particular to them is met, too.
"""

import pytest

from consilience import registry

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
    every = 4 if name in REPRESENTATIVES else 12
    return name not in COMPILED and (list(registry.ESTIMATORS).index(name) + turn) % every == 0


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


def quick_in_turn(cases, turn, *, every=3):
    """Return the cases of a test, of which the quick tests meet every third, beginning with another for each test."""
    return [case if (place + turn) % every == 0 else mark_slow(case) for place, case in enumerate(cases)]


def mark_slow(case):
    values, marks, name = (case.values, case.marks, case.id) if hasattr(case, "marks") else (as_tuple(case), (), None)
    return pytest.param(*values, marks=[*marks, pytest.mark.slow], id=name)


def as_tuple(case):
    return case if isinstance(case, tuple) else (case,)
