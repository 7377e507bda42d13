"""Items with features and true classes, for simulated annotators: UCI tables, faces, scikit-learn's own data sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.io import loadmat
from sklearn import datasets as sklearn_datasets
from sklearn.utils import Bunch

from consilience.datasets._bunch import DataBunch
from consilience.datasets._folder import DATA_SETS, bundle, choose, data_sets_of, pixels

__all__ = ["load_cmu_faces", "load_digits", "load_faces", "load_iris", "load_uci", "load_wine"]

UCI = data_sets_of("load_uci")
FACES = data_sets_of("load_faces")
CMU_FACES = DATA_SETS["load_cmu_faces", ""]

CLASS_NAMES: dict[str, dict[Any, str]] = {
    "seeds": {1: "Kama", 2: "Rosa", 3: "Canadian"},
    "breast_tissue": {
        0: "carcinoma",
        1: "fibro-adenoma",
        2: "mastopathy",
        3: "glandular",
        4: "connective",
        5: "adipose",
    },
    "glass": {
        1: "building windows, float processed",
        2: "building windows, not float processed",
        3: "vehicle windows, float processed",
        5: "containers",
        6: "tableware",
        7: "headlamps",
    },
    "steel_plates_faults": {
        "Pastry": "pastry",
        "Z_Scratch": "Z scratch",
        "K_Scatch": "K scratch",
        "Stains": "stains",
        "Dirtiness": "dirtiness",
        "Bumps": "bumps",
        "Other_Faults": "other faults",
    },
}

STEEL_FEATURES = [
    "X_Minimum",
    "X_Maximum",
    "Y_Minimum",
    "Y_Maximum",
    "Pixels_Areas",
    "X_Perimeter",
    "Y_Perimeter",
    "Sum_of_Luminosity",
    "Minimum_of_Luminosity",
    "Maximum_of_Luminosity",
    "Length_of_Conveyer",
    "TypeOfSteel_A300",
    "TypeOfSteel_A400",
    "Steel_Plate_Thickness",
    "Edges_Index",
    "Empty_Index",
    "Square_Index",
    "Outside_X_Index",
    "Edges_X_Index",
    "Edges_Y_Index",
    "Outside_Global_Index",
    "LogOfAreas",
    "Log_X_Index",
    "Log_Y_Index",
    "Orientation_Index",
    "Luminosity_Index",
    "SigmoidOfAreas",
]

CMU_VIEWS = ("pose", "person", "expression", "eyes")

IMAGE_SHAPES = {"Yale": (32, 32), "ORL": (32, 32), "warpAR10P": (60, 40), "warpPIE10P": (55, 44)}


def load_digits() -> DataBunch:
    """Load scikit-learn's handwritten digits.

    Returns
    -------
    Bunch
        `data` (1797, 64) DataFrame, `target`, `target_names`, `feature_names`, `item_names` (0 to 1796), `DESCR`, and
        `images` (1797, 8, 8).

    Examples
    --------
    >>> from consilience.datasets import load_digits
    >>> digits = load_digits()
    >>> digits.data.shape, digits.images.shape, digits.target_names.tolist()
    ((1797, 64), (1797, 8, 8), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    raw = sklearn_datasets.load_digits(as_frame=True)
    return _load_bundled("digits", raw, images=raw.images)


def load_iris() -> DataBunch:
    """Load scikit-learn's irises.

    Returns
    -------
    Bunch
        `data` (150, 4) DataFrame, `target`, `target_names`, `feature_names`, `item_names` (0 to 149), `DESCR`.

    Examples
    --------
    >>> from consilience.datasets import load_iris
    >>> iris = load_iris()
    >>> iris.data.shape, iris.target_names.tolist()
    ((150, 4), ['setosa', 'versicolor', 'virginica'])
    """
    return _load_bundled("iris", sklearn_datasets.load_iris(as_frame=True))


def load_wine() -> DataBunch:
    """Load scikit-learn's wines.

    Returns
    -------
    Bunch
        `data` (178, 13) DataFrame, `target`, `target_names`, `feature_names`, `item_names` (0 to 177), `DESCR`.

    Examples
    --------
    >>> from consilience.datasets import load_wine
    >>> load_wine().data.shape
    (178, 13)
    """
    return _load_bundled("wine", sklearn_datasets.load_wine(as_frame=True))


def load_uci(name: str) -> DataBunch:
    """Load a table of the UCI Machine Learning Repository.

    Parameters
    ----------
    name : {"iris", "seeds", "breast_tissue", "glass", "steel_plates_faults"}
        "iris" is scikit-learn's copy and needs no files; the others are read from the data folder.

    Returns
    -------
    Bunch
        `data` (n_items, n_features) DataFrame, `target` (n_items,) codes, `target_names`, `feature_names`,
        `item_names` (row numbers from 0), `DESCR`.

    Raises
    ------
    InputError
        If there is no such data set.
    MissingDataError
        If its file is not in the folder named by CONSILIENCE_DATA.

    Examples
    --------
    >>> from consilience.datasets import load_uci
    >>> load_uci("iris").data.shape
    (150, 4)
    >>> load_uci("seeds").target_names.tolist()  # doctest: +SKIP
    ['Kama', 'Rosa', 'Canadian']
    """
    data_set = choose(name, {"iris": DATA_SETS["load_iris", ""]} | UCI, "load_uci")
    if name == "iris":
        return load_iris()
    frame = pd.read_csv(*data_set.paths())
    names = CLASS_NAMES[name]
    data = frame.drop(columns="class")
    if name == "steel_plates_faults":
        data = data.set_axis(STEEL_FEATURES, axis=1)
    classes = frame["class"].map(lambda code: names.get(code, code))
    return bundle(data_set, items=np.arange(len(frame)), data=data, classes=classes, class_names=list(names.values()))


def load_faces(name: str) -> DataBunch:
    """Load pictures of faces; the classes are the people.

    Parameters
    ----------
    name : {"Yale", "ORL", "warpAR10P", "warpPIE10P"}

    Returns
    -------
    Bunch
        `data` (n_items, n_pixels) DataFrame of grey values, `target` (n_items,) codes, `target_names`,
        `feature_names`, `item_names` such as "person 1, picture 1", `DESCR`, and `images` (n_items, height, width)
        uint8.

    Raises
    ------
    InputError
        If there is no such data set.
    MissingDataError
        If its file is not in the folder named by CONSILIENCE_DATA.

    Examples
    --------
    >>> from consilience.datasets import load_faces
    >>> faces = load_faces("warpAR10P")  # doctest: +SKIP
    >>> faces.data.shape, faces.images.shape, faces.item_names[0]  # doctest: +SKIP
    ((130, 2400), (130, 60, 40), 'person 1, picture 1')
    """
    data_set = choose(name, FACES, "load_faces")
    raw = loadmat(*data_set.paths())
    height, width = IMAGE_SHAPES[name]
    images = raw["X"].reshape(-1, width, height).transpose(0, 2, 1)  # Matlab stores arrays by columns
    person = pd.Series(raw["Y"].ravel())
    picture = person.groupby(person).cumcount() + 1
    items = [f"person {p}, picture {k}" for p, k in zip(person, picture, strict=True)]
    persons = [f"person {p}" for p in person.unique()]
    return bundle(
        data_set,
        items=items,
        data=pixels(images),
        classes="person " + person.astype(str),
        class_names=persons,
        images=images,
    )


def load_cmu_faces() -> DataBunch:
    """Load pictures of faces that can be grouped in four ways; the classes are the poses.

    Returns
    -------
    Bunch
        `data` (n_items, n_pixels) DataFrame of grey values, `target` (n_items,) codes of the pose, `target_names`,
        `feature_names`, `item_names` such as "an2i 1", `DESCR`, `images` (n_items, height, width) uint8, and `views`
        (n_items, 4) DataFrame of the true pose, person, expression ("neutral", "sad", …) and eyes ("open" or
        "sunglasses").

    Raises
    ------
    MissingDataError
        If its file is not in the folder named by CONSILIENCE_DATA.

    Examples
    --------
    >>> from consilience.datasets import load_cmu_faces
    >>> faces = load_cmu_faces()  # doctest: +SKIP
    >>> faces.views.nunique().to_dict()  # doctest: +SKIP
    {'pose': 4, 'person': 20, 'expression': 4, 'eyes': 2}
    """
    (path,) = CMU_FACES.paths()
    with np.load(path) as raw:
        images = raw["X"]
        views = pd.DataFrame({view: raw[view] for view in CMU_VIEWS})
    picture = views.groupby("person").cumcount() + 1
    items = views["person"] + " " + picture.astype(str)
    return bundle(
        CMU_FACES,
        items=items,
        data=pixels(images),
        classes=views["pose"],
        images=images,
        views=views.set_axis(pd.Index(items, name="item")),
    )


def _load_bundled(name: str, raw: Bunch, **others: Any) -> DataBunch:
    result = bundle(
        DATA_SETS[f"load_{name}", ""],
        items=np.arange(len(raw.data)),
        data=raw.data,
        classes=raw.target_names[raw.target],
        class_names=raw.target_names,
        **others,
    )
    return DataBunch(**(result | {"DESCR": f"{result.DESCR}\n\n{raw.DESCR}"}))
