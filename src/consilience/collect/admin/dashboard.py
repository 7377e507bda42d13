"""The dashboard of a study: progress and quotas, clusters and drawings, and the people.

The worker draws; the page shows what it kept. Drawings are asked for when somebody looks, so that none are made of
studies that nobody watches. The page consists of three parts, each asked for again and again: what changes often is
small, and what is large has a tag that costs a look at its time.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
from fastapi import APIRouter, Request, Response

from consilience.collect.authority import RuledRoute
from consilience.collect.results.exporting import MIMES, card_names, encode_table
from consilience.collect.results.progress import clusters_of, progress_of, quotas_of
from consilience.collect.serving import answer_version, page, served_by, tag_answer
from consilience.collect.settings.model import Study
from consilience.collect.store import Store

MOST_PEOPLE = 50  # that are listed

router = APIRouter(route_class=RuledRoute)


@router.get("/admin/studies/{study}/dashboard")
def show_dashboard(request: Request, study: str) -> Response:
    """Show the dashboard, and have it drawn anew if it is out of date."""
    store = served_by(request).store
    found = store.study(study)
    _request_overview(store, found, at_once=True)
    context = _progress(store, found) | _findings(store, found) | _people(store, found)
    return page(request, "dashboard", notice=served_by(request).notices.pop(found.id, ""), **context)


@router.get("/admin/studies/{study}/dashboard/progress")
def show_progress(request: Request, study: str) -> Response:
    """Return the counts, quotas and the advice to stop, which are asked for again and again, or 304."""
    store = served_by(request).store
    found = store.study(study)
    _request_overview(store, found)
    return tag_answer(request, page(request, "dashboard_progress", **_progress(store, found)))


@router.get("/admin/studies/{study}/dashboard/findings")
def show_findings(request: Request, study: str) -> Response:
    """Return clusters and drawings, or 304 after a look at their time alone."""
    store = served_by(request).store
    found, made = store.study(study), store.overview(study)
    version = f"{made.created.isoformat()}" if made else f"{store.consensus_number(study)} {_is_drawing(store, found)}"
    return answer_version(request, version, lambda: page(request, "dashboard_findings", **_findings(store, found)))


@router.get("/admin/studies/{study}/dashboard/people")
def show_people(request: Request, study: str) -> Response:
    """Return who is flagged and how people rank, or 304 if neither consensus nor people changed."""
    store = served_by(request).store
    found, made = store.study(study), store.overview(study)
    left_out = [one.id for one in store.left_out(study)]
    drawn = made.created.isoformat() if made else _is_drawing(store, found)
    version = f"{drawn} {store.consensus_number(study)} {left_out}"
    return answer_version(request, version, lambda: page(request, "dashboard_people", **_people(store, found)))


@router.get("/admin/studies/{study}/flags.csv")
def save_flags(request: Request, study: str) -> Response:
    """Send the flags as a table to save."""
    store = served_by(request).store
    found = store.study(study)
    frame = pd.DataFrame(quality_found(store, found)["flags"], columns=["participant", "annotator", "kind", "sentence"])
    headers = {"Content-Disposition": f'attachment; filename="flags-{found.id}.csv"'}
    return Response(encode_table(frame, "csv"), media_type=MIMES["csv"], headers=headers)


def quality_found(store: Store, study: Study) -> dict[str, Any]:
    """Return what the worker last found out about the answers, see `quality_of`; nothing yet if it found nothing."""
    found = store.consensus(study.id) or {}
    nothing: dict[str, Any] = {"flags": [], "comparison": None}
    quality: dict[str, Any] = found.get("quality", nothing)
    return quality


def _request_overview(store: Store, study: Study, *, at_once: bool = False) -> None:
    """Ask the worker for the drawings if they are out of date; if they failed, when somebody opens the page only."""
    outdated = _find_outdated(store, study)
    if not outdated or "overview" in store.at_work(study.id):
        return
    if at_once or (outdated == "overview" and "overview" not in store.failures(study.id)):
        store.request_overview(study.id, at_once=at_once)


def _find_outdated(store: Store, study: Study) -> str:
    """Return what of the page is out of date: "consensus", "overview", which is drawn of it, or "" for nothing."""
    if "consensus" in store.at_work(study.id):
        return "consensus"
    found, made = store.consensus(study.id), store.overview(study.id)
    if found is None or not found["n_groupings"]:
        return ""
    return "" if made is not None and made.answers == found.get("answers") else "overview"


def _progress(store: Store, study: Study) -> dict[str, Any]:
    progress = progress_of(store, study)
    quotas = quotas_of(store, study) if progress["n_groupings"] > progress["counts"]["imported"] else None
    outdated = _find_outdated(store, study) if store.overview(study.id) else ""  # of what was drawn before
    state = {"outdated": outdated, "is_drawing": "overview" in store.at_work(study.id)}
    return {"study": study, "progress": progress, "quotas": quotas} | state


def _is_drawing(store: Store, study: Study) -> bool:
    """Whether the worker is asked for what is drawn, or for the consensus of which it is."""
    return not store.at_work(study.id).isdisjoint({"consensus", "overview"})


def _findings(store: Store, study: Study) -> dict[str, Any]:
    content = store.overview_content(study.id)
    items = store.items(study.id) if content else []
    pictured = {name: item for name, item in zip(card_names(items), items, strict=True) if item.picture}
    return {
        "study": study,
        "overview": content,
        "clusters": clusters_of(study, content["consensus"], items) if content else [],
        "pictured": pictured,
        "has_answers": store.consensus_number(study.id) is not None,
        "is_drawing": _is_drawing(store, study),
    }


def _people(store: Store, study: Study) -> dict[str, Any]:
    quality = quality_found(store, study)
    people = {one.id: one for one in store.participants(study.id) if not one.preview}
    by_person: dict[str, list[dict[str, Any]]] = {}
    for flag in quality["flags"]:
        if flag["participant"] in people:
            by_person.setdefault(flag["participant"], []).append(flag)
    return {
        "study": study,
        "overview": store.overview_content(study.id),
        "flagged": [(people[person], flags) for person, flags in by_person.items()],
        "comparison": quality["comparison"],
        "by_annotator": {one.name or one.id: one for one in people.values()},
        "left_out": store.left_out(study.id),
        "most": MOST_PEOPLE,
        "has_consensus": store.consensus_number(study.id) is not None,
        "is_drawing": _is_drawing(store, study),
    }
