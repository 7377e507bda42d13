"""What newcomers pass to fit in a notebook: 60 paintings sorted by 9 visitors, as a wide or a long frame."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from consilience import Groupings, Labels, read_annotations
from consilience.analysis.fitted import own_annotations
from consilience.annotations.files.odd_columns import unlike_names
from consilience.consensus import CSPA, DawidSkene, MajorityVote, MetaClustering, SubsetFusion
from consilience.errors import AnnotationError, AnnotationWarning, InputError
from consilience.persistence import load, save
from consilience.semisupervised import PartitionLabelModel
from tests.quick_cases import quick_in_turn

VISITORS = ["Anna", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ivo"]
PAINTINGS = [f"Painting {i}" for i in range(60)]
THINGS = np.array(["sky", "sea", "man", "dog", "oil"])
LONG_LINE = r"\.from_frame\(frame, item=…, annotator=…, {value}='{column}'\)"


def piles(visitor: int) -> np.ndarray:
    """Numbers of piles, which hardly differ between visitors."""
    rng = np.random.default_rng(visitor)
    return np.where(rng.random(60) < 0.15, rng.integers(5, size=60), np.arange(60) % 4)


@pytest.fixture
def numbered() -> pd.DataFrame:
    return pd.DataFrame({name: piles(i) for i, name in enumerate(VISITORS)}, index=PAINTINGS)


@pytest.fixture
def private() -> pd.DataFrame:
    """Piles with names that each visitor uses alone."""
    words = {name: np.char.add(f"{name.lower()} ", THINGS)[piles(i)] for i, name in enumerate(VISITORS)}
    return pd.DataFrame(words, index=PAINTINGS, dtype=object)


def long_of(wide: pd.DataFrame, value: str = "pile") -> pd.DataFrame:
    return wide.rename_axis("painting").reset_index().melt("painting", var_name="visitor", value_name=value)


# A long frame with unusual column names


@pytest.mark.parametrize(("kind", "value"), [(Groupings, "group"), (Labels, "label")])
@pytest.mark.parametrize("column", ["pile", "answer", "stack"])
def test_a_long_table_given_as_a_matrix_is_refused_with_the_call_that_reads_it(numbered, kind, value, column):
    with pytest.raises(AnnotationError, match=kind.__name__ + LONG_LINE.format(value=value, column=column)):
        kind.from_matrix(long_of(numbered, column))


@pytest.mark.parametrize(("model", "line"), [(CSPA(4), "Groupings"), (DawidSkene(), "Labels")])
@pytest.mark.parametrize("column", ["pile", "answer", "stack"])
def test_fit_shows_the_call_that_reads_a_long_frame(numbered, model, line, column):
    value = {"Groupings": "group", "Labels": "label"}[line]
    with pytest.raises(AnnotationError, match=line + LONG_LINE.format(value=value, column=column)) as refusal:
        model.fit(long_of(numbered, column).assign(age=np.repeat(np.arange(20, 29), 60)))
    assert str(refusal.value).count(".from_frame(") == 1  # and of no other kind


def test_the_suggested_call_reads_the_frame(numbered):
    with pytest.raises(AnnotationError) as refusal:
        SubsetFusion().fit(long_of(numbered).rename(columns={"painting": "item"}))
    line = str(refusal.value).partition("Name the column: ")[2].partition(". If")[0]
    said = eval(line, {"Groupings": Groupings, "frame": long_of(numbered).rename(columns={"painting": "item"})})
    assert said == Groupings.from_matrix(numbered)


@pytest.mark.parametrize(("kind", "value"), [(Groupings, "group"), (Labels, "label")])
def test_from_frame_suggests_the_columns(numbered, kind, value):
    with pytest.raises(AnnotationError, match=f"item=…, annotator=…, {value}='pile'"):
        kind.from_frame(long_of(numbered))


@pytest.mark.parametrize("called", ["painting", "visitor"])
def test_usual_column_names_are_trusted(numbered, called):
    word = {"painting": "item", "visitor": "annotator"}[called]
    frame = long_of(numbered).rename(columns={called: word})
    names = [word if name == called else name for name in ("painting", "visitor", "pile")]
    line = "Labels.from_frame(frame, item={!r}, annotator={!r}, label={!r})".format(*names)
    with pytest.raises(AnnotationError) as refusal:
        MajorityVote().fit(frame)
    assert line in str(refusal.value)


def test_few_rows_suffice_if_a_column_is_named_like_labels():
    frame = pd.DataFrame({"painting": [*"abcdef"] * 2, "visitor": [*"xxxxxxyyyyyy"], "pile": [1, 1, 2, 2, 3, 3] * 2})
    with pytest.raises(AnnotationError, match=r"item=…, annotator=…, group='pile'"):
        CSPA(2).fit(frame)


def test_a_recognised_long_table_is_not_a_matrix():
    frame = pd.DataFrame({"item": [*"abab"], "annotator": [*"xxyy"], "group": [1, 2, 1, 1]})
    with pytest.raises(
        AnnotationError, match=r"names of the columns are those of a long table: Groupings.from_frame\(frame\)"
    ):
        Groupings.from_matrix(frame)


def test_columns_of_named_annotators_are_not_checked(numbered):
    frame = long_of(numbered).assign(room="A")
    said = Groupings.from_matrix(frame, annotators=frame.columns)
    assert list(said.annotators) == ["painting", "visitor", "pile", "room"]


def test_long_frames_of_polars_are_not_matrices_either(numbered):
    polars = pytest.importorskip("polars")
    with pytest.raises(AnnotationError, match="Groupings" + LONG_LINE.format(value="group", column="pile")):
        Groupings.from_matrix(polars.DataFrame(long_of(numbered).to_dict("list")))


# A column next to the annotators


@pytest.mark.parametrize("names", [VISITORS, [f"visitor {i}" for i in range(9)], range(9)], ids=["names", "P", "range"])
def test_a_column_unlike_the_annotators_is_noted(numbered, names):
    rooms = np.where(np.arange(60) % 3, "A", "B")
    wide = numbered.set_axis(list(names), axis=1).assign(room=rooms)
    with pytest.warns(AnnotationWarning, match=r"'room' contains words.*read as an annotator.*ignore='room'"):
        said = Groupings.from_frame(wide.rename_axis("item"))
    with pytest.warns(AnnotationWarning, match=r"'room' contains words.*frame\.drop\(columns='room'\)"):
        assert Groupings.from_matrix(wide) == said
    with pytest.raises(AnnotationError, match=r"'room' contains words.*frame\.drop\(columns='room'\)"):
        CSPA(4).fit(wide)


def test_an_odd_column_of_text_is_noted_by_its_name(private):
    wide = private.assign(room=np.where(np.arange(60) % 3, "A", "B"))
    with pytest.warns(AnnotationWarning, match=r"'room' has a name unlike.*ignore='room'"):
        Groupings.from_frame(wide.rename_axis("item"))
    with pytest.warns(AnnotationWarning, match=r"'room' has a name unlike.*frame\.drop\(columns='room'\)"):
        CSPA(4).fit(wide)


def test_a_column_that_names_the_rows_is_not_silently_an_annotator(numbered):
    with pytest.warns(AnnotationWarning, match=r"'item' seems to name the rows.*frame\.set_index\('item'\)"):
        Groupings.from_matrix(numbered.rename_axis("item").reset_index())


@pytest.mark.parametrize(
    "names",
    [VISITORS, ["anna", "Ben", "cleo", "Dan", "eva"], ["P1", "P2", "room"], ["1", "2", "3", "x", "y"], [], range(9)],
)
def test_names_without_a_common_form_are_not_evidence(names):
    assert unlike_names(list(names)) == []


# Values that look like missing ones


@pytest.fixture(params=["frame", "matrix", "file"])
def read(request, tmp_path):
    """Read a wide table in three ways, each with a warning or an error."""

    def from_file(wide, kind, **options):
        wide.rename_axis("item").to_csv(tmp_path / "wide.csv")
        return read_annotations(tmp_path / "wide.csv", kind=kind.__name__.lower(), **options)

    return {
        "frame": lambda wide, kind, **options: kind.from_frame(wide.rename_axis("item"), **options),
        "matrix": lambda wide, kind, **options: kind.from_matrix(wide, **options),
        "file": from_file,
    }[request.param]


@pytest.mark.parametrize("kind", [Groupings, Labels])
@pytest.mark.parametrize("word", quick_in_turn(["not seen", "Not Seen", "-", "?", "unknown", "None"], 0))
@pytest.mark.parametrize("content", ["numbers", "words"])
def test_a_value_that_looks_missing_is_noted(numbered, read, kind, word, content):
    wide = numbered.astype(object) if content == "numbers" else numbered.map(lambda pile: THINGS[pile]).astype(object)
    wide.iloc[::7, 1] = word
    with pytest.warns(AnnotationWarning, match=rf"9 cells with .*{word.replace('?', '[?]')}.*missing='.*missing=\[\]"):
        kept = read(wide, kind)
    without = read(wide, kind, missing=word)
    assert (kept.n_rows, without.n_rows) == (540, 531)
    assert read(wide, kind, missing=[]) == kept


@pytest.mark.parametrize("word", ["nan", "NULL", "NA", "n/a"])
def test_words_for_missing_among_numbers_are_missing(numbered, read, word):
    wide = numbered.astype(object)
    wide.iloc[::7, 1] = word
    with pytest.warns(AnnotationWarning, match=rf"9 cells with '{word}' read as missing"):
        said = read(wide, Labels)
    assert said.n_rows == 531
    assert pd.api.types.is_integer_dtype(said.classes)
    assert word in list(read(wide, Labels, missing=[]).classes)


def test_n_a_among_words_is_ambiguous(private, read):
    private.iloc[::7, 1] = "n/a"
    with pytest.raises(
        AnnotationError, match=r"'n/a'.*can be read in two ways.*missing='n/a' if it is missing, missing=\[\]"
    ):
        read(private, Groupings)


def test_fit_notes_what_looks_missing_and_accepts_the_remedy(numbered):
    wide = numbered.astype(object)
    wide.iloc[:3] = "not seen"
    with pytest.warns(AnnotationWarning, match="27 cells with 'not seen' read as a group"):
        assert (CSPA(4).fit(wide).labels_ >= 0).all()
    model = CSPA(4).fit(wide, missing="not seen")
    assert (model.labels_[:3] == -1).all()


# Labels that are names of groups


def test_labels_that_nobody_shares_are_noted(private, tmp_path):
    long = long_of(private)
    line = r"Groupings\.from_frame\(frame, item='painting', annotator='visitor', group='pile'\)"
    with pytest.warns(AnnotationWarning, match=f"Annotators share hardly any labels: .*{line}"):
        Labels.from_frame(long, item="painting", annotator="visitor", label="pile")
    with pytest.warns(AnnotationWarning, match=r"Annotators share hardly any labels: .*Groupings\.from_matrix"):
        Labels.from_matrix(private)
    long.to_csv(tmp_path / "long.csv", index=False)
    with pytest.warns(AnnotationWarning, match=r"annotators share hardly any labels: .*kind='groupings'"):
        read_annotations(tmp_path / "long.csv", item="painting", annotator="visitor", label="pile", kind="labels")


def test_few_labels_of_many_classes_count_as_shared():
    rng = np.random.default_rng(0)
    true = rng.integers(1000, size=300)
    rows = [
        (item, worker, true[item] if rng.random() < 0.6 else rng.integers(1000))
        for item in range(300)
        for worker in rng.choice(12, 2, replace=False)
    ]
    assert Labels.from_frame(pd.DataFrame(rows, columns=["item", "worker", "label"])).n_rows == 600


def test_labels_of_two_annotators_who_never_agree_count_as_shared():
    assert Labels.from_matrix(pd.DataFrame({"Ann": ["yes"] * 10, "Bo": ["no"] * 10})).n_classes == 2


def test_models_of_labels_name_those_of_groupings(private):
    with pytest.raises(AnnotationError, match=r"seems to contain groups.*are for SubsetFusion, .*Labels\.from_matrix"):
        DawidSkene().fit(private)
    with pytest.raises(InputError, match=r"Got Groupings.*are for SubsetFusion, "):
        DawidSkene().fit(Groupings.from_matrix(private))


def test_a_transposed_frame_is_detected(private):
    shared = private.where(np.tile(np.arange(60)[:, None] % 4 != 0, 9), "sky")  # that every visitor uses
    for frame in (private, shared):
        with pytest.raises(AnnotationError, match=r"frame\.T"):
            SubsetFusion(random_state=0).fit(frame.T)


# Functions that take frames


def test_read_annotations_reads_frames(numbered):
    assert read_annotations(numbered.rename_axis("item")) == Groupings.from_matrix(numbered)
    labels = pd.DataFrame({"task": [1, 1, 2], "worker": [*"uvu"], "label": [0, 1, 1]})
    assert read_annotations(labels) == Labels.from_frame(labels)
    with pytest.warns(AnnotationWarning, match=r"^1 exact duplicate of a label"):
        read_annotations(pd.concat([labels, labels[:1]]))


@pytest.mark.parametrize("given", [[[1, 2], [1, 1]], np.zeros((3, 2)), {1, 2}, None, 7])
def test_read_annotations_says_what_it_reads(given):
    with pytest.raises(InputError, match=rf"path of a file, or a DataFrame. Got {type(given).__name__}"):
        read_annotations(given)


def test_frames_have_no_encoding(numbered):
    with pytest.raises(AnnotationError, match=r"^encoding is for files"):
        read_annotations(numbered.rename_axis("item"), encoding="utf-8")


# Items without annotations


@pytest.mark.parametrize(
    "model", [CSPA(4), MetaClustering(4), SubsetFusion(4, random_state=0)], ids=lambda m: str(m)[:4]
)
def test_notes_name_the_items_in_no_grouping(numbered, model):
    wide = numbered.astype(object)
    wide.iloc[[3, 5, 8, 13, 21, 34, 55]] = None
    shown = "'Painting 3', 'Painting 5', 'Painting 8', 'Painting 13', 'Painting 21', …"
    wanted = f"7 of 60 items are in no grouping; they belong to no cluster (label -1): {shown}."
    assert wanted in model.fit(Groupings.from_matrix(wide)).notes_
    one = Groupings.from_matrix(wide.drop(PAINTINGS[4:35]).drop(PAINTINGS[55]))
    assert any(note.endswith("it belongs to no cluster (label -1): 'Painting 3'.") for note in model.fit(one).notes_)


@pytest.mark.parametrize("missing", [7, [7], ["7"]])
@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (CSPA(4), Groupings),
        (DawidSkene(), Labels),
        (PartitionLabelModel(n_clusters=4, prior_variance=1.0, n_init=1, random_state=0), Groupings),
    ],
    ids=["consensus", "labels", "features"],
)
def test_a_report_reads_an_array_as_the_fit_did(numbered, model, kind, missing, tmp_path):
    array = numbered.to_numpy().copy()
    array[::5, 2] = 7
    model = clone(model)
    model.fit(*((None, array) if isinstance(model, PartitionLabelModel) else (array,)), missing=missing)
    said = own_annotations(model, array)
    assert said.n_rows == kind.from_matrix(array, missing=missing).n_rows == 528
    save(model, tmp_path / "model.zip")
    for again in (pickle.loads(pickle.dumps(model)), load(tmp_path / "model.zip")):
        assert own_annotations(again, array) == said
    model.fit(*((None, array) if isinstance(model, PartitionLabelModel) else (array,)))
    assert own_annotations(model, array).n_rows == 540


def test_python_messages_contain_no_command_line_options(numbered, private):
    """What is refused or noted above never mentions the command line."""
    wide = numbered.astype(object)
    wide.iloc[::7, 1] = "?"
    tried = [
        lambda: read_annotations(numbered.reset_index(drop=True)),
        lambda: Groupings.from_frame(long_of(private)),
        lambda: DawidSkene().fit(long_of(numbered)),
        lambda: CSPA(4).fit(numbered.assign(room="A")),
        lambda: Groupings.from_matrix(wide),
        lambda: Labels.from_frame(private.rename_axis("item")),
        lambda: SubsetFusion().fit(private.T),
        lambda: Groupings.from_frame(pd.DataFrame({"item": [*"aa"], "annotator": [*"xx"], "group": [1, 2]})),
    ]
    for attempt in tried:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                attempt()
                said = ""
            except AnnotationError as error:
                said = str(error)
        texts = [said, *(str(warning.message) for warning in caught)]
        assert any(texts)
        assert not any("--" in text for text in texts)


def transposed():
    columns = {"Ann": [1, 1, 2, 2, 3], "Bo": [1, 1, 2, 2, 2], "Cy": [2, 2, 1, 1, 3], "Di": [1, 2, 3, 3, 3]}
    return pd.DataFrame(columns, index=pd.Index(list("abcde"), name="cheese")).T


@pytest.mark.parametrize(
    "read",
    [
        SubsetFusion(n_clusters=2).fit,
        Groupings.from_matrix,
        lambda frame: PartitionLabelModel(2, prior_variance=1.0, n_init=1).fit(None, frame),
    ],
    ids=["fit", "from_matrix", "fit with features"],
)
def test_a_transposed_frame_causes_a_warning(read):
    with pytest.warns(AnnotationWarning, match=r"looks transposed: its columns are called 'cheese'.*give frame\.T"):
        read(transposed())
    with warnings.catch_warnings():
        warnings.simplefilter("error", AnnotationWarning)
        read(transposed().T)
        read(transposed().T.rename_axis(columns="taster"))  # as returned by pivot


def test_a_column_of_fractions_is_not_read_as_labels():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        [
            (f"song {i}", f"ear {j}", rng.choice(["wren", "tit"]), rng.exponential())
            for i in range(20)
            for j in range(8)
        ],
        columns=["recording", "who", "species", "seconds"],
    )
    with pytest.raises(AnnotationError, match=r"item=…, annotator=…, label='species'\)"):
        DawidSkene().fit(frame)


def test_lazy_frames_are_refused_with_the_remedy():
    pl = pytest.importorskip("polars")
    with pytest.raises(AnnotationError, match=r"Got LazyFrame instead; give frame\.collect\(\)"):
        Labels.from_frame(pl.LazyFrame({"item": ["a"], "annotator": ["b"], "label": ["c"]}))
