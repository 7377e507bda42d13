"""Check files before they are committed: ``python tools/check_files.py FILE ...``.

No conflict markers, no blanks at the ends of lines, one line feed at the end of a file, no carriage returns, TOML and
YAML that parse, and nothing above 1 MB. Files of test data, and binary files, are checked for their size alone.
"""

import sys
import tomllib
from pathlib import Path

import yaml

LARGEST = 1_000_000
AS_THEY_ARE = (
    "tests/annotations/files/samples/",
    "docs/papers/",
    "docs/people/",
    "src/consilience/datasets/tutorial_tables/",
)
"""Folders of data and of generated tables, which keep the blanks and line ends that they have."""
MARKERS = ("<" * 7 + " ", ">" * 7 + " ")


def problems(path, name):
    """Yield what is wrong with a file, each as ``name:line: sentence`` or ``name: sentence``."""
    content = path.read_bytes()
    if len(content) > LARGEST:
        yield f"{name}: {len(content)} bytes; at most {LARGEST} are expected."
    if b"\0" in content or name.startswith(AS_THEY_ARE) or path.suffix in {".png", ".zip", ".svg"}:
        return
    text = content.decode()
    if "\r" in text:
        yield f"{name}: carriage returns; lines end in a line feed alone."
    if text and (not text.endswith("\n") or text.endswith("\n\n")):
        yield f"{name}: one line feed is expected at the end."
    for number, line in enumerate(text.splitlines(), 1):
        if line != line.rstrip():
            yield f"{name}:{number}: blanks at the end of the line."
        if line.startswith(MARKERS):
            yield f"{name}:{number}: a conflict marker."
    try:
        if path.suffix == ".toml":
            tomllib.loads(text)
        elif path.suffix in {".yaml", ".yml", ".cff"}:
            yaml.safe_load(text)
    except (tomllib.TOMLDecodeError, yaml.YAMLError) as error:
        yield f"{name}: {error}"


def main(names):
    """Print the problems of the named files; return 1 if there are any."""
    found = [problem for name in names for problem in problems(Path(name), Path(name).as_posix())]
    sys.stdout.writelines(f"{problem}\n" for problem in found)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
