"""Shell completion of the names of models, of their parameters and of data sets.

Names of models are known without an import; modules with parameters and data sets are imported on demand.
"""

from __future__ import annotations

from collections.abc import Iterable
from inspect import signature

import click
from click.shell_completion import CompletionItem

from consilience import registry
from consilience.errors import MissingDependencyError
from consilience.workflows.model_choice import CHOICES


def complete_models(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a model, or auto."""
    names = {name: known.description for name, known in registry.ESTIMATORS.items()}
    return _items(names | {"auto": "The model that 'consilience compare' ranks first."}, incomplete)


def complete_several_models(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the last of several names of models, separated by commas."""
    before, comma, last = incomplete.rpartition(",")
    named = before.split(",")
    names = {
        f"{before}{comma}{name}": known.description
        for name, known in registry.ESTIMATORS.items()
        if name.casefold().startswith(last.casefold()) and name not in named
    }
    return _items(names, "")


def complete_settings(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a parameter, followed by "=", of the model in --model, or else of all default models."""
    model = ctx.params.get("model")
    names = [model] if model in registry.ESTIMATORS else sorted({choice.model for choice in CHOICES.values()})
    keys = dict.fromkeys(key for name in names for key in _parameters(name))
    return _items({f"{key}=": "" for key in keys}, incomplete)


def complete_settings_of_models(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a model followed by a dot, then its parameters."""
    model, dot, _ = incomplete.partition(".")
    if not dot:
        named = ctx.params.get("models")
        return _items({f"{name}.": "" for name in registry.ESTIMATORS if not named or name in named}, incomplete)
    return _items({f"{model}.{key}=": "" for key in _parameters(model)}, incomplete)


def complete_data_sets(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a data set."""
    from consilience.datasets import list_datasets

    table = list_datasets()
    return _items(dict(zip(table["name"], table["description"])), incomplete)


def complete_sources(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a data set, or else a file."""
    return complete_data_sets(ctx, param, incomplete) or [CompletionItem(incomplete, type="file")]


def _parameters(model: str) -> Iterable[str]:
    """Return a model's parameters; none if there is no such model or its dependencies are not installed."""
    if model not in registry.ESTIMATORS:
        return []
    try:
        return list(signature(registry.estimator(model)).parameters)
    except MissingDependencyError:
        return []


def _items(names: dict[str, str], incomplete: str) -> list[CompletionItem]:
    begin = incomplete.casefold()
    return [
        CompletionItem(name, help=text or None) for name, text in names.items() if name.casefold().startswith(begin)
    ]
