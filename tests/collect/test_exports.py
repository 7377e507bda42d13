"""What exports say of a study to whoever reads them again."""

import warnings

import pytest

from consilience import Labels, read_annotations
from consilience.errors import AnnotationWarning

from .collecting import begun, takes_part


@pytest.mark.parametrize("kind", ["csv", "json"])
@pytest.mark.parametrize("sort", ["closed", "hybrid"])
def test_an_export_says_which_sort_it_is_and_which_groups_were_given(admin, sqlite_store, tmp_path, sort, kind):
    given = ("+ Hot", "Cold", "Neither")
    study = begun(sqlite_store, kind=sort, categories=given, strategy="random")
    for seed in range(3):
        takes_part(sqlite_store, study, seed, rule=lambda item: item % 2)
    answer = admin.get(f"/admin/studies/{study.id}/export/{kind}")
    assert answer.status_code == 200
    file = tmp_path / f"export.{kind}"
    file.write_bytes(answer.content)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", AnnotationWarning)
        read = read_annotations(file)
    if sort == "closed":
        assert isinstance(read, Labels)
        assert tuple(read.classes) == given
    else:
        said = f"{read.reading} {[str(one.message) for one in told]}"
        assert f"the groups {', '.join(map(repr, given))} were given to everybody" in said
        assert f"{sort} sort of this package's server" in said


def test_a_set_that_was_handed_in_can_neither_be_read_to_be_changed_nor_be_changed(visit, sqlite_store):
    study = begun(sqlite_store, ["apple", "pear"])
    one = visit()
    one.get(f"/join/{study.join_token}")
    one.post("/sort/begin")
    [person] = sqlite_store.participants(study.id)
    [assignment] = sqlite_store.assignments_of(person.id)
    move = {"kind": "move", "items": [0, 1], "group": "g1"}

    def change(client, sequence):
        sent = {"assignment": assignment.id, "client": client, "changes": [{"sequence": sequence, **move}]}
        return one.post("/sort/changes", json=sent)

    address = f"/sort/state?assignment={assignment.id}"
    assert change("a", 1).status_code == one.get(address).status_code == 200
    assert one.post("/sort/submit", data={"assignment": assignment.id}).status_code == 303
    before = sqlite_store.board_state(assignment.id)
    assert change("b", 1).status_code == one.get(address).status_code == 409
    assert one.post("/sort/move", data={"assignment": assignment.id, "items": 0, "group": ""}).status_code == 409
    assert sqlite_store.board_state(assignment.id) == before
