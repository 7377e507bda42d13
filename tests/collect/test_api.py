"""The API: what scripts can do, what it says of itself, and what it does with requests that nobody would send."""

import io
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies

from consilience.collect.worker import Worker

from .test_pictures import encoded

ITEMS = [{"name": name} for name in ["apple", "pear", "nut", "fig"]]


@pytest.fixture
def study(script):
    made = script.post("/api/v1/studies", json={"title": "Fruit", "items": ITEMS}).json()
    return script.post(f"/api/v1/studies/{made['id']}/open").json()


def participant(script, study, **sent):
    answer = script.post(f"/api/v1/studies/{study['id']}/participants", json=sent)
    assert answer.status_code == 201, answer.text
    return answer.json()


def subset(script, study, person):
    return script.post(f"/api/v1/studies/{study['id']}/participants/{person['id']}/subset").json()["subset"]


def answered(script, study, presented, groups):
    address = f"/api/v1/studies/{study['id']}/assignments/{presented['assignment']}/grouping"
    return script.put(address, json={"groups": groups})


# ---- a study, from its items to its consensus


def test_a_script_runs_a_study(script, study, sqlite_store):
    assert (study["status"], study["n_items"]) == ("open", 4)
    assert [item["name"] for item in script.get(f"/api/v1/studies/{study['id']}/items").json()] == [
        "apple",
        "pear",
        "nut",
        "fig",
    ]
    for _ in range(5):
        person = participant(script, study)
        presented = subset(script, study, person)
        assert {item["name"] for item in presented["items"]} == {"apple", "pear", "nut", "fig"}
        assert subset(script, study, person) == presented  # until it is answered
        groups = [{"name": "sweet", "items": ["apple", "pear"]}, {"items": ["nut", "fig"]}]
        assert answered(script, study, presented, groups).status_code == 200
        assert answered(script, study, presented, groups).status_code == 409
        assert subset(script, study, person) is None
    assert script.get(f"/api/v1/studies/{study['id']}/progress").json()["submitted"] == 5
    assert script.get(f"/api/v1/studies/{study['id']}/consensus").json() == {"consensus": None}
    Worker(sqlite_store).run()
    found = script.get(f"/api/v1/studies/{study['id']}/consensus").json()["consensus"]
    assert sorted(cluster["items"] for cluster in found["clusters"]) == [[0, 1], [2, 3]]
    rows = script.get(f"/api/v1/studies/{study['id']}/export", params={"format": "json"}).json()
    assert len(rows) == 20
    assert {row["group_name"] for row in rows} == {"sweet", None}
    closed = script.post(f"/api/v1/studies/{study['id']}/close").json()
    assert closed["status"] == "closed"
    assert script.post(f"/api/v1/studies/{study['id']}/participants", json={}).status_code == 409


def test_a_grouping_takes_the_place_of_what_is_on_the_board(script, study, visit, sqlite_store):
    person = participant(script, study)
    browser = visit()
    browser.get(person["link"].removeprefix("http://testserver"))
    presented = subset(script, study, person)
    browser.post("/sort/move", data={"assignment": presented["assignment"], "items": ["0", "1", "2"], "group": "new"})
    browser.post("/sort/name", data={"assignment": presented["assignment"], "group": "g1", "name": "old"})
    assert answered(script, study, presented, [{"items": ["apple", "fig"]}, {"name": "b", "items": ["nut"]}]).is_success
    groups = sqlite_store.assignment(presented["assignment"]).answer
    assert [(group["name"], sorted(group["items"])) for group in groups] == [("", [0, 3]), ("b", [2])]


def test_pictures_are_added_before_the_items_that_show_them(script):
    made = script.post("/api/v1/studies", json={"title": "Pictures", "items": ITEMS}).json()
    address = f"/api/v1/studies/{made['id']}"
    kept = script.post(f"{address}/pictures", content=encoded())
    assert (kept.status_code, kept.json()["width"]) == (201, 30)
    items = [{"name": "a", "picture": kept.json()["picture"], "alt": "grey"}, {"name": "b"}]
    assert [item["alt"] for item in script.put(f"{address}/items", json=items).json()] == ["grey", "b"]
    missing = [{"name": "a", "picture": "0" * 64}, {"name": "b"}]
    assert script.put(f"{address}/items", json=missing).status_code == 422
    for body in (b"", b"<script>", encoded("BMP"), b"x" * 10_000_001):
        assert script.post(f"{address}/pictures", content=body).status_code == 422
    assert script.post(f"{address}/pictures", content=b"x" * 12_000_001).status_code == 413


def test_a_closed_sort_gives_categories(script, sqlite_store):
    chosen = {"categories": ["sweet", "dry"], "strategy": "random", "stop_rule": "none"}
    sent = {"title": "Closed", "kind": "closed", "items": ITEMS, "settings": chosen}
    made = script.post("/api/v1/studies", json=sent).json()
    script.post(f"/api/v1/studies/{made['id']}/open")
    presented = subset(script, made, participant(script, made))
    assert answered(script, made, presented, [{"name": "wet", "items": ["apple"]}]).json() == {
        "error": "There is no category 'wet' in this study."
    }
    assert answered(
        script, made, presented, [{"name": "dry", "items": ["nut"]}, {"name": "sweet", "items": ["fig"]}]
    ).is_success
    assert sqlite_store.labels(made["id"]).n_items == 4


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "sentence"),
    [
        ("post", "/studies", {"title": "x", "items": ITEMS, "colour": 1}, 422, "colour"),
        ("post", "/studies", {"title": "x", "items": ITEMS[:1]}, 422, "items"),
        ("post", "/studies", {"title": "x", "items": ITEMS * 2}, 422, "the same name"),
        (
            "post",
            "/studies",
            {"title": "x", "items": ITEMS, "settings": {"strategy": "x"}},
            422,
            "strategy: Input",
        ),
        ("get", "/studies/unknown", None, 404, "There is no study"),
        ("get", "/studies/UNKNOWN", None, 422, "study"),
        ("post", "/studies/unknown/open", None, 404, "There is no study"),
        ("post", "/studies/{study}/participants/unknown/subset", None, 404, "There is no such participant"),
        ("put", "/studies/{study}/assignments/7/grouping", {"groups": [{"items": ["apple"]}]}, 404, "assignment"),
        ("get", "/studies/{study}/export?format=exe", None, 422, "format"),
        ("get", "/nothing", None, 404, "no such page"),
        ("delete", "/studies", None, 405, "kind"),
    ],
)
def test_errors_are_one_sentence(script, study, method, path, body, status, sentence):
    answer = script.request(method, "/api/v1" + path.format(study=study["id"]), json=body)
    assert answer.status_code == status
    assert list(answer.json()) == ["error"]
    assert sentence in answer.json()["error"]


def test_groups_that_do_not_fit_are_refused_before_anything_is_kept(script, study, sqlite_store):
    presented = subset(script, study, participant(script, study))
    for groups, sentence in [
        ([{"items": ["apple"]}, {"items": ["apple"]}], "sent twice"),
        ([{"items": ["kiwi"]}], "no item 'kiwi'"),
    ]:
        answer = answered(script, study, presented, groups)
        assert answer.status_code == 422
        assert sentence in answer.json()["error"]
    assert sqlite_store.board_state(presented["assignment"]).version == 0
    other = script.post("/api/v1/studies", json={"title": "Other", "items": ITEMS}).json()
    assert answered(script, other, presented, [{"items": ["apple"]}]).status_code == 404  # of another study


def test_a_grouping_that_cannot_be_submitted_leaves_the_board_as_it_is(script, visit, sqlite_store):
    sent = {"title": "Named", "items": ITEMS, "settings": {"all_sorted": "required", "group_names": "required"}}
    made = script.post("/api/v1/studies", json=sent).json()
    script.post(f"/api/v1/studies/{made['id']}/open")
    person = participant(script, made)
    browser = visit()
    browser.get(person["link"].removeprefix("http://testserver"))
    presented = subset(script, made, person)
    browser.post("/sort/move", data={"assignment": presented["assignment"], "items": ["0", "1"], "group": "new"})
    before = sqlite_store.board_state(presented["assignment"])
    whole = [item["name"] for item in ITEMS]
    for groups, sentence in [
        ([{"name": "a", "items": whole[:1]}], "3 cards are not in a group"),
        ([{"name": "a", "items": whole[:1]}, {"items": whole[1:]}], "1 group has no name yet"),
    ]:
        answer = answered(script, made, presented, groups)
        assert sentence in answer.json()["error"]
        assert sqlite_store.board_state(presented["assignment"]) == before
        assert sqlite_store.assignment(presented["assignment"]).state == "open"
    assert answered(script, made, presented, [{"name": "a", "items": whole}]).is_success


# ---- its description


def test_the_document_describes_every_route_and_error(script):
    document = script.get("/api/v1/openapi.json").json()
    assert len(document["paths"]) == 28
    for path, methods in document["paths"].items():
        assert path.startswith("/api/v1/")
        for described in methods.values():
            assert described["security"] == [{"HTTPBearer": []}]
            assert described["summary"]
            assert {"401", "413", "422", "429", "default"} <= set(described["responses"])
            problem = described["responses"]["422"]["content"]["application/json"]["schema"]["$ref"]
            assert problem.endswith("/Problem")
    assert not {"HTTPValidationError", "ValidationError"} & set(document["components"]["schemas"])


@pytest.mark.slow
def test_a_crowd_over_http_finds_the_clusters(script, sqlite_store):
    rng = np.random.default_rng(1)
    truth = {f"card {number}": number % 3 for number in range(18)}
    items = [{"name": name} for name in truth]
    settings = {"subset_size": 8, "stop_rule": "none"}  # the rule is that of another crowd, in `test_crowd`
    made = script.post("/api/v1/studies", json={"title": "Crowd", "items": items, "settings": settings}).json()
    script.post(f"/api/v1/studies/{made['id']}/open")
    worker = Worker(sqlite_store)
    for _ in range(14):
        while worker.work_once():
            pass
        presented = subset(script, made, participant(script, made))
        shown = [item["name"] for item in presented["items"]]
        piles = [[name for name in shown if truth[name] == pile] for pile in rng.permutation(3)]
        assert answered(script, made, presented, [{"items": pile} for pile in piles if pile]).is_success
    worker.run()
    found = script.get(f"/api/v1/studies/{made['id']}/consensus").json()["consensus"]
    assert {tuple(sorted(number % 3 for number in cluster["items"])) for cluster in found["clusters"]} == {
        (place,) * 6 for place in range(3)
    }
    table = io.StringIO(script.get(f"/api/v1/studies/{made['id']}/export").content.decode("utf-8-sig"))
    assert "informative" in table.read()


# ---- whatever is sent


def requests_by_schemathesis(script, study, n_requests):
    """Send what schemathesis makes of the document, right and wrong; hold every answer to the document.

    Parts of addresses are those of a study that exists in every second request, so that these lead somewhere.

    Returns
    -------
    dict
        How many requests had each status.
    """
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    held = [
        not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_schema_conformance,
    ]
    schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", script.app)
    operations = [found.ok() for found in schema.get_all_operations()]
    person = participant(script, study)["id"]
    known = {
        "study": study["id"],
        "participant": person,
        "assignment": subset(script, study, {"id": person})["assignment"],
    }
    headers = {"Authorization": script.headers["Authorization"]}
    statuses = Counter()
    for operation in operations:
        for mode in (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE):

            @settings(
                max_examples=max(1, n_requests // (2 * len(operations))),
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
                database=None,
                derandomize=True,
            )
            @given(case=operation.as_strategy(generation_mode=mode), leads_somewhere=strategies.booleans())
            def send(case, leads_somewhere):
                if leads_somewhere:
                    case.path_parameters = {name: known[name] for name in case.path_parameters or {}}
                answer = case.call(headers=headers)
                statuses[answer.status_code] += 1
                case.validate_response(answer, checks=held)

            send()
    return statuses


def test_no_request_leads_to_a_failure(script, study):
    statuses = requests_by_schemathesis(script, study, 280)
    assert sum(statuses.values()) >= 200
    assert {200, 201, 404, 422} <= set(statuses)


@pytest.mark.slow
def test_none_of_ten_thousand_requests_leads_to_a_failure(script, study):
    statuses = requests_by_schemathesis(script, study, 12_000)
    assert sum(statuses.values()) >= 10_000
    assert max(statuses) < 500


@pytest.mark.slow
def test_the_script_of_the_documentation_runs(address, sqlite_store):
    root = Path(__file__).parents[2]
    _, token = sqlite_store.create_token("crowd")
    command = [sys.executable, str(root / "docs" / "collect" / "crowd.py"), address]
    environment = os.environ | {"CONSILIENCE_TOKEN": token}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["1 3 5 7 9 11", "2 4 6 8 10 12"]
