"""Pictures from strangers: what is kept of them, and what is refused."""

import io
import zipfile

import numpy as np
import pytest

from consilience.errors import InputError

Image = pytest.importorskip("PIL.Image", reason="the extra 'collect' is not installed")

from consilience.collect.creation import pictures  # noqa: E402

SCRIPT = b"<script>alert(1)</script>"


def encoded(kind="PNG", size=(30, 20), mode="RGB", **options):
    file = io.BytesIO()
    Image.new("L", size, 120 if mode != "1" else 255).convert(mode).save(file, kind, **options)
    return file.getvalue()


def noise(size=(900, 700)):
    """A picture that no PNG makes small."""
    return Image.fromarray(np.random.default_rng(0).integers(256, size=(*size[::-1], 3), dtype=np.uint8))


def archive(files):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as written:
        for name, data in files.items():
            written.writestr(name, data)
    return file.getvalue()


@pytest.mark.parametrize(("kind", "mime"), [("PNG", "png"), ("JPEG", "jpeg"), ("WEBP", "png"), ("GIF", "png")])
def test_a_picture_is_decoded_and_written_anew(kind, mime):
    kept = pictures.check_picture(encoded(kind, mode="L" if kind == "GIF" else "RGB"))
    assert (kept.mime, kept.width, kept.height) == (f"image/{mime}", 30, 20)
    reread = Image.open(io.BytesIO(kept.data))
    assert (Image.MIME[reread.format], reread.size) == (kept.mime, (30, 20))
    assert np.abs(np.asarray(reread.convert("L"), int) - 120).max() < 3  # the grey that was painted, JPEG or not


def test_what_hides_in_a_picture_is_dropped():
    polyglot = encoded("GIF", mode="L", comment=SCRIPT) + b"*/=1;" + SCRIPT + archive({"a.html": SCRIPT})
    assert SCRIPT in polyglot
    assert b"alert" not in pictures.check_picture(polyglot).data
    exif = Image.Exif()
    exif[0x010E] = "taken at home <script>"
    assert b"home" not in pictures.check_picture(encoded("JPEG", exif=exif)).data


def test_a_picture_is_turned_upright():
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by a quarter
    assert (
        pictures.check_picture(encoded("JPEG", exif=exif)).width,
        pictures.check_picture(encoded("JPEG")).width,
    ) == (20, 30)


def test_transparency_stays_and_large_pictures_become_smaller():
    assert Image.open(io.BytesIO(pictures.check_picture(encoded(mode="RGBA")).data)).mode == "RGBA"
    kept = pictures.check_picture(encoded(size=(4000, 1000)))
    assert (kept.width, kept.height) == (1600, 400)
    file = io.BytesIO()
    noise().save(file, "PNG")
    assert pictures.check_picture(file.getvalue()).mime == "image/jpeg"
    shown = pictures.small(kept.data)
    assert (shown.width, shown.height) == (320, 80)
    assert pictures.small(pictures.check_picture(encoded()).data).width == 30  # no larger than it was


@pytest.mark.parametrize(
    "data",
    [
        b"",
        SCRIPT,
        b"GIF89a" + SCRIPT,
        b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
        b"%PDF-1.4 not a picture",
        encoded("BMP"),
        encoded("TIFF"),
        encoded()[:50],
        encoded("JPEG")[:200],
    ],
    ids=["empty", "html", "gif head", "svg", "pdf", "bmp", "tiff", "cut png", "cut jpeg"],
)
def test_what_is_no_picture_is_refused(data):
    with pytest.raises(InputError, match=r"^'cat.png' is (empty|not a readable PNG, JPEG, WebP or GIF picture)\.$"):
        pictures.check_picture(data, "'cat.png'")


def test_decompression_bombs_are_refused_before_they_are_decoded():
    bomb = encoded(size=(9_000, 9_000), mode="1")
    assert len(bomb) < 100_000
    with pytest.raises(InputError, match="pixels"):
        pictures.check_picture(bomb)
    with pytest.raises(InputError, match="bytes"):
        pictures.check_picture(b"x" * (pictures.MOST_BYTES + 1))


def test_archives_are_read_without_their_folders():
    data = archive({"a/b/cat.png": encoded(), "dog.PNG": encoded(), "notes.txt": b"x", "__MACOSX/cat.png": b"x"})
    found = dict(pictures.in_archive(data))
    assert list(found) == ["cat.png", "dog.PNG"]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as written:
        written.writestr("../../../etc/passwd.png", encoded())
        written.writestr("C:\\boot.png", encoded())
    assert next(name for name, _ in pictures.in_archive(file.getvalue())) == "passwd.png"


def test_archives_that_hold_too_much_are_refused(monkeypatch):
    with pytest.raises(InputError, match="not a readable ZIP"):
        list(pictures.in_archive(encoded()))
    with pytest.raises(InputError, match="holds no picture"):
        list(pictures.in_archive(archive({"a.txt": b"x"})))
    with pytest.raises(InputError, match=r"two pictures with the name .cat\.png."):
        list(pictures.in_archive(archive({"a/cat.png": b"x", "b/cat.png": b"x"})))
    large = archive({"zeros.png": bytes(pictures.MOST_BYTES + 1)})
    assert len(large) < 100_000
    with pytest.raises(InputError, match=r"zeros\.png. in the archive has more than"):
        list(pictures.in_archive(large))
    monkeypatch.setattr(pictures, "MOST_PICTURES", 2)
    with pytest.raises(InputError, match="holds 3 pictures; at most 2"):
        list(pictures.in_archive(archive({"a.png": b"", "b.png": b"", "c.png": b""})))


def test_damaged_and_encrypted_entries_are_refused():
    data = archive({"cat.png": encoded(size=(300, 300)) + bytes(500)})
    place = data.index(b"cat.png") + 20
    with pytest.raises(InputError, match="damaged, encrypted"):
        list(pictures.in_archive(data[:place] + bytes(8) + data[place + 8 :]))
    flagged = bytearray(data)
    for head, flag in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        flagged[flagged.index(head) + flag] |= 1  # says that it is encrypted
    with pytest.raises(InputError, match="damaged, encrypted"):
        list(pictures.in_archive(bytes(flagged)))
