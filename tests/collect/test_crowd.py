"""A crowd of agents sorts digits through the API, from nothing to the advice to stop."""

import pytest

pytest.importorskip("fastapi", reason="FastAPI is not installed")
pytest.importorskip("starlette.testclient", reason="no client to test the application with")

from benchmarks.collected_crowd import agents_of, collect, crowd_of


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["informative", pytest.param("random", marks=pytest.mark.slow)])
def test_a_crowd_sorts_until_the_rule_advises_to_stop(strategy):
    settings = {"subset_size": 8, "strategy": strategy, "random_share": 0.15}
    found = collect(crowd_of(2, (0, 1, 6), 6), 2, settings, most=120)
    assert found.stopped
    assert found.reliability >= 0.94  # what the rule wants
    assert found.n_groupings == sum(found.sources.values())
    assert "dry" not in found.sources  # the worker kept up, so that everything was composed or drawn on purpose
    assert set(found.sources) == {strategy, "random"}
    assert found.truth > 0.6  # agents see 4 to 8 of 12 features and make 3 to 6 groups of 3 digits
    assert 3 <= found.n_groups <= 6


def test_agents_that_compare_make_as_many_groups_as_they_see_reasons_for():
    crowd = crowd_of(2)
    agents, named = agents_of("comparing", crowd, 0), dict(zip(crowd.features.index, crowd.truth, strict=True))
    alike = [name for name, digit in named.items() if digit == 0]
    mixed = [next(name for name, digit in named.items() if digit == one) for one in (0, 1, 2, 4, 6, 7)]
    sizes = {kind: sum(len(agents(items)) for _ in range(40)) / 40 for kind, items in (("0", alike), ("all", mixed))}
    assert sizes["0"] < 2.5 < 3.5 < sizes["all"]
    assert sorted(item for group in agents(mixed) for item in group) == sorted(mixed)
