"""Commands with hostile options, paths and names do their work or say in one sentence why not, in little memory."""

import pytest

from tests.fuzz.limited import outcomes_of
from tests.fuzz.outcome import OTHER, RIGHT, WRONG, report


@pytest.mark.parametrize("n", [15, pytest.param(10_000, marks=pytest.mark.slow)])
def test_commands_work_or_are_refused(n, tmp_path):
    found = outcomes_of("command_lines", n, 20_261_127, tmp_path)
    assert not [kind for kind, _, _ in found if kind in (WRONG, OTHER)], report(found)
    assert sum(kind == RIGHT for kind, _, _ in found) > n / 10, report(found)
