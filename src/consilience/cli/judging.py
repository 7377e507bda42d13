"""``consilience study judge``, and what ``study show`` says of judging studies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from consilience.cli.messages import note, say, say_json
from consilience.cli.study_inputs import log_change, opened_store, pictures_in, read_texts
from consilience.errors import InputError


def judge(
    study_id: str | None,
    table: Path | None,
    *,
    images: Path | None,
    given: dict[str, Any],
    opened: bool,
    db: str,
    as_json: bool,
) -> None:
    """Make a judging study; see `consilience.cli.study_commands.judge`."""
    if (study_id is None) == (table is None):
        raise InputError("Give either a study or a table of clusters with --clusters.")
    if images is not None and (table is None or not images.is_dir()):
        raise InputError(
            "--images needs the table of --clusters, which names the pictures."
            if table is None
            else f"{images}: There is no such folder of pictures."
        )
    title, n_questions = given.pop("title") or "", given.pop("n_questions")
    settings = read_texts({name: value for name, value in given.items() if value not in (None, ())})
    with opened_store(db, new=study_id is None) as store:
        from consilience.collect.creation.cards import decode_text
        from consilience.collect.creation.judging import judge_consensus, judge_table

        asking: dict[str, Any] = {"n_questions": n_questions, "settings": settings}
        if table is None:
            study = judge_consensus(store, store.study(study_id), title=title, **asking)
        else:
            files = {} if images is None else pictures_in(images)
            study, notes = judge_table(store, title or table.stem, decode_text(table.read_bytes()), files, **asking)
            for text in notes:
                note(text)
        log_change(store, study, "made a study of judges")
        if opened:
            study = store.open_study(study.id)
        say_judging(store, study, as_json=as_json)


def say_judging(store: Any, study: Any, *, as_json: bool) -> None:
    """Say how far strangers see the clusters of a study."""
    from consilience.collect.results.judging import results_of

    results = results_of(store, study).as_json()
    join = f"/join/{study.join_token}"
    if as_json:
        names = ("id", "title", "kind", "board", "status", "n_items")
        facts = {name: getattr(study, name) for name in names} | {"join": join, **results["progress"]}
        say_json({**facts, "settings": study.settings.as_json(), "results": results})
        return
    progress = results["progress"]
    say(f"{study.id}  {study.title}")
    say(f"{study.status}, {len(store.judging(study.id).clusters)} clusters of {study.n_items} cards, judged")
    say(f"join link     {join}  (after the address of the server)")
    if study.status == "draft":
        say(f"to open it    consilience study open {study.id}")
    say(f"judges        {progress['judges']} ({progress['excluded']} left out, {progress['withdrew']} withdrew)")
    say(f"answers       {progress['answers']} to {progress['questions']} questions")
    if progress["answers"]:
        say(f"right         {_share(results['overall'])}; who guesses is right in 25 %")
        for one in results["clusters"]:
            say(f"  {one['cluster']}: {_share(one)}")


def _share(row: Mapping[str, Any]) -> str:
    """Return a share with its interval in per cent."""
    share = f"{row['right']:.0%}"
    return share if row["right_low"] is None else f"{share} ({row['right_low']:.0%} to {row['right_high']:.0%})"
