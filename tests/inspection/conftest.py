"""Small fitted models, and reports on them with sketches for figures."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from consilience import Groupings, Labels
from consilience.consensus import DawidSkene, SubsetFusion
from consilience.errors import AnnotationWarning
from consilience.estimators.base import CrowdEstimator
from consilience.inspection import report
from consilience.semisupervised import PartitionLabelModel
from consilience.simulation import simulate_experts
from tests.pages import Page, browser, draw, looked_at, sketches, thorough  # noqa: F401 (fixtures of these tests)


@pytest.fixture(scope="package")
def sorts_drawn(sorts):
    """The report on `sorts`, with its figures."""
    return draw(*sorts)


@pytest.fixture(scope="package")
def named_page(named):
    """The page on `named`, without certainty."""
    return Page(report(*named, certainty=None))


@pytest.fixture(scope="session")
def read():
    return Page


@pytest.fixture(scope="session")
def iris():
    """Pipeline, features by name, annotations: two features, some items without annotations."""
    data = load_iris(as_frame=True)
    X = data.data.iloc[:, 2:].set_axis([f"iris {i}" for i in range(150)], axis=0)
    experts = simulate_experts(data.target, n_annotators=6, observed=0.6, items=X.index, random_state=1)
    experts = experts.restrict(items=X.index[20:]).reindex(X.index)
    model = PartitionLabelModel(max_clusters=8, prior_variance=10.0, n_init=2, random_state=0)
    model = make_pipeline(StandardScaler(), model).set_output(transform="pandas")
    return model.fit(X, experts), X, experts


SORTS = pd.DataFrame(
    {
        "Ann": ["bird"] * 3 + ["fish"] * 3 + ["beast"] * 3,
        "Bo": ["Bird"] * 3 + ["Fish"] * 3 + ["Beasts"] * 3,
        "Cy": ["flies"] * 3 + ["does not"] * 6,
        "Di": ["no"] * 3 + ["yes"] * 6,
        "Ed": ["air", "air", "air", "sea", "sea", "sea", "land", "land", "pets"],
    },
    index=["robin", "finch", "gull", "cod", "eel", "carp", "cow", "pig", "dog"],
)


@pytest.fixture(scope="session")
def sorts():
    """Model without features, and its annotations: three groups, two of five annotators merge two of them."""
    groupings = Groupings.from_matrix(SORTS)
    return PartitionLabelModel(n_init=2, random_state=0).fit(None, groupings), groupings


@pytest.fixture(scope="session")
def fusion():
    """Fusion of card sorts and its groupings: seven sort, one makes a single group, one sorts at random."""
    columns = dict.fromkeys(("Ann", "Bo", "Cy", "Di"), SORTS["Ann"])
    columns["Ed"] = SORTS["Bo"]
    columns["Flo"] = ["air"] * 3 + ["sea"] * 3 + ["land", "land", "pets"]
    columns["Gus"] = SORTS["Ed"]
    columns["Lumper"] = ["all"] * 9
    columns["Random"] = [*"pqrpqrpqr"]
    table = pd.DataFrame(columns, index=SORTS.index).reindex([*SORTS.index, "yeti"])
    groupings = Groupings.from_matrix(table.astype(object).where(table.notna(), None))
    return SubsetFusion(random_state=0).fit(groupings), groupings


@pytest.fixture(scope="session")
def subsets():
    """Fusion and groupings of 6 of 90 items each, in 3 clusters: 10 annotators, 20 groupings each."""
    rng = np.random.default_rng(0)
    rows = []
    for grouping in range(200):
        seen = rng.choice(90, 6, replace=False)
        group = np.where(rng.random(6) < 0.1, rng.integers(3, size=6), seen % 3)
        rows.append(
            pd.DataFrame({"item": seen, "annotator": f"a{grouping % 10}", "grouping": grouping, "group": group})
        )
    groupings = Groupings.from_frame(pd.concat(rows), items=range(90))
    return SubsetFusion(random_state=0).fit(groupings), groupings


@pytest.fixture(scope="session")
def crowd():
    """Model and annotations of 120 annotators with two groupings each on 24 items in 3 clusters."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 8)
    rows = []
    for annotator in range(120):
        for grouping in range(2):
            seen = rng.choice(24, 10, replace=False)
            group = np.where(rng.random(10) < 0.1, rng.integers(3, size=10), truth[seen])
            rows.append(
                pd.DataFrame({"item": seen, "annotator": f"a{annotator}", "grouping": grouping, "group": group})
            )
    groupings = Groupings.from_frame(pd.concat(rows), items=range(24))
    model = PartitionLabelModel(max_clusters=6, n_init=2, prior_variance=3.0, random_state=0)
    return model.fit(None, groupings), groupings


@pytest.fixture(scope="session")
def animals():
    """Labels of 42 items, 14 of each of three classes; no label of a fourth class, and none of the last two items.

    Al and Bea are nearly always right, Cy labels owls as dogs, Di all as cats, Ed at random; Flo labels two items.
    """
    rng = np.random.default_rng(0)
    truth = np.tile([0, 1, 2], 14)

    def erring(share):
        return np.where(rng.random(42) < share, rng.integers(3, size=42), truth)

    codes = np.column_stack(
        [erring(0.05), erring(0.1), np.where(truth == 0, 2, truth), np.ones(42, int), rng.integers(3, size=42), truth]
    )
    cells = np.array(["owl", "cat", "dog"], dtype=object)[codes]
    cells[2:, 5] = None
    cells[40:] = None
    return Labels.from_matrix(
        cells,
        items=[f"item {i}" for i in range(42)],
        annotators=["Al", "Bea", "Cy", "Di", "Ed", "Flo"],
        classes=["owl", "cat", "dog", "yak"],
    )


@pytest.fixture(scope="session")
def named(animals):
    """Model of labels alone, and its annotations."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnnotationWarning)  # of items without labels, and of Di, whose labels are equal
        return DawidSkene().fit(animals), animals


class Known(CrowdEstimator):
    """A consensus model that is given its clusters, and has nothing else to report."""

    def __init__(self, answer=()):
        self.answer = answer

    def fit(self, X, y=None):
        names, self.labels_ = np.unique(self.answer, return_inverse=True)
        self.n_clusters_ = len(names)
        self.items_ = pd.RangeIndex(len(self.answer))
        return self


@pytest.fixture(scope="session")
def known():
    return Known
