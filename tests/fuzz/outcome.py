"""What became of an input: read right, refused in one sentence, or anything else."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

from consilience.errors import InputError

RIGHT, REFUSED, WRONG, OTHER = "read right", "one clear sentence", "silently wrong", "anything else"


def outcome_of(read: Callable[[], Any], is_right: Callable[[Any], bool], *, may_refuse: bool = True) -> tuple[str, str]:
    """Run a reader; return what became of it, and the message or what was read.

    Parameters
    ----------
    read : callable
        Reads the input.
    is_right : callable
        Whether what was read is what the input says.
    may_refuse : bool
        Whether a refusal is an answer to this input: to one that can be read in two ways, or is damaged.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            found = read()
        except InputError as error:
            is_sentence = "\n" not in str(error).strip() and str(error).strip().endswith((".", "?"))
            return (REFUSED if is_sentence and may_refuse else OTHER), f"refused: {error}"
        except Exception as error:
            return OTHER, f"{type(error).__name__}: {error}"
        return (RIGHT if is_right(found) else WRONG), f"{found!r}"


def report(outcomes: list[tuple[str, str, str]]) -> str:
    """Return counts of outcomes, and the first inputs that were neither read right nor refused."""
    counts = Counter(kind for kind, _, _ in outcomes)
    bad = [f"{kind}: {said}\n{shown}" for kind, said, shown in outcomes if kind in (WRONG, OTHER)]
    return "\n".join([", ".join(f"{kind}: {counts[kind]}" for kind in (RIGHT, REFUSED, WRONG, OTHER)), *bad[:10]])
