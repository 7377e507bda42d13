"""Pictures of items, as small thumbnails for a report."""

from __future__ import annotations

import io
import os
import re
import unicodedata
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from consilience.analysis.names import as_text, join_names, quantify
from consilience.analysis.words import current_words
from consilience.annotations.names import plain
from consilience.errors import InputError, MissingDependencyError
from consilience.inspection.vector_pictures import safe_svg

RASTER = {".jpg", ".jpeg", ".png", ".webp", ".gif"}
VECTOR = ".svg"
FORMATS = ("JPEG", "PNG", "WEBP", "GIF")
SIDES = (128, 96, 64, 48, 32)  # pixels of the longer side, the first that is small enough
SMALL = 48  # pixels; a smaller picture is enlarged without blurring
MOST_BYTES = 50_000_000  # of a file
MOST_PIXELS = 100_000_000  # a small file may hold very many
BUDGET = 2_000_000  # bytes of all pictures in a page
LARGEST = 12_000  # bytes of a picture in a page
LARGEST_VECTOR = 30_000  # bytes of an SVG
PIXEL = re.compile(r"\w*_\d{1,4}_\d{1,4}")  # a column of features that is one, by its row and column
FEWEST_PIXELS = 4  # on each side of a picture
NAMED = 5  # items or files in a sentence
QUALITY = 75
KINDS = "JPEG, PNG, WebP, GIF or SVG"


@dataclass(frozen=True)
class Thumbnail:
    """A picture of an item: its bytes, and whether it is an SVG instead of a WebP."""

    content: bytes
    is_vector: bool = False


class LazyThumbnails(Sequence[Thumbnail]):
    """Thumbnails of arrays, each made when it is first shown: of thousands of items, a page shows some.

    values : array, shape (n_items, height, width)
    """

    def __init__(self, values: np.ndarray):
        self.values = values
        self.made: dict[int, Thumbnail] = {}

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, place: Any) -> Any:
        if place not in self.made:
            self.made[place] = _of_array(self.values[place], "an item")
        return self.made[place]


@dataclass(frozen=True)
class Pictures:
    """Pictures of some items.

    Attributes
    ----------
    items : Index
    thumbnails : sequence, one for each item
        A `Thumbnail`, or None.
    unused : tuple of str
        Names of files, or of items, that belong to no item.
    """

    items: pd.Index
    thumbnails: Sequence[Thumbnail | None] = field(repr=False)
    unused: tuple[str, ...] = ()

    @property
    def without(self) -> list[Any]:
        """Items that have no picture."""
        if isinstance(self.thumbnails, LazyThumbnails):
            return []
        return [name for name, found in zip(self.items, self.thumbnails, strict=True) if found is None]

    def in_words(self) -> str:
        """Say which items have no picture, and which pictures no item; empty if there are neither."""
        parts = []
        if missing := self.without:
            parts.append(f"{current_words().n_items(len(missing))} without a picture: {_some(missing)}")
        if self.unused:
            parts.append(f"{quantify(len(self.unused), 'picture')} of no {current_words().item}: {_some(self.unused)}")
        return f"{'; '.join(parts)}." if parts else ""


def pictures_of(items: Any, source: Any, *, folder: str | Path | None = None) -> Pictures:
    """Read pictures of items, and make thumbnails of them.

    JPEG, PNG, WebP and GIF are made smaller and encoded anew, so that nothing but the pixels is kept; of a GIF that
    moves, the first picture. An SVG is taken if it has at most 30 kB, and refused if it has scripts, links, or anything
    from outside.

    Parameters
    ----------
    items : Index or sequence of names
    source : str or Path, Series or dict, or Pictures
        A folder of files that are named after the items, such as ``cat.jpg`` of the item "cat"; folders in it are not
        read. Or a picture for each of some items, by item: the path of a file, or an array of shape (height, width)
        or (height, width, 3 or 4). Whole numbers of one byte are taken as they are; others are scaled from their
        smallest to black and from their largest to white.
    folder : str or Path, optional
        Where paths in a Series or dict begin. By default the working directory. No path may lead out of it.

    Returns
    -------
    Pictures
        For the `pictures` of `consilience.inspection.report`.

    Raises
    ------
    InputError
        There is no such folder or file, a path leads out of the folder, or a file is no picture, unsafe or too large.
    MissingDependencyError
        Pillow is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> from consilience.inspection import pictures_of
    >>> found = pictures_of(["one", "two"], {"one": np.eye(8)})
    >>> found.in_words()
    '1 item without a picture: two.'
    """
    items = items if isinstance(items, pd.Index) else pd.Index(list(items), tupleize_cols=False)
    if isinstance(source, Pictures):
        if not source.items.equals(items):
            raise InputError("The pictures are of other items than those of the model.")
        return source
    if isinstance(source, str | Path):
        return _of_folder(items, Path(source))
    if not isinstance(source, Mapping | pd.Series):
        raise InputError(
            f"Pictures must be a folder, or a Series or dict of paths or arrays by item. Got {type(source).__name__}."
        )
    return _of_mapping(items, source, Path.cwd() if folder is None else Path(folder))


def pictures_in(features: pd.DataFrame | None) -> Pictures | None:
    """Return pictures of items whose features are all grey values of pixels, in columns such as pixel_0_0 to pixel_7_7.

    None if they are not, or Pillow is not installed.
    """
    if features is None or not is_of_pixels(features):
        return None
    try:
        _pillow()
    except MissingDependencyError:
        return None
    height, width = _grid(features)
    values = features[_in_order(features)].to_numpy().reshape(-1, height, width)
    return Pictures(features.index, LazyThumbnails(values))


def is_of_pixels(features: pd.DataFrame | None) -> bool:
    """Whether the features are the pixels of a picture, row by row, and nothing else."""
    if features is None or not all(isinstance(name, str) and PIXEL.fullmatch(name) for name in features.columns):
        return False
    height, width = _grid(features)
    whole = len(set(map(_row_and_column, features.columns))) == features.shape[1] == height * width
    return whole and min(height, width) >= FEWEST_PIXELS


def _row_and_column(name: str) -> tuple[int, int]:
    row, column = name.rsplit("_", 2)[-2:]
    return int(row), int(column)


def _in_order(features: pd.DataFrame) -> list[str]:
    return sorted(features.columns, key=_row_and_column)


def _grid(features: pd.DataFrame) -> tuple[int, int]:
    """Return the numbers of rows and columns of pixels, which are counted from 0."""
    rows, columns = zip(*map(_row_and_column, features.columns), strict=True)
    return max(rows) + 1, max(columns) + 1


def _of_folder(items: pd.Index, folder: Path) -> Pictures:
    """Read the pictures of a folder, whose names say of which item they are."""
    if not folder.is_dir():
        raise InputError(f"{folder}: There is no folder of this name for pictures.")
    places: dict[str, int] = {}
    for place, name in enumerate(items):
        places.setdefault(_fold(str(name)), place)
    found: dict[int, Path] = {}
    unused = []
    for name in sorted(os.listdir(folder)):
        path = folder / name
        if name.startswith(".") or path.is_dir():
            continue
        ending = path.suffix.casefold()
        place = places.get(_fold(name), places.get(_fold(path.stem), -1))
        if place < 0 or (ending not in RASTER and ending != VECTOR):
            unused.append(name)
        elif place in found:
            raise InputError(
                f"{folder}: The item {plain(items[place])!r} has two pictures, {found[place].name!r} and {name!r}; "
                "remove one."
            )
        else:
            found[place] = path
    if not found:
        raise InputError(
            f"{folder}: No picture is named after an item, such as {as_text(items[0])!r}.jpg; they end in .jpg, .jpeg, "
            ".png, .webp, .gif or .svg."
        )
    thumbnails = [
        _of_file(found[place], folder, f"the item {plain(name)!r}") if place in found else None
        for place, name in enumerate(items)
    ]
    return _check_size(Pictures(items, tuple(thumbnails), tuple(unused)))


def _of_mapping(items: pd.Index, source: Any, folder: Path) -> Pictures:
    """Read a picture for each item that has one."""
    given = source if isinstance(source, pd.Series) else pd.Series(list(source.values()), _names(source), dtype=object)
    twice = given.index.duplicated()
    if twice.any():
        raise InputError(f"There are two pictures of the item {plain(given.index[twice][0])!r}.")
    places = items.get_indexer(given.index)
    thumbnails: list[Thumbnail | None] = [None] * len(items)
    unused = []
    for place, (name, value) in zip(places.tolist(), given.items(), strict=True):
        if _is_missing(value):
            continue
        if place < 0:
            unused.append(as_text(name))
            continue
        whose = f"the item {plain(name)!r}"
        if isinstance(value, str | Path):
            thumbnails[place] = _of_file(folder / value, folder, whose)
        else:
            thumbnails[place] = _of_array(value, whose)
    if not any(thumbnails):
        raise InputError("None of the pictures is of an item.")
    return _check_size(Pictures(items, tuple(thumbnails), tuple(unused)))


def _names(source: Mapping[Any, Any]) -> pd.Index:
    return pd.Index(list(source), tupleize_cols=False, dtype=None if len(source) else object)


def _is_missing(value: Any) -> bool:
    return (
        value is None
        or (isinstance(value, float) and np.isnan(value))
        or (isinstance(value, str) and not value.strip())
    )


def _check_size(pictures: Pictures) -> Pictures:
    """Refuse drawings that together would make the page too large, since they cannot be made smaller."""
    total = sum(len(found.content) for found in pictures.thumbnails if found is not None and found.is_vector)
    if total > BUDGET:
        raise InputError(
            f"The SVG pictures have {total / 1e6:.1f} MB, and a report may have {BUDGET / 1e6:.0f} MB of pictures; "
            "convert them to PNG or WebP."
        )
    return pictures


def _of_file(path: Path, folder: Path, whose: str) -> Thumbnail:
    """Make a thumbnail of a file that is in a folder, also after links are followed."""
    real, root = Path(os.path.realpath(path)), Path(os.path.realpath(folder))
    if not real.is_relative_to(root):
        raise InputError(f"The picture of {whose}, {str(path)!r}, is not in the folder {str(folder)!r}.")
    try:
        if not real.is_file():
            raise InputError(f"The picture of {whose}, {str(path)!r}, does not exist.")
        size = real.stat().st_size
        if size > MOST_BYTES:
            raise InputError(f"The picture of {whose}, {str(path)!r}, has {size / 1e6:.0f} MB; at most 50 are read.")
        content = real.read_bytes()
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"The picture of {whose}, {str(path)!r}, cannot be read: {error}.") from error
    if path.suffix.casefold() == VECTOR:
        return _of_vector(content, path, whose)
    return _of_raster(content, path, whose)


def _of_vector(content: bytes, path: Path, whose: str) -> Thumbnail:
    try:
        clean = safe_svg(content)
    except ValueError as error:
        raise InputError(f"The picture of {whose}, {str(path)!r}, was refused: {error}.") from error
    if len(clean) > LARGEST_VECTOR:
        raise InputError(
            f"The picture of {whose}, {str(path)!r}, has {len(clean) / 1e3:.0f} kB, and an SVG may have "
            f"{LARGEST_VECTOR / 1e3:.0f} kB; convert it to PNG or WebP."
        )
    return Thumbnail(clean, is_vector=True)


def _of_raster(content: bytes, path: Path, whose: str) -> Thumbnail:
    image_module = _pillow()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = image_module.open(io.BytesIO(content), formats=FORMATS)
            if image.width * image.height > MOST_PIXELS:
                raise InputError(
                    f"The picture of {whose}, {str(path)!r}, has {image.width:,} × {image.height:,} pixels; at most "
                    f"{MOST_PIXELS // 1_000_000} million are read."
                )
            image.draft("RGB", (4 * SIDES[0], 4 * SIDES[0]))
            return _thumbnail(_upright(image))
    except InputError:
        raise
    except Exception as error:  # damaged files raise errors of many kinds
        raise InputError(f"The picture of {whose}, {str(path)!r}, cannot be read as {KINDS}.") from error


def _upright(image: Any) -> Any:
    """Return the picture as a camera held it."""
    from PIL import ImageOps

    turned = ImageOps.exif_transpose(image)
    if turned.mode.startswith(("I", "F")):
        return _pillow().fromarray(_bytes_of(np.asarray(turned)))
    return turned


def _of_array(value: Any, whose: str) -> Thumbnail:
    array = np.asarray(value)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    is_picture = array.ndim == 2 or (array.ndim == 3 and array.shape[2] in (3, 4))
    if not is_picture or not array.size or array.dtype.kind not in "uifb":
        raise InputError(
            f"The picture of {whose} must be a path, or an array of shape (height, width) or (height, width, 3 or 4). "
            f"Got {type(value).__name__} of shape {array.shape}."
        )
    return _thumbnail(_pillow().fromarray(_bytes_of(array)))


def _bytes_of(array: np.ndarray) -> np.ndarray:
    """Scale numbers to 0 to 255, unless they are bytes."""
    if array.dtype == np.uint8:
        return np.ascontiguousarray(array)
    numbers = np.nan_to_num(array.astype(float))
    low, high = numbers.min(), numbers.max()
    return np.rint(255 * (numbers - low) / (high - low if high > low else 1)).astype(np.uint8)


def _thumbnail(image: Any) -> Thumbnail:
    """Encode a picture anew, at the largest of the sizes."""
    has_alpha = "A" in image.getbands() or "transparency" in image.info
    image = image.convert("RGBA" if has_alpha else "RGB")
    longest = max(image.size)
    if longest < SMALL:
        times = -(-SMALL // longest)
        image = image.resize((image.width * times, image.height * times), _pillow().Resampling.NEAREST)
    return Thumbnail(_encode(image, SIDES[0]))


def _encode(image: Any, side: int) -> bytes:
    small = image.copy()
    small.thumbnail((side, side))
    found = []
    for lossless in (False, True):
        file = io.BytesIO()
        small.save(file, "WEBP", quality=QUALITY, method=4, lossless=lossless)
        found.append(file.getvalue())
    return min(found, key=len)


def fitted_to(thumbnails: list[Thumbnail], budget: int = BUDGET) -> list[Thumbnail]:
    """Make thumbnails smaller where that is needed for all to fit into a page."""
    vectors = sum(len(found.content) for found in thumbnails if found.is_vector)
    n_raster = sum(not found.is_vector for found in thumbnails)
    limit = min(LARGEST, (budget - vectors) // max(n_raster, 1))
    return [found if found.is_vector else _smaller(found, limit) for found in thumbnails]


def _smaller(found: Thumbnail, limit: int) -> Thumbnail:
    if len(found.content) <= limit:
        return found
    image = _pillow().open(io.BytesIO(found.content), formats=("WEBP",))
    for side in SIDES[1:]:
        content = _encode(image, side)
        if len(content) <= limit:
            break
    return Thumbnail(content)


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingDependencyError(
            "Pictures need Pillow, which is not installed: pip install 'consilience[pictures]'."
        ) from error
    return Image


def _fold(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip().casefold()


def _some(names: Any) -> str:
    texts = [as_text(name) for name in names[:NAMED]]
    left = len(names) - len(texts)
    return join_names([*texts, f"{left:,} more"] if left else texts)
