"""Types of arguments, for editors and type checkers; at run time, each of them is Any.

Arguments are checked where they are read, with a message that says what is expected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence
    from os import PathLike
    from typing import Literal as Literal
    from typing import Self as Self
    from typing import TypeAlias

    import numpy as np
    import pandas as pd
    from narwhals.typing import IntoDataFrame, IntoSeries
    from numpy.typing import ArrayLike as NumPyArrayLike

    from consilience.annotations.groupings import Groupings
    from consilience.annotations.labels import Labels
    from consilience.annotations.pairs import Pairs

    ArrayLike: TypeAlias = NumPyArrayLike | pd.Series | pd.Index | IntoSeries
    """An array, a list, or a Series of pandas or polars."""
    FrameLike: TypeAlias = pd.DataFrame | IntoDataFrame
    """A DataFrame of pandas, polars or another library that narwhals reads."""
    FeaturesLike: TypeAlias = FrameLike | ArrayLike
    """Features or scores of items, one row per item."""
    AnnotationsLike: TypeAlias = Groupings | Labels | Pairs | FrameLike | ArrayLike
    """Annotations, or a table or matrix of them."""
    Gold: TypeAlias = pd.Series | dict[Any, Any]
    """Known classes by item."""
    Name: TypeAlias = Hashable
    """The name of an item, annotator or column."""
    NameList: TypeAlias = list[Any] | np.ndarray | pd.Index | pd.Series
    """A list of names."""
    Names: TypeAlias = str | int | Iterable[Hashable]
    """A list of names, or one name."""
    NameGroups: TypeAlias = Literal["auto"] | Sequence[Sequence[Hashable]] | None
    """Lists of names that belong together, "auto" for the model to find them, or None."""
    Missing: TypeAlias = Hashable | Iterable[Hashable]
    """A value that means missing, or a list of them."""
    RandomSource: TypeAlias = int | np.integer | np.random.RandomState | np.random.Generator | None
    """A seed, or a source of randomness."""
    Integer: TypeAlias = int
    Real: TypeAlias = float
    Flag: TypeAlias = bool
    Integers: TypeAlias = Sequence[int]
    Reals: TypeAlias = Sequence[float]
    FilePath: TypeAlias = str | PathLike[str]
    Count: TypeAlias = int
    """A number of clusters."""
    NumberOfClusters: TypeAlias = int | Literal["auto"]
    """A number of clusters, or "auto" for the model to find it."""
else:

    class Literal:
        """Stands for typing.Literal at run time."""

        def __class_getitem__(cls, values: object) -> object:
            return Any

    AnnotationsLike = ArrayLike = FeaturesLike = FrameLike = Gold = Any
    Count = FilePath = Flag = Integer = Integers = NumberOfClusters = Real = Reals = Any
    Missing = Name = NameGroups = NameList = Names = RandomSource = Self = Any
