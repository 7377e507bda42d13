"""What turns a fit into figures, or a record into a plot: the definitions of `benchmarks` that a function reaches.

A row names the *version* of its script. From a function, every definition at the top level of a module of
`benchmarks` is followed that its text names, through imports and attributes of imported modules. Comments, docstrings
and annotations of types do not count. The package itself is not followed: whether it gives the same figures as when a
row was computed is what sentinels tell (`sentinels.py`); only the names that a script imports from it are kept.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from typing import Any

SCRIPTS, PACKAGE = "benchmarks", "consilience"

Name = tuple[str, str]
"""A module and the name of a definition at its top level."""


@dataclass
class Script:
    """What functions reach.

    Attributes
    ----------
    texts : of the definitions of `benchmarks`, by name
    imported : names that these import from the package
    """

    texts: dict[Name, str] = field(default_factory=dict)
    imported: set[Name] = field(default_factory=set)

    @cached_property
    def version(self) -> str:
        return digest(repr(sorted(self.texts.items())))


def digest(value: str) -> str:
    """Return a short key of a text."""
    return hashlib.sha256(value.encode()).hexdigest()[:12]


def script_of(*functions: Any) -> Script:
    """Return what functions, partial or not, reach; what is not of `benchmarks` is only named.

    Raises
    ------
    ValueError
        One of them is of `benchmarks`, and not defined at the top level of a module.
    """
    return _script(frozenset(map(_name_of, functions)))


@cache
def _script(names: frozenset[Name]) -> Script:
    script, waiting = Script(), list(names)
    while waiting:
        module, name = waiting.pop()
        if module.split(".")[0] == PACKAGE:
            script.imported.add((module, name))
        elif module.split(".")[0] == SCRIPTS and (module, name) not in script.texts:
            source = _source(module)
            if name in source.statements:
                script.texts[module, name], references = _definition(module, name)
                waiting += references
            elif name in source.imports:  # a module that passes it on
                waiting.append(source.imports[name])
    return script


@cache
def _definition(module: str, name: str) -> tuple[str, list[Name]]:
    """Return the text of a definition, and the definitions that it names."""
    source = _source(module)
    statements = source.statements[name]
    named = [found for statement in statements for found in _references(statement, source)]
    return "\n".join(map(ast.unparse, statements)), list(dict.fromkeys(named))


@dataclass
class Source:
    """The definitions and imports at the top level of a module."""

    module: str
    statements: dict[str, list[ast.stmt]] = field(default_factory=dict)
    imports: dict[str, Name] = field(default_factory=dict)


@cache
def _source(module: str) -> Source:
    source = Source(module)
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        return source
    with open(spec.origin, encoding="utf-8") as file:
        tree = Bare().visit(ast.parse(file.read()))
    for statement in tree.body:
        source.imports |= _imports(statement)
        for name in _defined(statement):
            source.statements.setdefault(name, []).append(statement)
    return source


class Bare(ast.NodeTransformer):
    """Code without docstrings and annotations of types."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
        if isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
        return node


def _defined(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement defines or changes, as in ``TABLE["more"] = 1``."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        yield from (node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))


def _imports(node: ast.AST) -> dict[str, Name]:
    """Return what a statement imports from `benchmarks` and the package, by the name that it gets; "" for a module."""
    if isinstance(node, ast.ImportFrom):
        found = {alias.asname or alias.name: (node.module or "", alias.name) for alias in node.names}
    elif isinstance(node, ast.Import):
        found = {alias.asname or alias.name: (alias.name, "") for alias in node.names}
    else:
        return {}
    return {name: home for name, home in found.items() if home[0].split(".")[0] in (SCRIPTS, PACKAGE)}


def _references(statement: ast.stmt, source: Source) -> Iterator[Name]:
    """Yield the definitions that a statement names."""
    nodes = list(ast.walk(statement))
    known = dict(source.imports)
    for node in nodes:
        known |= _imports(node)
    for node in nodes:
        if isinstance(node, ast.Name) and node.id in source.statements:
            yield source.module, node.id
        elif isinstance(node, ast.Name) and node.id in known and not _module_of(known[node.id]):
            yield known[node.id]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = _module_of(known[node.value.id]) if node.value.id in known else ""
            yield from [(module, node.attr)] if module else []


def _module_of(home: Name) -> str:
    """Return the module that an imported name stands for, if it is one."""
    module = ".".join(filter(None, home))
    try:
        return module if importlib.util.find_spec(module) is not None else ""
    except ModuleNotFoundError:
        return ""


def _name_of(function: Any) -> Name:
    function = function.func if isinstance(function, partial) else function
    module, name = function.__module__, function.__qualname__
    if module.split(".")[0] == SCRIPTS and "<" in name:
        raise ValueError(f"{name} is not defined at the top level of {module}, so that its text cannot be found.")
    return module, name
