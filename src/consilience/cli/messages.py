"""Errors as sentences with an exit code, and all text that is printed, escaped where a terminal needs it."""

from __future__ import annotations

import errno
import os
import sys
from typing import Any

import click

from consilience.atomic_files import naming
from consilience.errors import InputError
from consilience.workflows.jobs import Result
from consilience.workflows.text import as_json, printable

BAD_INPUT, FAILED = 2, 1

OF_FILES = {
    errno.ENOENT: (BAD_INPUT, "There is no file {}."),
    errno.EISDIR: (BAD_INPUT, "{} is a folder; give the name of a file."),
    errno.ENOTDIR: (BAD_INPUT, "A part of the path {} is not a folder."),
    errno.EEXIST: (BAD_INPUT, "The file {} already exists."),
    errno.EACCES: (BAD_INPUT, "There is no permission to read or write {}."),
    errno.EPERM: (BAD_INPUT, "There is no permission to read or write {}."),
    errno.EROFS: (BAD_INPUT, "{} cannot be written: its file system is read-only."),
    errno.ENAMETOOLONG: (BAD_INPUT, "The file name {} is longer than the file system allows."),
    errno.ELOOP: (BAD_INPUT, "{} is a link that leads back to itself."),
    errno.EINVAL: (BAD_INPUT, "{} is not a name that the file system allows."),
    errno.EILSEQ: (BAD_INPUT, "{} is not a name that the file system allows."),
    errno.ENOSPC: (FAILED, "There is no space left to write {}."),
    errno.EDQUOT: (FAILED, "There is no space left to write {}: the quota is used up."),
    errno.EFBIG: (FAILED, "{} would be larger than a file may be."),
    errno.EIO: (FAILED, "{} cannot be read or written: the device reports an error."),
    errno.EMFILE: (FAILED, "{} cannot be opened: too many files are open."),
    errno.ENFILE: (FAILED, "{} cannot be opened: too many files are open."),
}
"""Exit code and sentence for each error of the operating system, by its number."""

LONGEST_NAME = 200  # characters of a file's name in a message


class FailedError(click.ClickException):
    """The command failed."""

    exit_code = FAILED


class UndecidedError(click.ClickException):
    """The command succeeded, but the data do not decide."""

    exit_code = FAILED


class BadInputError(click.ClickException):
    """The command was given input or options that it cannot use."""

    exit_code = BAD_INPUT


def as_click(error: Exception) -> click.ClickException:
    """Return an error as an exception of click: a sentence and an exit code."""
    if isinstance(error, click.ClickException):
        return error
    if isinstance(error, InputError):
        return BadInputError(str(error))
    if isinstance(error, OSError):
        return _of_file(error)
    if isinstance(error, MemoryError):
        return FailedError(
            "There is not enough memory: give fewer items, features or annotators, or ask for fewer clusters or "
            "restarts."
        )
    if isinstance(error, FloatingPointError):
        return FailedError(f"{error} The numbers are too large or too small for this model; scale the features.")
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return FailedError(f"This is a bug in consilience; please report it: {what} (--traceback shows where it arose)")


def _of_file(error: OSError) -> click.ClickException:
    paths = [name for name in (error.filename, error.filename2) if isinstance(name, str | bytes | os.PathLike)]
    named = " or ".join(shorten_middle(os.fsdecode(path)) for path in paths) or "the output"
    code, text = OF_FILES.get(error.errno or 0, (FAILED, "{} cannot be read or written."))
    sentence = text.format(named)
    sentence = f"T{sentence[1:]}" if sentence.startswith("the ") else sentence
    return (BadInputError if code == BAD_INPUT else FailedError)(sentence)


def shorten_middle(text: str) -> str:
    """Shorten a long name in the middle."""
    half = LONGEST_NAME // 2
    return text if len(text) <= LONGEST_NAME else f"{text[:half]}…{text[-half:]}"


def say(text: str) -> None:
    """Print a result in words."""
    click.echo(printable(text))


def say_json(value: Any) -> None:
    """Print a result as one JSON object, in characters that standard output can encode."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    click.echo(as_json(value, ascii_only=not encoding.lower().replace("_", "-").startswith("utf")))


def say_result(result: Result, *, as_json: bool) -> None:
    """Print a result as one JSON object, or in words."""
    if as_json:
        say_json(result.summary)
    else:
        say(result.text)


def say_data(text: str) -> None:
    """Print a table in UTF-8; on a terminal, control characters are escaped."""
    if sys.stdout is None:
        raise InputError("There is no standard output to write the table to; name a file with --out.")
    with naming("standard output"):
        click.echo(printable(text) if sys.stdout.isatty() else text.encode("utf-8"), nl=False)


def note(text: str) -> None:
    """Print a note, which is neither a result nor an error, to standard error."""
    click.echo(f"Note: {printable(text)}", err=True)


def warn(text: str) -> None:
    """Print what to know before a result to standard error."""
    click.echo(f"Warning: {printable(text)}", err=True)
