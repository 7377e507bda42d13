"""Which tests concern one model: `pytest --model dawid_skene`, or `make test-model MODEL=dawid_skene`.

They are those of its own modules with their docstrings, and of the tests of all models the cases of this one.
"""

import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from consilience.registry import ESTIMATORS
from tests.import_graph import REPOSITORY, files_imported
from tests.import_graph import ROOT as SOURCE

TESTS = REPOSITORY / "tests"


@dataclass(frozen=True)
class Model:
    """A model by the name of its estimator, and the files that are its own."""

    name: str
    sources: tuple[Path, ...]
    page: Path

    @property
    def tests(self):
        """The tests of its modules."""
        stems = {source.stem for source in self.sources}
        stems |= {stem.removesuffix("_estimator") for stem in stems}
        folders = {TESTS / source.parent.relative_to(SOURCE) for source in self.sources}
        return [path for folder in folders for stem in stems if (path := folder / f"test_{stem}.py").exists()]

    @property
    def tests_of_all(self):
        """Files with tests of several models, among them perhaps this one."""
        mark = re.compile(rf"registry\.ESTIMATORS|\b{self.name}\b")
        texts = {path: path.read_text("utf-8") for path in TESTS.rglob("test_*.py")}
        return [path for path, text in texts.items() if "parametrize" in text and mark.search(text)]

    @property
    def files(self):
        return sorted({*self.sources, *self.tests, *self.tests_of_all})

    def concerns(self, item):
        """Whether a test is of its own files, or a case of it."""
        return item.path in {*self.sources, *self.tests} or self.is_case(item)

    def is_case(self, item):
        """Whether a test of several models is for this one."""
        case = getattr(item, "callspec", None)
        return case is not None and any(map(self._is_meant, case.params.values()))

    def _is_meant(self, value):
        if isinstance(value, list | tuple):
            return any(map(self._is_meant, value))
        if isinstance(value, Path):
            return value == self.page
        names = [value, getattr(value, "name", None), type(value).__name__, getattr(value, "__name__", None)]
        return self.name in [name for name in names if isinstance(name, str)]


def model_called(asked):
    """Return the model of a class, such as DawidSkene, or of one of its modules, such as dawid_skene.

    Raises
    ------
    ValueError
        There is none.
    """
    by_name = {_plain(model.name): model for model in models()}
    by_module = {_plain(source.stem): model for model in models() for source in model.sources}
    found = by_name.get(_plain(asked)) or by_module.get(_plain(asked))
    if found is None:
        known = sorted({_module(model) for model in models()})
        near = get_close_matches(asked, [*known, *ESTIMATORS], 1)
        hint = f" Did you mean {near[0]!r}?" if near else f" The models are in the modules {', '.join(known)}."
        raise ValueError(f"No model is called {asked!r}. Expected the name of its module or of its class.{hint}")
    return found


@cache
def models():
    """All models."""
    return list(_read_models())


def _read_models():
    pages = {path.read_text("utf-8").splitlines()[0]: path for path in (REPOSITORY / "docs" / "models").glob("*.rst")}
    for home in SOURCE.rglob("*_estimator.py"):
        for name in re.findall(r"^class (\w+)\(", home.read_text("utf-8"), re.MULTILINE):
            if name in ESTIMATORS:
                yield Model(name, tuple(_own(home)), pages[name])


def _own(home):
    """The module of an estimator, and the modules of its folder that it imports, except those of other estimators."""
    found, todo = [], [home]
    while todo:
        module = todo.pop()
        found.append(module)
        todo += [
            path
            for path in files_imported(module)
            if path.parent == home.parent
            and path not in found + todo
            and not path.stem.endswith("_estimator")
            and (path.stem == _module_of(home) or not path.with_name(f"{path.stem}_estimator.py").exists())
        ]
    return found


def _module_of(home):
    return home.stem.removesuffix("_estimator")


def _module(model):
    return _module_of(model.sources[0])


def _plain(name):
    return name.lower().replace("_", "").removesuffix("estimator")
