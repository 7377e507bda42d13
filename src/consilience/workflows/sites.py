"""Summaries of sites whose data may not move, what they disclose, and one clustering made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import consilience
from consilience import write_annotations
from consilience.analysis.words import Words
from consilience.annotations.keywords import spell
from consilience.errors import InputError
from consilience.inspection import report
from consilience.sites import FusedSites, SiteSummary, read_summary, write_summary
from consilience.sites import fuse_sites as fuse_summaries
from consilience.sites import summarise_site as summarise_table
from consilience.sites.summarising import hash_name
from consilience.workflows.features import categorical_columns, read_features
from consilience.workflows.jobs import FeatureOptions, Result, SiteFusionRequest, SiteSummaryRequest
from consilience.workflows.notes import note
from consilience.workflows.outputs import require_folder, require_outputs, save_summary, write_table
from consilience.workflows.preprocessing import steps_for
from consilience.workflows.result_folder import OF_SITES, replaced_folder
from consilience.workflows.tables import read_table

WORDS = "items,sites"


# ---- summarise


def summarise_site(request: SiteSummaryRequest) -> Result:
    """Write the summary of a site, and say what it discloses.

    Parameters
    ----------
    request : SiteSummaryRequest

    Returns
    -------
    Result

    Raises
    ------
    InputError
        Files or options cannot be used.
    """
    options, epsilon, seed = request.feature_options, request.epsilon, request.seed
    require_outputs([request.out], [request.table, request.only, request.key_file])
    column = request.groups_from
    if column is not None:
        options = replace(options, besides=(*options.besides, column))
    features = read_features(request.table, options, pd.Index([]))
    for text in features.notes:
        note(text)
    numbers = _as_numbers(features.table, options)
    if epsilon is not None and seed is not None:
        given = spell(seed=None)
        note(f"Whoever knows {given} and the table can compute the noise; leave {given} out.")
    summary = summarise_table(
        numbers,
        site=request.name,
        n_groups=request.groups if column is None else "auto",
        clusterer=None if column is None else GivenGroups(_codes(request.table, column)),
        only=None if request.only is None else _lines(request.only),
        min_group_size=request.min_group_size,
        epsilon=epsilon,
        key=None if request.key_file is None else _key(request.key_file),
        random_state=seed if seed is not None or epsilon is not None else 0,
    )
    write_summary(summary, request.out)
    return Result(_facts(summary, request.out), "\n".join([f"{request.out} discloses:", *_list_items(summary)]))


class GivenGroups:
    """A clusterer that returns groups that are known already.

    groups : ndarray of int, shape (n_items,)
    """

    def __init__(self, groups: np.ndarray) -> None:
        self.groups = groups

    def __sklearn_clone__(self) -> GivenGroups:
        return self

    def fit_predict(self, points: np.ndarray) -> np.ndarray:
        """Return the groups."""
        return self.groups


def _as_numbers(table: pd.DataFrame, options: FeatureOptions) -> pd.DataFrame:
    found = table
    for _, step in steps_for(table, options, standardize=False):
        found = step.fit_transform(found)
    if text := categorical_columns(found):
        remedy = f"{spell(categorical=text[:1])} makes indicator columns of it"
        raise InputError(f"The column {text[0]!r} holds text; {remedy}.")
    return found.set_axis(table.index, axis=0)


def _codes(path: Path, column: str) -> np.ndarray:
    table = read_table(path)
    if column not in map(str, table.columns):
        raise InputError(f"{path}: There is no column {column!r}, named by {spell(groups_from=None)}.")
    found = table.column(next(name for name in table.columns if str(name) == column))
    return np.where(found.missing, -1, found.codes).astype(np.intp)


def _lines(path: Path) -> list[str]:
    try:
        names = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines()]
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: It is no text in UTF-8.") from error
    if not any(names):
        raise InputError(f"{path}: It holds no names.")
    return [name for name in names if name]


def _key(path: Path) -> bytes:
    return path.read_bytes().strip()


def _list_items(summary: SiteSummary) -> list[str]:
    return [f"  - {sentence}" for sentence in summary.disclosures()]


# ---- show


def show_site(path: Path) -> Result:
    """Say what the summary of a site discloses: worked out from its contents, not from what it says.

    Parameters
    ----------
    path : Path
        File that `summarise_site` wrote.

    Returns
    -------
    Result
    """
    summary = read_summary(path)
    text = [f"{path} ({path.stat().st_size:,} bytes) discloses:", *_list_items(summary)]
    return Result(_facts(summary, path), "\n".join(text))


def _facts(summary: SiteSummary, path: Path) -> dict[str, Any]:
    return {
        "site": summary.site,
        "n_items": summary.n_items,
        "n_groups": [int(column.max()) + 1 for column in summary.groups.T],
        "hashed_names": summary.hashed_names,
        "min_group_size": summary.min_group_size,
        "epsilon": summary.epsilon,
        "bytes": path.stat().st_size,
        "discloses": summary.disclosures(),
    }


# ---- fuse


@dataclass(frozen=True)
class SiteFusionResult(Result):
    """One clustering of the items of several sites.

    Attributes
    ----------
    summary, text : as in `Result`
    fused : FusedSites
        As `consilience.sites.fuse_sites` returns it.
    """

    fused: FusedSites


def fuse_sites(request: SiteFusionRequest) -> SiteFusionResult:
    """Make one clustering of the summaries of sites, and write the results to a folder.

    Parameters
    ----------
    request : SiteFusionRequest

    Returns
    -------
    SiteFusionResult

    Raises
    ------
    InputError
        Files or options cannot be used.
    """
    paths, key_file, items, out = request.summaries, request.key_file, request.items, request.out
    if (key_file is None) != (items is None):
        both = f"{spell(key_file=None)} and {spell(items=None)}"
        raise InputError(f"{both} belong together: the key names the items that you list.")
    require_folder(out, OF_SITES, [*paths, key_file, items])
    summaries = [read_summary(path) for path in paths]
    if key_file is not None and items is not None:
        summaries = _named_again(summaries, _key(key_file), _lines(items))
    n_clusters = "auto" if request.clusters is None else request.clusters
    found = fuse_summaries(summaries, n_clusters, keep_all=request.keep_all, random_state=request.seed)
    for text in found.notes:
        note(text)
    with replaced_folder(out) as folder:
        write_table(_clusters(found, summaries), folder / "clusters.csv")
        write_table(found.sites.reset_index(), folder / "sites.csv")
        write_annotations(found.groupings, folder / "groupings.csv")
        report(found.model, found.groupings, words=Words.of(WORDS), path=folder / "report.html")
        summary = save_summary(folder, _summary(found, paths, out))
    return SiteFusionResult(summary, "\n".join(_answer(found, out)), found)


def _named_again(summaries: Sequence[SiteSummary], key: bytes, names: Sequence[str]) -> list[SiteSummary]:
    """Replace the hashes of known names by the names."""
    known = {hash_name(name, key): name for name in names}
    found = [replace(one, items=tuple(known.get(item, item) for item in one.items)) for one in summaries]
    held = {item for one in summaries for item in one.items}
    note(f"Names found for {len(held & set(known)):,} of {len(held):,} items; the others keep their hashes.")
    return found


def _clusters(found: FusedSites, summaries: Sequence[SiteSummary]) -> pd.DataFrame:
    times = pd.Series([item for one in summaries for item in one.items]).value_counts()
    return pd.DataFrame(
        {
            "item": found.labels.index,
            "cluster": found.labels.to_numpy() + 1,
            "probability": found.probabilities.to_numpy(),
            "n_sites": times.reindex(found.labels.index.astype(str)).to_numpy(),
        }
    )


def _summary(found: FusedSites, paths: Sequence[Path], out: Path) -> dict[str, Any]:
    sites = found.sites.reset_index().assign(bytes=[path.stat().st_size for path in paths])
    return {
        "version": consilience.__version__,
        "n_items": len(found.labels),
        "n_clusters": int(found.model.n_clusters_),
        "cluster_sizes": found.labels.value_counts().sort_index().tolist(),
        "sites": sites.to_dict("records"),
        "left_out": found.left_out,
        "notes": found.notes,
        "out": str(out),
    }


def _answer(found: FusedSites, out: Path) -> list[str]:
    sizes = ", ".join(f"{size:,}" for size in found.labels.value_counts().sort_index())
    return [
        f"{len(found.labels):,} items of {len(found.sites)} sites in {found.model.n_clusters_} clusters of {sizes}.",
        "",
        *found.sites.rename(columns={"n_items": "items", "n_groups": "groups"})
        .to_string(float_format="{:.2f}".format)
        .splitlines(),
        "",
        "shared: items that another site has too. agreement: adjusted Rand index of a site with the clusters.",
        f"Report and tables: {out}",
    ]
