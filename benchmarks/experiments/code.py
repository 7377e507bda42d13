"""What a result depends on in the code: the definitions that it can reach, and their fingerprint.

From a function or class of this repository, every top-level definition that its text names is followed, and so on,
through imports and attributes of imported modules. What cannot change a figure is left out of the fingerprint:
comments, docstrings, annotations of types, texts of errors. A change elsewhere leaves the fingerprint as it is. Code
that is found by a name at run time is not followed.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from types import ModuleType
from typing import Any

PACKAGES = ("benchmarks", "consilience")

Name = tuple[str, str]
"""A module and the name of a definition at its top level."""


def dependencies(*uses: Any) -> dict[str, str]:
    """Return the definitions that functions, classes and instances can reach, by module, with their fingerprints.

    Parameters
    ----------
    uses : functions, classes or instances
        What is not of this repository is skipped.

    Returns
    -------
    dict
        Fingerprint of the definitions reached in each module.

    Raises
    ------
    ValueError
        One of them is not defined at the top level of a module, so that its code cannot be found.
    """
    return dict(_dependencies(frozenset(name for name in map(_name_of, uses) if name is not None)))


@cache
def _dependencies(names: frozenset[Name]) -> dict[str, str]:
    reached: set[Name] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += _references(name)
    by_module: dict[str, list[str]] = {}
    for module, definition in sorted(reached):
        by_module.setdefault(module, []).append(f"{definition}:{_text(module, definition)}")
    return {module: _short("\n".join(texts)) for module, texts in by_module.items()}


def fingerprint(depends: dict[str, str]) -> str:
    """Return one key for fingerprints of several modules."""
    return _short(repr(sorted(depends.items())))


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _name_of(use: Any) -> Name | None:
    use = use.func if isinstance(use, partial) else use
    if not (isinstance(use, type) or hasattr(use, "__qualname__")):
        use = type(use)
    module, name = use.__module__, use.__qualname__.split(".")[0]
    if module == "__main__":
        raise ValueError(f"{name} is defined in the script that runs; import it from a module.")
    if not _is_ours(module):
        return None
    if name not in _source(module).statements:
        raise ValueError(f"{name} is not defined at the top level of {module}.")
    return module, name


def _is_ours(module: str) -> bool:
    return module.split(".")[0] in PACKAGES


@dataclass
class Source:
    """The top level of a module: statements and imports by the names that they define."""

    module: str
    is_package: bool
    statements: dict[str, list[ast.stmt]] = field(default_factory=dict)
    imports: dict[str, Name | str] = field(default_factory=dict)

    def read(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            if isinstance(statement, ast.Import | ast.ImportFrom):
                self.imports |= self.imported(statement)
            elif isinstance(statement, ast.If | ast.Try | ast.With):
                if not _is_for_types(statement):
                    for part in ("body", "orelse", "finalbody"):
                        self.read(getattr(statement, part, ()))
            else:
                for name in _defined(statement):
                    self.statements.setdefault(name, []).append(statement)

    def imported(self, statement: ast.Import | ast.ImportFrom) -> dict[str, Name | str]:
        """Return what an import makes known: a module, or a name in a module."""
        if isinstance(statement, ast.Import):
            return {
                alias.asname or alias.name.split(".")[0]: alias.name if alias.asname else alias.name.split(".")[0]
                for alias in statement.names
            }
        parts = self.module.split(".")
        above = parts[: len(parts) - statement.level + self.is_package] if statement.level else []
        module = ".".join([*above, *([statement.module] if statement.module else [])])
        return {alias.asname or alias.name: (module, alias.name) for alias in statement.names}


def _is_for_types(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.dump(statement.test)


def _defined(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
            yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))
            if isinstance(target, ast.Attribute):
                yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


@cache
def _source(module: str) -> Source:
    spec = importlib.util.find_spec(module)
    found = Source(module, spec is not None and spec.submodule_search_locations is not None)
    if spec is not None and spec.origin is not None:
        with open(spec.origin, encoding="utf-8") as file:
            found.read(ast.parse(file.read()).body)
    return found


@cache
def _stripped(module: str, name: str) -> list[ast.AST]:
    return [Stripped().visit(statement) for statement in _source(module).statements.get(name, [])]


@cache
def _text(module: str, name: str) -> str:
    return "".join(map(_canonical, _stripped(module, name)))


def _canonical(node: Any) -> str:
    """Return a syntax tree as text that is the same in all versions of Python: without what is empty."""
    if isinstance(node, list):
        return f"[{','.join(map(_canonical, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = [(name, value) for name, value in ast.iter_fields(node) if name not in ("ctx", "kind", "type_comment")]
    given = [f"{name}={_canonical(value)}" for name, value in fields if value is not None and value != []]
    return f"{type(node).__name__}({','.join(given)})"


class Stripped(ast.NodeTransformer):
    """Code without docstrings, annotations of types and what an error says."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            node.body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
        if isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            node.exc, node.cause = node.exc.func, None
        return node


@cache
def _references(name: Name) -> tuple[Name, ...]:
    """Return the definitions that the text of one names."""
    source = _source(name[0])
    found: set[Name] = set()
    for statement in _stripped(*name):
        known = dict(source.imports)
        for node in ast.walk(statement):
            if isinstance(node, ast.Import | ast.ImportFrom):
                known |= source.imported(node)
        for node in ast.walk(statement):
            if isinstance(node, ast.Name):
                own = node.id in source.statements and node.id != name[1]
                found |= {(name[0], node.id)} if own else _home(known.get(node.id))
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                module = _module_of(known.get(node.value.id))
                found |= _home((module, node.attr)) if module else set()
    return tuple(sorted(found))


def _module_of(imported: Name | str | None) -> str | None:
    """Return the module that an imported name stands for, if it is one of ours."""
    module = ".".join(imported) if isinstance(imported, tuple) else imported
    if module is None or not _is_ours(module):
        return None
    try:
        return module if importlib.util.find_spec(module) is not None else None
    except ModuleNotFoundError:
        return None


def _home(imported: Name | str | None) -> set[Name]:
    """Return where an imported name is defined, past packages that pass it on; nothing for modules and other code."""
    if not isinstance(imported, tuple) or not _is_ours(imported[0]):
        return set()
    module, name = imported
    source = _source(module)
    if name in source.statements:
        return {imported}
    if name in source.imports:
        return _home(source.imports[name])
    if _module_of(imported):
        return set()
    value = getattr(importlib.import_module(module), name, None)  # passed on by the module's __getattr__
    return set() if value is None or isinstance(value, ModuleType) else {_name_of(value)} - {None}
