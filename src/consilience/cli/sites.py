"""``consilience site``: summaries of sites, what they disclose, and one clustering made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import consilience
from consilience import write_annotations
from consilience.analysis.words import Words
from consilience.annotations.types import NumberOfClusters
from consilience.atomic_files import replacing
from consilience.cli.features import categorical_columns, read_features
from consilience.cli.messages import note, printable, say, say_json
from consilience.cli.options import FeatureOptions, whole
from consilience.cli.outputs import encoded, require_no_input, require_outputs, write_table
from consilience.cli.preprocessing import steps_for
from consilience.cli.result_folder import OF_SITES, SUMMARY, checksums_in, replaced_folder, require_free
from consilience.cli.tables import read_table
from consilience.errors import InputError
from consilience.inspection import report
from consilience.sites import FusedSites, SiteSummary, fuse_sites, read_summary, summarise_site, write_summary
from consilience.sites.summarising import hashed

WORDS = "items,sites"


# ---- summarise


def summarise(
    table: Path,
    options: FeatureOptions,
    *,
    name: str,
    groups: str,
    groups_from: str | None,
    only: Path | None,
    min_group_size: int,
    epsilon: float | None,
    key_file: Path | None,
    out: Path,
    seed: int | None,
) -> None:
    """Write the summary of a site, and print what it discloses.

    Raises
    ------
    InputError
        Files or options cannot be used.
    """
    require_outputs([out], [table, only, key_file])
    if groups_from is not None:
        options = replace(options, besides=(*options.besides, groups_from))
    features = read_features(table, options, pd.Index([]))
    for text in features.notes:
        note(text)
    numbers = _as_numbers(features.table, options)
    if epsilon is not None and seed is not None:
        note("Whoever knows --seed and the table can compute the noise; leave --seed out.")
    summary = summarise_site(
        numbers,
        site=name,
        n_groups=_numbers_of_groups(groups) if groups_from is None else "auto",
        clusterer=None if groups_from is None else GivenGroups(_codes(table, groups_from)),
        only=None if only is None else _lines(only),
        min_group_size=min_group_size,
        epsilon=epsilon,
        key=None if key_file is None else _key(key_file),
        random_state=seed if seed is not None or epsilon is not None else 0,
    )
    write_summary(summary, out)
    say("\n".join([f"{out} discloses:", *_listed(summary)]))


class GivenGroups:
    """A clusterer that returns groups that are known already.

    Parameters
    ----------
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
        raise InputError(f"The column {text[0]!r} holds text; --categorical {text[0]} makes indicator columns of it.")
    return found.set_axis(table.index, axis=0)


def _numbers_of_groups(text: str) -> Any:
    if text.strip().casefold() == "auto":
        return "auto"
    numbers = [whole(part) for part in text.split(",")]
    if None in numbers:
        raise InputError(f"--groups must be auto, or numbers separated by commas. Got {text!r}.")
    return numbers


def _codes(path: Path, column: str) -> np.ndarray:
    table = read_table(path)
    if column not in map(str, table.columns):
        raise InputError(f"{path}: There is no column {column!r}, named by --groups-from.")
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


def _listed(summary: SiteSummary) -> list[str]:
    return [f"  - {printable(sentence)}" for sentence in summary.disclosures()]


# ---- show


def show(path: Path, *, as_json: bool) -> None:
    """Print what a summary discloses."""
    summary = read_summary(path)
    if as_json:
        say_json(
            {
                "site": summary.site,
                "n_items": summary.n_items,
                "n_groups": [int(column.max()) + 1 for column in summary.groups.T],
                "hashed_names": summary.hashed_names,
                "min_group_size": summary.min_group_size,
                "epsilon": summary.epsilon,
                "bytes": path.stat().st_size,
                "discloses": summary.disclosures(),
            }
        )
    else:
        say("\n".join([f"{path} ({path.stat().st_size:,} bytes) discloses:", *_listed(summary)]))


# ---- fuse


def fuse(
    paths: Sequence[Path],
    *,
    clusters: NumberOfClusters | None,
    key_file: Path | None,
    items: Path | None,
    keep_all: bool,
    out: Path,
    seed: int | None,
    as_json: bool,
) -> None:
    """Fuse summaries, write the results to the folder `out`, and print the answer.

    Raises
    ------
    InputError
        Files or options cannot be used.
    """
    if (key_file is None) != (items is None):
        raise InputError("--key-file and --items belong together: the key names the items that you list.")
    for file in OF_SITES:
        require_no_input(out / file, [*paths, key_file, items])
    require_free(out, OF_SITES)
    summaries = [read_summary(path) for path in paths]
    if key_file is not None and items is not None:
        summaries = _named_again(summaries, _key(key_file), _lines(items))
    n_clusters = "auto" if clusters is None else clusters
    found = fuse_sites(summaries, n_clusters, keep_all=keep_all, random_state=0 if seed is None else seed)
    for text in found.notes:
        note(text)
    with replaced_folder(out) as folder:
        write_table(_clusters(found, summaries), folder / "clusters.csv")
        write_table(found.sites.reset_index(), folder / "sites.csv")
        write_annotations(found.groupings, folder / "groupings.csv")
        report(found.model, found.groupings, words=Words.of(WORDS), path=folder / "report.html")
        summary = _summary(found, paths, out) | {"checksums": checksums_in(folder)}
        with replacing(folder / SUMMARY) as file_of_summary:
            file_of_summary.write(encoded(summary))
    if as_json:
        say_json(summary)
    else:
        say("\n".join(_answer(found, out)))


def _named_again(summaries: Sequence[SiteSummary], key: bytes, names: Sequence[str]) -> list[SiteSummary]:
    """Replace the hashes of known names by the names."""
    known = {hashed(name, key): name for name in names}
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
    lines = [
        f"{len(found.labels):,} items of {len(found.sites)} sites in {found.model.n_clusters_} clusters of {sizes}.",
        "",
        *found.sites.rename(columns={"n_items": "items", "n_groups": "groups"})
        .to_string(float_format="{:.2f}".format)
        .splitlines(),
        "",
        "shared: items that another site has too. agreement: adjusted Rand index of a site with the clusters.",
        f"Report and tables: {out}",
    ]
    return [printable(line) for line in lines]
