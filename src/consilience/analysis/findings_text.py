"""What was found, as lines of text: what the command line prints, and Python shows of `Findings`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from consilience.analysis.copies import sentences_on_copies
from consilience.analysis.names import as_text, quantify, shorten, width
from consilience.analysis.reliability import sentences_on_reliability
from consilience.analysis.ties import sentences_on_ties
from consilience.analysis.words import Words, current_words, use_words

MOST_RANDOM = 12  # annotators who sorted at random, in a line
LONGEST = 40  # letters of a name in a line
MOST_CLUSTERS, FIRST_CLUSTERS = 60, 20  # most that are all shown, and how many of more
LONGEST_EXAMPLE = 24  # letters of each in a line
LINE = 100  # letters of a line with items of a cluster
FIGURES = {  # of an annotator, in a line
    "accuracy": "{:.0%} match",
    "sensitivity": "{:.0%} of those within one",
    "specificity": "{:.0%} of those across",
    "agreement": "agreement {:.2f}",
}


def as_lines(found: Mapping[str, Any]) -> str:
    """Write the facts of a fit as lines of text, in the words that they were found with.

    found : `Findings.facts`; ``warnings`` and ``files`` may be among them.
    """
    with use_words(Words(**found["words"])):
        return _as_lines(found)


def _as_lines(found: Mapping[str, Any]) -> str:
    write = (
        _lines_of_tags
        if "tags" in found
        else _lines_of_classes
        if "classes" in found
        else _lines_of_fusion
        if "silhouette" in found
        else _lines_of_clusters
    )
    warnings = found.get("warnings", [])
    lines = [
        *warnings,
        *([""] if warnings else []),
        *write(found),
        *_of_certainty(found["certainty"], found.get("few_people")),
    ]
    lines += sentences_on_reliability(found["reliability"], of_pairs="classes" not in found)
    if marked := found["random_annotators"]:
        names = [_short(person["annotator"]) for person in marked[:MOST_RANDOM]]
        names += [f"and {len(marked) - MOST_RANDOM:,} more"] if len(marked) > MOST_RANDOM else []
        lines.append(f"No better than chance: {', '.join(names)}")
    if found["left_out"]:
        lines.append(f"Left out of the fit: {', '.join(map(_short, found['left_out']))}")
    if files := [Path(path) for path in found.get("files", {}).values()]:
        lines.append(f"Files in {files[0].parent}: {', '.join(path.name for path in files)}")
    return "\n".join(lines)


def _of_certainty(found: Mapping[str, Any] | None, few: str | None) -> list[str]:
    """Say what another group of people would repeat, or that these are too few to tell."""
    words = current_words()
    if found is None:
        return [few] if few else []
    return [
        f"Another {found['n_people']:,} people would repeat {found['repeats']:.0%} of the pairs of {words.items}, "
        f"together or apart ({found['low']:.0%} to {found['high']:.0%}; by chance {found['chance']:.0%})."
    ]


def _lines_of_clusters(found: Mapping[str, Any]) -> list[str]:
    words = current_words()
    sizes, worst = found["cluster_sizes"], found["weakest_annotators"]
    what = _counts(found, "cluster", "item", "annotator", "label")
    lines = [f"{what[0]} of {what[1]} by {what[2]}"]
    lines += _with_examples(_rows(_titles(found), sizes, found["n_items"]), found)
    if "accuracy" not in found:
        return lines + _lines_of_judges(found)
    lines.append(
        f"The clusters predict {found['accuracy']:.1%} of {what[3]}; the mean probability of {words.an_item}'s cluster "
        f"is {found['mean_probability']:.3f}."
    )
    lines.append(f"{words.Annotators} whose labels the clusters predict worst:")
    wide = max(len(_short(row["annotator"])) for row in worst)
    lines += [
        f"  {_short(row['annotator']):{wide}s}  {row['accuracy']:6.1%} of {quantify(row['n_labels'], 'label')}"
        for row in worst
    ]
    return lines + found["caveats"]


def _lines_of_judges(found: Mapping[str, Any]) -> list[str]:
    """List views, if there are several, and the figures of those who agree least with the clusters."""
    words = current_words()
    lines = []
    for number, view in enumerate(found.get("views", ())):
        held = ", ".join(map(_short, view["annotators"])) or "nobody"
        lines.append(f"View {number}, {quantify(view['n_clusters'], 'cluster')}, is held by {held}")
    worst = found["weakest_annotators"]
    judged = any("accuracy" in row for row in worst)
    lines.append(
        f"{words.Annotators} whose {'judgements of pairs match' if judged else 'groups match'} the clusters least:"
    )
    wide = max((len(_short(row["annotator"])) for row in worst), default=0)
    for row in worst:
        figures = ", ".join(text.format(row[name]) for name, text in FIGURES.items() if row.get(name) is not None)
        lines.append(f"  {_short(row['annotator']):{wide}s}  {figures}".rstrip())
    return lines + found["caveats"]


def _lines_of_fusion(found: Mapping[str, Any]) -> list[str]:
    words = current_words()
    sizes, worst, nowhere = found["cluster_sizes"], found["weakest_annotators"], found["n_items_without_cluster"]
    what = _counts(found, "cluster", "item", "annotator", "grouping")
    lines = [f"{what[0]} of {what[1]} by {what[2]} in {what[3]}"]
    rows = _rows(
        [*_titles(found), *(["in none"] if nowhere else [])], sizes + ([nowhere] if nowhere else []), found["n_items"]
    )
    lines += _with_examples(rows, found)
    lines.append(f"{_how_many(found)} smoothed silhouette {found['silhouette']:.3f} (1: perfectly clear, 0: none).")
    lines += _of_cuts(found)
    lines.append(f"{words.Annotators} with the lowest weight:")
    wide = max(len(_short(row["annotator"])) for row in worst)
    for row in worst:
        agreement = "unknown" if row["agreement"] is None else f"{row['agreement']:.2f}"
        figures = f"weight {row['weight']:.3f}, agreement {agreement}, {words.n_items(row['n_items'])} sorted"
        lines.append(f"  {_short(row['annotator']):{wide}s}  {figures}")
    return lines + found["caveats"]


def _how_many(found: Mapping[str, Any]) -> str:
    """Say how the number of clusters was determined."""
    number, considered, requested = (
        found["n_clusters"],
        found["n_clusters_considered"],
        found["parameters"]["n_clusters"],
    )
    if requested != "auto":
        return (
            f"{quantify(number, 'cluster')}, {'as' if number == requested else f'where {requested:,} were'} asked for;"
        )
    if len(considered) == 1:
        return f"Found {quantify(number, 'cluster')}, the only number considered;"
    most = max(considered)
    no_more = number == most < min(found["parameters"]["max_clusters"], found["n_items"] - 1)
    why = " (the groupings distinguish no more)" if no_more else ""
    return f"Found {quantify(number, 'cluster')}, of {min(considered)} to {most} considered{why};"


def _of_cuts(found: Mapping[str, Any]) -> list[str]:
    """Say which number of clusters agrees best with people."""
    words, best, number = current_words(), found.get("best_cut"), found["n_clusters"]
    if best is None or best["agreement_of_clusters"] is None:
        return []
    these = f"these {quantify(number, 'cluster')} ({best['agreement_of_clusters']:.2f})"
    if best["agreement_of_clusters"] >= best["agreement"]:
        return [f"{words.Annotators} agree with no cut of the tree better than with {these}."]
    cut = f"the tree cut into {quantify(best['n_clusters'], 'cluster')} ({best['agreement']:.2f})"
    return [f"{words.Annotators} agree best with {cut}; with {these} less."]


def _lines_of_classes(found: Mapping[str, Any]) -> list[str]:
    words = current_words()
    classes, worst = found["classes"], found["weakest_annotators"]
    what = _counts(found, "item", "annotator", "label")
    lines = sentences_on_copies(found["copies"], found["n_items_changed_by_copies"], found["n_items"])
    lines.append(f"{what[0]} in {quantify(len(classes), 'class', 'classes')} by {what[1]}")
    names = [_short(name) if isinstance(name := row["label"], str) else f"class {name}" for row in classes]
    sizes = [row["n_items"] for row in classes]
    if nowhere := found["n_items_without_class"]:
        names, sizes = [*names, "in none"], [*sizes, nowhere]
    rows = _rows(names, sizes, found["n_items"])
    known = [_of_class(row, found["measure"]) for row in classes]
    lines += [f"{row}{text}" for row, text in zip(rows, known)] + rows[len(known) :]
    lines += sentences_on_ties(found["n_ties"], found["ties"])
    name_it = f"About {found['agreement'] or 0:.1%} of {what[2]} name the {words.item}'s class"
    if words.are_of_a_sort and found["agreement"] is not None:
        lines.append(f"{name_it}; least so those of:")
        tell = "{agreement:.1%}"
    else:
        known_bits = f"label gives {found['information']:.2f} bits about its {words.item}'s class on average."
        lines.append(f"A {known_bits}" if found["agreement"] is None else f"{name_it}; a {known_bits}")
        lines.append(f"Least {'informative' if found['agreement'] is None else 'accurate'} {words.annotators}:")
        tell = (
            "{information:.2f} bits per label"
            if found["agreement"] is None
            else "accuracy {accuracy:.1%}, {information:.2f} bits per label"
        )
    wide = max(len(_short(row["annotator"])) for row in worst)
    lines += [
        f"  {_short(row['annotator']):{wide}s}  {tell.format(**row)}, {quantify(row['n_labels'], 'label')}"
        for row in worst
    ]
    return lines + found["caveats"]


def _lines_of_tags(found: Mapping[str, Any]) -> list[str]:
    """List the tags with their items, and those whose answers tell least."""
    words = current_words()
    tags, worst = found["tags"], found["weakest_annotators"]
    what = _counts(found, "item", "annotator", "label")
    lines = [f"{what[0]} with {quantify(len(tags), 'tag')} by {what[1]}"]
    rows = _rows([_short(str(row["tag"])) for row in tags], [row["n_items"] for row in tags], found["n_items"])
    lines += [
        f"{line}  {row['n_doubtful']:,} in doubt; {words.annotators} give {row['sensitivity']:.0%} of those that are "
        f"there, and {1 - row['specificity']:.0%} of those that are not"
        for line, row in zip(rows, tags)
    ]
    lines += sentences_on_ties(found["n_ties"], found["ties"])
    lines.append(f"About {found['agreement'] or 0:.1%} of all answers are right, those of no among them.")
    lines.append(f"Least accurate {words.annotators}:")
    wide = max(len(_short(row["annotator"])) for row in worst)
    lines += [
        f"  {_short(row['annotator']):{wide}s}  sensitivity {row['sensitivity']:.1%}, specificity "
        f"{row['specificity']:.1%}, {words.n_items(row['n_items'])} seen"
        for row in worst
    ]
    return lines + found["caveats"]


def _of_class(row: Mapping[str, Any], measure: str) -> str:
    """Say which share of the labels name a class, and then what the model makes of it."""
    share, mean = row["share_of_labels"], row["mean_probability"]
    named = "" if share is None else f"  named by {share:.0%} of labels"
    if mean is None or measure != "probability":
        return named
    return f"{named}{';' if named else ' '} mean probability of the model {mean:.3f}"


def _counts(found: Mapping[str, Any], *things: str) -> list[str]:
    """Return the numbers of items, annotators and others with their words."""
    words = current_words()
    own = {"item": words.n_items, "annotator": words.n_annotators}
    numbers = {thing: found[f"n_{thing}s"] for thing in things}
    return [own[thing](number) if thing in own else quantify(number, thing) for thing, number in numbers.items()]


def _short(name: Any) -> str:
    return shorten(as_text(name), LONGEST)


def _rows(names: list[str], sizes: list[int], n_items: int) -> list[str]:
    """Return lines of names, numbers of items and their shares, aligned."""
    shown = [f"{size:,}" for size in sizes]
    wide, high = max(map(len, names)), max(map(len, shown))
    return [
        f"  {name:{wide}s} {count:>{high}s}  {size / n_items:6.1%}"
        for name, count, size in zip(names, shown, sizes, strict=True)
    ]


def _with_examples(rows: list[str], found: Mapping[str, Any]) -> list[str]:
    """Add the names of some items to the lines of clusters, of which only the first are shown if there are many.

    Further lines stay as they are.
    """
    words = current_words()
    examples, sizes = found["cluster_examples"], found["cluster_sizes"]
    named = [
        f"{row}  {_some(items, size, LINE - width(row) - 2)}".rstrip()
        for row, items, size in zip(rows, examples, sizes)
    ]
    if len(sizes) > MOST_CLUSTERS:
        others = sizes[FIRST_CLUSTERS:]
        of_items = f"{min(others):,}" if min(others) == max(others) else f"{min(others):,} to {max(others):,}"
        named = [*named[:FIRST_CLUSTERS], f"  and {len(others):,} more, of {of_items} {words.items} each"]
    return named + rows[len(sizes) :]


def _some(items: list[Any], size: int, most: int) -> str:
    """Join as many names as there is room for, at least one, with an ellipsis if there are more."""
    names = [shorten(as_text(item), LONGEST_EXAMPLE) for item in items]
    for kept in range(len(names), 0, -1):
        text = ", ".join([*names[:kept], *(["…"] if kept < size else [])])
        if kept == 1 or width(text) <= most:
            return text
    return ""


def _titles(found: Mapping[str, Any]) -> list[str]:
    """Return the numbers of the clusters, before their names if people gave any, aligned."""
    names = found["cluster_names"] or [None] * len(found["cluster_sizes"])
    titles = [f"cluster {i:<3d}{'' if name is None else f' {_short(name)}'}" for i, name in enumerate(names)]
    wide = max(map(width, titles))
    return [title + " " * (wide - width(title)) for title in titles]
