"""Sections of a report on a deep model: its items in the latent space, and its training."""

from __future__ import annotations

from typing import cast

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as MatplotlibFigure

from consilience.analysis.names import quantify
from consilience.analysis.words import current_words
from consilience.errors import InputError
from consilience.inspection.plots.deep import plot_latent, plot_training
from consilience.inspection.plots.style import Sheet
from consilience.inspection.report.figure_files import points_file, small
from consilience.inspection.report.subject import Figure, Section, Subject
from consilience.inspection.report.tables import download, number


def latent_figure(subject: Subject) -> Figure | None:
    """Draw the items in the latent space; None if the model has none, or there are no features to place them by."""
    words = current_words()
    if subject.features is None or not subject.can.has_latent_space:
        return None
    try:
        ax = plot_latent(subject, ax=Sheet())
    except InputError:  # features that the report can list but the model cannot read
        return None
    n_latent = subject.estimator.means_.shape[1]
    how = f"The {words.items} in the latent space that the model learned"
    if n_latent > 2:
        how += f", along the two directions of largest variance of its {n_latent} dimensions"
    hollow = f"; {words.items} without annotations are hollow" if (subject.items["n_annotators"] == 0).any() else ""
    reach = "lines" if n_latent == 1 else "ellipses"
    caption = f"{how}. Each cluster has its colour and shape{hollow}; {reach} reach two standard deviations."
    latent = np.asarray(subject.model.transform(subject.features), float)
    axes = [f"latent_{dimension}" for dimension in range(latent.shape[1])]
    file = points_file("plane.csv", latent, axes, subject.estimator.items_, subject.clusters)
    return Figure.of("plane", cast(MatplotlibFigure, ax.figure), "Scatter plot. " + caption, caption, file)


def training_section(subject: Subject) -> Section:
    """Return the section of the loss and of the clusters left after each epoch."""
    words = current_words()
    estimator = subject.estimator
    losses, left = estimator.losses_, estimator.clusters_left_
    caption = (
        f"The loss that training lowers, and the number of clusters that own {words.items}, after each epoch. If the "
        "loss still falls steadily at the end, train for more epochs (n_epochs). It is a mean over random batches, "
        "never smooth."
    )
    ends = f"{number(losses[0], 1)} to {number(losses[-1], 1)}"
    shown = f"Line plots: the loss from {ends} nats {words.an_item}; {quantify(int(left[-1]), 'cluster')}."
    n_restarts = len(subject.can.restart_bounds)
    sentences = [f"Training took {quantify(len(losses), 'epoch')}."]
    sentences += [f"The best of {n_restarts} restarts was kept."] if n_restarts > 1 else []
    epochs = pd.DataFrame({"epoch": np.arange(1, len(losses) + 1), "loss": losses, "clusters_left": left})
    file = small(download("training.csv", epochs))
    sheet = cast(MatplotlibFigure, plot_training(subject.model, ax=Sheet())[0].figure)
    return Section("fit", "How the fit went", sentences, [Figure.of("training", sheet, shown, caption, file)])
