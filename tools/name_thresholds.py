"""Measure how names of groups overlap in their cards: `python tools/name_thresholds.py SITE`.

The thresholds of `consilience.analysis.written_names` were chosen on one card sort of Greek shops ("celestino"),
and looked at on the other ("skroutz"); both need the folder of real data in CONSILIENCE_DATA. Nobody has said which
names mean the same, so two kinds of pairs stand for that:

- names that one person gave to two groups, which that person tells apart: none should overlap enough to be merged,
  though the standardisation would not merge these very names;
- the people of one name, split at random into three people and the rest, ten times: they mean the same, so as many
  as possible should overlap enough.
"""

from __future__ import annotations

import sys

import numpy as np

from consilience.analysis.folding import fold_name, is_name, singular
from consilience.analysis.written_names import FEWEST, SAME_FORM, NameUses
from consilience.datasets import load_cardsort_greek_sites
from consilience.inspection import standard_names

THRESHOLDS = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
SPLITS = 10


def say(line: str) -> None:
    """Write a line to standard output."""
    sys.stdout.write(f"{line}\n")


def main(site: str) -> None:
    """Print shares of pairs that overlap by at least each threshold, and what the standardisation merges."""
    groupings = load_cardsort_greek_sites(site).annotations
    folds = np.array([fold_name(str(name)) for name in groupings.group_names], dtype=object)
    known = sorted({fold for fold in folds if is_name(fold)})
    code = np.array([known.index(fold) if is_name(fold) else -1 for fold in folds])
    uses = NameUses.in_groupings(groupings, code, len(known))
    common = uses.of(np.flatnonzero(uses.n_annotators >= FEWEST))
    above = np.triu_indices(len(common.n_annotators), 1)
    apart = common.overlap()[above][common.told_apart()[above]]
    same = _same(groupings, code, np.flatnonzero(uses.n_annotators >= 2 * FEWEST))
    say(f"{site}: {len(apart):,} pairs of names told apart, {len(same):,} splits of one name")
    for threshold in THRESHOLDS:
        shares = [
            f"{what} {np.mean(found >= threshold):.2%}" for what, found in (("told apart", apart), ("same", same))
        ]
        say(f"overlap ≥ {threshold}: {', '.join(shares)}")
    _plurals(known, uses)
    found = standard_names(groupings)
    say(f"{len(found.grid):,} names became {len(found.names):,}: {found.grid['why'].value_counts().to_dict()}")


def _same(groupings: object, code: np.ndarray, names: np.ndarray) -> np.ndarray:
    """Overlap of three people of a name with the rest of them, for each name and split."""
    rng = np.random.default_rng(0)
    found = []
    for name in names:
        for _ in range(SPLITS):
            person = groupings.annotator_of_group  # type: ignore[attr-defined]
            chosen = rng.permutation(np.unique(person[code == name]))[:FEWEST]
            half = np.where(code == name, np.isin(person, chosen).astype(int), -1)
            found.append(NameUses.in_groupings(groupings, half, 2).overlap()[0, 1])  # type: ignore[arg-type]
    return np.array(found)


def _plurals(known: list[str], uses: NameUses) -> None:
    """Print how far names with one singular are contained in each other, and which are told apart."""
    stems = [singular(fold) for fold in known]
    pairs = [(one, two) for two in range(len(known)) for one in range(two) if stems[one] == stems[two]]
    contained = np.array([uses.containment(one, two) for one, two in pairs])
    say(f"singular and plural: {len(pairs)} pairs, {(contained >= SAME_FORM).sum()} with half of the cards in common")
    for place, (one, two) in enumerate(pairs):
        say(f"  {contained[place]:.2f} {known[one]} | {known[two]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
