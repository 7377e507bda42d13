"""`OrdinalRatings` over partitions: as in memory, for any partitioning."""

import numpy as np
import pandas as pd
import pytest

from consilience.consensus import DawidSkene, OrdinalRatings
from consilience.errors import AnnotationWarning, InputError
from consilience.inference import parts
from consilience.partitions import PartitionedTable, fit, item_results, write_item_results
from consilience.simulation import simulate_copies, simulate_ratings
from tests.partitions import made, same_fit
from tests.partitions.test_fitting import PARTITIONINGS
from tests.quick_cases import quick_in_turn

ARRAYS = ("spread_of_items_", "thresholds_")
KIND = pd.CategoricalDtype(["weak", "fair", "good", "fine", "best"], ordered=True)


def ratings(n_items=150, n_raters=6, *, seed=0, **options):
    """Ratings from 1 to 5 by raters who differ, as a long table."""
    values = np.random.default_rng(seed).normal(3, 1.2, n_items).clip(0.51, 5.49)
    options = {"annotators_per_item": 4, **options}
    labels = simulate_ratings(values, n_annotators=n_raters, random_state=seed, **options)
    return labels.to_frame().astype({"annotator": object})


def in_words(frame):
    """The same as an ordered categorical."""
    return frame.assign(label=pd.Categorical.from_codes(frame["label"] - 1, dtype=KIND))


def assert_same_fit(frames, settings=None, **arguments):
    """Fit both ways, and compare."""
    here, there = same_fit.assert_same_fit(OrdinalRatings(**settings or {}), frames, arrays=ARRAYS, **arguments)
    assert (here.reason_, here.annotator_model_) == (there.reason_, there.annotator_model_)
    for labels in PartitionedTable(frames).labels():
        if labels.n_rows:
            values = here.values_[here.items_.get_indexer(labels.items)]
            np.testing.assert_allclose(there.predict_value(labels), values, rtol=1e-6)
    return here, there


@pytest.mark.parametrize("cut", quick_in_turn(PARTITIONINGS.values(), 3), ids=PARTITIONINGS)
def test_the_fit_is_that_in_memory(cut):
    here, _ = assert_same_fit(cut(ratings()))
    assert here.annotator_model_ == "individual"


@pytest.mark.parametrize("seed", range(6))
def test_tiny_tables_are_fitted_as_in_memory(seed):
    """Whatever they lack: second labels, levels, raters or spread; some of them fall back to the mean."""
    rng = np.random.default_rng(seed)
    n_rows, n_levels = int(rng.integers(1, 12)), int(rng.integers(1, 5))
    rows = {"item": rng.integers(4, size=n_rows), "annotator": rng.choice(["Ann", "Bo", "Cy"], n_rows)}
    frame = pd.DataFrame(rows | {"label": 2 * rng.integers(n_levels, size=n_rows)})
    alone = [one for _, one in frame.groupby("item")]
    for frames in ([frame], made.cut(frame, 2), [*alone, frame[:0]]):
        assert_same_fit(frames, {"max_iter": 5, "tol": 0.0}, tolerance=1e-8)


@pytest.mark.parametrize(
    "settings",
    quick_in_turn(
        [
            {"annotator_model": "equal"},
            {"annotator_model": "individual", "calibrate": False},
            {"levels": [0, 1, 2, 3, 4, 5, 6]},
            {"copies": [["annotator 1", "annotator 4"], ["annotator 2", "annotator 3"]]},
        ],
        1,
        every=2,
    ),
    ids=str,
)
def test_the_parameters_mean_the_same(settings):
    assert_same_fit(made.cut(ratings(), 3), settings)


@pytest.mark.parametrize("options", [{"noise": 4.0}, {"levels": [1, 2]}, {"n_raters": 1, "annotators_per_item": None}])
def test_the_mean_is_taken_for_the_same_reason(options):
    here, there = assert_same_fit(made.cut(ratings(60, **options), 4))
    assert there.notes_ == here.notes_ != []


def test_copies_weigh_together_as_in_memory():
    labels = simulate_copies(
        made.whole([ratings(400)]).as_ratings(), "annotator 2", n_copies=2, alike=0.97, random_state=0
    )
    frames = made.cut(labels.to_frame().astype({"annotator": object}), 4)
    here, there = assert_same_fit(frames, {"copies": "auto"})
    assert here.copies_["annotators"].tolist() == there.copies_["annotators"].tolist() != []
    with pytest.warns(AnnotationWarning, match="OrdinalRatings: The annotators .* do not agree like that"):
        fit(OrdinalRatings(copies="auto"), PartitionedTable(frames))


def test_the_order_comes_from_numbers_categories_or_the_user():
    frame = ratings(60)
    frame = frame[frame["label"] != 2]
    _, numbers = assert_same_fit(made.cut(frame, 3))
    assert numbers.classes_.tolist() == [1, 2, 3, 4, 5]
    halves = frame.assign(label=(frame["label"] / 2).map("{:g}".format))  # as in the text of a file
    assert assert_same_fit(made.cut(halves, 3))[1].classes_.tolist() == [0.5, 1.5, 2.0, 2.5]
    words = in_words(frame)
    _, ordered = assert_same_fit([words[:0], *made.cut(words, 3)])
    assert ordered.classes_.tolist() == list(KIND.categories)
    plain = words.astype({"label": object})
    listed = fit(OrdinalRatings(levels=list(KIND.categories)), PartitionedTable(made.cut(plain, 3)))
    np.testing.assert_allclose(listed.lower_bounds_, ordered.lower_bounds_)
    with pytest.raises(InputError, match=r"^OrdinalRatings: Labels that are not numbers, such as 'best'"):
        fit(OrdinalRatings(), PartitionedTable(made.cut(plain, 3)))
    first, second = made.cut(words, 2)
    turned = second.astype({"label": pd.CategoricalDtype(KIND.categories[::-1], ordered=True)})
    with pytest.raises(InputError, match="have no order"):
        fit(OrdinalRatings(), PartitionedTable([first, turned]))


def test_levels_with_an_order_keep_it_in_every_model():
    frame = in_words(ratings(60))
    with pytest.warns(AnnotationWarning, match="levels with an order"):
        here = DawidSkene(subtypes=1).fit(made.whole([frame]))
    with pytest.warns(AnnotationWarning, match="levels with an order"):
        there = fit(DawidSkene(subtypes=1), PartitionedTable(made.cut(frame, 3)))
    assert here.classes_.tolist() == there.classes_.tolist() == list(KIND.categories)


def test_continuous_ratings_are_refused():
    frame = ratings().assign(label=lambda table: np.random.default_rng(0).normal(size=len(table)))
    with pytest.raises(InputError, match=r"at most 101 levels\. Got 600; round them to fewer"):
        fit(OrdinalRatings(), PartitionedTable(made.cut(frame, 3)))


def test_an_interrupted_fit_goes_on(tmp_path):
    table, path = PartitionedTable(made.cut(ratings(60), 3)), tmp_path / "fit.npz"
    whole = fit(OrdinalRatings(), table)
    with made.interrupted_after(4 * len(table), parts, "sum_posteriors"):
        fit(OrdinalRatings(), table, checkpoint=path)
    resumed = fit(OrdinalRatings(), table, checkpoint=path)
    assert resumed.lower_bounds_.tolist() == whole.lower_bounds_.tolist()
    pd.testing.assert_frame_equal(resumed.annotators_, whole.annotators_, rtol=0, atol=0)
    with pytest.raises(InputError, match="is the checkpoint of another fit: its parameters differ"):
        fit(OrdinalRatings(calibrate=False), table, checkpoint=path)


@pytest.mark.slow
def test_a_cluster_fits_as_one_thread_does(client, tmp_path):
    table = PartitionedTable(made.cut(ratings(), 5))
    here, there = fit(OrdinalRatings(), table), fit(OrdinalRatings(), table, client=client)
    assert here.lower_bounds_.tolist() == there.lower_bounds_.tolist()
    pd.testing.assert_frame_equal(here.annotators_, there.annotators_, rtol=0, atol=0)
    written = [pd.read_parquet(path) for path in write_item_results(there, table, tmp_path, client=client)]
    pd.testing.assert_frame_equal(pd.concat(written), pd.concat(item_results(here, table)), check_dtype=False)


def test_an_earlier_fit_in_memory_leaves_no_items():
    frame = ratings(60)
    model = OrdinalRatings().fit(made.whole([frame]))
    fit(model, PartitionedTable(made.cut(frame, 3)))
    assert not {"items_", "labels_", "responsibilities_", "values_", "intervals_"} & set(vars(model))
