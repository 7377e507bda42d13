"""Which tests concern a model or a change."""

from collections import Counter
from types import SimpleNamespace

import pandas as pd
import pytest

from consilience import registry
from tests.import_graph import REPOSITORY, ROOT, files_imported, with_users
from tests.near_a_change import ALWAYS, Change, changed_since
from tests.of_one_model import TESTS, model_called
from tests.quick_cases import COMPILED, REPRESENTATIVES, in_turn

KCC_MODULE = ROOT / "consensus" / "groupings" / "kcc.py"


@pytest.mark.parametrize("asked", ["dawid_skene", "DawidSkene", "dawid_skene_estimator", "dawidskene"])
def test_a_model_is_found_by_its_module_or_class(asked):
    model = model_called(asked)
    assert model.name == "DawidSkene"
    assert {path.name for path in model.tests} >= {"test_dawid_skene.py"}
    assert model.page.name == "dawid_skene.rst"


def test_an_unknown_model_is_answered_with_those_that_there_are():
    with pytest.raises(ValueError, match=r"^No model is called 'xyz'\. .* The models are in the modules bayes_scdc, "):
        model_called("xyz")
    with pytest.raises(ValueError, match=r"Did you mean 'dawid_skene'\?$"):
        model_called("dawid_skein")


@pytest.fixture(scope="module")
def change():
    return Change(frozenset({KCC_MODULE}))


def item(file, name, /, **params):
    """What pytest knows of a test."""
    case = {"callspec": SimpleNamespace(params=params)} if params else {}
    return SimpleNamespace(path=TESTS / file, originalname=name, cls=None, **case)


def test_what_is_imported_from_a_package_is_imported_from_the_module_that_defines_it():
    found = files_imported(TESTS / "test_random_state.py")
    home = ROOT / "consensus" / "groupings" / "kcc_estimator.py"
    assert home in found
    assert ROOT / "consensus" / "__init__.py" not in found
    assert with_users([KCC_MODULE], [home]) == {KCC_MODULE, home}
    assert with_users([KCC_MODULE], [ROOT / "errors.py"]) == {KCC_MODULE}


@pytest.mark.slow
def test_a_change_of_a_model_concerns_its_tests_and_its_cases(change):
    assert "KCC" in [model.name for model in change.models]
    assert "BayesSCDC" not in [model.name for model in change.models]
    assert {path.name for path in change.tests} >= {"test_kcc.py"}
    assert change.concerns(item("consensus/groupings/test_kcc.py", "anything"))
    assert change.concerns(item(ALWAYS, "anything"))
    assert change.concerns(item("test_estimator_contract.py", "test_common_attributes", name="KCC"))
    assert not change.concerns(item("test_estimator_contract.py", "test_common_attributes", name="BayesSCDC"))
    table = pd.DataFrame({"name": ["KCC"]})  # whose attribute `name` is a column
    assert not change.concerns(item("test_estimator_contract.py", "test_common_attributes", said=table))


@pytest.mark.slow
def test_a_change_concerns_tests_that_use_it_themselves_or_by_what_they_call(change):
    assert change.concerns(item("test_random_state.py", "test_a_generator_is_cloned_and_saved"))
    assert not change.concerns(item("test_random_state.py", "test_generators_go_on_and_states_repeat"))
    of_labels = Change(frozenset({ROOT / "consensus" / "labels" / "dawid_skene.py"}))
    by_fixture = item("inspection/test_label_report.py", "test_sections")  # of a model in inspection/conftest.py
    assert of_labels.helpers >= {TESTS / "inspection" / "conftest.py"}
    assert by_fixture.path in of_labels.files


def test_a_change_of_tests_concerns_them():
    changed = Change(frozenset({TESTS / "test_registry.py"}))
    assert changed.tests == {TESTS / "test_registry.py"}
    assert changed.concerns(item("test_registry.py", "anything"))


@pytest.mark.slow  # reads all tests
def test_a_change_of_tests_concerns_no_others():
    changed = Change(frozenset({TESTS / "test_registry.py"}))
    assert changed.files == sorted([ALWAYS, TESTS / "test_registry.py"])


def test_changes_are_those_that_git_sees():
    if not (REPOSITORY / ".git").exists():
        pytest.skip("not in a repository of git")
    assert all(path.is_absolute() for path in changed_since("HEAD").changed)
    with pytest.raises(ValueError, match=r"^git cannot compare the files with 'no-such-commit': "):
        changed_since("no-such-commit")


def test_everybody_meets_cases_and_every_case_meets_somebody():
    cases = range(10)
    product = {(case.values, bool(case.marks)) for case in in_turn(registry.ESTIMATORS, cases).args[1]}
    quick = {values for values, is_slow in product if not is_slow}
    assert len(product) == 10 * len(registry.ESTIMATORS)
    assert {name for name, _ in quick} == registry.ESTIMATORS.keys() - set(COMPILED)
    met = Counter(case for name, case in quick if name in REPRESENTATIVES)
    assert all(met[case] >= 2 for case in cases)  # ten of them, each at every fifth
    assert len(quick) < 4 * len(registry.ESTIMATORS)
