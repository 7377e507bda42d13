"""Files are written whole or not at all, under temporary names that later programs recognise."""

import errno
import gzip
import os
import stat
import subprocess
import sys
import threading

import pandas as pd
import pytest

from consilience import Groupings, write_annotations
from consilience.atomic_files import (
    left_behind,
    naming,
    open_compressed,
    remove_leftovers,
    replacing,
    temporary_folder,
)
from consilience.errors import InputError
from consilience.inspection import report
from consilience.semisupervised import PartitionLabelModel

LEFT = ".consilience-0123456789abcdef.part"


def write(path, content=b"new"):
    with replacing(path) as file:
        file.write(content)


def test_a_file_is_made_or_replaced(tmp_path):
    path = tmp_path / "a.txt"
    write(path)
    assert path.read_bytes() == b"new"
    write(str(path), b"newer")
    assert path.read_bytes() == b"newer"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_failure_keeps_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail():
        with replacing(path) as file:
            file.write(b"new")
            assert path.read_text() == "old"
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o640)
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "a.txt", tmp_path / "link.txt"
    link.symlink_to(target)
    for _ in range(2):  # the file that it points to is made, then replaced
        write(link)
        assert link.is_symlink()
        assert target.read_bytes() == b"new"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.txt", "folder", "link.txt"]


def test_a_pipe_is_written_to(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write(pipe)
    reader.join()
    assert read == [b"new"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_name_as_long_as_can_be(tmp_path):
    path = tmp_path / ("n" * 251 + ".txt")
    write(path)
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "The name of the output file is empty."),
        (".", r"\. is a folder; give the name of a file\."),
        ("nowhere/a.txt", "The folder nowhere does not exist."),
    ],
)
def test_paths_that_do_not_name_a_file(path, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=f"^{message}$"):
        write(path)


def test_errors_of_the_system_name_the_file(tmp_path):
    path = tmp_path / "a.txt"
    with pytest.raises(OSError, match="No space left") as caught, replacing(path):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert caught.value.filename == str(path)
    with pytest.raises(FileNotFoundError) as caught, replacing(path):
        (tmp_path / "another.txt").read_text()
    assert caught.value.filename == str(tmp_path / "another.txt")
    with pytest.raises(OSError, match=r"^odd$"), naming(path):
        raise OSError("odd")


def test_equal_content_makes_equal_compressed_files(tmp_path):
    for name in ("a.csv.gz", "b.csv.gz", "c.csv"):
        with replacing(tmp_path / name) as file, open_compressed(file, name) as plain:
            plain.write(b"item\n")
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()) == (tmp_path / "c.csv").read_bytes() == b"item\n"
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()


# ---- leftovers of killed programs


def test_the_next_write_removes_leftovers(tmp_path):
    (tmp_path / LEFT).write_text("half")
    mine = tmp_path / ".consilience-notes.part"
    mine.write_text("a user's")
    write(tmp_path / "a.txt")
    assert sorted(os.listdir(tmp_path)) == [mine.name, "a.txt"]


def test_files_in_use_are_not_leftovers(tmp_path):
    with replacing(tmp_path / "a.txt") as file, temporary_folder(tmp_path) as folder:
        assert len(os.listdir(tmp_path)) == 2
        remove_leftovers(tmp_path)
        assert list(left_behind(tmp_path)) == []
        assert folder.is_dir()
        file.write(b"new")
        folder.rmdir()
    assert (tmp_path / "a.txt").read_bytes() == b"new"


def test_another_program_finds_leftovers_of_a_killed_one(tmp_path):
    script = "import os, sys; from consilience.atomic_files import replacing\n"
    script += "with replacing(sys.argv[1]) as file: file.write(b'half'); file.flush(); os.kill(os.getpid(), 9)"
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "a.txt")])
    assert done.returncode == -9
    (left,) = os.listdir(tmp_path)
    assert (tmp_path / left).read_bytes() == b"half"
    write(tmp_path / "b.txt")
    assert os.listdir(tmp_path) == ["b.txt"]


def test_a_pipe_or_a_link_with_such_a_name_is_kept(tmp_path):
    os.mkfifo(tmp_path / LEFT)
    (tmp_path / "kept.txt").write_text("kept")
    link = tmp_path / LEFT.replace("0", "1")
    link.symlink_to(tmp_path / "kept.txt")
    write(tmp_path / "a.txt")
    assert (tmp_path / LEFT).exists()
    assert link.is_symlink()
    assert (tmp_path / "kept.txt").read_text() == "kept"


# ---- all writers use this


@pytest.fixture
def full(monkeypatch):
    """Simulate a disk that is full when files are written to it."""

    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv.gz", "a.json", "a.parquet"])
def test_annotations_on_a_full_disk(name, tmp_path, full):
    path = tmp_path / name
    path.write_text("old")
    with pytest.raises(OSError, match="No space left") as caught:
        write_annotations(Groupings.from_lists([[["ant", "bee"], ["cow"]]]), path)
    assert caught.value.filename == str(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == [name]


@pytest.mark.slow
def test_a_report_on_a_full_disk(tmp_path, full):
    sorts = pd.DataFrame([["p", "x"], ["p", "x"], ["q", "y"], ["q", "y"]])
    model = PartitionLabelModel(prior_variance=1.0, n_init=1, random_state=0).fit(None, sorts)
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(OSError, match="No space left"):
        report(model, sorts, path=path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.html"]
