"""Bring the catalogues of translations up to the English sentences, or say what is wrong with them.

    python tools/catalogues.py            write each: new sentences empty, sentences that changed or went taken out
    python tools/catalogues.py --check    write nothing, and say what is wrong
    python tools/catalogues.py --new eo   begin a catalogue, once its language is in settings/languages.py

Whoever translates opens ``src/consilience/collect/wording/catalogues/CODE.po`` in any editor of gettext. The key of
each sentence is its context. A native speaker who has read all of a catalogue deletes its line "Machine-made".
"""

import argparse
import sys

from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po

from consilience.collect.settings.languages import ENGLISH, LANGUAGES
from consilience.collect.settings.sentences import GROUPS, SINGULARS
from consilience.collect.wording.catalogues import MACHINE_MADE, in_english, path_of, read_catalogue
from consilience.collect.wording.checks import find_problems

WIDTH = 110
HEADER = f"""# LANGUAGE: what participants read.
#
# {MACHINE_MADE}"""


def extract():
    """Return the catalogue of all English sentences."""
    template = Catalog(charset="utf-8")
    for title, group in GROUPS.items():
        for key in group:
            said = in_english(key)
            by = [f"By the number {{{SINGULARS[key][0]}}}"] if key in SINGULARS else []
            template.add(said[0] if len(said) == 1 else said, context=key, auto_comments=[title, *by])
    return template


def update(code):
    """Write the catalogue of a language anew."""
    catalogue = read_catalogue(code)
    catalogue.update(extract(), no_fuzzy_matching=True)
    catalogue.obsolete.clear()
    write(code, catalogue)


def write(code, catalogue):
    """Write a catalogue as git should see it: without the day and the program."""
    catalogue.project, catalogue.version = "Consilience", ""
    with path_of(code).open("wb") as file:
        write_po(file, catalogue, width=WIDTH, omit_header=False, no_location=True)
    lines = path_of(code).read_text(encoding="utf-8").splitlines()
    left_out = ("Project-Id-Version", "Report-Msgid-Bugs-To", "POT-Creation-Date", "PO-Revision-Date", "Generated-By")
    left_out += ("Last-Translator", "Language-Team")
    kept = [line for line in lines if not line.startswith(tuple(f'"{name}:' for name in left_out))]
    path_of(code).write_text("\n".join(kept) + "\n", encoding="utf-8")


def begin(code):
    """Write an empty catalogue."""
    comment = HEADER.replace("LANGUAGE", LANGUAGES[code][0])
    catalogue = Catalog(locale=code, charset="utf-8", fuzzy=False, header_comment=comment)
    catalogue.update(extract(), no_fuzzy_matching=True)
    write(code, catalogue)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--new", metavar="CODE")
    asked = parser.parse_args()
    codes = [code for code in LANGUAGES if code != ENGLISH]
    if asked.new:
        begin(asked.new)
    elif not asked.check:
        for code in codes:
            update(code)
    problems = [f"{code}: {sentence}" for code in codes if path_of(code).exists() for sentence in find_problems(code)]
    sys.exit("\n".join(problems) or 0)


if __name__ == "__main__":
    main()
