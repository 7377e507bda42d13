"""Counts and facts of the annotations of pictures and texts by workers, and the readers on small files."""

import gzip

import numpy as np
import pandas as pd
import pytest

from consilience.annotations import Labels
from consilience.datasets import (
    load_cifar10h,
    load_crowd_labels,
    load_dogs_birds,
    load_mnist_crowd,
    load_orchestra,
)
from consilience.datasets._folder import data_folder
from consilience.datasets.crowds import _query_kind
from consilience.errors import AnnotationWarning


def items_per_grouping(groupings):
    return groupings.to_frame().groupby(["annotator", "grouping"]).size().to_numpy()


def same_counts(groupings, target):
    """Count the pairs of a grouping: together and of one class, together, of one class, all; summed over groupings."""
    together_right = together = one_class = judged = 0
    for grouping in range(groupings.n_groupings):
        columns = np.flatnonzero(groupings.grouping_of_group == grouping)
        item, group = groupings.incidence[:, columns].nonzero()
        table = np.zeros((len(columns), target.max() + 1), dtype=int)
        np.add.at(table, (group, target[item]), 1)

        def pairs(counts):
            return int((counts * (counts - 1)).sum() // 2)

        together_right += pairs(table)
        together += pairs(table.sum(axis=1))
        one_class += pairs(table.sum(axis=0))
        judged += pairs(np.array([len(item)]))
    return together_right, together, one_class, judged


# pictures


@pytest.mark.parametrize("name", ["scenes", "imagenet"])
def test_orchestra(load, name):
    pictures = load(f"orchestra_{name}")
    sizes = items_per_grouping(pictures.annotations)
    assert len(sizes) == 485
    assert (sizes == 35).sum() == 483
    per_answer = pictures.annotations.summary().groups_per_grouping
    assert per_answer.min() >= 2
    assert per_answer.max() <= 10
    assert pictures.annotator_info["sample"].value_counts().to_dict() == {
        "random_samples": 205,
        "intelligent_samples/categorization": 130,
        "random_samples2": 75,
        "intelligent_samples": 75,
    }
    assert pictures.annotations.summary().n_unannotated_items == 0


def test_people_see_the_truth_of_the_pictures(load):
    for name in ("scenes", "imagenet"):
        pictures = load(f"orchestra_{name}")
        info = pictures.annotator_info
        for _, people in info.groupby("sample"):
            answers = pictures.annotations.restrict(annotators=people.index)
            together_right, together, one_class, judged = same_counts(answers, pictures.target)
            assert 0.855 <= together_right / one_class <= 0.955
            assert 0.685 <= 1 - (together - together_right) / (judged - one_class) <= 0.895


@pytest.mark.parametrize(
    ("name", "sizes", "kinds"),
    [
        ("dogs3", [172, 151, 150], {"radio-2": 300, "radio-2-pilot": 20, "radio-3": 300, "radio-4": 300}),
        (
            "birds5",
            [60, 60, 58, 57, 57, 50],
            {
                "radio-2": 300,
                "radio-2-pilot": 20,
                "radio-3": 300,
                "radio-4": 300,
                "drag-2": 300,
                "drag-3": 300,
                "drag-4": 300,
                "drag-5": 300,
            },
        ),
    ],
)
def test_dogs_and_birds(load, name, sizes, kinds):
    pictures = load(name)
    assert np.bincount(pictures.target).tolist() == sizes
    assert pictures.annotator_info["query"].value_counts().to_dict() == kinds
    per_kind = pictures.annotator_info.loc[pictures.grouping_info.index.get_level_values("annotator"), "query"]
    n_pictures = per_kind.str.split("-").str[1].astype(int).to_numpy()
    n_questions = {2: 30, 3: 20, 4: 15, 5: 12}
    assert (
        len(n_pictures)
        == sum(n * n_questions[int(kind.split("-")[1])] for kind, n in kinds.items())
        == pictures.annotations.n_groupings
    )
    assert sorted(items_per_grouping(pictures.annotations)) == sorted(n_pictures)


# error rates of pairs as the source's repository publishes them, or as counted when the files were collected
@pytest.mark.parametrize(
    ("name", "query", "error"),
    [
        ("birds5", "radio-2", 0.263),
        ("birds5", "drag-5", 0.180),
        ("dogs3", "radio-2", 0.315),
        ("birds5", "radio-3", 0.233),
        ("birds5", "radio-4", 0.267),
        ("birds5", "drag-2", 0.158),
        ("birds5", "drag-3", 0.154),
        ("birds5", "drag-4", 0.168),
        ("dogs3", "radio-3", 0.321),
        ("dogs3", "radio-4", 0.367),
    ],
)
def test_error_rates_of_dogs_and_birds(load, name, query, error):
    pictures = load(name)
    info = pictures.annotator_info
    answers = pictures.annotations.restrict(annotators=info.index[info["query"] == query])
    frame = answers.to_frame()
    frame["target"] = pictures.target[pictures.item_names.get_indexer(frame["item"])]
    by_answer = ["annotator", "grouping"]

    def pairs(columns):
        return frame.groupby(columns).size().pipe(lambda n: n * (n - 1) // 2).sum()

    both, together = pairs([*by_answer, "group", "target"]), pairs([*by_answer, "group"])
    one_class, judged = pairs([*by_answer, "target"]), pairs(by_answer)
    assert (together + one_class - 2 * both) / judged == pytest.approx(error, abs=0.0006)


def test_the_reader_of_orchestra(folder):
    (folder / "orchestra").mkdir()
    rows = [
        ("imagenet", "random_samples", 1, 1, "cat/1.jpg dog/2.jpg|cat/3.jpg"),
        ("imagenet", "random_samples", 1, 2, "cat/3.jpg"),
        ("scenes", "random_samples", 1, 1, "sea/1.jpg"),
    ]
    frame = pd.DataFrame(rows, columns=["set", "sample", "hit", "answer", "groups"])
    frame.to_csv(folder / "orchestra" / "answers.csv.gz", index=False)
    pictures = load_orchestra("imagenet")
    assert pictures.item_names.tolist() == ["cat/1.jpg", "cat/3.jpg", "dog/2.jpg"]
    assert pictures.target_names[pictures.target].tolist() == ["cat", "cat", "dog"]
    wide = pictures.annotations.to_matrix().astype(float).fillna(0)
    assert wide.columns.tolist() == ["random_samples, task 1, answer 1", "random_samples, task 1, answer 2"]
    assert wide.to_numpy(int).tolist() == [[1, 0], [2, 1], [1, 0]]


def test_the_reader_of_dogs_and_birds(folder):
    (folder / "dogs3-birds5").mkdir()
    rows = [
        ("radio-2-image-dogs3-2023", 0, 1, "1 0", "1|0", 900),
        ("radio-2-image-pilot-dogs3", 0, 1, "0 2", "0 2", 800),
        ("radio-2-image-birds5-2023", 0, 1, "7 8", "7 8", 700),
    ]
    frame = pd.DataFrame(rows, columns=["file", "worker", "question", "images", "groups", "time_ms"])
    frame.to_csv(folder / "dogs3-birds5" / "queries.csv.gz", index=False)
    truth = pd.DataFrame({"set": ["birds5", "dogs3", "dogs3", "dogs3"], "image": [0, 2, 0, 1], "class": ["x", 2, 0, 1]})
    truth.to_csv(folder / "dogs3-birds5" / "truth.csv", index=False)
    np.savez(folder / "dogs3-birds5" / "dogs3_thumbs32.npz", X=np.zeros((3, 2, 2, 3), np.uint8))
    dogs = load_dogs_birds("dogs3")
    assert dogs.item_names.tolist() == dogs.target.tolist() == [0, 1, 2]
    wide = dogs.annotations.to_matrix().astype(float).fillna(0)
    assert wide["radio-2 worker 0"].to_numpy(int).ravel().tolist() == [2, 1, 0]
    assert wide["radio-2-pilot worker 0"].to_numpy(int).ravel().tolist() == [1, 0, 1]
    assert dogs.grouping_info.loc[("radio-2 worker 0", 1), "time_ms"] == 900


def test_kinds_of_questions_are_read_off_file_names():
    assert _query_kind("radio-4-image-birds5-2023") == "radio-4"
    assert _query_kind("radio-2-image-pilot-dogs3") == "radio-2-pilot"
    assert _query_kind("sd-rq-wp-3-birds5-2023") == "drag-3"


# MNIST


def test_mnist_crowd(load):
    crowd = load("mnist_crowd")
    annotations = crowd.annotations
    assert (annotations.n_groupings, annotations.n_annotators) == (91, 48)
    np.testing.assert_array_equal(items_per_grouping(annotations), np.full(91, 36))
    per_grouping = annotations.summary().groups_per_grouping
    assert (per_grouping.min(), per_grouping.max()) == (4, 10)
    assert per_grouping.mean() == pytest.approx(9.6, abs=0.05)
    per_worker = np.bincount(annotations.annotator_of_grouping)
    assert (per_worker.min(), per_worker.max()) == (1, 8)
    assert (np.diff(annotations.incidence.indptr) > 1).sum() == 465  # images in more than one grouping


def test_mnist_crowd_keeps_the_judged_pairs(load):
    """5922 pairs were judged the same, as many as are together, so each grouping was transitive."""
    crowd = load("mnist_crowd")
    together_right, together, one_class, judged = same_counts(crowd.annotations, crowd.target)
    assert (together, judged) == (5922, 57330)
    assert together_right / one_class == pytest.approx(0.983, abs=0.0006)
    disagreeing = (together - together_right) + (one_class - together_right)
    assert 1 - disagreeing / judged == pytest.approx(0.9912, abs=0.0001)


@pytest.mark.slow
def test_mnist_images_are_those_of_their_numbers(load):
    """The digits of the annotated images are those of MNIST's training file, whose first labels are well known."""
    load("mnist_crowd")
    everything = load_mnist_crowd(all_images=True)
    assert everything.data.shape == (60000, 784)
    assert everything.target[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]
    assert everything.annotations.n_groupings == 91
    annotated = load("mnist_crowd")
    chosen = annotated.item_names.to_numpy()
    np.testing.assert_array_equal(everything.images[chosen], annotated.images)
    np.testing.assert_array_equal(everything.target[chosen], annotated.target)


def test_the_reader_of_mnist_crowd(folder):
    for name in ("mnist", "mnist-crowd"):
        (folder / name).mkdir()
    rng = np.random.default_rng(0)
    blocks, expected = [], []
    for worker, first in [(4, 0), (9, 20), (4, 50)]:
        images = rng.permutation(np.arange(first, first + 36))
        group = rng.integers(5, size=36)
        i, j = np.triu_indices(36, 1)
        blocks.append(np.column_stack([images[i], images[j], np.full(630, worker), group[i] == group[j]]))
        expected.append({frozenset(images[group == g].tolist()) for g in set(group.tolist())})
    np.save(folder / "mnist-crowd" / "crowd_annotations_mnist.npy", np.concatenate(blocks))
    pictures = rng.integers(256, size=(100, 2, 3), dtype=np.uint8)
    header = bytes([0, 0, 8, 3]) + np.array(pictures.shape, ">i4").tobytes()
    (folder / "mnist" / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(header + pictures.tobytes()))
    digits = bytes([0, 0, 8, 1, 0, 0, 0, 100]) + bytes(k % 10 for k in range(100))
    (folder / "mnist" / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(digits))
    crowd = load_mnist_crowd()
    assert crowd.item_names.tolist() == list(range(86))
    np.testing.assert_array_equal(crowd.images, pictures[:86])
    np.testing.assert_array_equal(crowd.target, np.arange(86) % 10)
    frame = crowd.annotations.to_frame()
    found = frame.groupby(["annotator", "grouping", "group"])["item"].apply(frozenset)
    assert [
        set(found[annotator, block]) for annotator, block in [("worker 4", 1), ("worker 9", 2), ("worker 4", 3)]
    ] == expected


# labels


@pytest.mark.parametrize(
    ("name", "n_labels", "sizes", "accuracy"),
    [
        ("bluebird", 4212, [60, 48], 0.636),
        ("dog", 8070, [172, 185, 218, 232], 0.696),
        ("rte", 8000, [400, 400], 0.729),
    ],
)
def test_crowd_labels(load, name, n_labels, sizes, accuracy):
    crowd = load(name)
    assert crowd.annotations.n_rows == n_labels
    assert np.bincount(crowd.target).tolist() == sizes
    assert crowd.annotations.classes.tolist() == crowd.target_names.tolist()
    assert crowd.annotations.to_matrix().notna().sum().sum() == n_labels  # nobody labels an item twice
    right = crowd.annotations.label == crowd.target[crowd.annotations.item]
    assert right.mean() == pytest.approx(accuracy, abs=0.0006)


def test_the_reader_of_crowd_labels(folder):
    (folder / "crowd-labels").mkdir()
    (folder / "crowd-labels" / "dog_crowd.txt").write_text("1\t1\t4\n3\t2\t2\n1\t2\t2\n")
    (folder / "crowd-labels" / "dog_truth.txt").write_text("1\t4\n2\t2\n3\t3\n")
    dogs = load_crowd_labels("dog")
    assert dogs.item_names.tolist() == [1, 2, 3]
    assert dogs.target_names[dogs.target].tolist() == [4, 2, 3]
    frame = dogs.annotations.to_frame().sort_values(["item", "annotator"])
    assert frame[["item", "annotator", "label"]].to_numpy().tolist() == [
        [1, "worker 1", 4],
        [1, "worker 2", 2],
        [3, "worker 2", 2],
    ]


@pytest.mark.parametrize(
    ("name", "n_lines", "n_repeated", "n_duplicates", "n_cells"),
    [
        ("cf_amt", 6030, 5, 5, 0),
        ("sp_amt", 10_000, 0, 0, 0),
        ("zencrowd_in", 11_205, 503, 579, 131),
        ("sentiment", 20_000, 0, 0, 0),
        ("adult", 92_721, 2770, 2773, 149),
        ("fact_eval", 216_725, 1703, 1765, 45),
    ],
)
def test_repeated_labels_of_workers(load, name, n_lines, n_repeated, n_duplicates, n_cells):
    """Repeated labels are left out and counted, contradictions are kept, as in the published benchmark."""
    labels = load(name).annotations
    raw = pd.read_csv(data_folder() / f"crowd-labels/{name}_label.csv.gz").set_axis(
        ["item", "annotator", "label"], axis=1
    )
    assert len(raw) == n_lines
    assert len(raw[raw.duplicated()].drop_duplicates()) == n_repeated  # some more than once
    assert labels.n_rows == n_lines - n_duplicates
    assert (labels.to_frame().groupby(["item", "annotator"]).size() > 1).sum() == n_cells
    if n_duplicates:  # who reads the source's file is told, and gets the same labels
        raw["annotator"] = "worker " + raw["annotator"].astype(str)
        with pytest.warns(AnnotationWarning, match=f"^{n_duplicates} exact duplicates of labels are left out: "):
            direct = Labels.from_frame(raw, items=labels.items)
        assert direct == labels


@pytest.mark.parametrize(
    ("name", "sizes", "accuracy"),
    [
        ("cf_amt", [57, 70, 72, 92, 9], 0.7049),
        ("sp_amt", [245, 255], 0.8935),
        ("zencrowd_in", [1597, 443], 0.6748),
        ("sentiment", [528, 472], 0.6865),
        ("adult", [187, 61, 36, 49], 0.6815),
        ("fact_eval", [19, 531, 26], 0.8949),
    ],
)
def test_labels_of_the_published_benchmark(load, name, sizes, accuracy):
    """Sizes of the classes and the share of right labels, counted from the source's files with pandas alone."""
    crowd = load(name)
    known = ~np.isnan(crowd.target)
    assert np.bincount(crowd.target[known].astype(int)).tolist() == sizes
    assert crowd.annotations.classes.tolist() == crowd.target_names.tolist()
    said = known[crowd.annotations.item]
    right = crowd.annotations.label == crowd.target[crowd.annotations.item]
    assert right[said].mean() == pytest.approx(accuracy, abs=0.00006)
    assert not right[~said].any()


def test_the_reader_of_labels_with_some_truths(folder):
    (folder / "crowd-labels").mkdir()
    labels = pd.DataFrame([(7, 0, 2), (3, 0, 1), (7, 1, 0), (7, 0, 2), (7, 1, 2)], columns=["item", "worker", "label"])
    truth = pd.DataFrame({"item": [5, 7], "truth": [0, 2]})
    labels.to_csv(folder / "crowd-labels" / "adult_label.csv.gz", index=False)
    truth.to_csv(folder / "crowd-labels" / "adult_truth.csv.gz", index=False)
    pages = load_crowd_labels("adult")
    assert pages.item_names.tolist() == [3, 5, 7]
    np.testing.assert_array_equal(pages.target, [np.nan, 0, 2])
    assert pages.target_names.tolist() == [0, 1, 2]
    assert pages.annotations.to_frame().to_numpy().tolist() == [
        [3, "worker 0", 1],
        [7, "worker 0", 2],
        [7, "worker 1", 0],
        [7, "worker 1", 2],
    ]


@pytest.mark.slow
def test_cifar10h(load):
    pictures = load("cifar10h")
    labels = pictures.annotations
    assert labels.n_rows == labels.n_annotators == 511_000
    per_picture = np.diff(labels.indptr)
    assert (per_picture.min(), per_picture.max()) == (47, 63)
    assert labels.classes.tolist() == pictures.counts.columns.tolist()
    counted = np.bincount(labels.item * 10 + labels.label, minlength=100_000).reshape(10_000, 10)
    np.testing.assert_array_equal(counted, pictures.counts)
    # the first pictures of CIFAR-10's test file are well known
    assert pictures.counts.idxmax(axis=1)[:5].tolist() == ["cat", "ship", "ship", "airplane", "frog"]


def test_the_reader_of_cifar10h(folder):
    (folder / "cifar10h").mkdir()
    counts = np.zeros((3, 10), np.int16)
    counts[0, [3, 5]] = [2, 1]
    counts[2, 9] = 1
    np.save(folder / "cifar10h" / "cifar10h-counts.npy", counts)
    pictures = load_cifar10h()
    assert pictures.target is None
    np.testing.assert_array_equal(pictures.counts, counts)
    assert pictures.annotations.n_items == 3
    assert pictures.annotations.to_frame().to_numpy().tolist() == [
        [0, "picture 0, label 1", "cat"],
        [0, "picture 0, label 2", "cat"],
        [0, "picture 0, label 3", "dog"],
        [2, "picture 2, label 1", "truck"],
    ]
