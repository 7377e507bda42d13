"""The values in the cells of a table: which mean missing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from consilience.annotations.files.vocabulary import normal, plural
from consilience.annotations.keywords import spell
from consilience.annotations.names import Coded, Where, plain, without
from consilience.errors import AnnotationError

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE)
NEVER_AN_ANSWER = {"nan", "<na>", "#n/a", "null", "<null>", "nat", "\\n"}  # \\N is how MySQL and Hive write it
ERROR_OF_SHEET = re.compile(r"#[^\W\d_a-zß-ÿ]\S{0,12}[!?]|#¡\S{1,12}[!?]|#N/?[AVD]\b/?|#DIV/0!|#Н/Д")
PERHAPS_AN_ANSWER = {"na", "n/a", "n.a."}
MARKS = {"-", "--", "---", "–", "—", "?", "??", "???", ".", "..", "…", "...", "/", "//", "*", "**", "***", "_", "~"}
MARKS |= {"✗", "×"}
ABSTENTIONS = {  # answers by which people say that they give none, in the languages of the vocabulary
    *("unsure", "not sure", "i'm not sure", "im not sure", "uncertain", "undecided", "unclear", "abstain", "abstained"),
    *("abstention", "don't know", "dont know", "do not know", "i don't know", "i dont know", "i do not know", "idk"),
    *("dk", "can't tell", "cant tell", "cannot tell", "can not tell", "can't say", "cant say", "cannot say", "pass"),
    *("can't decide", "cant decide", "cannot decide", "no idea", "no opinion", "skip", "skipped", "prefer not to say"),
    *(
        "hard to say",
        "hard to tell",
        "not certain",
        "unknown to me",
        "don't know / unsure",
        "can't judge",
        "cannot judge",
    ),
    *("weiß nicht", "weiss nicht", "weiß ich nicht", "ich weiß nicht", "unsicher", "unklar", "enthaltung", "kann ich"),
    *("nicht sicher", "keine ahnung", "keine meinung", "kann nicht sagen", "überspringen", "übersprungen"),
    *(
        "ne sait pas",
        "je ne sais pas",
        "sais pas",
        "nsp",
        "pas sûr",
        "pas sûre",
        "incertain",
        "sans avis",
        "sans opinion",
    ),
    *("abstention", "passer", "indécis"),
    *("no sé", "no se", "no sabe", "no lo sé", "ns/nc", "ns nc", "no estoy seguro", "no estoy segura", "sin opinión"),
    *("abstención", "omitir", "saltar", "no está claro"),
    *("non so", "non lo so", "non saprei", "incerto", "incerta", "non sono sicuro", "astensione", "salta", "astenuto"),
    *("não sei", "nao sei", "não sabe", "não tenho certeza", "pular", "abstenção", "incerto"),
    *("weet niet", "weet ik niet", "weet het niet", "onzeker", "geen mening", "overslaan", "niet zeker"),
    *("nie wiem", "nie jestem pewien", "nie jestem pewna", "trudno powiedzieć", "pomiń", "niepewny"),
    *("bilmiyorum", "emin değilim", "kararsız", "fikrim yok", "atla"),
    *("не знаю", "не уверен", "не уверена", "затрудняюсь ответить", "пропустить", "воздержался"),
    *(
        "不知道",
        "不确定",
        "不清楚",
        "跳过",
        "弃权",
        "不確定",
        "跳過",
        "わからない",
        "分からない",
        "不明",
        "スキップ",
        "どちらともいえない",
    ),
    *(
        "모름",
        "모르겠음",
        "모르겠다",
        "잘 모르겠음",
        "건너뛰기",
        "기권",
        "पता नहीं",
        "नहीं पता",
        "मालूम नहीं",
        "لا أعرف",
        "لا أدري",
        "غير متأكد",
    ),
}
LIKE_MISSING = {
    *("not seen", "unseen", "not shown", "not presented", "not answered", "unanswered", "no answer", "no response"),
    *("not applicable", "not available", "not rated", "not judged", "not labelled", "not labeled", "not annotated"),
    *("unlabelled", "unlabeled", "not assigned", "unassigned", "missing", "missing value", "none", "blank", "empty"),
    *("no data", "no value", "no label", "no group", "undefined", "unknown", "left out", "left blank", "nil", "n s"),
    *("not stated", "not specified", "n d", "no category", "no pile", "without group", "not placed", "not used"),
    *("k a", "keine angabe", "keine antwort", "fehlt", "fehlend", "entfällt", "ohne antwort", "nicht gesehen"),
    *("sans réponse", "sans objet", "s o", "s r", "non vu", "non renseigné", "manquant", "aucun", "aucune", "néant"),
    *("sin respuesta", "no visto", "sin dato", "sin datos", "s d", "ninguno", "ninguna", "no aplica", "falta"),
    *("nessuna risposta", "non visto", "nessuno", "nessuna", "mancante", "n p"),
    *(
        "sem resposta",
        "nenhum",
        "nenhuma",
        "não se aplica",
        "geen antwoord",
        "geen",
        "n v t",
        "brak",
        "brak odpowiedzi",
    ),
    *("brak danych", "nie dotyczy", "yok", "cevap yok", "boş", "нет ответа", "нет данных", "пусто", "н д"),
    *(
        "无",
        "無",
        "空",
        "未回答",
        "无回答",
        "缺失",
        "なし",
        "無回答",
        "該当なし",
        "欠損",
        "없음",
        "무응답",
        "해당 없음",
        "कोई नहीं",
    ),
    *("उत्तर नहीं", "لا يوجد", "لا إجابة"),
    *ABSTENTIONS,
}
ABSTENTIONS, LIKE_MISSING = ({normal(word) for word in words} for words in (ABSTENTIONS, LIKE_MISSING))
MOST_SHOWN = 3
FEWEST_WORDS = 4  # least number of names of several letters beside which x alone is a mark
CODES_OF_MISSING = {77, 88, 97, 98, 99, 777, 888, 998, 999, 9999, -8, -9, -77, -88, -99, -999}
MOST_NUMBERED = 30  # most groups that a person numbers
UNSORTED = {
    *("unsorted", "not sorted", "uncategorized", "uncategorised", "ungrouped", "unclassified", "not categorized"),
    *("not categorised", "not grouped", "unplaced", "cards not sorted", "unsorted cards", "unsorted items"),
    *("nicht sortiert", "unsortiert", "nicht zugeordnet", "nicht einsortiert", "non trié", "non triée", "non triés"),
    *("non classé", "non classée", "non classés", "sin clasificar", "sin ordenar", "no clasificado", "no clasificada"),
    *("sin agrupar", "non ordinato", "non classificato", "non classificata", "não classificado", "não ordenado"),
    *("niet gesorteerd", "ongesorteerd", "nieposortowane", "niesklasyfikowane", "sınıflandırılmamış", "sıralanmamış"),
    *("не отсортировано", "не распределено", "без группы", "未分类", "未分類", "未分组", "미분류", "分類なし"),
    *("अवर्गीकृत", "غير مصنف"),
}
UNSORTED = {normal(word) for word in UNSORTED}


@dataclass(frozen=True)
class Filled:
    """A column of values in which missing values are marked as such.

    notes : what was read as missing, counted.
    """

    column: Coded
    notes: tuple[str, ...] = ()


def number_of_cells(column: Coded, names: np.ndarray) -> int:
    """Count the cells that contain one of some names, given by a truth value for each name."""
    return int(column.tally()[names].sum())


def is_number(name: Any) -> bool:
    """Whether a name is a number, or text that is one."""
    if isinstance(name, str):
        return NUMBER.fullmatch(name.strip()) is not None
    return isinstance(name, int | float | np.number) and not isinstance(name, bool | np.bool_)


def spells_missing(name: Any) -> bool:
    """Whether a cell of text spells a missing value, or may do so."""
    return isinstance(name, str) and (
        name.strip().casefold() in NEVER_AN_ANSWER | PERHAPS_AN_ANSWER or is_error_of_sheet(name)
    )


def is_error_of_sheet(name: Any) -> bool:
    """Whether a cell contains what spreadsheets show instead of a value, such as #REF! or #N/A."""
    return isinstance(name, str) and name[:1] == "#" and ERROR_OF_SHEET.fullmatch(name.strip()) is not None


def abstains(name: Any) -> bool:
    """Whether a label says that the annotator gives none, such as "don't know"."""
    return isinstance(name, str) and normal(name).replace("’", "'").strip("?!…' ") in ABSTENTIONS


def says_unsorted(name: Any) -> bool:
    """Whether the name of a group says that its items were not sorted."""
    return isinstance(name, str) and normal(name).strip("*!:' ") in UNSORTED


def given_as_missing(column: Coded, missing: Sequence[Any]) -> Coded:
    """Mark as missing what the caller says is."""
    wanted = {str(value).strip() for value in missing if str(value).strip()}
    wanted |= {value.removesuffix(".0") for value in wanted}
    held = [plain(name) for name in column.names]
    unwanted = [str(name).strip() in wanted or str(name).strip().removesuffix(".0") in wanted for name in held]
    return without(column, np.array(unwanted, dtype=bool))


def require_plain(column: Coded, what: str, where: Where) -> None:
    """Raise an AnnotationError if labels are JSON, from which the answer must be extracted."""
    is_json = np.array([str(name).lstrip().startswith('{"') for name in column.names], dtype=bool)
    if len(is_json) and is_json.mean() > 0.5:
        row = int(np.argmax(column.codes == int(np.argmax(is_json))))
        raise AnnotationError(
            f"The {what} in {where(row)} is JSON, {str(column.name(row))[:40]!r}…; write its answer to a separate "
            "column."
        )


def spelled_missing(column: Coded, what: str, where: Where) -> Filled:
    """Mark as missing the cells that spell it: errors of spreadsheets, NaN and null anywhere, NA among numbers.

    Raises AnnotationError: NA occurs among text, where it may be an answer.
    """
    words = [name.strip().casefold() if isinstance(name, str) else "" for name in column.names]
    never = np.array(
        [short in NEVER_AN_ANSWER or is_error_of_sheet(name) for short, name in zip(words, column.names)], dtype=bool
    )
    perhaps = np.array([name in PERHAPS_AN_ANSWER for name in words], dtype=bool)
    if not (never.any() or perhaps.any()):
        return Filled(column)
    others = column.names[~(never | perhaps)]
    if perhaps.any() and not all(is_number(name) for name in others):
        name = column.names[int(np.argmax(perhaps))]
        row = int(np.argmax(column.codes == int(np.argmax(perhaps))))
        raise AnnotationError(
            f"The {what} {name!r} in {where(row)} can be read in two ways: as a name, or as missing. Choose one: "
            f"{spell(missing=name)} if it is missing, {spell(missing=[])} if it is a name."
        )
    unwanted = never | perhaps
    shown = ", ".join(map(repr, column.names[unwanted][:3]))
    count = number_of_cells(column, unwanted)
    return Filled(without(column, unwanted), (f"{quantify(count, 'cell')} with {shown} read as missing",))


def without_abstentions(column: Coded, what: str, declared: Sequence[Any] = ()) -> Filled:
    """Mark as missing labels such as "don't know", which say that the annotator gives none.

    declared : sequence of names; declared classes, which are no abstentions.
    """
    known = {fold_name(name) for name in declared}
    held = np.array([abstains(name) and fold_name(name) not in known for name in column.names], dtype=bool)
    if not held.any() or held.all():
        return Filled(column)
    count = number_of_cells(column, held)
    shown = ", ".join(map(repr, column.names[held][:MOST_SHOWN]))
    note = f"{quantify(count, 'cell')} with {shown} read as missing ({spell(missing=[])} if a {what} is meant)"
    return Filled(without(column, held), (note,))


def fold_name(name: Any) -> str:
    """Return a name in the form that names share which differ only in case, spaces or form of letters."""
    text = str(plain(name))
    return " ".join((text if text.isascii() else unicodedata.normalize("NFKC", text)).casefold().split())


def minus_one(column: Coded, what: str, where: Where) -> Filled:
    """Mark -1 among integers as missing, as scikit-learn and Snorkel do, if it is the only negative one.

    Raises AnnotationError: the only other value is 1, with or without 0: -1 may then be an answer.
    """
    names = column.names
    if not pd.api.types.is_integer_dtype(names) or not (names == -1).any() or (names < -1).any():
        return Filled(column)
    others = set(names[names >= 0].tolist())
    is_it = np.asarray(names == -1)
    count = number_of_cells(column, is_it)
    if 1 in others and others <= {0, 1}:
        row = int(np.argmax(column.codes == int(np.argmax(is_it))))
        beside = "1" if others == {1} else "0 and 1"
        raise AnnotationError(
            f"The {what} -1 in {where(row)} can be read in two ways with {beside}: as an answer, or as missing. Choose "
            f"one: {spell(missing=-1)} if it is missing, {spell(missing=[])} if it is an answer."
        )
    note = f"{quantify(count, 'cell')} with -1 read as missing ({spell(missing=[])} if -1 is a {what})"
    return Filled(without(column, is_it), (note,))


def code_of_missing(names: pd.Index) -> int | None:
    """Return the place of a number far from all others, or the only one among words; None if there is none.

    Survey programs write 99, -9 and the like for missing values.
    """
    numbers = _numbers(names)
    codes = [place for place, number in numbers.items() if number in CODES_OF_MISSING]
    n_words = len(names) - len(numbers)
    others = [number for number in numbers.values() if number not in CODES_OF_MISSING]
    if n_words:  # -1 among integers alone is decided by `minus_one`
        codes += [place for place, number in numbers.items() if number == -1]
        others = [number for number in others if number != -1]
    if len(others) < 2 and not n_words:
        return None
    least, most = (min(others), max(others)) if others else (0.0, 0.0)
    return next((place for place in codes if _is_far(numbers[place], least, most)), None)


def _is_far(number: float, least: float, most: float) -> bool:
    return number < 0 <= least or number > 3 * max(most, 1)


def refuse_codes(column: Coded, what: str, where: Where) -> None:
    """Raise an AnnotationError if a name may be a code for missing; see `code_of_missing`."""
    place = code_of_missing(column.names)
    if place is None:
        return
    name, numbers = plain(column.names[place]), _numbers(column.names)
    row = int(np.argmax(column.codes == place))
    word = next((name for place, name in enumerate(column.names) if place not in numbers), None)
    others = [number for number in numbers.values() if number not in CODES_OF_MISSING]
    beside = f"{min(others):g} to {max(others):g}" if word is None else f"words such as {str(word)[:40]!r}"
    raise AnnotationError(
        f"The {what} {name} in {where(row)} can be read in two ways with {beside}: as one of these, or as a code for "
        f"missing. Choose one: {spell(missing=name)} if it is missing, {spell(missing=[])} if it is a {what}."
    )


def _numbers(names: pd.Index) -> dict[int, float]:
    """Return the names that are numbers, or text that is one, by their position."""
    if pd.api.types.is_numeric_dtype(names) and not pd.api.types.is_bool_dtype(names):
        return dict(enumerate(names.to_numpy(float).tolist()))
    return {place: float(name) for place, name in enumerate(names) if is_number(name)}


def fill_missing(column: Coded, what: str, where: Where) -> Filled:
    """Mark -1 among integers as missing, and refuse integers that may be codes for it."""
    refuse_codes(column, what, where)
    return minus_one(column, what, where)


def like_missing(column: Coded, what: str, declared: Sequence[Any] = ()) -> str | None:
    """Note cells with a mark or words that usually mean missing, None if there are none.

    what : {"group", "label"}; how the cells were read.
    declared : sequence of names; declared classes, which do not mean missing.
    """
    known = {fold_name(name) for name in declared}
    is_it = np.array([is_like_missing(name) or is_error_of_sheet(name) for name in column.names], dtype=bool)
    if what == "label":  # of groups, these have been read as missing
        is_it |= np.array([says_unsorted(name) for name in column.names], dtype=bool)
    is_x = np.array([isinstance(name, str) and name.strip() in {"x", "X"} for name in column.names], dtype=bool)
    others = [str(name).strip() for name in column.names[~is_x]]
    n_words = sum(len(name) > 1 for name in others)
    if is_x.any() and (n_words >= FEWEST_WORDS or (len(others) > 1 and all(map(is_number, others)))):
        # among other letters, x is a name like a and b
        is_it |= is_x & (not any(len(name) == 1 and name.isalpha() for name in others))
    if known:
        is_it &= np.array([fold_name(name) not in known for name in column.names], dtype=bool)
    count = number_of_cells(column, is_it)
    if not count:
        return None
    names = [name.strip() for name in column.names[is_it]]
    shown = ", ".join(map(repr, names[:MOST_SHOWN])) + (", …" if len(names) > MOST_SHOWN else "")
    missing = spell(missing=names if len(names) > 1 else names[0])
    return (
        f"{quantify(count, 'cell')} with {shown} read as a {what} like any other ({missing} if missing, "
        f"{spell(missing=[])} if a {what} is meant)"
    )


def is_like_missing(name: Any) -> bool:
    """Whether a name is a mark or words that usually mean missing."""
    return isinstance(name, str) and (name.strip() in MARKS or normal(name).replace("’", "'") in LIKE_MISSING)


def as_texts(column: pd.Series) -> pd.Series:
    """Return cells as text, except missing ones, which ``astype(str)`` of pandas 2 makes "nan"."""
    return column.astype(str).where(column.notna(), None)


def quantify(count: int, noun: str) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> quantify(1, "cell"), quantify(3000, "class")
    ('1 cell', '3,000 classes')
    """
    return f"{count:,} {noun if count == 1 else plural(noun)}"
