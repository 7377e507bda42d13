"""Progress bars, if requested: in a notebook, or on standard error if it is a terminal.

`showing` opens a bar for a task, such as a fit. Code that takes steps within the task reports them by `counting`,
whether or not a bar is shown. A bar shows one count at a time: the outermost. Counts nested in it, such as the sweeps
of a restart, appear after the bar, including those of other threads (`joining`). A task within another has no bar of
its own.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from multiprocessing import parent_process
from threading import RLock
from typing import Any

BAR = "{desc}: {percentage:3.0f}%|{bar}| "
FORM = BAR + "{n_fmt}/{total_fmt} {unit} [{elapsed}{postfix}]"  # no time remaining: steps differ in length
RARELY = 0.5  # seconds between updates: a notebook without widgets keeps everything ever printed


class Count:
    """Count of steps that is not shown."""

    def update(self, n: int = 1) -> None:
        """Advance by n steps."""

    def say(self, text: str) -> None:
        """Set the text after the bar."""


class Bar:
    """Bar for a task. It is pickled as None, since another process cannot show it."""

    def __init__(self, name: str, kind: type[Any], **options: Any) -> None:
        self._name, self._kind, self._options = name, kind, options
        self._lock = RLock()
        self._bar: Any = None
        self._since = self._last = time.time()
        self._counts = False
        self._text = ""
        self._inner: Counter[str] = Counter()  # steps of the nested counts, by unit
        self._taken: Counter[str] = Counter()  # steps of all counts shown, by unit

    def __reduce__(self) -> tuple[Any, ...]:
        return type(None), ()

    def begin(self, unit: str, total: int) -> bool:
        """Show a count from now on; return False if another is shown."""
        with self._lock:
            if self._counts:
                return False
            self._counts, self._text = True, ""
            self._inner.clear()
            if self._bar is None:
                self._bar = self._kind(total=total, desc=self._name, unit=unit, bar_format=FORM, **self._options)
            else:
                self._bar.unit = unit
                self._restart(total)
            return True

    def update(self, n: int) -> None:
        """Advance the count that is shown by n steps."""
        with self._lock:
            self._bar.update(n)

    def say(self, text: str) -> None:
        """Set the text after the bar, and reset the nested counts."""
        with self._lock:
            self._text = text
            self._inner.clear()
            self._show_text()

    def step_inside(self, unit: str, n: int) -> None:
        """Advance a nested count by n steps."""
        with self._lock:
            self._inner[unit] += n
            if time.time() - self._last >= self._bar.mininterval:
                self._show_text()

    def end(self, *, done: bool) -> None:
        """End the count; if it is done, the steps taken become its total."""
        with self._lock:
            self._counts = False
            steps = self._bar.n
            self._taken[self._bar.unit] += steps
            if done and 0 < steps < self._bar.total:  # otherwise a bar that is done looks unfinished
                self._restart(steps)
                self._bar.update(steps)
            self._bar.set_postfix_str("", refresh=True)

    def close(self, *, done: bool) -> None:
        """Close the bar; if the task is done and the bar stays visible, it shows the steps taken."""
        if self._bar is None:
            return
        if done and self._bar.leave:
            taken = ", ".join(f"{n:,} {unit}" for unit, n in self._taken.items())
            self._bar.bar_format = f"{BAR}{taken} [{{elapsed}}]"
            self._bar.refresh()
        self._bar.close()

    def _restart(self, total: int) -> None:
        self._bar.reset(total=total)
        self._bar.start_t = self._since  # the time shown is that of the whole task

    def _show_text(self) -> None:
        finest = [f"{unit}: {number:,}" for unit, number in self._inner.most_common(1)]
        parts = [self._text] * bool(self._text) + finest
        self._last = time.time()
        self._bar.set_postfix_str(", ".join(parts), refresh=True)


class _Shown(Count):
    def __init__(self, bar: Bar) -> None:
        self._bar = bar

    def update(self, n: int = 1) -> None:
        self._bar.update(n)

    def say(self, text: str) -> None:
        self._bar.say(text)


class _Inside(Count):
    def __init__(self, bar: Bar, unit: str) -> None:
        self._bar, self._unit = bar, unit

    def update(self, n: int = 1) -> None:
        self._bar.step_inside(self._unit, n)


_CURRENT: ContextVar[Bar | None] = ContextVar("progress bar", default=None)


@contextmanager
def showing(name: str, *, shown: bool) -> Iterator[None]:
    """Show the counts made within on a bar of this name, if `shown` and no other bar is open."""
    available = _available_bar() if shown and _CURRENT.get() is None else None
    if available is None:
        yield
        return
    kind, options = available
    bar = Bar(name, kind, **options)
    done = False
    with joining(bar):
        try:
            yield
            done = True
        finally:
            bar.close(done=done)


@contextmanager
def counting(unit: str, total: int) -> Iterator[Count]:
    """Count at most `total` steps; a single step is not shown."""
    bar = _CURRENT.get()
    if bar is None or total <= 1:
        yield Count()
    elif not bar.begin(unit, total):
        yield _Inside(bar, unit)
    else:
        done = False
        try:
            yield _Shown(bar)
            done = True
        finally:
            bar.end(done=done)


def current() -> Bar | None:
    """Return the bar of the current task, for `joining`."""
    return _CURRENT.get()


@contextmanager
def joining(bar: Bar | None) -> Iterator[None]:
    """Report to a bar from a thread that does part of its task."""
    before = _CURRENT.set(bar)
    try:
        yield
    finally:
        _CURRENT.reset(before)


def _available_bar() -> tuple[type[Any], dict[str, Any]] | None:
    """Return the kind of bar that can be shown here, with its options; None if none can."""
    if _in_notebook():
        return _notebook_bar()
    if parent_process() is None and sys.stderr is not None and sys.stderr.isatty():  # worker processes show none
        from tqdm import tqdm

        return tqdm, {"file": sys.stderr, "leave": False}
    return None


def _in_notebook() -> bool:
    """Whether output goes to a Jupyter kernel rather than to a terminal."""
    interactive = sys.modules.get("IPython")
    shell = None if interactive is None else interactive.get_ipython()
    return getattr(shell, "kernel", None) is not None


def _notebook_bar() -> tuple[type[Any], dict[str, Any]]:
    """Return a widget if ipywidgets is installed, otherwise a bar of text."""
    try:
        import ipywidgets  # noqa: F401
        from tqdm.notebook import tqdm as widget
    except ImportError:
        from tqdm import tqdm

        return tqdm, {"file": sys.stderr, "mininterval": RARELY}
    return widget, {}
