"""Damaged and forged files of models are loaded and used, or refused in one sentence, in little memory."""

import pytest

from tests.fuzz.limited import outcomes_of
from tests.fuzz.outcome import OTHER, REFUSED, RIGHT, WRONG, report


@pytest.mark.parametrize("n", [10, pytest.param(10_000, marks=pytest.mark.slow)])
def test_files_of_models_are_used_or_refused(n, tmp_path):
    check(outcomes_of("saved_models", n, 20_261_125, tmp_path), n)


@pytest.mark.slow
def test_files_of_deep_models_are_used_or_refused(tmp_path):
    pytest.importorskip("equinox")
    check(outcomes_of("saved_models", 1000, 20_261_126, tmp_path, "compiled"), 1000)


def check(found, n):
    assert not [kind for kind, _, _ in found if kind in (WRONG, OTHER)], report(found)
    assert sum(kind == RIGHT for kind, _, _ in found) > n / 20, report(found)
    assert sum(kind == REFUSED for kind, _, _ in found) > n / 2, report(found)
