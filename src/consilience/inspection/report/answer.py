"""The first screen of a report: the answer in a sentence, what makes it doubtful, and the clusters as named lists."""

from __future__ import annotations

from typing import cast

import numpy as np
from jaxtyping import Float

from consilience.analysis.central_items import N_NAMED
from consilience.analysis.certainty import Certainty
from consilience.analysis.group_names import next_names, tied_names
from consilience.analysis.group_words import n_saying_of
from consilience.analysis.item_places import count_apart
from consilience.analysis.names import join_names, join_some, name_text, quantify
from consilience.analysis.votes import doubtful_first
from consilience.analysis.words import current_words
from consilience.annotations import Labels
from consilience.inspection.report import (
    best_cuts,
    certainty_sections,
    compromise_sections,
    participants,
    quality_sections,
    sensory_sections,
    separation_sections,
)
from consilience.inspection.report.item_tables import FEW_ITEMS, SELDOM_STAYS, SOME_ITEMS, SURE, most_certain_first
from consilience.inspection.report.subject import ClusterList, ClusterLists, Subject
from consilience.inspection.report.svg import swatch
from consilience.inspection.report.tables import percent

RELIABLE = 0.8  # share of the pairs together here that must be so again, and of the items that must stay
LEAST_COVERAGE = 0.5  # mean share of the items that people sorted, or their groups are not compared with the clusters
FIRM = 4  # clusters that most people made that are named
MOST_DOUBTED = 12  # items of a class that are listed
MAJORITY = 2 / 3  # share of those who sorted an item, below which it is in doubt
WORDINGS, TIED = 4, 4  # wordings of a name, and names of a cluster that as many people use, that are listed
RARE, COMPANIONS = 5, 3  # names of a cluster without a common one, and items put with a single one, that are listed
OFTEN_JOINED = 0.2  # share of the draws in which a cluster is one with another, for it to be said
DIVIDERS = 0.25  # share of the people who divide a cluster, for it to be said
CHANGES = 2  # joins and divisions of clusters that are said
MANY_DOUBTED = 0.05  # share of the items in doubt, above which nobody is told to rely on all of them


def lead(subject: Subject) -> str:
    """Say how many clusters of what there are, how sure they are, and whether to rely on them."""
    words, clusters = current_words(), subject.clusters
    n_items = words.n_items(subject.annotations.n_items)
    number = quantify(len(clusters.names), clusters.noun, clusters.nouns)
    n_alone = int((clusters.sizes == 1).sum())
    if 0 < n_alone < len(clusters.names) and not clusters.is_named:
        number += f", {n_alone:,} of them of a single {words.item}"
    text = f"{n_items} {'fall' if subject.annotations.n_items != 1 else 'falls'} into {number}"
    if subject.can.has_tags:
        text = f"{n_items} have {quantify(len(subject.estimator.tags_), 'tag')} in {len(clusters.names):,} combinations"
    found = subject.certainty
    if found is None:
        return " ".join([f"{text}{_in_doubt(subject)}.", *certainty_sections.none_in_short(subject)])
    again = f" that another panel of {found.n_people:,} would hardly repeat"
    if clusters.is_named:
        again = ""
    elif not certainty_sections.is_little(found):
        n_found = int((subject.moves.found_again >= RELIABLE).sum())
        n_all = len(clusters.names)
        of_all = "all" if n_found == n_all else "none" if not n_found else f"{n_found:,}"
        find = "probably find" if n_found and certainty_sections.are_rough(subject, found) else "find"
        again = f", {of_all} of which another panel of {found.n_people:,} would {find} again in the main"
        if n_all == 1:
            again = f" that another panel of {found.n_people:,} would {'' if n_found else 'not '}{find} again"
    sentences = [
        f"{text}{again}{_in_doubt(subject)}{_made_just_these(subject)}.",
        _say_what_is_repeated(subject, found),
        *_say_what_changes(subject),
    ]
    firm, weak = _firm_and_weak(subject)
    return " ".join([*sentences, *_say_what_is_firm(firm, weak), _trust(subject, is_firm=not weak)])


def _made_just_these(subject: Subject) -> str:
    """Say how many people made just the clusters, of those who sorted all items; nothing if nobody did."""
    words, people = current_words(), subject.annotations.n_annotators
    n_made, n_sorted = _count_makers_of_all(subject)
    if not n_sorted:
        return ""
    everybody = words.n_annotators(n_sorted)
    of = f"the {everybody} here" if n_sorted == people else f"the {everybody} who sorted all {words.items}"
    who = "none" if not n_made else "all" if n_made == n_sorted else f"{n_made:,}"
    return f"; {who} of {of} made just these groups"


def _count_makers_of_all(subject: Subject) -> tuple[int, int]:
    """Count the people who made just the clusters, or classes of a sort, and those who sorted all items."""
    codes, labels, sorts = subject.clusters.codes, subject.annotations, subject.whole_sorts
    if sorts is not None:
        place = sorts.place_of(codes)
        return int(sorts.n_annotators[place]) if place >= 0 else 0, sorts.n_sorted
    if not (isinstance(labels, Labels) and subject.votes is not None and current_words().are_of_a_sort):
        return 0, 0
    is_same = subject.clusters.index.get_indexer(labels.classes)[labels.label] == codes[labels.item]
    n_items, n_same = (np.bincount(labels.annotator, by, labels.n_annotators) for by in (None, is_same))
    is_whole = n_items == (codes >= 0).sum()
    return int((is_whole & (n_same == n_items)).sum()), int(is_whole.sum())


def _firm_and_weak(subject: Subject) -> tuple[list[str], list[str]]:
    """Return the clusters that most people made roughly, and the others; none if people sorted few of the items."""
    annotations, clusters = subject.annotations, subject.clusters
    if not subject.are_grouped or subject.groupings.summary().coverage < LEAST_COVERAGE:
        return [], []
    made = subject.makers["roughly"].to_numpy()
    is_firm = 2 * made > annotations.n_annotators
    order = np.argsort(-made, kind="stable")
    firm = [
        f"“{clusters.titles[code]}” ({made[code]:,} of {annotations.n_annotators:,})" for code in order if is_firm[code]
    ]
    return firm, [f"“{clusters.titles[code]}”" for code in order if not is_firm[code]]


def _say_what_is_firm(firm: list[str], weak: list[str]) -> list[str]:
    """Say which clusters most people made roughly."""
    words = current_words()
    if not firm and not weak:
        return []
    if not weak:
        return [f"Each is much like a group that most {words.annotators} made."]
    if not firm:
        return [f"None of them is a group that most {words.annotators} made, even roughly."]
    fewer = "fewer made " + (f"one like {weak[0]}" if len(weak) == 1 else "ones like the others")
    each = "is" if len(firm) == 1 else "are each"
    return [f"{join_some(firm, FIRM)} {each} much like a group that most {words.annotators} made; {fewer}."]


def _in_doubt(subject: Subject) -> str:
    """Say how many items are in doubt of their class; nothing of clusters."""
    n_doubted = len(_list_doubted(subject)) if subject.clusters.is_named else 0
    return f", {current_words().n_items(n_doubted)} in doubt" if n_doubted else ""


def _say_what_is_repeated(subject: Subject, found: Certainty) -> str:
    """Say which share of the pairs that are together would be so again, and how many items would stay."""
    words = current_words()
    if np.isnan(found.repeats_together):
        return f"Of all pairs of {words.items}, {percent(found.repeats)} would come out as here, together or apart."
    is_mixed = subject.segments is not None and subject.segments.n_segments > 1  # draws have the same segments
    about = "at best" if is_mixed else "roughly" if certainty_sections.are_rough(subject, found) else "about"
    again = f"Of the pairs of {words.items} together here, {about} {percent(found.repeats_together)} would be so again"
    chance = f"({percent(found.chance_together)} by chance)"
    n_marked = 0 if subject.clusters.is_named else int(certainty_sections.are_marked(subject).sum())
    alone = "is in doubt on its own" if n_marked == 1 else "are in doubt on their own"
    doubted = f"; {words.n_items(n_marked)} {alone} (?)"
    return f"{again} {chance}{doubted if n_marked else ''}."


def _say_what_changes(subject: Subject) -> list[str]:
    """Say which clusters other panels often join, and which they divide; nothing if none."""
    titles = subject.clusters.titles
    if subject.clusters.is_named or certainty_sections.is_little(cast(Certainty, subject.certainty)):
        return []
    joined = np.triu(_often_joined(subject))
    found = [
        (joined[a, b], f"join “{titles[a]}” and “{titles[b]}”") for a, b in np.argwhere(joined >= OFTEN_JOINED).tolist()
    ]
    found += [(split.share, f"divide “{titles[split.cluster]}” in two") for split in subject.moves.splits]
    found.sort(key=lambda change: -change[0])
    changes = [f"{percent(share)} would {what}" for share, what in found[:CHANGES]]
    return [f"Of other panels, simulated from these people, {join_names(changes)}."] if changes else []


def _trust(subject: Subject, *, is_firm: bool) -> str:
    """Say whether to rely on the clusters: if most pairs would be together again, and most items stay.

    Most is `RELIABLE`; of the items, more than `MANY_DOUBTED` that do not stay are mentioned.

    is_firm : whether most people made all of the clusters roughly.
    """
    words, clusters, found = current_words(), subject.clusters, subject.certainty
    if found is None or found.chance >= 1:
        return ""
    if little := certainty_sections.little_in_short(found):
        return little
    few, many = (0, 0) if clusters.is_named else found.usual_numbers
    often = found.n_clusters["share"]
    usual = f"mostly find {few} to {many} (most often {often.idxmax()}, in {percent(often.max())} of panels)"
    number = [f"on the number of {clusters.nouns}: others would {usual}"] if few < many else []
    moved = certainty_sections.are_in_doubt(subject, SELDOM_STAYS)
    if not (found.repeats_together >= RELIABLE and 1 - moved.sum() / found.items["stays"].notna().sum() >= RELIABLE):
        trust = f"Rely on the broad lines, and not on single {words.items} without a second look"
        return "; nor ".join([trust, *number]) + "."
    n_doubted = max(int(certainty_sections.are_marked(subject).sum()), len(_list_doubted(subject)))
    many_doubted = n_doubted > MANY_DOUBTED * len(subject.items)
    if clusters.is_named and many_doubted:
        if n_doubted == len(subject.items):
            return f"Look at each {words.item} before you rely on its {clusters.noun}."
        return f"You can rely on the {clusters.nouns} of the others."
    changing = [f"on which {clusters.nouns} are apart"] if _say_what_changes(subject) else []
    less = [*([f"on {_these(n_doubted)}"] if many_doubted else []), *changing, *number]
    if not less:
        return f"You can rely on these {clusters.nouns}{'' if is_firm else ' as what a panel finds'}."
    return f"You can rely on what belongs together, and less {join_names(less)}."


def _these(n_items: int) -> str:
    words = current_words()
    return f"this {words.item}" if n_items == 1 else f"these {words.n_items(n_items)}"


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
    reading = (
        f"?: in doubt, because more than {1 - SELDOM_STAYS:.0%} of other panels would put the {words.item} elsewhere "
        f"on its own (not with most of its {noun} or a part that is named), or because fewer than two thirds of these "
        f"{words.annotators} put it with its {noun} or a part of it."
    )
    if subject.clusters.is_named:
        reading = f"{'Marked' if _are_all_listed(subject) else 'Listed'} are {words.items} in doubt, with how many of "
        reading += f"their labels name the {noun}."
    readings = [reading] if any(remark for each in found for _, remark in each.items) else []
    if subject.are_grouped:
        sorted_some = subject.groupings.summary().coverage < 1
        who = words.n_annotators(subject.annotations.n_annotators)
        readings += [f"{subject.n_namers:,} of {who} gave names."] if subject.of_namers else []
        readings += ["Called so: by this name, not by a longer one with the same word."] if subject.of_namers else []
        of_them = f" that the {words.annotator} sorted" if sorted_some else ""
        both = f"of all {words.items}{of_them} that are in one or the other, more than half are in both"
        readings.append(f"Much the same: {both}.")
    return ClusterLists(found, " ".join(readings))


def _of_clusters(subject: Subject) -> list[ClusterList]:
    words, clusters, items = current_words(), subject.clusters, subject.items
    called = list(clusters.called) or [""] * len(clusters.index)
    tied, others = list[list[str]]([[]] * len(called)), called
    if any(called):  # else there may be no groups
        tied, others = tied_names(subject.names, called), next_names(subject.names, called)
    joined = _often_joined(subject)
    few_namers = f" of {subject.n_namers:,}" if subject.of_namers else ""
    sure, leaves = subject.certainty, np.zeros(len(items), dtype=bool)
    splits = [] if sure is None else subject.moves.splits
    if sure is not None:
        leaves = certainty_sections.are_marked(subject)
    found = []
    for code, title in enumerate(clusters.titles):
        mine = items[items["cluster"] == code]
        ordered = most_certain_first(mine)
        doubted = leaves[ordered.index]
        most = FEW_ITEMS if len(items) <= FEW_ITEMS else SOME_ITEMS
        shown = list(zip(map(name_text, ordered["item"]), doubted.tolist(), strict=True))[:most]
        about = [words.n_items(len(mine))]
        if subject.are_grouped:
            about += _say_who_made(subject, code, len(mine))
        if called[code]:
            mine_of = (subject.names["cluster"] == code) & (subject.names["name"] == called[code])
            users, wordings = subject.names.loc[mine_of, ["n_annotators", "wordings"]].iloc[0]
            n_users = n_saying(subject, called[code], code)
            one_of = "it" if len(mine) == 1 else "some of these"
            word = f" ({n_users:,} say “{called[code]}” of {one_of}, alone or among other words)" if n_users else ""
            so = f"{'just ' if word else ''}so" if len(tied[code]) == 1 else join_some(tied[code], TIED)
            each = (word or _list(wordings)) if len(tied[code]) == 1 else f" each{word}"
            about.append(f"called {so} by {users:,}{few_namers}{each}")
        elif any(called):
            central = f": its most central {words.items}" if len(mine) > N_NAMED else ""
            about.append(f"without a name in common{central}{_rare_names(subject, code)}")
        partner = int(joined[code].argmax())
        if joined[code, partner] >= OFTEN_JOINED:
            panels = f"{percent(joined[code, partner])} of other panels"
            people = _count_joiners(subject, code, partner)
            about.append(f"joined with “{clusters.titles[partner]}” in {panels}{people}")
        if sure is not None:
            again, whole = subject.moves.found_again[code], subject.moves.found_whole[code]
            all_of_it = f", with all its {words.items} in {percent(whole)}" if whole < again else ""
            about.append(f"found again in {percent(again)} of other panels{all_of_it}")
            parts = [split for split in splits if split.cluster == code]
            about += [f"likely to split off: {certainty_sections.say_split(subject, part, sure)}" for part in parts]
        about += [] if any(split.cluster == code for split in splits) else _say_divided(subject, code)
        names = tuple((name, "?" if is_doubted else "") for name, is_doubted in shown)
        alternatives = tied[code][1:TIED] or list(filter(None, [others[code]]))
        other = " ".join(f"or {name}" for name in alternatives)
        title = title if called[code] or not any(called) else f"(no common name) {title}"
        found.append(_list_cluster(subject, title, code, other, ["; ".join(about)], names, len(mine) - len(shown)))
    return found


def _say_who_made(subject: Subject, code: int, size: int) -> list[str]:
    """Say how many people made just a cluster, much the same, or a group with all of its items."""
    made, people = subject.makers.iloc[code], subject.annotations.n_annotators
    n_sorted, whole, exactly = (int(made[count]) for count in ("n_sorted", "whole", "exactly"))
    who = f"{people:,}" if n_sorted == people else f"the {n_sorted:,} who sorted "
    if size == 1:
        return [f"left alone by {exactly:,} of {who}{'' if n_sorted == people else 'it'}{_companions(subject, code)}"]
    whom, roughly = f"{who}{'' if n_sorted == people else 'them all'}", int(made["roughly"])
    much_the_same = f"much the same by {roughly:,}{'' if n_sorted == people else f' of {people:,}'}"
    return [f"made exactly by {exactly:,} of {whom}", much_the_same, f"all in one group by {whole:,}"]


def _count_joiners(subject: Subject, code: int, partner: int) -> str:
    """Say in brackets how many people have most of two clusters in one group; nothing if some sorted several times."""
    if subject.places is None:
        return ""
    codes, people = subject.clusters.codes, current_words().n_annotators(subject.annotations.n_annotators)
    _, n_joined = count_apart(subject.groupings, *(np.flatnonzero(codes == each) for each in (code, partner)))
    return f" ({n_joined:,} of {people} have most of both in one group)"


def _say_divided(subject: Subject, code: int) -> list[str]:
    """Say which part of a cluster many people keep apart from the rest, though panels seldom do."""
    if subject.cuts is None or subject.places is None:
        return []
    own = subject.cuts[1]
    for part in own.divided:
        new = part.codes != own.codes
        if own.codes[new][0] != code:
            continue
        items = subject.items["item"].to_numpy()
        places = np.flatnonzero(np.isin(items, own.items[new]))
        rest = np.setdiff1d(np.flatnonzero(subject.clusters.codes == code), places)
        n_apart, _ = count_apart(subject.groupings, places, rest)
        if n_apart >= DIVIDERS * subject.annotations.n_annotators:
            names = join_some([name_text(name) for name in items[places]], certainty_sections.MOST_SPLIT)
            people = current_words().n_annotators(subject.annotations.n_annotators)
            return [
                f"divided by {n_apart:,} of {people}, who have most of {names} in another group than most of the rest"
            ]
    return []


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


def n_saying(subject: Subject, name: str, code: int) -> int:
    """Count those who say the name of a cluster, alone or among other words, of any of its items.

    0 if no more do than call the cluster so.
    """
    names = subject.names.loc[(subject.names["cluster"] == code) & (subject.names["name"] == name), "n_annotators"]
    if subject.group_words is None or not subject.words.are_sensory:
        return 0
    n_said = n_saying_of(subject.groupings, name, np.flatnonzero(subject.clusters.codes == code))
    return n_said if n_said > int(names.max()) else 0


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
