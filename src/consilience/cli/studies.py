"""``consilience study``: studies in the database that ``consilience serve`` serves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from consilience.cli.judging import say_judging
from consilience.cli.messages import note, say, say_json
from consilience.cli.study_inputs import log_change, opened_store, pictures_in, read_texts, read_training
from consilience.errors import InputError
from consilience.workflows.outputs import require_outputs, write_files
from consilience.workflows.reading import read_noted


def create(
    cards: Path | None,
    *,
    images: Path | None,
    title: str,
    settings: dict[str, Any],
    training: Mapping[str, Any],
    opened: bool,
    db: str,
    as_json: bool,
) -> None:
    """Make a study; see `consilience.cli.study_commands.create`."""
    if cards is None and images is None:
        raise InputError("Give a file of cards, a folder of pictures with --images, or both.")
    if images is not None and not images.is_dir():
        raise InputError(f"{images}: There is no such folder of pictures.")
    kind, board = settings.pop("kind"), settings.pop("board")
    with opened_store(db, new=True) as store:
        from consilience.collect.settings.model import StudySettings

        items, pictures = _items(cards, images)
        trained, more = read_training(training, images)
        found = StudySettings(**_settings(settings, kind), training=trained)
        study = store.create_study(title, items, kind=kind, board=board, settings=found, pictures=[*pictures, *more])
        log_change(store, study, "made a study")
        if opened:
            study = store.open_study(study.id)
        _say_study(store, study, as_json=as_json)


def copy(study_id: str, title: str, *, db: str, as_json: bool) -> None:
    """Make a draft like a study; see `consilience.cli.study_commands.copy`."""
    with opened_store(db) as store:
        from consilience.collect.creation.study_file import copy_study

        study = copy_study(store, store.study(study_id), title)
        log_change(store, study, "copied a study")
        _say_study(store, study, as_json=as_json)


def pack(study_id: str, out: Path, *, db: str) -> None:
    """Save a study as a file; see `consilience.cli.study_commands.pack`."""
    require_outputs([out], [])
    with opened_store(db) as store:
        from consilience.collect.creation.study_file import pack_study

        data = pack_study(store, store.study(study_id))
    _write(out, data)


def unpack(file: Path, *, db: str, as_json: bool) -> None:
    """Make a draft of a file; see `consilience.cli.study_commands.unpack`."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.") from error
    with opened_store(db, new=True) as store:
        from consilience.collect.creation.study_file import unpack_study

        study = unpack_study(store, data)
        log_change(store, study, "made a study")
        _say_study(store, study, as_json=as_json)


def list_all(*, db: str, as_json: bool) -> None:
    """List all studies."""
    with opened_store(db) as store:
        found = [_facts(store, study) for study in store.studies()]
    if as_json:
        say_json(found)
        return
    if not found:
        say("There are no studies yet; make one with 'consilience study create'.")
    for one in found:
        judged = one["kind"] == "judging"
        sets = "sets" if one["board"] == "questions" else "sorts"
        done = f"{one['answers']} answers" if judged else f"{one['submitted'] + one['imported']} {sets}"
        say(f"{one['id']}  {one['status']:6}  {one['kind']:6}  {one['n_items']} cards, {done}  {one['title']}")


def show(study_id: str, *, db: str, as_json: bool) -> None:
    """Show how far a study is."""
    with opened_store(db) as store:
        _say_study(store, store.study(study_id), as_json=as_json)


def change_status(study_id: str, to: str, *, db: str) -> None:
    """Open or close a study."""
    with opened_store(db) as store:
        study = store.open_study(study_id) if to == "open" else store.close_study(study_id)
        log_change(store, study, "opened the study" if to == "open" else "closed the study")
        say(f"The study {study.title!r} is {study.status}.")
        if to == "open":
            say(f"People join at /join/{study.join_token}, after the address of the server.")


def set_panel(study_id: str, path: Path, *, db: str) -> None:
    """Replace what a study asks of people from a panel."""
    try:
        values = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: This is no JSON: {error}.") from error
    with opened_store(db) as store:
        from consilience.collect.settings.panel import Panel

        study = store.study(study_id)
        study = store.update_study(study_id, settings=replace(study.settings, panel=Panel.of_json(values)))
        log_change(store, study, "changed consent, questions or codes")
        panel = study.settings.panel
        asked = len(panel.before + panel.after)
        consent = "A consent page" if panel.consent else "No consent page"
        questions = f"{asked} {'question' if asked == 1 else 'questions'}"
        endings = f"{len(panel.endings)} {'ending' if len(panel.endings) == 1 else 'endings'}"
        say(f"{consent}, {questions} and {endings} in the study {study.title!r}.")


def bring_in(study_id: str, path: Path, *, reading: Mapping[str, Any], db: str) -> None:
    """Take in groupings from a file."""
    with opened_store(db) as store:
        from consilience.collect.settings.study_kinds import kind_of_answers

        study = store.study(study_id)
        if study.has_fixed_groups:
            reading = {"kind": kind_of_answers(study.kind), **reading}
        annotations, _ = read_noted(path, reading)
        count = store.import_groupings(study_id, annotations)
        log_change(store, study, "brought groupings along")
        say(f"{count} {'grouping' if count == 1 else 'groupings'} taken into the study {study.title!r}.")


def export(study_id: str, out: Path, *, table: str | None, identifiers: bool, db: str) -> None:
    """Write what was sorted to a file."""
    kind = out.suffix.lower().removeprefix(".")
    with opened_store(db) as store:
        from consilience.collect.results.exporting import MIMES, export_study

        if kind not in MIMES:
            raise InputError(f"The file name must end in {', '.join(f'.{name}' for name in MIMES)}. Got {out.name!r}.")
        require_outputs([out], [])
        data = export_study(store, store.study(study_id), kind, table, identifiers=identifiers).data

        _write(out, data)


def _write(out: Path, data: bytes) -> None:
    def write(file: IO[bytes]) -> None:
        file.write(data)

    write_files({out: write})
    say(f"{out}: {len(data):,} bytes")


def _items(cards: Path | None, images: Path | None) -> tuple[list[Any], list[Any]]:
    """Read cards and pictures, and note what was not used, and cards that look the same."""
    from consilience.collect.creation.cards import decode_text, items_of, read_cards

    read = None if cards is None else read_cards(decode_text(cards.read_bytes()))
    files = {} if images is None else pictures_in(images)
    items, pictures, notes = items_of(read, files)
    for text in notes:
        note(text)
    return items, pictures


def _settings(options: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return the settings of a study from the options of the command."""
    from consilience.collect.settings.kinds import Choice
    from consilience.collect.settings.model import SETTINGS

    found = read_texts({name: value for name, value in options.items() if value is not None})
    for name, setting in SETTINGS.items():
        if isinstance(setting, Choice):
            if name in found:
                found[name] = setting.kept[found[name]]
            elif kind in setting.only:
                found[name] = setting.only[kind]
    return found


def _facts(store: Any, study: Any) -> dict[str, Any]:
    return {
        **{name: getattr(study, name) for name in ("id", "title", "kind", "board", "status", "n_items")},
        "join": f"/join/{study.join_token}",
        **(store.judging_progress(study.id) if study.kind == "judging" else store.progress(study.id)),
    }


def _say_study(store: Any, study: Any, *, as_json: bool) -> None:
    if study.kind == "judging":
        say_judging(store, study, as_json=as_json)
        return
    found, consensus = _facts(store, study), store.consensus(study.id)
    if as_json:
        say_json({**found, "settings": study.settings.as_json(), "consensus": consensus})
        return
    say(f"{study.id}  {study.title}")
    sets, what = ("sets", "questions ") if study.is_asked else ("sorts", "")
    say(
        f"{study.status}, {study.kind}{'' if study.is_asked else ' sort'} of {study.n_items} cards, "
        f"{study.subset_size} {what}at a time"
    )
    say(f"join link     {found['join']}  (after the address of the server)")
    if study.status == "draft":
        say(f"to open it    consilience study open {study.id}")
    say(f"participants  {found['participants']} ({found['excluded']} left out, {found['withdrew']} withdrew)")
    say(f"{sets:13} {found['submitted']} submitted, {found['open']} in progress, {found['imported']} imported")
    if consensus is None:
        say("consensus     none yet; it is found while 'consilience serve' runs")
    elif consensus["kind"] == "labels":
        say(f"consensus     categories of {consensus['n_items_grouped']} cards from {consensus['n_groupings']} {sets}")
    else:
        say(f"consensus     {consensus['n_clusters']} clusters from {consensus['n_groupings']} {sets}")
    if consensus is not None and consensus["advice"] is not None:
        say(f"advice        {'stop' if consensus['advice']['stop'] else 'go on'}: {consensus['advice']['reason']}")
