"""JSON of other tools: tasks of Label Studio, lines of Prodigy and of doccano; and items that hold lists of labels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath
from typing import Any

import pandas as pd

from consilience.annotations.files.layout import ReadingRequest
from consilience.annotations.files.sameness import DIFFERENT, SAME
from consilience.annotations.files.sources import Records
from consilience.annotations.files.table import Table
from consilience.annotations.files.tool_export import Export
from consilience.annotations.files.values import quantify
from consilience.annotations.files.vocabulary import pair_sides
from consilience.annotations.keywords import spell
from consilience.annotations.names import Where
from consilience.errors import AnnotationError

UNSORTED = "_"


def known_records(records: Records, request: ReadingRequest, name: str) -> Export | None:
    """Return the table in the JSON of a known tool, None if it is of no such tool.

    Raises AnnotationError: the records are of a known tool, but contain no groups or labels by annotators.
    """
    tool = _tool_of(records.objects)
    if tool is None:
        return None
    try:
        if tool == "Label Studio":
            return _label_studio(records, request)
        return _prodigy(records, request) if tool == "Prodigy" else _doccano(records, request, name)
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise AnnotationError(
            f"The annotations in this {tool} export are not in the format of {tool} ({type(error).__name__}: {error})."
        ) from error


def _tool_of(objects: list[dict[str, Any]]) -> str | None:
    if all(isinstance(record.get("annotations", record.get("completions")), list) for record in objects) and (
        _list_of_answers(objects) is None
    ):
        return "Label Studio"
    hashes = {"_input_hash", "_task_hash"}
    if all("answer" in record for record in objects) and any(hashes & record.keys() for record in objects):
        return "Prodigy"
    if all("text" in record and isinstance(record.get("label", record.get("labels")), list) for record in objects):
        return "doccano"
    return None


def _long(rows: list[tuple[Any, ...]], columns: list[str], places: list[int], where: Where) -> Table:
    frame = pd.DataFrame(rows, columns=columns, dtype=object)
    return Table(frame, lambda row: where(places[row]), is_text=False)


# Lists within items


def answers_in_lists(records: Records) -> Table | None:
    """Return a row for each answer of ``{"id": …, "annotations": [{"annotator": …, "label": …}, …]}``, None for others.

    What is said of the item is repeated in each row; an item with an empty list has a row without an answer.
    """
    key = _list_of_answers(records.objects)
    if key is None:
        return None
    rows, places = list[dict[str, Any]](), list[int]()
    for place, record in enumerate(records.objects):
        item = {name: value for name, value in record.items() if name != key}
        for answer in record[key] or [{}]:
            renamed = {f"{key}.{name}" if name in item else name: value for name, value in answer.items()}
            rows.append(item | renamed)
            places.append(place)
    return Table(pd.DataFrame(rows, dtype=object), lambda row: records.where(places[row]), is_text=False)


def _list_of_answers(objects: list[dict[str, Any]]) -> str | None:
    """Return the key under which each item has a list of objects that hold no others, None unless it is one."""
    keys = [key for key in objects[0] if all(_are_answers(record.get(key)) for record in objects)] if objects else []
    keys = [key for key in keys if any(record[key] for record in objects)]
    return keys[0] if len(keys) == 1 else None


def _are_answers(held: Any) -> bool:
    return isinstance(held, list) and all(
        isinstance(answer, dict) and len(answer) > 1 and not any(isinstance(x, list | dict) for x in answer.values())
        for answer in held
    )


# Label Studio


def _label_studio(records: Records, request: ReadingRequest) -> Export:
    """Read tasks of Label Studio: groups of a Ranker with buckets, or labels of Choices.

    The annotator is the person who completed the annotation (the e-mail address if the export has it, else the number).
    Groups are named by their buckets, groupings by their tasks, or by "task/annotation/ranker" if an annotator has
    several for one task. Items in the original list, "_", were left out by the annotator.
    """
    results = list(_results(records))
    cancelled = sum(bool(done.get("was_cancelled")) for task in records.objects for done in _annotations(task))
    notes = (
        (f"{quantify(cancelled, 'annotation')} that {'was' if cancelled == 1 else 'were'} cancelled left out",)
        if cancelled
        else ()
    )
    types = {result.get("type") for _, _, _, _, result in results}
    if "ranker" in types:
        return replace(_rankings(results, records, request), notes=notes)
    if "choices" in types:
        return replace(_choices(results, records, request), notes=notes)
    if "pairwise" in types:
        raise AnnotationError(
            "The results of Pairwise in this Label Studio export say which of two items was preferred, not whether "
            "they are the same; use Choices instead."
        )
    raise AnnotationError("The Label Studio export contains no result of a Ranker with buckets, nor of Choices.")


def _annotations(task: dict[str, Any]) -> list[dict[str, Any]]:
    return task["annotations"] if "annotations" in task else task["completions"]


def _who_completed(done: dict[str, Any]) -> Any:
    who = done.get("completed_by")
    return (who.get("email") or who.get("id")) if isinstance(who, dict) else who


def _results(records: Records) -> Iterator[tuple[int, dict[str, Any], dict[str, Any], Any, dict[str, Any]]]:
    """Yield the position of the task, the task, the annotation, the annotator and one result."""
    for place, task in enumerate(records.objects):
        for done in _annotations(task):
            who = _who_completed(done)
            for result in [] if done.get("was_cancelled") else done.get("result", []):
                yield place, task, done, who, result


def _rankings(results: list[Any], records: Records, request: ReadingRequest) -> Export:
    sorts = []
    for place, task, done, who, result in results:
        if result.get("type") != "ranker":
            continue
        buckets, ranker = result["value"]["ranker"], result.get("from_name")
        if not isinstance(buckets, dict) or set(buckets) == {ranker}:
            raise AnnotationError(
                f"The Ranker {ranker!r} of task {task.get('id')!r} has no buckets: it ranks items instead of grouping "
                "them."
            )
        sorts.append((place, task.get("id"), done.get("id"), who, ranker, buckets))
    one_a_task = len({(who, task) for _, task, _, who, _, _ in sorts}) == len(sorts)
    rows, places = [], []
    for place, task, annotation, who, ranker, buckets in sorts:
        name = task if one_a_task else f"{task}/{annotation}/{ranker}"
        for bucket, items in buckets.items():
            for item in items:
                rows.append((item, None, None, None) if bucket == UNSORTED else (item, who, name, bucket))
                places.append(place)
    table = _long(rows, ["item", "annotator", "grouping", "group"], places, records.where)
    return Export("Label Studio's Ranker", table, replace(request, columns={}))


def _without_choices(records: Records, question: Any) -> Iterator[tuple[int, Any, Any]]:
    """Yield the position of the task, the task and the annotator of annotations in which nothing was chosen."""
    for place, task in enumerate(records.objects):
        for done in _annotations(task):
            who = _who_completed(done)
            answers = [result for result in done.get("result", []) if result.get("from_name") == question]
            if not done.get("was_cancelled") and not any(result["value"]["choices"] for result in answers):
                yield place, task.get("id"), who


def _choices(results: list[Any], records: Records, request: ReadingRequest) -> Export:
    chosen = [result for result in results if result[4].get("type") == "choices"]
    questions = list(dict.fromkeys(result.get("from_name") for *_, result in chosen))
    question = request.columns.get("label", questions[0])
    if question not in questions:
        raise AnnotationError(f"There is no question {question!r} of Choices. Found {', '.join(map(repr, questions))}.")
    if len(questions) > 1 and "label" not in request.columns:
        raise AnnotationError(
            f"This Label Studio export has several questions: {', '.join(map(repr, questions))}. Name one: "
            f"{spell(label=questions[0])}."
        )
    chosen = [result for result in chosen if result[4].get("from_name") == question]
    request = replace(request, columns={})
    words = {str(choice).casefold() for *_, result in chosen for choice in result["value"]["choices"]}
    data = [task.get("data", {}) for task in records.objects]
    pairs = [pair for pair in pair_sides(list(data[0])) if all(pair[0] in held and pair[1] in held for held in data)]
    rows: list[tuple[Any, ...]] = []
    places: list[int] = []
    if words <= SAME | DIFFERENT and len(pairs) == 1:
        for place, task, _, who, result in chosen:
            held = task["data"]
            rows += [(held[pairs[0][0]], held[pairs[0][1]], who, choice) for choice in result["value"]["choices"]]
            places += [place] * len(result["value"]["choices"])
        table = _long(rows, ["item_a", "item_b", "annotator", "same"], places, records.where)
        return Export("Label Studio's Choices on pairs", table, request)
    for place, task, _, who, result in chosen:
        rows += [(task.get("id"), who, choice) for choice in result["value"]["choices"]]
        places += [place] * len(result["value"]["choices"])
    if request.tags:
        silent = list(_without_choices(records, question))
        rows += [(task, who, None) for _, task, who in silent]
        places += [place for place, _, _ in silent]
    table = _long(rows, ["task", "annotator", "label"], places, records.where)
    return Export("Label Studio's Choices", table, request, {"item": "task"})


# Prodigy


def _prodigy(records: Records, request: ReadingRequest) -> Export:
    """Read annotations of Prodigy: chosen options, or a label that was accepted or rejected."""
    objects = records.objects
    people = [record.get("_annotator_id", record.get("_session_id")) for record in objects]
    if all(person is None for person in people):
        raise AnnotationError(
            "The lines of Prodigy have no _annotator_id and no _session_id, so the annotators are unknown."
        )
    labels = {record["label"] for record in objects if isinstance(record.get("label"), str)}
    item_of = _prodigy_items(objects)
    rows, places, n_ignored, n_rejected = [], [], 0, 0
    for place, (record, person) in enumerate(zip(objects, people)):
        answer = record["answer"]
        if answer == "ignore" or (answer == "reject" and "label" not in record):
            n_ignored += 1
            continue
        if isinstance(record.get("accept"), list):
            texts = {option["id"]: option.get("text", option["id"]) for option in record.get("options", [])}
            given = [texts.get(chosen, chosen) for chosen in record["accept"]]
        elif isinstance(record.get("label"), str):
            if answer == "reject" and len(labels) > 1:
                n_rejected += 1
                continue
            given = [record["label"] if answer == "accept" else f"not {record['label']}"]
        else:
            raise AnnotationError(
                f"{records.where(place)} of Prodigy contains neither a choice nor a label (text classification); spans "
                "and comparisons cannot be clustered."
            )
        rows += [(item_of[place], person, label) for label in given]
        places += [place] * len(given)
    notes = (
        [f"{quantify(n_ignored, 'line')} that {'was' if n_ignored == 1 else 'were'} ignored or rejected left out"]
        if n_ignored
        else []
    )
    if n_rejected:
        notes.append(
            f"{quantify(n_rejected, 'line')} that reject one of {len(labels)} labels, and name no other, left out"
        )
    if any(re.fullmatch(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d", str(person)) for person in people):
        notes.append("annotators named by the time of a session may be one person; name sessions (?session=name)")
    table = _long(rows, ["task", "annotator", "label"], places, records.where)
    return Export("Prodigy", table, replace(request, columns={}), {"item": "task"}, tuple(notes))


def _prodigy_items(objects: list[dict[str, Any]]) -> list[Any]:
    """Name tasks by their text if that distinguishes them, else by their number."""
    texts = [record.get("text") for record in objects]
    hashes = [record.get("_input_hash", record.get("_task_hash")) for record in objects]
    if None in hashes:
        return texts
    one_to_one = len(set(zip(texts, hashes))) == len(set(texts)) == len(set(hashes))
    return texts if one_to_one and None not in texts else hashes


# doccano


def _doccano(records: Records, request: ReadingRequest, name: str) -> Export:
    """Read an export of doccano, in which each file is of one person and named after that person."""
    rows: list[tuple[Any, ...]] = []
    places: list[int] = []
    files = records.files or [name] * len(records.objects)
    for place, (record, file) in enumerate(zip(records.objects, files)):
        person = PurePath(file).stem
        given: list[Any] = record["label"] if "label" in record else record["labels"]
        if any(not isinstance(label, str | int) for label in given):
            raise AnnotationError(
                f"{records.where(place)} of doccano contains spans of text, not labels of the whole; they cannot be "
                "clustered."
            )
        item = record.get("id", record["text"])
        rows += [(item, person, label) for label in given] or [(item, None, None)]
        places += [place] * max(len(given), 1)
    table = _long(rows, ["document", "annotator", "label"], places, records.where)
    people = {row[1] for row in rows} - {None}
    notes: tuple[str, ...] = ()
    if len(people) == 1:
        notes = (
            f"all labels are by {next(iter(people))!r}, from the file's name; doccano's archive has one file per "
            "person",
        )
    return Export("doccano", table, replace(request, columns={}), {"item": "document"}, notes)
