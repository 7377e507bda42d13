"""The first screen of a report: the answer in a sentence, what makes it doubtful, and the clusters as named lists."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
import pandas as pd
from jaxtyping import Float

from consilience.analysis.central_items import N_NAMED
from consilience.analysis.certainty import Certainty
from consilience.analysis.group_names import AT_LEAST, CLOSE, next_names, tied_names
from consilience.analysis.item_places import count_apart
from consilience.analysis.names import join_names, join_some, name_text, quantify
from consilience.analysis.votes import doubtful_first
from consilience.analysis.words import current_words
from consilience.inspection.report import (
    best_cuts,
    certainty_sections,
    compromise_sections,
    participants,
    quality_sections,
    sensory_sections,
    separation_sections,
)
from consilience.inspection.report.axis_ends import words_of
from consilience.inspection.report.item_tables import FEW_ITEMS, SELDOM_STAYS, SOME_ITEMS, SURE, most_certain_first
from consilience.inspection.report.subject import ClusterList, ClusterLists, Subject
from consilience.inspection.report.svg import swatch
from consilience.inspection.report.tables import percent

RELIABLE = 0.8  # share of the pairs together here that must be so again, and of the items that must stay
FEW_FIRM = 2  # clusters that are named as firm
MOST_OPEN = 3  # doubts about clusters that are said
VERDICTS = OPEN, LIKELY, FIRM = "open", "likely", "firm"
LIMITS = 0.7, 0.9  # share of other panels that find a cluster again: two standard errors of 100 draws from 0.8
LEAST_ELSEWHERE = 0.1  # share of people who put an item with another cluster instead, for that to be named
MOST_DOUBTED = 12  # items of a class that are listed
MAJORITY = 2 / 3  # share of those who sorted an item, below which it is in doubt
WORDINGS, TIED = 4, 4  # wordings of a name, and names of a cluster that as many people use, that are listed
RIVAL, RIVALS = 0.5, 2  # share of the users of a name that another has to have to be said, and how many are
RARE, COMPANIONS = 5, 3  # names of a cluster without a common one, and items put with a single one, that are listed
OFTEN_JOINED = 0.2  # share of the draws in which a cluster is one with another, for it to be said
MANY_DOUBTED = 0.05  # share of the items in doubt, above which nobody is told to rely on all of them


def lead(subject: Subject) -> str:
    """Say how many clusters of what there are, which are firm and what is open, and whether to rely on them."""
    words, clusters = current_words(), subject.clusters
    n_items = words.n_items(subject.annotations.n_items)
    number = quantify(len(clusters.names), clusters.noun, clusters.nouns)
    text = f"{n_items} {'fall' if subject.annotations.n_items != 1 else 'falls'} into {number}"
    if subject.can.has_tags:
        text = f"{n_items} have {quantify(len(subject.estimator.tags_), 'tag')} in {len(clusters.names):,} combinations"
    found = subject.certainty
    if found is None:
        return " ".join([f"{text}{_in_doubt(subject)}.", *certainty_sections.none_in_short(subject)])
    if clusters.is_named or found.chance >= 1 or certainty_sections.is_little(found):
        return " ".join(filter(None, [f"{text}{_in_doubt(subject)}.", _trust(subject)]))
    opened = _say_what_is_open(subject)
    likely = [
        f"“{clusters.titles[code]}” ({percent(subject.moves.found_again[code])})"
        for code, verdict in enumerate(_verdicts(subject))
        if verdict == LIKELY
    ]
    sentences = [f"{text}{_say_how_firm(subject, found)}."]
    sentences += [f"Likely, but not firm: {join_names(likely)}."] if likely else []
    sentences += [f"Open: {'; '.join(opened)}."] if opened else []
    return " ".join([*sentences, _trust(subject)])


def _verdicts(subject: Subject) -> list[str]:
    """Return whether other panels nearly always find each cluster again, or mostly, and seldom join or divide it."""
    changes = _often_joined(subject).max(1) >= OFTEN_JOINED
    changes[[split.cluster for split in subject.moves.splits]] = True
    again = np.where(changes, 0, subject.moves.found_again)
    return [VERDICTS[place] for place in np.searchsorted(LIMITS, again, side="right")]


def _say_how_firm(subject: Subject, found: Certainty) -> str:
    """Say how many clusters are firm, and what that means."""
    again, firm = subject.moves.found_again, np.array(_verdicts(subject)) == FIRM
    n_all, n_firm = len(firm), int(firm.sum())
    panels = f"panels of {found.n_people:,} other {current_words().annotators}, simulated from these"
    if n_all == 1:
        return f" that {percent(again[0])} of {panels}, would find again"
    if not n_firm:
        return f", none of them firm: none is found again by {percent(LIMITS[-1])} of {panels}"
    how_many = "all" if n_firm == n_all else f"{n_firm:,}"
    least, most = (percent(float(share)) for share in np.quantile(again[firm], (0, 1)))
    is_mixed = subject.segments is not None and subject.segments.n_segments > 1  # draws have the same segments
    about = "at best " if is_mixed else "roughly " if certainty_sections.are_rough(subject, found) else ""
    often = f"{about}{least}" + (f" to {most}" if most != least else "")
    it = "it" if n_firm == 1 else "each"
    titles = [f"“{subject.clusters.titles[code]}”" for code in np.flatnonzero(firm)]
    which = f" ({join_names(titles)})" if n_firm <= FEW_FIRM and n_firm < n_all else ""
    return f", {how_many} of them firm{which}: {often} of {panels}, would find {it} again"


def _say_what_is_open(subject: Subject) -> list[str]:
    """Say which clusters may be one or several, or are seldom found again, how many there are, and which items move."""
    words, clusters = current_words(), subject.clusters
    joined, titles = np.triu(_often_joined(subject)), [f"“{title}”" for title in clusters.titles]
    found, told = list[tuple[float, str]](), set[int]()
    again = subject.moves.found_again
    verdicts = np.array(_verdicts(subject))
    for a, b in np.argwhere(joined >= OFTEN_JOINED).tolist():
        explained = {code for code in (a, b) if 2 * joined[a, b] >= 1 - again[code]}  # why it is seldom found again
        how_often = f"{percent(joined[a, b])} join them"
        found += [(joined[a, b], f"whether {titles[a]} and {titles[b]} are two ({how_often})")] if explained else []
        told |= explained
    for split in subject.moves.splits:
        found.append((split.share, f"whether {titles[split.cluster]} is one ({percent(split.share)} divide it)"))
        told.add(split.cluster)
    weak = [code for code in np.flatnonzero(verdicts == OPEN).tolist() if code not in told]
    found += [(1 - again[code], f"{titles[code]} ({percent(again[code])} find it again)") for code in weak]
    found.sort(key=lambda each: -each[0])
    said, left = [text for _, text in found[:MOST_OPEN]], len(found[MOST_OPEN:])
    said += [f"{quantify(left, 'further doubt')} on the {clusters.nouns} below"] if left else []
    few, many = cast(Certainty, subject.certainty).usual_numbers
    said += [f"how many {clusters.nouns} there are ({few} to {many} in most panels)"] if few < many else []
    n_marked = int(certainty_sections.are_marked(subject).sum())
    belong = "belongs" if n_marked == 1 else "belong"
    return [*said, *([f"where {words.n_items(n_marked)} {belong} (?)"] if n_marked else [])]


def _in_doubt(subject: Subject) -> str:
    """Say how many items are in doubt of their class; nothing of clusters."""
    n_doubted = len(_list_doubted(subject)) if subject.clusters.is_named else 0
    return f", {current_words().n_items(n_doubted)} in doubt" if n_doubted else ""


def _trust(subject: Subject) -> str:
    """Say whether to rely on the clusters: if most pairs would be together again, and most items stay.

    Most is `RELIABLE`; of the items, more than `MANY_DOUBTED` that do not stay are mentioned.
    """
    words, clusters, found = current_words(), subject.clusters, subject.certainty
    if found is None or found.chance >= 1:
        return ""
    if little := certainty_sections.little_in_short(found):
        return little
    moved = certainty_sections.are_in_doubt(subject, SELDOM_STAYS)
    mostly_stay = 1 - moved.sum() / found.items["stays"].notna().sum() >= RELIABLE
    verdicts = [] if clusters.is_named else _verdicts(subject)
    is_any_firm = clusters.is_named or FIRM in verdicts
    if not (found.repeats_together >= RELIABLE and mostly_stay and is_any_firm):
        return f"Rely on the broad lines, and not on single {words.items} without a second look."
    if clusters.is_named:
        n_doubted = len(_list_doubted(subject))
        if n_doubted <= MANY_DOUBTED * len(subject.items):
            return f"You can rely on these {clusters.nouns}."
        if n_doubted == len(subject.items):
            return f"Look at each {words.item} before you rely on its {clusters.noun}."
        return f"You can rely on the {clusters.nouns} of the others."
    marked = f", not on {words.items} in doubt (?)" if certainty_sections.are_marked(subject).any() else ""
    which = "these" if set(verdicts) == {FIRM} else "the firm"
    return f"You can rely on {which} {clusters.nouns}{marked}."


def cautions(subject: Subject) -> list[str]:
    """Say what makes the result doubtful."""
    found = [*compromise_sections.say_what_sheets_enter(subject), *quality_sections.in_short(subject)]
    if not subject.clusters.is_named:
        found += [*separation_sections.left_over_in_short(subject), *best_cuts.in_short(subject)]
        found += participants.chance_in_short(subject) if participants.are_many_at_chance(subject) else []
    if subject.segments is not None and subject.segments.n_segments > 1:
        found += sensory_sections.segments_in_short(subject)
    return [*found, *filter(None, [participants.left_out_sentence(subject.left_out)])]


def lists(subject: Subject) -> ClusterLists:
    """Return the clusters with their names and items, or the classes with their doubtful items."""
    words, noun = current_words(), subject.clusters.noun
    found = _of_classes(subject) if subject.clusters.is_named else _of_clusters(subject)
    readings = []
    if any(each.verdict for each in found):
        rough = certainty_sections.how_rough(subject, cast(Certainty, subject.certainty))
        readings += [
            f"Firm: at least {percent(LIMITS[1])} of other panels, simulated from these people, find much the same "
            f"{noun} again (likely: {percent(LIMITS[0])}), and fewer than {percent(OFTEN_JOINED)} join or divide it. "
            f"Much the same: {_same_of(subject)}.",
            *rough,
        ]
    elif subject.are_grouped:
        readings.append(f"Much the same: {_same_of(subject)}.")
    if any(remark for each in found for _, remark in each.items):
        doubt = (
            f"?: in doubt, with the {noun} where it is else most often, if that is one of these: more than "
            f"{1 - SELDOM_STAYS:.0%} of other panels would move the {words.item} by itself, or fewer than two thirds "
            f"of these {words.annotators} put it with its {noun} or a part of it."
        )
        if subject.clusters.is_named:
            doubt = f"{'Marked' if _are_all_listed(subject) else 'Listed'} are {words.items} in doubt, with how many "
            doubt += f"of their labels name the {noun}."
        readings.append(doubt)
    return ClusterLists(found, " ".join(readings))


def _same_of(subject: Subject) -> str:
    """Say what much the same group is."""
    words = current_words()
    sorted_some = subject.are_grouped and subject.groupings.summary().coverage < 1
    of_them = f" that the {words.annotator} sorted" if sorted_some else ""
    return f"of all {words.items}{of_them} that are in one or the other, more than half are in both"


def _of_clusters(subject: Subject) -> list[ClusterList]:
    words, clusters, items = current_words(), subject.clusters, subject.items
    called = list(clusters.called) or [""] * len(clusters.index)
    tied, others = list[list[str]]([[]] * len(called)), called
    if any(called):  # else there may be no groups
        tied, others = tied_names(subject.names, called), next_names(subject.names, called)
    sure, marked = subject.certainty, np.zeros(len(items), dtype=bool)
    if sure is not None:
        marked = certainty_sections.are_marked(subject)
    judged = sure is not None and not certainty_sections.is_little(sure)
    verdicts = _verdicts(subject) if judged else [""] * len(called)
    joined = _often_joined(subject)
    moving = (
        np.zeros(len(items), dtype=bool) if sure is None else certainty_sections.are_in_doubt(subject, SELDOM_STAYS)
    )
    found = []
    for code, title in enumerate(clusters.titles):
        mine = items[items["cluster"] == code]
        ordered = most_certain_first(mine)
        most = FEW_ITEMS if len(items) <= FEW_ITEMS else SOME_ITEMS
        shown = tuple(
            (
                name_text(items["item"].iloc[place]),
                _where_else(subject, place, moves=bool(moving[place])) if marked[place] else "",
            )
            for place in ordered.index[:most].tolist()
        )
        about, wordings = [words.n_items(len(mine))], list[tuple[str, int]]()
        if subject.are_grouped:
            about.append(_say_who_made(subject, code, len(mine)))
        if called[code]:
            is_tied = len(tied[code]) > 1
            mine_of = (subject.names["cluster"] == code) & (subject.names["name"] == called[code])
            users, wordings = subject.names.loc[mine_of, ["n_annotators", "wordings"]].iloc[0]
            so, each = "so", _list(wordings)
            if is_tied:
                written = subject.names[subject.names["cluster"] == code].set_index("name")["wordings"]
                so, each = join_some([f"{name}{_list(written[name])}" for name in tied[code]], TIED), " each"
            rivals = "" if is_tied else _say_rivals(subject, code, called)
            about.append(f"called {so} by {users:,} of these{each}{rivals}")
        elif any(called):
            central = f": its most central {words.items}" if len(mine) > N_NAMED else ""
            about.append(f"without a name in common{central}{_rare_names(subject, code)}")
        about += _say_words(subject, mine["item"])
        if judged:
            about += _say_what_becomes_of(subject, code, joined[code])
        divided = _say_divided(subject, code)
        about += [] if judged and any(split.cluster == code for split in subject.moves.splits) else divided
        alternatives = tied[code][1:TIED] or _close_wordings(wordings) or list(filter(None, [others[code]]))
        other = " ".join(f"or {name}" for name in alternatives)
        title = title if called[code] or not any(called) else f"(no common name) {title}"
        listed = _list_cluster(subject, title, code, other, ["; ".join(about)], shown, len(mine) - len(shown))
        found.append(replace(listed, verdict=verdicts[code]))
    return found


def _where_else(subject: Subject, item: int, *, moves: bool) -> str:
    """Return a question mark with where most draws move an item that often moves by itself, or else most people."""
    titles, places = subject.clusters.titles, subject.places
    gone = subject.moves.goes_singly_to(item) if moves else None
    if places is None or gone is not None:
        return f"? {titles[gone[0]]}" if gone is not None and gone[0] >= 0 else "?"
    place = places.iloc[item]
    n_instead = place["n_in_other"] - place["n_in_both"]
    if place["n_alone"] > n_instead and subject.clusters.sizes[subject.clusters.codes[item]] > 1:
        return "? alone"
    return f"? {titles[place['other']]}" if n_instead >= LEAST_ELSEWHERE * place["n_sorted"] else "?"


def _say_who_made(subject: Subject, code: int, size: int) -> str:
    """Say how many people made much the same as a cluster, or left its only item alone."""
    made, people = subject.makers.iloc[code], subject.annotations.n_annotators
    n_sorted, whole, exactly = (int(made[count]) for count in ("n_sorted", "whole", "exactly"))
    if size > 1:
        all_of_it = f"; {whole:,} {'has' if whole == 1 else 'have'} all of it in one group"
        return f"much the same made by {int(made['roughly']):,} of {people:,}{all_of_it if n_sorted == people else ''}"
    who = f"{people:,}" if n_sorted == people else f"the {n_sorted:,} who sorted it"
    return f"left alone by {exactly:,} of {who}{_companions(subject, code)}"


def _say_what_becomes_of(subject: Subject, code: int, joined: Float[np.ndarray, " clusters"]) -> list[str]:
    """Say how many other panels find a cluster again, or have it as one with another, or divide it.

    joined : share of the draws in which it is one with each other cluster.
    """
    found = [f"found again by {percent(subject.moves.found_again[code])} of panels"]
    if joined.max() >= OFTEN_JOINED:
        partner = int(joined.argmax())
        people = _count_joiners(subject, code, partner)
        found.append(f"one with “{subject.clusters.titles[partner]}” in {percent(joined[partner])} of panels{people}")
    found += [
        f"divided in {percent(split.share)} of panels: {certainty_sections.say_split(subject, split)}"
        for split in subject.moves.splits
        if split.cluster == code
    ]
    return found


def _count_joiners(subject: Subject, code: int, partner: int) -> str:
    """Say for how many people two clusters are one, as most of both; nothing if some sorted several times."""
    if subject.places is None:
        return ""
    codes, people = subject.clusters.codes, current_words().n_annotators(subject.annotations.n_annotators)
    _, n_joined = count_apart(subject.groupings, *(np.flatnonzero(codes == each) for each in (code, partner)))
    return f", and most of both in one group of {n_joined:,} of {people}"


def _say_divided(subject: Subject, code: int) -> list[str]:
    """Say which part of a cluster many people keep apart from the rest, though panels seldom do."""
    if subject.cuts is None or subject.places is None:
        return []
    own = subject.cuts[1]
    people = current_words().n_annotators(subject.annotations.n_annotators)
    for part in best_cuts.divided_by_people(subject):
        new = part.codes != own.codes
        if own.codes[new][0] == code:
            names = join_some(list(map(name_text, own.items[new])), certainty_sections.MOST_SPLIT)
            return [f"{best_cuts.count_dividers(subject, part):,} of {people} divide it, with {names} apart"]
    return []


def _close_wordings(wordings: list[tuple[str, int]]) -> list[str]:
    """Return the second of the wordings that count as one name, if nearly as many wrote it as the first."""
    return [text for text, n_people in wordings[1:2] if n_people >= CLOSE * wordings[0][1]]


def _say_words(subject: Subject, items: pd.Series) -> list[str]:
    """Say which words go with most items of a cluster, to readers of sensory science; nothing if none do."""
    if subject.group_words is None or not subject.words.are_sensory:
        return []
    words = words_of(pd.Index(items), subject.group_words.of_items())
    return [f"said more often than by chance: {join_names(words)}"] if words else []


def _say_rivals(subject: Subject, code: int, called: list[str]) -> str:
    """Say which other names at least half as many people use for a cluster, with their numbers."""
    names = subject.names[subject.names["cluster"] == code].set_index("name")["n_annotators"]
    least = max(AT_LEAST, RIVAL * names[called[code]].max())
    rivals = names.drop(called, errors="ignore").loc[lambda counts: counts >= least][:RIVALS]
    return "".join(f", “{name}” by {n_users:,}" for name, n_users in rivals.items())


def _companions(subject: Subject, code: int) -> str:
    """Say with which items people put the only one of a cluster most often."""
    incidence = subject.groupings.incidence.tocsr()
    item = int(np.flatnonzero(subject.clusters.codes == code)[0])
    counts = np.asarray(incidence[:, incidence[[item]].indices].sum(1)).ravel().astype(int)
    counts[item] = 0
    most = np.argsort(-counts, kind="stable")[:COMPANIONS]
    names = [f"{name_text(subject.annotations.items[other])} by {counts[other]:,}" for other in most if counts[other]]
    return f", put with {join_names(names)}" if names else ""


def _rare_names(subject: Subject, code: int) -> str:
    """Say what people call a cluster that has no name in common, the commonest first."""
    names = subject.names[(subject.names["cluster"] == code) & (subject.names["n_annotators"] > 0)]
    counts = names.groupby("name", sort=False)["n_annotators"].max()
    if counts.empty:
        return ""
    each = ", by one each" if len(counts) > 1 and counts.max() == 1 else ""
    return f"; called {join_some([f'{name}' if n == 1 else f'{name} {n:,}' for name, n in counts.items()], RARE)}{each}"


def _list(wordings: list[tuple[str, int]]) -> str:
    """Return in brackets how many wrote which of several names that count as one."""
    listed = join_some([f"{text} {n_people:,}" for text, n_people in wordings], WORDINGS)
    return f" ({listed})" if len(wordings) > 1 else ""


def _often_joined(subject: Subject) -> Float[np.ndarray, "clusters clusters"]:
    """Return in which share of the draws two clusters are mostly in one, 0 for the same cluster or without draws."""
    clusters, n = subject.clusters, len(subject.clusters.index)
    joined = np.zeros((n, n)) if subject.certainty is None else subject.certainty.share_joined(clusters.codes, n)
    np.fill_diagonal(joined, 0)
    return joined


def _of_classes(subject: Subject) -> list[ClusterList]:
    """Return the classes, each with its items, of many with those in doubt, and how many people named it for these."""
    words, votes = current_words(), subject.votes
    doubted, whole = _list_doubted(subject), _are_all_listed(subject)
    order = [] if votes is None else doubtful_first(votes).tolist()
    found = []
    for code, title in enumerate(subject.clusters.titles):
        mine = [place for place in order if subject.clusters.codes[place] == code]
        in_doubt = [place for place in mine if place in doubted]
        about = [words.n_items(int(subject.clusters.sizes[code]))]
        if votes is not None:
            about.append(f"{len(in_doubt):,} in doubt" if in_doubt else "none in doubt")
        places = mine[::-1] if whole else in_doubt[:MOST_DOUBTED]
        shown = tuple((name_text(subject.items["item"].iloc[place]), doubted.get(place, "")) for place in places)
        left = 0 if whole else len(in_doubt) - len(shown)
        found.append(_list_cluster(subject, title, code, "", about, shown, left))
    return found


def _are_all_listed(subject: Subject) -> bool:
    """Whether classes list all of their items, and not only those in doubt."""
    return len(subject.items) <= FEW_ITEMS


def _list_doubted(subject: Subject) -> dict[int, str]:
    """Return the places of the items in doubt of their class, each with how many of its labels name that.

    An item is in doubt if its class is outvoted or improbable; in a sort, where no class is the true one, if less than
    two thirds put it there.
    """
    votes = subject.votes
    if votes is None:
        return {}
    counts = subject.votes_for_class
    few, improbable = counts < MAJORITY * votes["n_votes"].to_numpy(), (votes["probability"] < SURE).to_numpy()
    doubt = votes["differs"].to_numpy() | (few if current_words().are_of_a_sort else improbable)
    doubt &= (votes["n_votes"] > 0).to_numpy() & (subject.clusters.codes >= 0)
    doubt[list(subject.known)] = False
    n_votes = votes["n_votes"].tolist()
    return {place: f"{counts[place]:,} of {n_votes[place]:,}" for place in np.flatnonzero(doubt).tolist()}


def _list_cluster(
    subject: Subject, title: str, code: int, other: str, about: list[str], items: tuple[tuple[str, str], ...], left: int
) -> ClusterList:
    more = f"and {left:,} more, in {subject.clusters.file}" if left > 0 else ""
    return ClusterList(title, other, ", ".join(about), items, more, swatch(code))
