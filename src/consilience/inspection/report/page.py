"""The report: one HTML file that needs no network and no other file, and is whole without its script, too."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from consilience.analysis.certainty import Certainty
from consilience.analysis.findings import Findings, gather
from consilience.analysis.fitted import rows_of_items, unwrap
from consilience.analysis.item_ratings import item_ratings
from consilience.analysis.names import as_text
from consilience.analysis.words import Words, use_words
from consilience.annotations.types import Literal
from consilience.atomic_files import replacing
from consilience.errors import InputError
from consilience.inspection.pictures import pictures_in, pictures_of
from consilience.inspection.plots.fusion import stability_rows
from consilience.inspection.plots.style import plain_text
from consilience.inspection.report.answer import cautions, lead
from consilience.inspection.report.assets import Assets
from consilience.inspection.report.findings_in_short import default_title, key_findings
from consilience.inspection.report.sections import sections
from consilience.inspection.report.short_form import ids_in_short, say_who_took_part, short_sections
from consilience.inspection.report.subject import Subject

__all__ = ["report"]

# in a notebook: the page's script can save files and print, but not reach the notebook
FRAME = 'width="100%" height="700" sandbox="allow-scripts allow-downloads allow-modals" style="border: 1px solid #ccc"'


class Page(str):
    """A page of HTML as text, which a notebook renders."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self)}" {FRAME}></iframe>'


def report(
    model: Any,
    groupings: Any = None,
    X: Any = None,
    *,
    scores: Any = None,
    stability: Any = None,
    certainty: Certainty | Literal["auto"] | None = "auto",
    given_labels: Any = None,
    pictures: Any = None,
    ratings: pd.DataFrame | None = None,
    napping: pd.DataFrame | None = None,
    given_groups: Iterable[str] = (),
    words: Words | str | None = None,
    names: Any = None,
    left_out: Iterable[Any] = (),
    seconds: Any = None,
    title: str | None = None,
    warnings: Iterable[str] = (),
    short: bool = False,
    path: str | Path | None = None,
) -> str | Path:
    """Write what a fitted model found, and how far to trust it, to one self-contained HTML page.

    The page summarises the data; shows the clusters, how certain they are and what distinguishes them; which annotators
    divide the items in the same way, how good each annotator is and who agrees with whom; how the fit went, and what is
    needed to repeat it. For a model with several views, it shows who holds which view, and the clusters of each. For a
    model that finds the class of each item, it shows the classes, and which of them each annotator confuses; for a
    fusion of groupings, how items relate, how many clusters there are, and what people call them. Long tables are
    shortened, and say so; if not too large, the full tables are in the page as CSV files to save. Where people grouped
    up to 500 items, the tree of the items can be cut elsewhere, and items be searched in the matrix, the map and the
    tables; the page's own script does that, and the page is complete without it.

    Parameters
    ----------
    model : fitted estimator, or a Pipeline that ends in one; or Findings
        With `Findings` of `consilience.analysis.findings`, which hold all about the fit, the page takes only scores,
        stability, pictures, ratings, napping, given groups, title and warnings in addition.
    groupings : Groupings, Labels, Pairs or array
        The annotations that were passed to `fit`. SubsetFusion keeps them; other models need them here.
    X : DataFrame or array, shape (n_items, n_features), optional
        The features that were passed to `fit`, or any if it took none, in the order of the items or indexed by name:
        for the profiles of the clusters and the plot of the items.
    scores : DataFrame, Series or array, shape (n_items, n_scores), optional
        Scores that the model did not see, to be tested against the clusters. NaN where a score is missing.
    stability : DataFrame with columns n_groupings and stability, optional
        How far clusters from fewer groupings agree with these, for the report of a fusion; see `plot_stability`.
    certainty : Certainty, "auto" or None, default="auto"
        What another group of people would repeat, from `consilience.inspection.certainty`: for the findings, the list
        of the least certain items and a section of its own. "auto": 100 draws, fewer if the annotations are large, for
        models whose people can be weighed. None: the report has the model's own probabilities.
    given_labels : Series or dict of labels by item, array of one for each item, or LabelQuality, optional
        Labels that came with the items, to be checked by those of the annotators; see `label_quality`. For models that
        find named classes.
    pictures : str, Path, Series, dict or Pictures, optional
        Pictures of the items, for the lists, the map and the matrix: a folder of files named after the items, or a
        picture or a path for each of some items; see `consilience.inspection.pictures_of`. By default those that the
        features are, if these are columns of pixels such as pixel_0_0 to pixel_7_7.
    ratings : DataFrame, optional
        Ratings of the items on one or more scales, such as importance and feasibility, of a model of clusters: a row
        for each item, or for each item and annotator; see `consilience.inspection.item_ratings`.
    napping : DataFrame, optional
        Where each annotator placed the items on a sheet, beside the groups: a row for each item and annotator, with
        columns of coordinates; see `consilience.inspection.compromise_map`.
    given_groups : iterable of str, optional
        Names of the groups that everybody was given in a hybrid sort; see
        `consilience.inspection.compare_given_groups`. By default those that the file of annotations tells, as that of
        ``consilience serve`` does.
    words : str or Words, optional
        What the page calls items and annotators, such as ``"cards,participants"``; see `Words.of`. By default what the
        columns of the file are called, if they were read from one and are usual words; else items and annotators.
    names : dict or Series from names to standard names, or DataFrame with columns name and standard, optional
        Corrections of the standard names of groups, see `standard_names`.
    left_out : iterable of names, optional
        Annotators who were left out of the fit, as by `Annotations.leave_out`: the page says so.
    seconds : dict or Series of seconds by annotator, optional
        How long each annotator took, for the tables of annotators. Some may be missing.
    title : str, optional
        By default the number of clusters or classes, items and annotators.
    warnings : iterable of str, optional
        Sentences to put before everything else, such as that the annotators do not agree.
    short : bool, default=False
        Write the short form, at most two printed pages of an ordinary study: the answer, the clusters, a picture and
        who took part. The whole page has a button that prints it.
    path : str or Path, optional
        Where to write the page, in UTF-8; the folder must exist. An existing file is replaced only when the new one is
        complete.

    Returns
    -------
    str or Path
        The page, which a notebook renders, or its path if one was given.

    Raises
    ------
    InputError
        The annotations are missing; annotations, certainty, features, scores, ratings, napping or given groups do not
        fit the model; the stability cannot be drawn; the words are not two plurals; the corrections of names do not fit
        the groups; somebody who has seconds is no annotator; or the path is empty, a folder, or in a folder that does
        not exist.
    sklearn.exceptions.NotFittedError
        The model was not fitted.

    Examples
    --------
    >>> from consilience.inspection import report
    >>> from consilience.semisupervised import PartitionLabelModel
    >>> sorts = [["p", "x"], ["p", "x"], ["q", "y"], ["q", "y"]]
    >>> model = PartitionLabelModel(prior_variance=1.0, n_init=1, random_state=0).fit(None, sorts)
    >>> page = report(model, sorts)
    >>> "2 clusters of 4 items by 2 annotators" in page
    True
    """
    if isinstance(X, str | Path):
        raise InputError(f"The third argument of report is X, the features. Got {str(X)!r}; give a file as path=….")
    if isinstance(model, Findings) and not (groupings is X is None):
        raise InputError("The findings given to report hold annotations and features already; leave these out.")
    shown = _arrange_shown(model.model if isinstance(model, Findings) else model, scores, stability, pictures)
    found = model
    if not isinstance(found, Findings):
        found = gather(
            model,
            groupings,
            X,
            certainty=certainty,
            given_labels=given_labels,
            words=words,
            names=names,
            left_out=left_out,
            seconds=seconds,
            function="report",
        )
    if shown["pictures"] is None:
        shown["pictures"] = pictures_in(found.features)
    rated = None if ratings is None else item_ratings(found, ratings)
    subject = Subject.of(found, **shown, ratings=rated, napping=napping, given_groups=tuple(given_groups))
    template = environment().get_template("report.html.j2")
    with plain_text(), use_words(subject.words):
        drawn = short_sections(subject) if short else list(sections(subject))
        page = template.render(
            short=short,
            short_ids=ids_in_short(subject, drawn),
            took_part=say_who_took_part(subject),
            title=default_title(subject) if title is None else as_text(title),
            warnings=list(warnings),
            lead=lead(subject),
            cautions=cautions(subject),
            findings=key_findings(subject),
            sections=drawn,
            words=subject.words,
            album=subject.album,
            assets=Assets.of(),
        )
    if path is None:
        return Page(page)
    with replacing(path) as file:
        file.write(page.encode())
    return Path(path)


@cache
def environment() -> Environment:
    """Return the templates, which escape all that they are given and are compiled once."""
    return Environment(
        loader=PackageLoader("consilience.inspection.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _arrange_shown(model: Any, scores: Any, stability: Any, pictures: Any) -> dict[str, Any]:
    """Bring scores and pictures into the order of the fitted items, and check the curve of stability."""
    estimator = unwrap(model)
    if isinstance(scores, pd.Series):
        scores = scores.to_frame(0 if scores.name is None else scores.name)
    elif scores is not None and np.ndim(scores) == 1:
        scores = np.reshape(np.asarray(scores), (-1, 1))
    return {
        "scores": None if scores is None else rows_of_items(estimator, scores, "The table of scores"),
        "stability": None if stability is None else stability_rows(stability),
        "pictures": None if pictures is None else pictures_of(estimator.items_, pictures),
    }
