"""Runs the command line in this process, and keeps what it says to standard error apart."""

from inspect import signature

from click.testing import CliRunner

APART = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}  # from click 8.2 on, always


def invoke(command, arguments, **options):
    """Run a command: its arguments → result with exit_code, stdout and stderr; as ``CliRunner.invoke``."""
    return CliRunner(**APART).invoke(command, arguments, **options)
