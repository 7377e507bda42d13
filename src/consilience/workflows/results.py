"""Result files of a fitted model: tables of items and annotators, and the model itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from consilience import save
from consilience.analysis.capabilities import Capabilities
from consilience.analysis.certainty import Certainty
from consilience.analysis.clustering import FoundClusters
from consilience.analysis.label_quality import LabelQuality
from consilience.analysis.votes import item_votes
from consilience.annotations import Labels
from consilience.inspection.report.label_tables import keyed
from consilience.inspection.report.subject import OF_OTHERS
from consilience.inspection.report.votes_sections import FILE as VOTES
from consilience.workflows.item_extras import GIVEN_FILE, file_of
from consilience.workflows.outputs import write_table


def write_results(
    estimator: Any, out: Path, annotations: Any, quality: LabelQuality | None = None, sure: Certainty | None = None
) -> None:
    """Write the results of a fitted estimator, or of the last step of a Pipeline, and save it whole.

    annotations : those it was fitted to.
    quality : what was found of given labels, if there are any.
    sure : what other people would repeat, if that is known.
    """
    model = estimator[-1] if hasattr(estimator, "steps") else estimator
    tables = tables_of(model, annotations, sure) | file_of(quality)
    if Capabilities.of(model).names_classes and isinstance(annotations, Labels):
        tables[VOTES] = item_votes(model, annotations).reset_index()
    for name, table in tables.items():
        write_table(table, out / name)
    save(estimator, out / "model.zip")


def tables_of(model: Any, annotations: Any = None, sure: Certainty | None = None) -> dict[str, pd.DataFrame]:
    """Return the tables of results of a fitted estimator, by file name.

    Items without a cluster have the label -1, those without a class a blank one; neither have a probability. If the
    annotations have names of groups, each cluster has the name that most annotators give it. The probability is the
    model's own; of clusters, what other people would repeat is beside it, if that is known.
    """
    answer, can = FoundClusters.of(model, annotations), Capabilities.of(model)
    names = {"item": model.items_, answer.column: answer.names_of(answer.codes)}
    if answer.called:
        names["name"] = answer.called_of(answer.codes)
    probability = np.where(answer.codes >= 0, model.responsibilities_.max(1), np.nan)
    others = {} if sure is None or answer.is_named else {name: sure.items[name].to_numpy() for name in OF_OTHERS}
    tables = {
        answer.file: pd.DataFrame(names | {"probability": probability} | others),
        "annotators.csv": model.annotators_.reset_index(),
    }
    if can.has_views:
        views = model.view_labels_.add_prefix("view ")
        tables["views.csv"] = views.rename_axis("item").reset_index()
    if can.maps_groups:
        tables["mapping.csv"] = mapping_of(model)
    if can.names_classes:
        tables["confusion.csv"] = keyed(model.confusion_matrices_)
    if hasattr(model, "confusion_counts_"):
        tables["counts.csv"] = keyed(model.confusion_counts_)
    return tables


def mapping_of(model: Any) -> pd.DataFrame:
    """Return what each group means, with the clusters separated by spaces."""
    mapping: pd.DataFrame = model.annotator_mapping_
    return mapping.assign(clusters=mapping["clusters"].map(lambda found: " ".join(map(str, found))))


def files_of(model: Any, further: Sequence[str] = (), *, has_given: bool = False) -> list[str]:
    """Return the names of all files that ``consilience fit`` writes.

    further : those that are not of the model; has_given : whether given labels are checked.
    """
    tables = [*tables_of(model), *([VOTES] if Capabilities.of(model).names_classes else [])]
    return ["report.html", *tables, *([GIVEN_FILE] if has_given else []), *further, "model.zip", "summary.json"]
