"""Sweeps of MCVC and MECC over partitions are those in memory, from a state that no search has found."""

from dataclasses import replace

import numpy as np
import pytest

from consilience.annotations.canonical import arrange
from consilience.inference.pair_evidence import PairEvidence
from consilience.partitions.engine.map_reduce import LocalParts
from consilience.partitions.models import mcvc as over_partitions
from consilience.partitions.models import mcvc_sums
from consilience.partitions.models.mcvc_sweeps import EtaInParts, ItemsInParts, clusters_bounds
from consilience.partitions.survey import item_survey
from consilience.semisupervised import mcvc
from consilience.semisupervised.mcvc import MCVCPrior, MCVCProblem
from tests.partitions.view_tables import (
    EXACT,
    OF_ITEMS,
    SORTERS,
    items,
    table_of,
)


def sweeps_of(frames, n_views, implied, folder, *, first):
    """The model over partitions and in memory, and a random state of both; `first` changes that."""
    table = table_of(frames)
    own = [item_survey.read_own_items(one) for one in enumerate(table.partitions)]
    survey = sum((item_survey.item_survey_of(one) for one in own[1:]), item_survey.item_survey_of(own[0]))
    everything = item_survey.joined_sample(
        [item_survey.sampled_items(one, survey.first, 2**64 - 1) for one in own], survey.nothing()
    )
    arranged = arrange(everything.groupings, everything.features)
    ordered = arranged.ordered
    evidence = PairEvidence.of(ordered, implied=implied)
    problem = MCVCProblem.of(everything.features[arranged.items], evidence, MCVCPrior(1.0, 10.0, 1.0), 4)
    state = first(mcvc.init(problem, n_views, 1, rng=np.random.default_rng(0)))

    keys = ordered.vocabulary.group_keys()
    items = LocalParts([over_partitions.prepare_part(one, keys, survey.first, 2**64 - 1) for one in own], folder)
    sizes = items.total(over_partitions.count_part).sizes
    among = over_partitions.among_groups(ordered, sizes, implied)
    over = ItemsInParts(items, among, problem.prior, problem.design.curvature, problem, survey.n_items)
    eta = np.empty_like(state.eta)
    eta[arranged.items] = state.eta
    messages = mcvc_sums.Messages.of(among, np.zeros((len(keys), 4, n_views)), *np.zeros((2, len(SORTERS), n_views)))
    parts = items.map(over_partitions.start_part, eta, survey.first, state.weights, messages)
    columns = np.arange(n_views)
    sums, logs = parts.total(mcvc_sums.sum_eta, columns), parts.total(mcvc_sums.log_sums, state.weights)
    of_views = clusters_bounds(state.weights, sums, logs)
    there = replace(state, eta=EtaInParts(parts, sums, logs), of_views=of_views)
    return problem, replace(state, of_views=of_views), over, there, arranged.items


def eta_of(part):
    return part.eta


def assert_same_state(here, there, order, close, views):
    eta = np.concatenate(list(there.eta.parts.results(eta_of)))[order]
    np.testing.assert_allclose(eta[:, :, views], here.eta[:, :, views], **close)
    np.testing.assert_allclose(there.weights.mean[:, :, views], here.weights.mean[:, :, views], **close)
    for name in ("phi", "right", "sticks", "of_views", "bounds"):
        np.testing.assert_allclose(getattr(there, name), getattr(here, name), **close, err_msg=name)


@pytest.mark.parametrize("implied", ["all", "independent"])
@pytest.mark.parametrize("cut", OF_ITEMS.values(), ids=OF_ITEMS)
def test_each_sweep_is_that_in_memory(cut, implied, tmp_path):
    problem, here, over, there, order = sweeps_of(cut(items()), 3, implied, tmp_path, first=lambda state: state)
    for _ in range(4):
        here, there = mcvc.step(problem, here), mcvc.step(over, there)
        assert_same_state(here, there, order, EXACT, np.arange(3))


@pytest.mark.parametrize("cut", OF_ITEMS.values(), ids=OF_ITEMS)
def test_a_view_that_nobody_follows_is_that_in_memory(cut, tmp_path):
    """Its bound is as exact as that of any other; L-BFGS finds the same weights up to its threshold."""

    def abandoned(state):
        phi = state.phi.copy()
        phi[:, :, 1] = 0.0
        return replace(state, phi=phi / phi.sum(2, keepdims=True))

    problem, here, over, there, order = sweeps_of(cut(items()), 3, "all", tmp_path, first=abandoned)
    for _ in range(3):
        here, there = mcvc.step(problem, here), mcvc.step(over, there)
        assert there.of_views[1] == pytest.approx(problem.unused[2], rel=1e-10)
        assert_same_state(here, there, order, EXACT, np.array([0, 2]))
        assert_same_state(here, there, order, {"rtol": 1e-3, "atol": 1e-3}, np.array([1]))


def test_chunks_change_nothing_but_rounding(tmp_path, monkeypatch):
    problem, here, over, there, order = sweeps_of([items()], 3, "all", tmp_path, first=lambda state: state)
    monkeypatch.setattr(mcvc_sums, "CHUNK_ENTRIES", 7 * 4 * 3)
    assert_same_state(mcvc.step(problem, here), mcvc.step(over, there), order, EXACT, np.arange(3))
