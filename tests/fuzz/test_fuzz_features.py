"""Random files of features are read right, or refused in one sentence."""

from random import Random

import pandas as pd
import pytest

from consilience.workflows.features import read_features
from consilience.workflows.jobs import FeatureOptions
from tests.fuzz.feature_files import feature_case, holds
from tests.fuzz.outcome import OTHER, RIGHT, WRONG, outcome_of, report


@pytest.mark.parametrize("n", [40, pytest.param(10_000, marks=pytest.mark.slow)])
def test_features_are_read_right_or_refused(n, tmp_path):
    random, found = Random(20_261_123), []
    for _ in range(n):
        case = feature_case(random)
        path = tmp_path / case.name
        path.write_bytes(case.content)
        whole = all(item.isdigit() for item in case.items)
        items = pd.Index([int(item) for item in case.items] if whole else case.items)
        kind, said = outcome_of(
            lambda path=path, items=items: read_features(path, FeatureOptions(), items).table,
            lambda table, case=case: holds(case, table),
            may_refuse=case.numbers is None,
        )
        found.append((kind, said, repr(case)[:1500]))
    assert not [kind for kind, _, _ in found if kind in (WRONG, OTHER)], report(found)
    assert sum(kind == RIGHT for kind, _, _ in found) > n / 3, report(found)
