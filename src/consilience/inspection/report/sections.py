"""The content of a report, section by section; the template only lays it out."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from dataclasses import asdict, replace
from importlib.metadata import version
from typing import cast

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as MatplotlibFigure
from sklearn.pipeline import Pipeline

import consilience
from consilience.analysis.annotator_frames import MIN_ACCURACY
from consilience.analysis.capabilities import attributes
from consilience.analysis.names import join_some, quantify
from consilience.analysis.reliability import sentences_on_reliability
from consilience.analysis.words import current_words
from consilience.annotations import Labels, Pairs
from consilience.inspection.pictures import is_of_pixels
from consilience.inspection.plots.clusters import plot_lower_bound, plot_prior_variance
from consilience.inspection.plots.heatmaps import plot_agreement, plot_mapping
from consilience.inspection.plots.matrix import MOST_NAMED
from consilience.inspection.plots.style import Sheet
from consilience.inspection.report import (
    annotators,
    best_cuts,
    certainty_sections,
    cluster_sections,
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
from consilience.inspection.report.figure_files import small
from consilience.inspection.report.subject import Figure, Section, Subject
from consilience.inspection.report.tables import Column, Download, ReportTable, download, number, row
from consilience.metrics.agreement import order_by_agreement

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


def sections(subject: Subject) -> Iterator[Section]:
    """Yield the sections with something to say: the answer, people, certainty, names, then how it was found."""
    clusters = subject.clusters
    lists, figures = cluster_sections.cluster_sections(subject)
    yield lists
    if subject.can.fuses or (subject.groups and not clusters.is_named):
        yield from filter(None, [fusion_sections.evidence_section(subject)])
    yield from filter(None, [concept_sections.ratings_section(subject), concept_sections.bridging_section(subject)])
    yield from filter(None, [quality_sections.section(subject)])
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
    yield from filter(None, [separation_sections.section(subject)] if subject.words.are_sensory else [])
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
    yield from filter(None, [] if subject.words.are_sensory else [separation_sections.section(subject)])
    if subject.can.fuses:
        yield fusion_sections.number_section(subject)
    yield from filter(None, [fusion_sections.axes_section(subject)])
    yield from filter(None, [best_cuts.section(subject), sensory_sections.panel_section(subject)])
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
        return label_tables.given_table(subject.annotations, subject.features, len(subject.known))
    if isinstance(subject.annotations, Pairs):
        return judge_tables.given_table(subject.annotations, subject.features)
    return item_tables.given_table(subject.annotations, subject.features, subject.napping)


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
            f"Not among the distinctions, since the clusters predict less than {share} of their labels: "
            f"{join_some(weak)} ({len(weak):,} of {quantify(len(estimator.groupings_), 'grouping')})."
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
        frame, compromise = subject.annotators, subject.compromise if can.fuses else None
        if compromise is not None:
            frame = frame.assign(distatis_weight=compromise.weights.reindex(frame.index))
        people = frame.iloc[::-1].sort_values("with_others", kind="stable") if can.fuses else frame
        blocks += filter(None, [annotators.annotators_table(people, ranking_of(subject))])
    if can.names_classes:
        blocks += label_sections.quality_figures(subject)
    elif can.fuses:
        blocks += filter(None, [fusion_tables.groupings_table(fusion_tables.grouping_frame(subject.estimator))])
    if not subject.groups:
        told = label_tables.what_is_listed(subject.estimator) if can.names_classes else ""
        return Section("annotators", f"The {words.annotators}", [*_who_is_odd(subject), *filter(None, [told])], blocks)
    common = annotators.n_in_common(subject.groupings)
    if annotators.compares_most(common, subject.groupings) and not can.has_tags:
        blocks.append(_agreement(subject))
    odd = [*(participants.chance_in_short(subject) if can.fuses else []), *_who_is_odd(subject)]
    sentences = ([" ".join(odd)] if odd else []) + sentences_on_reliability(
        {name: asdict(found) for name, found in subject.reliability.items()}, of_pairs=not subject.clusters.is_named
    )
    if not can.has_tags:
        sentences += annotators.agreement_sentences(subject.agreement, common)
        sentences += participants.about_measures(subject)
    return Section("annotators", f"The {words.annotators}", sentences, blocks)


def _who_is_odd(subject: Subject) -> list[str]:
    """Say who stands out, or that nobody does, where nothing else on the page says it better."""
    can = subject.can
    if not can.rates_annotators or can.has_tags:
        return []
    is_known = can.fuses or can.names_classes or {"sensitivity", "specificity"} <= set(subject.annotators)
    return participants.odd_in_short(subject) if is_known else []


def ranking_of(subject: Subject) -> annotators.Ranking:
    """Return the layout of the table of annotators for a model."""
    can = subject.can
    if can.names_classes:
        return label_sections.ranking(subject)
    if can.fuses:
        return annotators.of_fusion(subject.annotators, refined=subject.estimator.refined_)
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
    hatched = (
        f"; hatched where they have fewer than two {words.items} in common" if matrix.isna().any(axis=None) else ""
    )
    caption = (
        f"Agreement of each pair of {words.annotators}, those who agree next to each other: 1 for the same groups, 0 "
        f"for agreement by chance{hatched}. Dark squares along the diagonal are people who sort alike."
    )
    lowest = float(np.nanmin(matrix.to_numpy(), initial=0))
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
    found = attributes(estimator, REACHED).items()
    reached = [row(name, f"{value:.6g}" if isinstance(value, float) else str(value)) for name, value in found]
    before = subject.model.steps[:-1] if isinstance(subject.model, Pipeline) else []
    steps = [row(f"previous step: {name}", repr(step)) for name, step in before]
    packages = ["numpy", "scipy", "scikit-learn", "pandas"]
    packages += ["jax", "equinox", "optax"] if type(estimator).__module__.startswith("consilience.deep") else []
    versions = [row("consilience", consilience.__version__), row("Python", platform.python_version())]
    versions += [row(package, version(package)) for package in packages]
    sentences = ["With the same data, settings and versions, the fit can be repeated."]
    rand = "Agreement of groups is measured by the adjusted Rand index (Hubert & Arabie 1985)."
    if estimator.get_params(deep=False).get("random_state", 0) is None:
        sentences = ["No random_state was set, so another fit may differ; set one to make the fit repeatable."]
    sentences += [rand] if subject.groups else []
    sentences += participants.random_computed(subject)
    head = [Column("", "text"), Column("", "wide")]
    name = type(estimator).__name__
    tables = [
        ReportTable("parameters", f"Settings of {name}", head, [*steps, *parameters]),
        ReportTable("reached", "Results of the fit", head, reached),
        ReportTable("versions", "Versions", head, versions),
    ]
    return Section("settings", "Settings and versions", sentences, [table for table in tables if table.rows])


def _figure(key: str, ax: Axes, description: str, caption: str, file: Download | None = None) -> Figure:
    return Figure.of(key, cast(MatplotlibFigure, ax.figure), description, caption, file)
