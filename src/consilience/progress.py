"""Progress bars on standard error, for those who ask for them."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any


class Silent(AbstractContextManager["Silent"]):
    """A bar that shows nothing."""

    def __exit__(self, *_: object) -> None:
        pass

    def update(self, n: int = 1) -> None:
        """Go on by n."""

    def set_postfix(self, **_: object) -> None:
        """Say how things stand."""


def progress_bar(*, shown: bool, **options: Any) -> Any:
    """Bar of tqdm with these options; what is not shown does without tqdm."""
    if not shown:
        return Silent()
    from tqdm import tqdm

    return tqdm(**options)
