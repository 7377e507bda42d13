"""Configuration of the documentation. The build needs no network: `make docs`."""

import os
import re
import sys
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # small matrices: threads would wait for each other
    os.environ.setdefault(variable, "1")

import consilience

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "Consilience"
author = "The Consilience developers"
project_copyright = "2026, the Consilience developers"
version = release = consilience.__version__

extensions = [
    "mathml",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates", "examples"]
default_role = "py:obj"
suppress_warnings = ["config.cache"]  # sphinx_gallery_conf holds a function

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_param = False  # types are prose: their words must not become links
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = f"Consilience {release}"
html_static_path = ["_static"]
html_css_files = ["consilience.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "Consilience"},
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 7,
    "footer_start": ["copyright"],
    "footer_end": [],
}

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"[/\\]plot_",
    "within_subsection_order": "ExampleTitleSortKey",
    "doc_module": ("consilience",),
    "reference_url": {"consilience": None},
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1,
    "abort_on_example_error": True,
}


def escape_learned_names(app, what, name, obj, options, lines):
    """Keep ``shape (n_items, n_clusters_)`` from being read as a link called n_clusters."""
    lines[:] = [re.sub(r"\b(n_\w+)_(?=[,)])", r"\1\_", line) if "shape (" in line else line for line in lines]


def setup(app):
    app.connect("autodoc-process-docstring", escape_learned_names, priority=400)  # before napoleon
