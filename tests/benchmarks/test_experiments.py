"""A record of results tells what is missing or stale, and its pages agree with it."""

import sys
from functools import partial
from importlib import import_module, invalidate_caches

import pandas as pd
import pytest
from matplotlib.figure import Figure

from benchmarks.experiments import Cell, Page, Part, Record, code, page
from benchmarks.experiments.record import depends_of
from benchmarks.experiments.statistics import Difference, mean_sd, paired
from consilience.consensus import KCC

SCRIPT = '''
from ast import NodeVisitor

from sklearn.base import BaseEstimator

from benchmarks_of_a_test_helper import scale

WEIGHT = 2.0


class Model(BaseEstimator):
    """A model.

    Its docstring is no part of what it computes.
    """

    def __init__(self, size=1):
        self.size = size

    def value(self):
        if self.size < 0:
            raise ValueError("Negative.")
        return scale(self.size) * self._factor() * getattr(self, f"of_{'no' * self.size}thing", WEIGHT)

    def _factor(self):
        return 1.0

    def summary(self):
        return "small"

    def of_everything(self):
        return 1.0

    shown = summary


def unrelated():
    return 1


def compute(cell):
    return {"value": cell.estimator.value() + cell.draw}
'''
HELPER = "def scale(size):\n    return 3.0 * size\n"


@pytest.fixture
def script(tmp_path, monkeypatch):
    """Return a function that writes the modules of an experiment, with changes, and imports them anew."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(code, "PACKAGES", ("benchmarks_of_a_test", "benchmarks_of_a_test_helper"))

    def write(*changes):
        for name, text in (("benchmarks_of_a_test_helper", HELPER), ("benchmarks_of_a_test", SCRIPT)):
            for old, new in zip(changes[::2], changes[1::2], strict=True):
                assert old in HELPER + SCRIPT
                text = text.replace(old, new)
            (tmp_path / f"{name}.py").write_text(text, "utf-8")
            sys.modules.pop(name, None)
        for cached in vars(code).values():
            if hasattr(cached, "cache_clear"):
                cached.cache_clear()
        sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
        invalidate_caches()
        module = import_module("benchmarks_of_a_test")
        sys.dont_write_bytecode = before
        return module

    yield write
    for name in ("benchmarks_of_a_test_helper", "benchmarks_of_a_test"):
        sys.modules.pop(name, None)


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Keep the record and the pages of a test in its own folder."""
    (tmp_path / "test.rst.jinja").write_text("The mean is {{ mean | dec }}.\n", "utf-8")
    monkeypatch.setattr(page, "commit", lambda: "0123456789")
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
    assert set(record.shared["code"][row["code"]]) == {"benchmarks_of_a_test", "benchmarks_of_a_test_helper"}
    machine = record.shared["environment"][row["environment"]]
    assert machine["blas"]
    assert machine["versions"]["numpy"]


def test_what_was_computed_before_an_interruption_is_kept(script, folders):
    found = page_of(script(), folders)
    record = found.record()
    for part, cell in list(found.cells())[:2]:
        result = page._computed(0, part.compute, cell)[1]
        record.add(cell, depends_of(cell, part.compute), result.pop("environment"), result)
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
        code.dependencies(module.nameless)
    assert code.dependencies(partial(module.compute, None)) == code.dependencies(module.compute)


def test_a_definition_of_the_running_script_cannot_be_followed():
    with pytest.raises(ValueError, match="Local is defined in the script that runs"):
        code.dependencies(type("Local", (), {"__module__": "__main__"}))


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


def test_stale_rows_of_optional_parts_are_named_and_dropped_with_the_whole_page(script, folders):
    page.compute(finished(script(), folders, optional=(3,)), ["optional"], n_jobs=1)
    changed = page_of(script("WEIGHT = 2.0", "WEIGHT = 1.0"), folders, optional=(3,))
    assert "test: optional, Model: 1 rows, changed code: benchmarks_of_a_test" in list(page.problems(changed))
    assert page.compute(changed, ["part"], n_jobs=1) == 6
    assert [key[0] for key in changed.record().rows] == ["part"] * 6 + ["optional"]
    assert page.compute(changed, n_jobs=1) == 0
    assert [key[0] for key in changed.record().rows] == ["part"] * 6


# ---- what is stale


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("3.0 * size", "4.0 * size"),
        ("WEIGHT = 2.0", "WEIGHT = 2.5"),
        ("+ cell.draw", "- cell.draw"),
        ("self.size < 0", "self.size < 1"),
        ("return 1.0\n\n    def summary", "return 1.5\n\n    def summary"),
        ("of_everything(self):\n        return 1.0", "of_everything(self):\n        return 2.0"),
        ("self.size = size\n", "self.size = 1 * size\n"),
        ("class Model(BaseEstimator):\n", "class Model(BaseEstimator):\n    sizes = (1, 2)\n"),
    ],
    ids=[
        *("a function of another module", "a constant", "the script", "a method", "a method that another calls"),
        *("a method whose name begins as one made at run time", "__init__", "what a class holds"),
    ],
)
def test_rows_of_changed_code_are_stale(script, folders, old, new):
    finished(script(), folders)
    found = list(page.problems(page_of(script(old, new), folders)))
    assert len(found) == 1
    assert "part, Model: 6 rows, changed code: benchmarks_of_a_test" in found[0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return 1\n", "return 2\n"),
        ("Its docstring is no part", "This docstring is no part"),
        ("Negative.", "The size is negative."),
        ("size):\n    return 3.0", "size: float) -> float:\n    # the triple\n    return 3.0"),
        ('return "small"', 'return "large"'),
        ("    shown = summary\n", "    shown = of_everything\n"),
    ],
    ids=[
        *("an unrelated function", "a docstring", "a message", "annotations and comments"),
        *("a method that nothing names", "another name of a method"),
    ],
)
def test_what_cannot_change_a_figure_makes_nothing_stale(script, folders, old, new):
    finished(script(), folders)
    assert not list(page.problems(page_of(script(old, new), folders)))


@pytest.mark.parametrize("is_listed", [True, False])
def test_calls_that_only_keep_something_count_unless_they_are_listed(script, folders, monkeypatch, is_listed):
    monkeypatch.setattr(code, "WITHOUT_EFFECT", {"self.summary"} if is_listed else set())
    finished(script(), folders)
    changed = script("        if self.size < 0", "        self.summary()\n        if self.size < 0")
    assert any("changed code" in line for line in page.problems(page_of(changed, folders))) is not is_listed


@pytest.mark.parametrize("is_listed", [True, False])
def test_a_catalogue_counts_unless_it_is_listed(script, folders, monkeypatch, is_listed):
    monkeypatch.setattr(code, "CATALOGUES", {("benchmarks_of_a_test", "WEIGHT")} if is_listed else set())
    finished(script(), folders)
    changed = script("WEIGHT = 2.0", "WEIGHT = 2.5")
    assert any("changed code" in line for line in page.problems(page_of(changed, folders))) is not is_listed


def test_what_does_not_count_exists():
    """A name that moved would be listed in vain, or hide something else."""
    for module, name in code.CATALOGUES:
        assert name in code._source(module).statements
    for call in code.WITHOUT_EFFECT:
        module, name = call.split(".")
        assert name in code._source(f"consilience.estimators.{module}").statements


def test_all_methods_of_a_class_count_whose_library_calls_them(script, folders):
    of_a_library = ("class Model(BaseEstimator)", "class Model(NodeVisitor, BaseEstimator)")
    finished(script(*of_a_library), folders)
    changed = script(*of_a_library, 'return "small"', 'return "large"')
    assert any("changed code" in line for line in page.problems(page_of(changed, folders)))


def test_other_settings_are_stale(script, folders):
    module = script()
    finished(module, folders)
    changed = page_of(module, folders)
    object.__setattr__(
        changed.parts[0], "cells", lambda: [Cell("part", "size 1", "Model", draw, module.Model(7)) for draw in range(3)]
    )
    assert next(page.problems(changed)) == "test: part, Model: 3 rows, other settings"


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
    changed = page_of(script("3.0 * size", "size * 3.0"), folders)
    assert page.confirm(changed) == [f"test, part, size {size}, Model: 3 rows confirmed by 1" for size in (1, 2)]
    assert not [line for line in page.problems(changed) if "code:" in line]
    rows = changed.record().rows.values()
    assert {row["confirmed"] for row in rows} == {"0123456789"}


def test_a_new_parameter_at_its_default_is_a_change_that_can_be_confirmed(script, folders):
    finished(script(), folders)
    longer = ("size=1):\n        self.size", "size=1, more=0):\n        self.more = more\n        self.size")
    found = page_of(script(*longer), folders)
    states = {state for *_, state in found.states(found.record())}
    assert states == {"changed code: more, benchmarks_of_a_test"}
    page.confirm(found)
    record = found.record()
    assert not list(page.problems(found))
    assert {name for row in record.rows.values() for name in record.settings(row)} == {"size", "more"}
    for known in record.shared["settings"].values():
        known.pop("size")
    states = {cell.data: state for _, cell, state in found.states(record)}
    assert states == {"size 1": "changed code: size", "size 2": "other settings"}  # 1 is the default


def test_a_change_with_effect_is_not_confirmed(script, folders):
    finished(script(), folders)
    changed = page_of(script("3.0 * size", "3.001 * size"), folders)
    again = "3 rows other figures: to be computed again"
    assert page.confirm(changed) == [f"test, part, size {size}, Model: {again}" for size in (1, 2)]
    assert "changed code" in next(page.problems(changed))
    assert page.compute(changed, n_jobs=1) == 6


def test_a_change_with_effect_on_one_data_set_is_confirmed_on_the_other_alone(script, folders):
    finished(script(), folders)
    changed = page_of(script("3.0 * size", "3.0 * min(size, 1)"), folders)
    assert [line.split(" rows ")[1].split()[0] for line in page.confirm(changed)] == ["confirmed", "other"]
    assert page.compute(changed, n_jobs=1) == 3


def test_an_interrupted_run_keeps_what_it_confirmed(script, folders, monkeypatch):
    finished(script(), folders)
    changed = page_of(script("3.0 * size", "size * 3.0"), folders)
    compute, n_computed = page._computed, []

    def interrupted(*arguments):
        n_computed.append(1)
        if len(n_computed) == 2:
            raise KeyboardInterrupt
        return compute(*arguments)

    monkeypatch.setattr(page, "_computed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        page.confirm(changed)
    monkeypatch.setattr(page, "_computed", compute)
    assert page.confirm(changed) == ["test, part, size 2, Model: 3 rows confirmed by 1"]


# ---- the pages


def test_page_and_tables_are_made_from_the_record(script, folders):
    found = finished(script(), folders)
    assert (folders / "test.txt").read_text("utf-8") == "10.00\n"
    assert (folders / "test.rst").read_text("utf-8").endswith("The mean is .100.\n")
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
    record.tidy(cell for _, cell in found.cells())
    assert list(page.problems(found))[-1] == "test: test.svg was drawn from other results, or by other code"


def test_a_quote_that_the_record_does_not_give_is_an_error(script, folders):
    (folders / "test.rst.jinja").write_text("{{ median }}", "utf-8")
    with pytest.raises(Exception, match="'median' is undefined"):
        finished(script(), folders)


# ---- code of the package


def test_a_model_depends_on_its_mathematics_and_not_on_plots():
    found = code.dependencies(KCC())
    assert "consilience.consensus.groupings.kcc" in found
    assert "consilience.estimators.base" in found
    assert not [module for module in found if ".inspection" in module or ".dawid_skene" in module]


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


def test_the_text_of_code_is_that_of_every_version_of_python(script):
    """Python's own dump of a syntax tree changes from version to version: what is empty is shown, or not."""
    script()
    assert code._text("benchmarks_of_a_test", "unrelated") == (
        "FunctionDef(name='unrelated',args=arguments(),body=[Return(value=Constant(value=1))])"
    )


def test_many_changed_modules_are_counted(script, folders, monkeypatch):
    monkeypatch.setattr("benchmarks.experiments.record.NAMED", 1)
    finished(script(), folders)
    changed = page_of(script("return ", "return 1 * "), folders)
    assert next(page.problems(changed)).endswith("changed code: benchmarks_of_a_test and 1 more")
