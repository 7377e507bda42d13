"""The rules that a reader of the source may rely on: layers, no cycles, no prints, one loop, few bases."""

import ast
import re
from collections import Counter
from graphlib import TopologicalSorter

import pytest

from consilience.registry import ESTIMATORS
from tests.import_graph import ROOT, imports_of, modules, name_of, names_in

LAYERS = [
    {"__main__"},
    {"cli"},
    {"collect"},
    {"workflows"},
    {"inspection", "interchange", "persistence"},
    {"analysis"},
    {"active", "partitions", "selection", "sites", "subsets"},
    {"semisupervised", "deep"},
    {"consensus"},
    {"simulation"},
    {"estimators", "datasets"},
    {"metrics"},
    {"inference"},
    {"annotations"},
    {"registry", "atomic_files"},
    {"errors", "_version"},
]
PRINCIPLES = ROOT.parents[1] / "docs" / "developer" / "principles.md"
ROOMS_OF_COLLECT = [
    {"app"},
    {"api"},
    {"admin"},
    {"participant"},
    {"health"},
    {"authority"},
    {"serving", "middleware", "forms"},
    {"worker"},
    {"results"},
    {"creation"},
    {"store"},
    {"wording"},
    {"settings"},
    {"errors", "instructions", "log", "roles", "security"},
]
HEAVY = {"jax", "equinox", "optax", "fastapi", "sqlalchemy", "dask"}
ROOMS = {"consensus", "semisupervised", "deep"}  # of models


def names() -> set[str]:
    """Names of all modules."""
    return {name_of(path) for path in modules()}


def imports_upwards(package: str, layers: list[set[str]]) -> set[tuple[str, str]]:
    """Pairs of modules in different rooms of a package of which the first imports the second, and is not above it."""
    rooms = {name: name.removeprefix(f"{package}.").split(".")[0] for name in names() if name.startswith(f"{package}.")}
    layer = {room: place for place, members in enumerate(layers) for room in members}
    return {
        (mine, target)
        for mine, path in zip(map(name_of, modules()), modules())
        for target in imports_of(path) & rooms.keys()
        if mine in rooms and rooms[target] != rooms[mine] and layer[rooms[target]] <= layer[rooms[mine]]
    }


@pytest.mark.parametrize(
    ("package", "layers"), [("consilience", LAYERS), ("consilience.collect", ROOMS_OF_COLLECT)], ids=["all", "collect"]
)
def test_imports_go_downwards(package, layers):
    assert imports_upwards(package, layers) == set()


def test_the_layers_are_those_of_the_principles_with_files_to_read_first():
    rows = re.findall(r"^\| \d+ \| (.+) \| .+ \| (.*) ?\|$", PRINCIPLES.read_text(encoding="utf-8"), re.MULTILINE)
    described = [set(re.findall(r"`(\w+)`", packages)) for packages, _ in rows]
    assert described == [members - {"__main__", "_version"} for members in LAYERS if members != {"__main__"}]
    rooms = {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()}
    assert rooms <= set().union(*described)
    named = {path.partition("/")[0] for _, files in rows for path in re.findall(r"`([\w/]+\.py)`", files)}
    assert rooms <= named  # that files exist is tested in test_docs


def test_no_import_cycles_even_inside_functions():
    graph, known = {}, names()
    for path in modules():
        mine = name_of(path)
        if mine != "consilience":  # which imports on demand
            packages = {mine.rsplit(".", depth)[0] for depth in range(mine.count(".") + 1)}  # imported with it
            graph[mine] = (imports_of(path) & known) - packages
    TopologicalSorter(graph).prepare()  # raises CycleError


def test_no_prints_no_asserts_no_heavy_imports():
    wrong = set()
    for path, tree in modules().items():
        for node in ast.walk(tree):
            is_print = isinstance(node, ast.Call) and getattr(node.func, "id", None) == "print"
            if is_print or isinstance(node, ast.Assert):  # instead of an assertion, raise an error with a sentence
                wrong.add((name_of(path), node.lineno, ast.unparse(node)))
        if not {"cli", "collect", "deep", "workflows"} & set(path.parts):
            wrong |= {(name_of(path), name) for name in imports_of(path) if name.split(".")[0] in HEAVY}
    assert wrong == set()


def test_models_use_the_one_loop():
    """Nobody but `inference.iterate` repeats something up to a largest number of iterations."""
    wrong = set()
    for path in modules():
        if ROOMS & set(path.relative_to(ROOT).parts):
            wrong |= {(name_of(path), until.lineno, ast.unparse(until)) for until in own_loops(path)}
    assert wrong == set()


def own_loops(path):
    """What the loops of a module that count to a largest number of iterations run over, or until."""
    for node in ast.walk(modules()[path]):
        if isinstance(node, ast.For | ast.While | ast.comprehension):
            until = node.test if isinstance(node, ast.While) else node.iter
            used = {part.id for part in ast.walk(until) if isinstance(part, ast.Name)}
            used |= {part.attr for part in ast.walk(until) if isinstance(part, ast.Attribute)}
            if any("max_iter" in name for name in used):
                yield until


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
    "consilience.consensus.labels.ordinal_ratings",
    "consilience.deep.deep_mcvc",
}
PART_OF = {  # a step of a model in a file of its own
    "consilience.deep.merging": "consilience.deep.bayes_scdc",
    "consilience.deep.pretraining": "consilience.deep.bayes_scdc",
    "consilience.consensus.pairs.belief_propagation": "consilience.consensus.pairs.correlation_clustering",
    "consilience.consensus.pairs.correlation_search": "consilience.consensus.pairs.correlation_clustering",
    "consilience.consensus.groupings.weighted_kcc": "consilience.consensus.groupings.kcc",
    "consilience.consensus.labels.tag_rates": "consilience.consensus.labels.tag_consensus",
    "consilience.consensus.labels.weighted_tags": "consilience.consensus.labels.tag_consensus",
    "consilience.semisupervised.crowd_alone": "consilience.semisupervised.dawid_skene_classifier",
    "consilience.semisupervised.mcvc_search": "consilience.semisupervised.mcvc",
    "consilience.consensus.pairs.weighted_correlation_clustering": "consilience.consensus.pairs.correlation_clustering",
    "consilience.semisupervised.weighted_mcvc": "consilience.semisupervised.mcvc",
    "consilience.semisupervised.weighted_partition_labels": "consilience.semisupervised.partition_label_model",
}


def test_models_do_not_import_each_other():
    shells = {name for name in names() if name.endswith("_estimator")}
    assert len(shells) > 15  # else the search above has gone wrong
    of_models = shells | {name.removesuffix("_estimator") for name in shells} & names()
    for path in modules():
        mine = name_of(path)
        if ROOMS & set(mine.split(".")) and path.name != "__init__.py":
            own = {mine, mine.removesuffix("_estimator"), PART_OF.get(mine)}
            assert not (imports_of(path) & of_models) - own - BUILT_ON, mine


def test_the_mathematics_of_a_model_knows_no_estimators():
    shells = {name for name in names() if name.endswith("_estimator")}
    for path in modules():
        if f"{name_of(path)}_estimator" in shells:
            assert not [name for name in imports_of(path) if name.startswith("consilience.estimators")], name_of(path)


def test_workflows_know_no_command_line():
    """They neither parse nor print: that they import nothing of `cli` follows from the layers."""
    workflows = [path for path in modules() if name_of(path).startswith("consilience.workflows.")]
    assert len(workflows) > 20  # else the search has gone wrong
    assert not [path for path in workflows if "click" in imports_of(path)]


VIEWS = {"matplotlib", "jinja2", "markupsafe"}


def test_statistics_know_no_views():
    """Nothing in `analysis` draws or writes a page; that it imports nothing of `inspection` follows from the layers."""
    statistics = [path for path in modules() if name_of(path).startswith("consilience.analysis.")]
    assert len(statistics) > 30  # else the search has gone wrong
    for path in statistics:
        assert not {name.split(".")[0] for name in imports_of(path)} & VIEWS, path


def test_plots_know_nothing_of_the_report():
    plots = {name: path for path in modules() if (name := name_of(path)).startswith("consilience.inspection.plots.")}
    assert len(plots) > 10  # else the search has gone wrong
    for mine, path in plots.items():
        assert not [name for name in imports_of(path) if name.startswith("consilience.inspection.report")], mine


OF_PARTITIONS = [{"fitting", "results"}, {"models"}, {"survey"}, {"engine", "tables"}]


def test_rooms_of_partitions_import_downwards():
    room_of = {room: depth for depth, rooms in enumerate(OF_PARTITIONS) for room in rooms}
    for path in modules():
        mine = name_of(path).split(".")
        if mine[1:2] == ["partitions"] and len(mine) > 2:
            targets = {name.split(".")[2] for name in imports_of(path) if name.startswith("consilience.partitions.")}
            up = {target for target in targets - {mine[2]} if room_of[target] <= room_of[mine[2]]}
            assert up - {"fitting"} == set(), mine  # results of items are computed by the parts of a fit


def private_members(tree):
    """Names that begin with an underscore and are read of something other than self or cls, or imported."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and re.match("_[^_]", node.attr):
            own = isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}
            yield from () if own else (ast.unparse(node),)
        if isinstance(node, ast.ImportFrom):
            yield from (each.name for each in node.names if each.name.startswith("_"))


def test_partitions_use_no_private_member_of_a_model():
    """What they need of an estimator has a name: a method of its own, or a function such as `elsewhere.begin_fit`."""
    example = "from a import _b\nself._c = cls._d\nmodel._e\nmodel.f()._g = 1\nh.__init__"
    assert sorted(private_members(ast.parse(example))) == ["_b", "model._e", "model.f()._g"]
    wrong = {
        (name_of(path), member)
        for path, tree in modules().items()
        if name_of(path).startswith("consilience.partitions")
        for member in private_members(tree)
    }
    assert wrong == set()


# ---- names

PARTICIPLE = re.compile(
    r"_?([a-z]+ed|beaten|built|chosen|drawn|driven|found|given|held|heard|hidden|kept|known|left|lost|made|met|own|put"
    r"|said|seen|sent|shown|sold|spent|swept|taken|told|written)"
)
VERBS = {"embed", "feed", "need", "seed"}


def test_functions_are_named_by_a_verb_and_its_object():
    """Not by a participle alone, which says neither what is done nor to what; see the words in the principles."""
    wrong = {
        (name_of(path), node.name)
        for path, tree in modules().items()
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and PARTICIPLE.fullmatch(node.name)
        and node.name.lstrip("_") not in VERBS
    }
    assert wrong == set()


def test_a_class_that_leaves_its_file_has_a_name_of_its_own():
    """Bodies of requests apart, whose names are those of the API."""
    homes = {
        f"{name_of(path)}.{node.name}"
        for path, tree in modules().items()
        if not name_of(path).startswith("consilience.collect.api.")
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }
    used = {name for path in modules() for name in names_used(path) if name in homes}
    twice = Counter(name.rpartition(".")[2] for name in used)
    assert len(used) > 300  # else the search has gone wrong
    assert [name for name, times in twice.items() if times > 1] == []


def names_used(path):
    """Absolute names of what a module of the package imports, and of what it reads from modules that it imports."""
    known = names_in(path)
    yield from known.values()
    for node in ast.walk(modules()[path]):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in known:
            yield f"{known[node.value.id]}.{node.attr}"
