"""Usual column names in users' tables, and what such columns contain."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

ITEM = (
    "item object card statement question task product sample use image picture photo document doc stimulus instance "
    "example sentence text word concept term query record unit passage snippet clip video audio tweet comment post "
    "article site page entity patient specimen case wine beer food img pic"
)
ANNOTATOR = (
    "annotator participant worker user rater assessor performer sorter coder judge panelist panellist expert "
    "respondent labeler labeller reviewer contributor evaluator grader crowdworker subject person informant "
    "interviewee student username email physician pathologist radiologist doctor nurse teacher"
)
GROUPING = "grouping sort session sorting trial round occasion"
GROUP = "group category pile cluster bucket folder theme"
LABEL = "label answer value response judgment judgement annotation rating class vote choice verdict decision"
SAME = "same match matching equal together similar similarity sim duplicate linked relation relatedness"

OTHER_LANGUAGES = {  # German, French, Spanish, Italian; Portuguese, Dutch, Polish, Turkish, Russian; other scripts
    "item": "karte karten begriff produkt produkte probe muster aussage bild objekt carte produit échantillon mot "
    "objet énoncé tarjeta producto muestra imagen objeto carta prodotto campione "
    "cartão cartões produto amostra imagem palavra kaart kaartje kaarten afbeelding woord voorwerp stelling "
    "karta kartka próbka obraz słowo pozycja kart kartlar ürün öğe görsel resim kelime "
    "карточка карточки карта продукт образец изображение картинка слово объект стимул вопрос "
    "卡片 卡 项目 項目 产品 產品 图片 圖片 图像 圖像 样本 樣本 词语 物品 "
    "カード 画像 商品 製品 サンプル 刺激 単語 アイテム "
    "카드 항목 이미지 그림 제품 상품 단어 자극 "
    "البطاقة بطاقة العنصر عنصر المنتج منتج الصورة صورة कार्ड वस्तु चित्र उत्पाद शब्द",
    "annotator": "vp vpn teilnehmer teilnehmerin proband probandin prüfer bewerter befragte nutzer participante juge "
    "sujet évaluateur dégustateur personne juez evaluador usuario sujeto persona partecipante giudice utente "
    "avaliador juiz usuário pessoa deelnemer deelnemers proefpersoon beoordelaar gebruiker persoon "
    "uczestnik uczestniczka użytkownik osoba badany sędzia katılımcı kullanıcı kişi hakem değerlendirici "
    "участник участники респондент пользователь испытуемый эксперт оценщик человек "
    "参与者 參與者 被试 受试者 受試者 用户 用戶 标注者 標註者 标注员 评价者 评估员 "
    "参加者 回答者 被験者 評価者 ユーザー ユーザ 作業者 "
    "참가자 참여자 응답자 사용자 평가자 피험자 المشارك مشارك المستخدم مستخدم المقيم प्रतिभागी उपयोगकर्ता",
    "grouping": "durchgang runde sitzung séance tour ronda sesión sessione sessão rodada sessie sesja oturum сессия "
    "раунд 轮次 セッション 세션 الجلسة सत्र",
    "group": "gruppe kategorie stapel haufen groupe catégorie grupo categoría montón gruppo categoria "
    "pilha groep categorie grupa kategoria stos grup kategori küme yığın группа категория кластер стопка "
    "组 组别 分组 分組 类别 類別 分类 分類 组名 カテゴリ カテゴリー グループ 群 그룹 범주 카테고리 분류 묶음 "
    "الفئة فئة المجموعة مجموعة समूह श्रेणी वर्ग",
    "label": "antwort urteil bewertung réponse étiquette respuesta etiqueta risposta etichetta "
    "resposta rótulo antwoord etiket oordeel odpowiedź etykieta ocena cevap yanıt ответ метка оценка "
    "标签 標籤 答案 回答 判断 ラベル 答え 라벨 레이블 답변 응답 الإجابة إجابة التسمية उत्तर लेबल",
}

WORDS = {
    word: role
    for role, words in [
        ("item", ITEM),
        ("annotator", ANNOTATOR),
        ("grouping", GROUPING),
        ("group", GROUP),
        ("label", LABEL),
        ("same", SAME),
    ]
    for word in words.split()
}
FOREIGN = {
    unicodedata.normalize("NFKC", word).casefold(): role
    for role, words in OTHER_LANGUAGES.items()
    for word in words.split()
}
WEAK = {  # words that also name other columns about items, people and their answers
    *("comment", "text", "post", "word", "site", "page", "entity", "clip", "value", "response", "person", "subject"),
    *("email", "username", "rating", "round", "theme", "folder", "code"),
}
CANONICAL = {"item", "annotator", "grouping", "group", "label", "same", "item a", "item b"}
LEVELS = frozenset(("level", "depth", "niveau", "stufe"))  # of a hierarchical sort, if they number its groups
IDENTIFIERS = {
    "id",
    "uid",
    "guid",
    "ids",
    "no",
    "nr",
    "number",
    "num",
    "code",
    "index",
    "key",
    "uuid",
    "hash",
    "identifier",
}
TEXTS = {"name", "names", "label", "title", "text", "string"}
BY_SOMEBODY = re.compile(r"(created|labell?ed|annotated|completed|reviewed|rated|judged|sorted|coded) by")
DIFFERENCE = re.compile(  # in a name without spaces: areDifferent, dissimilarity_score, not_same, mismatch
    r"(is|are|was|were|isit|arethey|the|both|two|items?|pairs?|how|very|said|judged)*"
    r"(dis-?similar(ity)?|differ(s|ent|ence|ing)?|distinct(ness)?|distance|discrepancy"
    r"|un(like|equal|alike|related|similar|matched)|mis-?match|no-?match|non-?(match|matching|identical|equal|duplicates?|similar|equivalent)"
    r"|not(the|an?)?(same|similar|match|matching|equal|alike|related|duplicates?|identical)|(isn'?t|aren'?t)(the)?same"
    r"|apart|separated?|unähnlich(keit)?|verschieden|unterschied(lich)?|ungleich|différen(te?s?|ce)|distintos?|diferen"
    r"(tes?|cia)|divers[oi]|разные|различие|różne|różnica|farklı|verschil(lend)?|違う|異なる|不同|差异|다름|अलग|مختلف)"
    r"(score|rating|grade|level|judge?ment|label|answer|value|class|group|cluster|item|ly|d|s|\d)*"
)
PREFERENCE = re.compile(
    r"winner|prefer|\bbetter|\bbest\b|\bloser|\bworse|\bworst|favou?rite|\bbeats?\b|\bwins?\b|\bwon\b"
)
SIDES = [
    ("ltable", "rtable"),
    ("l", "r"),
    ("lhs", "rhs"),
    ("a", "b"),
    ("1", "2"),
    ("i", "j"),
    ("x", "y"),
    ("left", "right"),
    ("first", "second"),
    ("one", "two"),
]
NEUTRAL = {
    "",
    "id",
    "ids",
    "index",
    "name",
    "names",
    "nr",
    "no",
    "number",
    "key",
    "row",
    "rows",
    "unnamed: 0",
    "unnamed 0",
    "x",
}
NO_PERSON = {
    *(
        "description",
        "descriptions",
        "comment",
        "comments",
        "note",
        "notes",
        "remark",
        "remarks",
        "explanation",
        "reason",
    ),
    *(
        "time",
        "timestamp",
        "date",
        "datetime",
        "duration",
        "duration in seconds",
        "duration seconds",
        "seconds",
        "minutes",
    ),
    *("start", "end", "start date", "end date", "start time", "end time", "started", "started at", "completed at"),
    *("recorded date", "created at", "updated at", "submitted at", "finished", "progress", "status", "completed"),
    *("age", "gender", "sex", "country", "language", "user language", "ip address", "location"),
    *("location latitude", "location longitude", "distribution channel", "external reference", "recipient last name"),
    *("recipient first name", "recipient email", "occupation", "education", "url", "link", "device", "browser"),
    *("total", "totals", "sum", "mean", "average", "median", "std", "count", "counts", "frequency", "n", "percentage"),
    *("truth", "gold", "gold label", "true label", "true class", "ground truth", "target", "consensus", "majority"),
    *("majority vote", "correct", "correct answer", "reference", "split", "weight", "confidence", "most frequent"),
    *("mode", "cond", "condition", "seed", "lastpage", "last page", "startlanguage", "start language", "submitdate"),
    *("date submitted", "startdate", "datestamp", "zeitstempel", "kommentar", "bemerkung", "bemerkungen", "alter"),
    *("geschlecht", "horodateur", "commentaire", "commentaires", "âge", "sexe", "marca temporal", "edad", "sexo"),
    *("redcap event name", "redcap repeat instrument", "redcap repeat instance", "redcap survey identifier"),
    *("created time", "last edited time", "due date", "due", "attachment count", "number of groups", "groups used"),
}
ABOUT_PEOPLE = {  # rows of a wide table that describe the annotators in its columns
    *("age", "ages", "age group", "sex", "gender", "nationality", "education", "occupation", "profession", "income"),
    *("years of experience", "experience", "handedness", "smoker", "native language", "mother tongue", "ethnicity"),
    *("segment", "cohort", "persona", "tenure", "total time", "time spent", "completion time", "time on task"),
    *("duration", "time taken", "time needed", "minutes", "seconds", "date", "date of test", "time", "expertise"),
    *("alter", "geschlecht", "beruf", "bildung", "dauer", "datum", "muttersprache", "âge", "sexe", "profession"),
    *("durée", "edad", "sexo", "profesión", "duración", "fecha", "età", "sesso", "genere", "género", "professione"),
    *("idade", "gênero", "leeftijd", "geslacht", "wiek", "płeć", "yaş", "cinsiyet", "возраст", "пол", "年龄", "性别"),
    *("年齢", "性別", "나이", "성별", "आयु", "लिंग", "العمر", "الجنس"),
}
COUNTS_OF_GROUPS = {
    *("n groups", "number of groups", "no of groups", "nb groups", "nb of groups", "num groups", "groups used"),
    *("n piles", "number of piles", "n categories", "number of categories", "n clusters", "number of clusters"),
    *("n cards", "number of cards", "cards sorted", "n items", "number of items", "n", "count", "counts", "n sorted"),
    *("anzahl gruppen", "anzahl", "nombre de groupes", "nb groupes", "número de grupos", "numero di gruppi"),
    *("aantal groepen", "liczba grup", "grup sayısı", "число групп", "número de categorías", "グループ数", "组数"),
}
KNOWN_CLASSES = {"truth", "gold", "gold label", "true label", "true class", "ground truth", "target", "correct answer"}
COUNTS = {"count", "counts", "frequency", "percentage", "percent", "percentage %", "n", "number of participants"}
TOTALS = {"total", "totals", "sum", "grand total", "gesamt", "summe", "subtotal", "mean", "average"}
TIMES = {
    *("time", "timestamp", "date", "datetime", "session", "created", "created at", "submitted at", "submit time"),
    *(
        "accept time",
        "updated at",
        "started",
        "started at",
        "assignment",
        "assignment id",
        "trial",
        "hit",
        "hitid",
        "hit id",
    ),
}


@dataclass(frozen=True)
class Named:
    """What the name of a column says about its contents.

    role : {"item", "annotator", "grouping", "group", "label", "same"}
    noun : the word that was recognised, in the singular.
    part : {"", "identifier", "text"}; whether the column contains identifiers, texts, or either.
    """

    role: str
    noun: str
    part: str = ""


def says_different(name: Any) -> bool:
    """Whether the name of a column of judgements is that of a difference, the opposite of same.

    Examples
    --------
    >>> [says_different(name) for name in ("isDifferent", "not_same", "mismatch", "is_same", "distance learning")]
    [True, True, True, False, False]
    """
    return DIFFERENCE.fullmatch(normal(name).replace(" ", "").rstrip("?")) is not None


def says_preferred(name: Any) -> bool:
    """Whether the name of a column is that of a preference between two items, such as winner.

    Examples
    --------
    >>> [says_preferred(name) for name in ("winner", "preferred_item", "same")]
    [True, True, False]
    """
    return PREFERENCE.search(normal(name)) is not None


@lru_cache(maxsize=32_768)
def normal(name: Any) -> str:
    """Return a name in lower case, with single spaces between words.

    Examples
    --------
    >>> [normal(name) for name in ("Card_Label", "participantID", " Sort.ID ", "HITId", 7)]
    ['card label', 'participant id', 'sort id', 'hit id', '7']
    """
    text = unicodedata.normalize("NFKC", str(name))
    text = re.sub(r"(?<=[a-zß-ÿ0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text)  # itemId and HTMLText become words
    return re.sub(r"[\s_.\-/()#]+", " ", text).strip().casefold()


@lru_cache(maxsize=32_768, typed=True)
def role_of_name(name: Any) -> Named | None:
    """Return what the name of a column says about its contents, None if it is not recognised.

    Examples
    --------
    >>> role_of_name("card_label")
    Named(role='item', noun='card', part='text')
    >>> role_of_name("UserID")
    Named(role='annotator', noun='user', part='identifier')
    >>> role_of_name("seconds") is None
    True
    """
    words = normal(name).split()
    part = ""
    if words and words[0] in {"is", "are", "the"}:
        words = words[1:]
    if words in (["email", "address"], ["e", "mail"], ["e", "mail", "address"]):
        words = ["email"]
    if BY_SOMEBODY.fullmatch(" ".join(words)):
        return Named("annotator", "annotator")
    if len(words) == 3 and words[1:] == ["row", "id"]:  # data row id
        return Named("item", "item", "identifier")
    if words and says_different(name):
        return Named("same", "same")
    if len(words) == 3 and words[1] == "in":  # cards in pile
        words = words[:1]
    if len(words) == 2 and words[1] in IDENTIFIERS | TEXTS:
        part = "identifier" if words[1] in IDENTIFIERS else "text"
        words = words[:1]
    if len(words) == 1:
        glued = re.fullmatch(
            r"(\w{3,}?|[^\x00-\u02ff]+?)(id|name|no|nr|番号|编号|編號|번호|名称|名稱|名前|名|이름)", words[0]
        )
        if not part and glued and words[0] not in WORDS and (_singular(glued[1]) in WORDS or glued[1] in FOREIGN):
            words, part = (
                [glued[1]],
                "identifier" if glued[2] in IDENTIFIERS | {"番号", "编号", "編號", "번호"} else "text",
            )
        noun = _singular(words[0])
        if noun in WORDS:
            return Named(WORDS[noun], noun, part)
        if words[0] in FOREIGN:
            return Named(FOREIGN[words[0]], FOREIGN[words[0]], part)
    return None


def _singular(word: str) -> str:
    if word in WORDS:
        return word
    for ending, instead in (("ies", "y"), ("es", ""), ("s", ""), ("i", "us")):
        if word.endswith(ending) and word.removesuffix(ending) + instead in WORDS:
            return word.removesuffix(ending) + instead
    return word


def plural(noun: str) -> str:
    """Return the plural of a noun.

    Examples
    --------
    >>> [plural(noun) for noun in ("card", "category", "stimulus", "class")]
    ['cards', 'categories', 'stimuli', 'classes']
    """
    if noun.endswith("us"):
        return noun[:-2] + "i"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "ch", "x")) else "s")


def is_plural(name: Any) -> bool:
    """Whether the name of a column begins with the plural of a known word, such as cards.

    Examples
    --------
    >>> is_plural("Cards in pile"), is_plural("stimulus"), is_plural("card")
    (True, False, False)
    """
    word = (normal(name).split() or [""])[0]
    return word not in WORDS and _singular(word) in WORDS


def with_article(noun: str) -> str:
    """Return a noun with "a" or "an" before it.

    Examples
    --------
    >>> with_article("answer"), with_article("user"), with_article("card")
    ('an answer', 'a user', 'a card')
    """
    return f"{'an' if noun[:1] in 'aeio' else 'a'} {noun}"


def pair_sides(columns: list[Any]) -> list[tuple[Any, Any, str]]:
    """Return pairs of columns whose names differ only in a side, such as left and right, with the word that they share.

    Examples
    --------
    >>> pair_sides(["item_a", "item_b", "annotator", "same"])
    [('item_a', 'item_b', 'item')]
    >>> pair_sides(["left", "right", "worker", "label"])
    [('left', 'right', '')]
    """
    split: dict[tuple[str, str], Any] = {}
    for column in columns:
        words = re.sub(r"(?<=[a-z])(?=[12]\b)", " ", normal(column)).split()
        for place in {0, len(words) - 1} if words else ():
            rest = " ".join([*words[:place], *words[place + 1 :]])
            split.setdefault((rest, words[place]), column)
    return [
        (split[rest, one], split[rest, other], rest)
        for rest, one in list(split)
        for first, other in SIDES
        if one == first and (rest, other) in split
    ]
