"""The default model of ``consilience fit``, ``--clusters``, and the warnings before a result."""

import json
import re
from inspect import signature
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from consilience import Groupings, Labels, load, registry, write_annotations
from consilience.cli.commands import fit as fit_command
from consilience.consensus import DawidSkene, MajorityVote, SubsetFusion
from consilience.errors import InputError
from consilience.semisupervised import MECC
from consilience.simulation import simulate_pairs
from consilience.workflows.caveats import suggestions, verdict
from consilience.workflows.inputs import ModelInputs
from consilience.workflows.model_choice import CHOICES, choose, with_clusters
from tests.quick_cases import some_quick

ROOT = Path(__file__).parent.parent.parent
KINDS = np.repeat([0, 1, 2], 8)
NAMES = [f"i{i}" for i in range(24)]


@pytest.fixture
def files(tmp_path):
    """Files of groupings, labels and pairs of 24 items of three kinds, and their features."""
    sorts = np.stack([KINDS, KINDS, KINDS, np.roll(KINDS, 1)], axis=1)
    write_annotations(Groupings.from_matrix(sorts, items=NAMES), tmp_path / "groupings.csv")
    write_annotations(Labels.from_matrix(sorts, items=NAMES), tmp_path / "labels.csv")
    pairs = simulate_pairs(KINDS, 4, 150, 0.95, random_state=0, items=NAMES)
    write_annotations(pairs, tmp_path / "pairs.csv")
    noise = np.random.default_rng(0).normal(size=(24, 2))
    features = pd.DataFrame(noise + 5 * np.stack([KINDS == 1, KINDS == 2], axis=1), columns=["f", "g"])
    features.assign(item=NAMES).to_csv(tmp_path / "features.csv", index=False)
    return tmp_path


@pytest.fixture
def random_files(tmp_path):
    """The same with random annotations."""
    rng = np.random.default_rng(8)
    answers = rng.integers(3, size=(24, 6))
    write_annotations(Groupings.from_matrix(answers, items=NAMES), tmp_path / "groupings.csv")
    write_annotations(Labels.from_matrix(answers, items=NAMES), tmp_path / "labels.csv")
    pairs = simulate_pairs(KINDS, 4, 60, 0.5, random_state=3, items=NAMES)
    write_annotations(pairs, tmp_path / "pairs.csv")
    return tmp_path


@pytest.mark.parametrize(
    ("kind", "with_features"), [key for key in CHOICES if key[0] not in ("ratings", "tags")]
)  # those ask for --kind
def test_the_kind_of_file_chooses_the_model_with_a_reason(kind, with_features, files, run, quick_report):
    features = ("--features", "features.csv") if with_features else ()
    result = run("fit", f"{kind}.csv", *features, "-o", "out")
    found = json.loads((files / "out" / "summary.json").read_text())
    choice = choose(kind, features=with_features)
    assert found["model"] == choice.model
    (line,) = [line for line in result.stderr.splitlines() if "Chose" in line]
    assert line == f"Note: {found['why']}"
    assert line.startswith(f"Note: Chose {choice.model}, since the file holds ")
    assert found["warnings"] == []
    clusters = pd.read_csv(files / "out" / ("labels.csv" if kind == "labels" else "clusters.csv")).set_index("item")
    found = clusters.iloc[:, 0].loc[NAMES].to_numpy()
    assert all(len(set(found[k == KINDS])) == 1 for k in range(3))
    assert len(set(found)) == 3


def test_fuse_is_the_same_as_fit_of_groupings_alone(files, run, is_drawn):
    run("fit", "groupings.csv", "-o", "one")
    run("fuse", "groupings.csv", "-o", "two")
    for name in ("clusters.csv", "annotators.csv", "model.zip", "report.html"):
        assert (files / "one" / name).read_bytes() == (files / "two" / name).read_bytes(), name
    page = (files / "one" / "report.html").read_text(encoding="utf-8")
    assert ("dendrogram" in page.casefold()) == is_drawn


def test_each_file_is_read_once(files, run, quick_report, monkeypatch):
    from consilience.workflows import inputs

    read = []
    for name in ("read_noted", "read_features"):
        real = getattr(inputs, name)
        monkeypatch.setattr(inputs, name, lambda path, *more, real=real: read.append(path.name) or real(path, *more))
    run("fit", "groupings.csv", "--features", "features.csv", "--set", "n_init=1", "--set", "prior_variance=1.0")
    run("fit", "labels.csv", "--features", "features.csv")
    assert read == ["groupings.csv", "features.csv", "labels.csv", "features.csv"]


def test_a_named_model_is_used_without_a_reason(files, run, quick_report):
    result = run("fit", "groupings.csv", "--model", "CSPA")
    assert "Chose" not in result.stderr


def test_docs_and_help_name_the_default_models():
    text = (ROOT / "docs" / "how-to-choose.rst").read_text(encoding="utf-8")
    table = text[text.index(".. _choose-default:") :].split(".. _", 2)[1]
    rows = re.findall(r"\* - (\w+)\n +- (yes|no)\n +- :class:`~consilience\.\w+\.(\w+)`", table)
    assert {(kind, features == "yes"): model for kind, features, model in rows} == {
        key: choice.model for key, choice in CHOICES.items()
    }
    said = " ".join(fit_command.help.split())
    for kind, features in (
        ("groupings with features", True),
        ("groupings alone", False),
        ("labels", False),
        ("pairs with features", True),
        ("pairs", False),
    ):
        model = choose(kind.split()[0], features=features).model
        found = re.search(rf"{kind}[^;.]*\b{model}|\b{model} for (judgements of )?{kind}", said)
        assert found, (kind, model)


@pytest.mark.parametrize("known", registry.ESTIMATORS.values(), ids=lambda known: known.name)
def test_the_registry_names_the_parameter_of_the_number_of_clusters(known):
    parameters = signature(known.load()).parameters
    assert {known.clusters, known.max_clusters} - {None} <= set(parameters)
    assert (known.clusters == "n_clusters") == ("n_clusters" in parameters)
    assert (known.max_clusters == "max_clusters") == ("max_clusters" in parameters)
    if "n_clusters" in parameters and parameters["n_clusters"].default == "auto":
        assert known.finds_clusters or known.reads == ("labels",)  # which have as many as there are classes
    if known.clusters is None:
        with pytest.raises(InputError, match=f"^{known.name} does not take a number of clusters"):
            with_clusters(known.name, {}, 3)
    else:
        assert with_clusters(known.name, {"x": 1}, 3) == {"x": 1, known.clusters: 3}
        both = re.escape(f"clusters and settings={{{known.clusters!r}: …}}")
        with pytest.raises(InputError, match=f"^{both} are the same; give one of them"):
            with_clusters(known.name, {known.clusters: 2}, 3)
    if known.finds_clusters:
        assert with_clusters(known.name, {}, "auto") == {}
    else:
        with pytest.raises(InputError, match=f"^{known.name} does not find the number of clusters"):
            with_clusters(known.name, {}, "auto")


def test_clusters_set_the_parameter(files, run, fails, quick_report):
    for arguments in (
        ("groupings.csv",),
        ("pairs.csv", "--set", "n_init=1"),
        ("labels.csv", "--model", "ProductMixture"),
        ("groupings.csv", "--model", "KCC"),
        ("groupings.csv", "--features", "features.csv", "--set", "prior_variance=1.0", "--set", "n_init=1"),
        ("pairs.csv", "--model", "Crowdclustering", "--set", "n_init=1"),
    ):
        run("fit", *arguments, "--clusters", "2", "-o", "out")
        model = load(files / "out" / "model.zip")
        assert (model[-1] if hasattr(model, "steps") else model).n_clusters_ == 2
    message = fails("fit", "labels.csv", "--clusters", "2")
    assert message.startswith("DawidSkene does not take a number of clusters. Its classes are those of the labels")
    assert fails("fit", "groupings.csv", "--model", "auto", "--clusters", "2").startswith(
        "--clusters belongs to one model"
    )
    assert fails("fit", "groupings.csv", "--model", "KCC", "--clusters", "2", "--set", "n_clusters=2") == (
        "--clusters and --set n_clusters are the same; give one of them."
    )
    assert fails("fuse", "groupings.csv", "--clusters", "0").startswith("Invalid value for '--clusters'")


def test_seed_and_jobs_are_ignored_if_the_chosen_model_has_no_such_parameter(files, run, fails, quick_report):
    result = run("fit", "groupings.csv", "--jobs", "2", "--seed", "3", "-o", "out")
    assert "Note: SubsetFusion has no parameter 'n_jobs'; it is ignored.\n" in result.stderr
    assert load(files / "out" / "model.zip").random_state == 3
    assert fails("fit", "groupings.csv", "--model", "SubsetFusion", "--jobs", "2").startswith(
        "SubsetFusion has no para"
    )


def test_an_error_of_a_default_model_says_that_it_was_chosen(files, fails):
    message = fails("fit", "groupings.csv", "--set", "prior_variance=1")
    assert message.startswith("SubsetFusion has no parameter 'prior_variance'")
    assert message.endswith("SubsetFusion was chosen since the file holds groupings; --model names another.")
    (files / "gold.csv").write_text("item,label\ni0,0\n")
    assert fails("fit", "groupings.csv", "--gold", "gold.csv").endswith("read it with --kind labels.")


@pytest.mark.parametrize("kind", some_quick(["groupings", "labels", "pairs"], 2))
def test_random_annotations_are_reported_first(kind, random_files, run, request):
    reports = None if kind == "pairs" else request.getfixturevalue("quick_report")
    code = 1 if kind == "pairs" else 0
    result = run("fit", f"{kind}.csv", "-o", "out", code=code)
    assert result.stdout.startswith("At chance: the annotators do not clearly agree with each other more than ")
    assert re.search(r"\(permutation test, p = [01]\.\d{3}; 0\.01 or less would be more than chance\)", result.stdout)
    found = json.loads((random_files / "out" / "summary.json").read_text())
    assert result.stdout.splitlines()[0] == found["warnings"][0]
    page = (random_files / "out" / "report.html").read_text(encoding="utf-8")
    if reports is None:
        assert page.index("At chance: ") < page.index('<ul class="findings">')
    else:
        assert reports.keywords[-1]["warnings"] == found["warnings"]
    result = run("fit", f"{kind}.csv", "-o", "out", "--json", code=code)
    assert json.loads(result.stdout) == found
    assert f"Warning: {found['warnings'][0]}\n" in result.stderr
    run("report", "out/model.zip", f"{kind}.csv")
    assert (random_files / "report.html").read_text(encoding="utf-8") == page


def test_one_cluster_of_pairs_alone_is_undecided_and_exit_1(tmp_path, run, quick_report):
    write_annotations(simulate_pairs([0] * 21, 3, 60, 0.95, False, 0), tmp_path / "same.csv")
    result = run("fit", "same.csv", "--model", "Crowdclustering", "--set", "n_init=1", "-o", "out", code=1)
    assert result.stdout.startswith(
        "Undecided: all 21 items are in one cluster, so no items were separated. Collect more "
    )
    assert result.stderr.splitlines()[-1] == (
        "Error: Undecided: see the warning. The results were nevertheless written to out."
    )
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {"clusters.csv", "summary.json", "report.html"}


def test_one_cluster_that_was_requested_is_a_result(files, run, quick_report):
    result = run("fit", "pairs.csv", "--clusters", "1")
    assert "Undecided" not in result.stdout + result.stderr


def of(model, said, features=None):
    return verdict(model, ModelInputs(said, features, []))


def test_as_many_clusters_as_items_and_empty_classes_are_reported():
    whole = Groupings.from_matrix(np.stack([KINDS] * 4, axis=1))
    fusion = SubsetFusion(random_state=0).fit(whole)
    fusion._cluster_codes, fusion._cluster_names = lambda: np.arange(24), lambda: pd.RangeIndex(24)
    (warning,) = of(fusion, whole).warnings
    assert warning.startswith("Undecided: each of the 24 items is a cluster of its own, so no items were joined.")
    fusion.n_clusters = 24  # as if requested
    assert of(fusion, whole).warnings == []
    labels = Labels.from_matrix([["a", "a"], ["b", "b"], ["c", "c"], ["a", "a"], ["b", "b"]] * 4)
    model = MajorityVote().fit(labels)
    assert of(model, labels).warnings == []
    model._cluster_codes = lambda: np.where(model.labels_ == "b", 1, 0)
    (warning,) = of(model, labels).warnings
    assert warning.startswith("No item is in the class c, which is the most frequent label of 4 items.")
    model._cluster_codes = lambda: np.zeros(20, int)
    (warning,) = of(model, labels).warnings
    assert warning.startswith("Undecided: all 20 items are in one class, a, so no items were separated.")


def test_suggestions_are_noted():
    whole = Groupings.from_matrix(np.stack([KINDS] * 4, axis=1))
    fusion = SubsetFusion(random_state=0).fit(whole)
    fine = of(fusion, whole)
    assert suggestions(fusion, ModelInputs(whole, None, []), fine) == []
    pairs = simulate_pairs(KINDS, 4, 150, 0.95, random_state=0)
    model = MECC(n_clusters=2, n_init=2, random_state=0).fit(None, pairs)
    (text,) = suggestions(model, ModelInputs(pairs, None, []), of(model, pairs))
    assert text == "The model found as many clusters as it may (2); clusters=4 allows more."
    labels = Labels.from_matrix(np.stack([KINDS] * 2, axis=1))
    vote = DawidSkene().fit(labels)
    (text,) = suggestions(vote, ModelInputs(labels, None, []), of(vote, labels))
    assert text.startswith("Half of the items have 2 or fewer labels")
