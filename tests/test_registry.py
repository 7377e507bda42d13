"""The registry names every estimator there is, and imports none before it is asked."""

import inspect
import subprocess
import sys

import pytest

import consilience.consensus
import consilience.deep
import consilience.semisupervised
from consilience import registry
from consilience.errors import InputError
from consilience.estimators.base import CrowdEstimator
from consilience.estimators.labels import LabelAggregator


@pytest.mark.parametrize("entry", registry.ESTIMATORS.values(), ids=lambda entry: entry.name)
def test_entry_tells_the_truth(entry):
    found = entry.load()
    assert issubclass(found, CrowdEstimator)
    assert found.__name__ == entry.name
    first = list(inspect.signature(found.fit).parameters)[1]
    assert first == {"semisupervised": "X", "consensus": "annotations"}[entry.kind]
    assert entry.module in {f"consilience.{entry.kind}", "consilience.deep"}
    assert set(entry.reads) <= {"groupings", "pairs", "labels"}
    assert "\n" not in entry.description


@pytest.mark.parametrize(
    "module", [consilience.semisupervised, consilience.consensus, consilience.deep], ids=lambda m: m.__name__
)
def test_every_public_estimator_is_registered(module):
    assert set(module.__all__) == {
        entry.name for entry in registry.ESTIMATORS.values() if entry.module == module.__name__
    }


def test_models_of_labels_read_nothing_else():
    for entry in registry.ESTIMATORS.values():
        assert (entry.reads == ("labels",)) == issubclass(entry.load(), LabelAggregator)


def test_estimator_imports_the_class():
    assert registry.estimator("PartitionLabelModel") is consilience.semisupervised.PartitionLabelModel


def test_unknown_name_is_refused_with_the_nearest():
    choice = f"; choose one of {', '.join(registry.ESTIMATORS)}\\."
    with pytest.raises(InputError, match=rf"^There is no model 'DawidSkeen'{choice} Did you mean DawidSkene\?$"):
        registry.estimator("DawidSkeen")
    with pytest.raises(InputError, match=rf"^There is no model 'x'{choice}$"):
        registry.entry("x")


def test_neither_the_package_nor_the_registry_imports_scikit_learn():
    code = "import sys, consilience, consilience.registry; print(sorted({'sklearn', 'pandas'} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


def test_package_exports_resolve():
    assert set(consilience.__all__) <= set(dir(consilience))
    for name in consilience.__all__:
        assert getattr(consilience, name).__name__ == name
    with pytest.raises(AttributeError, match="module 'consilience' has no attribute 'nothing'"):
        _ = consilience.nothing
