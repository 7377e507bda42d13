"""The report on two studies: one HTML file that needs no network and no other file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from consilience.analysis.names import as_text
from consilience.analysis.studies.study_difference import StudyDifference
from consilience.analysis.words import Words, use_words
from consilience.atomic_files import replacing
from consilience.errors import InputError
from consilience.inspection.plots.style import plain_text
from consilience.inspection.report.album import Album
from consilience.inspection.report.assets import Assets
from consilience.inspection.report.page import Page, environment
from consilience.inspection.studies.sections import findings, headline, sections

__all__ = ["difference_report"]


def difference_report(
    difference: Any, *, words: Words | str | None = None, title: str | None = None, path: str | Path | None = None
) -> str | Path:
    """Write what two studies differ in to one self-contained HTML page.

    The page begins with the answer: whether they differ, and how large a difference such studies would have shown.
    Then follow the items that moved, with what they are less and more often together with; the pairs that changed, as
    a table and a matrix; how the clusters correspond, and which items went elsewhere; and how far people agree within
    and between the studies.

    Parameters
    ----------
    difference : StudyDifference
        Returned by `study_difference`.
    words : str or Words, optional
        What the page calls items and annotators, such as ``"cards,participants"``; see `Words.of`.
    title : str, optional
        By default the names of the studies and the number of items.
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
        `difference` is not a StudyDifference, or the words are not two plurals.

    Examples
    --------
    >>> from consilience import Groupings
    >>> from consilience.inspection import difference_report, study_difference
    >>> before = Groupings.from_lists([[["ant", "bee", "owl"], ["cow", "pig", "dog"]]] * 8)
    >>> after = Groupings.from_lists([[["ant", "bee"], ["cow", "pig", "dog", "owl"]]] * 8)
    >>> page = difference_report(study_difference(before, after, random_state=0), words="cards,people")
    >>> "1 card moved, the clearest first: owl." in page
    True
    """
    if not isinstance(difference, StudyDifference):
        raise InputError(
            "The 'difference' parameter of difference_report must be a StudyDifference. Got "
            f"{type(difference).__name__} instead."
        )
    template = environment().get_template("report.html.j2")
    with plain_text(), use_words(Words.of(words)) as chosen:
        page = template.render(
            short=False,
            short_ids=(),
            took_part="",  # there is no short form
            title=headline(difference, chosen) if title is None else as_text(title),
            warnings=[],
            lead="",  # the title is the answer
            cautions=[],
            findings=findings(difference, chosen),
            sections=list(sections(difference, chosen)),
            words=chosen,
            album=Album(None),
            assets=Assets.of(),
        )
    if path is None:
        return Page(page)
    with replacing(path) as file:
        file.write(page.encode())
    return Path(path)
