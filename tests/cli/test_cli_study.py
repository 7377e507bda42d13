"""``consilience study``: studies in the database that ``consilience serve`` serves."""

import json

import pandas as pd
import pytest

pytest.importorskip("sqlalchemy", reason="Needs consilience[collect]")
pytest.importorskip("alembic", reason="Needs consilience[collect]")
pytest.importorskip("PIL", reason="Needs consilience[collect]")

from consilience import read_annotations
from consilience.collect.settings.model import StudySettings
from consilience.collect.store import Store
from consilience.collect.worker import Worker
from tests.collect.collecting import takes_part

CARDS = "text,name\nAn apple,apple\nA pear,pear\nA nut,nut\nA bean,bean\n"


@pytest.fixture
def cards(tmp_path):
    (tmp_path / "cards.csv").write_text(CARDS)
    return tmp_path / "cards.csv"


@pytest.fixture
def created(run, cards):
    """Make a study and return its id."""

    def call(*options):
        result = run("study", "create", "cards.csv", "--title", "Fruit", *options, "--json")
        return json.loads(result.stdout)["id"]

    return call


@pytest.fixture
def store(created, tmp_path):
    """The store that the commands use; the study must be made before."""
    stores = []

    def call():
        stores.append(Store.open(f"sqlite:///{tmp_path}/consilience.db"))
        return stores[-1]

    yield call
    for one in stores:
        one.close()


def test_a_study_is_made_with_its_settings(run, cards, tmp_path, store):
    (tmp_path / "how.md").write_text("Sort **all**.")
    (tmp_path / "texts.json").write_text('{"start": "Los"}')
    result = run(
        *("study", "create", "cards.csv", "--title", "Obst", "--kind", "hybrid", "--board", "sheet"),
        *("--category", "Fruit", "--size", 2, "--per-participant", 2, "--groupings", 30, "--max-per-item", 9),
        *("--strategy", "explore", "--random-share", 0.3, "--repeat-share", 0.1, "--stop-rule", "none"),
        *("--group-names", "required", "--unsorted", "forbid", "--instructions", "how.md", "--texts", "texts.json"),
        *("--language", "de", "--direction", "ltr", "--parameter", "PROLIFIC_PID", "--open", "--json"),
    )
    found = json.loads(result.stdout)
    assert (found["title"], found["kind"], found["board"], found["status"]) == ("Obst", "hybrid", "sheet", "open")
    study = store().study(found["id"])
    assert (
        study.settings.as_json()
        == found["settings"]
        == StudySettings().as_json()
        | {
            **{"instructions": "Sort **all**.", "language": "de", "direction": "ltr", "texts": {"start": "Los"}},
            **{"categories": ["Fruit"], "group_names": "required", "all_sorted": "required", "subset_size": 2},
            **{"groupings_wanted": 30, "per_participant": 2, "max_per_item": 9, "strategy": "explore"},
            **{"random_share": 0.3, "repeat_share": 0.1, "stop_rule": "none", "parameters": ["PROLIFIC_PID"]},
        }
    )
    assert [(item.name, item.text) for item in store().items(study.id)][:2] == [
        ("apple", "An apple"),
        ("pear", "A pear"),
    ]
    assert found["join"] == f"/join/{study.join_token}"


def test_a_study_in_several_languages(run, fails, created, store, tmp_path):
    file = tmp_path / "said.json"
    file.write_text('{"de": {"texts": {"start": "Los"}, "study": {"Fruit": "Obst"}}, "ar": {"study": {}}}')
    number = created("--also-in", "de", "--also-in", "ar", "--translations", "said.json")
    settings = store().study(number).settings
    assert settings.offered == ("en", "de", "ar")
    assert (settings.texts_in, settings.translations) == ({"de": {"start": "Los"}}, {"de": {"Fruit": "Obst"}})

    def wrong(said, *options):
        file.write_text(said)
        return fails("study", "create", "cards.csv", "--title", "x", "--translations", "said.json", *options)

    assert wrong("[]") == "said.json must hold a JSON object: 'texts' and 'study' by language."
    assert wrong('{"de": {"x": {}}}') == "said.json must hold 'texts', 'study', or both for 'de'."
    assert wrong('{"de": {"study": {"a": 1}}}') == "said.json must hold an object of texts as 'study' of 'de'."
    assert "There is no text 'strat'" in wrong('{"de": {"texts": {"strat": "Los"}}}')
    assert "There are no pages in the language 'xx'" in wrong("{}", "--also-in", "xx")


def test_a_closed_sort_has_random_subsets(run, created, store):
    number = created("--kind", "closed", "--category", "Sweet", "--category", "Salty", "--size", 2)
    settings = store().study(number).settings
    assert (settings.strategy, settings.stop_rule) == ("random", "none")


def test_pictures_are_cards(run, tmp_path, store):
    from PIL import Image

    (tmp_path / "digits").mkdir()
    for number in range(3):
        Image.new("RGB", (4, 4), (number, 0, 0)).save(tmp_path / "digits" / f"digit {number}.png")
    result = run("study", "create", "--images", "digits", "--title", "Digits", "--json")
    items = store().items(json.loads(result.stdout)["id"])
    assert [item.name for item in items] == ["digit 0", "digit 1", "digit 2"]
    assert len({item.picture for item in items}) == 3


def test_a_database_without_studies_and_none(run, fails, store, tmp_path):
    assert fails("study", "list") == f"There is no database {tmp_path / 'consilience.db'}."
    store()
    assert run("study", "list").stdout == "There are no studies yet; make one with 'consilience study create'.\n"


def test_from_a_draft_to_an_export(run, created, store, tmp_path):
    number = created()
    assert run("study", "list").stdout == f"{number}  draft   open    4 cards, 0 sorts  Fruit\n"
    assert run("study", "open", number).stdout.splitlines()[0] == "The study 'Fruit' is open."
    opened = store()
    study = opened.study(number)
    for seed in range(5):
        takes_part(opened, study, seed, rule=lambda item: item // 2)
    (tmp_path / "pilot.csv").write_text("item,annotator,group\napple,Ann,1\npear,Ann,1\nnut,Ann,2\nbean,Ann,2\n")
    assert run("study", "import", number, "pilot.csv").stdout == "1 grouping taken into the study 'Fruit'.\n"
    Worker(opened).run()
    said = run("study", "show", number).stdout.splitlines()
    assert said[1] == "open, open sort of 4 cards, 4 at a time"
    assert said[4:6] == [
        "sorts         5 submitted, 0 in progress, 1 imported",
        "consensus     2 clusters from 6 sorts",
    ]
    assert said[6].startswith("advice        stop: Reliability is 1.000")
    found = json.loads(run("study", "list", "--json").stdout)
    assert [(one["id"], one["submitted"], one["imported"]) for one in found] == [(number, 5, 1)]
    for name in ("out.csv", "out.parquet", "out.json"):
        run("study", "export", number, "--out", name)
    table, parquet = pd.read_csv(tmp_path / "out.csv"), pd.read_parquet(tmp_path / "out.parquet")
    assert len(table) == len(parquet) == len(json.loads((tmp_path / "out.json").read_text())) == 24
    assert parquet["item"].tolist() == table["item"].tolist()
    assert read_annotations(tmp_path / "out.csv").n_groupings == 6
    run("study", "export", number, "--table", "participants", "--no-identifiers", "--out", "people.csv")
    people = pd.read_csv(tmp_path / "people.csv")
    assert people["sorts"].tolist() == [1] * 6
    assert "Ann" not in people["annotator"].tolist()
    assert run("study", "close", number).stdout == "The study 'Fruit' is closed.\n"


def test_a_study_is_copied_and_goes_through_a_file(run, fails, created, store, tmp_path):
    study = created("--open")
    takes_part(store(), store().study(study))
    copied = json.loads(run("study", "copy", study, "--title", "Again", "--json").stdout)
    assert (copied["title"], copied["status"], copied["submitted"]) == ("Again", "draft", 0)
    run("study", "pack", study, "--out", "fruit.zip")
    taken = json.loads(run("study", "unpack", "fruit.zip", "--json").stdout)
    assert (taken["title"], taken["submitted"]) == ("Fruit", 0)
    assert store().items(taken["id"]) == store().items(copied["id"]) == store().items(study)
    assert "no study that was saved" in fails("study", "unpack", "cards.csv")
    assert "cannot be read" in fails("study", "unpack", "nowhere.zip")


def test_what_is_wrong_is_said_in_one_sentence(run, fails, created, tmp_path):
    number = created()
    assert fails("study", "create", "--title", "x") == (
        "Give a file of cards, a folder of pictures with --images, or both."
    )
    assert fails("study", "show", "nothing") == "There is no study 'nothing'."
    assert fails("study", "close", number) == "The study is a draft and was never open."
    assert fails("study", "export", number, "--out", "out.doc") == (
        "The file name must end in .csv, .parquet, .json, .html. Got 'out.doc'."
    )
    assert fails("study", "list", "--db", "mysql://host") == (
        "The database must be SQLite or PostgreSQL. Got an address that begins with 'mysql'."
    )
    (tmp_path / "texts.json").write_text('{"start": }')
    assert fails("study", "create", "cards.csv", "--title", "x", "--texts", "texts.json").startswith(
        "texts.json is not JSON: line 1, column 11"
    )
    (tmp_path / "texts.json").write_text('{"strat": "Los"}')
    assert "There is no text 'strat'" in fails("study", "create", "cards.csv", "--title", "x", "--texts", "texts.json")
    (tmp_path / "pilot.csv").write_text("item,annotator,group\nzebra,Ann,1\napple,Ann,1\n")
    assert fails("study", "import", number, "pilot.csv") == "The item 'zebra' is not in the study 'Fruit'."
    assert len(json.loads(run("study", "list", "--json").stdout)) == 1
    (tmp_path / "empty").mkdir()
    assert fails("study", "create", "--images", "empty", "--title", "x").startswith("empty holds no picture")


def test_the_panel_is_set_from_a_file(run, fails, created, store, tmp_path):
    number = created("--parameter", "PID")
    question = {"name": "age", "text": "Age?", "kind": "number"}
    values = {"consent": "Do you agree?", "before": [question], "endings": {"complete": {"code": "C1"}}}
    (tmp_path / "panel.json").write_text(json.dumps(values | {"identified_by": "PID"}))
    said = run("study", "panel", number, "panel.json").stdout
    assert said == "A consent page, 1 question and 1 ending in the study 'Fruit'.\n"
    settings = store().study(number).settings
    assert (settings.panel.before[0].name, settings.panel.endings["complete"].code) == ("age", "C1")
    assert settings.parameters == ("PID",)
    for text, start in [
        ("{", "panel.json: This is no JSON: "),
        ("[]", "'panel' must be an object."),
        ('{"consents": ""}', "'panel' has no setting 'consents'; there are consent, "),
        ('{"identified_by": "SID"}', "People are known again by 'SID', which must be one of the stored"),
    ]:
        (tmp_path / "panel.json").write_text(text)
        assert fails("study", "panel", number, "panel.json").startswith(start)
    (tmp_path / "panel.json").write_text("{}")
    assert run("study", "panel", number, "panel.json").stdout.startswith("No consent page, 0 questions and 0 endings")


def test_cards_that_look_the_same_are_said_and_taken(run, tmp_path):
    (tmp_path / "twins.csv").write_text("Pear\nApple\npear\n")
    result = run("study", "create", "twins.csv", "--title", "Fruit", "--json")
    assert "Cards that look the same: 'Pear' and 'pear'." in result.stderr
    assert json.loads(result.stdout)["n_items"] == 3


PRACTICE = "name,group\nowl,Birds\nrobin,Birds\ntrout,Fish\n"


def test_practice_and_admission_are_files_of_groups(created, store, tmp_path):
    for name in ("practice.csv", "test.csv", "more.csv"):
        (tmp_path / name).write_text(PRACTICE)
    sorts = ("--practice", "practice.csv", "--admission", "test.csv", "--admission", "more.csv")
    number = created(*sorts, "--pass-mark", 0.8, "--tries", 3)
    training = store().study(number).settings.training
    assert [(card.name, card.group) for card in training.practice.cards] == [
        *(("owl", "Birds"), ("robin", "Birds"), ("trout", "Fish"))
    ]
    assert [sort.sizes for sort in training.admission] == [(2, 1), (2, 1)]
    assert (training.mark, training.tries) == (0.8, 3)


def test_a_wrong_practice_or_admission_is_said_in_one_sentence(fails, cards, tmp_path):
    path = tmp_path / "practice.csv"
    path.write_text("name\nowl\n")
    make = ("study", "create", "cards.csv", "--title", "Fruit")
    assert fails(*make, "--practice", "practice.csv").startswith("practice.csv: The first line must name the columns")
    path.write_text("name,group\nowl,Birds\ntrout,Fish\n")
    assert fails(*make, "--admission", "practice.csv") == "Admission sort 1 must have from 3 to 60 cards. Got 2."
    assert fails(*make, "--tries", 3).startswith("--pass-mark and --tries are about the admission")


@pytest.mark.parametrize(
    ("kind", "options", "table", "n_rows"),
    [
        (
            "labels",
            ("--category", "Fruit", "--category", "Other"),
            "item,annotator,label\napple,Ann,Fruit\nnut,Ann,Other\n",
            2,
        ),
        ("pairs", (), "item_a,item_b,annotator,same\napple,pear,Ann,1\nnut,pear,Ann,0\n", 2),
    ],
)
def test_people_are_asked_one_question_after_the_other(run, created, store, tmp_path, kind, options, table, n_rows):
    made = created("--kind", kind, *options, "--open")
    assert store().study(made).board == "questions"
    (tmp_path / "before.csv").write_text(table)
    assert run("study", "import", made, "before.csv").stdout.startswith("1 grouping taken in")
    shown = run("study", "show", made).stdout
    assert f"open, {kind} of 4 cards, {4 if kind == 'labels' else 6} questions at a time" in shown
    assert "sets          0 submitted" in shown
    assert "1 sets" in run("study", "list").stdout
    run("study", "export", made, "--out", "answers.csv")
    read = read_annotations(tmp_path / "answers.csv")
    assert (type(read).__name__.lower(), read.n_rows) == (kind, n_rows)
    assert "categories" in json.loads(run("study", "show", made, "--json").stdout)["settings"]
