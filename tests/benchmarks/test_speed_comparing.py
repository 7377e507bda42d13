"""What got slower is found, whatever the machine; lines are counted; plots show what the record has."""

import numpy as np
import pytest

from benchmarks.experiments import Cell, Page, Part, Record
from benchmarks.speed import comparing, machine, pictures, profiles
from benchmarks.speed.__main__ import main
from benchmarks.speed.comparing import Compared, compare, factor_of, runs_of
from benchmarks.speed.speed import PAGE

NAME = ("labels", "few", "Ours", 0)


def page_of(now, kept):
    """Return a page with a kept row of our model and its peer, which take so many seconds now."""
    cell = Cell(*NAME)
    other = Cell("machine", "", "limits", 0)
    runs = iter(now)

    def seconds_of(ours, peer):
        return {"runs": {"Ours": {"seconds": ours}, "peer": {"seconds": peer}}, "ratio": {"peer": peer / ours}}

    part = Part("labels", lambda: [cell], lambda cell: seconds_of(*next(runs)))
    rates = Part("machine", lambda: [other], lambda cell: {"runs": {"copy": {"seconds": 1.0}}})
    page = Page("speed", (part, rates), lambda record: {}, is_timed=True)
    record = Record("nothing", folder=PAGE.folder)
    empty = {"environment": {}, "commit": ""}
    for one, figures in ((cell, seconds_of(*kept)), (other, {"runs": {"copy": {"seconds": 1.0}}})):
        row = dict(zip(("part", "data", "model", "draw"), one.key, strict=True)) | {"settings": "", "script": ""}
        record.rows[one.key] = row | {"figures": figures, "seconds": 1.0} | empty
    record.shared = {"settings": {"": {}}, "environment": {"": {}}}
    return page, record


@pytest.mark.parametrize(
    ("now", "is_slower"),
    [
        ([(1.0, 4.0)], False),
        ([(2.0, 4.0)], True),  # the machine is as fast as it was, by its rates and the peer
        ([(1.4, 4.0)], False),  # within the limit
        ([(0.2, 4.0)], False),
        ([(9.0, 4.0), (1.0, 4.0), (1.1, 4.0)], False),  # the median counts, not a run that was disturbed
        ([(2.0, 4.0), (1.0, 4.0), (2.1, 4.0)], True),
    ],
)
def test_a_run_is_slower_if_its_median_is(now, is_slower):
    page, record = page_of(now, (1.0, 4.0))
    lines, found = compare(page, record, ["labels"], repeats=len(now))
    assert found == is_slower
    assert lines[-1] == f"slower than 1.5 times the kept: {int(is_slower)} of 1"
    assert any("labels, few, Ours" in line and line.endswith("SLOWER") for line in lines) == is_slower


def test_a_slower_machine_is_none_of_our_code():
    page, record = page_of([(3.0, 12.0)], (1.0, 4.0))
    record.rows["machine", "", "limits", 0]["figures"]["runs"]["copy"]["seconds"] = 1 / 3
    lines, found = compare(page, record, ["labels"], repeats=1)
    assert not found
    assert "takes 3.00 times as long" in lines[0]
    assert lines[2].split()[0] == "1.00"


def test_rows_with_other_settings_are_not_compared():
    page, record = page_of([], (1.0, 4.0))
    record.shared["settings"][""] = {"repeats": 3}
    lines, found = compare(page, record, ["labels"], repeats=1)
    assert not found
    assert lines[-1] == "slower than 1.5 times the kept: 0 of 0"


def test_every_kind_of_row_has_runs():
    def names(figures):
        return {name[-1]: (seconds, is_ours) for name, seconds, is_ours in runs_of(Cell(*NAME), figures)}

    assert names({"sweep": 2.0, "unavoidable": 1.0, "ratio": 2.0}) == {"sweep": (2.0, True), "arithmetic": (1.0, False)}
    assert names({"run": {"seconds": 3.0, "busy": 1.0}}) == {"Ours": (1.0, True)}
    assert names({"growth": {"items": {"10": {"seconds": 3.0}}}}) == {"items 10": (3.0, True)}
    assert names({"tell": [1.0, 2.0]}) == {"tell": (0.002, True)}
    assert names({"runs": {"first": {"import": 1.0}}}) == {}
    assert {key[0] for cell in PAGE.record().rows for key in [cell]} <= {part.name for part in PAGE.parts}


def test_the_factor_is_the_median_of_what_is_not_ours():
    def one(ratio, is_ours):
        return Compared((*NAME, ""), is_ours, 1.0, ratio)

    assert factor_of([one(9.0, True), one(1.0, False), one(2.0, False), one(5.0, False)]) == 2.0
    assert factor_of([one(9.0, True)]) == 1.0


def test_the_command_ends_with_1_if_something_got_slower(monkeypatch, capsys):
    asked = []

    def found(page, record, parts, *, beyond):
        asked.append((parts, beyond))
        return ["one line"], beyond < 2

    monkeypatch.setattr(comparing, "compare", found)
    monkeypatch.setattr("sys.argv", ["benchmarks.speed", "--compare", "--parts", "telling"])
    assert main() == 1
    monkeypatch.setattr("sys.argv", ["benchmarks.speed", "--compare", "--beyond", "3"])
    assert main() == 0
    assert capsys.readouterr().out == "one line\n" * 2
    assert asked[0] == (["telling"], 1.5)
    assert asked[1][1] == 3
    assert "labels" in asked[1][0]
    assert "labels_large" not in asked[1][0]  # optional parts are compared if they are named


# ---- limits of the machine


def test_rates_are_work_by_seconds(monkeypatch):
    monkeypatch.setattr(machine, "in_turns", lambda calls, repeats: {name: {"seconds": 0.5} for name in calls})
    settings = {"side": 10, "copied": 1000, "exponentials": 100, "lines": 300, "repeats": 1}
    rates = machine.compute_machine(Cell("machine", "", "", 0, settings=settings))["rates"]
    assert rates == pytest.approx(
        {
            "matrix product": 2 * 1000 / 0.5 / 1e9,
            "copy": 2 * 8000 / 0.5 / 1e9,
            "exponentials": 100 / 0.5 / 1e6,
            "lines of Python": 300 / 0.5 / 1e6,
        }
    )
    for call, _ in machine.work_of(settings).values():
        assert call()["seconds"] > 0


# ---- profiles


def loop_over(items):
    total = 0
    for item in items:
        total += item
    return total


def in_one_call(items):
    return np.sum(items)


def test_loops_over_items_are_found_and_array_operations_are_not():
    few, many = (np.arange(n).tolist() for n in (500, 500 * profiles.TIMES))
    for function, is_loop in ((loop_over, True), (in_one_call, False)):
        fewer, more = profiles.lines_of(lambda f=function: f(few)), profiles.lines_of(lambda f=function: f(many))
        assert any("loop_over" in name for name in profiles.culprits(fewer, more)) == is_loop
    assert profiles.lines_of(lambda: loop_over(few))[profiles.name_of(__file__, "loop_over")] == 1 + 2 * 500 + 3


def test_lines_of_libraries_count_for_the_function_of_ours_that_calls_them():
    lines = profiles.lines_of(lambda: in_one_call([1.0, 2.0]))
    assert not [name for name in lines if name.startswith("numpy")]
    assert lines[profiles.name_of(__file__, "in_one_call")] > 1


def test_functions_that_take_longest():
    values = np.random.default_rng(0).normal(size=(300, 300))
    found = profiles.functions_that_take_longest(lambda: [np.linalg.svd(values) for _ in range(3)])
    assert next(iter(found)).endswith("svd")
    assert sum(found.values()) <= 1


def test_every_model_without_networks_is_profiled():
    from consilience import registry

    models = {name for name, entry in registry.ESTIMATORS.items() if entry.module != "consilience.deep"}
    assert set(profiles.MODELS) == models | {"SubsetClustering"}


# ---- plots


def test_the_plot_of_peers_has_a_bar_for_each():
    record = PAGE.record()
    found = list(pictures.peers_of(record))
    ratio = next(row["ratio"] for row in record.frame("annotations").to_dict("records"))
    assert set(ratio.values()) <= {value for *_, value in found}
    axes = pictures.draw_peers(record).axes[0]
    assert len(axes.patches) == len(found) == len(axes.get_yticks())


def test_the_plot_of_growth_has_the_points_of_the_record():
    record = PAGE.record()
    seconds, memory = pictures.draw_growth(record).axes
    (row,) = record.frame("pair_growth").to_dict("records")
    line = next(line for line in seconds.lines if line.get_label() == "sweep of MECC")
    np.testing.assert_allclose(line.get_xdata(), [int(size) for size in row["runs"]])
    np.testing.assert_allclose(line.get_ydata(), [run["seconds"] for run in row["runs"].values()])
    assert len(memory.lines) == len(seconds.lines)
