"""What all commands share: results on standard output, one sentence on standard error, and exit codes.

0 is success; 2 wrong usage or bad input; 1 any other failure, and judgements that do not decide; 130 an interruption by
the user; 129 and 143 the signals SIGHUP and SIGTERM.
"""

from __future__ import annotations

import contextlib
import sys
import traceback
import warnings
from collections.abc import Iterator
from typing import Any

import click

from consilience.cli.interruptions import end_on_signals
from consilience.errors import UnannotatedWarning

BAD_INPUT = (ValueError, FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError)
INTERRUPTED = 130
TRACEBACK = "consilience.cli.traceback"


class FailedError(click.ClickException):
    """A command that could not do its work."""

    exit_code = 1


class UndecidedError(click.ClickException):
    """A command that did its work, and found that the data do not decide."""

    exit_code = 1


class BadInputError(click.ClickException):
    """A command that was given what it cannot use."""

    exit_code = 2


class ReadingOption(click.Option):
    """An option on how a file of annotations is read, which the help shows among its like."""


class Command(click.Command):
    """A command whose errors are one sentence, and whose library's warnings are notes."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self.params.append(
            click.Option(
                ["--traceback"],
                is_flag=True,
                expose_value=False,
                callback=lambda ctx, _, value: ctx.meta.__setitem__(TRACEBACK, value),
                help="Show where in the program a failure arose.",
            )
        )

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, those on how annotations are read under a heading of their own."""
        options = [option for option in self.get_params(ctx) if isinstance(option, click.Option)]
        for heading, on_reading in (("Options", False), ("Reading options", True)):
            these = [option for option in options if isinstance(option, ReadingOption) is on_reading]
            records = [record for option in these if (record := option.get_help_record(ctx))]
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, in whose messages keywords are options."""
        from consilience.annotations.keywords import written_by  # not at the top, so that --help is quick
        from consilience.cli.keywords import OPTIONS

        try:
            with _warnings_as_notes(), written_by(OPTIONS):
                return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except Exception as error:
            if ctx.meta[TRACEBACK]:
                click.echo(traceback.format_exc(), err=True, nl=False)
            kind = BadInputError if isinstance(error, BAD_INPUT) else FailedError
            raise kind(sentence(error)) from error


class Program(click.Group):
    """A group of commands that ends with an exit code and never with a traceback."""

    command_class = Command
    group_class = type

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **({"invoke_without_command": True} | options))

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Run as the program of a process, which ends on signals."""
        end_on_signals()
        return self.main(*args, **options)

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the program and exit, or return if `standalone_mode` is False."""
        if not options.get("standalone_mode", True):
            return super().main(*args, **options)
        try:
            code = super().main(*args, **(options | {"standalone_mode": False}))
        except click.ClickException as error:
            click.echo(f"Error: {' '.join(error.format_message().split())}", err=True)
            code = error.exit_code
        except click.Abort:
            click.echo("Interrupted.", err=True)
            code = INTERRUPTED
        sys.exit(code if isinstance(code, int) else 0)


def show_help() -> None:
    """Show the help of a group if none of its commands is given."""
    ctx = click.get_current_context()
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def sentence(error: BaseException) -> str:
    """Say in one line what went wrong."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}." if error.filename else f"{error.strerror}."
    if isinstance(error, KeyError) or not str(error).strip():
        return f"{f'{type(error).__name__} {error}'.strip()} (--traceback shows where)."
    return " ".join(str(error).split())


def others(count: int, joint: str) -> str:
    """Say that what holds for one thing holds for `count` in all; nothing if that is one."""
    return f"{joint} {count - 1:,} more" if count > 1 else ""


def note(text: str) -> None:
    """Tell something that is no result and no error."""
    click.echo(f"Note: {text}", err=True)


@contextlib.contextmanager
def _warnings_as_notes() -> Iterator[None]:
    def show(message: Any, *_: Any, **__: Any) -> None:
        note(" ".join(str(message).split()))

    with warnings.catch_warnings():
        warnings.filterwarnings("always", category=UserWarning)
        warnings.filterwarnings("ignore", category=UnannotatedWarning)  # the commands have a note of their own
        warnings.showwarning = show
        yield
