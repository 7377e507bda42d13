"""Inspection of a fitted model: agreement of annotators, plots, and a report in a single file."""

from consilience.analysis.axes import map_axes
from consilience.analysis.bridging import bridging_values
from consilience.analysis.certainty import Certainty, certainty
from consilience.analysis.cohesion import cluster_cohesion
from consilience.analysis.compromise import CompromiseMap, compromise_map
from consilience.analysis.exact_groups import exact_groups
from consilience.analysis.given_groups import GivenGroups, compare_given_groups
from consilience.analysis.group_words import GroupWords, group_words
from consilience.analysis.item_ratings import ItemRatings, item_ratings
from consilience.analysis.label_quality import LabelQuality, label_quality
from consilience.analysis.pair_makers import who_put_together
from consilience.analysis.random_sorters import random_sorters
from consilience.analysis.rv import rv_coefficients
from consilience.analysis.segments import PanelSegments, panel_segments
from consilience.analysis.separation import Separation, separated_items
from consilience.analysis.standardisation import StandardNames, standard_names
from consilience.analysis.studies.study_difference import StudyDifference, study_difference
from consilience.analysis.votes import item_votes
from consilience.analysis.words import Words, use_words
from consilience.inspection.displays import (
    AnnotatorsDisplay,
    ClustersDisplay,
    ConfusionDisplay,
    CoOccurrenceDisplay,
    DendrogramDisplay,
    ItemMapDisplay,
    LowerBoundDisplay,
    MappingDisplay,
)
from consilience.inspection.pictures import Pictures, pictures_of
from consilience.inspection.plots.annotator_map import plot_annotator_map
from consilience.inspection.plots.annotators import plot_annotators
from consilience.inspection.plots.certainty import plot_certainty_map
from consilience.inspection.plots.clusters import plot_clusters, plot_lower_bound, plot_prior_variance
from consilience.inspection.plots.co_occurrence import plot_co_occurrence, plot_dendrogram
from consilience.inspection.plots.compromise import plot_compromise
from consilience.inspection.plots.deep import plot_latent, plot_training
from consilience.inspection.plots.fusion import plot_item_map, plot_silhouette_curve, plot_stability
from consilience.inspection.plots.heatmaps import plot_agreement, plot_confusion, plot_mapping
from consilience.inspection.plots.item_ratings import plot_go_zone, plot_pattern_match
from consilience.inspection.plots.odd_one_out import plot_odd_one_out
from consilience.inspection.plots.planning import plot_plan
from consilience.inspection.plots.ratings import plot_raters, plot_values
from consilience.inspection.plots.studies import plot_difference, plot_flow
from consilience.inspection.plots.word_map import plot_word_map
from consilience.inspection.report import report
from consilience.inspection.studies.page import difference_report
from consilience.metrics.agreement import annotator_agreement, order_by_agreement

__all__ = [
    "AnnotatorsDisplay",
    "Certainty",
    "ClustersDisplay",
    "CoOccurrenceDisplay",
    "CompromiseMap",
    "ConfusionDisplay",
    "DendrogramDisplay",
    "GivenGroups",
    "GroupWords",
    "ItemMapDisplay",
    "ItemRatings",
    "LabelQuality",
    "LowerBoundDisplay",
    "MappingDisplay",
    "PanelSegments",
    "Pictures",
    "Separation",
    "StandardNames",
    "StudyDifference",
    "Words",
    "annotator_agreement",
    "bridging_values",
    "certainty",
    "cluster_cohesion",
    "compare_given_groups",
    "compromise_map",
    "difference_report",
    "exact_groups",
    "group_words",
    "item_ratings",
    "item_votes",
    "label_quality",
    "map_axes",
    "order_by_agreement",
    "panel_segments",
    "pictures_of",
    "plot_agreement",
    "plot_annotator_map",
    "plot_annotators",
    "plot_certainty_map",
    "plot_clusters",
    "plot_co_occurrence",
    "plot_compromise",
    "plot_confusion",
    "plot_dendrogram",
    "plot_difference",
    "plot_flow",
    "plot_go_zone",
    "plot_item_map",
    "plot_latent",
    "plot_lower_bound",
    "plot_mapping",
    "plot_odd_one_out",
    "plot_pattern_match",
    "plot_plan",
    "plot_prior_variance",
    "plot_raters",
    "plot_silhouette_curve",
    "plot_stability",
    "plot_training",
    "plot_values",
    "plot_word_map",
    "random_sorters",
    "report",
    "rv_coefficients",
    "separated_items",
    "standard_names",
    "study_difference",
    "use_words",
    "who_put_together",
]

__dir__ = __all__.copy
