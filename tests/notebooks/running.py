"""Notebooks made in a test, run in a kernel of their own, and what they showed."""

import io
import json
import os
import tempfile
from base64 import b64decode
from pathlib import Path
from unittest import mock

import matplotlib.image
import nbformat
import numpy as np
from nbclient import NotebookClient

ENVIRONMENT = {"OMP_NUM_THREADS": "1", "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
SECONDS = 600  # that a cell may take: the machines are slow and shared


def of_cells(*sources):
    """Notebook of these cells."""
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])


def of_script(path):
    """The notebook that the gallery offers for a script of its own."""
    from sphinx_gallery.gen_gallery import DEFAULT_GALLERY_CONF  # with Sphinx, for which no other process should wait
    from sphinx_gallery.notebook import jupyter_notebook
    from sphinx_gallery.py_source_parser import split_code_and_text_blocks

    _, blocks = split_code_and_text_blocks(str(path))
    made = jupyter_notebook(blocks, DEFAULT_GALLERY_CONF, str(path.parent))
    return nbformat.reads(json.dumps(made), as_version=4)


def run(notebook):
    """Run it, without network: the kernel is reached by sockets of the file system. An error in a cell is raised."""
    with tempfile.TemporaryDirectory(prefix="nb-") as folder, mock.patch.dict(os.environ, ENVIRONMENT):
        runtime = Path(folder) / "kernel.json"  # sockets lie beside it; their paths must be short
        client = NotebookClient(notebook, timeout=SECONDS, resources={"metadata": {"path": folder}})
        kernel = client.create_kernel_manager()
        kernel.transport, kernel.connection_file = "ipc", str(runtime)
        return client.execute()


def outputs(notebook, kind):
    """Outputs of one kind, such as "stream", of all cells in their order."""
    return [found for cell in notebook.cells for found in cell.get("outputs", []) if found.output_type == kind]


def printed(notebook, stream):
    """What all cells wrote to a stream."""
    return "".join(found.text for found in outputs(notebook, "stream") if found.name == stream)


def pictures(notebook):
    """Pictures of all cells, as (rows, columns, 3) arrays from 0 to 1, on white."""
    shown = outputs(notebook, "display_data") + outputs(notebook, "execute_result")
    return [decoded(found.data["image/png"]) for found in shown if "image/png" in found.data]


def decoded(picture):
    """A picture in base 64 as an array, on white."""
    rgba = matplotlib.image.imread(io.BytesIO(b64decode(picture)), format="png")
    if rgba.shape[2] == 3:
        return rgba
    return rgba[..., :3] * rgba[..., 3:] + 1 - rgba[..., 3:]


def ink(picture):
    """Share of the pixels that differ from the corner."""
    return float((np.abs(picture - picture[0, 0]).max(axis=2) > 0.1).mean())


def colour(picture):
    """Share of the pixels that are no shade of grey; frames, ticks and text are."""
    return float((picture.max(axis=2) - picture.min(axis=2) > 0.1).mean())
