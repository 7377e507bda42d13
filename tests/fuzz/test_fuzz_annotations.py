"""Random files of annotations are read right, or refused in one sentence: never anything else."""

from random import Random

import pytest

from consilience.annotations import read_annotations
from tests.fuzz.annotation_files import annotation_case, is_what_was_said, write
from tests.fuzz.outcome import OTHER, RIGHT, WRONG, outcome_of, report


def outcomes(seed, n, folder):
    random = Random(seed)
    found = []
    for _ in range(n):
        case = annotation_case(random)
        path = write(case, folder)
        kind, said = outcome_of(
            lambda path=path, case=case: read_annotations(path, **case.options),
            lambda read, case=case: is_what_was_said(case, read),
            may_refuse=case.may_refuse,
        )
        path.unlink()
        found.append((kind, said, repr(case)[:1500]))
    return found


@pytest.mark.parametrize("n", [40, pytest.param(10_000, marks=pytest.mark.slow)])
def test_files_are_read_right_or_refused(n, tmp_path):
    found = outcomes(20_261_122, n, tmp_path)
    assert not [kind for kind, _, _ in found if kind in (WRONG, OTHER)], report(found)
    assert sum(kind == RIGHT for kind, _, _ in found) > n / 2, report(found)
