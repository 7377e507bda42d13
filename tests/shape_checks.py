"""Which calls of the package's functions are checked against their types and shapes.

A check costs more than many of the functions that it guards, and jaxtyping's import hook checks every call. Here a
function is checked in the tests of its own room, `consilience.active` in `tests/active`, and in tests of all rooms; and
there at its first, second, fourth, and eighth call in each file. Then it costs nothing: a function that is counted has
another code for the time, and afterwards its own, as a wrapper around each call would take a twentieth of the suite.
One that is defined within another, for which the check would have to be compiled each time, is checked if it is the
first, second, fourth, eighth, ... that is made of its definition in the whole run. Checks are made when they are first
needed, not on import. With `--check-every-call`, as in `make test-all`, every call is checked.
"""

import dataclasses
import functools
import inspect
import types
from collections import Counter
from importlib import metadata
from pathlib import Path

import jaxtyping
from packaging.version import Version

ROOT = Path(__file__).parents[1]
LAST = 8  # call in a file that is checked
check_each_call = jaxtyping.jaxtyped
# earlier ones look at the code that a function has now for whether it is a generator or a coroutine
FASTAPI_READS_WRAPPERS = Version(metadata.version("fastapi")) >= Version("0.123.6")


class Tests:
    """The file and the room of the test that runs, None before the first, and whether each call is checked."""

    path = room = None
    every_call = False

    @classmethod
    def begin(cls, path):
        """Note where a test stands, in no folder of its own if it is of all rooms; count calls anew in another file."""
        if path != cls.path:
            rooms = path.relative_to(ROOT).parts[1:-1]
            cls.path, cls.room = path, next((room for room in rooms if room != "consilience"), "")
            for calls in _CALLS:
                calls.count()

    @classmethod
    def concern(cls, room):
        return cls.every_call or cls.room in ("", room)


class Calls:
    """The calls of a function in a file of tests, while they are counted."""

    def __init__(self, function, room, typechecker):
        self.function, self.room, self.typechecker = function, room, typechecker
        self.unchecked = copy_of(function)
        self.code, self.counting_code = function.__code__, code_that_calls(self, function.__code__)
        function.__wrapped__ = self.unchecked  # has the signature meanwhile
        self.count()

    def count(self):
        """Count from now on, if the tests concern the function's room."""
        self.number = 0
        self.function.__code__ = self.counting_code if Tests.concern(self.room) else self.code

    def __call__(self, *args, **kwargs):
        __tracebackhide__ = True
        self.number += 1
        if self.number >= LAST and not Tests.every_call:
            self.function.__code__ = self.code
        if is_power_of_two(self.number) or Tests.every_call:
            return self.checked(*args, **kwargs)
        return self.unchecked(*args, **kwargs)

    @functools.cached_property
    def checked(self):
        return check_each_call(self.unchecked, typechecker=self.typechecker)


_CALLS = []
"""The calls of each function."""
_MADE = Counter()
"""How many functions were made of each definition within another."""


def copy_of(function):
    copied = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    functools.update_wrapper(copied, function)
    del copied.__wrapped__
    copied.__kwdefaults__ = function.__kwdefaults__
    return copied


def code_that_calls(called, code):
    """Return the code of a function that passes its arguments on; it stands for another code of the same function."""

    def pass_on(*args, **kwargs):
        __tracebackhide__ = True
        called = "what is called"  # a constant, as the names that a code knows are those of its module
        return called(*args, **kwargs)

    template = pass_on.__code__
    constants = tuple(called if value == "what is called" else value for value in template.co_consts)
    return template.replace(co_consts=constants, co_freevars=code.co_freevars, co_name=code.co_name)


def is_power_of_two(number):
    return not number & (number - 1)


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
    room = f"{fn.__module__}.".split(".")[1]
    if "<locals>" not in fn.__qualname__:
        _CALLS.append(Calls(fn, room, typechecker))
        return fn
    name = fn.__module__, fn.__qualname__
    _MADE[name] += Tests.concern(room)
    is_checked = Tests.every_call or (Tests.concern(room) and is_power_of_two(_MADE[name]))
    return check_each_call(fn, typechecker=typechecker) if is_checked else fn
