"""A study without its people: copied, and as a file that another server can take in.

The file is a ZIP archive with ``study.json``, which holds title, kind, board, settings (texts, consent and questions
included) and cards, and the pictures by their hashes. It comes from strangers: what is in it is checked like the form
of a new study, and pictures are written anew.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from consilience.collect.creation.pictures import check_picture, in_archive
from consilience.collect.settings.checks import LONGEST_TITLE
from consilience.collect.settings.model import JUDGING, Item, Picture, Study, StudySettings
from consilience.collect.settings.training import ROLES, RightSort, Training
from consilience.collect.store import Store, new_picture
from consilience.errors import InputError

CONTENT = "study.json"
FORMAT, VERSION = "consilience study", 1
MOST_CONTENT = 20_000_000  # bytes of `CONTENT`
SUFFIXES = {"image/png": ".png", "image/jpeg": ".jpg"}
KEYS = ("title", "kind", "board", "settings", "items")
DESCRIPTION = "description"
CARD = ("name", "text", "picture", "alt", DESCRIPTION)
NOT_A_STUDY = "The file is no study that was saved by this package"


def copy_study(store: Store, study: Study, title: str = "") -> Study:
    """Make a draft with the cards, the settings, the texts and the questions of a study, and nobody in it.

    Raises InputError: people judge clusters in it, which are made of another study.

    title : by default that of the study and "(2)", which participants read in any language.
    """
    _require_sorts(study)
    return store.create_study(
        title or f"{study.title[: LONGEST_TITLE - 4]} (2)",
        store.items(study.id),
        kind=study.kind,
        board=study.board,
        settings=study.settings,
        pictures=_pictures_of(store, study),
    )


def pack_study(store: Store, study: Study) -> bytes:
    """Return the file of a study. Raises InputError: people judge clusters in it, which are made of another study."""
    _require_sorts(study)
    items = [asdict(item) for item in store.items(study.id)]
    content = {
        **{"format": FORMAT, "version": VERSION, "title": study.title, "kind": study.kind, "board": study.board},
        **{"settings": study.settings.as_json(), "items": [_card_of(one) for one in items]},
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(CONTENT, json.dumps(content, ensure_ascii=False, indent=1))
        for picture in _pictures_of(store, study):
            archive.writestr(f"pictures/{picture.hash}{SUFFIXES[picture.mime]}", picture.data)
    return file.getvalue()


def unpack_study(store: Store, data: bytes) -> Study:
    """Make a draft of the file of a study.

    Raises InputError: it is no such file, of a later version, too large, or something in it is wrong.
    """
    content, has_pictures = _read_content(data)
    pictures = _read_pictures(data) if has_pictures else {}
    try:
        items = [
            Item(number, **{**values, "picture": _new_hash(values.get("picture"), pictures)})
            for number, values in enumerate(content["items"])
        ]
        settings = StudySettings.of_json(content["settings"])
        settings = replace(settings, training=_with_pictures(settings.training, pictures))
        return store.create_study(
            *(content["title"], items),
            **{name: content[name] for name in ("kind", "board")},
            settings=settings,
            pictures=pictures.values(),
        )
    except (TypeError, AttributeError, KeyError) as error:  # values of other kinds than ours
        raise InputError(f"{NOT_A_STUDY}: a value in {CONTENT} is of the wrong kind.") from error


def _require_sorts(study: Study) -> None:
    if study.kind == JUDGING:
        raise InputError("A study in which people judge clusters is made of another; copy that one.")


def _pictures_of(store: Store, study: Study) -> list[Picture]:
    """Return the pictures of the cards, and of those of practice, admission and gold."""
    sorts = [sort for role in ROLES for sort in study.settings.training.sorts(role)]
    cards: list[Any] = [*store.items(study.id), *(card for sort in sorts for card in sort.cards)]
    hashes = dict.fromkeys(card.picture for card in cards if card.picture)
    return [store.picture(study.id, one) for one in hashes]


def _card_of(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return a card as the file holds it; earlier versions know no description."""
    return {name: item[name] for name in CARD if name != DESCRIPTION or item[name]}


def _read_content(data: bytes) -> tuple[dict[str, Any], bool]:
    """Return what `CONTENT` says, and whether the archive holds pictures; no more is unpacked than it may hold."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            with archive.open(CONTENT) as file:
                text = file.read(MOST_CONTENT + 1)
            has_pictures = any(name.endswith(tuple(SUFFIXES.values())) for name in archive.namelist())
        if len(text) > MOST_CONTENT:
            raise InputError(f"{NOT_A_STUDY}: {CONTENT} has more than {MOST_CONTENT:,} bytes.")
        content = json.loads(text)
    except InputError:
        raise
    except Exception as error:  # each way of packing has errors of its own
        raise InputError(f"{NOT_A_STUDY}.") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT or not set(KEYS) <= set(content):
        raise InputError(f"{NOT_A_STUDY}.")
    if content.get("version") != VERSION:
        raise InputError(f"The study was saved by a later version of the package ({content.get('version')!r}).")
    if not isinstance(content["items"], list):
        raise InputError(f"{NOT_A_STUDY}: its items are no list.")
    return content, has_pictures


def _read_pictures(data: bytes) -> dict[str, Picture]:
    """Return the pictures, written anew, by the hashes that they had."""
    found = {}
    for name, each in in_archive(data):
        checked = check_picture(each, f"The picture {name!r}")
        found[name.rpartition(".")[0]] = new_picture(checked.data, checked.mime, checked.width, checked.height)
    return found


def _with_pictures(training: Training, pictures: Mapping[str, Picture]) -> Training:
    """Return a training whose cards name pictures as they were written anew."""

    def mend(sort: RightSort) -> RightSort:
        return RightSort(tuple(replace(card, picture=_new_hash(card.picture, pictures)) for card in sort.cards))

    return replace(
        training,
        practice=None if training.practice is None else mend(training.practice),
        admission=tuple(map(mend, training.admission)),
        gold=tuple(map(mend, training.gold)),
    )


def _new_hash(old: Any, pictures: Mapping[str, Picture]) -> str | None:
    if old is None:
        return None
    if old not in pictures:
        raise InputError(f"{NOT_A_STUDY}: it lacks the picture {str(old)[:80]!r}.")
    return pictures[old].hash
