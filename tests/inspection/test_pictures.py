"""Pictures of items: what is read, what is refused, and how they get into the page."""

import base64
import io
import os
import re
import sys

import numpy as np
import pandas as pd
import pytest

from consilience import Groupings
from consilience.errors import InputError, MissingDependencyError
from consilience.inspection import pictures_of, report
from consilience.inspection.pictures import fitted_to, pictures_in
from consilience.inspection.report.album import Album
from consilience.inspection.vector_pictures import safe_svg
from consilience.semisupervised import PartitionLabelModel
from tests.pages import Page

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
SQUARE = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">{}</svg>'


def saved(path, colour="red", size=(300, 200), **options):
    Image.new("RGB", size, colour).save(path, **options)
    return path


def opened(thumbnail):
    return Image.open(io.BytesIO(thumbnail.content))


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for name in ("cat.jpg", "Dog.PNG", "owl.webp", "7.gif"):
        saved(folder / name)
    (folder / "yak.svg").write_text(SQUARE.format("<rect width='9' height='9'/>"))
    (folder / "notes.txt").write_text("no picture")
    (folder / ".hidden.png").write_text("no picture")
    saved(folder / "moose.png")
    return folder


def test_files_are_named_after_items(folder):
    found = pictures_of(["cat", "dog", "owl", 7, "yak", "bat"], folder)
    assert [thumbnail is not None for thumbnail in found.thumbnails] == [True] * 5 + [False]
    assert found.without == ["bat"]
    assert found.unused == ("moose.png", "notes.txt")
    assert found.in_words() == "1 item without a picture: bat; 2 pictures of no item: moose.png and notes.txt."
    small = opened(found.thumbnails[0])
    assert (small.format, small.size) == ("WEBP", (128, 85))
    assert found.thumbnails[4].is_vector


def test_paths_and_arrays_by_item(folder):
    source = {"cat": "cat.jpg", "dog": np.arange(12.0).reshape(3, 4), "owl": None, "bat": "  ", "x": "owl.webp"}
    found = pictures_of(["cat", "dog", "owl", "bat"], source, folder=folder)
    assert [thumbnail is not None for thumbnail in found.thumbnails] == [True, True, False, False]
    assert found.unused == ("x",)
    pixels = np.asarray(opened(found.thumbnails[1]).convert("L")).astype(int)
    assert pixels.shape == (36, 48)  # enlarged twelve times without blurring
    np.testing.assert_allclose(pixels[::12, ::12], 255 / 11 * np.arange(12).reshape(3, 4), atol=3)


def test_what_a_camera_adds_is_left_out(tmp_path):
    image = Image.new("RGB", (40, 80), "green")
    exif = image.getexif()
    exif[0x0112], exif[0x010E] = 6, "secret place"  # turned by a quarter; a description
    image.save(tmp_path / "a.jpg", exif=exif)
    (found,) = pictures_of(["a"], tmp_path).thumbnails
    assert opened(found).size[0] > opened(found).size[1]
    assert b"secret" not in found.content


@pytest.mark.parametrize(
    "path", ["../outside.png", "sub/../../outside.png", "/etc/passwd", "{outside}", "link.png", "linked/outside.png"]
)
def test_no_path_leads_out_of_the_folder(folder, path):
    outside = saved(folder.parent / "outside.png")
    (folder / "link.png").symlink_to(outside)
    (folder / "linked").symlink_to(folder.parent)
    with pytest.raises(InputError, match=r"The picture of the item 'cat', .*, is not in the folder"):
        pictures_of(["cat"], {"cat": path.format(outside=outside)}, folder=folder)


def test_names_of_items_are_no_paths(folder):
    saved(folder.parent / "outside.png")
    found = pictures_of(["../outside", "cat"], folder)
    assert found.without == ["../outside"]
    (folder / "sly.png").symlink_to(folder.parent / "outside.png")
    with pytest.raises(InputError, match="is not in the folder"):
        pictures_of(["sly"], folder)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"not a picture", "cannot be read as JPEG"),
        (b"", "cannot be read as JPEG"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 20, "cannot be read as JPEG"),
    ],
)
def test_damaged_files_are_named(tmp_path, content, what):
    (tmp_path / "cat.png").write_bytes(content)
    with pytest.raises(InputError, match=f"The picture of the item 'cat', .*cat.png', {what}"):
        pictures_of(["cat"], tmp_path)


def test_cut_off_and_huge_pictures_are_refused(tmp_path, monkeypatch):
    whole = saved(tmp_path / "cat.jpg", size=(900, 900)).read_bytes()
    (tmp_path / "cat.jpg").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="cannot be read as JPEG"):
        pictures_of(["cat"], tmp_path)
    saved(tmp_path / "cat.jpg", size=(900, 900))
    monkeypatch.setattr("consilience.inspection.pictures.MOST_PIXELS", 800_000)
    with pytest.raises(InputError, match="has 900 × 900 pixels"):
        pictures_of(["cat"], tmp_path)
    monkeypatch.setattr("consilience.inspection.pictures.MOST_BYTES", 100)
    with pytest.raises(InputError, match="at most 50 are read"):
        pictures_of(["cat"], tmp_path)


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("no such folder", "There is no folder of this name"),
        ({"cat": "none.png"}, "The picture of the item 'cat', .*none.png', does not exist"),
        ({"cat": "."}, "does not exist"),
        ({"cat": np.zeros((2, 2, 7))}, r"must be a path, or an array of shape .*Got ndarray of shape \(2, 2, 7\)"),
        ({"cow": np.zeros((2, 2))}, "None of the pictures is of an item"),
        (pd.Series([np.eye(2)] * 2, index=["cat", "cat"]), "There are two pictures of the item 'cat'"),
        (3, "Got int"),
    ],
)
def test_sources_that_cannot_be_used(tmp_path, monkeypatch, source, what):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=what):
        pictures_of(["cat", "dog"], source)


def test_two_pictures_of_an_item_or_none_of_any(folder):
    saved(folder / "cat.png")
    with pytest.raises(InputError, match=r"'cat' has two pictures, 'cat.jpg' and 'cat.png'"):
        pictures_of(["cat"], folder)
    with pytest.raises(InputError, match=r"No picture is named after an item, such as 'elk'.jpg"):
        pictures_of(["elk"], folder)


@pytest.mark.parametrize(
    ("inside", "what"),
    [
        ("<script>alert(1)</script>", "the element 'script'"),
        ("<foreignObject/>", "the element 'foreignObject'"),
        ("<image href='data:image/png;base64,AA'/>", "the element 'image'"),
        ("<a href='#x'/>", "the element 'a'"),
        ("<animate attributeName='x'/>", "the element 'animate'"),
        ("<g onclick='alert(1)'/>", "the script 'onclick'"),
        ("<use href='https://example.org/x.svg#a'/>", "refers to something outside"),
        ("<use xmlns:xlink='http://www.w3.org/1999/xlink' xlink:href='other.svg#a'/>", "refers to something outside"),
        ("<rect fill='url(https://example.org/x)'/>", "'fill' refers to something outside"),
        ("<rect style='fill: url( &quot;//example.org&quot;)'/>", "'style' refers to something outside"),
        ("<style>@import 'x.css';</style>", "its style refers"),
        (r"<style>a { fill: u\72l(x) }</style>", "its style refers"),
        ("<use href='#a'/>" * 21, "uses parts of itself too often"),
        ("<g>" * 20000 + "</g>" * 20000, "nested too deeply"),
        ("<g>", "not well-formed"),
    ],
)
def test_unsafe_drawings_are_refused(tmp_path, inside, what):
    (tmp_path / "cat.svg").write_text(SQUARE.format(inside))
    with pytest.raises(InputError, match=f"The picture of the item 'cat', .*cat.svg', was refused: .*{what}"):
        pictures_of(["cat"], tmp_path)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b'<!DOCTYPE svg [<!ENTITY a "b">]>' + SQUARE.format("&a;").encode(), "defines entities"),
        (b'<?xml-stylesheet href="x.css"?>' + SQUARE.format("").encode(), "style sheet from outside"),
        (SQUARE.format("").encode("utf-16"), "not text in UTF-8"),
        (b"<html/>", "is no SVG"),
        (b" " * 1_000_001, "too large for a drawing"),
    ],
)
def test_files_that_are_no_drawings(content, what):
    with pytest.raises(ValueError, match=what):
        safe_svg(content)


def test_safe_drawings_stay_without_what_programs_add():
    drawing = (
        '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x.dtd">'
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:ink="http://example.org/ink" ink:version="1">'
        '<metadata>me</metadata><ink:view/><defs><linearGradient id="a"/></defs><rect fill="url(#a)"/></svg>'
    )
    clean = safe_svg(drawing.encode()).decode()
    assert "ink" not in clean
    assert "metadata" not in clean
    assert 'fill="url(#a)"' in clean


def test_large_drawings_are_refused(tmp_path, monkeypatch):
    (tmp_path / "cat.svg").write_text(SQUARE.format("<rect/>" * 6000))
    with pytest.raises(InputError, match="an SVG may have 30 kB; convert it"):
        pictures_of(["cat"], tmp_path)
    monkeypatch.setattr("consilience.inspection.pictures.BUDGET", 100)
    (tmp_path / "cat.svg").write_text(SQUARE.format("<rect/>" * 20))
    with pytest.raises(InputError, match="convert them to PNG"):
        pictures_of(["cat"], tmp_path)


def test_without_pillow_there_is_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingDependencyError, match=re.escape("pip install 'consilience[pictures]'")):
        pictures_of(["cat"], {"cat": np.eye(9)})


def test_thumbnails_are_made_smaller_where_there_are_many():
    rng = np.random.default_rng(0)
    noise = {place: rng.integers(256, size=(128, 128, 3)).astype(np.uint8) for place in range(5)}
    found = list(pictures_of(range(5), noise).thumbnails)
    assert all(len(thumbnail.content) > 9000 for thumbnail in found)
    assert sum(len(thumbnail.content) for thumbnail in fitted_to(found, 20_000)) < 20_000


@pytest.fixture(scope="module")
def pictured(fusion):
    model, _ = fusion
    birds = {name: np.eye(8) * place for place, name in enumerate(model.items_[:-2], start=1)}
    return report(model, certainty=None, pictures=birds)


def test_each_picture_is_in_the_page_once(pictured, fusion, read):
    page = read(pictured)
    images = [image for image in page.root.all("image") if image.attributes.get("id", "").startswith("picture-")]
    assert len(images) == len(fusion[0].items_) - 2
    for image in images:
        kind, _, content = image.attributes["href"].partition(";base64,")
        assert kind == "data:image/webp"
        assert base64.b64decode(content)[:4] == b"RIFF"
    ids = {image.attributes["id"] for image in images}
    used = [use.attributes["href"] for use in page.root.all("use") if use.attributes["href"].startswith("#picture-")]
    assert {href[1:] for href in used} == ids
    assert len(used) > 3 * len(ids)
    shown = [svg.attributes for svg in page.root.all("svg") if svg.attributes.get("class") == "thumb"]
    assert {(svg["role"], svg["aria-label"]) for svg in shown} == {
        ("img", f"Picture of {name}") for name in fusion[0].items_[:-2]
    }
    assert "2 items without a picture: " in page.section("given").text
    assert "img-src data: blob:" in pictured


def test_names_of_annotators_and_groups_get_no_pictures(fusion, read):
    model, _ = fusion
    page = read(report(model, certainty=None, pictures={model.items_[0]: np.eye(8)}))
    name = str(model.items_[0])
    for svg in page.root.all("svg"):
        if svg.attributes.get("class") == "thumb":
            assert svg.attributes["aria-label"] == f"Picture of {name}"
    table = next(e for e in page.root.all("div") if e.attributes.get("id") == "annotators-table")
    assert not list(table.all("use"))


def test_pictures_of_other_items_are_refused(fusion):
    model, _ = fusion
    others = pictures_of(["x", "y"], {"x": np.eye(8)})
    with pytest.raises(InputError, match="of other items than those of the model"):
        report(model, certainty=None, pictures=others)


def test_the_folder_may_be_linked(folder):
    link = folder.parent / "link"
    os.symlink(folder, link)
    assert pictures_of(["cat"], link).thumbnails[0] is not None


@pytest.mark.slow
def test_500_pictures_stay_small():
    rng = np.random.default_rng(0)
    names = [f"card {place}" for place in range(500)]
    noise = {name: rng.integers(256, size=(40, 40, 3)).astype(np.uint8) for name in names}  # nothing is larger
    album = Album(pictures_of(names, noise))
    assert [album.number(place) for place in range(500)] == list(range(500))
    assert len(album.definitions()) < 3_000_000  # and the page without pictures has 1.1 MB


def pixels(n_items=12, side=5, shuffled=True):
    """Features that are pictures: a bright bar at one of three places."""
    values = np.zeros((n_items, side, side))
    for place in range(n_items):
        values[place, :, place % 3] = 16
    names = [f"pixel_{row}_{column}" for row in range(side) for column in range(side)]
    X = pd.DataFrame(values.reshape(n_items, -1), columns=names, index=[str(place) for place in range(n_items)])
    return X[sorted(names, key=lambda name: name[::-1])] if shuffled else X


def test_features_that_are_pixels_are_pictures_in_their_order():
    found = pictures_in(pixels())
    assert len(found.thumbnails) == 12
    assert found.without == []
    shown = np.asarray(opened(found.thumbnails[4]).convert("L"))
    assert [shown[25, 10 * column + 5] > 128 for column in range(5)] == [False, True, False, False, False]


@pytest.mark.parametrize(
    "changed",
    [
        lambda X: X.drop(columns="pixel_2_2"),
        lambda X: X.assign(age=1.0),
        lambda X: X.iloc[:, :3].set_axis(["pixel_0_0", "pixel_0_1", "pixel_0_2"], axis=1),
        lambda X: X.set_axis(range(25), axis=1),
        lambda X: None,
    ],
    ids=["a pixel is missing", "another feature", "a row only", "numbers", "no features"],
)
def test_other_features_are_no_pictures(changed):
    assert pictures_in(changed(pixels())) is None


def test_the_first_screen_shows_pictures_instead_of_numbers_and_no_table_of_pixels():
    X = pixels()
    sorts = Groupings.from_matrix(np.repeat((np.arange(12) % 3)[:, None], 4, axis=1).astype(object), items=X.index)
    model = PartitionLabelModel(n_init=1, prior_variance=1.0, max_clusters=3, random_state=0).fit(X, sorts)
    page = Page(report(model, sorts, X, certainty=None))
    lists = [each for each in page.root.all("div") if each.attributes.get("class") == "listed"]
    assert sum(len(list(each.all("svg"))) - 1 for each in lists) == 12  # one is the mark of the cluster
    assert not any(re.search(r"\d", list(each.all("p"))[1].text) for each in lists)
    keys = [section.attributes["id"] for section in page.root.all("section")]
    assert keys.index("profiles") > keys.index("given")
