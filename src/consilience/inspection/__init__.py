"""Inspection of a fitted model: agreement of annotators, plots, and a report in a single file."""

from consilience.inspection.certainty import Certainty, certainty
from consilience.inspection.plots.annotators import plot_annotators
from consilience.inspection.plots.certainty import plot_certainty_map
from consilience.inspection.plots.clusters import plot_clusters, plot_lower_bound, plot_prior_variance
from consilience.inspection.plots.co_occurrence import plot_co_occurrence, plot_dendrogram
from consilience.inspection.plots.deep import plot_latent, plot_training
from consilience.inspection.plots.fusion import plot_item_map, plot_silhouette_curve, plot_stability
from consilience.inspection.plots.heatmaps import plot_agreement, plot_confusion, plot_mapping
from consilience.inspection.plots.planning import plot_plan
from consilience.inspection.report import report
from consilience.inspection.words import Words, use_words
from consilience.metrics.agreement import annotator_agreement, order_by_agreement

__all__ = [
    "Certainty",
    "Words",
    "annotator_agreement",
    "certainty",
    "order_by_agreement",
    "plot_agreement",
    "plot_annotators",
    "plot_certainty_map",
    "plot_clusters",
    "plot_co_occurrence",
    "plot_confusion",
    "plot_dendrogram",
    "plot_item_map",
    "plot_latent",
    "plot_lower_bound",
    "plot_mapping",
    "plot_plan",
    "plot_prior_variance",
    "plot_silhouette_curve",
    "plot_stability",
    "plot_training",
    "report",
    "use_words",
]


def __dir__() -> list[str]:
    return sorted(__all__)
