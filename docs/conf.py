"""Configuration of the documentation. The build needs no network: `make docs`."""

import os
import re
import sys
import tomllib
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # small matrices: threads would wait for each other
    os.environ.setdefault(variable, "1")

from docutils import nodes

import consilience

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
with (HERE.parent / "pyproject.toml").open("rb") as file:
    URLS = tomllib.load(file)["project"]["urls"]

project = "Consilience"
author = "The Consilience developers"
project_copyright = "2026, the Consilience developers"
version = release = consilience.__version__

extensions = [
    "mathml",
    "reference",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.extlinks",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_click",
    "sphinx_gallery.gen_gallery",
]
smartquotes = False  # -- is an option, not a dash
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates", "examples"]
default_role = "py:obj"
extlinks = {"source": (f"{URLS['Source']}/blob/main/src/consilience/%s", "%s")}
# the names that these pages use, in files that people can read and edit: the build needs no network
intersphinx_mapping = {
    "numpy": ("https://numpy.org/doc/stable/", "inventories/numpy.inv"),
    "pandas": ("https://pandas.pydata.org/docs/", "inventories/pandas.inv"),
    "scipy": ("https://docs.scipy.org/doc/scipy/", "inventories/scipy.inv"),
    "sklearn": ("https://scikit-learn.org/stable/", "inventories/sklearn.inv"),
}
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
    "header_links_before_dropdown": 6,
    "navbar_persistent": ["search-button"],
    "footer_start": ["copyright"],
    "footer_end": [],
}

# a page that stands alone needs no list of its neighbours beside it
alone = [
    "index",
    "start",
    "guides",
    "how-to-choose",
    "limits",
    "cite",
    "notebooks",
    "annotations",
    "datasets",
    "plots",
    "report",
    "certainty",
    "planning",
    "comparing",
    "command-line",
    "changelog",
]
html_sidebars = {page: [] for page in [*alone, "tutorial", "*-tutorial", "models/*", "papers/*", "people/*", "speed"]}

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"[/\\]plot_",
    "within_subsection_order": "ExampleTitleSortKey",
    "doc_module": ("consilience",),
    "reference_url": {"consilience": None},
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 1,
    "abort_on_example_error": True,
}


def escape_learned_names(app, what, name, obj, options, lines):
    """Keep ``shape (n_items, n_clusters_)`` from being read as a link called n_clusters."""
    lines[:] = [re.sub(r"\b(n_\w+)_(?=[,)])", r"\1\_", line) if "shape (" in line else line for line in lines]


def set_dashes(app, doctree, docname):
    """Set the double hyphen that Sphinx and napoleon put before a description as a dash; see smartquotes above."""
    for text in list(doctree.findall(nodes.Text)):
        if " -- " in text and isinstance(text.parent, nodes.paragraph):
            text.parent.replace(text, nodes.Text(text.replace(" -- ", " – ")))


def name_thumbnails(app, doctree, docname):
    """Give each thumbnail of the gallery the title of its example, for those who cannot see it."""
    for image in doctree.findall(nodes.image):
        if "/thumb/" in image["uri"]:
            image["alt"] = image.parent[image.parent.index(image) + 1].astext()


def example_as_code(app, context, lines):
    """Show the example at the end of a command's help as code: sphinx-click gives it as a block of lines."""
    lines[:] = [re.sub(r"^\| (Example:)", r"\1\n\n.. code-block:: console\n", line) for line in lines]
    lines[:] = [re.sub(r"^\|   (\S)", r"   $ \1", line) for text in lines for line in text.split("\n")]


def setup(app):
    app.connect("autodoc-process-docstring", escape_learned_names, priority=400)  # before napoleon
    app.connect("doctree-resolved", set_dashes)
    app.connect("doctree-resolved", name_thumbnails)
    for part in ("description", "epilog"):
        app.connect(f"sphinx-click-process-{part}", example_as_code)
