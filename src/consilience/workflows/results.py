"""Result files of a fitted model: tables of items and annotators, and the model itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from consilience import save
from consilience.analysis.findings import OF_OTHERS, Findings
from consilience.analysis.tag_figures import item_tags
from consilience.annotations import Labels
from consilience.inspection.report.label_tables import confusion_tables, what_is_listed
from consilience.inspection.report.votes_sections import FILE as VOTES
from consilience.workflows.item_extras import file_of
from consilience.workflows.item_names import ItemNames
from consilience.workflows.notes import note
from consilience.workflows.outputs import write_table


def write_results(estimator: Any, out: Path, found: Findings, names: ItemNames | None = None) -> list[str]:
    """Write the results of a fitted estimator, and save it whole; return the names of the tables.

    estimator : with all steps before it.
    names : texts of the items, which stand beside their ids, if there are any.
    """
    tables = tables_of(found)
    if text := what_is_listed(found.estimator):
        note(text)
    for name, table in tables.items():
        write_table(table if names is None else names.add_ids(table), out / name)
    save(estimator, out / "model.zip")
    return list(tables)


def tables_of(found: Findings) -> dict[str, pd.DataFrame]:
    """Return the tables of results of a fitted estimator, by file name.

    Items without a cluster have the label -1, those without a class a blank one; neither have a probability. If the
    annotations have names of groups, each cluster has the name that most annotators give it. The probability is the
    model's own; of clusters, what other people would repeat is beside it, if that is known.
    """
    model, answer, can, sure = found.estimator, found.clusters, found.can, found.certainty
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
    if can.has_tags:
        tables |= {
            "tags.csv": item_tags(model, cast(Labels, found.annotations)),
            "rates.csv": model.rates_.reset_index(),
        }
    elif can.names_classes:
        tables |= confusion_tables(model)
    if found.votes is not None:
        tables[VOTES] = found.votes.reset_index()
    return tables | file_of(found.quality)


def mapping_of(model: Any) -> pd.DataFrame:
    """Return what each group means, with the clusters separated by spaces."""
    mapping: pd.DataFrame = model.annotator_mapping_
    return mapping.assign(clusters=mapping["clusters"].map(lambda found: " ".join(map(str, found))))
