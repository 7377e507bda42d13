"""Sentinels: small fits, a few figures each, that tell whether a change of code changed what is recorded.

Rows of the record take hours to compute; sentinels take a minute, and `make test` takes them, except for the inputs
of networks, which take as long as all other inputs and are left to `make test-all`. Each stands for the rows of an
estimator with settings of one *family*: those that differ from their defaults, where words and flags count with their
value, and numbers without. Families are those that occur on the pages, and the defaults of every estimator. Networks
take so long to compile that all rows of a deep model have one sentinel. Functions of the package that scripts use for
figures have sentinels, too; and so has the input that reaches a model, for each data set of each part of a page
(`inputs.py`).

If a sentinel gives the recorded figures, the rows that it stands for hold. If not, they are out of date, which
``python -m benchmarks.papers --changed`` declares.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from benchmarks import papers, people
from benchmarks.experiments import small_crowds
from benchmarks.experiments.inputs import are_close, first_input, sums_of
from benchmarks.experiments.record import Cell, default_settings, plain
from consilience import metrics
from consilience.active import ActiveSession
from consilience.consensus import KCC, SubsetFusion
from consilience.inference.memberships import Memberships, count_presented, together
from consilience.registry import ESTIMATORS
from consilience.selection import compare
from consilience.simulation import present

if TYPE_CHECKING:
    from benchmarks.experiments.page import Page, Part

RELATIVE = 1e-6  # of the root of the sum of squares that a figure is of
RELATIVE_OF_NETWORKS = 1e-3  # single precision; see docs/developer/results.md
SIZES = {"n_clusters": 4, "max_clusters": 6, "max_views": 2, "max_pairs": 60}
"""Settings that are other numbers on the small crowds, where the pages set them."""
ALWAYS = {"random_state": 0, "n_init": 2}
"""Settings of every sentinel: a second restart shows what the first does not."""
SMALL: dict[str, dict[str, Any]] = {
    "Crowdclustering": {"max_iter": 30},  # of 200, for seconds
    "MCVC": {"max_iter": 8, "n_clusters": 4},
    "MECC": {"max_iter": 8},
    "OrdinalRatings": {"levels": list("pqrs")},  # the names of the small crowd have no order
}
"""Settings of models whose sweeps are many or enlarge a difference in the last bit until they end in another optimum,
or that need one.
"""
OF_VIEWS = ("lower_bound_", "lower_bounds_", "predict_same", "responsibilities_", "view_probabilities_",
            "view_responsibilities_", "views_")  # fmt: skip
UNSTABLE: dict[str, tuple[str, ...]] = {
    **{f"MCVC(max_views{more})": tuple(f"groupings, {name}" for name in OF_VIEWS) for more in ("", ", n_clusters")},
    "PartitionLabelModel()": ("prior_variance_search_",),
    "SubsetFusion()": ("n_clusters_curve_", "predict_same", "responsibilities_"),
    "ActiveSession()": ("informative",),
}
"""Figures that are left out: they hang on the last bit, and differ under the kernels NEHALEM or HASWELL of BLAS."""

UNSETTLED: dict[str, dict[str, Any]] = {"KCC": {"init": "k-means++", "n_init": 1, "max_iter": 2}}
"""Settings with which an estimator is fitted besides, to stop on its way: a wrong step may end where right ones do."""

Figures = dict[str, Any]
"""For each attribute sums of its numbers (`sums_of`), or a digest."""


@dataclass(frozen=True)
class Sentinel:
    """A small computation that stands for rows of the record.

    Attributes
    ----------
    subject : the estimator or function of the package, by name; or "input"
    family : what tells it from others of its subject
    take : returns its figures
    relative : how far figures may differ, relative to the root of the sum of squares that they are of
    """

    subject: str
    family: str
    take: Callable[[], Figures]
    relative: float = RELATIVE

    @property
    def key(self) -> str:
        return f"{self.subject}({self.family})"

    def differences(self, figures: Figures, recorded: Figures) -> list[str]:
        """Return the names of figures that differ from the recorded ones, or that only one of both has."""
        return sorted({*self.changes(figures, recorded), *(figures.keys() ^ recorded.keys())})

    def changes(self, figures: Figures, recorded: Figures) -> list[str]:
        """Return the names of figures that both have and that differ."""
        names = sorted(figures.keys() & recorded.keys())
        return [name for name in names if not self._agree(figures[name], recorded[name])]

    def _agree(self, one: Any, other: Any) -> bool:
        if isinstance(one, list) and isinstance(other, list):
            return are_close(one, other, self.relative)
        return bool(one == other)


@cache
def all_sentinels() -> dict[str, Sentinel]:
    """Return every sentinel by its key."""
    found = [*of_estimators(), *of_networks(), *of_functions(), *of_inputs()]
    return {sentinel.key: sentinel for sentinel in found}


def take(sentinel: Sentinel) -> Figures:
    """Return the figures of a sentinel as they are now."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        figures = sentinel.take()
    return {name: value for name, value in figures.items() if name not in UNSTABLE.get(sentinel.key, ())}


def pages() -> Iterator[Page]:
    """Yield the pages whose rows sentinels stand for: all but that of seconds."""
    for package in (people, papers):
        for name in package.PAGES:
            yield import_module(f"{package.__name__}.{name}").PAGE


@cache
def cells() -> list[tuple[Page, Part, Cell]]:
    """Return every cell of these pages."""
    return [(page, part, cell) for page in pages() for part, cell in page.cells]


def keys_of(page: Page, part: Part, cell: Cell) -> set[str]:
    """Return the keys of the sentinels that stand for the row of a cell."""
    own = [] if cell.estimator is None else list(estimators_in(cell.estimator))
    used = {use.__name__ for use in cell.uses}
    named = {name for _, name in cell.script(part.compute).imported}
    found = {_sentinel_of(one) for one in own}
    found |= {key for key, sentinel in all_sentinels().items() if sentinel.subject in used}
    found |= {f"{name}()" for name in named & set(FUNCTIONS)}
    return found | {key_of_input(page, part, cell)}


def _sentinel_of(estimator: Any) -> str:
    name = type(estimator).__name__
    return f"{name}()" if name in NETWORKS else f"{name}({family_of(estimator)})"


# ---- families of settings


def estimators_in(estimator: Any) -> Iterator[Any]:
    """Yield the estimators of the package in an estimator: itself, steps of a pipeline, nested ones."""
    is_alone = type(estimator).__name__ in ESTIMATORS and not required(estimator)
    found = [estimator, *([] if is_alone else estimator.get_params(deep=True).values())]
    for one in {id(one): one for one in found}.values():
        if type(one).__name__ in ESTIMATORS:
            yield one


def settings_of(estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator; `get_params` reads the signature of its class anew each time."""
    return {name: getattr(estimator, name) for name in sorted(default_settings(type(estimator)))}


def changed_settings(estimator: Any) -> dict[str, Any]:
    """Return the settings that differ from their defaults, without nested estimators and what every sentinel sets."""
    defaults, own = default_settings(type(estimator)), settings_of(estimator)
    return {
        name: value
        for name, value in sorted(own.items())
        if plain(value) != defaults[name] and name not in ALWAYS and not hasattr(value, "get_params")
    }


def required(estimator: Any) -> dict[str, Any]:
    """Return the nested estimators, which have no default."""
    return {name: value for name, value in settings_of(estimator).items() if hasattr(value, "get_params")}


def family_of(estimator: Any) -> str:
    """Return the family of an estimator's settings, such as ``n_clusters, utility=entropy``."""
    words = [type(one).__name__ for one in required(estimator).values()]
    for name, value in changed_settings(estimator).items():
        words.append(f"{name}={value}" if value is None or isinstance(value, bool | str) else name)
    return ", ".join(words)


def shrunk(estimator: Any) -> Any:
    """Return a copy with sizes that suit the small crowds."""
    sizes = {name: SIZES[name] for name in changed_settings(estimator) if name in SIZES}
    always = {name: value for name, value in ALWAYS.items() if name in estimator.get_params(deep=False)}
    always |= SMALL.get(type(estimator).__name__, {})
    return clone(estimator).set_params(**sizes | always)


# ---- what is taken


def figures_of_fit(estimator: Any) -> Figures:
    """Fit an estimator to the small crowd of its kind; one of pairs to those that groupings imply, too."""
    first, *others = (ESTIMATORS[type(one).__name__].reads for one in estimators_in(estimator))
    kind = next(kind for kind in first if all(kind in other for other in others))
    figures = figures_given(estimator, kind)
    if kind == "pairs" and type(estimator).__name__ not in NETWORKS:
        implied = figures_given(estimator, "groupings")
        figures |= {f"groupings, {name}": value for name, value in implied.items()}
    if (settings := UNSETTLED.get(type(estimator).__name__)) is not None:
        early = figures_given(clone(estimator).set_params(**settings), kind)
        figures |= {f"unsettled, {name}": value for name, value in early.items()}
    return figures


def figures_given(estimator: Any, kind: str) -> Figures:
    """Fit an estimator to the small crowd of a kind, and return the sums of all that it learns and predicts."""
    crowd, table = small_crowds.crowd_of(kind), small_crowds.features()
    is_consensus = ESTIMATORS[type(estimator).__name__].kind == "consensus"
    model = clone(estimator)
    model.fit(*([crowd] if is_consensus else [table, crowd]))
    figures = learned(model)
    items = model.items_
    figures["predict_same"] = sums_of([model.predict_same(items[i], items[-1 - i]) for i in range(len(items) // 2)])
    if not is_consensus:
        figures["predict"] = sums_of(numbers_of(model.predict(table.iloc[::7] + 0.25)))
    return figures


def learned(model: Any) -> Figures:
    """Return the sums of every attribute that a model learned and that holds numbers or names."""
    own = {name: value for name, value in sorted(vars(model).items()) if name.endswith("_")}
    found = {name: numbers_of(value) for name, value in own.items() if name not in ("items_", "state_")}
    return {name: sums_of(numbers) for name, numbers in found.items() if len(numbers)}


def numbers_of(value: Any) -> np.ndarray:
    """Return the numbers in a value, in one row; names count by the order of their first occurrence."""
    if isinstance(value, bool | int | float | np.number | np.bool_):
        return np.array([float(value)])
    if isinstance(value, pd.DataFrame):
        value = [value[name] for name in value]
    if isinstance(value, list | tuple | dict):
        parts = [numbers_of(one) for one in (value.values() if isinstance(value, dict) else value)]
        return np.concatenate([np.empty(0), *parts])
    if isinstance(value, np.ndarray | pd.Series | pd.Index):
        flat = np.asarray(value).ravel()
        if flat.dtype.kind in "biuf":
            return flat.astype(float)
        if any(isinstance(one, np.ndarray | list | tuple) for one in flat):
            return numbers_of(list(flat))
        return pd.factorize(flat.astype(str))[0].astype(float)
    return np.empty(0)


def of_estimators() -> Iterator[Sentinel]:
    """Yield a sentinel for each family of settings on the pages, and for the defaults of each estimator."""
    models = [entry.load()() for entry in ESTIMATORS.values() if entry.name not in (*NETWORKS, *NESTING)]
    models += [one for _, _, cell in cells() if cell.estimator is not None for one in estimators_in(cell.estimator)]
    known = set()
    for model in models:
        name, family = type(model).__name__, family_of(model)
        if name not in NETWORKS and (name, family) not in known:
            known.add((name, family))
            yield Sentinel(name, family, partial(figures_of_fit, shrunk(model)))


# ---- networks

NESTING = ("InductiveConsensus",)
"""Estimators without defaults: they take another one."""
FEW_STEPS: dict[str, Any] = {"hidden": (8,), "n_init": 1, "random_state": 0}
NETWORKS: dict[str, dict[str, Any]] = {
    "BayesSCDC": {"n_epochs": 6, "warm_epochs": 3},
    "SCDC": {"n_clusters": 4, "n_epochs": 6, "warm_epochs": 3},
    "DeepMCVC": {"n_clusters": 4, "max_views": 1, "n_sweeps": 6},
}


def of_networks() -> Iterator[Sentinel]:
    for name in NETWORKS:
        yield Sentinel(name, "", partial(figures_of_network, name), RELATIVE_OF_NETWORKS)


def figures_of_network(name: str) -> Figures:
    """Train a few steps; most of the time is compilation, which is told to be quick."""
    with quick_compilation():
        return figures_of_fit(ESTIMATORS[name].load()(**FEW_STEPS, **NETWORKS[name]))


@contextmanager
def quick_compilation() -> Iterator[None]:
    import jax  # an optional dependency, which takes seconds to import

    before = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", True)
    try:
        yield
    finally:
        jax.config.update("jax_disable_most_optimizations", before)
        jax.clear_caches()


# ---- functions that scripts use for figures


def figures_of_score(score: Callable[..., float]) -> Figures:
    """Compare two clusterings of the small crowd, with and without items that one of them leaves out."""
    first, second = small_crowds.classes().T
    return {"score": sums_of([score(first, second), score(first, first // 2), score(second[:50], first[:50])])}


def figures_of_memberships(count: Callable[..., Any]) -> Figures:
    return {"counts": sums_of(count(Memberships.of(small_crowds.groupings())).toarray())}


def figures_of_session() -> Figures:
    """Ask and tell by each strategy, with people who sort by quarters of a feature, whose clusters are beyond doubt.

    People who cluster by k-means would answer otherwise on another processor.
    """
    table = small_crowds.features()
    quarter = pd.qcut(table.iloc[:, 0], 4, labels=False)
    found: Figures = {}
    for strategy in ("random", "explore", "exploit-pairwise", "exploit-one-vs-rest", "explore-exploit", "informative"):
        rng = np.random.default_rng(0)

        def sort_with_an_error(items: Iterable[Any], rng: np.random.Generator = rng) -> list[list[Any]]:
            groups = quarter.loc[list(items)]
            groups.iloc[rng.integers(len(groups))] = rng.integers(4)
            return [list(group) for group in groups.groupby(groups).groups.values()]

        session = ActiveSession(list(table.index), strategy=strategy, fusion=SubsetFusion(4), random_state=0)
        asked = []
        for number in range(2):  # the third subsets that "informative" composes differ between processors
            subsets = [subset.items for subset in session.ask(4, 8)]
            asked += [table.index.get_indexer(items) for items in subsets]
            names = [f"answer {number}, {place}" for place in range(4)]
            session.tell(present(sort_with_an_error, subsets, items=list(table.index), annotators=names))
        found[strategy] = sums_of(np.concatenate(asked))
        session.consensus()
        found[f"{strategy}, stability"] = sums_of(numbers_of(session.stability_))
    return found


def figures_of_comparison() -> Figures:
    crowd = small_crowds.groupings()
    models = {"KCC": KCC(4, random_state=0), "SubsetFusion": SubsetFusion(4)}
    found = {by: compare(models, crowd, by=by, n_folds=3, random_state=0).table for by in ("model", "clusters")}
    return {by: sums_of(table["log_loss"].to_numpy()) for by, table in found.items()}


FUNCTIONS: dict[str, Callable[[], Figures]] = {
    **{
        name: partial(figures_of_score, getattr(metrics, name)) for name in ("nmi", "ami", "ari", "clustering_accuracy")
    },
    "together": partial(figures_of_memberships, together),
    "presented": partial(figures_of_memberships, count_presented),
    "ActiveSession": figures_of_session,
    "compare": figures_of_comparison,
}


def of_functions() -> Iterator[Sentinel]:
    for name, figures in FUNCTIONS.items():
        yield Sentinel(name, "", figures)


# ---- inputs


def key_of_input(page: Page, part: Part, cell: Cell) -> str:
    return f"input({page.name}, {part.name}, {part.alike(cell.data)})"


def of_inputs() -> Iterator[Sentinel]:
    """Yield a sentinel for each kind of data set of a part: what reaches the first fit of a model."""
    known = set()
    for page, part, cell in cells():
        key = key_of_input(page, part, cell)
        if key in known or not part.has_sentinel or cell.estimator is None or not any(estimators_in(cell.estimator)):
            continue
        known.add(key)
        yield Sentinel("input", key.removeprefix("input(").removesuffix(")"), partial(first_input_of, part, cell))


def first_input_of(part: Part, cell: Cell) -> Figures:
    with first_input(stop=True) as found:
        part.compute(cell)
    return found
