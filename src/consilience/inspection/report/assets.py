"""The style sheet and the script of a report, as the page contains them, and the policy that allows nothing else."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from markupsafe import Markup

HELPERS = ("state", "drawing", "tip", "pictures", "downloads")
PARTS = ("tables", "tree", "matrix", "layers", "map", "paper", "key", "makers", "explorer")
SCRIPTS = (*HELPERS, *PARTS, "main")  # in the order in which they need each other


@dataclass(frozen=True)
class Assets:
    """Style sheet, script, and Content-Security-Policy of the page.

    The script is a single module: the files in the folder static, one after the other, so that each can use the
    functions of all.
    """

    style: Markup
    script: Markup
    policy: str

    @classmethod
    def of(cls) -> Assets:
        """Read them from the package."""
        return _assets()


@cache
def _assets() -> Assets:
    folder = files("consilience.inspection.report")
    style = (folder / "templates" / "report.css").read_text("utf-8")
    script = "\n".join((folder / "static" / f"{name}.js").read_text("utf-8") for name in SCRIPTS)
    rules = {
        "default-src": "'none'",
        "script-src": _hash(script),
        "style-src": _hash(style),
        "img-src": "data: blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return Assets(Markup(style), Markup(script), "; ".join(f"{name} {value}" for name, value in rules.items()))


def _hash(text: str) -> str:
    """Return the source that allows exactly this text between the tags of an element."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
