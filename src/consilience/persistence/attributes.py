"""The attributes of every fitted estimator: names, kinds, shapes and ranges, checked when a file is saved or loaded.

A fitted estimator has all of them, except those that are optional, which some data do not produce.
"""

from __future__ import annotations

from consilience.annotations import Groupings, Pairs
from consilience.persistence.checks import (
    ANYTHING,
    NAME,
    NOTES,
    ROUNDING,
    TRUTH,
    Check,
    Columns,
    array,
    codes,
    either,
    list_of,
    names,
    number,
    one_of,
    optional,
    or_none,
    reals,
    series,
    size,
    table,
    texts,
    tuple_of,
    whole,
)

Attributes = dict[str, Check]
GIVEN = Check("groupings or pairs", lambda value, sizes: isinstance(value, Groupings | Pairs))

FEATURES: Attributes = {
    "n_features_in_": optional(size("features")),
    "feature_names_in_": optional(texts("features")),
}
NO_FEATURES = {name: optional(ANYTHING) for name in ("n_features_in_", "feature_names_in_")}  # columns of a matrix
CLUSTERS: Attributes = {
    "items_": names("items"),
    "n_clusters_": size("clusters"),
    "responsibilities_": array(float, "items", "clusters", low=0, high=1, nan=True),
    "labels_": codes("items", of="clusters", missing=True),
}
SETTLED: Attributes = {"n_iter_": whole(), "converged_": TRUTH}
BOUNDED: Attributes = {"lower_bounds_": array(float, None), "lower_bound_": number(), **SETTLED}


def annotators(**columns: str) -> Attributes:
    """Return the check of the table of annotators."""
    return {"annotators_": table("annotators", columns)}


def copies(agreement: str) -> Attributes:
    """Return the check of the table of annotators who weigh together."""
    columns = {"annotators": "O", "n_items": "c", "agreement": agreement, "expected": "p"}
    return {"copies_": table(None, {**columns, "dependence": "f", "p_value": "p"})}


CLASSES: Attributes = {
    **NO_FEATURES,
    "items_": names("items"),
    "n_clusters_": size("clusters"),
    "classes_": names("clusters", array=True),
    "responsibilities_": array(float, "items", "clusters", low=0, high=1, shares=True),
    "labels_": array(None, "items"),
    "_label_names": names("labels"),
    **annotators(n_labels="c", agreement="p", accuracy="p", information="f"),
    "confusion_matrices_": table("annotators × clusters", "labels", keys=("annotator", "class"), dtype="p"),
    **copies(agreement="p"),
    "labels_apart_": array(None, "items"),
    "_copy_group": array(int, "annotators", low=-1),
}
BY_TABLE: Attributes = {
    "_log_weights": array(float, "clusters", high=ROUNDING, inf=True),
    "_log_table": array(float, "annotators × labels", "clusters", high=ROUNDING, inf=True),
}
MIXTURE: Attributes = {
    **CLASSES,
    **BY_TABLE,
    "weights_": array(float, "clusters", low=0, high=1),
    "restart_bounds_": array(float, None),
    "log_likelihood_": number(),
    **BOUNDED,
}
PAIRWISE: Attributes = {
    **FEATURES,
    **CLUSTERS,
    **SETTLED,
    **annotators(n_pairs="c", n_together="c", accuracy="p", sensitivity="p", specificity="p"),
    "cluster_centers_": reals("clusters", "features"),
    "metric_": either(array(float, "features", "features"), array(float, "clusters", "features", "features")),
    "n_pairs_": whole(),
    "objective_": number(),
    "notes_": NOTES,
}
OF_VIEWS: Columns = {"n_annotators": "c", "weight": "f", "n_clusters": "c"}
VIEWS: Attributes = {
    **FEATURES,
    **CLUSTERS,
    "views_": table("views", OF_VIEWS),
    "view_labels_": table("items", "views", dtype="i"),
    "view_responsibilities_": list_of(array(float, "items", None, low=0, high=1, shares=True), "views"),
    "view_probabilities_": table("annotators", "views", dtype="p"),
    "_owned": list_of(array(int, None, low=0), "views"),
    **annotators(n_pairs="c", view="i", sensitivity="p", specificity="p", weight="f"),
    "restart_bounds_": array(float, None, nan=True, inf=True),
    "lower_bounds_": array(float, None),
    "lower_bound_": number(),
    "n_iter_": whole(),
}
UNCERTAIN: Attributes = {
    **VIEWS,
    "converged_": TRUTH,
    "_weights": list_of(tuple_of(reals("weights", None), reals("weights", None, low=0)), "views"),
}
NO_PICTURE, GREY = tuple_of(), tuple_of(whole(1), whole(1))
DEEP: Attributes = {
    **FEATURES,
    "image_shape_": either(NO_PICTURE, GREY, tuple_of(whole(1), whole(1), whole(1))),
    "_brightest": one_of(1.0, 255.0),
    "notes_": NOTES,
    **CLUSTERS,
    "restart_bounds_": array(float, None, nan=True, inf=True),
    "lower_bound_": number(),
    "losses_": array(float, None, nan=True),
    "clusters_left_": array(int, None, low=0),
    "n_iter_": whole(),
    "_trained_annotators": names("annotators trained"),
    "state_": ANYTHING,  # checked against the networks by the estimator itself
    "_owned": array(int, "clusters", low=0),
    "components_": table("components", {"cluster": "i", "weight": "f"}),
    "component_means_": array(float, "components", "latent"),
    "component_covariances_": array(float, "components", "latent", "latent"),
    "weights_": array(float, "clusters", low=0),
    "means_": array(float, "clusters", "latent"),
    "covariances_": array(float, "clusters", "latent", "latent"),
    **annotators(n_pairs="c", sensitivity="p", specificity="p", weight="f"),
}
GROUPS = ("annotator", "grouping", "group")
OF_ALL: Attributes = {
    "_missing": optional(or_none(list_of(NAME))),  # values that mean missing; not kept by `partial_fit` of deep models
    "_given": optional(GIVEN),  # annotations of models that forecast
}

OF_EACH: dict[str, Attributes] = {
    "PartitionLabelModel": {
        **FEATURES,
        **CLUSTERS,
        **BOUNDED,
        **annotators(n_labels="c", n_groupings="c", n_groups="c", accuracy="p", expected_accuracy="p"),
        **copies(agreement="f"),
        "notes_": NOTES,
        "prior_variance_": number(0),
        "prior_variance_search_": or_none(table(None, {})),
        "feature_search_": or_none(table(None, {"features": "O", "n_features": "c"})),
        "features_used_": array(bool, "features"),
        "restart_bounds_": array(float, None),
        "coef_": reals("clusters", "features"),
        "intercept_": reals("clusters"),
        "mapping_probabilities_": table("groups", "clusters", keys=GROUPS, dtype="p"),
        "label_probabilities_": table("groups", "clusters", keys=GROUPS, dtype="p"),
        "annotator_mapping_": table(
            "groups", {**dict.fromkeys(GROUPS, "O"), "n_items": "c", "clusters": "O", "probability": "p"}
        ),
        "groupings_": table(
            "groupings",
            {"n_labels": "c", "n_groups": "c", "accuracy": "p", "expected_accuracy": "p"},
            keys=GROUPS[:2],
        ),
    },
    "MajorityVote": {**CLASSES, "n_ties_": whole()},
    "DawidSkene": {
        **CLASSES,
        "_log_weights": array(float, "components", high=ROUNDING, inf=True),
        "_log_table": array(float, "annotators × labels", "components", high=ROUNDING, inf=True),
        **BOUNDED,
        "class_proportions_": array(float, "clusters", low=0, high=1),
        "n_subtypes_": whole(1),
        "subtypes_": array(int, "items", low=-1),
        "_subtype_rows": optional(array(float, "annotators × labels", "components", low=0, high=1)),
        "temperature_": number(1),
        "_shared": number(0),
        "_shared_confusion": array(float, "clusters", "clusters", low=0, high=1),
        "_newcomer": or_none(array(float, "clusters", "clusters", low=0, high=1, shares=True)),
        "confusion_counts_": table("annotators × clusters", "labels", keys=("annotator", "class")),
    },
    "ProductMixture": MIXTURE,
    "SpectralEM": MIXTURE,
    "StagewiseEM": {
        **CLASSES,
        **BY_TABLE,
        **SETTLED,
        "weights_": array(float, "clusters", low=0, high=1),
        "trace_": table(None, {"n_components": "c", "log_likelihood": "f", "information": "f", "n_informative": "c"}),
        "starts_": or_none(table(None, {})),
        "fell_back_": TRUTH,
        "informative_set_": list_of(NAME),
        "n_components_": whole(1),
        "_pair_information": table(None, {"first": "O", "second": "O", "information": "f"}),
    },
    "SubsetFusion": {
        **NO_FEATURES,
        **CLUSTERS,
        **annotators(n_groupings="c", n_items="c", n_groups="c", weight="f", agreement="f"),
        **copies(agreement="f"),
        "groupings_": ANYTHING,
        "embedding_": reals("items", None, nan=True),
        "refined_": TRUTH,
        "part_": array(int, "items", low=-1),
        "n_clusters_curve_": table(None, {}),
        "silhouette_": number(nan=True),
        "notes_": NOTES,
        "_notes": NOTES,
        "_n_rows_at_fit": whole(),
        "_shares": array(float, "clusters", low=0),
        "_n_raw_clusters": size("raw clusters"),
        "_raw_clusters": codes("items", of="raw clusters", missing=True),
    },
    "MCVC": UNCERTAIN,
    "MECC": {**UNCERTAIN, "notes_": NOTES},
    "MPCKMeans": {
        **PAIRWISE,
        "objectives_": array(float, None),
        "n_contradicted_": whole(),
        "n_violated_": whole(),
        "_metric": tuple_of(ANYTHING, array(float, None)),
    },
    "ITMLClustering": {
        **PAIRWISE,
        "components_": reals("features", "features"),
        "bounds_": tuple_of(number(), number()),
        "inertia_": number(0),
        "n_contradicted_": whole(),
        "multipliers_": array(float, None),
    },
    "SemiCrowd": {
        **PAIRWISE,
        "components_": reals(None, "features"),
        "inertia_": number(0),
        "completed_": table("judged items", "judged items"),
    },
    "InductiveConsensus": {
        **FEATURES,
        "items_": names("items"),
        "n_clusters_": size("clusters"),
        "responsibilities_": array(float, "items", "clusters", low=0, high=1),
        "_codes": codes("items", of="clusters"),
        "labels_": array(None, "items"),
        "consensus_": ANYTHING,
        "classifier_": ANYTHING,
        "annotators_": table("annotators", {}),
        "_rates": array(float, None, 2, low=0, high=1),
        "_rated": names("annotators rated"),
    },
    "BayesSCDC": DEEP,
    "SCDC": DEEP,
    "DeepMCVC": {**VIEWS, "_kept": array(int, "views", low=0), "state_": ANYTHING},
    "CorrelationClustering": {
        **NO_FEATURES,
        **CLUSTERS,
        **SETTLED,
        **annotators(n_pairs="c", accuracy="p", sensitivity="p", specificity="p"),
        "notes_": NOTES,
        "objective_": number(),
        "objectives_": array(float, None),
        "restart_objectives_": array(float, None),
    },
    "Crowdclustering": {
        **NO_FEATURES,
        **CLUSTERS,
        **BOUNDED,
        **annotators(n_pairs="c", bias="f", accuracy="p", sensitivity="p", specificity="p"),
        "notes_": NOTES,
        "restart_bounds_": array(float, None),
        "embedding_": reals("items", "dims"),
        "_points": reals("items", "quadratic"),
        "_weights": reals("annotators", None),
        "_weight_covariances": reals("annotators", None, None),
    },
    "KCC": {
        **NO_FEATURES,
        **CLUSTERS,
        **SETTLED,
        **annotators(n_groupings="c", n_items="c", utility="f", agreement="f"),
        "centroids_": table("groups", "clusters", keys=GROUPS),
        "objective_": number(),
        "utility_": number(),
        "_table": reals("groups", "clusters"),
        "_expected_shares": array(float, "groups", "clusters", low=0, high=1),
        "_sizes": array(float, "clusters", low=0),
    },
    "CSPA": {
        **NO_FEATURES,
        **CLUSTERS,
        **annotators(n_groupings="c", n_items="c", agreement="f"),
        "eigenvalues_": array(float, None),
        "notes_": NOTES,
        "_habits": array(float, "annotators", 2, low=0, high=1),
    },
    "MetaClustering": {
        **NO_FEATURES,
        **CLUSTERS,
        **annotators(n_groupings="c", n_items="c", view="i", agreement="f"),
        "eigenvalues_": array(float, None),
        "similarity_": table("annotators", "annotators"),
        "annotator_view_": series(int, "annotators"),
        "n_views_": size("views"),
        "view_labels_": table("items", "views", dtype="i"),
        "views_": table("views", OF_VIEWS),
        "notes_": NOTES,
    },
}
ATTRIBUTES: dict[str, Attributes] = {name: OF_ALL | own for name, own in OF_EACH.items()}
