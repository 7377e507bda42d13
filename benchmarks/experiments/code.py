"""What a result depends on in the code: the definitions that it can reach, and their fingerprint.

From a function or class of this repository, every top-level definition that its text names is followed, and so on,
through imports and attributes of imported modules. A method or an alias of one, ``score = scoring.score``, counts only
if its name occurs in the code that is reached, as a name, an attribute or a text, or is one that libraries call; what
else stands in a class always counts, as does all of a class that a library calls by names of its own. What cannot
change a figure is left out of the fingerprint: comments, docstrings, annotations of types, texts of errors, calls that
only keep or say something, and the catalogue of all models. A change elsewhere leaves the fingerprint as it is. Code
that is found by a name made at run time is not followed, unless the name begins with a fixed text, as in
``f"to_{kind}"``.
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
CALLED_BY_LIBRARIES = {
    *("fit", "predict", "predict_proba", "decision_function", "fit_predict", "score", "transform", "fit_transform"),
    *("get_params", "set_params", "get_feature_names_out"),
}
CALLED_BY_NAME = {
    *("BaseEstimator", "TransformerMixin", "ClassNamePrefixFeaturesOutMixin"),
    *("ABC", "Enum", "Generic", "Module", "NamedTuple", "Protocol"),
}
"""Classes of libraries that call none but `CALLED_BY_LIBRARIES` and methods such as ``__init__``."""

CATALOGUES = {("consilience.registry", "ESTIMATORS")}
"""Tables with an entry for each model: one more changes no figure of the others."""
WITHOUT_EFFECT = {"forecasts.keep", "forecasts.note_number_of_clusters"}
"""Calls, as statements, that only keep or say something: what reads it is reached by its own name."""

Name = tuple[str, str]
"""A module and the name of a definition at its top level, or of a class and a member, as in ``KCC.fit``."""


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
    by_module: dict[str, list[str]] = {}
    for module, definition in sorted(Reached.by(names).names):
        by_module.setdefault(module, []).append(f"{definition}:{_text(module, definition)}")
    return {module: _short("\n".join(texts)) for module, texts in by_module.items()}


@dataclass
class Reached:
    """The definitions that others can reach, the words that occur in them, and members that none has named so far."""

    names: set[Name] = field(default_factory=set)
    words: set[str] = field(default_factory=lambda: set(CALLED_BY_LIBRARIES))
    beginnings: set[str] = field(default_factory=set)
    unnamed: set[Name] = field(default_factory=set)

    @classmethod
    def by(cls, names: Iterable[Name]) -> Reached:
        found = cls()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in found.names and name not in CATALOGUES:
                waiting += found.add(name)
        return found

    def add(self, name: Name) -> list[Name]:
        """Add a definition, and return what it reaches: what it refers to, and members that are named now."""
        self.names.add(name)
        words, beginnings = _words(*name)
        self.words |= words
        self.beginnings |= beginnings
        self.unnamed |= _members(*name)
        named = {member for member in self.unnamed if self.is_named(member[1].split(".")[1])}
        self.unnamed -= named
        return [*_references(name), *named]

    def is_named(self, member: str) -> bool:
        is_special = member.startswith("__") and member.endswith("__")
        return is_special or member in self.words or member.startswith(tuple(self.beginnings))


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
def _whole(module: str, name: str) -> list[ast.stmt]:
    """Return the statements of a definition, without what cannot change a figure."""
    return [Stripped().visit(statement) for statement in _source(module).statements.get(name, [])]


@cache
def _stripped(module: str, name: str) -> list[ast.stmt]:
    """Return `_whole`, of a class without the members that count only if they are named; or one such member."""
    of_class, _, wanted = name.partition(".")
    found: list[ast.stmt] = []
    for statement in _whole(module, of_class):
        if not (isinstance(statement, ast.ClassDef) and _is_called_by_name(module, statement)):
            found.append(statement)
        elif wanted:
            found += [one for one in statement.body if wanted in _member_names(one)]
        else:
            found.append(_with_body(statement, [one for one in statement.body if not _member_names(one)]))
    return found


@cache
def _members(module: str, name: str) -> set[Name]:
    """Return the members of a class that count only if they are named."""
    classes = [found for found in _whole(module, name) if isinstance(found, ast.ClassDef)] if "." not in name else []
    bodies = [found.body for found in classes if _is_called_by_name(module, found)]
    return {(module, f"{name}.{member}") for body in bodies for one in body for member in _member_names(one)}


def _with_body(found: ast.ClassDef, body: list[ast.stmt]) -> ast.ClassDef:
    return ast.ClassDef(found.name, found.bases, found.keywords, body, found.decorator_list)


def _is_called_by_name(module: str, found: ast.ClassDef) -> bool:
    """Whether no base of a class is of a library that calls methods by names of its own."""
    source = _source(module)
    bases = [base.value if isinstance(base, ast.Subscript) else base for base in found.bases]
    names = [base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in bases]
    return all(name in CALLED_BY_NAME or name in source.statements or _home(source.imports.get(name)) for name in names)


def _member_names(statement: ast.stmt) -> set[str]:
    """Return what a statement in a class defines: a method, or another name of a function."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return {statement.name}
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name | ast.Attribute):
        return {target.id for target in statement.targets if isinstance(target, ast.Name)}
    return set()


@cache
def _words(module: str, name: str) -> tuple[set[str], set[str]]:
    """Return the words that may name a member in the text of a definition, and the fixed beginnings of such words."""
    words, beginnings = set(), set()
    for node in (node for statement in _stripped(module, name) for node in ast.walk(statement)):
        if isinstance(node, ast.Attribute):
            words.add(node.attr)
        elif isinstance(node, ast.Name):
            words.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words.add(node.value)
        elif isinstance(node, ast.JoinedStr) and node.values and isinstance(node.values[0], ast.Constant):
            beginnings |= {text for text in [str(node.values[0].value)] if text.isidentifier()}
    return words, beginnings


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
    """Code without docstrings, annotations of types, what an error says, and calls `WITHOUT_EFFECT`."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            node.body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        if hasattr(node, "body") and isinstance(node.body, list):
            node.body = [statement for statement in node.body if not _is_without_effect(statement)]
        if isinstance(node, ast.arg):
            node.annotation = None
        if isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            node.exc, node.cause = node.exc.func, None
        return node


def _is_without_effect(statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and ast.unparse(call.func) in WITHOUT_EFFECT


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
