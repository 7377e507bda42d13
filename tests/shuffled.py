"""Run the examples of a page, and fit every model in them once more with its rows in another order.

    python tests/shuffled.py PAGE...

A page is a ``.rst`` file, of which the doctests are run, a ``.md`` file, of which the Python is, or a script. Every
call of ``fit`` on annotations or a DataFrame is repeated with the rows shuffled. The clusters of the items must be the
same, or the call be refused in one of our sentences. Prints a line for each page, and
ends with exit code 1 if rows in another order gave other clusters.
"""

import doctest
import functools
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from consilience import Groupings, Labels, Pairs, registry
from consilience.errors import InputError

KINDS = Groupings | Labels | Pairs


class Watch:
    """Counts of the fits of a page: the same in another order, refused, and without a seed; and those that differ."""

    def __init__(self):
        self.same = self.refused = self.unseeded = 0
        self.different = []
        self.inside = False

    def repeat(self, model, first, second, fit):
        """Fit a copy to shuffled rows, and count what it finds."""
        final = model[-1] if isinstance(model, Pipeline) else model
        parameters = final.get_params()
        if "random_state" in parameters and not isinstance(parameters["random_state"], int):
            self.unseeded += 1
            return
        order = np.random.default_rng(0).permutation(len(first))
        try:
            again = fit(clone(model), shuffled(first, order), second)
        except InputError:
            self.refused += 1
            return
        if same_clusters(final, again[-1] if isinstance(again, Pipeline) else again, order):
            self.same += 1
        else:
            self.different.append(type(final).__name__)


def shuffled(rows, order):
    return rows.iloc[order] if isinstance(rows, pd.DataFrame | pd.Series) else rows[order]


def same_clusters(one, other, order):
    """Whether two models put the items, by name, into the same clusters."""
    if set(one.items_) == set(other.items_) and not one.items_.equals(other.items_):
        place = other.items_.get_indexer(one.items_)
    else:
        place = np.argsort(order)  # rows without names
    pairs = set(zip(map(str, one.labels_), map(str, np.asarray(other.labels_)[place])))
    return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def watched(method, watch):
    """Return `fit`, which repeats the outermost calls on rows that have names."""

    @functools.wraps(method)
    def fit(self, *arguments, **named):
        if watch.inside:
            return method(self, *arguments, **named)
        watch.inside = True
        try:
            found = method(self, *arguments, **named)
            given = [*arguments, *named.values()]
            has_names = isinstance(given[0], KINDS | pd.DataFrame) if given else False
            if has_names and len(given) <= 2:
                second = given[1] if len(given) == 2 else None
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    watch.repeat(found, given[0], second, lambda model, X, y: method(model, X, y))
            return found
        finally:
            watch.inside = False

    return fit


def code_of(page):
    """Blocks of code of a page; examples that show an error are left out."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".rst":
        examples = doctest.DocTestParser().get_examples(text)
        return ["".join(e.source for e in examples if e.exc_msg is None)]
    if page.suffix == ".md":
        return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [text]


def main(pages):
    """Run the pages; return the exit code."""
    warnings.simplefilter("ignore")
    watch = Watch()
    for owner in [Pipeline, *(known.load() for known in registry.ESTIMATORS.values())]:
        owner.fit = watched(owner.fit, watch)
    failed = False
    for page in map(Path, pages):
        watch.__init__()
        for block in code_of(page):
            exec(compile(block, str(page), "exec"), {"__name__": "__main__"})
        counts = f"{watch.same} the same, {watch.refused} refused, {watch.unseeded} without a seed"
        sys.stdout.write(f"{page.name}: {counts}; different: {', '.join(watch.different) or 'none'}\n")
        failed |= bool(watch.different)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
