"""Options of a command in a file: ``--config study.toml``."""

from __future__ import annotations

import difflib
import json
import tomllib
from typing import Any

import click

OF_EVERY_RUN = {"--config", "--help"}


def take_config(ctx: click.Context, param: click.Parameter, path: str | None) -> None:
    """Make the options in a TOML file the defaults of a command.

    A key is the name of an option, with dashes or underscores. An option that may be repeated takes a list, and one of
    KEY=VALUE a table; a list for any other option is what is separated by commas on the command line.
    """
    if path is None:
        return
    options = {
        name.removeprefix("--"): option
        for option in ctx.command.params
        if isinstance(option, click.Option)
        for name in option.opts
        if name.startswith("--") and name not in OF_EVERY_RUN
    }
    ctx.default_map = dict(ctx.default_map or {})
    for key, value in _read(path, param, ctx).items():
        name = key.replace("_", "-")
        if name not in options:
            raise click.BadParameter(f"{path}: {_unknown(name, options, ctx)}", ctx, param)
        option = options[name]
        require_kind(option, value, f"{path}: {key}", ctx, param)
        ctx.default_map[option.name] = value if option.is_flag else _as_typed(option, value)


def _read(path: str, param: click.Parameter, ctx: click.Context) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"{path} is not TOML: {error}.", ctx, param) from None


def _unknown(name: str, options: dict[str, click.Option], ctx: click.Context) -> str:
    close = difflib.get_close_matches(name, options, n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    return f"'{ctx.command_path}' has no option {name}.{hint}"


def require_kind(option: click.Option, value: Any, what: str, ctx: click.Context, param: click.Parameter) -> None:
    """Refuse what cannot be typed on the command line: a table but for KEY=VALUE, and anything but true for a flag."""
    if option.is_flag != isinstance(value, bool):
        expected = "true or false" if option.is_flag else "a value, as the option takes no truth value"
        raise click.BadParameter(f"{what}: expected {expected}, got {json.dumps(value, default=str)}.", ctx, param)


def _as_typed(option: click.Option, value: Any) -> Any:
    """Return a value as one would type it, for an option that may be repeated in a list."""
    if isinstance(value, dict):
        value = [f"{key}={_text(each)}" for key, each in value.items()]
    if option.multiple:
        return [_text(each) for each in (value if isinstance(value, list) else [value])]
    return ",".join(map(_text, value)) if isinstance(value, list) else _text(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
