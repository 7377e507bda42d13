"""What imports what, read from the syntax trees: nothing is imported for it."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
ROOT = REPOSITORY / "src" / "consilience"


@cache
def modules() -> dict[Path, ast.Module]:
    """Syntax tree of each module of the package."""
    return {path: tree_of(path) for path in sorted(ROOT.rglob("*.py"))}


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def name_of(path: Path) -> str:
    """Name by which a module of the package is imported."""
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports_of(path: Path) -> frozenset[str]:
    """Absolute names of what a file imports, functions included; `from a import b` gives a and a.b.

    What is imported for type checkers alone does not count.
    """
    froms = [node for node in _parts_that_run(tree_of(path)) if isinstance(node, ast.ImportFrom)]
    assert all(node.level == 0 for node in froms), "imports are absolute"
    return _names_imported(path) | {node.module for node in froms}


@cache
def files_imported(path: Path) -> frozenset[Path]:
    """Files of the package and of its tests and benchmarks that a file imports; of a package, those that define what is
    imported from it: `from consilience.consensus import KCC` is an import of the module of KCC alone.
    """
    return frozenset(filter(None, map(home_of, _names_imported(path))))


def with_users(changed: Iterable[Path], files: Iterable[Path]) -> set[Path]:
    """Changed files, those of the others that import one of them, those that import one of these, and so on."""
    reached, waiting = set(changed), set(files)
    while found := {path for path in waiting if files_imported(path) & reached}:
        reached |= found
        waiting -= found
    return reached


@cache
def names_in(path: Path) -> dict[str, str]:
    """Absolute names of what a file imports, by the names under which it uses them."""
    return dict(_imports(path))


def _names_imported(path: Path) -> set[str]:
    return {name for _, name in _imports(path)}


def _imports(path: Path) -> Iterator[tuple[str, str]]:
    """Each import's name in the file and its absolute name."""
    for node in _parts_that_run(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            around = path.relative_to(REPOSITORY).parts[: -node.level] if node.level else ()
            holder = ".".join(filter(None, (*around, node.module)))
            yield from ((alias.asname or alias.name, f"{holder}.{alias.name}") for alias in node.names)


@cache
def home_of(name: str) -> Path | None:
    """File of a module, or of the module that defines a name of a package; None if it is of another project."""
    place = (ROOT.parent if name.partition(".")[0] == "consilience" else REPOSITORY).joinpath(*name.split("."))
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if path.exists():
            return path
    holder, _, attribute = name.rpartition(".")
    found = home_of(holder) if holder else None
    if found is not None and found.name == "__init__.py" and attribute in _passed_on(found):
        return home_of(_passed_on(found)[attribute])
    return found


@cache
def _passed_on(package: Path) -> dict[str, str]:
    """Names that a package imports in order to pass them on, with those under which they are defined."""
    nodes = (node for node in ast.walk(tree_of(package)) if isinstance(node, ast.ImportFrom))
    return {alias.asname or alias.name: f"{node.module}.{alias.name}" for node in nodes for alias in node.names}


def _parts_that_run(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a syntax tree but those under ``if TYPE_CHECKING``."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        of_checkers = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        waiting += node.orelse if of_checkers else ast.iter_child_nodes(node)
