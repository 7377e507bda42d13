"""`StagewiseEM` over partitions: as in memory, for any partitioning."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from consilience.consensus import StagewiseEM
from consilience.consensus.labels import stagewise_em, stagewise_evidence
from consilience.errors import AnnotationWarning, InputError
from consilience.inference import pair_tables, parts
from consilience.partitions import PartitionedTable, fit, item_results
from consilience.simulation import simulate_copies, simulate_labels, sparse_crowd
from tests.consensus.labels.test_fall_back import links
from tests.partitions import made
from tests.partitions.test_fitting import PARTITIONINGS
from tests.quick_cases import quick_in_turn

FIXED = {"copies": None}
STAGES = FIXED | {"refine": None}
REFINEMENTS = ["informative", "all", None]


@pytest.fixture
def double(monkeypatch):
    """Dense tables in memory are counted in double precision, too."""
    monkeypatch.setattr(stagewise_evidence, "IN_MEMORY", np.float64)


def sparse(n_items=600, n_annotators=12, *, seed=0, alpha=0.5, accuracy=0.7, per_item=None):
    """Labels of three classes by a crowd of whom few can tell them, as a long table."""
    matrices = sparse_crowd(n_annotators, 3, alpha=alpha, accuracy=accuracy, random_state=seed)
    classes = np.array(["cat", "cow", "dog"])[np.random.default_rng(seed).choice(3, n_items, p=[0.5, 0.3, 0.2])]
    labels = simulate_labels(classes, confusion=matrices, annotators_per_item=per_item, random_state=seed)
    return labels.to_frame().astype({"annotator": object, "label": object})


def sets_of(names, trace):
    """Informative set in order of entry, those who entered together as a set."""
    entered = [set(each) for each in trace["entered"] if each]
    first = [{name for name in each if name in names} for each in entered]
    return [each for each in first if each], set(names) - set().union(*first)


def assert_same_fit(settings, frames, *, tolerance=1e-6, **arguments):
    """Fit both ways, and compare all attributes without an axis of items, and the results of items."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnnotationWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        here = StagewiseEM(**settings).fit(made.whole(frames))
        there = fit(StagewiseEM(**settings), PartitionedTable(frames), **arguments)
        results = pd.concat(item_results(there, PartitionedTable(frames), responsibilities=True))
    results = results.set_index("item").loc[here.items_]
    close = {"rtol": tolerance, "atol": tolerance}
    for name in ("n_iter_", "converged_", "n_clusters_", "n_components_", "fell_back_"):
        assert getattr(here, name) == getattr(there, name), name
    assert here.classes_.tolist() == there.classes_.tolist()
    np.testing.assert_allclose(here.weights_, there.weights_, **close)
    assert set(here.informative_set_) == set(there.informative_set_)
    assert sets_of(here.informative_set_, here.trace_) == sets_of(there.informative_set_, there.trace_)
    assert here.trace_["entered"].map(set).tolist() == there.trace_["entered"].map(set).tolist()
    numbers = here.trace_.columns.drop("entered")
    pd.testing.assert_frame_equal(here.trace_[numbers], there.trace_[numbers], **close)
    assert (here.starts_ is None) == (there.starts_ is None)
    if here.starts_ is not None:
        pd.testing.assert_frame_equal(here.starts_, there.starts_, **close)
    for name in ("annotators_", "confusion_matrices_"):
        pd.testing.assert_frame_equal(getattr(here, name), getattr(there, name), check_index_type=False, **close)
    names = here.annotators_.index
    pd.testing.assert_frame_equal(
        here.conditional_information(), there.conditional_information().loc[names, names], **close
    )
    known = ~pd.isna(here.labels_)
    assert known.tolist() == results["label"].notna().tolist()
    assert here.labels_[known].tolist() == results["label"][known].tolist()
    np.testing.assert_allclose(here.responsibilities_, results.iloc[:, 2:], **close)
    return here, there


@pytest.mark.parametrize(
    ("cut", "refine"),
    [
        pytest.param(cut, refine, id=f"{called}-{refine}", marks=() if turn % 3 == number else pytest.mark.slow)
        for turn, (called, cut) in enumerate(PARTITIONINGS.items())
        for number, refine in enumerate(REFINEMENTS)
    ],
)
def test_the_fit_is_that_in_memory(cut, refine):
    """Up to the single precision of tables in memory."""
    assert_same_fit(FIXED | {"refine": refine}, cut(sparse()))


@pytest.mark.parametrize("n_rounds", [*(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2, 3, 4)), 6])
@pytest.mark.parametrize("cut", quick_in_turn(PARTITIONINGS.values(), 1), ids=PARTITIONINGS)
def test_each_round_is_that_in_memory(cut, n_rounds, double):
    """Two annotators enter in rounds 1 and 2, with a split each; one each in rounds 4 and 5."""
    assert_same_fit(STAGES | {"max_iter": n_rounds}, cut(sparse()), tolerance=1e-10)


@pytest.mark.parametrize("refine", REFINEMENTS)
def test_refining_is_that_in_memory(refine, double):
    assert_same_fit(FIXED | {"refine": refine}, made.cut(sparse(seed=2), 4), tolerance=1e-9)


@pytest.mark.parametrize("is_dense", [True, False], ids=["dense", "listed"])
def test_dense_and_listed_tables_are_the_same(is_dense, double, monkeypatch):
    monkeypatch.setattr(pair_tables, "DENSE_SPEED", np.inf if is_dense else 1e-9)
    assert_same_fit(STAGES, made.cut(sparse(seed=1, per_item=8), 3), tolerance=1e-10)


@pytest.mark.parametrize(
    "settings",
    quick_in_turn(
        [
            {"n_clusters": 2},
            {"n_clusters": 5},
            {"n_clusters": 1, "refine": "all"},
            {"n_clusters": 5, "refine": "all"},
            {"n_clusters": 5, "refine": None, "weighted": False, "max_iter": 40},
            {"entry_level": 0.2, "level": 0.3},
        ],
        0,
        every=2,
    ),
    ids=str,
)
def test_the_parameters_mean_the_same(settings, double):
    assert_same_fit(FIXED | settings, made.cut(sparse(seed=3), 3))


@pytest.mark.parametrize("refine", REFINEMENTS)
def test_late_annotators_second_labels_and_items_without_labels_count_as_in_memory(refine, double):
    frame = sparse()
    again = frame[:60].assign(label="cow")
    blank = pd.DataFrame({"item": range(600, 606), "annotator": None, "label": None})
    first, second = made.cut(pd.concat([frame, again[again["label"] != frame["label"][:60]], blank]), 2)
    late = second[second["label"].notna()][:400].drop_duplicates("item").assign(annotator="a late one")
    here, there = assert_same_fit(FIXED | {"refine": refine}, [first, pd.concat([second, late])])
    assert pd.isna(here.labels_).sum() == 6
    assert there.annotators_.index[-1] == "a late one"


@pytest.mark.slow
def test_a_crowd_without_a_set_falls_back_as_in_memory(double):
    """One annotator is constant, and is not heard by all either."""
    frame = sparse(300, 24, seed=3, alpha=1.0, per_item=3)
    constant = frame.drop_duplicates("item").assign(annotator="constant", label="cow")
    here, there = assert_same_fit(FIXED, made.cut(pd.concat([frame, constant]), 3))
    assert here.fell_back_
    assert "constant" not in there.informative_set_


@pytest.mark.slow
def test_a_set_is_given_up_for_subtypes_as_in_memory(double):
    labels = links(1)[0]
    here, there = assert_same_fit(FIXED, made.cut(labels.to_frame().astype(object), 3))
    assert here.fell_back_
    assert there.annotators_["informative"].all()


def test_pairs_beyond_the_room_are_left_out_as_in_memory(double, monkeypatch):
    monkeypatch.setattr(pair_tables, "MOST_CELLS", 9 * 20)
    _, there = assert_same_fit(STAGES | {"max_iter": 4}, made.cut(sparse(per_item=7), 3), tolerance=1e-10)
    assert np.isfinite(there.conditional_information().to_numpy()).sum() == 2 * 20


def test_information_is_found_a_few_components_at_a_time(monkeypatch):
    table = PartitionedTable(made.cut(sparse(), 3))
    once = fit(StagewiseEM(**FIXED), table)
    monkeypatch.setattr(stagewise_evidence, "MOST_CELLS", 1)
    pd.testing.assert_frame_equal(fit(StagewiseEM(**FIXED), table).trace_, once.trace_, rtol=1e-12)


def test_new_labels_are_classified():
    frame = sparse()
    here = StagewiseEM(**FIXED).fit(made.whole([frame]))
    there = fit(StagewiseEM(**FIXED), PartitionedTable(made.cut(frame, 3)))
    assert there.predict(made.whole([frame])).tolist() == here.labels_.tolist()
    assert not hasattr(fit(here, PartitionedTable(made.cut(frame, 3))), "labels_")


# ---- checkpoints and clusters


@pytest.mark.parametrize(
    ("refine", "function", "n_calls"),
    [
        (None, "compare_posteriors", 6),
        ("informative", "sum_posteriors", 40),
        pytest.param("informative", "sum_posteriors", 4, marks=pytest.mark.slow),
        pytest.param("all", "sum_posteriors", 2, marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_an_interrupted_fit_goes_on(tmp_path, monkeypatch, refine, function, n_calls):
    table, path = PartitionedTable(made.cut(sparse(), 3)), tmp_path / "fit.npz"
    settings = FIXED | {"refine": refine}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        whole = fit(StagewiseEM(**settings), table)
    module = parts if function == "sum_posteriors" else stagewise_em
    with made.interrupted_after(n_calls * len(table), module, function), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit(StagewiseEM(**settings), table, checkpoint=path)
    monkeypatch.setattr(stagewise_em, "split_tables", None)  # the splits were before
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        resumed = fit(StagewiseEM(**settings), table, checkpoint=path)
        monkeypatch.setattr(module, function, None)  # no sweep is left
        again = fit(StagewiseEM(**settings), table, checkpoint=path)
    for model in (resumed, again):
        assert model.n_iter_ == whole.n_iter_
        pd.testing.assert_frame_equal(model.trace_, whole.trace_, rtol=0, atol=0)
        pd.testing.assert_frame_equal(model.annotators_, whole.annotators_, rtol=0, atol=0)
        pd.testing.assert_frame_equal(model.confusion_matrices_, whole.confusion_matrices_, rtol=0, atol=0)
    with pytest.raises(InputError, match="is the checkpoint of another fit: its parameters differ"):
        fit(StagewiseEM(**settings | {"n_clusters": 2}), table, checkpoint=path)


@pytest.mark.parametrize("n_jobs", [3, None])
@pytest.mark.slow
def test_threads_change_no_digit(n_jobs):
    table, settings = PartitionedTable(made.cut(sparse(), 5)), FIXED | {"refine": "all"}
    one, several = fit(StagewiseEM(**settings), table), fit(StagewiseEM(**settings), table, n_jobs=n_jobs)
    pd.testing.assert_frame_equal(one.trace_, several.trace_, rtol=0, atol=0)
    pd.testing.assert_frame_equal(one.confusion_matrices_, several.confusion_matrices_, rtol=0, atol=0)


@pytest.mark.slow
def test_a_cluster_fits_as_one_thread_does_and_survives_a_killed_worker(client, tmp_path):
    table, path = PartitionedTable(made.cut(sparse(2000), 5)), tmp_path / "fit.npz"
    here = fit(StagewiseEM(**FIXED), table)
    killed = made.kill_one_of(client, path)
    there = fit(StagewiseEM(**FIXED), table, client=client, checkpoint=path)
    assert killed.is_set()
    pd.testing.assert_frame_equal(here.trace_, there.trace_, rtol=0, atol=0)
    pd.testing.assert_frame_equal(here.annotators_, there.annotators_, rtol=0, atol=0)
    pd.testing.assert_frame_equal(here.confusion_matrices_, there.confusion_matrices_, rtol=0, atol=0)


# ---- copies


@pytest.mark.slow
def test_copies_weigh_together_as_in_memory(double):
    """The original has most labels, and stands for the group in both."""
    crowd = made.whole([sparse(alpha=0.8)])
    labels = simulate_copies(crowd, "annotator 2", n_copies=2, alike=0.97, random_state=0)
    frame = labels.to_frame().astype({"annotator": object, "label": object})
    frames = made.cut(frame[~(frame["annotator"].str.contains("copy") & (frame["item"] < 30))], 4)
    here, there = assert_same_fit({}, frames)
    assert here.copies_["annotators"].tolist() == there.copies_["annotators"].tolist() != []
    with pytest.warns(AnnotationWarning, match="StagewiseEM: The annotators .* do not agree like that"):
        fit(StagewiseEM(), PartitionedTable(frames))


# ---- what is refused, and told


def test_what_partitions_cannot_fit_is_refused(monkeypatch):
    table = PartitionedTable(made.cut(sparse(60), 3))
    with pytest.raises(InputError, match="The 'level' parameter of StagewiseEM must be"):
        fit(StagewiseEM(copies=None, level=2.0), table)
    with pytest.raises(InputError, match="The table of a StagewiseEM must be a PartitionedTable"):
        fit(StagewiseEM(copies=None), sparse(60))
    blank = pd.DataFrame({"item": [1, 2], "annotator": None, "label": None})
    with pytest.raises(InputError, match="StagewiseEM needs labels, and none of the 2 items has any"):
        fit(StagewiseEM(copies=None), PartitionedTable([blank]))
    with pytest.raises(InputError, match="StagewiseEM keeps a probability for each annotator, component and label"):
        fit(StagewiseEM(10**8, copies=None), table)
    monkeypatch.setattr(pair_tables, "DENSE_SPEED", 1e-9)
    monkeypatch.setattr(pair_tables, "MOST_COLABELS", 100)
    with pytest.raises(
        InputError, match=r"pairs of labels; at most 100 can be listed\. .* over partitions, give smaller ones"
    ):
        fit(StagewiseEM(copies=None), table)


def test_what_a_fit_in_memory_tells_is_told():
    table = PartitionedTable(made.cut(sparse(accuracy=1 / 3), 3))
    with pytest.warns(AnnotationWarning, match="StagewiseEM: Pairs of annotators distinguish 1 of 3 components"):
        fit(StagewiseEM(**STAGES), table)
    with pytest.warns(ConvergenceWarning, match="StagewiseEM: The state had not settled after max_iter=3 sweeps"):
        fit(StagewiseEM(max_iter=3, **STAGES), PartitionedTable(made.cut(sparse(), 3)))
