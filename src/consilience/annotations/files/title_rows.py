"""Titles above the names of columns, which are left out and noted."""

LONGEST = 60  # letters of a title


def of_titles(count: int, what: str, first: str) -> str:
    """Say that rows or lines above the names of the columns were left out.

    Examples
    --------
    >>> of_titles(1, "row", "Our study")
    "1 row above the names of the columns left out, which says 'Our study'"
    >>> of_titles(2, "line", "Our study")
    "2 lines above the names of the columns left out, which begin with 'Our study'"
    """
    shown = first if len(first) <= LONGEST else first[: LONGEST - 1].rstrip() + "…"
    if count == 1:
        return f"1 {what} above the names of the columns left out, which says {shown!r}"
    return f"{count} {what}s above the names of the columns left out, which begin with {shown!r}"
