"""The table of the docs of who may do what; ``python -m tests.collect.roles_table`` writes it anew from `RULES`."""

from pathlib import Path

from consilience.collect.roles import (
    ADMINISTRATOR,
    API,
    EDITOR,
    GUEST,
    OF_PARTICIPANTS,
    OWNER,
    PAGES,
    RESEARCHER,
    VIEWER,
)

from .team import ROLES

PATH = Path(__file__).parents[2] / "docs" / "collect" / "roles_table.inc"
HAS = {  # the role on the server, and that in the study of the address
    VIEWER: (GUEST, VIEWER),
    EDITOR: (GUEST, EDITOR),
    OWNER: (RESEARCHER, OWNER),
    ADMINISTRATOR: (ADMINISTRATOR, None),
    "owner of another study": (RESEARCHER, None),
}
HEADINGS = {
    "Pages of the administration": PAGES,
    "Pages of participants": OF_PARTICIPANTS,
    "The API, by whose token it is": API,
}
NOTE = ".. made by python -m tests.collect.roles_table\n"


def is_allowed(rule, role):
    """Whether a rule answers somebody with one of `ROLES`."""
    if role == "participant" and rule.is_of_participants:
        return True
    if role in HAS and rule.server is not None:
        return rule.allows(*HAS[role])
    return rule.server is None and not rule.is_of_participants


def lines_of(rules):
    for address, rule in rules.items():
        yield f"   * - ``{address}``"
        for role in ROLES:
            yield f"     - {'yes' if is_allowed(rule, role) else '–'}"


def make_table():
    """Return the tables of all addresses."""
    parts = [NOTE]
    for heading, rules in HEADINGS.items():
        head = [f"   * - {heading}", *(f"     - {role}" for role in ROLES)]
        widths = f"   :widths: 44 {' '.join(['8'] * len(ROLES))}"
        parts.append("\n".join(["", ".. list-table::", "   :header-rows: 1", widths, "", *head, *lines_of(rules), ""]))
    return "\n".join(parts)


def read_table(text):
    """Return whom the table answers, by address."""
    found, address = {}, None
    for line in text.splitlines():
        if line.startswith("   * - ``"):
            address = line.removeprefix("   * - ``").removesuffix("``")
            found[address] = []
        elif address and line.startswith("     - ") and len(found[address]) < len(ROLES):
            found[address].append(line == "     - yes")
    return {address: dict(zip(ROLES, cells, strict=True)) for address, cells in found.items()}


if __name__ == "__main__":
    PATH.write_text(make_table(), encoding="utf-8")
