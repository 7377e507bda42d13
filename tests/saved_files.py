"""Saved files of every configuration, with the figures that their models give, which every later version must give.

`python -m tests.saved_files` writes those that `saved/<version>/` lacks, and their figures to `figures.jsonl` there. It
replaces none. Names of models as arguments restrict it to these.
"""

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import consilience
from consilience import Groupings, Labels, load, registry, save
from consilience.active import ActiveSession, LabelSession
from consilience.active.named_strategies import STRATEGIES
from consilience.consensus import DawidSkene
from consilience.subsets import SubsetClustering
from tests.test_saved_estimators import CONFIGURED, NAMED, QUICK, features, fitted, given, groups

FOLDER = Path(__file__).parent / "saved"
FIGURES = "figures.jsonl"
DIGITS = 9  # of figures, which are compared to fewer

Make = Callable[[], Any]


def configurations() -> dict[str, dict[str, Any]]:
    """Return the parameters of each configuration of an estimator, by the name of its file."""
    return {
        f"{name}-{number}": QUICK[name] | chosen
        for name in QUICK
        for number, chosen in enumerate([{}, *filter(None, CONFIGURED[name])])
    }


def study_of(parameters: dict[str, Any]) -> tuple[Any, Any]:
    """Return the features and annotations to which a model with these parameters is fitted."""
    return (features().rank(pct=True) if parameters.get("likelihood") == "bernoulli" else features()), groups()


def fit(name: str, parameters: dict[str, Any]) -> Any:
    """Return a configuration fitted, whatever drew from its random state before."""
    return fitted(name, study_of(parameters), **deepcopy(parameters))


def session(strategy: str) -> ActiveSession:
    """Return a session with answers, a consensus and a subset that is pending."""
    found = ActiveSession(NAMED, strategy=strategy, max_per_item=4, random_state=0)
    for number in range(3):
        (subset,) = found.ask(1, 5, annotators=[f"p{number}"])
        found.tell([subset.items[:2], subset.items[2:4]], subset=subset)
    found.consensus()
    found.ask(2, 4, annotators=["q", None])
    return found


def label_session() -> LabelSession:
    """Return a session with labels, an answer without one, a consensus and a question that is pending."""
    found = LabelSession(NAMED, model=DawidSkene("one-coin"), max_per_item=9, random_state=0)
    found.tell(Labels.from_matrix(groups()))
    first, _ = found.ask(2, annotators=["q"])
    found.tell(None, question=first).consensus()
    return found


def after_gold() -> DawidSkene:
    """Return a model with known labels and the counts of an earlier one."""
    labels = Labels.from_matrix(groups())
    gold = pd.Series({"item 0": 2, "item 4": 1}, dtype=object)
    return DawidSkene().fit(labels, gold=gold, history=DawidSkene().fit(labels).confusion_counts_)


def pipeline(*steps: Any) -> Any:
    """Return a fitted pipeline that ends in a model."""
    model = registry.estimator("MECC")(**QUICK["MECC"])
    return make_pipeline(*steps, model).set_output(transform="pandas").fit(with_text(), Groupings.from_matrix(groups()))


def with_text() -> pd.DataFrame:
    return features().assign(kind=[*"xyz"] * 5)


def columns() -> ColumnTransformer:
    return ColumnTransformer(
        [("kind", OneHotEncoder(sparse_output=False), ["kind"]), ("scale", StandardScaler(), ["mass"])]
    )


def makers() -> Iterator[tuple[str, Make]]:
    """Yield the name of each file, and what makes its model."""
    for stem, parameters in configurations().items():
        yield stem, partial(fit, stem.split("-")[0], parameters)
    for strategy in STRATEGIES:
        yield f"ActiveSession-{strategy}", partial(session, strategy)
    yield "LabelSession-0", label_session
    yield "DawidSkene-gold", after_gold
    yield "Pipeline-columns", lambda: pipeline(columns())
    yield (
        "SubsetClustering-0",
        lambda: SubsetClustering(KMeans(3, n_init=1, random_state=0), random_state=0).fit(features()),
    )


def figures(stem: str, model: Any) -> dict[str, Any]:
    """Return what a loaded model says of its study, as JSON."""
    if isinstance(model, ActiveSession):
        (subset,) = model.ask(1, 4)
        return plain({"asked": subset.items, "labels": model.consensus().labels_})
    if isinstance(model, LabelSession):
        asked = [[question.item, question.gain] for question in model.ask(3, annotators=["q"])]
        return plain({"asked": asked, "labels": model.consensus().labels_})
    last = model[-1] if hasattr(model, "steps") else model
    a, b = [NAMED[0]] * 4, NAMED[1:5]
    found = {"labels": last.labels_, "same": last.predict_same(a, b)}
    if hasattr(last, "annotators_"):
        found["same by one"] = last.predict_same(a, b, annotator=last.annotators_.index[0])
    X, *said = (with_text(),) if last is not model else told(stem, model)
    for name in ("predict", "predict_proba", "transform"):
        if hasattr(model, name):
            found[name] = np.asarray(getattr(model, name)(X))[:4]
    if said and hasattr(model, "score"):
        found["score"] = model.score(X, *said)
    if hasattr(last, "forecast_same"):
        found["forecast_same"] = last.forecast_same(a, b)
    if hasattr(last, "sample"):
        found["sample"] = last.sample(2, random_state=0)[0]
    if hasattr(last, "conditional_information"):
        found["conditional_information"] = last.conditional_information().to_numpy()
    return plain(found)


def told(stem: str, model: Any) -> tuple[Any, ...]:
    """Return the arguments of `fit` of a model."""
    name = stem.split("-")[0]
    if name == "SubsetClustering":
        return (features(),)
    return given(name, *study_of(model.get_params(deep=False)))


def plain(found: dict[str, Any]) -> dict[str, Any]:
    """Return values as lists of text and of numbers of a few digits; NaN as None."""
    return {name: _plain(np.asarray(value).tolist()) for name, value in found.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return None if np.isnan(value) else float(f"{value:.{DIGITS}g}")
    return value


def read(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the figures of the files of a folder, by their names."""
    path = folder / FIGURES
    rows = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {row.pop("file"): row for row in map(json.loads, rows)}


def write(folder: Path, names: list[str]) -> None:
    """Write the files that a folder lacks, and the figures of all of them in the order of their names."""
    folder.mkdir(parents=True, exist_ok=True)
    for stem, make in makers():
        path = folder / f"{stem}.zip"
        if path.exists() or (names and stem.split("-")[0] not in names):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            save(make(), path)
            rows = read(folder) | {stem: figures(stem, load(path))}
        lines = [json.dumps({"file": name} | rows[name]) for name in sorted(rows)]
        (folder / FIGURES).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(FOLDER / consilience.__version__, sys.argv[1:])
