"""Formulae as MathML, which browsers draw themselves: no script, no font and no network are needed."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)


def inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(mathml(node, as_block=False))
    raise nodes.SkipNode


def display(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math"))
    if node["number"]:
        self.body.append(f'<span class="eqno">({node["number"]})</span>')
    self.body.append(mathml(node, as_block=True))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def mathml(node: nodes.Element, *, as_block: bool) -> str:
    """MathML of the formula in a node; the build fails on LaTeX that docutils does not know."""
    try:
        return tex2mathml(node.astext(), as_block=as_block)
    except MathError as error:
        logger.warning("formula: %s", error, location=node)
        return f"<code>{self_escaped(node.astext())}</code>"


def self_escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
