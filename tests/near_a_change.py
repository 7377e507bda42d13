"""Which tests concern a change: `pytest --near HEAD`, or `make test-near`, or `make test-near BASE=main~3`.

They are the tests of the modules that changed and of the models that these belong to, all tests whose code uses
something of them, and of the tests of all models the cases of those that import something that changed.
"""

import ast
import subprocess
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from tests.import_graph import REPOSITORY, ROOT, home_of, modules, names_in, tree_of, with_users
from tests.of_one_model import TESTS, models

ALWAYS = TESTS / "test_architecture.py"


@dataclass(frozen=True)
class Change:
    """Files that changed."""

    changed: frozenset[Path]

    @cached_property
    def sources(self):
        """Modules whose tests are meant: those that changed, and all of a model one of whose modules did."""
        return self.changed | {path for model in self._changed_models for path in model.sources}

    @cached_property
    def models(self):
        """Models that import something that changed."""
        reached = with_users(self.changed, modules())
        return [model for model in models() if reached & {*model.sources, model.page}]

    @cached_property
    def tests(self):
        """Files with tests of these modules, and those that changed themselves."""
        of_models = {path for model in self._changed_models for path in model.tests}
        return {path for path in _tests() if path in self.changed or _subject(path) in self.sources} | of_models

    @cached_property
    def helpers(self):
        """The modules, and what the tests share that uses them."""
        shared = [path for path in TESTS.rglob("*.py") if not path.name.startswith("test_")]
        return with_users(self.sources, shared)

    @property
    def files(self):
        """Files in which there may be tests that are concerned."""
        users = [path for path in _tests() if self._may_use(path)]
        of_all = (path for model in self.models for path in model.tests_of_all)
        examples = (path for path in self.sources if path in modules())
        return sorted({ALWAYS, *self.tests, *users, *of_all, *examples})

    def concerns(self, item):
        """Whether a test is of these modules, is a case of a model that imports them, or uses them itself."""
        if item.path in {ALWAYS, *self.tests, *self.sources}:
            return True
        return any(model.is_case(item) for model in self.models) or self._is_used_by(item)

    @cached_property
    def _changed_models(self):
        return [model for model in models() if self.changed & {*model.sources, model.page}]

    def _may_use(self, test):
        around = [test, *_fixtures_around(test)]
        return any(home_of(name) in self.helpers for path in around for name in names_in(path).values())

    def _is_used_by(self, item):
        function = getattr(item, "originalname", None)  # examples in docstrings have none
        name = function if getattr(item, "cls", None) is None else item.cls.__name__
        return name is not None and not self.helpers.isdisjoint(_homes_used(item.path, name))


def changed_since(commit):
    """Return the change from a commit to the files as they are now, new ones included.

    Raises
    ------
    ValueError
        git does not know the commit.
    """
    compare = ["git", "diff", "--name-only", commit, "--"]
    found = subprocess.run(compare, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if found.returncode:
        raise ValueError(f"git cannot compare the files with {commit!r}: {found.stderr.strip()}")
    list_new = ["git", "ls-files", "--others", "--exclude-standard"]
    new = subprocess.run(list_new, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    return Change(frozenset(REPOSITORY / name for name in (found.stdout + new.stdout).splitlines()))


@cache
def _tests():
    return sorted(TESTS.rglob("test_*.py"))


def _subject(test):
    """The module of which a file has the tests."""
    return ROOT / test.relative_to(TESTS).with_name(test.name.removeprefix("test_"))


@cache
def _homes_used(path, name):
    """Files that define what a test uses: itself, by what else of its file, and by fixtures."""
    homes, seen, waiting = set(), set(), [(path, name)]
    while waiting:
        here, name = waiting.pop()
        if (here, name) in seen:
            continue
        seen.add((here, name))
        if name in _definitions(here):
            waiting += [(here, used) for used in _definitions(here)[name]]
        elif name in names_in(here):
            homes.add(home_of(names_in(here)[name]))
        else:
            waiting += [(around, name) for around in _fixtures_around(here)[:1]]
    return homes


@cache
def _definitions(path):
    """Names that each definition of a file uses, by its own name."""
    found = {}
    for node in tree_of(path).body:
        parts = list(ast.walk(node))
        used = {part.id for part in parts if isinstance(part, ast.Name)}
        used |= {part.arg for part in parts if isinstance(part, ast.arg)}
        stored = [part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
        for name in [node.name] if hasattr(node, "name") else stored:
            found.setdefault(name, set()).update(used)
    return found


@cache
def _fixtures_around(path):
    """Each conftest.py of the folders around a file, the next one first."""
    folders = path.parent.parents if path.name == "conftest.py" else path.parents
    return [found for folder in folders if folder.is_relative_to(TESTS) and (found := folder / "conftest.py").exists()]
