"""Administration of the people of a study: the list of participants, leaving out, taking in again, deleting."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from starlette.datastructures import FormData

from consilience.collect.admin.access import Form
from consilience.collect.authority import RuledRoute
from consilience.collect.errors import NotFoundError
from consilience.collect.forms import text_of
from consilience.collect.serving import page, see, served_by
from consilience.collect.settings.model import JUDGING, Participant, Study
from consilience.collect.store import Store
from consilience.collect.store.consistency import Consistency
from consilience.collect.store.scoring import measure_of
from consilience.collect.store.standing import READY, REFUSED

PAGES = ("people", "dashboard", "judging")  # that have the buttons, and to which these lead back
AT_ONCE = 50  # people on a page
LONGEST_SEARCH = 200
VERDICTS = {READY: ": admitted", REFUSED: ": not admitted"}
SCORES = {"practice": "Practice", "admission": "Admission", "gold": "Gold", "repeats": "Repeats"}

router = APIRouter(route_class=RuledRoute)


@router.get("/admin/studies/{study}/people")
def list_people(
    request: Request, study: str, q: str = "", start: Annotated[int, Query(ge=1, le=10**6)] = 1
) -> Response:
    """List the participants, some at a time: all, or those whose name, id or parameters hold what is searched for."""
    store = served_by(request).store
    found = store.study(study)
    notice = served_by(request).notices.pop(found.id, "")
    rows = people_of(store, found)
    columns = [(name, words) for name, words in SCORES.items() if any(row["scores"].get(name) for row in rows)]
    wanted = q.strip()[:LONGEST_SEARCH]
    shown = [row for row in rows if wanted.casefold() in words_of(row["person"])]
    first = start - 1 if start <= len(shown) else 0
    return page(
        request,
        "people",
        study=found,
        rows=shown[first : first + AT_ONCE],
        columns=columns,
        came_by=any(row["person"].name or row["person"].parameters for row in rows),
        measure=measure_of(found.kind),
        notice=notice,
        searched=wanted,
        first=first + 1,
        at_once=AT_ONCE,
        count=len(shown),
        total=len(rows),
    )


def words_of(person: Participant) -> str:
    """Return what a search looks at, in one case."""
    return "\n".join([person.name or "", person.id, *map("=".join, person.parameters.items())]).casefold()


@router.post("/admin/studies/{study}/participants/{participant}/exclude")
def exclude(request: Request, study: str, participant: str, form: Form) -> Response:
    """Leave the answers of a participant out of the consensus."""
    return _change(request, study, participant, form, excluded=True)


@router.post("/admin/studies/{study}/participants/{participant}/restore")
def restore(request: Request, study: str, participant: str, form: Form) -> Response:
    """Take the answers of a participant into the consensus again."""
    return _change(request, study, participant, form, excluded=False)


@router.post("/admin/studies/{study}/participants/{participant}/delete")
def delete(request: Request, study: str, participant: str) -> Response:
    """Delete a participant and all that they gave."""
    store = served_by(request).store
    found = person_in(store, study, participant)
    store.delete_participant(found.id)
    served_by(request).notices[study] = f"{found.name or found.id} is deleted. {_again(store, found)}"
    return see(f"/admin/studies/{study}/people")


def _change(request: Request, study: str, participant: str, form: FormData, *, excluded: bool) -> Response:
    store = served_by(request).store
    found = exclude_in(store, study, participant, excluded)
    done = "left out; nothing of theirs is deleted" if found.excluded else "taken in again"
    served_by(request).notices[found.study] = f"{found.name or found.id} is {done}. {_again(store, found)}"
    back = text_of(form, "back")
    return see(f"/admin/studies/{found.study}/{back if back in PAGES else PAGES[0]}")


def _again(store: Store, person: Participant) -> str:
    judged = store.study(person.study).kind == JUDGING
    return f"The {'results are' if judged else 'consensus is'} computed again."


def exclude_in(store: Store, study_id: str, participant_id: str, excluded: bool) -> Participant:
    """Leave a participant of a study out, or take them in again.

    Raises NotFoundError: the study has no such participant.
    """
    return store.exclude(person_in(store, study_id, participant_id).id, excluded)


def person_in(store: Store, study_id: str, participant_id: str) -> Participant:
    """Return a participant of a study. Raises NotFoundError: the study has no such participant."""
    found = store.participant(participant_id)
    if found.study != study_id:
        raise NotFoundError("There is no such participant.")
    return found


def people_of(store: Store, study: Study) -> list[dict[str, Any]]:
    """Return the participants of a study, previews apart, each with the number of sorts or answers, and with scores."""
    submitted, endings = store.done(study.id), store.endings(study.id)
    scores = {one.participant: scores_of(one) for one in store.consistency(study.id)}
    return [
        {
            **{"person": one, "n_submitted": submitted[one.id]},
            **{"scores": scores.get(one.id, {}), "ending": endings.get(one.id, "")},
        }
        for one in store.participants(study.id)
        if not one.preview
    ]


def scores_of(found: Consistency) -> dict[str, str]:
    """Return how somebody did in sorts whose answer is known, in words; without those that they were not given.

    Examples
    --------
    >>> scores_of(Consistency("p", 0.75, 2, None, 0, practice=1.0, admission=0.4, attempts=2, standing="refused"))
    {'practice': '1.00', 'admission': '0.40 at try 2: not admitted', 'gold': '0.75 (2)'}
    """
    shown = {"practice": "" if found.practice is None else f"{found.practice:.2f}"}
    if found.admission is not None:
        again = f" at try {found.attempts}" if found.attempts > 1 else ""
        shown["admission"] = f"{found.admission:.2f}{again}{VERDICTS.get(found.standing, '')}"
    for name, score, count in (("gold", found.gold, found.n_gold), ("repeats", found.repeats, found.n_repeats)):
        shown[name] = "" if score is None else f"{score:.2f} ({count})".replace("-", "−")
    return {name: words for name, words in shown.items() if words}
