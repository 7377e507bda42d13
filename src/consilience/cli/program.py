"""What all commands share: results on standard output, one sentence on standard error, and exit codes.

0 is success; 1 failure, or judgements that do not decide; 2 wrong usage or bad input; 130 an interruption by the user;
129 and 143 the signals SIGHUP and SIGTERM. `messages` turns errors into sentences.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from consilience.cli.config import take_config
from consilience.cli.messages import as_click, note
from consilience.errors import InputError, UnannotatedWarning
from consilience.workflows.notes import Listener, notes_to
from consilience.workflows.signals import end_on_signals
from consilience.workflows.text import printable

INTERRUPTED = 130  # 128 + SIGINT, as shells have it
OWN = "consilience"
TRACEBACK = "--traceback"
QUIET = "consilience.quiet"
STANDARD_INPUT = "-"
READ = {  # arguments and options that name a file to read
    *("annotations", "groupings", "first", "second", "source", "pilot", "table", "all_items", "model", "features"),
    *("scores", "ratings", "napping", "item_names", "gold", "history", "names", "seconds"),
}


class ReadingOption(click.Option):
    """An option on how a file of annotations is read, listed under its own heading in the help."""


class Command(click.Command):
    """A command whose errors are one sentence, and which shows the library's warnings as notes."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self.params += [
            click.Option(
                ["--config"],
                type=click.Path(dir_okay=False),
                is_eager=True,  # the defaults that it gives are those of the options after it
                expose_value=False,
                callback=take_config,
                help="Take options from a TOML file, such as clusters = 5; the command line comes first.",
            ),
            click.Option(
                ["-q", "--quiet"],
                is_flag=True,
                expose_value=False,
                callback=lambda ctx, _, value: ctx.meta.update({QUIET: value}),
                help="Show no notes, only results and errors.",
            ),
            click.Option(
                [TRACEBACK], is_flag=True, expose_value=False, help="Show where in the program a failure occurred."
            ),
        ]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, with those on reading annotations under a separate heading."""
        options = [option for option in self.get_params(ctx) if isinstance(option, click.Option)]
        for heading, on_reading in (("Options", False), ("Reading options", True)):
            these = [option for option in options if isinstance(option, ReadingOption) is on_reading]
            records = [record for option in these if (record := option.get_help_record(ctx))]
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; what is suggested for an unknown option is like it in more than its dashes."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            names = {option.lstrip("-"): option for option in error.possibilities or ()}
            near = difflib.get_close_matches(error.option_name.lstrip("-"), names)
            raise click.NoSuchOption(
                error.option_name, possibilities=[names[name] for name in near], ctx=error.ctx
            ) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; messages name options instead of keywords.

        A file that is missing is told before NumPy and pandas are imported.
        """
        for name, value in ctx.params.items():
            if name in READ and isinstance(value, Path) and str(value) != STANDARD_INPUT and not value.exists():
                raise InputError(f"There is no file {value}.")
        from consilience.annotations.keywords import written_by  # not at the top, so that --help is quick
        from consilience.cli.keywords import OPTIONS

        tell = (lambda _: None) if ctx.meta.get(QUIET) else note
        with _warnings_as_notes(tell), written_by(OPTIONS), notes_to(tell):
            return super().invoke(ctx)


class Program(click.Group):
    """A group of commands that ends with an exit code, never with a traceback."""

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
        for stream in filter(None, (sys.stdout, sys.stderr)):
            if isinstance(stream, io.TextIOWrapper):
                # names may have letters that the terminal's encoding lacks
                stream.reconfigure(errors="backslashreplace")
        try:
            code = super().main(*args, **(options | {"standalone_mode": False}))
        except click.Abort:
            click.echo("Interrupted.", err=True)
            code = INTERRUPTED
        except Exception as error:
            code = _report_error(error, (args[0] if args else options.get("args")) or sys.argv[1:])
        sys.exit(code if isinstance(code, int) else 0)


def _report_error(error: Exception, arguments: Sequence[str]) -> int:
    """Report an error in one line, after its traceback if requested; return the exit code."""
    found = as_click(error)
    if TRACEBACK in arguments and not isinstance(error, click.ClickException):
        click.echo(printable(traceback.format_exc()), err=True, nl=False)
    if isinstance(error, OSError):
        _give_up_output()  # else Python fails once more at its end, when it flushes
    click.echo(f"Error: {printable(' '.join(found.format_message().split()))}", err=True)
    return found.exit_code


def _give_up_output() -> None:
    """Discard what standard output still holds if it cannot be written, as on a full disk."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())


def show_help() -> None:
    """Show the help of a group if no command is given."""
    ctx = click.get_current_context()
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@contextlib.contextmanager
def _warnings_as_notes(tell: Listener) -> Iterator[None]:
    """Show the package's own warnings as notes, and hide those of other libraries, which are not meant for users."""

    def show(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
        if category.__module__.split(".")[0] == OWN:
            tell(" ".join(str(message).split()))

    with warnings.catch_warnings():
        warnings.filterwarnings("always", category=UserWarning)
        warnings.filterwarnings("ignore", category=UnannotatedWarning)  # commands have their own note
        warnings.showwarning = show
        yield
