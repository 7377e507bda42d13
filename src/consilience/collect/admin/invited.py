"""Administration: invitations that are accepted, and the page of one's own account."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.datastructures import FormData

from consilience.collect import security
from consilience.collect.admin.access import LENGTHS, Form, begin_session, new_password_in, secret_of
from consilience.collect.authority import RuledRoute, asked_by, asker_if_known, named_by_proxy
from consilience.collect.errors import NotFoundError
from consilience.collect.forms import text_of
from consilience.collect.security import RefusedError
from consilience.collect.serving import INVITED, address, page, see, served_by, set_cookie
from consilience.collect.store import Account, Invitation
from consilience.errors import InputError

MAY = {
    "viewer": "You see everything that is collected, and change nothing.",
    "editor": "You may change everything in the study, and open and close it.",
    "owner": "You may change everything, decide who works on the study, and delete it.",
}  # of the roles in a study

router = APIRouter(route_class=RuledRoute)


@router.get("/invited/{token}")
def open_invitation(request: Request, token: str) -> Response:
    """Exchange the token of an invitation for a cookie, and go on to an address that holds none."""
    served_by(request).count("join", address(request))
    served_by(request).store.invitation(token)
    answer = see("/admin/invited")
    set_cookie(request, answer, INVITED, token, seconds=3600)
    return answer


@router.get("/admin/invited")
def show_invitation(request: Request) -> Response:
    """Show to what somebody is invited, and how they accept."""
    return _invitation_page(request)


@router.post("/admin/invited")
def accept(request: Request, form: Form) -> Response:
    """Accept an invitation, and log in."""
    use = served_by(request)
    use.count("join", address(request))
    found = use.store.invitation(request.cookies.get(INVITED, ""))
    try:
        account = _accept(request, found, form)
    except NotFoundError:
        raise
    except InputError as error:
        return _invitation_page(request, status=422, error=str(error), called=text_of(form, "username"))
    _note_acceptance(request, found, account)
    answer = begin_session(request, account)
    if found.study and found.account is None:
        role = use.store.roles_of(account.id).get(found.study, found.role)  # a higher one of before stays
        use.notices[found.study] = f"You have joined as {role}. {MAY[role]}"
        answer.headers["location"] = f"/admin/studies/{found.study}"
    answer.delete_cookie(INVITED, path="/")
    return answer


def _accept(request: Request, found: Invitation, form: FormData) -> Account:
    """Return the account that accepts: that of who is known already, or a new one."""
    store, token = served_by(request).store, request.cookies.get(INVITED, "")
    known, named = asker_if_known(request), named_by_proxy(request)
    if found.account is None and known is not None and (named or text_of(form, "join")):
        return store.accept_invitation(token, account_id=known.account)
    if found.account is None and named is not None:
        return store.accept_invitation(token, name=named)
    return store.accept_invitation(token, name=text_of(form, "username"), password_hash=new_password_in(form))


def _note_acceptance(request: Request, found: Invitation, account: Account) -> None:
    store = served_by(request).store
    action = f"joined as {found.role}" if found.account is None else "chose a new password"
    title = store.study(found.study).title if found.study else ""
    store.note_action(account.name, action, study_id=found.study, title=title)


def _invitation_page(request: Request, **answer: Any) -> Response:
    store = served_by(request).store
    found = store.invitation(request.cookies.get(INVITED, ""))
    known, named = asker_if_known(request), named_by_proxy(request)
    return page(
        request,
        "invited",
        invitation=found,
        to=store.study(found.study) if found.study else None,
        forgot=store.account(found.account).name if found.account else None,
        joins_as=known.name if known else named,
        is_named=named is not None,
        **LENGTHS,
        **{"called": ""} | answer,
    )


# ---- one's own account


@router.get("/admin/account")
def show_account(request: Request) -> Response:
    """Show one's own account."""
    return _account_page(request)


@router.post("/admin/account")
def change_password(request: Request, form: Form) -> Response:
    """Change one's own password; other sessions end."""
    use, account = served_by(request), _own_account(request)
    use.count("account", account.id)
    if not security.matches(account.password_hash, secret_of(form, "old")):
        return _account_page(request, status=403, error="This is not your password of today.")
    try:
        use.store.set_password(account.id, new_password_in(form))
    except InputError as error:
        return _account_page(request, status=422, error=str(error))
    return begin_session(request, use.store.account(account.id))


def _account_page(request: Request, **answer: Any) -> Response:
    account = _own_account(request)
    return page(request, "account", here="account", account=account, called=None, **LENGTHS, **answer)


def _own_account(request: Request) -> Account:
    found = asked_by(request).account
    if found is None:
        raise RefusedError(403, "This token is that of no account.")
    return served_by(request).store.account(found)
