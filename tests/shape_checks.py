"""Which calls of the package's functions are checked against their types and shapes.

A check costs more than many of the functions that it guards, and jaxtyping's import hook checks every call. Here a
function is checked in the tests of its own room, `consilience.active` in `tests/active`, and in tests of all rooms; and
there at its first, second, fourth, eighth, ... call in each folder. One that is defined within another, for which the
check would have to be compiled each time, is counted in the whole run. Checks are made when they are first needed, not
on import. With `--check-every-call`, as in `make test-all`, every call is checked.
"""

import dataclasses
import functools
import inspect
import sys
from importlib import metadata
from pathlib import Path

import jaxtyping
from packaging.version import Version

ROOT = Path(__file__).parents[1]
check_each_call = jaxtyping.jaxtyped
# earlier ones look for the annotations of a function in the module of its wrapper
FASTAPI_READS_WRAPPERS = Version(metadata.version("fastapi")) >= Version("0.123.6")


class Tests:
    """The room and the folder of the test that runs, as interned strings, and whether each call is checked."""

    room = None
    folder = None
    every_call = False

    @classmethod
    def begin(cls, path):
        """Note where a test stands; one in no folder of its own is of all rooms."""
        rooms = path.relative_to(ROOT).parts[1:-1]
        cls.folder = sys.intern("/".join(rooms))
        cls.room = sys.intern(next((room for room in rooms if room != "consilience"), ""))


class Calls:
    """How often a function was called in the tests of a folder."""

    __slots__ = ("folder", "number")

    def __init__(self):
        self.folder, self.number = None, 0


_CALLS = {}
"""Calls by module and name of a function: one count for all the closures that are made of it."""


def check_some_calls(fn=None, *, typechecker):
    """Do as `jaxtyping.jaxtyped` does, for some calls of a function."""
    if fn is None:
        return functools.partial(check_some_calls, typechecker=typechecker)
    if inspect.isclass(fn):
        if dataclasses.is_dataclass(fn) and "__init__" in vars(fn) and not hasattr(fn.__init__, "__wrapped__"):
            fn.__init__ = check_some_calls(fn.__init__, typechecker=typechecker)
        return fn
    if not inspect.isfunction(fn):
        return check_each_call(fn, typechecker=typechecker)
    if not fn.__annotations__ or (fn.__module__.startswith("consilience.collect.") and not FASTAPI_READS_WRAPPERS):
        return fn
    room = sys.intern(f"{fn.__module__}.".split(".")[1])
    calls = _CALLS.setdefault((fn.__module__, fn.__qualname__), Calls())
    is_inner = "<locals>" in fn.__qualname__
    checked = None

    @functools.wraps(fn)
    def call(*args, **kwargs):
        __tracebackhide__ = True
        nonlocal checked
        if Tests.room and Tests.room is not room and not Tests.every_call:
            return fn(*args, **kwargs)
        if calls.folder is not Tests.folder and not is_inner:
            calls.folder, calls.number = Tests.folder, 0
        calls.number += 1
        if calls.number & (calls.number - 1) and not Tests.every_call:  # no power of two
            return fn(*args, **kwargs)
        if checked is None:
            checked = check_each_call(fn, typechecker=typechecker)
        return checked(*args, **kwargs)

    return call
