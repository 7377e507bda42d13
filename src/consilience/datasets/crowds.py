"""Annotations of pictures and texts by paid workers: partial groupings and labels, with the truth where it is known."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from consilience.annotations import Groupings, Labels
from consilience.datasets._bunch import DataBunch
from consilience.datasets._folder import DATA_SETS, bundle, choose, data_sets_of, pixels

__all__ = ["load_cifar10h", "load_crowd_labels", "load_dogs_birds", "load_mnist_crowd", "load_orchestra"]

ORCHESTRA = data_sets_of("load_orchestra")
DOGS_BIRDS = data_sets_of("load_dogs_birds")
MNIST_CROWD = DATA_SETS["load_mnist_crowd", ""]
CROWD_LABELS = data_sets_of("load_crowd_labels")
CIFAR10H = DATA_SETS["load_cifar10h", ""]

_CIFAR10_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")


def load_orchestra(name: str) -> DataBunch:
    """Load groupings of 35 pictures each, of 1025 scenes or of 1025 pictures of ImageNet.

    Parameters
    ----------
    name : {"scenes", "imagenet"}

    Returns
    -------
    Bunch
        `annotations` (485 Groupings, each answer with its own annotator), `annotator_info` (DataFrame indexed by
        annotator: "sample", how the pictures were chosen; "hit", the task; "answer", the running number within it),
        `target`, `target_names`, `item_names` (class and file of the pictures), `DESCR`; for the scenes `data`
        (1025, 2304), grey values, and `images` (1025, 48, 48) uint8, else None.

    Raises
    ------
    InputError
        If there is no such set of pictures.
    MissingDataError
        If its files are not in the folder named by CONSILIENCE_DATA.

    Examples
    --------
    >>> from consilience.datasets import load_orchestra
    >>> scenes = load_orchestra("scenes")  # doctest: +SKIP
    >>> scenes.annotations.n_groupings, scenes.images.shape, scenes.item_names[0]  # doctest: +SKIP
    (485, (1025, 48, 48), 'bedroom/image_0004.jpg')
    """
    data_set = choose(name, ORCHESTRA, "load_orchestra")
    path, *thumbnails = data_set.paths()
    raw = pd.read_csv(path).query("set == @name")
    annotator = (raw["sample"] + ", task " + raw["hit"].astype(str) + ", answer " + raw["answer"].astype(str)).rename(
        "annotator"
    )
    frame = _memberships(raw.assign(annotator=annotator), ["annotator"])
    items, images = np.unique(frame["item"]), None
    if thumbnails:
        with np.load(thumbnails[0]) as archive:
            items, images = archive["name"], archive["X"]
    return bundle(
        data_set,
        items=items,
        data=None if images is None else pixels(images),
        classes=[item.partition("/")[0] for item in items],
        images=images,
        annotations=Groupings.from_frame(frame, items=items),
        annotator_info=raw[["sample", "hit", "answer"]].set_index(annotator),
    )


def load_dogs_birds(name: str) -> DataBunch:
    """Load groupings of 2 to 5 pictures each, of dogs of three breeds or of birds of five species and others.

    Parameters
    ----------
    name : {"dogs3", "birds5"}

    Returns
    -------
    Bunch
        `annotations` (Groupings, one per question), `annotator_info` (DataFrame indexed by annotator with the column
        "query": radio-2, radio-3, radio-4, radio-2-pilot, for the birds also drag-2 to drag-5), `grouping_info`
        (DataFrame indexed by annotator and grouping with the column "time_ms", the time to answer, as in the source;
        one time is negative), `target`, `target_names` (numbers), `data` (n_items, 3072) colour values of
        thumbnails, `images` (n_items, 32, 32, 3) uint8, `item_names` (picture numbers of the source), `DESCR`.

    Raises
    ------
    InputError
        If there is no such set of pictures.
    MissingDataError
        If its files are not in the folder named by CONSILIENCE_DATA.

    Examples
    --------
    >>> from consilience.datasets import load_dogs_birds
    >>> birds = load_dogs_birds("birds5")  # doctest: +SKIP
    >>> info = birds.annotator_info  # doctest: +SKIP
    >>> fives = birds.annotations.restrict(annotators=info.index[info["query"] == "drag-5"])  # doctest: +SKIP
    >>> fives.n_groupings, fives.n_annotators  # doctest: +SKIP
    (3600, 300)
    """
    data_set = choose(name, DOGS_BIRDS, "load_dogs_birds")
    queries, truth, thumbnails = data_set.paths()
    raw = pd.read_csv(queries)
    raw = raw[raw["file"].str.contains(name, regex=False)]
    kind = raw["file"].map({file: _query_kind(file) for file in raw["file"].unique()}).rename("query")
    raw = raw.assign(query=kind, annotator=kind + " worker " + raw["worker"].astype(str)).rename(
        columns={"question": "grouping"}
    )
    frame = _memberships(raw, ["annotator", "grouping"]).astype({"item": int})
    classes = pd.read_csv(truth).query("set == @name").set_index("image")["class"].astype(int).sort_index()
    with np.load(thumbnails) as archive:
        images = archive["X"]
    return bundle(
        data_set,
        items=classes.index,
        data=pixels(images),
        classes=classes,
        images=images,
        annotations=Groupings.from_frame(frame, items=classes.index),
        annotator_info=raw.groupby("annotator", sort=False)[["query"]].first(),
        grouping_info=raw.set_index(["annotator", "grouping"])[["time_ms"]],
    )


def load_mnist_crowd(*, all_images: bool = False) -> DataBunch:
    """Load 91 groupings of 36 handwritten digits each, by 48 workers.

    Parameters
    ----------
    all_images : bool, default=False
        Whether to return all 60 000 training images of MNIST, annotated or not (376 MB), instead of only the 2759
        annotated ones.

    Returns
    -------
    Bunch
        `annotations` (91 Groupings of 36 images, 1 to 8 per worker), `target`, `target_names`, `data`
        (n_items, 784) grey values, `images` (n_items, 28, 28) uint8, `item_names` (positions in MNIST's training
        file), `DESCR`.

    Raises
    ------
    MissingDataError
        If its files are not in the folder named by CONSILIENCE_DATA.

    Examples
    --------
    >>> from consilience.datasets import load_mnist_crowd
    >>> crowd = load_mnist_crowd()  # doctest: +SKIP
    >>> crowd.annotations.n_groupings, crowd.annotations.n_annotators, crowd.data.shape  # doctest: +SKIP
    (91, 48, (2759, 784))
    """
    annotations, images, digits = MNIST_CROWD.paths()
    pairs = np.load(annotations)
    pictures, classes = _read_idx(images), _read_idx(digits)
    items = np.arange(len(classes)) if all_images else np.unique(pairs[:, :2])
    return bundle(
        MNIST_CROWD,
        items=items,
        data=pixels(pictures[items]),
        classes=classes[items].astype(int),
        images=pictures[items],
        annotations=Groupings.from_frame(_blocks_to_memberships(pairs), items=items),
    )


def load_crowd_labels(name: str) -> DataBunch:
    """Load labels by workers, with the true labels of all or some items.

    Parameters
    ----------
    name : {"bluebird", "dog", "rte", "cf_amt", "sp_amt", "zencrowd_in", "sentiment", "adult", "fact_eval"}
        Pictures of birds of two species, pictures of dogs of four breeds, pairs of sentences; messages about the
        weather, sentences of film reviews, links to entities, messages by sentiment, web pages, facts about persons.

    Returns
    -------
    Bunch
        `annotations` (Labels; their classes are `target_names`), `target`, `target_names` (numbers of the source),
        `item_names` (numbers of the source), `DESCR`. There are no features. All items with labels are loaded. Where
        the class of some is not known (adult, fact_eval), `target` is of float, and NaN at these items, so that it is
        not taken for a class; it is of int elsewhere.

    Raises
    ------
    InputError
        If there is no such data set.
    MissingDataError
        If its files are not in the folder named by CONSILIENCE_DATA.

    Notes
    -----
    Repeated labels are left out, and where a worker gives an item two different labels, both are kept, as by Li,
    Rubinstein and Cohn (2019).

    Examples
    --------
    >>> from consilience.datasets import load_crowd_labels
    >>> dogs = load_crowd_labels("dog")  # doctest: +SKIP
    >>> dogs.annotations.n_rows, dogs.target_names.tolist()  # doctest: +SKIP
    (8070, [1, 2, 3, 4])

    Items whose class is known:

    >>> import numpy as np
    >>> pages = load_crowd_labels("adult")  # doctest: +SKIP
    >>> known = ~np.isnan(pages.target)  # doctest: +SKIP
    >>> pages.target_names[pages.target[known].astype(int)][:3].tolist()  # doctest: +SKIP
    [0, 3, 0]
    """
    data_set = choose(name, CROWD_LABELS, "load_crowd_labels")
    crowd, truth = data_set.paths()
    labels = _numbers(crowd, ["item", "annotator", "label"]).drop_duplicates()
    truths = _numbers(truth, ["item", "label"]).set_index("item")["label"]
    classes = np.union1d(truths, labels["label"])
    labels["annotator"] = "worker " + labels["annotator"].astype(str)
    items = truths.index if set(labels["item"]) <= set(truths.index) else np.union1d(truths.index, labels["item"])
    annotations = Labels.from_frame(labels, items=items, classes=classes)
    if len(truths) == len(items):
        return bundle(data_set, items=items, classes=truths, class_names=classes, annotations=annotations)
    code = pd.Series(np.searchsorted(classes, truths), index=truths.index)
    target = code.reindex(items).to_numpy(float)
    return bundle(data_set, items=items, target=target, target_names=classes, annotations=annotations)


def load_cifar10h() -> DataBunch:
    """Load 47 to 63 labels of each of the 10 000 test pictures of CIFAR-10, by annotators who are not identified.

    Returns
    -------
    Bunch
        `annotations` (Labels; their classes are airplane, automobile, bird, cat, deer, dog, frog, horse, ship, truck),
        `counts` (DataFrame of shape (10000, 10), indexed by item: how often each class was given), `item_names`
        (positions in CIFAR-10's test file, from 0), `DESCR`. There are no features, and `target` is None: the source
        has the counts alone.

    Raises
    ------
    MissingDataError
        If its file is not in the folder named by CONSILIENCE_DATA.

    Notes
    -----
    The source counts labels and does not say whose they are, so that each label has its own annotator, as in
    `load_orchestra`. To number the labels of each picture, and to take those of one number for one annotator's, would
    invent annotators. Nothing can be learnt about an annotator from one label: combine them with models that treat all
    annotators alike, such as `MajorityVote`.

    Examples
    --------
    >>> from consilience.datasets import load_cifar10h
    >>> pictures = load_cifar10h()  # doctest: +SKIP
    >>> pictures.annotations.n_rows  # doctest: +SKIP
    511000
    >>> pictures.counts.loc[0, ["cat", "dog", "frog"]].tolist()  # doctest: +SKIP
    [48, 1, 0]
    """
    counts = np.load(CIFAR10H.paths()[0]).astype(int)
    item, label = (np.repeat(place.ravel(), counts.ravel()) for place in np.indices(counts.shape))
    number = np.arange(len(item)) - np.repeat(np.cumsum(counts.sum(axis=1)) - counts.sum(axis=1), counts.sum(axis=1))
    names = np.asarray(_CIFAR10_CLASSES)
    items = np.arange(len(counts))
    frame = pd.DataFrame(
        {
            "item": item,
            "annotator": [f"picture {i}, label {k}" for i, k in zip(item, number + 1)],
            "label": names[label],
        }
    )
    return bundle(
        CIFAR10H,
        items=items,
        annotations=Labels.from_frame(frame, items=items, classes=names),
        counts=pd.DataFrame(counts, index=pd.Index(items, name="item"), columns=names),
    )


def _numbers(path: Path, names: list[str]) -> pd.DataFrame:
    """Read columns of integers: of text without names, or of a compressed table with names."""
    if path.suffix == ".txt":
        return pd.read_csv(path, sep=r"\s+", header=None, names=names)
    return pd.read_csv(path).set_axis(names, axis=1)


def _memberships(answers: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return one row for each item in the column "groups" ("|" between groups, blanks between items)."""
    groups = answers[by].assign(item=answers["groups"].str.split("|")).explode("item", ignore_index=True)
    groups["group"] = groups.groupby(by, sort=False).cumcount() + 1
    return groups.assign(item=groups["item"].str.split()).explode("item", ignore_index=True)


def _query_kind(file: str) -> str:
    """Return the kind of question of a file: "radio-2", "radio-2-pilot", "drag-3"."""
    words = file.split("-")
    if file.startswith("sd-rq-wp-"):
        return f"drag-{words[3]}"
    return f"{words[0]}-{words[1]}" + ("-pilot" if "pilot" in words else "")


def _blocks_to_memberships(pairs: np.ndarray) -> pd.DataFrame:
    """Return groupings from judged pairs (first, second, worker, same) in blocks that each hold all pairs of 36 images.

    Items joined by "same" form a group; the source's blocks are transitive, so nothing is added or lost.
    """
    block = np.repeat(np.arange(len(pairs) // _PAIRS_A_BLOCK), _PAIRS_A_BLOCK)
    keys = np.concatenate([np.column_stack([block, pairs[:, side]]) for side in (0, 1)])
    nodes, node = np.unique(keys, axis=0, return_inverse=True)
    first, second = node.reshape(2, -1)[:, pairs[:, 3] == 1]
    joined = coo_array((np.ones(len(first)), (first, second)), shape=(len(nodes), len(nodes)))
    frame = pd.DataFrame(
        {
            "item": nodes[:, 1],
            "annotator": np.char.add("worker ", pairs[::_PAIRS_A_BLOCK, 2].astype(str))[nodes[:, 0]],
            "grouping": nodes[:, 0] + 1,
            "group": connected_components(joined, directed=False)[1] + 1,
        }
    )
    frame["group"] -= frame.groupby("grouping")["group"].transform("min") - 1
    return frame


def _read_idx(path: Path) -> np.ndarray:
    """Read an array of bytes in the idx format of MNIST: 0, 0, 8 for uint8, number of axes, their lengths, data."""
    content = gzip.decompress(path.read_bytes())
    shape = np.frombuffer(content, ">i4", count=content[3], offset=4)  # the number of dimensions, whose sizes follow
    return np.frombuffer(content, np.uint8, offset=4 + 4 * content[3]).reshape(shape)


_PAIRS_A_BLOCK = 36 * 35 // 2
