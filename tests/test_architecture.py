"""The rules that a reader of the source may rely on: layers, no cycles, no prints, one loop, few bases."""

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import consilience
from consilience.registry import ESTIMATORS

ROOT = Path(consilience.__file__).parent
LAYERS = [
    {"__main__"},
    {"cli"},
    {"collect"},
    {"inspection", "persistence"},
    {"active", "partitions", "selection", "sites", "subsets"},
    {"consensus", "semisupervised", "deep"},
    {"simulation"},
    {"estimators", "datasets"},
    {"metrics"},
    {"inference"},
    {"annotations"},
    {"registry", "atomic_files"},
    {"errors", "_version"},
]
MODULES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(ROOT.rglob("*.py"))}
HEAVY = {"jax", "equinox", "optax", "fastapi", "sqlalchemy", "dask"}
ROOMS = {"consensus", "semisupervised", "deep"}  # of models


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {name_of(path) for path in MODULES}


def imports(tree: ast.AST) -> set[str]:
    """Absolute names of what a module imports, functions included; `from a import b` gives a and a.b.

    What is imported for type checkers alone does not count.
    """
    found: set[str] = set()
    for node in parts_that_run(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def parts_that_run(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a syntax tree but those under ``if TYPE_CHECKING``."""
    yield tree
    if isinstance(tree, ast.If) and ast.unparse(tree.test) == "TYPE_CHECKING":
        children: list[ast.AST] = tree.orelse
    else:
        children = list(ast.iter_child_nodes(tree))
    for child in children:
        yield from parts_that_run(child)


def layer(name: str) -> int:
    """0 is the top."""
    room = name.split(".")[1]
    return next(i for i, members in enumerate(LAYERS) if room in members)


@pytest.mark.parametrize("path", [path for path in MODULES if path != ROOT / "__init__.py"], ids=name_of)
def test_imports_go_downwards(path):
    mine = name_of(path)
    for target in imports(MODULES[path]) & NAMES - {"consilience"}:
        assert target.split(".")[1] == mine.split(".")[1] or layer(target) > layer(mine), target


def test_no_import_cycles_even_inside_functions():
    graph = {}
    for path, tree in MODULES.items():
        mine = name_of(path)
        if mine != "consilience":  # which imports on demand
            packages = {mine.rsplit(".", depth)[0] for depth in range(mine.count(".") + 1)}  # imported with it
            graph[mine] = (imports(tree) & NAMES) - packages
    TopologicalSorter(graph).prepare()  # raises CycleError


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_prints_no_asserts_no_heavy_imports(path):
    for node in ast.walk(MODULES[path]):
        assert not isinstance(node, ast.Assert), f"line {node.lineno}: raise an error with a sentence instead"
        if isinstance(node, ast.Call):
            assert getattr(node.func, "id", None) != "print", f"line {node.lineno}"
    if not {"cli", "collect", "deep"} & set(path.parts):
        assert not {name.split(".")[0] for name in imports(MODULES[path])} & HEAVY


@pytest.mark.parametrize("path", [p for p in MODULES if ROOMS & set(p.relative_to(ROOT).parts)], ids=name_of)
def test_models_use_the_one_loop(path):
    """Nobody but `inference.iterate` repeats something up to a largest number of iterations."""
    for node in ast.walk(MODULES[path]):
        if isinstance(node, ast.For | ast.While | ast.comprehension):
            until = node.test if isinstance(node, ast.While) else node.iter
            names = {part.id for part in ast.walk(until) if isinstance(part, ast.Name)}
            names |= {part.attr for part in ast.walk(until) if isinstance(part, ast.Attribute)}
            assert not any("max_iter" in name for name in names), f"line {until.lineno}: {ast.unparse(until)}"


def bases_above(estimator: type) -> list[str]:
    """Classes of the package from which an estimator inherits."""
    return [base.__name__ for base in estimator.__mro__[1:] if base.__module__.startswith("consilience.")]


@pytest.mark.parametrize("entry", ESTIMATORS.values(), ids=lambda entry: entry.name)
def test_at_most_two_bases_stand_above_a_model(entry):
    if entry.module == "consilience.deep":
        pytest.importorskip("jax")
    estimator = entry.load()
    assert len(bases_above(estimator)) <= 2
    assert estimator.__module__.endswith("_estimator")


BUILT_ON = {  # stagewise and spectral EM end with the EM of these; deep models may start from the last
    "consilience.consensus.labels.product_mixture",
    "consilience.consensus.labels.dawid_skene",
    "consilience.deep.deep_mcvc",
}
PART_OF = {  # a step of a model in a file of its own
    "consilience.deep.merging": "consilience.deep.bayes_scdc",
    "consilience.deep.pretraining": "consilience.deep.bayes_scdc",
    "consilience.consensus.pairs.belief_propagation": "consilience.consensus.pairs.correlation_clustering",
    "consilience.consensus.groupings.weighted_kcc": "consilience.consensus.groupings.kcc",
    "consilience.semisupervised.mcvc_search": "consilience.semisupervised.mcvc",
    "consilience.semisupervised.weighted_partition_labels": "consilience.semisupervised.partition_label_model",
}


def test_models_do_not_import_each_other():
    shells = {name for name in NAMES if name.endswith("_estimator")}
    assert len(shells) > 15  # else the search above has gone wrong
    of_models = shells | {name.removesuffix("_estimator") for name in shells} & NAMES
    for path, tree in MODULES.items():
        mine = name_of(path)
        if ROOMS & set(mine.split(".")) and path.name != "__init__.py":
            own = {mine, mine.removesuffix("_estimator"), PART_OF.get(mine)}
            assert not (imports(tree) & of_models) - own - BUILT_ON, mine


def test_the_mathematics_of_a_model_knows_no_estimators():
    shells = {name for name in NAMES if name.endswith("_estimator")}
    for path, tree in MODULES.items():
        if f"{name_of(path)}_estimator" in shells:
            assert not [name for name in imports(tree) if name.startswith("consilience.estimators")], name_of(path)


def test_plots_know_nothing_of_the_report():
    plots = {name: path for path in MODULES if (name := name_of(path)).startswith("consilience.inspection.plots.")}
    assert len(plots) > 10  # else the search has gone wrong
    for mine, path in plots.items():
        assert not [name for name in imports(MODULES[path]) if name.startswith("consilience.inspection.report")], mine
