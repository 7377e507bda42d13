"""What is said before anything heavy is imported, counted by modules, since a clock tells of the machine."""

import subprocess
import sys

import pytest

HEAVY = ("numpy", "pandas", "scipy", "sklearn", "matplotlib", "jax")
COMMANDS = [
    "fit nothing.csv",
    "fit here.csv --features nothing.csv",
    "fit here.csv --item-names nothing.csv",
    "fuse nothing.csv",
    "compare nothing.csv",
    "report nothing.zip here.csv",
    "predict nothing.zip here.csv",
    "difference here.csv nothing.csv",
    "fit here.csv --seconds nothing.csv",
]


def modules_after(code, folder):
    """Return what a fresh interpreter prints, and which heavy modules it has imported."""
    told = f"{code}\nprint('HEAVY', *sorted(set({HEAVY!r}) & set(sys.modules)), *extra)"
    run = subprocess.run([sys.executable, "-c", told], cwd=folder, capture_output=True, text=True, check=True)
    *lines, last = (run.stdout + "").splitlines()
    return run.stderr + "\n".join(lines), last.split()[1:]


def test_a_missing_file_is_told_before_anything_heavy_is_imported(tmp_path):
    (tmp_path / "here.csv").write_text("item,annotator,label\na,b,c\n")
    code = f"""
import sys
from consilience.cli import main
extra = []
for command in {COMMANDS!r}:
    try:
        main(command.split(), standalone_mode=False)
    except BaseException as error:
        print(command, ':', getattr(error, 'message', error))
"""
    text, heavy = modules_after(code, tmp_path)
    for command in COMMANDS:
        name = next(word for word in command.split() if word.startswith("nothing"))
        assert f"{command} : There is no file {name}." in text
    assert heavy == []


@pytest.mark.parametrize("line", ["from consilience.consensus import DawidSkene"])
def test_a_model_of_labels_imports_little_beyond_its_base(line, tmp_path):
    beyond = ("sklearn.cluster", "sklearn.linear_model", "sklearn.pipeline", "sklearn.model_selection", "scipy.stats")
    beyond += ("matplotlib",)
    code = f"""
import sys
import sklearn.base, pandas, scipy.sparse
before = set(sys.modules)
{line}
extra = sorted(set({beyond!r}) & (set(sys.modules) - before))
"""
    _, heavy = modules_after(code, tmp_path)
    assert not {*beyond} & {*heavy}
