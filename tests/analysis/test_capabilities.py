"""Which attributes a fitted model has is checked in one place, correctly."""

import ast
from pathlib import Path
from types import SimpleNamespace

from consilience import analysis, inspection
from consilience.analysis.capabilities import Capabilities, attributes
from consilience.consensus import MajorityVote

ROOMS = [Path(room.__file__).parent for room in (analysis, inspection)]
PATHS = sorted(path for room in ROOMS for path in room.rglob("*.py"))


def test_models_of_each_kind_have_their_capabilities(sorts, fusion):
    vote = Capabilities.of(MajorityVote().fit([["cat", "cat"], ["dog", "cat"], ["dog", "dog"]]))
    assert vote.names_classes
    assert vote.counts_votes
    assert vote.n_ties == 1  # of the second item
    assert vote.converged is None
    mapped = Capabilities.of(sorts[0])
    assert mapped.maps_groups
    assert mapped.has_bounds
    assert len(mapped.restart_bounds) == len(sorts[0].restart_bounds_)
    assert not any([mapped.names_classes, mapped.fuses, mapped.has_views])
    fused = Capabilities.of(fusion[0])
    assert fused.fuses
    assert fused.groupings is fusion[0].groupings_
    assert mapped.groupings is None  # its groupings_ is a table of how well each is predicted
    assert fused.notes == tuple(fusion[0].notes_)


def test_an_attribute_of_none_counts_as_missing():
    model = SimpleNamespace(labels_=[0, 1], prior_variance_search_=None)
    assert attributes(model, ["labels_", "prior_variance_search_", "nothing_"]) == {"labels_": [0, 1]}


def test_no_other_module_checks_which_attributes_a_fitted_model_has():
    # fitted.py refuses what is no fitted model at all
    others = [path for path in PATHS if path.name not in ("capabilities.py", "fitted.py")]
    assert [
        f"{path}:{node.lineno}: {name}"
        for path in others
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) in ("hasattr", "getattr")
        if (name := ast.literal_eval(node.args[1])).endswith("_")
    ] == []
    assert others
