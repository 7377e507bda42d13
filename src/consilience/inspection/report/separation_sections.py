"""What a report says of items that are not shown to be sorted differently, and of clusters that are left over."""

from __future__ import annotations

from string import ascii_lowercase
from typing import Any

import numpy as np
import pandas as pd

from consilience.analysis.divisions import FEWEST_ITEMS
from consilience.analysis.names import join_some, name_text, quantify
from consilience.analysis.panels import divisions_of
from consilience.analysis.separation import LEVEL, Separation
from consilience.analysis.words import current_words
from consilience.inspection.report.subject import Section, Subject
from consilience.inspection.report.tables import Cell, Column, ReportTable, download, name_cell, number, percent, row

NAMED = 6  # items of a cluster, or pairs of clusters, in a sentence


def left_over_in_short(subject: Subject) -> list[str]:
    """Name the clusters whose items have nothing in common but that nobody put them elsewhere."""
    found, words = subject.cohesion, current_words()
    if found is None:
        return []
    sentences = []
    left_over = found[found["left_over"]]
    for cluster, share, chance in zip(left_over.index, left_over["together"], left_over["chance"], strict=True):
        names = [name_text(name) for name in subject.items.loc[subject.items["cluster"] == cluster, "item"]]
        sentences.append(
            f"Cluster {subject.clusters.shown[cluster]} is what is left over, not a group that people made: any "
            f"two of its {words.n_items(len(names))} ({join_some(names, NAMED)}) were put together {percent(share)} of "
            f"the times, and any two {words.items} at all {percent(chance)}."
        )
    return sentences


def in_short(subject: Subject) -> list[str]:
    """Say how many pairs of items are shown to be sorted differently."""
    found, words = subject.separation, current_words()
    if found is None or _is_powerless(found):
        return []
    n, n_apart = len(found.pairs), int(found.pairs["separated"].sum())
    if n_apart == n:
        return [f"Every two {words.items} are demonstrably sorted differently."]
    pairs = quantify(n, f"pair of {words.items}", f"pairs of {words.items}")
    return [
        f"{n_apart:,} of {pairs} {'is' if n_apart == 1 else 'are'} demonstrably sorted differently; the others may "
        "still be told apart."
    ]


def section(subject: Subject) -> Section | None:
    """Return the section with the letters of the items and those from which each is not separated."""
    found, words = subject.separation, current_words()
    if found is None:
        return None
    heading = f"Which {words.items} are sorted differently"
    if not _is_powerless(found):
        within, *between = _between_clusters(subject, found)
        whole = _say_divisions(subject, found)
        sentences = [f"{within} {whole}", *_most_together(found), *_never_together(found), *between, *in_short(subject)]
        return Section("separated", heading, sentences, [_table(subject, found)])
    people = words.n_annotators(int(found.pairs["n_people"].max()))
    sentence = (
        f"Whether two given {words.items} are sorted differently cannot be tested with {people}: of "
        f"{len(found.pairs):,} pairs at once, none could be shown to differ, however well people agree."
    )
    return Section("separated", heading, [sentence], [])


def _between_clusters(subject: Subject, found: Separation) -> list[str]:
    """Say how many pairs within clusters are sorted differently, and which two clusters have no such pair."""
    words, clusters = current_words(), subject.clusters
    code = subject.items.set_index("item")["cluster"]
    sides = np.sort([code.reindex(found.pairs[side]).to_numpy() for side in ("item_a", "item_b")], axis=0)
    between = (sides[0] != sides[1]) & (sides[0] >= 0)
    apart = found.pairs["separated"].to_numpy()[between]
    same = pd.Series(apart).groupby([*sides[:, between]]).any()
    shares = pd.Series(found.pairs["share"].to_numpy()[between]).groupby([*sides[:, between]]).mean()
    alike = [
        f"“{clusters.titles[a]}” – “{clusters.titles[b]}” (together {percent(shares[a, b])} of the times)"
        for a, b in same.index[~same]
    ]
    within = (sides[0] == sides[1]) & (sides[0] >= 0)
    n_within = int(found.pairs["separated"].to_numpy()[within].sum())
    which, be = quantify(n_within, "pair of", "pairs of") if n_within else "No two", "is" if n_within == 1 else "are"
    names = [
        f"{name_text(a)} – {name_text(b)}"
        for a, b in found.pairs.loc[within & found.pairs["separated"], ["item_a", "item_b"]].itertuples(index=False)
    ]
    these = f": {join_some(names, NAMED)}" if names else ""
    corrected = f"Pair by pair, and corrected for all {len(found.pairs):,} pairs, {which[0].lower()}{which[1:]}"
    where = [f"{corrected} {words.items} within a {clusters.noun} {be} shown to differ{these}."]
    if not alike:
        return where
    return [
        *where,
        f"Of {quantify(len(same), f'pair of {clusters.nouns}', f'pairs of {clusters.nouns}')}, {len(alike):,} "
        f"{'has' if len(alike) == 1 else 'have'} no two {words.items} that are shown to be sorted differently, "
        f"which does not make them alike: {join_some(alike, NAMED)}.",
    ]


def _say_divisions(subject: Subject, found: Separation) -> str:
    """Say which clusters are divided as a whole, by a test of each that does not go pair by pair."""
    words, clusters = current_words(), subject.clusters
    tested = divisions_of(subject.estimator, subject.annotations, clusters)
    if not tested:
        return f"That does not make the {clusters.nouns} uniform."
    texts = []
    for each in tested:
        if each.p_value > LEVEL:
            continue
        part = join_some([name_text(name) for name in subject.annotations.items[each.part]], NAMED)
        texts.append(
            f"Tested as a whole, “{clusters.titles[each.cluster]}” is not uniform (p {number(each.p_value, 3)}, "
            f"against the best divisions of sorts in which its {words.items} change places). It divides best with "
            f"{part} apart: of the times, those of the same part are together in {percent(each.within)}, one of each "
            f"part in {percent(each.between)}; just where the border runs is not tested."
        )
    n_whole = len(tested) - len(texts)
    if n_whole:
        of = f"{'other ' if texts else ''}{clusters.noun if n_whole == 1 else clusters.nouns}"
        texts.append(
            f"No division of the {of} of at least {FEWEST_ITEMS} {words.items} is shown, which does not make them "
            "uniform."
        )
    return " ".join(texts)


def _most_together(found: Separation) -> list[str]:
    """Say which pair was together most often, the most that others can reach; to readers who may know equal items."""
    words = current_words()
    if not words.are_sensory:
        return []
    most = found.pairs[found.pairs["share"] == found.pairs["share"].max()]
    first, *others = [
        f"{name_text(a)} – {name_text(b)}" for a, b in most[["item_a", "item_b"]].itertuples(index=False, name=None)
    ]
    also = f"as often: {join_some(others, NAMED)}" if others else "no other pair as often"
    return [
        f"Most often together were {first} ({percent(most['share'].iloc[0])} of those who sorted both; {also}). If "
        f"two {words.items} are known to be the same, compare the other pairs with theirs; to be together as often "
        "does not make a pair the same."
    ]


def _count_together(found: Separation) -> pd.DataFrame:
    """Return the pairs that are not separated, with the number of people who put both together."""
    left = found.pairs[~found.pairs["separated"]]
    return left.assign(together=(left["share"] * left["n_people"]).round().astype(int))


def _never_together(found: Separation) -> list[str]:
    """Name the pairs that are not separated although nobody put them together."""
    left = _count_together(found)
    never = left.loc[(left["together"] == 0) & (left["n_people"] > 0), ["item_a", "item_b"]]
    if never.empty:
        return []
    names = [f"{name_text(a)} – {name_text(b)}" for a, b in never.itertuples(index=False, name=None)]
    return [
        f"Nobody put together {len(never):,} of the {len(left):,} pairs that are not shown to differ: "
        f"{join_some(names, NAMED)}. That is no sign that they are alike."
    ]


def _is_powerless(found: Separation) -> bool:
    """Whether so few people were asked that no pair could be shown to differ, however well they agree."""
    people = int(found.pairs["n_people"].max())
    return not found.pairs["separated"].any() and 2.0 ** (1 - people) * 2 * len(found.pairs) > LEVEL


def _rename(found: Separation, names: list[Any]) -> dict[Any, str]:
    """Return the letters of the items, in the order in which the table has them first; empty if there are none."""
    if found.letters is None:
        return {}
    order = list(dict.fromkeys("".join(found.letters[name] for name in names)))
    new = dict(zip(order, ascii_lowercase))
    return {name: "".join(sorted(new[letter] for letter in found.letters[name])) for name in names}


def _table(subject: Subject, found: Separation) -> ReportTable:
    words, clusters = current_words(), subject.clusters
    rows, left = [], _count_together(found)
    alike = pd.concat([left, left.rename(columns={"item_a": "item_b", "item_b": "item_a"})])
    beside = dict(iter(alike.sort_values("together", ascending=False, kind="stable").groupby("item_a", sort=False)))
    asked = left["n_people"].unique()
    of = f", of {asked[0]:,}" if len(asked) == 1 else ""
    frame = subject.items.sort_values("cluster", kind="stable")
    letter_of = _rename(found, frame["item"].tolist())
    for name, cluster in frame[["item", "cluster"]].itertuples(index=False, name=None):
        letters = [letter_of[name]] if letter_of else []
        others = beside[name][["together", "n_people", "item_b"]] if name in beside else pd.DataFrame()
        pairs = tuple(
            (f"{n:,}" if of else f"{n:,} of {m:,}", name_text(other) + ("" if n else " (no evidence)"))
            for n, m, other in others.itertuples(index=False, name=None)
        )
        shown = Cell(pairs=pairs) if pairs else Cell("–")
        rows.append(row(name_cell(name), clusters.shown[cluster] if cluster >= 0 else "–", *letters, shown))
    letter = [] if found.letters is None else [Column("Letters", "line")]
    no_evidence = (
        f" No evidence: nobody put the two together, but too few put either with other {words.items} to show that they "
        "differ."
        if (left["together"] == 0).any()
        else ""
    )
    with_letters = "" if found.letters is None else f"{words.Items} that share a letter are not shown to differ. "
    return ReportTable(
        "separated",
        f"{words.Items} that are not shown to be sorted differently",
        [
            Column(words.Item, "text", of_items=True),
            Column(clusters.noun.title(), "text"),
            *letter,
            Column(f"Not shown to differ from (times together{of})", "wide", of_items=True),
        ],
        rows,
        reading=(
            f"{with_letters}If nobody could tell two {words.items} apart, they could change places in everybody's "
            f"sort. Two are shown to differ if the sorts contradict this: they were put with different {words.items}, "
            f"or kept apart more often than by chance. All {len(found.pairs):,} pairs are tested together (Holm's "
            f"method): the probability that any two equal {words.items} are shown to differ is at most {LEVEL:.0%}. "
            "Others may be told apart all the same: people sort by what they find important, and more of them might "
            f"show it.{no_evidence}"
        ),
        download=download("separated.csv", found.pairs.round(6)),
    )
