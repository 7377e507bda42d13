"""Pages of participants in fifteen languages: whole catalogues, what a browser asks for, and what went wrong."""

import json
import re
from html import unescape
from pathlib import Path

import pytest

import consilience.collect
from consilience.collect.settings.languages import LANGUAGES, catalogue_for, choose_language
from consilience.collect.settings.model import StudySettings
from consilience.collect.settings.panel import Panel, Question
from consilience.collect.settings.sentences import OF_QUESTIONS, SINGULARS, TEXTS
from consilience.collect.settings.texts import KEPT
from consilience.collect.wording import checks
from consilience.collect.wording.catalogues import EXACT, is_machine_made, read_catalogue, translation_of
from consilience.collect.wording.checks import find_problems
from consilience.collect.wording.wording import Wording
from consilience.errors import InputError

from .collecting import begun, joined

FOLDER = Path(consilience.collect.__file__).parent
TRANSLATED = [code for code in LANGUAGES if code != "en"]
CARDS = ["a", "b", "c", "d"]


def come(visit, study, accepted=""):
    browser = visit(headers={"Accept-Language": accepted})
    browser.get(f"/join/{study.join_token}")
    return browser


def heading(page):
    return unescape(re.search(r"<h1[^>]*>(.*?)</h1>", page, re.S)[1])


# ---- catalogues


@pytest.mark.parametrize("code", TRANSLATED)
def test_a_catalogue_says_everything_with_the_words_in_braces(code):
    assert find_problems(code) == []
    assert (
        is_machine_made(code) is True
    )  # until a native speaker has read it, and deletes this line with that of the file


def test_what_is_wrong_with_a_catalogue_is_told(monkeypatch):
    catalogue = read_catalogue("pl")
    start, progress, few = (catalogue.get(TEXTS[key], context=key) for key in ("start", "progress", "undo"))
    start.string, progress.string, few.string = "", "Zestaw {number}", "Cofnij {"
    moved = next(message for message in catalogue if message.context == "moved_many")
    moved.string = moved.string[:2]
    catalogue.delete(TEXTS["redo"], context="redo")
    catalogue.add("Gone", "Nie ma", context="gone")
    monkeypatch.setattr(checks, "read_catalogue", lambda code: catalogue)
    found = "\n".join(find_problems("pl"))
    for sentence in (
        "'gone' is no text",
        "'start' is not translated",
        "'progress' needs the words in braces of 'Set {number} of {total}'. Got 'Zestaw {number}'.",
        "'undo' cannot be filled in",
        "'redo' is not there",
        "'moved_many' needs 3 texts. Got 2.",
    ):
        assert sentence in found


def test_no_sentence_of_a_page_stands_outside_the_catalogues():
    """Neither between tags, nor in an attribute that is read, nor in a script."""
    for path in (FOLDER / "templates" / "participant").glob("*.j2"):
        source = path.read_text(encoding="utf-8").replace(' class="board-page {{ study.board }}"', "")
        source = re.sub(r"\{#.*?#\}|\{\{.*?\}\}|\{%.*?%\}", "", source, flags=re.S)
        read = re.findall(r'(?:aria-label|title|alt|placeholder)="([^"]*)"', source)
        assert not re.search("[A-Za-z]{2}", " ".join([*read, re.sub(r"<[^>]*>", " ", source)])), path.name
    for path in (FOLDER / "static" / "board").glob("*.js"):
        source = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(encoding="utf-8"), flags=re.S)
        assert not re.findall(r'["`][A-Z][a-z]+ [a-z]+[^"`]*["`]', source), path.name


@pytest.mark.parametrize(
    ("code", "numbers"),
    [
        ("en", {0: 1, 1: 0, 2: 1}),
        ("fr", {0: 0, 1: 0, 2: 2}),
        ("ru", {1: 0, 2: 1, 5: 2, 21: 0, 111: 2}),
        ("ar", {0: 0, 1: 1, 2: 2, 3: 3, 11: 4, 100: 5, 103: 3}),
        ("ja", {1: 0, 2: 0}),
    ],
)
def test_plural_forms_are_those_of_the_language(code, numbers):
    said = translation_of(code)
    assert {number: said.form(number) for number in numbers} == numbers


def test_scripts_tell_plurals_by_the_last_two_digits():
    """`textFor` in texts.js looks up `forms`: it must agree for all numbers of cards that there can be."""
    for code in LANGUAGES:
        said = translation_of(code)
        looked_up = [said.forms[number if number < EXACT else 100 + number % 100] for number in range(5001)]
        assert looked_up == [said.form(number) for number in range(5001)]


def test_numbers_are_written_as_the_language_does():
    assert Wording("de").fill("answer_least_number", least=1234.5) == (
        "Bitte geben Sie eine Zahl ein, die nicht kleiner ist als 1.234,5."
    )
    assert Wording("ar").fill("card", number=12) == "البطاقة 12"  # the digits of the keys on the board
    assert Wording("ru").fill("moved_many", count=22, group="A", left=3).startswith("22 карточки теперь")
    assert Wording("ja").join(["A", "B", "C"]) == "A、B、C"


def test_one_own_sentence_stands_for_all_numbers():
    wording = Wording("ru", {"how_few": "Не меньше: {count}"})
    assert wording.fill("how_few", count=2) == "Не меньше: 2"
    assert isinstance(wording.for_scripts()["how_few"], str)
    assert len(wording.for_scripts()["moved_many"]) == 3


# ---- which language


@pytest.mark.parametrize(
    ("accepted", "chosen"),
    [
        ("", "en"),
        ("de", "de"),
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("da, pt-PT;q=0.4, ar;q=0.5", "ar"),
        ("PT-br", "pt-BR"),
        ("en;q=0.1, de;q=0", "en"),
        ("*", "en"),
        ("de;q=x, ar;q=-1, ;;,=", "en"),
        ("x" * 100_000 + ",de", "en"),
        ("\x00<script>", "en"),
    ],
)
def test_a_browser_gets_the_language_that_it_likes_best(accepted, chosen):
    assert choose_language(accepted, ("en", "de", "pt-BR", "ar")) == chosen


@pytest.mark.parametrize(("tag", "code"), [("zh-Hans-CN", "zh"), ("zh-Hant", "en"), ("DE", "de"), ("tlh", "en")])
def test_a_tag_has_the_catalogue_of_its_language(tag, code):
    assert catalogue_for(tag) == code


def test_a_study_of_today_stays_english_without_a_menu(visit, sqlite_store):
    study = begun(sqlite_store, CARDS)
    page = come(visit, study, "de").get("/sort").text
    assert '<html lang="en" dir="ltr">' in page
    assert "Start</button>" in page
    assert "/sort/language" not in page


def test_the_browser_picks_and_the_participant_changes(visit, sqlite_store):
    study = begun(sqlite_store, CARDS, languages=("de", "ar"), instructions="Sort them.")
    browser = come(visit, study, "de-CH,en;q=0.5")
    page = browser.get("/sort").text
    assert '<html lang="de" dir="ltr">' in page
    assert '<div class="instructions" dir="auto" lang="en">\n<p>Sort them.</p>' in page  # as it was written
    assert "<summary>Sprache: Deutsch</summary>" in page
    assert re.findall(r'name="language" value="(\w+)"', page) == ["en", "de", "ar"]
    browser.post("/sort/begin")
    assert browser.post("/sort/language", data={"language": "ar"}).headers["location"] == "/sort"
    page = browser.get("/sort").text
    assert '<html lang="ar" dir="rtl">' in page
    assert page.count('<span class="card-text" dir="auto" lang="en">') == len(CARDS)
    assert "لم تُصنَّف بعد" in page
    refused = browser.post("/sort/language", data={"language": "fr"})
    assert (refused.status_code, heading(refused.text)) == (422, "تعذّر قبول هذا")
    come(visit, study, "fr")
    frame = sqlite_store.participants_frame(study.id)
    assert frame["language"].tolist() == ["ar", "en"]


def test_a_language_that_was_taken_away_gives_way_to_one_that_is_there(visit, sqlite_store):
    study = begun(sqlite_store, CARDS, languages=("de",))
    browser = come(visit, study, "de")
    sqlite_store.update_study(study.id, settings=StudySettings(language="fr"))
    assert '<html lang="fr"' in browser.get("/sort").text
    assert sqlite_store.participants(study.id)[0].language == "de"  # in which they began


def test_a_personal_link_keeps_the_language_of_the_first_browser(visit, sqlite_store):
    study = begun(sqlite_store, CARDS, languages=("tr",))
    person, token = sqlite_store.new_participant(study.id)
    assert person.language is None
    for accepted in ("tr", "en"):
        browser = visit(headers={"Accept-Language": accepted})
        browser.get(f"/join/{token}")
        assert '<html lang="tr"' in browser.get("/sort").text


def test_only_a_language_of_the_study_is_kept(store):
    study = begun(store, CARDS, languages=("de",))
    person = joined(store, study)
    store.set_language(person.id, "de")
    assert store.participant(person.id).language == "de"
    with pytest.raises(InputError, match=r"^The study is in en, de\. Got 'fr'\.$"):
        store.set_language(person.id, "fr")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"languages": ("xx",)}, "There are no pages in the language 'xx'; there are en, de,"),
        ({"languages": ("<b>",)}, "There are no pages in the language '<b>'"),
        ({"texts_in": {"xx": {}}}, "There are no pages in the language 'xx'"),
        ({"translations": {"xx": {"a": "b"}}}, "There are no pages in the language 'xx'"),
        ({"translations": {"de": {"a": "b" * 60_000}}}, "The translation of 'a' has 60,000 characters"),
        ({"texts_in": {"de": {"start": "Los {x}"}}}, "words in braces of the text 'start' must be none"),
    ],
)
def test_wrong_languages_are_refused(sqlite_store, settings, sentence):
    with pytest.raises(InputError, match=re.escape(sentence)):
        begun(sqlite_store, CARDS, **settings)


def test_the_direction_is_that_of_the_language_unless_the_study_sets_it():
    assert StudySettings(language="ar").direction_in("ar") == "rtl"
    assert StudySettings(language="ar", direction="ltr", languages=("de",)).direction_in("ar") == "ltr"
    assert StudySettings(direction="ltr", languages=("ar",)).direction_in("ar") == "rtl"


# ---- what a participant reads


def test_questions_and_consent_in_the_language(visit, sqlite_store):
    asked = (Question("age", "Alter?", "number", least=18), Question("why", "Warum?", least=5))
    study = begun(sqlite_store, CARDS, language="de", panel=Panel(consent="Gut?", keep_days=1, before=asked))
    browser = come(visit, study)
    page = browser.get("/sort").text
    assert heading(page) == "Bevor Sie beginnen"
    assert "wird nach 1 Tag gelöscht" in page
    version = re.search(r'name="version" value="(\w+)"', page)[1]
    browser.post("/sort/consent", data={"decision": "agree", "agreed": "yes", "version": version})
    answer = browser.post("/sort/questions", data={"moment": "before", "answer-age": "١٧٫٥", "answer-why": "so"})
    assert "nicht kleiner ist als 18." in answer.text  # and seventeen and a half was read
    assert "mindestens 5 Zeichen" in answer.text


def test_what_is_missing_without_scripts_is_said_in_the_language(visit, sqlite_store):
    study = begun(
        sqlite_store, CARDS, languages=("de",), least_in_group=2, group_names="required", required_cards=("d",)
    )
    browser = come(visit, study, "de")
    browser.post("/sort/begin")
    given = sqlite_store.assignments(study.id)[0]
    sent = {"assignment": given.id, "confirmed": "yes"}

    def hand_in():
        return unescape(browser.post("/sort/submit", data=sent).text)

    assert "Bitte legen Sie mindestens eine Karte in eine Gruppe." in hand_in()
    browser.post("/sort/move", data={"assignment": given.id, "items": ["0"], "group": "new"})
    assert "Gruppen ohne Namen: Gruppe 1." in hand_in()
    browser.post("/sort/name", data={"assignment": given.id, "group": "g1", "name": "Eins"})
    assert "mindestens 2. Weniger sind in: Eins." in hand_in()
    browser.post("/sort/move", data={"assignment": given.id, "items": ["1"], "group": "g1"})
    assert "Bitte sortieren Sie auch diese Karten: d." in hand_in()
    assert "Noch nicht sortierte Karten: 2." in unescape(
        browser.post("/sort/submit", data=sent | {"confirmed": ""}).text
    )


def test_errors_are_in_the_language_of_whoever_reads_them(visit, sqlite_store):
    stranger = visit(headers={"Accept-Language": "ja,en;q=0.5"})
    answer = stranger.get("/join/nowhere")
    assert (answer.status_code, heading(answer.text)) == (404, "このリンクは使えません")
    study = begun(sqlite_store, CARDS, languages=("de",), texts_in={"de": {"no_page_text": "Nichts da."}})
    browser = come(visit, study, "de")
    answer = browser.get("/sort/nowhere")
    assert (answer.status_code, heading(answer.text)) == (404, "Diese Seite gibt es nicht")
    assert "Nichts da." in answer.text
    browser.post("/sort/begin")
    given = sqlite_store.assignments(study.id)[0]
    change = {"assignment": given.id, "client": "tab", "changes": [{"sequence": 1, "kind": "move", "items": [99]}]}
    refused = browser.post("/sort/changes", json=change)
    assert (refused.status_code, refused.json()["error"]) == (422, Wording("de")["not_taken_text"])
    wrong = browser.post("/sort/move", data={"items": ["0"]})
    assert (wrong.status_code, heading(wrong.text)) == (422, "Das konnte nicht angenommen werden")


def test_a_failure_is_told_in_the_language_and_with_its_number(visit, sqlite_store, monkeypatch):
    study = begun(sqlite_store, CARDS, languages=("ko",))
    browser = come(visit, study, "ko")
    monkeypatch.setattr(type(sqlite_store), "participant_by_token", lambda *_: 1 / 0)
    answer = browser.get("/sort")
    assert (answer.status_code, heading(answer.text)) == (500, "문제가 생겼습니다")
    assert re.search("[0-9a-f]{8}", answer.text)


# ---- what researchers see


def test_texts_are_replaced_in_each_language_and_the_rest_folds(admin, visit, sqlite_store):
    study = begun(sqlite_store, CARDS, languages=("de",))
    place = f"/admin/studies/{study.id}/texts"
    page = admin.get(place).text
    assert "None of these sentences is your own." in page
    assert page.count("<details") == 14
    assert set(re.findall(r'name="text-(\w+)"', page)) == set(TEXTS) - OF_QUESTIONS
    german = admin.get(f"{place}?language=de").text
    assert "made by a machine and not yet read by a native speaker" in german
    assert ">Starten</label>" in german
    assert admin.post(place, data={"language": "de", "text-start": "Los"}).status_code == 303
    assert admin.post(place, data={"language": "en", "text-start": "Go"}).status_code == 303
    settings = sqlite_store.study(study.id).settings
    assert (settings.texts, settings.texts_in) == ({"start": "Go"}, {"de": {"start": "Los"}})
    german = admin.get(f"{place}?language=de").text
    assert german.index("What you changed") < german.index('value="Los"') < german.index("<details")
    assert "Los</button>" in come(visit, study, "de").get("/sort").text
    assert "Go</button>" in come(visit, study, "en").get("/sort").text
    assert admin.get(f"{place}?language=fr").status_code == 404


def test_it_is_said_that_own_sentences_do_not_follow_the_language(admin, sqlite_store):
    study = sqlite_store.create_study("Food", CARDS, settings=StudySettings(languages=("de",)))
    place = f"/admin/studies/{study.id}"

    def said_after(address, data=None):
        return KEPT in admin.get(admin.post(f"{place}{address}", data=data).headers["location"]).text

    french = {"title": "Food", "kind": "open", "board": "piles", "language": "fr"}
    assert not said_after("/copy")
    assert not said_after("/texts", {"language": "de", "text-start": "Los"})
    assert said_after("/texts", {"language": "en", "text-start": "Go"})
    assert said_after("/copy")
    assert not said_after("/settings", french | {"language": "en"})
    assert said_after("/settings", french)
    assert sqlite_store.study(study.id).settings.texts == {"start": "Go"}


def test_the_form_and_the_api_set_languages_and_say_what_a_machine_made(admin, script, sqlite_store):
    page = admin.get("/admin/new").text
    assert page.count("made by a machine, not yet read by a native speaker") == len(TRANSLATED)
    sent = {"title": "Menu", "items": "Soup\nStew", "kind": "open", "board": "piles", "languages": "de, ar"}
    answer = admin.post("/admin/new", data=sent)
    assert answer.status_code == 303, answer.text
    study = sqlite_store.study(answer.headers["location"].rpartition("/")[2])
    assert study.settings.offered == ("en", "de", "ar")
    assert "There are no pages in the language" in admin.post("/admin/new", data=sent | {"languages": "klingon"}).text
    settings = study.settings.as_json() | {"languages": ["hi"], "texts_in": {"hi": {"start": "चलें"}}}
    answer = script.put(f"/api/v1/studies/{study.id}/settings", json=settings)
    assert answer.json()["settings"]["languages"] == ["hi"], answer.text
    assert sqlite_store.study(study.id).settings.texts_for("hi") == {"start": "चलें"}


def test_what_the_study_says_is_translated_too(admin, visit, sqlite_store):
    asked = (Question("diet", "What do you eat?", "choice", required=True, options=("Meat", "Plants")),)
    panel = Panel(consent="Do you *agree*?", before=asked)
    settings = {"categories": ("Mains", "Sweets"), "descriptions": ("Mains = Warm",), "instructions": "Sort the menu."}
    study = begun(sqlite_store, ["Soup", "Ice"], kind="closed", languages=("de",), panel=panel, **settings)
    place = f"/admin/studies/{study.id}/texts"
    assert "You wrote:" not in admin.get(place).text
    page = admin.get(f"{place}?language=de").text
    fields = {unescape(text): name for name, text in re.findall(r'<label for="(own-\w+)"[^>]*>(.*?)</label>', page)}
    said = {
        **{"A study": "Eine Studie", "Sort the menu.": "Ordnen Sie die <b>Karte</b>.", "Do you *agree*?": "*Ja*?"},
        **{"What do you eat?": "Was essen Sie?", "Meat": "Fleisch", "Plants": "Pflanzen", "Mains": "Hauptgänge"},
        **{"Sweets": "", "Warm": "Heiß", "Soup": "Suppe", "Ice": "Eis"},
    }
    assert fields.keys() == said.keys()
    sent = {fields[text]: translated for text, translated in said.items()}
    assert admin.post(place, data={"language": "de", **sent}).status_code == 303
    assert "10 of 11" not in (again := admin.get(f"{place}?language=de").text)
    assert 'value="Suppe"' in again
    browser = come(visit, study, "de")
    page = browser.get("/sort").text
    assert "<title>Bevor Sie beginnen – Eine Studie</title>" in page
    assert "<em>Ja</em>?" in page
    version = re.search(r'name="version" value="(\w+)"', page)[1]
    browser.post("/sort/consent", data={"decision": "agree", "agreed": "yes", "version": version})
    page = browser.get("/sort").text
    assert "<bdi>Was essen Sie?</bdi>" in page
    assert re.search(r'value="Meat"> <label for="\S+"><bdi>Fleisch</bdi>', page)
    browser.post("/sort/questions", data={"moment": "before", "answer-diet": "Meat"})
    page = browser.get("/sort").text
    assert "Ordnen Sie die &lt;b&gt;Karte&lt;/b&gt;." in page
    assert "<dt><bdi>Hauptgänge</bdi></dt><dd><bdi>Heiß</bdi></dd>" in page
    browser.post("/sort/begin")
    page = browser.get("/sort").text
    data = json.loads(re.search(r'id="board-data">(.*?)</script>', page, re.S)[1])
    assert data["called"] == {"c1": "Hauptgänge", "c2": "Sweets"}
    assert sorted((card["text"], card["language"]) for card in data["cards"]) == [("Eis", ""), ("Suppe", "")]
    given = sqlite_store.assignments(study.id)[0]
    browser.post("/sort/move", data={"assignment": given.id, "items": ["0", "1"], "group": "c1"})
    browser.post("/sort/submit", data={"assignment": given.id})
    assert sqlite_store.answers(given.participant) == {"diet": "Meat"}  # the data are those of the first language
    assert sqlite_store.assignment(given.id).answer[0]["name"] == "Mains"


def test_singulars_have_the_words_of_their_plurals():
    for key, (number, one) in SINGULARS.items():
        assert f"{{{number}}}" in TEXTS[key]
        assert set(re.findall(r"\{\w+\}", one)) == set(re.findall(r"\{\w+\}", TEXTS[key]))


def test_texts_of_another_language_have_the_english_beside_them(admin, sqlite_store):
    study = begun(sqlite_store, language="es", languages=("en",))
    address = f"/admin/studies/{study.id}/texts"
    assert '<p class="hint" id="text-start-hint">Start</p>' in admin.get(address).text
    assert "text-start-hint" not in admin.get(f"{address}?language=en").text
