"""Administration of who works on a study and on the server: roles, invitations, passwords that were forgotten."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response

from consilience.collect.admin.access import Form
from consilience.collect.authority import RuledRoute, asked_by, tell_more
from consilience.collect.errors import NotFoundError
from consilience.collect.forms import text_of
from consilience.collect.roles import ADMINISTRATOR, GUEST, IN_A_STUDY, ON_THE_SERVER, RESEARCHER
from consilience.collect.serving import full_address, page, see, served_by
from consilience.collect.store.invitations import LIFETIME
from consilience.errors import InputError

router = APIRouter(route_class=RuledRoute)
InvitationNumber = Annotated[int, Path(ge=1, le=2**31 - 1)]


# ---- of a study


@router.get("/admin/studies/{study}/team")
def show_team(request: Request, study: str) -> Response:
    """Show who works on a study, and to owners whom they invited."""
    return _team_page(request, study)


@router.post("/admin/studies/{study}/invitations")
def invite(request: Request, study: str, form: Form) -> Response:
    """Make an invitation to a study, and show its link this once."""
    role = text_of(form, "role")
    try:
        token = served_by(request).store.invite(role, study, inviter_id=asked_by(request).account)
    except InputError as error:
        return _team_page(request, study, status=422, error=str(error))
    tell_more(request, role)
    return _team_page(request, study, link=_link_of(request, token))


@router.post("/admin/studies/{study}/invitations/{invitation}/revoke")
def revoke(request: Request, study: str, invitation: InvitationNumber) -> Response:
    """Revoke an invitation to a study."""
    served_by(request).store.revoke_invitation(invitation, study)
    return see(f"/admin/studies/{study}/team")


@router.post("/admin/studies/{study}/members/{account}")
def change_member(request: Request, study: str, account: str, form: Form) -> Response:
    """Give somebody another role in a study, or none."""
    store, role = served_by(request).store, text_of(form, "role")
    if account not in {member.id for member, _ in store.members(study)}:
        raise NotFoundError("Nobody with this account works on the study; invite them.")
    try:
        store.set_member(study, account, role or None)
    except InputError as error:
        return _team_page(request, study, status=422, error=str(error))
    tell_more(request, f"{store.account(account).name}: {role or 'none'}")
    return see(f"/admin/studies/{study}/team" if asked_by(request).account != account else "/admin")


def _team_page(request: Request, study_id: str, **answer: Any) -> Response:
    store = served_by(request).store
    study = store.study(study_id)
    invited = store.invitations(study.id) if asked_by(request).can(study.id)["own"] else []
    return page(
        request,
        "team",
        study=study,
        members=store.members(study.id),
        roles=IN_A_STUDY,
        invitations=invited,
        days=LIFETIME.days,
        has_public_address=served_by(request).public is not None,
        **{"link": None} | answer,
    )


def _link_of(request: Request, token: str) -> str:
    return full_address(request, "open_invitation", token=token)


# ---- of the server


@router.get("/admin/accounts")
def list_accounts(request: Request) -> Response:
    """List all accounts, and whom administrators invited."""
    return _accounts_page(request)


@router.post("/admin/accounts/invitations")
def invite_to_server(request: Request, form: Form) -> Response:
    """Make an invitation to the server, and show its link this once."""
    role = text_of(form, "role")
    try:
        token = served_by(request).store.invite(role, inviter_id=asked_by(request).account)
    except InputError as error:
        return _accounts_page(request, status=422, error=str(error))
    tell_more(request, role)
    return _accounts_page(request, link=_link_of(request, token))


@router.post("/admin/accounts/invitations/{invitation}/revoke")
def revoke_from_server(request: Request, invitation: InvitationNumber) -> Response:
    """Revoke an invitation to the server."""
    served_by(request).store.revoke_invitation(invitation)
    return see("/admin/accounts")


@router.post("/admin/accounts/{account}/role")
def change_role(request: Request, account: str, form: Form) -> Response:
    """Change what an account may do on the server."""
    try:
        changed = served_by(request).store.set_role(account, text_of(form, "role"))
    except InputError as error:
        return _accounts_page(request, status=422, error=str(error))
    tell_more(request, f"{changed.name}: {changed.role}")
    return see("/admin/accounts")


@router.post("/admin/accounts/{account}/reset")
def reset_password(request: Request, account: str) -> Response:
    """Make a link under which somebody chooses a new password, and show it this once."""
    store = served_by(request).store
    found = store.account(account)
    token = store.invite(GUEST, account_id=found.id, inviter_id=asked_by(request).account)
    tell_more(request, found.name)
    return _accounts_page(request, link=_link_of(request, token), called=found.name)


@router.post("/admin/accounts/{account}/remove")
def remove_account(request: Request, account: str) -> Response:
    """Remove an account; its studies stay."""
    try:
        removed = served_by(request).store.remove_account(account)
    except InputError as error:
        return _accounts_page(request, status=422, error=str(error))
    tell_more(request, removed.name)
    return see("/admin/accounts" if asked_by(request).account != account else "/admin/login")


def _accounts_page(request: Request, **answer: Any) -> Response:
    store = served_by(request).store
    accounts = store.accounts()
    return page(
        request,
        "accounts",
        here="accounts",
        accounts=accounts,
        names={one.id: one.name for one in accounts},
        roles=ON_THE_SERVER,
        invited_as=(RESEARCHER, ADMINISTRATOR),
        invitations=store.invitations(),
        days=LIFETIME.days,
        has_public_address=served_by(request).public is not None,
        **{"link": None, "called": None} | answer,
    )
