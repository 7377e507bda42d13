"""The content of a file of a saved model: only what such a model learns, and no more memory than its own bytes."""

import json
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest

import consilience
from consilience import load, registry, save
from consilience.active import ActiveSession
from consilience.consensus import KCC, MajorityVote
from consilience.errors import InputError, SavedModelError, SavedModelWarning
from consilience.estimators.learned import ANYTHING, attributes_of, codes
from consilience.persistence import migrations
from tests.fuzz.saved_models import COMPILED, SETTINGS, collecting, npy, pool, read, study, written
from tests.quick_cases import quick_in_turn

LONG = {"range": [0, 200_000_000, 1, None]}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A saved model of every kind that does not need compilation, by name."""
    with pytest.MonkeyPatch.context() as context, warnings.catch_warnings():
        context.chdir(tmp_path_factory.mktemp("pool"))
        warnings.simplefilter("ignore")
        return pool(compiled=False)


def document_of(content):
    return json.loads(read(content)["model.json"])


def with_document(content, document):
    return written(read(content) | {"model.json": json.dumps(document).encode()})


def refusal(content, path):
    path.write_bytes(content)
    with pytest.raises(SavedModelError) as caught:
        load(path)
    said = str(caught.value)
    assert said.startswith(str(path))
    assert "\n" not in said
    assert said.endswith(".")
    return said.removeprefix(str(path))


def declared(name):
    return attributes_of(registry.estimator(name))


@pytest.mark.parametrize("name", registry.ESTIMATORS)
def test_every_estimator_declares_what_it_learns(name):
    assert {"items_", "labels_", "n_clusters_", "annotators_", "responsibilities_"} <= declared(name).keys()


@pytest.mark.parametrize("name", quick_in_turn(SETTINGS, 0))
def test_an_attribute_of_another_type_is_refused_by_name(name, files, tmp_path):
    """The name of a colour instead of an array, a table or a number."""
    attributes = document_of(files[name])["model"]["estimator"]["attributes"]
    for key in attributes:
        document = document_of(files[name])
        document["model"]["estimator"]["attributes"][key] = "red"
        members = read(with_document(files[name], document))
        if declared(name)[key].expected == ANYTHING.expected and key in ("n_features_in_", "feature_names_in_"):
            continue  # columns of a matrix, which are not used
        assert f"{key!r}" in refusal(written(members), tmp_path / "model.zip")


@pytest.mark.parametrize("name", quick_in_turn(SETTINGS, 1))
def test_an_attribute_that_is_missing_is_named(name, files, tmp_path):
    for key in document_of(files[name])["model"]["estimator"]["attributes"]:
        document = document_of(files[name])
        del document["model"]["estimator"]["attributes"][key]
        if not declared(name)[key].optional:
            said = refusal(with_document(files[name], document), tmp_path / "model.zip")
            assert said == f" is damaged: The {key!r} of {name} is missing, as after a failed fit."


@pytest.mark.parametrize("name", SETTINGS)
def test_a_parameter_of_another_type_is_refused_by_name(name, files, tmp_path):
    for key in document_of(files[name])["model"]["estimator"]["parameters"]:
        document = document_of(files[name])
        colours = {"tuple": ["red", "blue"]}
        document["model"]["estimator"]["parameters"][key] = "red" if key == "levels" else colours  # may be a list
        said = refusal(with_document(files[name], document), tmp_path / "model.zip")
        assert f"The '{key}' parameter of {name} must be" in said


@pytest.mark.parametrize(
    ("name", "key", "change", "said"),
    [
        ("KCC", "labels_", lambda labels: np.append(labels, 0), "'labels_' of KCC must be integers from -1"),
        ("KCC", "labels_", lambda labels: labels - 9, "'labels_' of KCC must be integers from -1"),
        ("KCC", "labels_", lambda labels: labels + 9, "'labels_' of KCC must be integers from -1"),
        ("KCC", "labels_", lambda labels: labels.astype(float), "'labels_' of KCC must be integers from -1"),
        ("KCC", "labels_", lambda labels: labels[:, None], "'labels_' of KCC must be integers from -1"),
        ("MECC", "responsibilities_", lambda own: own * np.nan, "'view_responsibilities_' of MECC"),
        ("MECC", "responsibilities_", lambda own: own * 2, "'responsibilities_' of MECC must be an array of floats"),
        ("MPCKMeans", "cluster_centers_", lambda own: own * np.inf, "that are finite"),
        ("MPCKMeans", "cluster_centers_", lambda own: own[:, :1], "of shape (clusters, features)"),
        ("MajorityVote", "responsibilities_", lambda own: own[::-1].copy(), "'labels_' of MajorityVote contradicts"),
        (
            "PartitionLabelModel",
            "coef_",
            lambda own: own.astype("c16"),
            "'coef_' of PartitionLabelModel must be an arr",
        ),
        ("Crowdclustering", "embedding_", lambda own: own[:-1], "'embedding_' of Crowdclustering must be an array"),
    ],
)
def test_arrays_of_another_shape_kind_or_range_are_refused(name, key, change, said, files, tmp_path):
    members = read(files[name])
    place = document_of(files[name])["model"]["estimator"]["attributes"][key]["array"]
    member = f"arrays/{place}.npy"
    path = tmp_path / "array.npy"
    path.write_bytes(members[member])
    changed = change(np.load(path))
    assert said in refusal(written(members | {member: npy(np.ascontiguousarray(changed))}), tmp_path / "model.zip")


def test_a_class_that_is_not_an_estimator_is_named(files, tmp_path):
    document = document_of(files["KCC"])
    document["model"]["estimator"]["class"] = "Popen"
    said = refusal(with_document(files["KCC"], document), tmp_path / "model.zip")
    assert said == " contains a 'Popen', which this version of consilience does not know."
    document["model"]["estimator"]["class"] = "SubsetFusion"
    said = refusal(with_document(files["KCC"], document), tmp_path / "model.zip")
    assert said.startswith(" gives SubsetFusion the parameter 'init', which it does not have in this version.")


def test_every_array_is_used_exactly_once(files, tmp_path):
    document = document_of(files["KCC"])
    attributes = document["model"]["estimator"]["attributes"]
    attributes["labels_"], attributes["_table"] = attributes["_table"], attributes["_table"]
    said = refusal(with_document(files["KCC"], document), tmp_path / "model.zip")
    assert "which does not exist or was used before" in said
    attributes["mine"] = attributes.pop("_table")
    attributes["labels_"] = document_of(files["KCC"])["model"]["estimator"]["attributes"]["labels_"]
    assert "The '_table' of KCC is missing" in refusal(with_document(files["KCC"], document), tmp_path / "model.zip")


def test_other_attributes_of_users_are_restored_unless_they_look_learned(tmp_path):
    _, said = study()
    model = KCC(3, random_state=0).fit(said)
    model.note = "of June"
    save(model, tmp_path / "model.zip")
    assert load(tmp_path / "model.zip").note == "of June"
    model.mood_ = "good"
    with pytest.raises(InputError, match=r"^KCC cannot be saved: KCC has no attribute 'mood_'\.$"):
        save(model, tmp_path / "model.zip")


def test_models_that_load_would_refuse_are_not_saved(tmp_path):
    _, said = study()
    model = KCC(3, random_state=0).fit(said)
    model.set_params(n_init="many")
    with pytest.raises(InputError, match=r"^KCC cannot be saved: The 'n_init' parameter of KCC must be an int from 1"):
        save(model, tmp_path / "model.zip")
    half = KCC(3)
    half.items_ = pd.RangeIndex(3)
    with pytest.raises(InputError, match=r"The 'n_clusters_' of KCC is missing, as after a failed fit\.$"):
        save(half, tmp_path / "model.zip")
    assert list(tmp_path.iterdir()) == []


PEAK = """
import sys, tracemalloc
from consilience import load, registry
for name in registry.ESTIMATORS:
    if registry.ESTIMATORS[name].module != "consilience.deep":
        registry.estimator(name)
import sklearn.decomposition, sklearn.impute, sklearn.compose, consilience.active
for path in sys.argv[1:]:
    tracemalloc.start()
    try:
        load(path)
        said = "loaded"
    except ValueError as error:
        said = str(error)
    print(tracemalloc.get_traced_memory()[1], said)
    tracemalloc.stop()
"""


def peaks(paths):
    """Return the peak memory of loading each file, in a separate process, and the messages."""
    done = subprocess.run([sys.executable, "-c", PEAK, *map(str, paths)], capture_output=True, text=True, check=True)
    found = [line.partition(" ") for line in done.stdout.splitlines()]
    assert len(found) == len(paths)
    return [(int(size), said) for size, _, said in found]


def bombs(content):
    """Return the file with each of its indexes in turn as a range of 200 million names, and with other long ranges."""
    document = document_of(content)
    for holder, key in list(indexes(document["model"])):
        kept = holder[key]
        for long in (LONG, {"categories": [LONG, kept, False]}, {"index": [LONG, None]}):
            holder[key] = long
            yield with_document(content, document)
        holder[key] = kept


def indexes(node):
    """Yield the position of every index in a document: its container and key."""
    for key, part in list(
        node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else []
    ):
        if isinstance(part, dict) and part.keys() & {"index", "range", "strings", "levels", "tuple"}:
            yield node, key
        yield from indexes(part)


@pytest.mark.slow
def test_loading_takes_no_more_memory_than_a_small_file_may(files, tmp_path):
    """Six kilobytes that name 200 million items took 1.5 GB."""
    paths = []
    for name, content in files.items():
        for number, bomb in enumerate(bombs(content)):
            paths.append(tmp_path / f"{name}-{number}.zip")
            paths[-1].write_bytes(bomb)
    assert len(paths) > 200
    found = peaks(paths)
    largest = max(size for size, _ in found)
    assert largest < 3 << 20, max(found)
    loaded = [path.name for path, (_, said) in zip(paths, found) if said == "loaded"]
    assert loaded == []


@pytest.mark.slow
def test_loading_takes_little_more_memory_than_the_arrays_of_a_large_file(tmp_path):
    rng = np.random.default_rng(0)
    study_of_many = ActiveSession(pd.RangeIndex(1_000_000), random_state=0)
    save(study_of_many, tmp_path / "range.zip")
    words = pd.DataFrame({name: rng.integers(0, 3, 200_000) for name in "wxyz"})
    save(KCC(3, n_init=1, random_state=0).fit(words), tmp_path / "many.zip")
    (few, one), (many, other) = peaks([tmp_path / "range.zip", tmp_path / "many.zip"])
    assert (one, other) == ("loaded", "loaded")
    assert few < 4 * (tmp_path / "range.zip").stat().st_size
    many_rows = 8 * 4 * 200_000  # each membership is a number in memory, and the file only says where it is
    assert many < 1.5 * (tmp_path / "many.zip").stat().st_size + many_rows


@pytest.mark.parametrize(
    "content",
    [
        npy(np.array([], dtype="U1"), shape=(10**9,), descr="<U0"),
        npy(np.zeros(3), shape=(10**12,)),
        npy(np.zeros(0), shape=(0, 10**30)),
        npy(np.zeros(3), descr="<U200000000"),
        npy(np.array([7], dtype=np.uint32), descr="<U1").replace(b"\x07\0\0\0", b"\xff\xff\xff\xff"),
        npy(np.array([7], dtype=np.uint8), descr="|b1"),
    ],
    ids=["empty text", "long", "none of many", "long text", "no letters", "no truth"],
)
def test_arrays_with_a_wrong_header_are_refused(content, files, tmp_path):
    members = read(files["KCC"]) | {"arrays/0.npy": content}
    said = refusal(written(members), tmp_path / "model.zip")
    assert said == " is damaged: its member arrays/0.npy is not an array."


@pytest.mark.parametrize("text", ['{"format":"x","format":"y"}', '{"n_arrays":NaN}', '{"n_arrays":' + "[" * 10**5])
def test_json_that_no_version_writes_is_refused(text, files, tmp_path):
    said = refusal(written(read(files["KCC"]) | {"model.json": text.encode()}), tmp_path / "model.zip")
    assert said == " is damaged: its member model.json is not JSON, or is nested too deep."


def test_columns_that_would_open_files_are_refused(files, tmp_path):
    document = document_of(files["KCC"])
    zone = {"extension": ["datetime64[ns, dateutil//etc/hostname]", []]}
    document["model"]["estimator"]["attributes"]["items_"] = {"index": [zone, None]}
    said = refusal(with_document(files["KCC"], document), tmp_path / "model.zip")
    assert said == " is damaged: the 'items_' of KCC is not a valid 'extension'."


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("a\0b", "A path cannot contain a null character. Got 'a\\x00b'."),
        ("x" * 300, f"{'x' * 300} cannot be read: File name too long."),
        ("/dev/null", "/dev/null is not a regular file but a device or a pipe."),
    ],
)
def test_invalid_paths_are_refused(path, said):
    with pytest.raises(InputError) as caught:
        load(path)
    assert str(caught.value) == said


def test_steps_that_do_not_match_each_other_are_refused(files, tmp_path):
    document = document_of(files["pipeline"])
    steps = document["model"]["estimator"]["parameters"]["steps"]
    del steps[2]  # the PCA
    said = refusal(with_document(files["pipeline"], document), tmp_path / "model.zip")
    assert "refers to the array" not in said
    assert "(the steps return 2 features, but the model takes 1)" in said


def test_parameters_and_attributes_of_earlier_versions_are_migrated(files, tmp_path, monkeypatch):
    """As if `n_clusters` had been called `n_groups`, and the objective had been stored with the other sign."""
    document = document_of(files["KCC"])
    estimator = document["model"]["estimator"]
    estimator["parameters"]["n_groups"] = estimator["parameters"].pop("n_clusters")
    objective = estimator["attributes"]["objective_"]
    path = tmp_path / "model.zip"
    said = refusal(with_document(files["KCC"], document), path)
    assert said.startswith(" gives KCC the parameter 'n_groups', which it does not have in this version")

    def renamed(parameters, attributes):
        others = {name: value for name, value in parameters.items() if name != "n_groups"}
        return others | {"n_clusters": parameters["n_groups"]}, attributes

    def negated(parameters, attributes):
        return parameters, attributes | {"objective_": -attributes["objective_"]}

    monkeypatch.setitem(migrations.MIGRATIONS, "KCC", (renamed, negated))
    model = load(path)
    assert model.n_clusters == 3
    assert model.objective_ == -objective


def test_the_version_that_saved_a_file_is_reported(files, tmp_path):
    path, document = tmp_path / "model.zip", document_of(files["KCC"])
    document["versions"]["consilience"] = "0.0.9"
    path.write_bytes(with_document(files["KCC"], document))
    expected = f"{path} was saved by consilience 0.0.9; this is {consilience.__version__}."
    with pytest.warns(SavedModelWarning) as caught:
        load(path)
    assert [str(warning.message) for warning in caught] == [expected]
    document["model"]["estimator"]["attributes"]["labels_"] = "red"
    said = refusal(with_document(files["KCC"], document), path)
    assert said.startswith(" (saved by consilience 0.0.9) is damaged: The 'labels_' of KCC must be")


@pytest.mark.parametrize("compiled", [pytest.param(True, marks=pytest.mark.slow)])
def test_states_of_deep_models_must_match_their_networks(compiled, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kept = pool(compiled=compiled)
    for name in COMPILED:
        document = document_of(kept[name])
        document["model"]["estimator"]["parameters"]["hidden"] = {"tuple": [5]}
        said = refusal(with_document(kept[name], document), tmp_path / "model.zip")
        assert said == f" is damaged: The 'state_' of {name} contradicts other attributes of it."


def test_a_session_must_match_its_items(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "study.zip"
    save(collecting(), path)
    content = path.read_bytes()
    held = document_of(content)["model"]["estimator"]["attributes"]["_counts"]["tuple"][1:]
    for key, value, said in [
        ("_counts", "x", "The '_counts' of ActiveSession must be counts of pairs, but is not."),
        ("_n_asked", -1, "The '_n_asked' of ActiveSession must be an integer of at least 0, but is not."),
        ("_pending", [{"tuple": [1, ["nobody"], None]}], "The '_pending' of ActiveSession contradicts"),
        ("_left_out", [{"tuple": [1, ["nobody"], None, []]}], "The '_left_out' of ActiveSession contradicts"),
        ("_counts", {"tuple": [13, *held]}, "The '_counts' of ActiveSession contradicts"),
        ("_n_sampled", 4, "The '_n_sampled' of ActiveSession contradicts"),
        ("items_", {"range": [0, 12, 1, None]}, "The 'items' of ActiveSession contradicts"),
    ]:
        document = document_of(content)
        document["model"]["estimator"]["attributes"][key] = value
        assert said in refusal(with_document(content, document), path)


def test_a_session_without_groupings_counts_none(tmp_path):
    path = tmp_path / "study.zip"
    save(ActiveSession(range(12), random_state=0), path)
    document = document_of(path.read_bytes())
    document["model"]["estimator"]["attributes"]["_n_sampled"] = 1
    said = refusal(with_document(path.read_bytes(), document), path)
    assert "The '_n_sampled' of ActiveSession contradicts" in said


def test_another_zip_archive_is_not_a_model(tmp_path):
    path = tmp_path / "book.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", "<x/>")
    assert refusal(path.read_bytes(), path) == " is not a saved model: it is a zip archive without model.json."


def too_many_together(model):
    model.annotators_ = model.annotators_.assign(n_together=model.annotators_["n_pairs"] + 1)


def too_many_clusters(model):
    model.views_ = model.views_.assign(n_clusters=10**18)


def too_large_a_metric(model):
    root, log_det = model._metric
    model._metric = (root * 1e200, log_det)


def too_large_weights(model):
    model._weights = [(mean * 1e200, deviation) for mean, deviation in model._weights]


def an_index_among_the_labels(model):
    model.labels_ = model.labels_.astype(object)
    model.labels_[0] = LONG_INDEX


def an_index_among_the_starts(model):
    model.starts_ = pd.DataFrame({"a": pd.Series([LONG_INDEX, "x"], dtype=object)})


LONG_INDEX = pd.RangeIndex(200_000_000)


@pytest.mark.parametrize(
    ("name", "change", "attribute"),
    [
        ("MPCKMeans", too_many_together, "annotators_"),
        ("ITMLClustering", too_many_together, "annotators_"),
        ("SemiCrowd", too_many_together, "annotators_"),
        ("MetaClustering", too_many_clusters, "views_"),
        ("MPCKMeans", too_large_a_metric, "_metric"),
        ("MECC", too_large_weights, "_weights"),
        ("DawidSkene", an_index_among_the_labels, "labels_"),
        ("StagewiseEM", an_index_among_the_starts, "starts_"),
    ],
)
def test_impossible_attributes_are_neither_saved_nor_loaded(name, change, attribute, files, tmp_path):
    """Both apply the same checks; forged files with such attributes led to wrong results and errors."""
    path = tmp_path / "model.zip"
    path.write_bytes(files[name])
    model = load(path)
    change(model)
    with pytest.raises(InputError, match=f"^{name} cannot be saved: The '{attribute}' of {name} "):
        save(model, path)
    assert path.read_bytes() == files[name]


def test_a_session_whose_items_contain_an_index_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    session = collecting()
    session.items = [LONG_INDEX, *session.items[1:]]
    with pytest.raises(InputError, match=r"^ActiveSession cannot be saved: The 'items' of"):
        save(session, "study.zip")


@pytest.mark.parametrize(
    ("last", "missing", "is_right"), [(2, False, True), (3, False, False), (-1, False, False), (-1, True, True)]
)
def test_codes_are_below_the_number_of_what_they_count(last, missing, is_right):
    check, sizes = codes("items", "clusters", missing=missing), {"items": 2, "clusters": 3}
    assert check.holds(np.array([0, last]), sizes) == is_right


def test_a_probability_above_one_by_rounding_is_one(tmp_path):
    """Sums over subtypes of a class may end there."""
    model = MajorityVote().fit([[0, 0], [1, 1]])
    model.responsibilities_ = np.where(np.eye(2) == 1, np.nextafter(1, 2), 0)
    save(model, tmp_path / "model.zip")
    model.responsibilities_ = np.eye(2) * (1 + 1e-6)
    with pytest.raises(InputError, match="responsibilities_"):
        save(model, tmp_path / "model.zip")
