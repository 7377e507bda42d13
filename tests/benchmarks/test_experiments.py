"""A record of results tells what is missing or out of date, and its pages agree with it."""

import sys
from functools import partial
from importlib import import_module, invalidate_caches

import pandas as pd
import pytest
from matplotlib.figure import Figure

from benchmarks.experiments import Cell, Page, Part, Record, confirming, page, scripts
from benchmarks.experiments.scripts import script_of
from benchmarks.experiments.statistics import Difference, mean_sd, paired
from consilience.consensus import KCC

SCRIPT = '''
from sklearn.base import BaseEstimator

from consilience.consensus import KCC
from benchmarks_of_a_test import helper
from benchmarks_of_a_test.helper import scale as scaled


class Model(BaseEstimator):
    """A model: not of the script, but what the script is about."""

    def __init__(self, size=1):
        self.size = size

    def value(self):
        return 3.0 * self.size


WEIGHT = {"a": 1.0}
WEIGHT["b"] = 2.0


def unrelated():
    return 1


def compute(cell):
    """Return a figure.

    Its docstring is no part of what it computes.
    """
    return {"value": scaled(cell.estimator.value()) * WEIGHT["b"] + helper.START + cell.draw}


def compute_another(cell):
    return {"value": KCC(cell.draw)}
'''
HELPER = "START = 0\n\n\ndef scale(size):\n    return 1.0 * size\n"


@pytest.fixture
def script(tmp_path, monkeypatch):
    """Return a function that writes the modules of an experiment, with changes, and imports them anew."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(scripts, "SCRIPTS", "benchmarks_of_a_test")
    names = ("benchmarks_of_a_test", "benchmarks_of_a_test.helper")
    (tmp_path / names[0]).mkdir()

    def write(*changes):
        for name, file, text in zip(names, ("__init__.py", "helper.py"), (SCRIPT, HELPER)):
            for old, new in zip(changes[::2], changes[1::2], strict=True):
                assert old in HELPER + SCRIPT
                text = text.replace(old, new)
            (tmp_path / names[0] / file).write_text(text, "utf-8")
            sys.modules.pop(name, None)
        for cached in vars(scripts).values():
            if hasattr(cached, "cache_clear"):
                cached.cache_clear()
        sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
        invalidate_caches()
        module = import_module(names[0])
        sys.dont_write_bytecode = before
        return module

    yield write
    for name in names:
        sys.modules.pop(name, None)
    for cached in vars(scripts).values():
        if hasattr(cached, "cache_clear"):
            cached.cache_clear()


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Keep the record and the pages of a test in its own folder."""
    (tmp_path / "test.rst.jinja").write_text("The mean is {{ mean | dec }}.\n", "utf-8")
    for module in (page, confirming):
        monkeypatch.setattr(module, "commit", lambda: "0123456789")
    return tmp_path


def page_of(module, folder, sizes=(1, 2), n_draws=3, optional=()):
    """Return a page of one part, and of an optional one, whose record is in a folder."""

    def cells():
        return [
            Cell("part", f"size {size}", "Model", draw, module.Model(size)) for size in sizes for draw in range(n_draws)
        ]

    def optional_cells():
        return [Cell("optional", f"size {size}", "Model", 0, module.Model(size)) for size in optional]

    def mean(record):
        return record.frame("part")["value"].mean()

    def draw(record):
        figure = Figure()
        figure.subplots().plot(record.frame("part")["value"])
        return figure

    class TestPage(Page):
        def record(self):
            return Record(self.name, folder)

        @property
        def folder(self):
            return folder

    return TestPage(
        "test",
        (Part("part", cells, module.compute), Part("optional", optional_cells, module.compute, is_optional=True)),
        tables=lambda record: {"test.txt": f"{mean(record):.2f}\n"},
        quotes=lambda record: {"mean": mean(record) / 100},
        plots={"test.svg": draw},
    )


def finished(module, folder, **settings):
    found = page_of(module, folder, **settings)
    page.compute(found, n_jobs=1)
    page.write(found, found.record())
    return found


# ---- what is computed


def test_only_what_is_missing_is_computed(script, folders):
    module = script()
    assert page.compute(page_of(module, folders, sizes=(1,)), n_jobs=1) == 3
    assert page.compute(page_of(module, folders), n_jobs=1) == 3
    assert page.compute(page_of(module, folders), n_jobs=1) == 0
    table = page_of(module, folders).record().frame("part")
    assert table["value"].tolist() == [6.0, 7.0, 8.0, 12.0, 13.0, 14.0]


def test_a_row_tells_settings_code_machine_and_commit(script, folders):
    record = finished(script(), folders).record()
    row = record.rows["part", "size 2", "Model", 1]
    assert row["figures"] == {"value": 13.0}
    assert row["commit"] == "0123456789"
    assert record.settings(row) == {"size": 2}
    assert row["script"] == script_of(script().compute).version
    machine = record.shared["environment"][row["environment"]]
    assert machine["blas"]
    assert machine["versions"]["numpy"]


def test_what_was_computed_before_an_interruption_is_kept(script, folders):
    found = page_of(script(), folders)
    record = found.record()
    for part, cell in list(found.cells)[:2]:
        record.add(cell, cell.script(part.compute), page.compute_figures(part.compute, cell))
    assert len(found.record().rows) == 2
    assert page.compute(found, n_jobs=1) == 4


def test_two_cells_of_one_name_are_refused(script, folders):
    module = script()
    found = page_of(module, folders, sizes=(1, 1))
    with pytest.raises(ValueError, match=r"The page test has two cells \('part', 'size 1', 'Model', 0\)"):
        page.compute(found, n_jobs=1)


def test_what_has_no_definition_cannot_be_followed(script):
    module = script()
    exec("nameless = lambda cell: {}", vars(module))
    with pytest.raises(ValueError, match="<lambda> is not defined at the top level of benchmarks_of_a_test"):
        script_of(module.nameless)
    assert script_of(partial(module.compute, None)) == script_of(module.compute)


def test_all_rows_are_computed_again_if_asked_for(script, folders):
    module = script()
    finished(module, folders)
    found = page_of(module, folders)
    assert page.compute(found, n_jobs=1, again=True) == 6
    assert len(found.record().rows) == 6


def test_optional_parts_are_computed_only_by_name_and_not_missed(script, folders):
    module = script()
    found = finished(module, folders, optional=(3,))
    assert [key[0] for key in found.record().rows] == ["part"] * 6
    assert list(page.problems(found)) == []
    assert page.compute(found, ["optional"], n_jobs=1) == 1
    assert page.compute(found, n_jobs=1) == 0
    assert found.record().frame("optional")["value"].tolist() == [18.0]


def test_rows_of_optional_parts_that_are_out_of_date_are_dropped_with_the_whole_page(script, folders):
    page.compute(finished(script(), folders, optional=(3,)), ["optional"], n_jobs=1)
    changed = page_of(script("1.0 * size", "0.5 * size"), folders, optional=(3,))
    assert "test: optional, Model: 1 rows, another script; to be computed again" in list(page.notes(changed))
    assert page.compute(changed, ["part"], n_jobs=1) == 6
    assert [key[0] for key in changed.record().rows] == ["part"] * 6 + ["optional"]
    assert page.compute(changed, n_jobs=1) == 0
    assert [key[0] for key in changed.record().rows] == ["part"] * 6


# ---- what is out of date


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1.0 * size", "2.0 * size"),
        ('WEIGHT["b"] = 2.0', 'WEIGHT["b"] = 2.5'),
        ("+ cell.draw", "- cell.draw"),
        ("START = 0", "START = 1"),
    ],
    ids=["a function of another module", "a constant that is changed", "the script", "a constant of a module"],
)
def test_rows_of_another_script_are_out_of_date(script, folders, old, new):
    finished(script(), folders)
    changed = page_of(script(old, new), folders)
    assert list(page.notes(changed)) == ["test: part, Model: 6 rows, another script; to be computed again"]
    assert next(iter(page.problems(changed))) == "test: test.rst differs from the record"  # which does not yet say so
    page.write(changed, changed.record())
    assert list(page.problems(changed)) == []
    assert "Out of date: 6 of part, Model (another script)." in (folders / "test.rst").read_text("utf-8")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return 1\n", "return 2\n"),
        ("Its docstring is no part", "This docstring is no part"),
        ("size):\n    return 1.0", "size: float) -> float:\n    # the same\n    return 1.0"),
        ("return 3.0 * self.size", "return 4.0 * self.size"),
    ],
    ids=["an unrelated function", "a docstring", "annotations and comments", "a model, for which sentinels stand"],
)
def test_what_is_not_of_the_script_makes_nothing_out_of_date(script, folders, old, new):
    finished(script(), folders)
    changed = page_of(script(old, new), folders)
    assert not [*page.notes(changed), *page.problems(changed)]


def test_what_a_script_imports_from_the_package_is_named_and_not_followed(script):
    module = script()
    assert script_of(module.compute).imported == set()
    assert script_of(module.compute_another).imported == {("consilience.consensus", "KCC")}
    assert script_of(module.compute, KCC, pd.DataFrame).imported == {(KCC.__module__, "KCC")}
    assert script_of(module.compute, KCC).version == script_of(module.compute).version


def test_declared_rows_are_out_of_date_until_they_are_computed(script, folders):
    found = finished(script(), folders)
    record = found.record()
    for _, cell in list(found.cells)[:3]:
        record.outdate(cell, "abc")
    record.tidy(cell for _, cell in found.cells)
    assert list(page.notes(found)) == ["test: part, Model: 3 rows, out of date since abc; to be computed again"]
    assert page.compute(found, n_jobs=1) == 3
    assert list(page.notes(found)) == []


def test_other_settings_are_out_of_date(script, folders):
    module = script()
    finished(module, folders)
    changed = page_of(module, folders)
    object.__setattr__(
        changed.parts[0], "cells", lambda: [Cell("part", "size 1", "Model", draw, module.Model(7)) for draw in range(3)]
    )
    assert next(page.notes(changed)) == "test: part, Model: 3 rows, other settings; to be computed again"


def test_a_new_parameter_counts_unless_it_is_at_its_default(script, folders):
    finished(script(), folders)
    longer = ("size=1):\n        self.size", "size=1, more=0):\n        self.more = more\n        self.size")
    module = script(*longer)
    found = page_of(module, folders)
    assert list(page.notes(found)) == []
    state = found.record().state(Cell("part", "size 1", "Model", 0, module.Model(1, more=2)), script_of(module.compute))
    assert state == "other settings"


def test_rows_that_nothing_asks_for_are_named_and_left_out_when_computed(script, folders):
    module = script()
    finished(module, folders)
    fewer = page_of(module, folders, sizes=(1,))
    assert "test: 3 rows belong to no cell" in list(page.problems(fewer))
    page.compute(fewer, n_jobs=1)
    assert len(fewer.record().rows) == 3


def test_missing_rows_are_counted(script, folders):
    module = script()
    finished(module, folders)
    assert list(page.problems(page_of(module, folders, n_draws=4))) == ["test: part, Model: 2 rows, missing"]


# ---- what is confirmed


def test_a_change_without_effect_is_confirmed_by_the_quickest_row(script, folders):
    finished(script(), folders)
    changed = page_of(script("1.0 * size", "size * 1.0"), folders)
    assert confirming.confirm(changed) == [f"test, part, size {size}, Model: 3 rows confirmed by 1" for size in (1, 2)]
    assert list(page.notes(changed)) == []
    assert {row["confirmed"] for row in changed.record().rows.values()} == {"0123456789"}


def test_a_change_with_effect_is_marked_where_it_has_one(script, folders):
    finished(script(), folders)
    changed = page_of(script("3.0 * self.size", "3.0 * min(self.size, 1)"), folders)
    assert list(page.notes(changed)) == []
    assert [line.partition(" rows ")[2] for line in confirming.confirm(changed)] == [
        "confirmed by 1",
        "other figures: out of date",
    ]
    assert list(page.notes(changed)) == [
        "test: part, Model: 3 rows, out of date since 0123456789; to be computed again"
    ]
    assert page.compute(changed, n_jobs=1) == 3


def test_an_interrupted_run_keeps_what_it_confirmed(script, folders, monkeypatch):
    finished(script(), folders)
    changed = page_of(script("1.0 * size", "size * 1.0"), folders)
    compute, n_computed = confirming.compute_figures, []

    def interrupted(*arguments):
        n_computed.append(1)
        if len(n_computed) == 2:
            raise KeyboardInterrupt
        return compute(*arguments)

    monkeypatch.setattr(confirming, "compute_figures", interrupted)
    with pytest.raises(KeyboardInterrupt):
        confirming.confirm(changed)
    assert list(page.notes(changed)) == ["test: part, Model: 3 rows, another script; to be computed again"]


# ---- the pages


def test_page_and_tables_are_made_from_the_record(script, folders):
    found = finished(script(), folders)
    assert (folders / "test.txt").read_text("utf-8") == "10.00\n"
    text = (folders / "test.rst").read_text("utf-8")
    rows = "The rows\n--------\n\n6 rows, computed or confirmed at the commits ``0123456789`` (6).\n"
    assert text.endswith(f"The mean is .100.\n\n\n{rows}")
    assert not list(page.problems(found))


@pytest.mark.parametrize(("name", "old", "new"), [("test.rst", ".100", ".101"), ("test.txt", "10.00", "10.01")])
def test_a_figure_that_is_changed_by_hand_is_found(script, folders, name, old, new):
    found = finished(script(), folders)
    text = (folders / name).read_text("utf-8")
    assert old in text
    (folders / name).write_text(text.replace(old, new), "utf-8")
    assert list(page.problems(found)) == [f"test: {name} differs from the record"]


def test_a_plot_of_other_results_is_found(script, folders):
    module = script()
    found = finished(module, folders)
    record = found.record()
    record.rows["part", "size 1", "Model", 0]["figures"]["value"] = 6.5
    record.tidy(cell for _, cell in found.cells)
    assert list(page.problems(found))[-1] == "test: test.svg was drawn from other results, or by another script"


def test_a_quote_that_the_record_does_not_give_is_an_error(script, folders):
    (folders / "test.rst.jinja").write_text("{{ median }}", "utf-8")
    with pytest.raises(Exception, match="'median' is undefined"):
        finished(script(), folders)


# ---- statistics


def test_paired_differences():
    gap = paired([1.0, 2.0, 4.0], [0.0, 2.0, 2.0])
    assert gap.mean == 1.0
    assert gap.error == pytest.approx(pd.Series([1.0, 0.0, 2.0]).std() / 3**0.5)
    with pytest.raises(ValueError, match="two draws"):
        paired([1.0], [2.0])


@pytest.mark.parametrize(("mean", "verdict"), [(0.21, "above"), (0.2, "level"), (-0.2, "level"), (-0.3, "below")])
def test_a_lead_is_larger_than_two_standard_errors(mean, verdict):
    assert Difference(mean, 0.1).verdict == verdict


def test_mean_and_deviation():
    assert mean_sd([0.1, 0.2, 0.3]) == "0.200 ± 0.100"


@pytest.mark.parametrize(("value", "text"), [(0.905, ".905"), (-0.05, "-.050"), (1.0, "1.000"), (12.5, "12.500")])
def test_decimals_as_on_the_pages(value, text):
    assert page.dec(value) == text
