"""What imports what, read from the syntax trees: nothing is imported for it."""

import ast
from collections.abc import Iterator
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
    found: set[str] = set()
    for node in _parts_that_run(tree_of(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(found)


def _parts_that_run(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a syntax tree but those under ``if TYPE_CHECKING``."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        of_checkers = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        waiting += node.orelse if of_checkers else ast.iter_child_nodes(node)
