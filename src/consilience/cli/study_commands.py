"""``consilience study``: its commands, their options and help; the work is in `consilience.cli.studies`.

Nothing here imports a database.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from consilience.cli.option_types import FILE, SOURCE, Real, WholeNumber
from consilience.cli.options import Function, example, json_option, reading_options
from consilience.cli.program import Program, show_help
from consilience.cli.serving_command import DATABASE
from consilience.collect.settings import kinds
from consilience.collect.settings.model import OF_JUDGES, OF_SORTS, StudySettings
from consilience.collect.settings.training import Training

ADMISSION = {
    name: replace(kind, unset=str(getattr(Training, name)))
    for name, kind in kinds.declared_in(Training).items()
    if name != "gold_share"
}

db_option = click.option(
    "--db",
    metavar="URL",
    default=DATABASE,
    show_default=True,
    envvar="CONSILIENCE_DB",
    help="Database of the studies, as for 'consilience serve'.",
)
texts_option = click.option(
    "--texts", type=FILE, metavar="FILE", help="JSON object of sentences that people read, by their keys."
)
translations_option = click.option(
    "--translations",
    type=FILE,
    metavar="FILE",
    help="JSON object: by language of --also-in, 'texts' as for --texts, and 'study': what the study says (title, "
    "instructions, questions, cards) by what was written.",
)


@click.group(
    cls=Program,
    short_help="Make studies for 'consilience serve', open and close them, bring groupings in and out.",
    epilog=example(
        "consilience study create cards.csv --title Fruit --open",
        "consilience study list",
        "consilience study export k7m2pq4xzr --out fruit.csv",
    ),
)
def study() -> None:
    """Make studies in which people sort cards, open and close them, and export what they sorted.

    'consilience serve' shows the same studies in the browser, also while these commands run.
    """
    show_help()


def setting_options(
    settings: Mapping[str, kinds.Setting], defaults: Mapping[str, Any]
) -> Callable[[Function], Function]:
    """Return a decorator that adds the option of each setting; one that is not among the defaults may be left unset."""

    def add(function: Function) -> Function:
        for name, kind in reversed(list(settings.items())):
            function = _option(name, kind, defaults.get(name))(function)
        return function

    return add


def _option(name: str, kind: kinds.Setting, default: Any) -> Callable[[Any], Any]:
    more: dict[str, Any] = {}
    unset, about = kind.unset, kind.help
    match kind:
        case kinds.Whole():
            more = {"type": WholeNumber(kind.least, kind.most)}
        case kinds.Number():
            more = {"type": Real(kind.least, kind.most)}
        case kinds.Choice():
            more = {"type": click.Choice(list(kind.words))}
            default = next((word for word, kept in kind.kept.items() if kept == default), None)
            if kind.only and default is not None:
                others = ", ".join(f"{value} where --kind is {of}" for of, value in kind.only.items())
                unset, default = f"{default}; {others}", None
        case kinds.Names():
            more = {"multiple": True, "metavar": "NAME"}
            about = f"{about.removesuffix('.')}; repeat for each."
        case kinds.Text() if kind.rows > 1:
            more, default = {"type": FILE, "metavar": "FILE"}, None
    if unset:
        about += f"  [default: {unset}]"
    if default not in (None, ()):
        more |= {"default": default, "show_default": True}
    return click.option(f"--{kind.option or name.replace('_', '-')}", name, help=about, **more)


@study.command(
    short_help="Make a study from a list of cards, from pictures, or from both.",
    epilog=example(
        "consilience study create cards.csv --title Fruit --instructions fruit.md --open",
        "consilience study create --images digits --title Digits --size 36 --per-participant 3 --board sheet",
        "consilience study create cards.csv --title Menu --kind closed --category Starters --category Mains",
        "consilience study create cards.csv --title Fruit --practice first.csv --admission test.csv --pass-mark 0.8",
        "consilience study create cards.csv --title Tone --kind labels --category Kind --category Rude",
    ),
)
@click.argument("cards", type=FILE, required=False)
@click.option(
    "--images",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder of pictures, which CARDS names; without CARDS each is a card.",
)
@click.option("--title", required=True, help="Title of the study.")
@setting_options(OF_SORTS, {"kind": "open", "board": "piles"} | vars(StudySettings()))
@texts_option
@translations_option
@click.option(
    "--practice",
    type=FILE,
    metavar="FILE",
    help="Cards of the practice: a table as CARDS, with a column 'group' for where each belongs.",
)
@click.option(
    "--admission",
    type=FILE,
    multiple=True,
    metavar="FILE",
    help="Cards of an admission sort, as for --practice; repeat for each sort.",
)
@setting_options(ADMISSION, {})
@click.option("--open", "opened", is_flag=True, help="Open the study at once.")
@db_option
@json_option
def create(
    cards: Path | None, images: Path | None, title: str, opened: bool, db: str, as_json: bool, **settings: Any
) -> None:
    """Make a study of the CARDS of a file: one on each line, or a table with the columns text, name, picture,
    alt and description.

    The study is a draft that can be previewed in the browser, until it is opened. In the tables of practice and
    admission, a name that is one of CARDS is that card; other names are cards that occur nowhere else.
    """
    from consilience.cli.studies import create as run

    training = {name: settings.pop(name) for name in ("practice", "admission", *ADMISSION)}
    run(cards, images=images, title=title, settings=settings, training=training, opened=opened, db=db, as_json=as_json)


@study.command(
    short_help="Let people who did not sort judge clusters.",
    epilog=example(
        "consilience study judge k7m2pq4xzr --open",
        "consilience study judge --clusters clusters.csv --title Fruit --per-participant 16 --answers 20",
    ),
)
@click.argument("study_id", metavar="[STUDY]", required=False)
@click.option(
    "--clusters",
    type=FILE,
    metavar="FILE",
    help="Table of cards with a column 'cluster', such as 'consilience fit' writes, in place of a study.",
)
@click.option(
    "--images",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder of the pictures that the table names.",
)
@click.option("--title", help="Title, which judges see.  [default: that of STUDY]")
@click.option("--questions", "n_questions", type=WholeNumber(1, 1000), help="Questions.  [default: 8 for each cluster]")
@setting_options(OF_JUDGES, {})
@texts_option
@translations_option
@click.option("--open", "opened", is_flag=True, help="Open the study at once.")
@db_option
@json_option
def judge(
    study_id: str | None, clusters: Path | None, images: Path | None, opened: bool, db: str, as_json: bool, **given: Any
) -> None:
    """Make a study in which people judge the clusters that were found last in STUDY, or those of a table.

    Each question shows four cards, three of one cluster and one of another: which does not belong? Whoever sorted in
    STUDY is not asked, if both studies know people again by the same parameter. 'study show' tells how often people
    were right.
    """
    from consilience.cli.judging import judge as run

    run(study_id, clusters, images=images, given=given, opened=opened, db=db, as_json=as_json)


@study.command("list", short_help="List all studies.", epilog=example("consilience study list --json"))
@db_option
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def list_(db: str, as_json: bool) -> None:
    """List all studies, the newest first: id, status, kind, cards, groupings and title."""
    from consilience.cli.studies import list_all as run

    run(db=db, as_json=as_json)


@study.command(short_help="Show how far a study is.", epilog=example("consilience study show k7m2pq4xzr --json"))
@click.argument("study_id", metavar="STUDY")
@db_option
@json_option
def show(study_id: str, db: str, as_json: bool) -> None:
    """Show the link to STUDY, how many people took part, and the consensus as far as it was found while serving."""
    from consilience.cli.studies import show as run

    run(study_id, db=db, as_json=as_json)


@study.command("open", short_help="Let people join a study.", epilog=example("consilience study open k7m2pq4xzr"))
@click.argument("study_id", metavar="STUDY")
@db_option
def open_(study_id: str, db: str) -> None:
    """Let people join STUDY, for the first time or again."""
    from consilience.cli.studies import change_status as run

    run(study_id, "open", db=db)


@study.command(short_help="Close a study.", epilog=example("consilience study close k7m2pq4xzr"))
@click.argument("study_id", metavar="STUDY")
@db_option
def close(study_id: str, db: str) -> None:
    """Give nobody a subset of STUDY any more; sorts in progress can still be submitted."""
    from consilience.cli.studies import change_status as run

    run(study_id, "close", db=db)


@study.command(
    short_help="Set consent, questions and codes of a study from a file.",
    epilog=example("consilience study panel k7m2pq4xzr panel.json"),
)
@click.argument("study_id", metavar="STUDY")
@click.argument("panel", type=FILE, metavar="FILE")
@db_option
def panel(study_id: str, panel: Path, db: str) -> None:
    """Replace what STUDY asks of people from a panel by the JSON object of FILE.

    Its keys are consent, before, after, endings, identified_by, returning, minutes, keep_days and required_parameters;
    those that are missing get their defaults. An empty object, {}, takes all of it away.
    """
    from consilience.cli.studies import set_panel as run

    run(study_id, panel, db=db)


@study.command(
    short_help="Make a draft like a study, without its people.",
    epilog=example("consilience study copy k7m2pq4xzr --title Fruit"),
)
@click.argument("study_id", metavar="STUDY")
@click.option("--title", default="", help="Title of the copy.  [default: that of the study and (2)]")
@json_option
@db_option
def copy(study_id: str, title: str, as_json: bool, db: str) -> None:
    """Make a draft with the cards, pictures, settings, texts and questions of STUDY, and nobody in it."""
    from consilience.cli.studies import copy as run

    run(study_id, title, db=db, as_json=as_json)


@study.command(
    short_help="Save a study, without its people, as a file.",
    epilog=example("consilience study pack k7m2pq4xzr --out fruit.zip"),
)
@click.argument("study_id", metavar="STUDY")
@click.option("-o", "--out", type=FILE, metavar="FILE", required=True, help="ZIP file to write.")
@db_option
def pack(study_id: str, out: Path, db: str) -> None:
    """Write the cards, pictures, settings, texts and questions of STUDY to a file for 'consilience study unpack'."""
    from consilience.cli.studies import pack as run

    run(study_id, out, db=db)


@study.command(
    short_help="Make a draft of a study that was saved as a file.", epilog=example("consilience study unpack fruit.zip")
)
@click.argument("file", type=FILE, metavar="FILE")
@json_option
@db_option
def unpack(file: Path, as_json: bool, db: str) -> None:
    """Make a draft of FILE, which 'consilience study pack' or the page of a study wrote, here or on another server."""
    from consilience.cli.studies import unpack as run

    run(file, db=db, as_json=as_json)


@study.command(
    "import",
    short_help="Take in groupings that were collected elsewhere.",
    epilog=example("consilience study import k7m2pq4xzr pilot.csv"),
)
@click.argument("study_id", metavar="STUDY")
@click.argument("annotations", type=SOURCE)
@reading_options
@db_option
def import_(study_id: str, annotations: Path, reading: dict[str, Any], db: str) -> None:
    """Take the groupings of ANNOTATIONS, in any format that 'fit' reads, into STUDY; its items must be cards of it.

    A closed sort and a study of labels take labels: give --kind labels for a wide table. A study of pairs takes pairs.
    """
    from consilience.cli.studies import bring_in as run

    run(study_id, annotations, reading=reading, db=db)


@study.command(
    short_help="Write what was sorted, or the report on it, to a file.",
    epilog=example(
        "consilience study export k7m2pq4xzr --out fruit.csv",
        "consilience study export k7m2pq4xzr --table participants --no-identifiers --out people.csv",
        "consilience study export k7m2pq4xzr --out report.html",
    ),
)
@click.argument("study_id", metavar="STUDY")
@click.option("-o", "--out", type=FILE, metavar="FILE", required=True, help="CSV, Parquet, JSON or HTML file to write.")
@click.option(
    "--table",
    type=click.Choice(["sorts", "participants", "answers", "moves", "log"]),
    help="A row for each card presented, each person, each answer to a question, or each card moved.  "
    "[default: sorts, or answers]",
)
@click.option("--no-identifiers", is_flag=True, help="Leave out names and stored parameters of people.")
@db_option
def export(study_id: str, out: Path, table: str | None, no_identifiers: bool, db: str) -> None:
    """Write the long table of what was sorted in STUDY, a row for each card presented; or, as HTML, the report.

    The table has the columns item, annotator, grouping, group, group_name, source (why the person got this subset),
    assigned, started, submitted, seconds (from the first change to the submission), preview, excluded, text, and one
    for each stored parameter. 'consilience fit' reads it. That of participants tells when they came and consented, how
    they did in practice and admission, how they ended and which code they were shown, how many seconds each sort took,
    and what they answered to questions. Where people are asked for labels or about pairs, the table of answers has the
    columns item, annotator and label, or item_a, item_b, annotator and same, and set, place, source, answered, seconds,
    preview and excluded. Of a judging study, it has the columns question, annotator, answer, item_1 to item_4, odd,
    cluster, odd_cluster, place, shown, asked, answered, seconds, preview and excluded.
    """
    from consilience.cli.studies import export as run

    run(study_id, out, table=table, identifiers=not no_identifiers, db=db)
