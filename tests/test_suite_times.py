"""The page of the times of the tests is made from what each process of a run wrote down."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).parents[1] / "tools" / "suite_times.py"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("suite_times", FILE)
    found = sys.modules["suite_times"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    yield found
    del sys.modules["suite_times"]


def line(test, processor, memory=100, process=1):
    return json.dumps({"test": test, "processor": processor, "clock": 1, "memory": memory, "process": process}) + "\n"


def test_the_page_has_a_row_for_each_folder_and_kind_and_the_slowest_tests(tool, tmp_path, monkeypatch):
    page = tmp_path / "tests.md"
    page.write_text(f"# Tests\n\n{tool.BEGIN}\n\nearlier figures\n\n{tool.END}\nEnd\n")
    monkeypatch.setattr(tool, "PAGE", page)
    (tmp_path / "1.jsonl").write_text(line("collection", 10) + line("tests/cli/test_a.py::test[x|y]", 30, 1500))
    (tmp_path / "2.jsonl").write_text(line("collection", 10, 900, 2) + line("tests/deep/test_b.py::test", 70, 700, 2))
    assert tool.main(["--from", str(tmp_path)]) == 0
    text = page.read_text()
    assert "2 tests took 2.0 minutes of processor, 20 seconds of which went to find them" in text
    assert "the largest process had 1.5 GB" in text
    assert "| tests/deep | 1 | 70.0 | 58% | 700 |\n| tests/cli | 1 | 30.0 | 25% | 1,500 |" in text
    assert "| networks | 1 | 70.0 | 58% | 700 |\n| commands | 1 | 30.0 | 25% | 1,500 |" in text
    assert text.index("`tests/deep/test_b.py::test`") < text.index(r"`tests/cli/test_a.py::test[x\|y]`")
    assert "earlier figures" not in text
    assert text.startswith("# Tests\n")
    assert text.endswith("End\n")


@pytest.mark.slow
def test_each_process_of_a_run_writes_the_times_of_its_tests(tool, tmp_path):
    (tmp_path / "test_burns.py").write_text(
        "import time\nimport pytest\n\n@pytest.mark.parametrize('n', [0, 1])\ndef test_burns(n):\n"
        "    start = time.process_time()\n    while time.process_time() < start + 0.05:\n        pass\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "suite_times", "-n", "2"]
    environment = os.environ | {"PYTHONPATH": str(FILE.parent), tool.FOLDER: str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    times = tool.read(tmp_path)
    assert len(list(tmp_path.glob("*.jsonl"))) == 2
    tests = {one.test: one.processor for one in times if one.test != tool.COLLECTION}
    assert tests.keys() == {"test_burns.py::test_burns[0]", "test_burns.py::test_burns[1]"}
    assert min(tests.values()) >= 0.04
    assert len(times) == 4
    assert all(one.memory > 5 for one in times)
