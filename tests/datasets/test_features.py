"""Counts and facts of the sets with features, and the readers on small files."""

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat
from sklearn import datasets as sklearn_datasets

from consilience.datasets import load_cmu_faces, load_dataset, load_digits, load_faces, load_uci
from consilience.errors import InputError


@pytest.mark.parametrize("name", ["digits", "iris", "wine"])
def test_bundled_sets_are_scikit_learns(name):
    raw = getattr(sklearn_datasets, f"load_{name}")()
    bunch = load_dataset(name)
    np.testing.assert_array_equal(bunch.data, raw.data)
    np.testing.assert_array_equal(bunch.target, raw.target)
    assert bunch.target_names.tolist() == raw.target_names.tolist()
    assert bunch.feature_names == list(raw.feature_names)
    assert raw.DESCR in bunch.DESCR


def test_digits_have_images():
    digits = load_digits()
    np.testing.assert_array_equal(digits.images, sklearn_datasets.load_digits().images)


# the class sizes that the UCI repository publishes
@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("seeds", {"Kama": 70, "Rosa": 70, "Canadian": 70}),
        (
            "breast_tissue",
            {
                "carcinoma": 21,
                "fibro-adenoma": 15,
                "mastopathy": 18,
                "glandular": 16,
                "connective": 14,
                "adipose": 22,
            },
        ),
        (
            "glass",
            {
                "building windows, float processed": 70,
                "building windows, not float processed": 76,
                "vehicle windows, float processed": 17,
                "containers": 13,
                "tableware": 9,
                "headlamps": 29,
            },
        ),
        (
            "steel_plates_faults",
            {
                "pastry": 158,
                "Z scratch": 190,
                "K scratch": 391,
                "stains": 72,
                "dirtiness": 55,
                "bumps": 402,
                "other faults": 673,
            },
        ),
    ],
)
def test_class_sizes_of_uci_sets(load, name, sizes):
    bunch = load(name)
    assert dict(zip(bunch.target_names.tolist(), np.bincount(bunch.target).tolist(), strict=True)) == sizes


def test_names_of_steel_features(load):
    """The file numbers its columns; the meaning of the names identifies them."""
    steel = load("steel_plates_faults").data
    assert (steel["X_Minimum"] <= steel["X_Maximum"]).all()
    assert (steel["Y_Minimum"] <= steel["Y_Maximum"]).all()
    assert (steel["Minimum_of_Luminosity"] <= steel["Maximum_of_Luminosity"]).all()
    assert (steel["TypeOfSteel_A300"] + steel["TypeOfSteel_A400"] == 1).all()
    np.testing.assert_allclose(steel["LogOfAreas"], np.log10(steel["Pixels_Areas"]), atol=1e-4)


def test_names_of_seeds_features(load):
    seeds = load("seeds").data
    # compactness is defined as 4 pi area / perimeter²; the file rounds the perimeter to 0.01
    np.testing.assert_allclose(seeds["compactness"], 4 * np.pi * seeds["area"] / seeds["perimeter"] ** 2, rtol=2e-3)


def test_oxides_of_glass_are_percentages(load):
    oxides = load("glass").data.drop(columns="RI")
    assert oxides.sum(axis=1).between(99, 101).all()


@pytest.mark.parametrize(
    ("name", "n_persons", "n_pictures", "shape"),
    [
        ("Yale", 15, 11, (32, 32)),
        ("ORL", 40, 10, (32, 32)),
        ("warpAR10P", 10, 13, (60, 40)),
        ("warpPIE10P", 10, 21, (55, 44)),
    ],
)
def test_faces(load, name, n_persons, n_pictures, shape):
    faces = load(name)
    np.testing.assert_array_equal(np.bincount(faces.target), np.full(n_persons, n_pictures))
    assert faces.images.shape == (n_persons * n_pictures, *shape)
    assert faces.item_names[-1] == f"person {n_persons}, picture {n_pictures}"
    assert faces.target_names[faces.target[-1]] == f"person {n_persons}"


@pytest.mark.parametrize("name", ["Yale", "ORL", "warpAR10P", "warpPIE10P"])
def test_faces_are_laid_out_as_pictures(load, name):
    """Neighbouring pixels are similar, more than if rows and columns were swapped or read in the wrong order."""

    def roughness(images):
        pictures = images.astype(float)
        return np.abs(np.diff(pictures, axis=1)).mean() + np.abs(np.diff(pictures, axis=2)).mean()

    images = load(name).images
    _, height, width = images.shape
    wrong = images.transpose(0, 2, 1).reshape(-1, height, width)
    assert height == width or roughness(images) < 0.8 * roughness(wrong)
    # faces are upright: left and right halves are more alike than upper and lower ones
    mean = images.mean(axis=0)
    assert np.abs(mean - mean[:, ::-1]).mean() < np.abs(mean - mean[::-1]).mean()


def test_the_reader_of_faces_turns_matlabs_columns(folder):
    (folder / "scikit-feature-faces").mkdir()
    pictures = np.arange(2 * 60 * 40).reshape(2, 60, 40) % 251
    columns = np.stack([picture.ravel(order="F") for picture in pictures]).astype(np.uint8)
    savemat(folder / "scikit-feature-faces" / "warpAR10P.mat", {"X": columns, "Y": np.array([[1], [1]], np.uint8)})
    faces = load_faces("warpAR10P")
    np.testing.assert_array_equal(faces.images, pictures)
    assert faces.data["pixel_2_5"].tolist() == pictures[:, 2, 5].tolist()
    assert faces.item_names.tolist() == ["person 1, picture 1", "person 1, picture 2"]


def test_faces_in_four_views(folder):
    (folder / "cmu-faces").mkdir()
    pictures = np.arange(3 * 30 * 32).reshape(3, 30, 32).astype(np.uint8)
    np.savez(
        folder / "cmu-faces" / "cmu_faces_32x30.npz",
        X=pictures,
        person=np.array(["an2i", "bpm", "an2i"]),
        pose=np.array(["up", "left", "left"]),
        expression=np.array(["sad", "happy", "happy"]),
        eyes=np.array(["open", "open", "sunglasses"]),
    )
    faces = load_cmu_faces()
    np.testing.assert_array_equal(faces.images, pictures)
    assert faces.item_names.tolist() == ["an2i 1", "bpm 1", "an2i 2"]
    assert faces.data["pixel_2_5"].tolist() == pictures[:, 2, 5].tolist()
    assert faces.target_names[faces.target].tolist() == ["up", "left", "left"]
    assert faces.views.loc["an2i 2"].tolist() == ["left", "an2i", "happy", "sunglasses"]


def test_the_real_faces_in_four_views(load):
    views = load("cmu_faces").views
    assert views.nunique().to_dict() == {"pose": 4, "person": 20, "expression": 4, "eyes": 2}
    assert (views["eyes"] == "open").sum() == 313


def test_the_reader_of_uci_sets(folder):
    (folder / "uci").mkdir()
    pd.DataFrame({"area": [1.5, 2.5, 3.5], "class": [3, 1, 3]}).to_csv(folder / "uci" / "seeds.csv", index=False)
    seeds = load_uci("seeds")
    assert seeds.data.to_dict("list") == {"area": [1.5, 2.5, 3.5]}
    assert seeds.target_names[seeds.target].tolist() == ["Canadian", "Kama", "Canadian"]
    assert "Charytanowicz et al. 2010" in seeds.DESCR


def test_an_unknown_class_is_an_error(folder):
    (folder / "uci").mkdir()
    pd.DataFrame({"area": [1.5, 2.5], "class": [3, 4]}).to_csv(folder / "uci" / "seeds.csv", index=False)
    with pytest.raises(InputError, match="The class 4 of the item 1 of the data set 'seeds' is not among Kama, Rosa, "):
        load_uci("seeds")
