"""Pictures from strangers: read with Pillow, bounded in bytes and pixels, and written anew.

Nothing of an upload is kept but its pixels: no metadata, no second file behind the picture, no name. The formats that
Pillow may try are listed, so that no rarely used decoder runs; the number of pixels is known from the header, before
they are decoded. Archives are read in memory, entry by entry; no path in them reaches the file system.
"""

from __future__ import annotations

import io
import posixpath
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from consilience.errors import InputError

FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".gif")
MOST_BYTES = 10_000_000  # of a picture, as it is uploaded
MOST_PIXELS = 40_000_000  # of a picture, as it is uploaded
LONGEST_SIDE = 1600  # pixels, as it is kept
SMALL_SIDE = 320  # pixels: a card at twice the density of an ordinary screen
MOST_PICTURES = 3000  # in an archive
MOST_UNPACKED = 300_000_000  # bytes of an archive
LARGE_PNG = 600_000  # bytes, above which a picture without transparency becomes a JPEG


@dataclass(frozen=True)
class CheckedPicture:
    """A picture as it is kept and sent: written by Pillow, never as it was uploaded.

    mime : {"image/png", "image/jpeg"}
    width, height : in pixels.
    """

    data: bytes
    mime: str
    width: int
    height: int


def check_picture(data: bytes, name: str = "The picture") -> CheckedPicture:
    """Return an uploaded picture, decoded and written anew.

    Raises InputError: it is empty, too large in bytes or pixels, no picture of the formats in `FORMATS`, or damaged.

    name : how messages call it.

    Returns a picture of at most `LONGEST_SIDE` pixels wide and high, turned as its metadata said.
    """
    if not data:
        raise InputError(f"{name} is empty.")
    if len(data) > MOST_BYTES:
        raise InputError(f"{name} has {len(data):,} bytes; at most {MOST_BYTES:,} are allowed.")
    picture, is_photo = _decode(data, name)
    return _reduce(picture, is_photo)


def _decode(data: bytes, name: str) -> tuple[Any, bool]:
    """Return the pixels, turned upright, and whether they were stored as a JPEG."""
    from PIL import Image, ImageOps

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd metadata; the number of pixels is checked below
            picture = Image.open(io.BytesIO(data), formats=FORMATS)
            _require_few_pixels(picture.size, name)
            picture.load()  # damage shows only where pixels are decoded
            turned = ImageOps.exif_transpose(picture)
    except InputError:
        raise
    except Image.DecompressionBombError as error:
        raise InputError(f"{name} has too many pixels; at most {MOST_PIXELS:,} are allowed.") from error
    except Exception as error:  # whatever a decoder raises on bytes that somebody made up
        raise InputError(f"{name} is not a readable PNG, JPEG, WebP or GIF picture.") from error
    return turned, picture.format == "JPEG"


def _require_few_pixels(size: tuple[int, int], name: str) -> None:
    width, height = size
    if width * height > MOST_PIXELS:
        raise InputError(f"{name} has {width} × {height} pixels; at most {MOST_PIXELS:,} in all are allowed.")


def _reduce(picture: Any, is_photo: bool) -> CheckedPicture:
    """Reduce and encode a decoded picture: a JPEG if it was one or would be a large PNG, PNG if it has transparency."""
    transparent = picture.has_transparency_data
    picture = picture.convert("RGBA" if transparent else "RGB")
    picture.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    if transparent or not is_photo:
        data = _encode(picture, "PNG")
        if transparent or len(data) <= LARGE_PNG:
            return CheckedPicture(data, "image/png", *picture.size)
    return CheckedPicture(_encode(picture, "JPEG", quality=90), "image/jpeg", *picture.size)


def _encode(picture: Any, kind: str, **options: Any) -> bytes:
    from PIL import Image

    bare = Image.new(picture.mode, picture.size)  # without metadata
    bare.paste(picture)
    file = io.BytesIO()
    bare.save(file, kind, **options)
    return file.getvalue()


def small(data: bytes) -> CheckedPicture:
    """Return a picture that we wrote, at most `SMALL_SIDE` pixels wide and high."""
    from PIL import Image

    picture = Image.open(io.BytesIO(data), formats=FORMATS)
    if max(picture.size) <= SMALL_SIDE:
        return CheckedPicture(data, Image.MIME[picture.format or "PNG"], *picture.size)
    picture.thumbnail((SMALL_SIDE, SMALL_SIDE))
    return _reduce(picture, picture.format == "JPEG")


def in_archive(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the bytes of each picture in a ZIP archive; folders in it do not matter.

    Raises InputError: it is no ZIP archive, or damaged or encrypted, or holds too much, or two pictures of one name, or
    none.

    Yields
    ------
    name : str
        Without folders.
    data : bytes
        As it is in the archive, not checked.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        entries = [entry for entry in archive.infolist() if _is_picture(entry.filename)]
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
        raise InputError("The archive of pictures is not a readable ZIP file.") from error
    _require_bounded(entries)
    for entry in entries:
        yield posixpath.basename(entry.filename), _unpack_entry(archive, entry)


def _is_picture(path: str) -> bool:
    """Whether a path in an archive ends like a picture and is not an invisible file of some system."""
    name = posixpath.basename(path)
    return name.lower().endswith(SUFFIXES) and not name.startswith(".") and not path.startswith("__MACOSX/")


def _require_bounded(entries: list[zipfile.ZipInfo]) -> None:
    if not entries:
        raise InputError(f"The archive holds no picture; their names must end in {', '.join(SUFFIXES)}.")
    if len(entries) > MOST_PICTURES:
        raise InputError(f"The archive holds {len(entries):,} pictures; at most {MOST_PICTURES:,} are allowed.")
    if sum(entry.file_size for entry in entries) > MOST_UNPACKED:
        raise InputError(f"The archive holds more than {MOST_UNPACKED:,} bytes of pictures.")
    seen: set[str] = set()
    for entry in entries:
        name = posixpath.basename(entry.filename)
        if name in seen:
            raise InputError(f"The archive holds two pictures with the name {name!r}, in different folders.")
        seen.add(name)


def _unpack_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Return an entry, of which no more is unpacked than a picture may have, whatever the archive says of its size."""
    name = posixpath.basename(entry.filename)
    try:
        with archive.open(entry) as file:
            data = file.read(MOST_BYTES + 1)
    except Exception as error:  # each way of packing has errors of its own
        raise InputError(
            f"The picture {name!r} in the archive is damaged, encrypted or packed in a rare way."
        ) from error
    if len(data) > MOST_BYTES:
        raise InputError(f"The picture {name!r} in the archive has more than {MOST_BYTES:,} bytes.")
    return data
