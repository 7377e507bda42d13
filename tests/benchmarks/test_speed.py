"""The page on speed agrees with the record of seconds; what is measured, and how, is what the page says."""

import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.experiments import Cell, Record, page
from benchmarks.speed import growth, jobs, labels, measuring, pairs, studies, subset_groupings, telling
from benchmarks.speed.__main__ import main
from benchmarks.speed.measuring import against_arithmetic, compared, exponent, in_turns, timed
from benchmarks.speed.speed import PAGE, PARTS, by_model, machines, targets, targets_of_jobs, targets_of_names
from benchmarks.speed.tables import table_of_comparisons, table_of_growth
from consilience import read_annotations
from consilience.consensus import DawidSkene, MajorityVote

ROOT = Path(__file__).parents[2]


def test_page_and_record_agree():
    assert list(page.problems(PAGE)) == []


def test_seconds_of_another_script_are_told(monkeypatch, capsys):
    monkeypatch.setattr(Record, "state", lambda record, cell, script: "another script")
    monkeypatch.setattr("sys.argv", ["benchmarks.speed", "--check"])
    assert main() == 1  # the page does not say so yet
    told = capsys.readouterr().out
    assert "speed: labels, DawidSkene(): 1 rows, another script; measure again on an idle machine" in told
    assert "speed: speed.rst differs from the record" in told


def test_the_page_gives_its_command():
    text = (ROOT / "docs" / "speed.rst").read_text("utf-8")
    assert text.startswith(".. Made from speed.rst.jinja and the record of results: python -m benchmarks.speed speed\n")
    assert "    python -m benchmarks.speed\n" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--confirm"], "Seconds cannot be confirmed: code that gives the same answers may take longer. Measure what"),
        (["--jobs", "2"], "Seconds are measured one at a time: --jobs must be 1. Got 2 instead."),
        (
            ["--check", "--again"],
            "--again computes; give it without --check, --write, --confirm, --changed and --compare.",
        ),
        (["--parts", "label"], "speed has no part label; it has machine, annotations, labels, "),
    ],
)
def test_what_cannot_be_done_is_refused(arguments, message, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["benchmarks.speed", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


# ---- measuring


def test_calls_run_in_turns_and_the_fastest_run_counts():
    order, seconds = [], iter([3.0, 5.0, 1.0, 4.0, 2.0, 6.0])

    def call(name):
        order.append(name)
        return {"seconds": next(seconds), "place": len(order)}

    runs = in_turns({"a": lambda: call("a"), "b": lambda: call("b")}, 3)
    assert order == ["a", "b"] * 3
    assert runs == {
        "a": {"seconds": 1.0, "place": 3, "slowest": 3.0},
        "b": {"seconds": 4.0, "place": 4, "slowest": 6.0},
    }


def test_waiting_takes_seconds_and_no_processor_seconds():
    run, result = timed(lambda: time.sleep(0.2))
    assert result is None
    assert run["seconds"] >= 0.2
    assert run["busy"] < 0.1


def test_ratios_are_how_many_times_as_long_the_others_take():
    found = compared({"ours": {"seconds": 2.0}, "theirs": {"seconds": 5.0}}, "ours")
    assert found["ratio"] == {"theirs": 2.5}
    assert against_arithmetic(3.0, {"product": 1.0}, 2.0)["ratio"] == 1.5


def test_the_exponent_is_that_of_the_last_step():
    assert exponent([1, 10, 100], [7.0, 1.0, 100.0]) == pytest.approx(2.0)


def test_a_process_of_its_own_has_its_own_peak():
    held = np.ones(40_000_000)  # 320 MB here, and not there
    assert measuring.in_own_process(measuring.megabytes) < measuring.megabytes() - held.nbytes / 2e6


# ---- what is measured


@pytest.mark.filterwarnings("ignore")  # of crowd-kit's own calls, and of sweeps whose number is fixed
def test_answers_of_our_model_and_of_crowd_kit_are_of_the_same_frame():
    crowd, classes, accuracy = labels.crowd((400, 20, 3))
    frame = crowd.to_frame().set_axis(["task", "worker", "label"], axis=1)
    ours, n_ours = labels.answer(DawidSkene(prior=None, max_iter=3, tol=0.0, calibrate=False), frame)
    theirs, n_theirs = labels.answer(labels.SAME_SWEEPS, frame)
    assert (n_ours, n_theirs) == (3, labels.SWEEPS)
    best = labels.limit(crowd, classes, accuracy)
    for found in (ours, theirs, labels.answer(MajorityVote(), frame)[0]):
        right = (found.loc[np.arange(400)].to_numpy() == classes).mean()
        assert 0.7 < right <= best + 0.02


def test_names_are_read_and_answered_by_name(tmp_path):
    crowd, classes, _ = labels.crowd((200, 20, 3), each=10)
    labels.write_frame(tmp_path / "labels.npz", crowd, classes)
    found = labels.run(MajorityVote(), tmp_path / "labels.npz", has_names=True)
    assert crowd.n_rows == 2000
    assert 0.7 < found["right"] <= 1
    assert "right" not in labels.run(labels.FRAME, tmp_path / "labels.npz", has_names=True)


@pytest.mark.parametrize(
    ("study", "kind"),
    [
        ("closed card sort", "Labels"),
        ("concept mapping, with ratings", "Groupings"),
        ("napping", "Groupings"),
        ("ratings", "Labels"),
        ("tags", "Labels"),
        ("judgements of pairs", "Pairs"),
        ("with features", "Labels"),
    ],
)
def test_files_of_studies_hold_what_their_names_say(study, kind, tmp_path):
    path, *options = studies.STUDIES[study](tmp_path)
    told = options[options.index("--kind") + 1] if "--kind" in options else None
    assert type(read_annotations(path, kind="labels" if told == "ratings" else told)).__name__ == kind


def test_models_are_told_as_many_clusters_or_levels_as_there_are():
    for name, levels in (("OrdinalRatings", range(7)), ("DawidSkene", None)):
        model = growth.with_clusters(growth.profiles.MODELS[name][0], 7)
        assert model.get_params().get("levels") == levels
    assert growth.with_clusters(growth.profiles.MODELS["MECC"][0], 7).n_clusters == 7


def test_sparse_and_dense_coordinates_agree():
    memberships = subset_groupings.Memberships.of(subset_groupings.crowd(120, 30)[0])
    sparse = subset_groupings.sparse_coordinates(memberships, 5)
    dense = subset_groupings.dense_coordinates(memberships, 5)
    np.testing.assert_allclose(sparse @ sparse.T, dense @ dense.T, atol=1e-9)


def test_a_fit_that_raises_is_named():
    features, cluster, judged = pairs.judged_pairs(0, 1.0)

    def refuse(X, judged):
        raise KeyError("pairs")

    assert pairs.scored(refuse, features, judged, cluster)["raises"] == "KeyError"
    assert pairs.scored(lambda X, judged: cluster, features, judged, cluster)["nmi"] == pytest.approx(1.0)


def test_telling_is_measured_in_stretches_of_answers():
    cell = Cell("telling", "", "ActiveSession", 0, settings={"n_items": 20, "answers": 6, "every": 3})
    found = telling.compute_telling(cell)
    assert found["answers"] == [3, 6]
    assert all(len(found[name]) == 2 and min(found[name]) > 0 for name in ("tell", "ask_named", "ask"))


def test_a_job_is_measured_in_a_process_of_its_own():
    (cell,) = [cell for cell in jobs.cells_of_jobs() if cell.data == jobs.MISSING]
    run = jobs.compute_jobs(cell)["runs"][jobs.MODEL]
    assert 0 < run["busy"] < 5
    assert 5 < run["megabytes"] < jobs.MOST_MEGABYTES


def test_jobs_are_of_the_sizes_that_their_names_say():
    sorts = jobs.card_sorts(30, 50)
    assert (sorts.n_annotators, sorts.n_items) == (30, 50)
    frame = jobs.frame_of_labels(100)
    assert frame["task"].value_counts().eq(5).all()
    assert not frame.duplicated(["task", "worker"]).any()
    judged = jobs.judged_records(200)
    assert judged.n_items == 200
    assert 900 < judged.n_rows <= 1000
    assert 0.4 < judged.same.mean() < 0.6


# ---- tables and targets


class Rows(Record):
    """A record of some figures of one part."""

    def __init__(self, **parts):
        self.parts = parts

    def frame(self, part, **only):
        return pd.DataFrame(self.parts.get(part, []))


def test_models_are_shown_fastest_first_with_means_over_draws():
    def row(model, draw, seconds, times):
        runs = {model: {"seconds": seconds, "nmi": 0.5}, "peer": {"seconds": seconds * times, "raises": "KeyError"}}
        return {"data": "few", "model": model, "draw": draw, "runs": runs, "ratio": {"peer": times}}

    rows = [row("slow", 0, 4.0, 2.0), row("slow", 1, 2.0, 3.0), row("fast", 0, 1.0, 20.0), row("fast", 1, 1.0, 10.0)]
    lines = [" ".join(line.split()) for line in table_of_comparisons(Rows(part=rows), "part", ("nmi", "raises"))]
    assert lines == [
        "few; means of 2 seeds",
        "times seconds NMI",
        "fast 1 0.500",
        "peer 15 15 - raises KeyError",
        "slow 3 0.500",
        "peer 2.5 7 - raises KeyError",
    ]


def test_growth_is_shown_with_its_exponent():
    rows = [
        {
            "data": "",
            "model": "Model",
            "runs": {"10": {"seconds": 1.0, "busy": 1.0}, "100": {"seconds": 10.0, "busy": 1.0}},
        }
    ]
    last = table_of_growth(Rows(part=rows), "part")[-1]
    assert " ".join(last.split()) == "last step exponent of the seconds 1.00, of the processor seconds 0.00"


def test_exponents_are_those_of_all_sizes_and_the_most_items_those_of_large_fits():
    def runs(power, each=24.0):
        return {str(10 * n): {"busy": n**power * (1 + (n == 2)), "megabytes": each * n} for n in (1, 2, 4)}

    rows = [{"model": "Model", "growth": {"items": runs(2.0), "annotators": runs(1.0), "clusters": runs(0.0)}}]
    line = growth.table_of_exponents(Rows(growth=rows))[-1]
    assert line.split() == ["Model", "2.00", "1.00", "0.00", "1.00", "1.00", "1.00", "1e+04"]
    assert growth.most_items(runs(2.0, each=6.0)) == "-"


def test_parts_without_rows_have_no_table():
    assert table_of_comparisons(Rows(), "part") == table_of_growth(Rows(), "part", "items") == []


def test_targets_are_judged_by_the_record():
    record = PAGE.record()
    found = {target.text: target for target in targets(record)}
    row = by_model(record, "labels")[labels.ONE_THREAD]
    ratio = row["runs"][labels.SAME_SWEEPS]["seconds"] / row["runs"][labels.ONE_THREAD]["seconds"]
    target = found[f"``{labels.ONE_THREAD}``, 20 sweeps, 100 000 items: seconds of crowd-kit / ours"]
    assert target.is_met == (ratio >= 20)
    assert float(target.measured) == pytest.approx(ratio, rel=0.05)


def test_jobs_are_judged_by_processor_seconds_or_by_their_peer():
    data = next(iter(jobs.SORTS))
    job = {"model": jobs.MODEL, "data": data, "runs": {jobs.MODEL: {"busy": 2.5, "megabytes": 800.0}}}
    model, _, peer, *_ = jobs.READING[jobs.LONG]
    read = {"model": model, "data": jobs.LONG, "runs": {}, "ratio": {peer: 0.5}}
    found = [
        (target.wanted, target.measured, target.is_met) for target in targets_of_jobs(Rows(jobs=[job], reading=[read]))
    ]
    assert found == [("at most 3.5", "2.50", True), ("at most 700", "800", False), ("at most 3", "2.0", True)]


def test_labels_of_names_are_judged_by_both_peers_and_by_memory():
    runs = {labels.DEFAULTS: {"megabytes": 20.0}, labels.SAME_SWEEPS: {"megabytes": 100.0}}
    named = {
        "model": labels.DEFAULTS,
        "data": "few",
        "runs": runs,
        "ratio": {labels.SAME_SWEEPS: 16, labels.DEFAULT: 4},
    }
    many = {"model": "vote", "data": "many", "runs": {"vote": {"busy": 0.4, "megabytes": 50.0}}}
    found = [target.is_met for target in targets_of_names(Rows(labels_names=[named], many_classes=[many]))]
    assert found == [True, False, True, False, True]


def test_every_machine_is_named_with_its_parts():
    record = PAGE.record()
    named = {part for machine in machines(record) for part in machine["parts"].split(", ")}
    assert named == {part for part, *_ in record.rows}
    assert {part.name for part in PARTS if not part.is_optional} <= named
