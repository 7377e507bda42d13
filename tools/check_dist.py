"""Check the built distributions in ``dist``: what they hold, and that the wheel alone runs the README.

    python tools/check_dist.py

The wheel is installed without extras into a new virtual environment. There, each Python block and each line of
README.md that begins with ``$ consilience`` runs in a folder that holds nothing but the tables of ``docs/tutorial``, as
README.md tells its readers to do.
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
TABLES = ROOT / "docs" / "tutorial"


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


def examples(text):
    """Yield the arguments of Python for each Python block and each command line of a page in Markdown, in order."""
    for language, block in re.findall(r"^```(python|console)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        if language == "python":
            yield ["-c", block]
        else:
            for line in re.findall(r"^\$ (consilience .*)$", block.replace("\\\n", " "), re.MULTILINE):
                yield ["-m", *shlex.split(line, comments=True)]


def check_readme(wheel):
    """Run the README in a new environment that holds the wheel and what it needs, among the tables of the tutorials."""
    shown = list(examples((ROOT / "README.md").read_text(encoding="utf-8")))
    require(len(shown) >= 10, f"README.md shows only {len(shown)} examples; has its form changed?")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "CONSILIENCE"))}
    environment["MPLBACKEND"] = "agg"
    with tempfile.TemporaryDirectory() as parent:
        home, folder = Path(parent, "venv"), Path(parent, "empty")
        folder.mkdir()
        venv.create(home, with_pip=True)
        python = home / ("Scripts" if os.name == "nt" else "bin") / "python"

        def run(*arguments):
            command = [python, "-W", "error::FutureWarning", *arguments]
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(f"This failed:\n{textwrap.indent(' '.join(arguments), '    ')}\n{done.stdout}{done.stderr}")
            return done.stdout

        # the examples import a small part: only that is compiled
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-compile", wheel], check=True)
        for table in TABLES.glob("*.csv"):
            (folder / table.name).write_bytes(table.read_bytes())
        installed = run("-c", "import consilience; print(consilience.__file__)").strip()
        require(installed.startswith(str(home)), f"The examples would run {installed}, not the wheel.")
        for arguments in shown:
            sys.stdout.write(f"{arguments[1].strip().splitlines()[0]} {' '.join(arguments[2:])}".rstrip() + "\n")
            sys.stdout.flush()
            run(*arguments)
        require((folder / "report.html").exists(), "The README wrote no report.html.")


if __name__ == "__main__":
    wheel, sdist = built("*.whl"), built("*.tar.gz")
    check_contents(wheel, sdist)
    check_readme(wheel)
    sys.stdout.write(f"{wheel.name} and {sdist.name} hold what they should, and the README runs.\n")
