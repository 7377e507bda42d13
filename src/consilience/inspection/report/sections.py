"""The content of a report, section by section; the template only lays it out."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from dataclasses import asdict, replace
from importlib.metadata import version
from typing import Any, cast

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as MatplotlibFigure
from sklearn.pipeline import Pipeline

import consilience
from consilience.analysis.annotator_frames import MIN_ACCURACY
from consilience.analysis.capabilities import attributes
from consilience.analysis.clustering import FoundClusters
from consilience.analysis.group_names import count_group_names
from consilience.analysis.names import join_names, name_text, quantify
from consilience.analysis.reliability import sentences_on_reliability
from consilience.analysis.words import current_words
from consilience.annotations import Labels, Pairs
from consilience.errors import InputError
from consilience.inspection.pictures import is_of_pixels
from consilience.inspection.plots.clusters import draw_clusters, plot_lower_bound, plot_prior_variance
from consilience.inspection.plots.heatmaps import plot_agreement, plot_mapping
from consilience.inspection.plots.matrix import MOST_NAMED
from consilience.inspection.plots.point_labels import n_named
from consilience.inspection.plots.style import Sheet
from consilience.inspection.report import (
    annotators,
    answer,
    best_cuts,
    certainty_sections,
    compromise_sections,
    concept_sections,
    deep_sections,
    exact_group_sections,
    fusion_sections,
    fusion_tables,
    given_group_sections,
    item_tables,
    judge_tables,
    label_sections,
    label_tables,
    mapping_tables,
    name_sections,
    pair_sections,
    participants,
    quality_sections,
    rating_sections,
    sensory_sections,
    separation_sections,
    tag_sections,
    view_sections,
    votes_sections,
)
from consilience.inspection.report.figure_files import plane_file, small
from consilience.inspection.report.subject import ClusterLists, Figure, Section, Subject
from consilience.inspection.report.tables import Column, Download, ReportTable, download, number, percent, row
from consilience.metrics.agreement import order_by_agreement

NAMES = 12  # listed in a sentence
WEAKEST = 3
REACHED = (
    "prior_variance_",
    "n_clusters_",
    "silhouette_",
    "refined_",
    "n_ties_",
    "n_contradicted_",
    "n_violated_",
    "objective_",
    "log_likelihood_",
    "lower_bound_",
    "n_iter_",
    "converged_",
)
MOST_DRAWN = 400  # annotators whose agreement is drawn


def default_title(subject: Subject) -> str:
    """Return the numbers of clusters or classes, of items and of annotators as a title."""
    words = current_words()
    clusters, annotations = subject.clusters, subject.annotations
    parts = quantify(len(clusters.names), clusters.noun, clusters.nouns)
    if subject.can.has_tags:
        tags = quantify(len(subject.estimator.tags_), "tag")
        return f"{words.n_items(annotations.n_items)} with {tags} by {words.n_annotators(annotations.n_annotators)}"
    items, annotators = words.n_items(annotations.n_items), words.n_annotators(annotations.n_annotators)
    return f"{items} in {parts} by {annotators}" if clusters.is_named else f"{parts} of {items} by {annotators}"


def key_findings(subject: Subject) -> list[str]:
    """Return the main results in a few sentences."""
    if subject.can.has_tags:
        findings = [*tag_sections.in_short(subject), *subject.told(subject.can.notes)]
    elif subject.clusters.is_named:
        findings = [
            *label_sections.copies_in_short(subject),
            label_sections.sizes_in_short(subject),
            *rating_sections.in_short(subject),
            *quality_sections.in_short(subject),
            *(certainty_sections.in_short(subject) if subject.certainty else []),
            *label_sections.certainty_in_short(subject),
            label_sections.annotators_in_short(subject),
            *subject.told(subject.can.notes),
        ]
    else:
        findings = _clusters_in_short(subject)
    findings += certainty_sections.none_in_short(subject)
    findings += filter(None, [participants.left_out_sentence(subject.left_out)])
    estimator = subject.estimator
    if subject.can.converged is False:
        findings.append(f"The fit did not converge in {estimator.n_iter_} sweeps: raise max_iter.")
    return findings


def _clusters_in_short(subject: Subject) -> list[str]:
    words = current_words()
    findings = [_sizes_in_short(subject.clusters.sizes), *_names_in_short(subject)]
    findings += best_cuts.in_short(subject)
    findings += separation_sections.left_over_in_short(subject)
    many = participants.are_many_at_chance(subject)
    findings += participants.chance_in_short(subject) if many else []
    if subject.certainty:
        findings += certainty_sections.in_short(subject)
        findings += separation_sections.in_short(subject)
    elif "probability" in subject.items:
        sure = (_items_in_clusters(subject)["probability"] >= item_tables.SURE).to_numpy()
        findings.append(
            f"{percent(sure.mean())} of the {words.items} ({sure.sum():,} of {len(sure):,}) belong to their cluster "
            f"with a probability of at least {item_tables.SURE:g}."
        )
    if subject.can.maps_groups:
        findings += [_annotators_in_short(subject.annotators), *subject.told(subject.can.notes)]
    if subject.can.has_views:
        findings += view_sections.in_short(subject)
    if subject.is_judged:
        findings += [*judge_tables.in_short(subject.annotators), *subject.told(subject.can.notes)]
    findings += fusion_sections.in_short(subject) if subject.can.fuses else []
    findings += [] if many else participants.chance_in_short(subject)
    return [*findings, *sensory_sections.segments_in_short(subject)]


def sections(subject: Subject) -> Iterator[Section]:
    """Yield the sections with something to say: the answer, people, certainty, names, then how it was found."""
    clusters = subject.clusters
    lists, figures = _clusters(subject)
    yield lists
    if subject.can.fuses or (subject.groups and not clusters.is_named):
        yield from filter(None, [fusion_sections.evidence_section(subject)])
    yield from filter(None, [concept_sections.ratings_section(subject), quality_sections.section(subject)])
    yield from filter(None, [tag_sections.section(subject)])
    if isinstance(subject.annotations, Labels) and subject.votes is not None:
        yield votes_sections.section(subject)
    yield from filter(None, [rating_sections.section(subject)])
    if not is_of_pixels(subject.features):
        yield from _profiles(subject)
    if subject.scores is not None:
        tests = item_tables.association_table(subject.scores, clusters)
        table = item_tables.profile_table(subject.scores, clusters, "score", item_tables.SCORES)
        yield Section("association", "Association with outside scores", [], [tests, table])
    if subject.can.has_views:
        yield from view_sections.sections(subject)
    if subject.can.maps_groups:
        yield _meaning(subject)
    yield _annotators(subject)
    yield from filter(None, [participants.section(subject)])
    yield figures
    yield from filter(None, [certainty_sections.section(subject)])
    if subject.can.fuses:
        yield from filter(None, [fusion_sections.names_section(subject)])
    yield from filter(None, [exact_group_sections.section(subject), pair_sections.section(subject)])
    yield from filter(None, [given_group_sections.section(subject)])
    yield from name_sections.sections(subject)
    yield from filter(None, [compromise_sections.section(subject), sensory_sections.words_section(subject)])
    yield from (replace(section, folded=True) for section in _methods(subject))


def _methods(subject: Subject) -> Iterator[Section]:
    """Yield the sections on how the answer was computed, and the tests behind it."""
    about_pictures = [] if subject.pictures is None else [subject.pictures.in_words()]
    yield Section("given", "The data", list(filter(None, about_pictures)), [_given_section(subject)])
    if is_of_pixels(subject.features):
        yield from _profiles(subject)
    yield from filter(None, [separation_sections.section(subject)])
    if subject.can.fuses:
        yield fusion_sections.number_section(subject)
    yield from filter(None, [fusion_sections.axes_section(subject)])
    yield from filter(None, [best_cuts.section(subject), sensory_sections.panel_section(subject)])
    yield from filter(None, [concept_sections.bridging_section(subject)])
    if subject.can.has_epochs:
        yield deep_sections.training_section(subject)
    elif subject.can.has_bounds:
        yield _fit(subject)
    yield _settings(subject)


def _profiles(subject: Subject) -> Iterator[Section]:
    """Yield the section on the features of the clusters, if there are any."""
    if subject.features is None:
        return
    table = item_tables.profile_table(subject.features, subject.clusters, "feature", item_tables.FEATURES)
    yield Section("profiles", f"What distinguishes the {subject.clusters.nouns}", [], [table])


def _given_section(subject: Subject) -> ReportTable:
    if isinstance(subject.annotations, Labels):
        return label_tables.given_table(subject.annotations, subject.features)
    if isinstance(subject.annotations, Pairs):
        return judge_tables.given_table(subject.annotations, subject.features)
    return item_tables.given_table(subject.annotations, subject.features)


def _clusters(subject: Subject) -> tuple[Section, Section]:
    """Return the clusters as lists with the plane of the items, and what is known of them in figures."""
    words = current_words()
    items, clusters = subject.items, subject.clusters
    clustered, nowhere = _items_in_clusters(subject), items[items["cluster"] < 0]
    unannotated = clustered[clustered["n_annotators"] == 0]
    blocks: list[ReportTable | Figure] = [
        item_tables.clusters_table(items, *_names_of_clusters(subject), subject.cohesion)
    ]
    drawn: list[ClusterLists | ReportTable | Figure] = [answer.lists(subject)]
    placed = subject.groups or subject.can.embedding is not None
    if subject.features is not None or (placed and not subject.can.fuses):
        drawn.append(deep_sections.latent_figure(subject) or _plane(subject))
    sentences = [] if clusters.is_named else ["Numbers are those of the files, from 0, the largest first."]
    if clusters.called:
        sentences.append(
            f"A cluster is called what the most {words.annotators} call groups of these {words.items}: of those in the "
            "group or the cluster, more than half are in both. No two clusters have the same name; one that fewer than "
            f"two {words.annotators} name so has its most central {words.items} instead."
        )
    if subject.can.has_views:
        sentences.append(
            f"They are the clusters of view 0, which most {words.annotators} hold; the other views follow below."
        )
    if len(unannotated):
        text = quantify(len(unannotated), f"{words.item} has no annotations", f"{words.items} have no annotations")
        if "probability" in items:
            mean = number(unannotated["probability"].mean())
            text += f"; the mean {clusters.measure} of their {clusters.nouns} is {mean}"
        sentences.append(text + ".")
    if len(nowhere):
        names = _some([name_text(name) for name in nowhere["item"].tolist()])
        be = "is" if len(nowhere) == 1 else "are"
        sentences.append(f"{words.n_items(len(nowhere))} {be} in no grouping, and so in no {clusters.noun}: {names}.")
    if "probability" in items and subject.certainty is None:
        blocks.append(
            item_tables.certainty_table(
                clustered, clusters, words.told(fusion_sections.GIVEN) if subject.can.fuses else ""
            )
        )
        labels_given = None
        if isinstance(subject.annotations, Labels):
            least = clustered["probability"].sort_values(kind="stable").index[: item_tables.UNCERTAIN_ITEMS]
            labels_given = label_tables.labels_of(subject.annotations, least.to_numpy())
        uncertain = item_tables.uncertain_items_table(clustered, clusters, labels_given)
        blocks += [] if uncertain is None else [uncertain]
    first = Section("clusters", f"The {clusters.nouns}", [], drawn)
    return first, Section("figures", f"The {clusters.nouns} in figures", sentences, blocks)


def _items_in_clusters(subject: Subject) -> pd.DataFrame:
    """Return the items that are in a cluster."""
    return subject.items[subject.items["cluster"] >= 0]


def _names_of_clusters(subject: Subject) -> tuple[list[list[str]], FoundClusters, str]:
    """Return the most common names of the clusters, the clusters, and how to read those names."""
    words = current_words()
    clusters = subject.clusters
    if clusters.is_named or not subject.groups:
        return [], clusters, ""
    reading = (
        f"Names are those that at least two {words.annotators} use for the cluster, with the number of these "
        f"{words.annotators}"
    )
    rule = f"more than half of the {words.items} in their group of this name or in the cluster are in both"
    reading += "; more below." if subject.can.fuses else f": {rule}."
    return count_group_names(subject.names, len(clusters.index), item_tables.NAMES_OF_CLUSTER), clusters, reading


def _plane(subject: Subject) -> Figure:
    words = current_words()
    features = subject.features
    n_features = 0 if features is None else features.shape[1]
    try:
        ax = _draw_clusters(subject, features if n_features else None)
    except InputError:  # features that the report can list but not draw
        n_features = 0
        ax = _draw_clusters(subject, None)
    how = f"The {words.items} by their annotations: close where the same {words.annotators} put them together."
    if not subject.groups:
        how = (
            f"The {words.items} along the two directions of largest variance of the coordinates that the model gives "
            "them."
        )
    noun = subject.clusters.noun
    if n_features == 1:
        how = f"The {words.items} by their feature."
    elif n_features == 2:
        how = f"The {words.items} by their two features"
        how += f", with the region in which each {noun} is the most probable." if ax.collections else "."
    elif n_features:
        how = f"The {words.items} along the two directions of largest variance of their {n_features:,} features."
    hollow = f"; {words.items} without annotations are hollow" if (subject.items["n_annotators"] == 0).any() else ""
    named = f" {words.Items} are named where there is room." if n_named(ax) else ""
    caption = f"{how} Each {noun} has its colour and shape{hollow}.{named}"
    drawn = features if n_features else None
    file = plane_file("plane.csv", subject.model, drawn, subject.annotations, subject.clusters)
    return _figure("plane", ax, "Scatter plot. " + caption, caption, file)


def _draw_clusters(subject: Subject, features: pd.DataFrame | None) -> Axes:
    return draw_clusters(subject.model, features, subject.annotations, subject.clusters, ax=Sheet())


def _meaning(subject: Subject) -> Section:
    words = current_words()
    estimator = subject.estimator
    tables = mapping_tables.distinction_tables(estimator)
    unmatched = mapping_tables.unmatched_table(estimator)
    share = f"{MIN_ACCURACY:.0%}"
    sentences = [
        "A distinction is a way to divide the clusters. Groupings that divide them in the same way are listed "
        "together, whatever they call the parts; each column has their names for one part. A question mark means that "
        f"the name is a guess for one of the clusters, as when the {words.annotator} did not label its {words.items}."
    ]
    weak = mapping_tables.weak_groupings(estimator)
    if weak:
        sentences.append(
            f"Not among the distinctions, since the clusters predict less than {share} of their labels: {_some(weak)} "
            f"({len(weak):,} of {quantify(len(estimator.groupings_), 'grouping')})."
        )
    caption = (
        "One row per group, one column per cluster; the stronger the colour, the more probable that the cluster "
        f"belongs to this group of the {words.annotator}. Groupings that divide the clusters in similar ways are close "
        "together."
    )
    ax = plot_mapping(subject.model, ax=Sheet())
    left = " ".join(ax.get_xlabel().split()[1:])
    alternative = "Heat map of the probability that a cluster belongs to a group. " + left
    drawn = _figure("mapping", ax, alternative.strip(), caption, mapping_tables.mapping_file(estimator))
    return Section(
        "meaning",
        f"What the {words.annotators_own} groups stand for",
        sentences,
        [*tables, drawn, *([] if unmatched is None else [unmatched])],
    )


def _annotators(subject: Subject) -> Section:
    words = current_words()
    can, blocks = subject.can, list[ReportTable | Figure]()
    if can.rates_annotators:
        blocks += filter(None, [annotators.annotators_table(subject.annotators, ranking_of(subject))])
    if can.names_classes:
        blocks += label_sections.quality_figures(subject)
    elif can.fuses:
        blocks += filter(None, [fusion_tables.groupings_table(fusion_tables.grouping_frame(subject.estimator))])
    if not subject.groups:
        told = label_tables.what_is_listed(subject.estimator) if can.names_classes else ""
        return Section("annotators", f"The {words.annotators}", [told] if told else [], blocks)
    if subject.groupings.n_annotators > 1 and not can.has_tags:
        blocks.append(_agreement(subject))
    sentences = sentences_on_reliability(
        {name: asdict(found) for name, found in subject.reliability.items()}, of_pairs=not subject.clusters.is_named
    )
    if not can.has_tags:
        sentences += [*annotators.agreement_sentences(subject.agreement), *participants.about_measures(subject)]
    return Section("annotators", f"The {words.annotators}", sentences, blocks)


def ranking_of(subject: Subject) -> annotators.Ranking:
    """Return the layout of the table of annotators for a model."""
    can = subject.can
    if can.names_classes:
        return label_sections.ranking(subject)
    if can.fuses:
        return annotators.OF_FUSIONS if subject.estimator.refined_ else annotators.OF_SHARES
    if can.maps_groups:
        return annotators.OF_MAPPINGS
    return annotators.OF_VIEWS if can.has_views else annotators.OF_JUDGES


def _agreement(subject: Subject) -> Figure:
    words = current_words()
    n_items = subject.groupings.summary().items_per_annotator.to_numpy()
    # in their own order again, which that of the matrix starts from
    most = np.sort(np.argsort(-n_items, kind="stable")[:MOST_DRAWN])
    matrix = subject.agreement.iloc[most, most]
    order = order_by_agreement(matrix)
    caption = (
        f"Agreement of each pair of {words.annotators}, those who agree next to each other: 1 for the same groups, 0 "
        f"for agreement by chance; hatched where they have fewer than two {words.items} in common. Dark squares along "
        "the diagonal are people who sort alike."
    )
    lowest = float(np.nanmin(matrix.to_numpy()))
    if lowest < 0:
        caption += f" Values below 0, down to {number(lowest)}, have the colour of 0: less than by chance."
    if isinstance(subject.annotations, Labels):
        caption += " It does not depend on the names of the classes."
    if len(order) < len(n_items):
        caption += (
            f" Only the {len(order)} of {len(n_items):,} {words.annotators} with the most {words.items} are drawn."
        )
    if len(order) > MOST_NAMED:
        caption += " Their names are in the file, in the order of the heat map."
    return _figure(
        "agreement",
        plot_agreement(matrix, ax=Sheet()),
        f"Heat map of the agreement between {len(order)} {words.annotators}.",
        caption,
        annotators.agreement_file(matrix, order),
    )


def _fit(subject: Subject) -> Section:
    estimator, can = subject.estimator, subject.can
    bounds = estimator.lower_bounds_
    checked = can.converged is not None  # else the number of sweeps is fixed, and some may lower the bound
    end = f"{estimator.n_iter_} sweeps{' without converging' if can.converged is False else ''}"
    rises = "it can only rise, and levels off" if checked else "it should rise and level off"
    caption = f"The lower bound on the log evidence after each sweep; {rises} ({end})."
    shown = f"Line plot from {number(bounds[0], 1)} to {number(bounds[-1], 1)} nats."
    sweeps = pd.DataFrame({"sweep": np.arange(1, len(bounds) + 1), "lower_bound": bounds})
    file = small(download("bound.csv", sweeps))
    blocks = [_figure("bound", plot_lower_bound(estimator, ax=Sheet()), shown, caption, file)]
    n_restarts = len(can.restart_bounds)
    sentences = [f"The best of {n_restarts} restarts was kept."] if n_restarts > 1 else []
    if can.searched_variance:
        caption = (
            "How well each prior variance predicts held-out annotations; the ring marks the one chosen. Where the bars "
            "overlap widely, the choice matters little."
        )
        shown = f"Line plot with error bars; {estimator.prior_variance_:.3g} was chosen."
        file = small(download("variance.csv", estimator.prior_variance_search_))
        blocks.append(_figure("variance", plot_prior_variance(estimator, ax=Sheet()), shown, caption, file))
    return Section("fit", "How the fit went", sentences, blocks)


def _settings(subject: Subject) -> Section:
    estimator = subject.estimator
    parameters = [row(name, repr(value)) for name, value in estimator.get_params(deep=False).items()]
    reached = [row(name, _figure_text(value)) for name, value in attributes(estimator, REACHED).items()]
    steps = [row(f"previous step: {name}", repr(step)) for name, step in _steps_before(subject.model)]
    packages = ["numpy", "scipy", "scikit-learn", "pandas"]
    packages += ["jax", "equinox", "optax"] if type(estimator).__module__.startswith("consilience.deep") else []
    versions = [row("consilience", consilience.__version__), row("Python", platform.python_version())]
    versions += [row(package, version(package)) for package in packages]
    sentences = ["With the same data, settings and versions, the fit can be repeated."]
    if estimator.get_params(deep=False).get("random_state", 0) is None:
        sentences = ["No random_state was set, so another fit may differ; set one to make the fit repeatable."]
    head = [Column("", "text"), Column("", "wide")]
    name = type(estimator).__name__
    tables = [
        ReportTable("parameters", f"Settings of {name}", head, [*steps, *parameters]),
        ReportTable("reached", "Results of the fit", head, reached),
        ReportTable("versions", "Versions", head, versions),
    ]
    return Section("settings", "Settings and versions", sentences, [table for table in tables if table.rows])


def _steps_before(model: Any) -> list[tuple[str, Any]]:
    return model.steps[:-1] if isinstance(model, Pipeline) else []


def _figure(key: str, ax: Axes, description: str, caption: str, file: Download | None = None) -> Figure:
    return Figure.of(key, cast(MatplotlibFigure, ax.figure), description, caption, file)


def _sizes_in_short(sizes: np.ndarray) -> str:
    words = current_words()
    text = f"{quantify(len(sizes), 'cluster')} of {sizes.min():,} to {sizes.max():,} {words.items}."
    if sizes.min() == sizes.max():
        text = (
            f"{quantify(len(sizes), 'cluster')} of {words.n_items(int(sizes[0]))}{' each' if len(sizes) > 1 else ''}."
        )
    small = sizes[sizes < 0.01 * sizes.sum()]
    if len(small):
        hold = "hold" if len(small) > 1 else "holds"
        text += f" {len(small)} of them {hold} less than 1% of the {words.items} each, {small.sum():,} in all."
    return text


def _names_in_short(subject: Subject) -> list[str]:
    """Return what the clusters are called, and on how many people each name rests."""
    words, clusters = current_words(), subject.clusters
    named = list(filter(None, clusters.called))
    if not named:
        return []
    chosen = pd.MultiIndex.from_tuples([(code, name) for code, name in enumerate(clusters.called) if name])
    counts = subject.names.groupby(["cluster", "name"])["n_annotators"].max().reindex(chosen)
    few, most = int(counts.min()), int(counts.max())
    of = f"{few:,}" if few == most else f"{few:,} to {most:,}"
    rest = f"each name is that of {of} of {words.n_annotators(subject.annotations.n_annotators)}"
    return [f"What {words.annotators} call them: {_some(named)}; {rest}."]


def _annotators_in_short(frame: pd.DataFrame) -> str:
    words = current_words()
    weak = frame[frame["accuracy"] < MIN_ACCURACY][::-1]
    good = int((frame["accuracy"] >= MIN_ACCURACY).sum())
    share = f"{MIN_ACCURACY:.0%}"
    text = f"The clusters predict at least {share} of the labels of {good:,} of {words.n_annotators(len(frame))}"
    if weak.empty:
        return text + "."
    worst = [f"{name_text(name)} ({percent(accuracy)})" for name, accuracy in weak["accuracy"].head(WEAKEST).items()]
    return f"{text}; the worst are {join_names(worst)}."


def _some(names: list[str]) -> str:
    left = len(names) - NAMES
    return join_names(names[:NAMES] if left <= 0 else [*names[:NAMES], f"{left:,} more"])


def _figure_text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
