"""The tables that the tutorials read. They come with the package."""

from __future__ import annotations

from importlib.resources import files
from os import PathLike
from pathlib import Path

from consilience.atomic_files import replacing
from consilience.errors import InputError


def write_tutorial_tables(folder: str | PathLike[str] = ".") -> list[Path]:
    """Write the tables that the tutorials read into a folder.

    They hold chemical analyses of 178 wines, the groups that seven simulated tasters made of them, and the names that
    18 simulated workers gave them.

    Parameters
    ----------
    folder : path, default="."
        An existing folder.

    Returns
    -------
    list of Path
        The files, in alphabetical order.

    Raises
    ------
    InputError
        The folder does not exist, or holds another file of one of these names. Nothing is written then.

    See Also
    --------
    load_wine : The wines with all their features.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from consilience.datasets import write_tutorial_tables
    >>> with TemporaryDirectory() as folder:
    ...     [path.name for path in write_tutorial_tables(folder)]
    ['answers.csv', 'bottles.csv', 'checked.csv', 'features.csv', 'more-answers.csv', 'scores.csv', 'sorts.csv']
    """
    if not Path(folder).is_dir():
        raise InputError(f"The 'folder' of write_tutorial_tables must be an existing folder. Got '{folder}' instead.")
    tables = sorted(files("consilience.datasets").joinpath("tutorial_tables").iterdir(), key=lambda table: table.name)
    contents = {Path(folder, table.name): table.read_bytes() for table in tables}
    for path, content in contents.items():
        if path.exists() and (not path.is_file() or path.read_bytes() != content):
            raise InputError(f"{path} is already there, and is not the tutorials' table; choose another folder.")
    for path, content in contents.items():
        with replacing(path) as file:
            file.write(content)
    return list(contents)
