"""What sessions of all kinds share: how they are shown, and where their random numbers come from."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from consilience.annotations.display import facts
from consilience.errors import InputError


class Session(BaseEstimator):
    """A collection in progress: what it asks, it waits for until the answer is told or the question withdrawn."""

    _pending: dict[int, Any]
    _random: np.random.RandomState

    def __repr__(self) -> str:
        state = ", ".join(f"{value} {name}" for name, value in self._state().items())
        return f"{type(self).__name__}({state})"

    def _repr_html_(self) -> str:
        return facts(type(self).__name__, self._state() | self._settings())

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    @abstractmethod
    def _state(self) -> dict[str, Any]:
        """The state of the session as counts, by name."""

    @abstractmethod
    def _settings(self) -> dict[str, Any]:
        """What a page shows besides the counts, by name."""

    def _require_pending(self, question: Any, kind: type[Any], word: str) -> None:
        """Raise an InputError unless a question, or subset, waits for its answer."""
        if not isinstance(question, kind):
            raise InputError(
                f"{word!r} must be a {kind.__name__}, as returned by ask or listed in pending_. Got {question!r}."
            )
        if question.number not in self._pending:
            raise InputError(
                f"{word.capitalize()} {question.number} is not pending: it was answered or withdrawn, or is of another "
                "session."
            )

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(self._random.randint(2**31 - 1, size=4))
