"""Browsers and scripts of each role, for tests of who may do what."""

from consilience.collect.roles import ADMINISTRATOR, EDITOR, GUEST, OWNER, RESEARCHER, VIEWER

from .conftest import PASSWORD

ROLES = ("anonymous", "participant", VIEWER, EDITOR, OWNER, ADMINISTRATOR, "owner of another study")


def account_of(store, role, study, password_hash):
    """Make an account with a role in a study, or on the server, and return it."""
    name = f"The {role}"
    if role in (VIEWER, EDITOR):
        made = store.add_account(name, GUEST, password_hash)
        store.set_member(study.id, made.id, role)
    elif role == ADMINISTRATOR:
        made = store.add_account(name, ADMINISTRATOR, password_hash)
    else:
        made = store.add_account(name, RESEARCHER, password_hash)
        own = study if role == OWNER else store.create_study("Theirs", ["a", "b", "c"])
        store.set_member(own.id, made.id, OWNER)
    return made


def log_in(visit, account):
    """Open a browser in which somebody is logged in by name and password."""
    browser = visit()
    answer = browser.post("/admin/login", data={"username": account.name, "password": PASSWORD})
    assert answer.status_code == 303, answer.text
    return browser
