"""Classes of labels: which names are one class, and which tell of something else than a class."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations.files.values import fold_name, is_number
from consilience.annotations.keywords import spell
from consilience.annotations.names import MISSING, Coded, Where, name_index, plain
from consilience.errors import AnnotationError

SEPARATORS = (";", "|", ",", "/", "\n")
SHORTEST_WORD = 2  # letters of a name that may be written in several ways; a and A are two names
MANY_CLASSES = 50  # more classes than this that are numbers may be ratings


def place_of_classes(names: Iterable[Any], classes: pd.Index) -> np.ndarray:
    """Return the position of names among classes, by their spelling or else by their form; -1 for those that are none.

    Examples
    --------
    >>> place_of_classes(["Yes", "yes ", "no", "maybe"], pd.Index(["no", "Yes"]))
    array([ 1,  1,  0, -1])
    """
    wanted = name_index(names)
    place: np.ndarray = np.array(classes.get_indexer(wanted))
    forms = [fold_word(name) for name in classes]
    several = Counter(forms)
    by_form = {form: i for i, form in enumerate(forms) if form is not None and several[form] == 1}
    for i in np.flatnonzero(place == MISSING).tolist():
        place[i] = by_form.get(fold_word(wanted[i]) or "", MISSING)
    return place


def fold_word(name: Any) -> str | None:
    """Return the form that spellings of a word share, None if the name is no word of several letters."""
    if not isinstance(name, str):
        return None
    form = fold_name(name)
    return form if len(form) >= SHORTEST_WORD and not is_number(form) else None


def one_spelling(column: Coded, declared: Iterable[Any] = ()) -> tuple[Coded, str | None]:
    """Give classes that differ only in case, spaces or form of letters one name, and say so; None if there are none.

    The name is the one that was declared, else the most frequent, without spaces around it.
    """
    known = set(declared)
    forms = [None if name in known else fold_word(name) for name in column.names]
    by_form: dict[str, list[int]] = {}
    for place, form in enumerate(forms):
        if form is not None:
            by_form.setdefault(form, []).append(place)
    name_of_form: dict[str, Any] = {}
    declared_forms = Counter(form for name in known if (form := fold_word(name)) is not None)
    for name in known:
        form = fold_word(name)
        if form is not None and declared_forms[form] == 1:
            name_of_form[form] = name
    several = {form: places for form, places in by_form.items() if len(places) > 1 or form in name_of_form}
    if not several:
        return column, None
    cells = column.tally()
    tidy = [" ".join(unicodedata.normalize("NFC", str(name)).split()) for name in column.names]
    counts: Counter[str] = Counter()
    for name, count in zip(tidy, cells.tolist()):
        counts[name] += count
    names: list[Any] = list(column.names)
    for form, places in several.items():
        if any(fold_word(name) == form for name in known) and form not in name_of_form:
            continue  # two declared classes have this form
        chosen = name_of_form.get(form, min((tidy[place] for place in places), key=lambda name: (-counts[name], name)))
        for place in places:
            names[place] = chosen
    changed = [place for place, name in enumerate(column.names) if names[place] != name]
    if not changed:
        return column, None
    codes, distinct = pd.factorize(np.fromiter(names, dtype=object, count=len(names)))
    told = next(((column.names[p], names[p]) for p in changed), None)
    more = f", like {len(changed) - 1:,} more" if len(changed) > 1 else ""
    note = (
        f"the classes {told[0]!r} and {told[1]!r} differ only in case, spaces or form of letters and are one, "
        f"{told[1]!r}{more}"
        if told
        else ""
    )
    kept_apart = spell(exact=True)
    return column.renamed(
        codes, name_index(distinct)
    ), f"{note} ({kept_apart} keeps them apart)" if kept_apart else note


def refuse_tags(column: Coded, where: Where) -> None:
    """Raise an AnnotationError if a label is a list of other labels, as where people could choose several."""
    texts = {_bare(str(name)) for name in column.names}
    for separator in SEPARATORS:
        joined = {place: _parts(name, separator) for place, name in enumerate(column.names) if separator in str(name)}
        if not joined:
            continue
        counts = Counter(part for parts in joined.values() for part in set(parts))
        recur = len(joined) > 2 and all(counts[part] > 1 or part in texts for part in counts)
        place = next((p for p, parts in joined.items() if recur or all(part in texts for part in parts)), None)
        if place is not None and len(set(joined[place])) > 1:
            row = int(np.argmax(column.codes == place))
            raise AnnotationError(
                f"The label {str(column.names[place])!r} in {where(row)} seems to be a list of several labels. If "
                f"people could choose several, give {spell(kind='tags')}, for TagConsensus. If it is the name of one "
                f"class, give {spell(exact=True)}."
            )


def _parts(name: Any, separator: str) -> list[str]:
    return [part for text in str(name).split(separator) if (part := _bare(text))]


def _bare(text: str) -> str:
    """Return a part of a list as it may be written elsewhere, such as cat for 'cat'] of a list in Python's spelling."""
    return text.strip().strip("[](){}\"' ").casefold()


def refuse_two_groups(group: Coded, owner: Coded, where: Where) -> None:
    """Raise an AnnotationError if a cell names two groups of the annotator, so that an item would be in both."""
    texts = [_bare(str(name)) for name in group.names]
    known = set(texts)
    joined = [
        place
        for place, text in enumerate(texts)
        if any(sign in text and len(found := set(_parts(text, sign))) > 1 and found <= known for sign in SEPARATORS)
    ]
    if not joined:
        return
    theirs: dict[int, set[str]] = {}
    rows = np.flatnonzero(np.isin(group.codes, joined))
    of_them = np.isin(owner.codes, np.unique(owner.codes[rows])) & ~group.missing
    pairs = np.unique(np.stack([owner.codes[of_them], group.codes[of_them]]), axis=1)
    for who, what in pairs.T.tolist():
        theirs.setdefault(who, set()).add(texts[what])
    _, first = np.unique(np.stack([owner.codes[rows], group.codes[rows]]), axis=1, return_index=True)
    for row in rows[np.sort(first)]:
        name = group.names[group.codes[row]]
        for separator in SEPARATORS:
            parts = _parts(name, separator)
            if len(set(parts)) > 1 and set(parts) <= theirs[int(owner.codes[row])] - {texts[group.codes[row]]}:
                raise AnnotationError(
                    f"The group {name!r} in {where(int(row))} names {len(set(parts))} other groups of the same "
                    "annotator. An item is in one group of a grouping: keep one, or give each grouping its own name."
                )


def refuse_no_labels(names: Iterable[Any], where: Callable[[int], str]) -> None:
    """Raise an AnnotationError for cells that are boxes, spans, lists or sets, which are no classes.

    names : cells, one a row
    """
    for row, cell in enumerate(names):
        if isinstance(cell, np.ndarray):
            cell = cell.tolist()
        if isinstance(cell, list | tuple | set | frozenset | dict):
            raise AnnotationError(f"The label in {where(row)} is {_what_it_is(cell)}")


def _what_it_is(cell: Any) -> str:
    shown = f"{str(cell)[:40]}{'…' if len(str(cell)) > 40 else ''}"
    keys = {str(key).casefold() for key in cell} if isinstance(cell, dict) else set()
    if keys & {"x", "xmin", "x_min", "left", "bbox", "points", "width", "rectanglelabels", "polygonlabels", "x1"}:
        return (
            f"a box or a shape, {shown}. Boxes cannot be compared as classes: give each region an item of its own, and "
            "its class as label."
        )
    if keys & {"start", "end", "start_offset", "end_offset", "offset", "token_start", "span"}:
        return (
            f"a span of a text, {shown}. Spans cannot be compared as classes: give each token or span an item of its "
            "own, and its class as label."
        )
    if isinstance(cell, dict):
        return f"a mapping, {shown}. Write its answer to a column of its own: frame['label'] = frame['label'].str['…']."
    values = list(cell)
    if len(values) == 4 and all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return (
            f"four numbers, {shown}, as of a box. Boxes cannot be compared as classes: give each region an item of its "
            "own, and its class as label."
        )
    if values and all(isinstance(value, dict | list | tuple) for value in values):
        return f"a list of several things, {shown}. Give each an item of its own, and its class as label."
    return f"a list, {shown}. If people could choose several labels, give {spell(kind='tags')}, for TagConsensus."


def of_numbers(column: Coded) -> str | None:
    """Ask whether many classes that are numbers are ratings, None if they are few or words."""
    n_classes = len(column.names)
    if n_classes <= MANY_CLASSES or not all(map(is_number, column.names)):
        return None
    return f"the {n_classes:,} classes are numbers; are they ratings? Ratings are no classes, as 3 is near 4"


def refuse_fractions(column: Coded, where: Where) -> None:
    """Raise an AnnotationError if labels are numbers with decimals, as measurements and ratings are."""
    fractions = [place for place, name in enumerate(column.names) if is_number(name) and float(name) % 1]
    if not fractions or len(fractions) * 2 < sum(map(is_number, column.names)):
        return
    row = int(np.argmax(column.codes == fractions[0]))
    raise AnnotationError(
        f"The label {plain(column.names[fractions[0]])} in {where(row)} is a number with decimals, as ratings and "
        f"measurements are, not the name of a class. If it is a name, give {spell(kind='labels')}."
    )
