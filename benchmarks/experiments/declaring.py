"""Compare sentinels with their record, and declare that figures have changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from joblib import Parallel, delayed

from benchmarks.experiments import page as pages
from benchmarks.experiments import sentinels
from benchmarks.experiments.environment import commit
from benchmarks.experiments.page import Page
from benchmarks.experiments.record import SentinelRecord
from benchmarks.experiments.sentinels import Figures, Sentinel


class UnknownSubjectError(ValueError):
    """There is no sentinel of a subject."""


REMEDY = "declare it by python -m benchmarks.papers --changed, if it is meant"


def take_all(keys: Iterable[str], n_jobs: int = 1) -> dict[str, Figures]:
    """Return the figures of some sentinels as they are now, by key."""
    keys = list(keys)
    found = Parallel(n_jobs)(delayed(_take)(key) for key in keys)
    return dict(zip(keys, found, strict=True))


def _take(key: str) -> Figures:
    return sentinels.take(sentinels.all_sentinels()[key])


def differences(figures: dict[str, Figures], record: SentinelRecord) -> Iterator[tuple[Sentinel, str]]:
    """Yield each sentinel whose figures differ from the record, with what there is to say."""
    for key, own in figures.items():
        sentinel, then = sentinels.all_sentinels()[key], record.figures(key)
        if then is None:
            yield sentinel, f"{key} has no recorded figures"
        elif names := sentinel.differences(own, then):
            yield sentinel, f"{key} differs from the record in {', '.join(names)}"


def problems(figures: dict[str, Figures], record: SentinelRecord) -> list[str]:
    """Return which sentinels differ from the record, and which of the record are no longer taken."""
    found = [f"{said}; {REMEDY}" for _, said in differences(figures, record)]
    unknown = record.entries.keys() - sentinels.all_sentinels().keys()
    return found + [f"{key} is recorded but no longer taken; {REMEDY}" for key in sorted(unknown)]


def declare(subjects: Iterable[str], n_jobs: int = 1) -> list[str]:
    """Record the figures of sentinels anew, mark the rows that they stand for as out of date, and write their pages.

    A sentinel that has only figures more or fewer than recorded was itself changed, which changes no row.

    Parameters
    ----------
    subjects : of the sentinels, such as "DawidSkene"; by default all. Rows are those of sentinels that differ; if a
        subject is named and none of its sentinels differs, all that they stand for.
    n_jobs : sentinels at a time

    Raises
    ------
    UnknownSubjectError
        There is no sentinel of a subject.
    """
    known, record, subjects = sentinels.all_sentinels(), SentinelRecord(), list(subjects)
    if unknown := set(subjects) - {sentinel.subject for sentinel in known.values()}:
        raise UnknownSubjectError(f"There is no sentinel of {', '.join(sorted(unknown))}.")
    figures = take_all((key for key, one in known.items() if not subjects or one.subject in subjects), n_jobs)
    changed = {sentinel.key: said for sentinel, said in differences(figures, record)}
    same = {key for key in changed if not known[key].changes(figures[key], record.figures(key) or {})}
    for subject in subjects:
        own = {key for key in figures if known[key].subject == subject}
        if not own & changed.keys():
            changed |= dict.fromkeys(own, f"{subject} is declared as changed")
            same -= own
    for key in changed:
        record.add(key, figures[key], commit())
    record.write(known.keys() & record.entries.keys())
    marked = [line for page in sentinels.pages() for line in _mark(page, changed.keys() - same)]
    return [*dict.fromkeys(changed.values()), *marked]


def _mark(page: Page, changed: set[str]) -> Iterator[str]:
    """Mark the rows of a page for which a changed sentinel stands, and write the page."""
    record, count = page.record(), 0
    for part, cell in page.cells:
        if cell.key in record.rows and changed & sentinels.keys_of(page, part, cell):
            record.outdate(cell, commit())
            count += 1
    if count:
        record.tidy(cell for _, cell in page.cells)
        pages.write(page, record)
        yield f"{page.name}: {count} rows are out of date"
