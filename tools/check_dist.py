"""Check the built distributions in ``dist``: what they hold, and that the wheel alone runs README and front page.

    python tools/check_dist.py

The wheel is installed without extras into a new virtual environment. There, each Python block of README.md and of the
front page of the documentation, and each of their lines that begins with ``$ consilience``, runs in an empty folder,
and prints the block of text after it.
"""

import os
import re
import shlex
import subprocess
import sys
import tarfile
import tempfile
import textwrap
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", ROOT / "docs" / "index.rst")


def require(holds, message):
    if not holds:
        sys.exit(message)


def built(pattern):
    """Return the one file in ``dist`` that matches a pattern."""
    found = sorted((ROOT / "dist").glob(pattern))
    require(
        len(found) == 1, f"One {pattern} is expected in dist; run `make dist`. Found {[path.name for path in found]}."
    )
    return found[0]


def tracked_files():
    """Return the names of the files that git tracks."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(listed.stdout.split("\0")) - {""}


def check_contents(wheel, sdist):
    """Hold the names in both archives to those of the tracked files."""
    tracked = tracked_files()
    package = {name.removeprefix("src/") for name in tracked if name.startswith("src/consilience/")}
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
    about = {name for name in inside if ".dist-info/" in name}
    require(
        inside - about == package, f"The wheel differs from src/consilience in {sorted((inside - about) ^ package)}."
    )
    require(any(name.endswith("/LICENSE") for name in about), "The wheel has no LICENSE.")

    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    generated = {"PKG-INFO"}
    require(
        inside - generated <= tracked,
        f"The sdist holds files that git does not: {sorted(inside - generated - tracked)}.",
    )
    left_out = {name for name in tracked - inside if not name.startswith((".github/", ".ci/", ".pre-commit"))}
    require(not left_out, f"The sdist lacks {sorted(left_out)}.")


def blocks(text):
    """Yield the language and the lines of each block of code of a page in Markdown or reStructuredText."""
    fenced = r"^```(?P<markdown>\w+)\n(?P<fenced>.*?)^```"
    indented = r"^\.\. code-block:: (?P<rst>\w+)\n\n(?P<indented>(?:   [^\n]*\n|\n)+)"
    for match in re.finditer(f"{fenced}|{indented}", text + "\n", re.MULTILINE | re.DOTALL):
        yield match["markdown"] or match["rst"], textwrap.dedent(match["fenced"] or match["indented"]).strip() + "\n"


def examples(text):
    """Return what a page shows, in order: arguments of Python, and what they print, None if the page does not say."""
    shown = []
    for language, block in blocks(text):
        if language == "python":
            shown.append((["-c", block], None))
        elif language == "text":
            shown[-1] = (shown[-1][0], block)
        elif language == "console":
            for line in re.findall(r"^\$ (consilience .*)$", block.replace("\\\n", " "), re.MULTILINE):
                shown.append((["-m", *shlex.split(line, comments=True)], None))
    return shown


def check_pages(wheel):
    """Run the pages in a new environment that holds the wheel and what it needs, each in an empty folder."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "CONSILIENCE"))}
    environment["MPLBACKEND"] = "agg"
    with tempfile.TemporaryDirectory() as parent:
        home = Path(parent, "venv")
        venv.create(home, with_pip=True)
        python = home / ("Scripts" if os.name == "nt" else "bin") / "python"

        def run(*arguments, folder=parent):
            command = [python, "-W", "error::FutureWarning", *arguments]
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(f"This failed:\n{textwrap.indent(' '.join(arguments), '    ')}\n{done.stdout}{done.stderr}")
            return done.stdout

        # the examples import a small part: only that is compiled
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-compile", wheel], check=True)
        installed = run("-c", "import consilience; print(consilience.__file__)").strip()
        require(installed.startswith(str(home)), f"The examples would run {installed}, not the wheel.")
        for page in PAGES:
            folder = Path(parent, page.stem)
            folder.mkdir()
            shown = examples(page.read_text(encoding="utf-8"))
            require(len(shown) >= 5, f"{page.name} shows only {len(shown)} examples; has its form changed?")
            for arguments, expected in shown:
                sys.stdout.write(f"{arguments[1].strip().splitlines()[0]} {' '.join(arguments[2:])}".rstrip() + "\n")
                sys.stdout.flush()
                printed = run(*arguments, folder=folder)
                require(expected in (None, printed), f"{page.name} shows\n{expected}instead of\n{printed}")
            require((folder / "study" / "report.html").exists(), f"{page.name} wrote no report.")


if __name__ == "__main__":
    wheel, sdist = built("*.whl"), built("*.tar.gz")
    check_contents(wheel, sdist)
    check_pages(wheel)
    sys.stdout.write(f"{wheel.name} and {sdist.name} hold what they should, and README and front page run.\n")
