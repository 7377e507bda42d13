"""Who may do what: the roles, and for every address of the server whom it answers.

`consilience.collect.authority` holds requests to `RULES`, and writes the log in their words; the table in the docs is
made of them by ``python -m tests.collect.roles_table``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

VIEWER, EDITOR, OWNER = IN_A_STUDY = ("viewer", "editor", "owner")
GUEST, RESEARCHER, ADMINISTRATOR = ON_THE_SERVER = ("guest", "researcher", "administrator")


@dataclass(frozen=True)
class Rule:
    """Whom an address answers.

    server : the least role on the server; None if no account is needed.
    study : the least role in the study that the address names; administrators have every role in all studies.
    is_of_participants : whether its page asks by itself for the participant whose browser it is.
    does : what whoever is answered did, for the log; empty if nothing that the log tells.
    """

    server: str | None = None
    study: str | None = None
    is_of_participants: bool = False
    does: str = ""

    def allows(self, server: str, study: str | None) -> bool:
        """Whether an account with these roles is answered; `study` is that in the study of the address."""
        if server == ADMINISTRATOR:
            return True
        return reaches(ON_THE_SERVER, server, self.server) and reaches(IN_A_STUDY, study, self.study)


def reaches(roles: tuple[str, ...], role: str | None, least: str | None) -> bool:
    """Whether a role is as high as another, or none is needed."""
    return least is None or (role is not None and roles.index(role) >= roles.index(least))


ANYBODY = Rule()
TAKES_PART = Rule(is_of_participants=True)
SEES = Rule(GUEST, VIEWER)
EDITS = Rule(GUEST, EDITOR)
OWNS = Rule(GUEST, OWNER)
MAKES = Rule(RESEARCHER, does="made a study")
HAS_ACCOUNT = Rule(GUEST)
RUNS = Rule(ADMINISTRATOR)


def edits(does: str) -> Rule:
    """Return the rule of an address by which editors change something."""
    return replace(EDITS, does=does)


def owns(does: str) -> Rule:
    """Return the rule of an address by which owners change something."""
    return replace(OWNS, does=does)


def runs(does: str) -> Rule:
    """Return the rule of an address by which administrators change something."""
    return replace(RUNS, does=does)


COPIES = Rule(RESEARCHER, EDITOR, does="copied a study")
JUDGES = Rule(RESEARCHER, EDITOR, does="made a study of judges")

PAGES = {
    "GET /healthz": ANYBODY,
    # who they are
    "GET /admin/setup/{token}": ANYBODY,
    "GET /admin/setup": ANYBODY,
    "POST /admin/setup": ANYBODY,
    "GET /admin/login": ANYBODY,
    "POST /admin/login": ANYBODY,
    "POST /admin/logout": ANYBODY,
    "GET /invited/{token}": ANYBODY,
    "GET /admin/invited": ANYBODY,
    "POST /admin/invited": ANYBODY,
    "GET /admin/account": HAS_ACCOUNT,
    "POST /admin/account": replace(HAS_ACCOUNT, does="changed their password"),
    "GET /admin/tokens": HAS_ACCOUNT,
    "POST /admin/tokens": replace(HAS_ACCOUNT, does="made a token of the API"),
    "POST /admin/tokens/{token}/revoke": replace(HAS_ACCOUNT, does="revoked a token of the API"),
    # who works on the server
    "GET /admin/accounts": RUNS,
    "POST /admin/accounts/invitations": runs("invited somebody"),
    "POST /admin/accounts/invitations/{invitation}/revoke": runs("revoked an invitation"),
    "POST /admin/accounts/{account}/role": runs("changed the role of an account"),
    "POST /admin/accounts/{account}/reset": runs("let somebody choose a new password"),
    "POST /admin/accounts/{account}/remove": runs("removed an account"),
    "GET /admin/log": RUNS,
    # studies
    "GET /admin": HAS_ACCOUNT,
    "POST /admin/demo": MAKES,
    "GET /admin/new": Rule(RESEARCHER),
    "POST /admin/new": MAKES,
    "POST /admin/new/file": MAKES,
    "POST /admin/new/template/{name}": MAKES,
    "GET /admin/judging/new": Rule(RESEARCHER),
    "POST /admin/judging/new": MAKES,
    "GET /admin/studies/{study}": SEES,
    "GET /admin/studies/{study}/progress": SEES,
    "POST /admin/studies/{study}/open": edits("opened the study"),
    "POST /admin/studies/{study}/close": edits("closed the study"),
    "POST /admin/studies/{study}/preview": EDITS,
    "POST /admin/studies/{study}/participants": edits("made personal links"),
    "POST /admin/studies/{study}/import": edits("brought groupings along"),
    "POST /admin/studies/{study}/copy": COPIES,
    "GET /admin/studies/{study}/study.zip": EDITS,
    "GET /admin/studies/{study}/export/{kind}": SEES,
    "GET /admin/studies/{study}/delete": OWNS,
    "POST /admin/studies/{study}/delete": owns("deleted the study"),
    # who works on them
    "GET /admin/studies/{study}/team": SEES,
    "POST /admin/studies/{study}/invitations": owns("invited somebody"),
    "POST /admin/studies/{study}/invitations/{invitation}/revoke": owns("revoked an invitation"),
    "POST /admin/studies/{study}/members/{account}": owns("changed the role of somebody"),
    "GET /admin/studies/{study}/log": SEES,
    # what people see
    "GET /admin/studies/{study}/cards": EDITS,
    "POST /admin/studies/{study}/cards": edits("changed cards"),
    "GET /admin/studies/{study}/settings": EDITS,
    "POST /admin/studies/{study}/settings": edits("changed settings"),
    "GET /admin/studies/{study}/texts": EDITS,
    "POST /admin/studies/{study}/texts": edits("changed texts"),
    "GET /admin/studies/{study}/panel": EDITS,
    "POST /admin/studies/{study}/panel": edits("changed consent, questions or codes"),
    "GET /admin/studies/{study}/training": EDITS,
    "POST /admin/studies/{study}/training": edits("changed practice or checks"),
    # who came
    "GET /admin/studies/{study}/people": SEES,
    "POST /admin/studies/{study}/participants/{participant}/exclude": edits("left somebody out"),
    "POST /admin/studies/{study}/participants/{participant}/restore": edits("took somebody in again"),
    "POST /admin/studies/{study}/participants/{participant}/delete": edits("deleted somebody"),
    "GET /admin/studies/{study}/dashboard": SEES,
    "GET /admin/studies/{study}/dashboard/progress": SEES,
    "GET /admin/studies/{study}/dashboard/findings": SEES,
    "GET /admin/studies/{study}/dashboard/people": SEES,
    "GET /admin/studies/{study}/flags.csv": SEES,
    # judged by others
    "GET /admin/studies/{study}/judging": SEES,
    "POST /admin/studies/{study}/judging": JUDGES,
    "GET /admin/studies/{study}/judging/settings": EDITS,
    "POST /admin/studies/{study}/judging/settings": edits("changed settings"),
}

OF_PARTICIPANTS = {
    "GET /join/{token}": ANYBODY,
    "GET /sort": TAKES_PART,
    "POST /sort/language": TAKES_PART,
    "POST /sort/consent": TAKES_PART,
    "POST /sort/questions": TAKES_PART,
    "POST /sort/begin": TAKES_PART,
    "POST /sort/judge": TAKES_PART,
    "POST /sort/answer-seen": TAKES_PART,
    "POST /sort/changes": TAKES_PART,
    "GET /sort/state": TAKES_PART,
    "POST /sort/move": TAKES_PART,
    "POST /sort/name": TAKES_PART,
    "POST /sort/submit": TAKES_PART,
    "GET /sort/withdraw": TAKES_PART,
    "POST /sort/withdraw": TAKES_PART,
    "GET /pictures/{study}/{picture}": replace(SEES, is_of_participants=True),
    "GET /pictures/{study}/{picture}/small": replace(SEES, is_of_participants=True),
}

# What scripts collect for participants is in the table of answers, and not in the log.
API = {
    "GET /api/v1/studies": HAS_ACCOUNT,
    "POST /api/v1/studies": MAKES,
    "POST /api/v1/studies/unpack": MAKES,
    "POST /api/v1/judging": MAKES,
    "GET /api/v1/studies/{study}": SEES,
    "POST /api/v1/studies/{study}/copy": COPIES,
    "GET /api/v1/studies/{study}/pack": EDITS,
    "PUT /api/v1/studies/{study}/settings": edits("changed settings"),
    "POST /api/v1/studies/{study}/open": edits("opened the study"),
    "POST /api/v1/studies/{study}/close": edits("closed the study"),
    "GET /api/v1/studies/{study}/items": SEES,
    "PUT /api/v1/studies/{study}/items": edits("replaced the cards"),
    "POST /api/v1/studies/{study}/pictures": edits("added a picture"),
    "PUT /api/v1/studies/{study}/training": edits("changed practice or checks"),
    "GET /api/v1/studies/{study}/training/chance": SEES,
    "GET /api/v1/studies/{study}/consistency": SEES,
    "POST /api/v1/studies/{study}/participants": EDITS,
    "GET /api/v1/studies/{study}/participants": SEES,
    "POST /api/v1/studies/{study}/participants/{participant}/subset": EDITS,
    "PUT /api/v1/studies/{study}/assignments/{assignment}/grouping": EDITS,
    "POST /api/v1/studies/{study}/participants/{participant}/exclude": edits("left somebody out"),
    "POST /api/v1/studies/{study}/participants/{participant}/restore": edits("took somebody in again"),
    "DELETE /api/v1/studies/{study}/participants/{participant}": edits("deleted somebody"),
    "POST /api/v1/studies/{study}/judging": JUDGES,
    "GET /api/v1/studies/{study}/judgings": SEES,
    "GET /api/v1/studies/{study}/judging": SEES,
    "POST /api/v1/studies/{study}/participants/{participant}/question": EDITS,
    "PUT /api/v1/studies/{study}/participants/{participant}/answer": EDITS,
    "GET /api/v1/studies/{study}/progress": SEES,
    "GET /api/v1/studies/{study}/consensus": SEES,
    "GET /api/v1/studies/{study}/flags": SEES,
    "GET /api/v1/studies/{study}/export": SEES,
}

RULES: dict[str, Rule] = PAGES | OF_PARTICIPANTS | API
