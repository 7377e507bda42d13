"""The rules that a reader of the source may rely on: layers, no cycles, no prints, one loop."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import consilience

ROOT = Path(consilience.__file__).parent
LAYERS = [
    {"cli", "__main__"},
    {
        *("persistence", "inspection", "active"),
        *("comparison", "entrants", "foreseeing"),
    },
    {"semisupervised", "consensus", "deep"},
    {
        *("base", "matching", "restoring", "consensus_estimator", "aggregator"),
        *("grouping_consensus", "view_estimator"),
        *("registry", "given_annotations", "parameters", "profiles", "simulation", "datasets", "metrics"),
        *("alignment", "held_out", "judging"),
    },
    {"inference"},
    {"annotations"},
    {"writing"},
    {"errors", "progress", "display", "_version"},
]
MODULES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(ROOT.rglob("*.py"))}
HEAVY = {"jax", "equinox", "optax", "fastapi", "sqlalchemy", "dask"}


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(tree: ast.AST, *, top_only: bool = False) -> set[str]:
    """Absolute names of what a module imports; `from a import b` gives a and a.b."""
    nodes = tree.body if top_only else ast.walk(tree)
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def layer(name: str) -> int | None:
    """0 is the top; the package itself, which gathers the public names, has none."""
    parts = name.split(".")
    if parts[0] != "consilience" or len(parts) == 1:
        return None
    return next((i for i, members in enumerate(LAYERS) if parts[1] in members), None)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_go_downwards(path):
    mine = layer(name_of(path))
    if path.parent == ROOT and path.name == "__init__.py":
        return
    assert mine is not None, f"{name_of(path)} has no place in the layers"
    modules = {name_of(other) for other in MODULES}
    for target in imports(MODULES[path]) & modules - {"consilience"}:
        same_package = target.split(".")[1] == name_of(path).split(".")[1]
        assert same_package or layer(target) > mine or (layer(target) == mine and mine in {0, 1, 3}), target


def test_no_import_cycles():
    modules = {name_of(path) for path in MODULES}
    graph = {}
    for path, tree in MODULES.items():
        mine = name_of(path)
        packages = {mine.rsplit(".", depth)[0] for depth in range(mine.count(".") + 1)}  # importing these is implied
        graph[mine] = (imports(tree, top_only=True) & modules) - packages
    TopologicalSorter(graph).prepare()  # raises CycleError


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_prints_no_asserts_no_heavy_imports(path):
    for node in ast.walk(MODULES[path]):
        assert not isinstance(node, ast.Assert), f"line {node.lineno}: raise an error with a sentence instead"
        if isinstance(node, ast.Call):
            assert getattr(node.func, "id", None) != "print", f"line {node.lineno}"
    if layer(name_of(path)) not in {0} and "deep" not in path.parts:
        assert not {name.split(".")[0] for name in imports(MODULES[path])} & HEAVY


@pytest.mark.parametrize("path", [p for p in MODULES if p.parent.name in {"semisupervised", "consensus"}], ids=name_of)
def test_models_use_the_one_loop(path):
    source = path.read_text(encoding="utf-8")
    assert "range(self.max_iter)" not in source
    assert "range(max_iter)" not in source


BASES = {
    *("CrowdEstimator", "ConsensusEstimator", "LabelAggregator", "GroupingConsensus"),
    *("PairwiseClustering", "KMeansInMetric"),
}
BUILT_ON = {  # stagewise and spectral EM end with the EM of these
    "consilience.consensus.product_mixture",
    "consilience.consensus.dawid_skene",
}


def test_models_do_not_import_each_other():
    models = {path: tree for path, tree in MODULES.items() if path.parent.name in {"semisupervised", "consensus"}}
    estimators = {
        name_of(path)
        for path, tree in models.items()
        if any(
            isinstance(n, ast.ClassDef) and {ast.unparse(b) for b in n.bases} & BASES and n.name not in BASES
            for n in tree.body
        )
    }
    assert len(estimators) > 5  # else the search above has gone wrong
    for path, tree in models.items():
        if path.name != "__init__.py":
            assert not (imports(tree) & estimators) - {name_of(path)} - BUILT_ON, name_of(path)
