"""Agreement beyond chance of all annotators together: Krippendorff's alpha and its kin, in figures and a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from consilience.analysis.names import join_names
from consilience.analysis.words import current_words
from consilience.annotations import Groupings, Labels
from consilience.metrics.reliability import Reliability, cohen_kappa, fleiss_kappa, krippendorff_alpha, split_half

MOST_ITEMS = 1000  # of groupings: all pairs of items are compared
MOST_ANNOTATORS = 20  # all pairs of whom are compared by Cohen's kappa
N_DRAWS, N_DIVISIONS = 200, 40
SPLIT_HALF = "split_half"
ENOUGH = 0.9  # Nunnally (1978): 0.8 for research, 0.9 where decisions about single cases hang on it
NAMES = {
    "krippendorff_alpha": "Krippendorff's alpha",
    "ordinal_alpha": "Krippendorff's alpha of levels with an order",
    "fleiss_kappa": "Fleiss' kappa",
    "cohen_kappa": "Cohen's kappa",
}


def reliability_of(annotations: Labels | Groupings) -> dict[str, Reliability]:
    """Return alpha and kappas of labels; of groupings, those of pairs of items, unless these are too many."""
    if isinstance(annotations, Groupings):
        if annotations.n_items > MOST_ITEMS:
            return {}
        alpha = krippendorff_alpha(annotations, n_draws=N_DRAWS)
        return {"krippendorff_alpha": alpha, SPLIT_HALF: split_half(annotations, n_divisions=N_DIVISIONS)}
    found = {
        "krippendorff_alpha": krippendorff_alpha(annotations, n_draws=N_DRAWS),
        "fleiss_kappa": fleiss_kappa(annotations, n_draws=N_DRAWS),
    }
    if annotations.ordered:
        ordinal = krippendorff_alpha(annotations, level="ordinal", n_draws=N_DRAWS)
        found = {"ordinal_alpha": ordinal, **found}
    if annotations.n_annotators <= MOST_ANNOTATORS:
        found["cohen_kappa"] = cohen_kappa(annotations, n_draws=N_DRAWS)
    return found


def sentences_on_reliability(found: Mapping[str, Mapping[str, Any]], *, of_pairs: bool) -> list[str]:
    """Say how far annotators agree beyond chance, or why that is unknown; nothing if it was not computed.

    Examples
    --------
    >>> known = {"value": 0.612, "low": 0.55, "high": 0.67, "note": ""}
    >>> sentences_on_reliability({"krippendorff_alpha": known}, of_pairs=False)
    ["Agreement beyond chance (0: chance, 1: full; 90% interval over items): Krippendorff's alpha 0.61 (0.55 to 0.67)."]
    """
    halves = found.get(SPLIT_HALF)
    found = {name: figures for name, figures in found.items() if name != SPLIT_HALF}
    known = {name: figures for name, figures in found.items() if not figures["note"]}
    if not known:
        return [figures["note"] for figures in found.values()][:1]
    each = [f"{NAMES[name]} {one['value']:.2f} ({one['low']:.2f} to {one['high']:.2f})" for name, one in known.items()]
    about = " on pairs, together or apart" if of_pairs else ""
    scale = f"0: chance, 1: full; 90% interval{'' if len(each) == 1 else 's'} over {current_words().items}"
    agree = f"Agreement beyond chance{about} ({scale}): {join_names(each)}."
    return [*_say_halves(halves), agree]


def _say_halves(found: Mapping[str, Any] | None) -> list[str]:
    """Say how far two halves of the annotators put the same items together; nothing if that is unknown."""
    if found is None or found["note"] or not found["value"] > 0:
        return []
    words, whole = current_words(), found["value"]
    enough = (
        f"enough for these shares, by the usual {ENOUGH:.2f}, if not for what is in doubt"
        if whole >= ENOUGH
        else f"below the usual {ENOUGH:.2f}"
    )
    return [
        f"Between two panels of this size, how often two {words.items} are together would correlate with r = "
        f"{whole:.2f} ({whole / (2 - whole):.2f} between two of half the size, {2 * whole / (1 + whole):.2f} of twice "
        f"the size): {enough} (split-half reliability, Spearman-Brown)."
    ]
