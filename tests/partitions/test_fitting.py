"""DawidSkene fitted to partitions is DawidSkene fitted in memory."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from consilience import Labels
from consilience.consensus import DawidSkene, ProductMixture, SpectralEM, TagConsensus
from consilience.consensus.labels import samples
from consilience.consensus.labels.copies_result import copies_of
from consilience.errors import AnnotationWarning, InputError
from consilience.inference import parts
from consilience.inference.iterate import Outcome
from consilience.partitions import PartitionedItems, PartitionedTable, fit, item_results, write_item_results
from consilience.partitions.engine.checkpoint import runs_at
from consilience.partitions.models import label_parts
from consilience.partitions.models.registry import MODELS
from consilience.registry import ESTIMATORS
from consilience.simulation import simulate_copies
from tests.partitions import made, same_fit
from tests.quick_cases import quick_in_turn

ASKED_FOR = {
    "KCC": {"n_clusters": 2},
    "MCVC": {"n_clusters": 2},
    "MECC": {"n_clusters": 2},
    "PartitionLabelModel": {"prior_variance": 1.0},
}

PARTITIONINGS = {
    "one": lambda frame: [frame],
    "interleaved": lambda frame: made.cut(frame, 5),
    "skewed": lambda frame: [frame[frame["item"] == 7], frame[frame["item"] != 7]],
    "with empty ones": lambda frame: [frame[:0], frame[:0], *made.cut(frame, 2), frame[:0]],
    "an item each": lambda frame: [one for _, one in frame[frame["item"] < 40].groupby("item")],
}


def assert_same_fit(settings, frames, **arguments):
    """Fit both ways, and compare."""
    arrays, tables = ("class_proportions_", "temperature_"), ("confusion_counts_",)
    return same_fit.assert_same_fit(DawidSkene(**settings), frames, arrays=arrays, tables=tables, **arguments)


@pytest.mark.parametrize("cut", quick_in_turn(PARTITIONINGS.values(), 1), ids=PARTITIONINGS)
def test_the_fit_is_that_in_memory(cut):
    assert_same_fit({"subtypes": 1}, cut(made.crowd()))


@pytest.mark.parametrize("n_jobs", [3, None])
def test_threads_change_no_digit(n_jobs):
    table = PartitionedTable(made.cut(made.crowd(), 5))
    one, several = fit(DawidSkene(subtypes=1), table), fit(DawidSkene(subtypes=1), table, n_jobs=n_jobs)
    assert one.lower_bounds_.tolist() == several.lower_bounds_.tolist()
    pd.testing.assert_frame_equal(one.confusion_matrices_, several.confusion_matrices_, rtol=0, atol=0)


@pytest.mark.parametrize("n_sweeps", [pytest.param(1, marks=pytest.mark.slow), 2])
@pytest.mark.parametrize("cut", quick_in_turn(PARTITIONINGS.values(), 2), ids=PARTITIONINGS)
def test_each_sweep_is_that_in_memory(cut, n_sweeps):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        settings = {"subtypes": 1, "max_iter": n_sweeps, "copies": None, "tol": 0.0}
        here, there = assert_same_fit(settings, cut(made.crowd()))
    np.testing.assert_allclose(there.confusion_counts_, here.confusion_counts_, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(there.lower_bounds_, here.lower_bounds_, rtol=1e-10)


@pytest.mark.parametrize(
    "settings",
    quick_in_turn(
        [
            {"confusion": "one-coin"},
            {"confusion": "one-coin", "prior": None},
            {"prior": None},
            {"subtypes": 1, "calibrate": False, "copies": None},
            {"subtypes": 1, "copies": [["annotator 1", "annotator 4"], ["annotator 2", "annotator 3"]]},
        ],
        2,
        every=2,
    ),
    ids=str,
)
def test_the_parameters_mean_the_same(settings):
    assert_same_fit(settings, made.cut(made.crowd(), 3))


def test_labels_of_a_second_occasion_and_items_without_labels_count_as_in_memory():
    frame = made.crowd()
    again = frame[:40].assign(label="cow")
    blank = pd.DataFrame({"item": range(600, 606), "annotator": None, "label": None})
    frames = made.cut(pd.concat([frame, again[again["label"] != frame["label"][:40]], blank]), 4)
    here, _ = assert_same_fit({"subtypes": 1}, frames)
    assert pd.isna(here.labels_).sum() == 6


def test_the_cautious_prior_of_single_labels_is_that_in_memory():
    frame = made.crowd()
    number = frame.groupby("item").cumcount()
    few = frame[number < 1 + (frame.groupby("item").ngroup() < 20)]
    here, there = assert_same_fit({"subtypes": 1, "copies": None}, made.cut(few, 3))
    assert here.is_cautious_
    assert there.is_cautious_
    assert here.notes_ == there.notes_ != []


def test_an_annotator_in_one_partition_only_is_fitted_and_stays_in_order():
    first, second = made.cut(made.crowd(), 2)
    late = second[:30].assign(annotator="a late one", label=lambda frame: frame["label"])
    _, there = assert_same_fit({"subtypes": 1}, [first, pd.concat([second, late])])
    assert there.annotators_.index[-1] == "a late one"


def test_names_that_are_numbers_or_of_several_types_are_kept():
    frame = made.crowd()
    codes = frame["label"].map({"cat": 0, "cow": 1, "dog": 2})
    _, there = assert_same_fit({"subtypes": 1}, made.cut(frame.assign(label=codes), 3))
    assert there.classes_.tolist() == [0, 1, 2]
    mixed = frame["label"].map({"cat": 0, "cow": "cow", "dog": "dog"})
    assert_same_fit({"subtypes": 1}, made.cut(frame.assign(label=mixed), 3))


def test_one_class_and_one_label_an_item():
    frame = made.crowd()
    assert_same_fit({"subtypes": 1}, made.cut(frame.assign(label="cat"), 3))
    once = frame.drop_duplicates("item")
    assert_same_fit({"subtypes": 1}, made.cut(once, 3))
    with pytest.warns(AnnotationWarning, match="no item has two labels"):
        fit(DawidSkene(subtypes=1), PartitionedTable(made.cut(once, 3)))


def with_constant(frame):
    """Two further annotators who say one thing to everything."""
    asked = frame.drop_duplicates("item")[:300]
    return pd.concat([frame, asked.assign(annotator="nay", label="dog"), asked.assign(annotator="yea", label="cat")])


def test_annotators_who_always_say_the_same_are_found_over_partitions():
    frames = made.cut(with_constant(made.crowd()), 4)
    here, there = assert_same_fit({"subtypes": 1}, frames)
    assert there.annotators_["accuracy_low"].isna().sum() == here.annotators_["accuracy_low"].isna().sum() == 2
    with pytest.warns(AnnotationWarning, match="2 annotators each gave the same label to everything.*'nay', 'yea'"):
        fit(DawidSkene(subtypes=1), PartitionedTable(frames))


def test_copies_are_found_over_partitions():
    labels = simulate_copies(made.whole([made.crowd(per_item=8)]), "annotator 2", n_copies=2, alike=1.0, random_state=0)
    frames = made.cut(labels.to_frame().astype({"annotator": object, "label": object}), 4)
    here, there = assert_same_fit({"subtypes": 1}, frames)
    assert len(there.copies_)
    apart = [copies.drop(columns="p_value") for copies in (here.copies_, there.copies_)]
    pd.testing.assert_frame_equal(*apart, rtol=1e-6)
    assert here.copies_["p_value"].max() < 1e-6 > there.copies_["p_value"].max()  # from other tenths of the items
    with pytest.warns(AnnotationWarning, match="Independent people do not agree like that"):
        fit(DawidSkene(subtypes=1), PartitionedTable(frames))


def test_samples_of_large_tables_are_as_good(monkeypatch):
    """With more labels than samples hold, the temperature and the copies come from fewer items."""
    frames = made.cut(made.crowd(3000), 5)
    exact = fit(DawidSkene(subtypes=1), PartitionedTable(frames))
    seen = []
    monkeypatch.setattr(samples, "MOST_LABELS", 3000)
    monkeypatch.setattr(label_parts, "MOST_PAIRS", 8000)
    monkeypatch.setattr(label_parts, "copies_of", lambda *given: seen.append(given[1]) or copies_of(*given))
    sampled = fit(DawidSkene(subtypes=1), PartitionedTable(frames))
    assert 450 <= len(seen[0]) <= 550  # of 3000 items with four labels, 16 pairs each
    assert sampled.lower_bounds_.tolist() == exact.lower_bounds_.tolist()
    assert sampled.temperature_ == pytest.approx(exact.temperature_, abs=0.1)


# ---- what a fitted model does


def test_a_fitted_model_predicts_and_knows_no_items():
    frame = made.crowd()
    model = DawidSkene(subtypes=1).fit(frame)
    here = model.predict(frame)
    fit(model, PartitionedTable(made.cut(frame, 3)))
    assert model.predict(frame).tolist() == here.tolist()
    assert not {"items_", "labels_", "responsibilities_", "subtypes_", "labels_apart_"} & set(vars(model))


def test_counts_are_the_history_of_a_later_fit():
    frame = made.crowd()
    first = fit(DawidSkene(subtypes=1), PartitionedTable(made.cut(frame, 3)))
    later = DawidSkene(subtypes=1).fit(frame[:100], history=first.confusion_counts_)
    assert set(later.annotators_.index) == set(first.annotators_.index)


@pytest.mark.parametrize("on_cluster", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_results_are_written_a_file_for_each_partition(tmp_path, request, on_cluster):
    pytest.importorskip("pyarrow")
    frames = [made.crowd()[:0], *made.cut(made.crowd(), 3)]
    table = PartitionedTable(frames)
    model = fit(DawidSkene(subtypes=1), table)
    client = request.getfixturevalue("client") if on_cluster else None
    paths = write_item_results(model, table, tmp_path, client=client)
    assert [path.name for path in paths] == [f"items-{number:05}.parquet" for number in (1, 2, 3)]
    empty, *others = item_results(model, table)
    assert not len(empty)
    for path, frame in zip(paths, others, strict=True):
        pd.testing.assert_frame_equal(pd.read_parquet(path), frame, check_dtype=False)
    assert len(pd.read_parquet(tmp_path)) == 600


def test_results_need_a_fitted_model_and_a_folder(tmp_path):
    table = PartitionedTable(made.cut(made.crowd(), 3))
    with pytest.raises(NotFittedError):
        next(item_results(DawidSkene(), table))
    with pytest.raises(InputError, match=r"There is no folder .*nowhere for the results of items"):
        write_item_results(fit(DawidSkene(subtypes=1), table), table, tmp_path / "nowhere")
    made.crowd().to_parquet(tmp_path / "all.parquet")
    with pytest.raises(InputError, match="holds the table itself"):
        write_item_results(fit(DawidSkene(subtypes=1), table), PartitionedTable(tmp_path), tmp_path)


# ---- checkpoints


@pytest.mark.parametrize("settings", [{"subtypes": 1}, {"confusion": "one-coin"}, {"prior": None}], ids=str)
def test_a_finished_fit_ends_from_its_checkpoint_as_before(tmp_path, settings, monkeypatch):
    table, path = PartitionedTable(made.cut(made.crowd(), 3)), tmp_path / "fit.npz"
    first = fit(DawidSkene(**settings), table, checkpoint=path)
    monkeypatch.setattr(parts, "sum_posteriors", None)  # no sweep is left
    again = fit(DawidSkene(**settings), table, checkpoint=path)
    assert again.lower_bounds_.tolist() == first.lower_bounds_.tolist()
    pd.testing.assert_frame_equal(again.annotators_, first.annotators_, rtol=0, atol=0)


@pytest.mark.parametrize("sweep", [2, 5])
def test_an_interrupted_fit_goes_on_from_its_last_sweep(tmp_path, monkeypatch, sweep):
    table, path = PartitionedTable(made.cut(made.crowd(), 3)), tmp_path / "fit.npz"
    whole = fit(DawidSkene(subtypes=1), table)
    with made.interrupted_after(sweep * len(table) + 1, parts, "sum_posteriors"):
        fit(DawidSkene(subtypes=1), table, checkpoint=path)
    swept = []
    sums = parts.sum_posteriors
    monkeypatch.setattr(parts, "sum_posteriors", lambda part, *given: swept.append(part) or sums(part, *given))
    resumed = fit(DawidSkene(subtypes=1), table, checkpoint=path)
    assert resumed.lower_bounds_.tolist() == whole.lower_bounds_.tolist()
    pd.testing.assert_frame_equal(resumed.annotators_, whole.annotators_, rtol=0, atol=0)
    assert len(swept) == len(table) * (whole.n_iter_ - sweep + 1)  # the E-step of the start is sweep 0


def test_the_checkpoint_of_another_fit_is_refused(tmp_path):
    frame, path = made.crowd(), tmp_path / "fit.npz"
    table = PartitionedTable(made.cut(frame, 3))
    fit(DawidSkene(subtypes=1), table, checkpoint=path)
    with pytest.raises(InputError, match="is the checkpoint of another fit: its labels differ"):
        fit(DawidSkene(subtypes=1), PartitionedTable(made.cut(frame[:-1], 3)), checkpoint=path)
    with pytest.raises(InputError, match="is the checkpoint of another fit: its parameters differ"):
        fit(DawidSkene(subtypes=1, tol=1e-3), table, checkpoint=path)
    with pytest.raises(InputError, match=r"holds \d+ sweeps, more than max_iter=2"):
        fit(DawidSkene(subtypes=1, max_iter=2), table, checkpoint=path)
    with pytest.raises(InputError, match="is the checkpoint of another fit: its model differs"):
        fit(ProductMixture(copies=None, random_state=0), table, checkpoint=path)
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(InputError, match="is no checkpoint of a fit, or it is damaged"):
        fit(DawidSkene(subtypes=1), table, checkpoint=path)
    with pytest.raises(InputError, match="is in a folder that does not exist"):
        fit(DawidSkene(subtypes=1), table, checkpoint=tmp_path / "nowhere" / "fit.npz")


def test_a_sweep_that_lowers_the_bound_is_in_no_checkpoint(tmp_path):
    path, given = tmp_path / "fit.npz", {"max_iter": 9}
    run = (lambda: np.array([4.0]), lambda x: x / 2, lambda x: -abs(x[0] - 1))  # -1, 0 and -1/2
    first = runs_at(path, DawidSkene()).run(*run, **given)
    again = runs_at(path, DawidSkene()).run(*run, **given)
    for trace in (first, again):
        assert (trace.outcome, trace.state.tolist(), trace.lower_bounds) == (Outcome.FELL, [1.0], (-1.0, 0.0))


# ---- clusters


@pytest.mark.slow
def test_a_cluster_fits_as_one_thread_does(client):
    table = PartitionedTable(made.cut(with_constant(made.crowd()), 5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnnotationWarning)
        here, there = fit(DawidSkene(subtypes=1), table), fit(DawidSkene(subtypes=1), table, client=client)
    assert here.lower_bounds_.tolist() == there.lower_bounds_.tolist()
    pd.testing.assert_frame_equal(here.annotators_, there.annotators_, rtol=0, atol=0)


@pytest.mark.slow
def test_a_fit_survives_a_worker_that_is_killed_between_sweeps(client, tmp_path):
    table, path = PartitionedTable(made.cut(made.crowd(), 5)), tmp_path / "fit.npz"
    whole = fit(DawidSkene(subtypes=1), table)
    killed = made.kill_one_of(client, path)
    survived = fit(DawidSkene(subtypes=1), table, client=client, checkpoint=path)
    assert killed.is_set()
    assert survived.lower_bounds_.tolist() == whole.lower_bounds_.tolist()
    pd.testing.assert_frame_equal(survived.annotators_, whole.annotators_, rtol=0, atol=0)


# ---- what is refused


def test_the_models_are_those_of_the_registry():
    assert [kind.__name__ for kind in MODELS] == sorted(
        name for name, entry in ESTIMATORS.items() if entry.over_partitions is not None
    )
    for kind, how in MODELS.items():
        entry = ESTIMATORS[kind.__name__]
        how.require_fittable(kind(**entry.over_partitions | ASKED_FOR.get(kind.__name__, {})), None)
        assert how.reads_labels == (entry.reads == ("labels",))
        assert (PartitionedItems in how.tables) == (entry.kind == "semisupervised")


def test_what_partitions_cannot_fit_is_refused():
    table = PartitionedTable(made.cut(made.crowd(), 3))
    with pytest.raises(InputError, match=r"finds no subtypes of classes: .* Got subtypes='auto'"):
        fit(DawidSkene(), table)
    with pytest.raises(InputError, match=r"Give subtypes=1. Got subtypes=2\."):
        fit(DawidSkene(subtypes=2), table)
    with pytest.raises(InputError, match="The 'tol' parameter of DawidSkene must be"):
        fit(DawidSkene(subtypes=1, tol=-1), table)
    known = "DawidSkene, KCC, MCVC, MECC, OrdinalRatings, .* and SubsetFusion"
    with pytest.raises(InputError, match=f"Partitions can be fitted by {known}. Got a SpectralEM"):
        fit(SpectralEM(), table)
    with pytest.raises(InputError, match="Partitions do not fit TagConsensus: its classes are the sets of tags"):
        fit(TagConsensus(), table)
    with pytest.raises(InputError, match=r"The table of a DawidSkene must be a PartitionedTable. Got a DataFrame\."):
        fit(DawidSkene(subtypes=1), made.crowd())
    with pytest.raises(InputError, match=r"'n_jobs' must be None, a positive int or a negative one. Got 0\."):
        fit(DawidSkene(subtypes=1), table, n_jobs=0)
    with pytest.raises(InputError, match=r"must name annotators of the annotations\. Got 'nobody'"):
        fit(DawidSkene(subtypes=1, copies=[["annotator 1", "nobody"]]), table)


def test_a_table_without_labels_is_refused():
    frame = made.crowd()
    with pytest.raises(InputError, match="needs labels, and none of the 0 items has any"):
        fit(DawidSkene(subtypes=1), PartitionedTable([frame[:0]]))
    with (
        pytest.warns(AnnotationWarning, match="2,400 rows without a label left out"),
        pytest.raises(InputError, match="needs labels, and none of the 600 items has any"),
    ):
        fit(DawidSkene(subtypes=1), PartitionedTable([frame.assign(label=None)]))


def test_left_out_rows_are_told():
    frame = made.crowd()
    frames = made.cut(pd.concat([frame, frame[:3], frame[5:7].assign(label=None)]), 2)
    with pytest.warns(AnnotationWarning) as told:
        fit(DawidSkene(subtypes=1), PartitionedTable(frames))
    assert [str(one.message) for one in told] == [
        "3 rows that repeat others left out.",
        "2 rows without a label left out.",
    ]


def test_minus_one_has_to_be_explained():
    frame = made.crowd()
    codes = frame.assign(label=frame["label"].map({"cat": 0, "cow": 1, "dog": -1}))
    frames = made.cut(codes, 3)
    with pytest.raises(
        InputError, match=r"The label -1 in the column .* two ways with 0 and 1: .* missing=-1 if it is missing"
    ):
        fit(DawidSkene(subtypes=1), PartitionedTable(frames))
    assert fit(DawidSkene(subtypes=1), PartitionedTable(frames, missing=[])).classes_.tolist() == [-1, 0, 1]
    with pytest.warns(AnnotationWarning, match="^702 rows without a label left out"):
        without = fit(DawidSkene(subtypes=1), PartitionedTable(frames, missing=-1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnnotationWarning)
        here = DawidSkene(subtypes=1).fit(Labels.from_frame(codes, missing=-1))
    assert without.lower_bound_ == pytest.approx(here.lower_bound_)
