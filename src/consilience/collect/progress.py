"""How far a study is, as its page shows it: counts, clusters, stability and the advice to stop."""

from __future__ import annotations

from typing import Any

from consilience.collect.model import Study
from consilience.collect.store import Store


def progress_of(store: Store, study: Study) -> dict[str, Any]:
    """Return what the part of the page on progress shows."""
    return {"counts": store.progress(study.id), "consensus": store.consensus(study.id)}
