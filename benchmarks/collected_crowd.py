"""How many groupings a study collects until its rule advises to stop, with informative and with random subsets.

    python benchmarks/collected_crowd.py [--dev] [--random-share SHARE] [SEED ...]

A crowd of agents sorts handwritten digits, ten each of six, through the JSON API: a study is created, subsets of 12 are
fetched and groupings sent as a script would, and the advice to stop is read from the consensus. The worker catches up
after every round of ten groupings, as it would if ten people sorted at once. An agent answers once, by 4 to 8 of the
first 12 principal components of all digits. There are two kinds:

counting     clusters what it sees into 3 to 6 groups, however alike that is: the agents of Veeramachaneni & O'Reilly
comparing    puts together what is nearer than a distance of its own, .6 to .9 of the median between all digits, so that
             like digits make one group, and different ones many (average linkage)

groupings    collected when the rule advises to stop; "> N" if it does not within N
reliability  that the rule estimates then
clusters     of the consensus then; there are six digits
truth        NMI of the consensus with the digits then
groups each  mean number of groups of a grouping

Nothing was tuned. Odd seeds are the default; `--dev` takes even ones, on which to try settings.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial.distance import pdist
from sklearn.cluster import AgglomerativeClustering
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from starlette.testclient import TestClient

from consilience.collect.app import Limits, create_app
from consilience.collect.security import Rate
from consilience.collect.store import Store
from consilience.collect.store import studies as store_studies
from consilience.collect.store import work as store_work
from consilience.collect.worker import Worker
from consilience.metrics import nmi
from consilience.simulation import ClusteringPopulation

DIGITS, EACH = (0, 1, 2, 4, 6, 7), 10
SIZE, ROUND, MOST = 12, 10, 400
REPORTED, DEV = (11, 13, 15, 17, 19, 21, 23, 25), (2, 4)
KINDS = ("counting", "comparing")
DISTANCES = (0.6, 0.9)  # of the median distance between all digits


@dataclass(frozen=True)
class Crowd:
    """Digits, the features by which agents sort them, and the digit that each shows."""

    features: pd.DataFrame
    truth: np.ndarray


@dataclass(frozen=True)
class Collected:
    """What a study had when it stopped."""

    n_groupings: int
    stopped: bool
    reliability: float | None
    n_clusters: int
    truth: float
    n_groups: float
    sources: dict[str, int]


class Comparing:
    """Agents that put together what is nearer than a distance of their own."""

    def __init__(self, features: pd.DataFrame, seed: int) -> None:
        self._features, self._rng = features, np.random.default_rng(seed)

    def __call__(self, items: list[str]) -> list[list[str]]:
        """Group a subset."""
        used = self._rng.choice(self._features.shape[1], self._rng.integers(4, 9), replace=False)
        seen = self._features.iloc[:, used]
        distance = self._rng.uniform(*DISTANCES) * float(np.median(pdist(seen)))
        clusterer = AgglomerativeClustering(None, linkage="average", distance_threshold=distance)
        labels = clusterer.fit_predict(seen.loc[items].to_numpy())
        return [[item for item, label in zip(items, labels, strict=True) if label == one] for one in np.unique(labels)]


def agents_of(kind: str, crowd: Crowd, seed: int) -> Callable[[list[str]], list[list[str]]]:
    """Return agents of a kind, "counting" or "comparing"."""
    if kind == "comparing":
        return Comparing(crowd.features, seed)
    return ClusteringPopulation(crowd.features, n_groups=(3, 6), n_features=(4, 8), random_state=seed)


class Api:
    """A script that knows the address of a server and a token."""

    def __init__(self, client: TestClient, token: str) -> None:
        self._client, self._headers = client, {"Authorization": f"Bearer {token}"}

    def __call__(self, method: str, path: str, body: Any = None) -> Any:
        answer = self._client.request(method, f"/api/v1{path}", headers=self._headers, json=body)
        if answer.is_error:
            raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer.json()


def crowd_of(seed: int, digits: tuple[int, ...] = DIGITS, each: int = EACH) -> Crowd:
    """Draw digits, as many of each."""
    data = load_digits()
    rng = np.random.default_rng(seed)
    chosen = np.concatenate([rng.choice(np.flatnonzero(data.target == one), each, replace=False) for one in digits])
    chosen = rng.permutation(chosen)
    features = PCA(12, random_state=0).fit_transform(data.data)[chosen]
    names = [f"digit {number}" for number in range(1, len(chosen) + 1)]
    return Crowd(pd.DataFrame(features, index=names), data.target[chosen])


@contextmanager
def served(seed: int) -> Iterator[tuple[Api, Worker]]:
    """Serve an empty store, with a worker that works when it is told to and a consensus that is due at once."""
    debounce, store_work.DEBOUNCE = store_work.DEBOUNCE, timedelta(0)
    new_seed, store_studies.new_seed = store_studies.new_seed, lambda: seed
    many = Rate(10**9, 1)
    limits = Limits(login=many, join=many, board=many, api=many, strangers=many)
    try:
        with tempfile.TemporaryDirectory() as folder:
            store = Store.open(f"sqlite:///{folder}/studies.db")
            _, token = store.create_token("crowd")
            with TestClient(create_app(store, limits=limits, background=False)) as client:
                yield Api(client, token), Worker(store, ahead=ROUND)
            store.close()
    finally:
        store_work.DEBOUNCE, store_studies.new_seed = debounce, new_seed


def collect(crowd: Crowd, seed: int, settings: dict[str, Any], most: int = MOST, kind: str = KINDS[0]) -> Collected:
    """Let agents sort through the API until the rule advises to stop."""
    agents, n_groups = agents_of(kind, crowd, seed), 0
    items = [{"name": name} for name in crowd.features.index]
    with served(seed) as (api, worker):
        study = api("POST", "/studies", {"title": "Digits", "items": items, "settings": settings})["id"]
        api("POST", f"/studies/{study}/open")
        n_groupings, found = 0, None
        while n_groupings < most and not (found and found["advice"]["stop"]):
            worker.run()
            for _ in range(ROUND):
                n_groups += _sort_one(api, study, agents)
            n_groupings += ROUND
            worker.run()
            found = api("GET", f"/studies/{study}/consensus")["consensus"]
    assert found is not None
    advice, labels = found["advice"], np.array(found["labels"])
    truth = float(nmi(crowd.truth, labels))  # items that nobody saw count as a cluster of their own
    n_clusters, mean = len(found["clusters"]), n_groups / n_groupings
    return Collected(n_groupings, advice["stop"], advice["reliability"], n_clusters, truth, mean, found["sources"])


def _sort_one(api: Api, study: str, agents: Callable[[list[str]], list[list[str]]]) -> int:
    """Let a new participant sort one subset; return the number of groups."""
    person = api("POST", f"/studies/{study}/participants", {})["id"]
    subset = api("POST", f"/studies/{study}/participants/{person}/subset")["subset"]
    groups = agents(sorted(item["name"] for item in subset["items"]))
    sent = {"groups": [{"items": group} for group in groups]}
    api("PUT", f"/studies/{study}/assignments/{subset['assignment']}/grouping", sent)
    return len(groups)


def main() -> None:
    """Print a line for each kind of agents, seed and strategy."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dev", action="store_true", help="even seeds, on which to try settings")
    parser.add_argument("--random-share", type=float, default=0.15)
    parser.add_argument("--most", type=int, default=MOST)
    parser.add_argument("seeds", nargs="*", type=int)
    options = parser.parse_args()
    print(
        f"{'agents':<9}  {'seed':>4}  {'strategy':<11}  {'groupings':>9}  {'reliability':>11}  {'clusters':>8}  "
        f"{'truth':>5}  {'groups each':>11}  sources",
        flush=True,
    )
    found: dict[tuple[str, str], list[Collected]] = {}
    for seed, kind in product(options.seeds or (DEV if options.dev else REPORTED), KINDS):
        for strategy in ("informative", "random"):
            settings = {"subset_size": SIZE, "strategy": strategy, "random_share": options.random_share}
            one = collect(crowd_of(seed), seed, settings, options.most, kind)
            found.setdefault((kind, strategy), []).append(one)
            count = f"{one.n_groupings}" if one.stopped else f"> {one.n_groupings}"
            reliability = "" if one.reliability is None else f"{one.reliability:.3f}"
            sources = ", ".join(f"{name} {number}" for name, number in one.sources.items())
            print(
                f"{kind:<9}  {seed:>4}  {strategy:<11}  {count:>9}  {reliability:>11}  {one.n_clusters:>8}  "
                f"{one.truth:>5.3f}  {one.n_groups:>11.1f}  {sources}",
                flush=True,
            )
    for (kind, strategy), all_ in found.items():
        count, truth = (float(np.mean([getattr(one, name) for one in all_])) for name in ("n_groupings", "truth"))
        n_stopped = sum(one.stopped for one in all_)
        print(f"{kind}, {strategy}: {n_stopped} of {len(all_)} stop, after {count:.0f} on average; truth {truth:.3f}")


if __name__ == "__main__":
    main()
