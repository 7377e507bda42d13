"""Hostile values for tests of all that the server takes: in place of any value, of any key, or beside a key."""

import json
import re

SCRIPT = "<script>alert(1)</script>"
TEXTS = {
    "right to left": "\u202eevil\u200f",
    "long": "x" * 10_000,
    "longer than a cell of CSV may be": "x" * 200_000,
    "a million letters": "x" * 1_000_000,
    "nul": "a\0b",
    "control": "a\x01\x1b[31m\x7f\x85b\ufeff",
    "script": f"\"'>{SCRIPT}",
    "formula": "=1+1",
    "digits of another script": "\u0661\u0662",
    "superscript": "\u00b2",
    "composed": "\u00e9\ne\u0301",
    "emoji": "\U0001f469\u200d\U0001f467\U0001f3fd",
    "braces": "{0.__class__} %s {",
    "blank": " \u3000\n",
    "quotes": '"; "',
    "many lines": "a\n" * 5000,
    "infinite": "1e400",
    "path": "../../etc/passwd",
}
NESTED = {"@nested@": 300, "@deep@": 100_000}  # lists in lists, which no library of ours writes
AGAIN = "@again@"  # stands for a key that is there twice
VALUES = TEXTS | {
    "half a character": "a\ud800b",
    "no number": float("nan"),
    "infinity": float("inf"),
    "huge": 10**30,
    "thousands of digits": 10**4000,
    "negative": -1,
    "part": 0.5,
    "true": True,
    "null": None,
    "list": [],
    "list of lists": [[[{}]]],
    "object": {},
    "nested": "@nested@",
    "deep": "@deep@",
}
MALFORMED = {
    "empty": b"",
    "cut": b'{"a": [',
    "two": b"{}{}",
    "null": b"null",
    "list": b"[]",
    "text": b'"a"',
    "no UTF-8": b'{"a": "\xff\xfe"}',
    "marked": b"\xef\xbb\xbf{}",
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "deep": b"[" * 100_000 + b"]" * 100_000,
    "digits": b'{"a": ' + b"1" * 5000 + b"}",
    "nul": b"\0" * 100,
}
KINDS_OF_BODY = (
    *("application/json", "text/plain", "application/x-www-form-urlencoded", "", "\u00ff/\u00ff; charset=none"),
    *("multipart/form-data", "multipart/form-data; boundary=x", "multipart/form-data; boundary=x; charset=none"),
)


def places_in(found, path=()):
    """The places of all values in a body, but the body itself."""
    pairs = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    for key, value in pairs:
        yield (*path, key)
        yield from places_in(value, (*path, key))


def cases_of(body):
    """What can be hostile in a body: the place, the name of the value, and whether it is "value", "key" or "twice"."""
    paths = list(places_in(body))
    named = [path for path in paths if isinstance(path[-1], str)]
    yield from ((path, name, "value") for path in paths for name in VALUES)
    yield from ((path, name, "key") for path in named for name in TEXTS)
    yield from ((path, name, "twice") for path in named for name in ("script", "negative", "null"))


def body_with(body, path, name, how):
    """A body in which a value is hostile, or its key, or the value of the same key for a second time; and its JSON."""
    found = json.loads(json.dumps(body))
    inner = found
    for key in path[:-1]:
        inner = inner[key]
    if how == "key":
        inner[TEXTS[name]] = inner.pop(path[-1])
    else:
        inner[AGAIN if how == "twice" else path[-1]] = VALUES[name]
    written = json.dumps(found).replace(json.dumps(AGAIN), json.dumps(path[-1]))
    for stands_for, depth in NESTED.items():
        written = written.replace(json.dumps(stands_for), "[" * depth + "]" * depth)
    return found, written.encode()


def is_sentence(text):
    """Whether a text says in short why something is refused."""
    return 10 < len(text) < 1000 and text.endswith(".") and not re.search("[\x00-\x1f\ud800-\udfff]", text)


# ---- what was stored


def leaves_of(found):
    """All keys and values of JSON."""
    if isinstance(found, dict):
        for key, value in found.items():
            yield key
            yield from leaves_of(value)
    elif isinstance(found, list | tuple):
        for value in found:
            yield from leaves_of(value)
    else:
        yield found


def compared(found):
    """What stays of values however they are cleaned: texts without blanks, and characters that are not kept."""
    unkept = "[\\s\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]+"
    return {(type(one) is bool, re.sub(unkept, "", one) if isinstance(one, str) else one) for one in leaves_of(found)}


def says_why(answer):
    """Whether an answer says in a sentence why something is refused, and runs nothing."""
    if "json" in answer.headers["content-type"]:
        return is_sentence(answer.json()["error"])
    return SCRIPT not in answer.text and bool(re.search('role="alert"|class="problem"|<h1>[^<]+</h1>', answer.text))
