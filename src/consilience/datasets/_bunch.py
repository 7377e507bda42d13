"""The Bunch that loaders return: scikit-learn's, with a short representation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

from consilience.annotations import Groupings, Labels
from consilience.annotations.display import names_in_short, table


class DataBunch(Bunch):
    """Fields of a data set, which are also attributes.

    Examples
    --------
    >>> from consilience.datasets import load_iris
    >>> load_iris()  # doctest: +ELLIPSIS
    DataBunch(data, feature_names, target, target_names, item_names, annotations, DESCR): Sepals and petals ...
    """

    # for editors and type checkers; Bunch keeps fields in a dict
    data: pd.DataFrame | None
    feature_names: list[str] | None
    target: np.ndarray | None
    target_names: np.ndarray | None
    item_names: pd.Index
    annotations: Groupings | Labels | None
    DESCR: str

    def __repr__(self) -> str:
        title = str(self.get("DESCR") or "").split("\n")[0]
        return f"{type(self).__name__}({', '.join(self)})" + (f": {title}" if title else "")

    def _repr_html_(self) -> str:
        return table("", ["field", "holds"], [[name, _summary(value)] for name, value in self.items()])


def _summary(value: Any) -> str:
    """Describe the content of a field in short."""
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return value.split("\n")[0]
    if isinstance(value, pd.Index | list | tuple):
        return names_in_short(value, len(value))
    if isinstance(value, np.ndarray | pd.DataFrame | pd.Series):
        return f"{type(value).__name__} of shape {value.shape}"
    return repr(value)
