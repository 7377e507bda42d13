"""Saved models, damaged and forged at random: bytes flipped, files cut, entries of other types, arrays of other shapes.

What loads is used: it tells the clusters of its items, places new ones, and is saved again. Whatever comes of it must
be right or one sentence, and take no more memory than a small file may.
"""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from consilience import Groupings, Labels, load, registry, save
from consilience.active import ActiveSession
from consilience.analysis.clustering import FoundClusters
from consilience.consensus import KCC
from tests.fuzz.outcome import OTHER, outcome_of
from tests.quick_cases import QUICK

N_ITEMS = 12
SETTINGS: dict[str, dict[str, Any]] = {
    "PartitionLabelModel": {"prior_variance": 1.0, "n_init": 1, "max_clusters": 3, "random_state": 0},
    "MajorityVote": {},
    "DawidSkene": {"max_iter": 20},
    "ProductMixture": {"max_iter": 20, "n_init": 1, "random_state": 0},
    "OrdinalRatings": {"max_iter": 30},
    "TagConsensus": {"max_iter": 30},
    "SpectralEM": {"n_init": 1, "n_starts": 10, "max_iter": 20, "random_state": 0},
    "StagewiseEM": {"max_iter": 10, "refine": None},
    "SubsetFusion": {"max_clusters": 4, "random_state": 0},
    "MCVC": {"n_clusters": 2, "n_init": 2, "random_state": 0},
    "MECC": {"n_clusters": 2, "n_init": 2, "random_state": 0},
    "MPCKMeans": {"n_clusters": 3, "random_state": 0},
    "ITMLClustering": {"n_clusters": 3, "random_state": 0},
    "SemiCrowd": {"n_clusters": 3, "random_state": 0},
    "DawidSkeneClassifier": {"random_state": 0},
    "InductiveConsensus": {"consensus": KCC(3, n_init=2), "random_state": 0},
    "CorrelationClustering": {"n_init": 1, "random_state": 0},
    "Crowdclustering": {"n_init": 1, "max_iter": 5, "max_clusters": 2, "n_components": 2, "random_state": 0},
    "KCC": {"n_clusters": 3, "n_init": 2, "random_state": 0},
    "CSPA": {"max_clusters": 3, "random_state": 0},
    "MetaClustering": {"max_clusters": 3, "random_state": 0},
}
COMPILED = {
    "BayesSCDC": {"n_clusters": 3, "n_latent": 2, "hidden": (4,), "batch_size": 8, "n_epochs": 4, "random_state": 0},
    "SCDC": {"n_clusters": 2, "n_latent": 2, "hidden": (4,), "batch_size": 8, "n_epochs": 4, "random_state": 0},
    "DeepMCVC": {"n_clusters": 2, "max_views": 1, "hidden": (4,), "n_init": 2, "n_sweeps": 4, "random_state": 0},
}
SETTINGS |= {name: quick for name, quick in QUICK.items() if name not in SETTINGS | COMPILED}
VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 3, 2**31, 2**63, -(2**70), 0.5, -0.5, 1e308, "", "x", "auto", "\x1b[31m", "é" * 300),
    *(
        [],
        [0],
        ["a", "b"],
        [[]],
        {},
        {"array": 0},
        {"array": 10**6},
        {"float": "nan"},
        {"float": "inf"},
        {"int": "0x" + "f" * 40},
    ),
    *({"range": [0, 200_000_000, 1, None]}, {"range": [0, 12, 1, None]}, {"range": [0, 10**18, 1, None]}),
    *(
        {"dtype": "<f8"},
        {"dtype": "<U200000000"},
        {"dict": []},
        {"tuple": []},
        {"tuple": [1, "a"]},
        {"date": "2024-02-30"},
    ),
    *(
        {"objects": [[0, 10**9], []]},
        {"objects": [[3], [1, None, "a"]]},
        {"slice": [None, None, None]},
        {"type": "<f8"},
    ),
    *({"extension": ["datetime64[ns, dateutil//etc/hostname]", []]}, {"extension": ["Int64", [1, {"missing": "NA"}]]}),
    *(
        {"scalar": ["<f8", "00" * 8]},
        {"text": "t"},
        {"estimator": {"class": "KCC", "parameters": {}, "attributes": {}}},
    ),
    *(
        {"estimator": {"class": "PCA", "parameters": {}, "attributes": {}}},
        {"index": [{"objects": [[2], ["a", "a"]]}, None]},
    ),
    {"categories": [{"range": [0, 200_000_000, 1, None]}, {"array": 1}, False]},
]
"""What entries of the JSON are replaced by."""


def study() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Features of a few items, and the names of their groups by four annotators."""
    names = [f"item {i}" for i in range(N_ITEMS)]
    heaps = np.repeat([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]], N_ITEMS // 3, axis=0)
    features = pd.DataFrame(np.random.default_rng(0).normal(size=heaps.shape) + heaps, names, ["a", "b"])
    said = {"Ann": "aaaabbbbcccc", "Bo": "aabbbbbbbbbc", "Cy": "aaabbbbbcccc", "Di": "aabbbbbccccc"}
    return features, pd.DataFrame({name: list(groups) for name, groups in said.items()}, index=names)


def pool(*, compiled: bool) -> dict[str, bytes]:
    """A saved model of every kind, by its name."""
    features, said = study()
    models: dict[str, Any] = {}
    for name, settings in (SETTINGS | COMPILED if compiled else SETTINGS).items():
        entry = registry.entry(name)
        annotations = Labels.from_matrix(said) if entry.reads[0] == "labels" else Groupings.from_matrix(said)
        given = (features, annotations) if entry.kind == "semisupervised" else (annotations,)
        ordered = {"levels": list("abc")} if name == "OrdinalRatings" else {}
        models[name] = registry.estimator(name)(**settings | ordered).fit(*given)
    partition = registry.estimator("PartitionLabelModel")(**SETTINGS["PartitionLabelModel"])
    holes = features.mask(features["a"] > 6)
    models["pipeline"] = make_pipeline(SimpleImputer(), StandardScaler(), PCA(1), partition).set_output(
        transform="pandas"
    )
    models["pipeline"].fit(holes, Groupings.from_matrix(said))
    text = features.assign(c=list("xyz" * 4))
    columns = registry.estimator("MECC")(**SETTINGS["MECC"])
    from sklearn.compose import ColumnTransformer

    encoded = ColumnTransformer([("text", OneHotEncoder(sparse_output=False), ["c"])], remainder="passthrough")
    models["columns"] = make_pipeline(encoded, columns).set_output(transform="pandas")
    models["columns"].fit(text, Groupings.from_matrix(said))
    models["unfitted"] = registry.estimator("PartitionLabelModel")(random_state=np.random.RandomState(0))
    models["session"] = collecting()
    return {name: saved(model) for name, model in models.items()}


def collecting() -> ActiveSession:
    """A study with answers, a consensus and a subset that waits for its answer."""
    session = ActiveSession([f"item {i}" for i in range(N_ITEMS)], random_state=0)
    for number in range(3):
        (subset,) = session.ask(1, 5, annotators=[f"p{number}"])
        session.tell([subset.items[:2], subset.items[2:4]], subset=subset)
    session.consensus()
    session.ask(2, 4, annotators=["q", None])
    return session


def saved(model: Any, path: Path = Path("fuzz-model.zip")) -> bytes:
    """The file of a model."""
    save(model, path)
    content = path.read_bytes()
    path.unlink()
    return content


def forged(content: bytes, random: Random) -> tuple[str, bytes]:
    """A file made of another, and what was done to it."""
    change = random.choice(
        [flipped, cut, other_entry, other_entry, other_entry, other_entry, other_array, other_member]
    )
    return change.__name__, change(content, random)


def flipped(content: bytes, random: Random) -> bytes:
    """Some bits are turned."""
    changed = bytearray(content)
    for _ in range(random.randint(1, 4)):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def cut(content: bytes, random: Random) -> bytes:
    """The end is missing, or something stands before or behind."""
    more = random.choice([b"", b"", b"PK\x05\x06", bytes(100)])
    return random.choice([content[: random.randrange(len(content))], more + content, content + more])


def other_entry(content: bytes, random: Random) -> bytes:
    """One or two entries of the JSON are others, gone, or twice; the checksums are right."""
    members = read(content)
    document = json.loads(members["model.json"])
    for _ in range(random.randint(1, 2)):
        change_node(document, random)
    members["model.json"] = json.dumps(document).encode()
    return written(members)


def change_node(document: Any, random: Random) -> None:
    """Replace, take out or repeat one node at random."""
    places = list(nodes(document))
    holder, key = random.choice(places)
    how = random.random()
    if how < 0.55:
        holder[key] = random.choice(VALUES)
    elif how < 0.75:
        other_holder, other_key = random.choice(places)
        holder[key] = json.loads(json.dumps(other_holder[other_key]))
    elif how < 0.9:
        del holder[key]
    elif isinstance(holder, list):
        holder.insert(key, holder[key])
    else:
        holder[random.choice(["x", "labels_", "_x", "fit", "é"])] = holder[key]


def nodes(node: Any) -> Any:
    """Every place in a document: what holds it, and its key."""
    for key, part in list(
        node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else []
    ):
        yield node, key
        yield from nodes(part)


def other_array(content: bytes, random: Random) -> bytes:
    """An array is of another kind, shape or order, or its header lies."""
    members = read(content)
    names = [name for name in members if name.startswith("arrays/")]
    if not names:
        return other_entry(content, random)
    name = random.choice(names)
    array = np.load(io.BytesIO(members[name]), allow_pickle=False)
    members[name] = random.choice(ARRAYS)(array, random)
    return written(members)


def npy(array: np.ndarray, **header: Any) -> bytes:
    """The file of an array, with a header that may lie."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array) | header)
    return file.getvalue() + array.tobytes()


def _some_cell(array: np.ndarray, random: Random) -> bytes:
    changed = array.copy()
    if changed.size:
        value = random.choice([-1, 0, 2**31, 10**18, np.nan, np.inf, -np.inf, 1e308, 7, 0.5])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            changed.reshape(-1)[random.randrange(changed.size)] = np.array(value).astype(array.dtype)
    return npy(changed)


ARRAYS: list[Callable[[np.ndarray, Random], bytes]] = [
    _some_cell,
    _some_cell,
    lambda array, random: (
        npy(array.astype(random.choice(["f4", "i8", "U3", "c16", "b1", "M8[s]"]), copy=True))
        if array.dtype.kind in "fiu" and np.isfinite(array).all()
        else npy(np.zeros(3))
    ),
    lambda array, random: npy(array[:-1] if array.ndim else array),
    lambda array, random: npy(np.concatenate([array, array]) if array.ndim else array),
    lambda array, random: npy(np.ascontiguousarray(array.T)),
    lambda array, random: npy(array.reshape(-1)),
    lambda array, random: npy(array[..., None]),
    lambda array, random: npy(array, shape=random.choice([(10**12,), (0, 10**15), (-3,), (2, 2)])),
    lambda array, random: npy(array, descr=random.choice(["|O", "<U0", "<U100000000", [("a", "<f8")]])),
    lambda array, random: npy(np.zeros(0)),
    lambda array, random: npy(np.array([], dtype="U1"), shape=(10**9,), descr="<U0"),
]


def other_member(content: bytes, random: Random) -> bytes:
    """A member is gone, new, twice, compressed, or another's."""
    members = read(content)
    names = list(members)
    how = random.randrange(4)
    if how == 0:
        del members[random.choice(names)]
    elif how == 1:
        members[random.choice(["../escape", "/etc/passwd", "arrays/99.npy", "x\x1b[31m", "a" * 300])] = bytes(9)
    elif how == 2:
        one, other = random.choice(names), random.choice(names)
        members[one], members[other] = members[other], members[one]
    else:
        members["arrays/99.npy"] = bytes(10**6)
        return written(members, zipfile.ZIP_DEFLATED)
    return written(members)


def read(content: bytes) -> dict[str, bytes]:
    """Members of an archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def written(members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """An archive of members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def used(path: Path) -> bool:
    """Load a model and use it: whether its answers have the shapes that they must have."""
    features, said = study()
    found = load(path)
    model = found[-1] if hasattr(found, "steps") else found
    if isinstance(model, ActiveSession):
        return goes_on(model)
    if not hasattr(model, "items_"):
        return True
    answer = FoundClusters.of(model)
    fine = len(answer.codes) == len(model.items_) and len(answer.index) > int(answer.codes.max(initial=-1))
    one, other = model.items_[0], model.items_[-1]
    fine = fine and 0 <= float(model.predict_same(one, other)) <= 1 + 1e-9
    by = model.annotators_.index[0]
    fine = fine and 0 <= float(model.predict_same(one, other, annotator=by)) <= 1 + 1e-9
    model.cluster_profile(pd.DataFrame({"x": np.arange(len(model.items_))}, index=model.items_))
    if hasattr(found, "predict") and hasattr(found, "n_features_in_"):
        names = getattr(found, "feature_names_in_", None)
        table = features.assign(c="x").reindex(columns=names) if names is not None else features.to_numpy()
        fine = fine and len(found.predict(table)) == N_ITEMS
        if hasattr(found, "predict_proba"):
            fine = fine and found.predict_proba(table).shape == (N_ITEMS, model.n_clusters_)
    elif hasattr(model, "classes_"):
        fine = fine and model.predict_proba(Labels.from_matrix(said)).shape == (N_ITEMS, model.n_clusters_)
    saved(found, path.with_name("again.zip"))
    return bool(fine)


def goes_on(session: ActiveSession) -> bool:
    """Ask, tell and fuse once more."""
    asked = session.ask(1, 3)
    session.tell([asked[0].items[:1], asked[0].items[1:]], subset=asked[0])
    session.consensus()
    saved(session, Path("again.zip"))
    return len(asked) == 1 and len(asked[0].items) == 3


def case(content: bytes, random: Random, path: Path) -> tuple[str, str, str]:
    """Forge a file and use it: outcome, what was said, and what was done."""
    change, made = forged(content, random)
    path.write_bytes(made)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        kind, said = outcome_of(lambda: used(path), bool)
    if "does not fit into the memory" in said or (said.startswith("refused") and not named(said, path)):
        kind = OTHER
    return kind, said, change


def named(said: str, path: Path) -> bool:
    """Whether a refusal names the file, or a part of the data that was given to the model."""
    return str(path) in said or not said.startswith("refused: model")
