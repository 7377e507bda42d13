"""The folder of a fit is exchanged as a whole, and files in it that no fit wrote are never lost."""

import errno
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from consilience.errors import InputError
from consilience.workflows import result_folder
from consilience.workflows.result_folder import replaced_folder, require_free
from tests.workflows.whole_folders import fit_of, leftovers, put

OLD, NEW = ("clusters.csv", "annotators.csv", "mapping.csv"), ("clusters.csv", "annotators.csv", "views.csv")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def test_a_fit_makes_its_folder_and_parents(tmp_path):
    put(tmp_path / "deep" / "out", "old", OLD)
    assert fit_of(tmp_path / "deep" / "out")["fit"] == "old"
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("exchanges", [True, False])
def test_another_fit_replaces_the_earlier_one(exchanges, out, monkeypatch):
    if not exchanges:
        monkeypatch.setattr(result_folder, "_exchange", lambda *_: False)
    put(out, "old", OLD)
    put(out, "new", NEW)
    assert fit_of(out)["fit"] == "new"
    assert sorted(os.listdir(out)) == sorted([*NEW, "summary.json"])
    assert leftovers(out.parent) == []


def test_a_folder_with_only_a_fit_is_exchanged_in_one_step(out):
    put(out, "old", OLD)
    out.chmod(0o750)
    before = out.stat()
    put(out, "new", NEW)
    if sys.platform == "linux":
        assert out.stat().st_ino != before.st_ino
    assert out.stat().st_mode == before.st_mode


def test_other_files_are_kept(out):
    put(out, "old", OLD)
    (out / "notes.txt").write_text("mine")
    (out / "figures").mkdir()
    before = out.stat().st_ino
    put(out, "new", NEW)
    assert fit_of(out)["fit"] == "new"
    assert (out / "notes.txt").read_text() == "mine"
    assert sorted(os.listdir(out)) == sorted([*NEW, "summary.json", "notes.txt", "figures"])
    assert out.stat().st_ino == before


def test_the_working_directory_stays_the_same_folder(out, monkeypatch):
    put(out, "old", OLD)
    monkeypatch.chdir(out)
    put(Path("."), "new", NEW)
    assert os.path.samefile(os.curdir, out)
    assert fit_of(out)["fit"] == "new"


def test_a_link_to_a_folder_is_kept(out, tmp_path):
    put(out, "old", OLD)
    link = tmp_path / "link"
    link.symlink_to(out)
    put(link, "new", NEW)
    assert link.is_symlink()
    assert fit_of(out)["fit"] == "new"


def refused(out, names=NEW):
    before = {path: path.read_bytes() for path in out.iterdir() if path.is_file()}
    with pytest.raises(InputError) as caught:
        put(out, "new", names)
    assert {path: path.read_bytes() for path in out.iterdir() if path.is_file()} == before
    assert leftovers(out.parent) == []
    return str(caught.value).replace(str(out), "out")


def test_files_that_no_fit_wrote_are_not_replaced(out):
    out.mkdir()
    (out / "views.csv").write_text("mine")
    said = "out/views.csv exists but does not belong to a fit in out; move it, or name another folder with out=…."
    assert refused(out) == said
    put(out, "old", OLD)  # without views
    assert refused(out) == said


@pytest.mark.parametrize("summary", ["mine", "[]", "null", '{"consilience": 1}', '{"checksums": {"a.csv": ""}}'])
def test_a_foreign_summary_is_not_replaced(summary, out):
    out.mkdir()
    (out / "summary.json").write_text(summary)
    assert refused(out).startswith("out/summary.json exists but does not belong to a fit")


def test_a_summary_cannot_claim_other_files(out):
    put(out, "old", OLD)
    (out / "thesis.txt").write_text("mine")
    summary = json.loads((out / "summary.json").read_text())
    summary["checksums"]["thesis.txt"] = "0"
    (out / "summary.json").write_text(json.dumps(summary))
    assert refused(out).startswith("out/clusters.csv exists but does not belong to a fit")
    assert (out / "thesis.txt").read_text() == "mine"


def test_changed_files_are_not_replaced(out):
    put(out, "old", OLD)
    (out / "mapping.csv").write_text("what I found out since")
    message = "out/mapping.csv was changed since the fit that wrote it; move it, or name another folder with out=…."
    assert refused(out) == message
    (out / "mapping.csv").unlink()  # a removed file is no obstacle
    put(out, "new", NEW)
    assert fit_of(out)["fit"] == "new"


def test_a_link_or_a_folder_instead_of_a_file_is_not_replaced(out, tmp_path):
    put(out, "old", OLD)
    (tmp_path / "clusters.csv").write_text((out / "clusters.csv").read_text())
    (out / "clusters.csv").unlink()
    (out / "clusters.csv").symlink_to(tmp_path / "clusters.csv")
    assert refused(out).startswith("out/clusters.csv was changed")
    (out / "clusters.csv").unlink()
    (out / "clusters.csv").mkdir()
    assert refused(out).startswith("out/clusters.csv was changed")


def test_a_file_added_during_the_fit_is_not_replaced(out):
    put(out, "old", OLD)

    def slowly():
        with replaced_folder(out) as folder:
            (folder / "views.csv").write_text("new")
            (out / "views.csv").write_text("mine")

    with pytest.raises(InputError, match=r"views\.csv exists"):
        slowly()
    (out / "views.csv").unlink()
    assert fit_of(out)["fit"] == "old"
    assert leftovers(out.parent) == []


def test_a_file_added_just_before_the_exchange_is_kept(out, monkeypatch):
    put(out, "old", OLD)
    exchange = result_folder._exchange

    def late(stage, folder):
        (folder / "notes.txt").write_text("mine")
        return exchange(stage, folder)

    monkeypatch.setattr(result_folder, "_exchange", late)
    put(out, "new", NEW)
    assert (out / "notes.txt").read_text() == "mine"
    assert fit_of(out)["fit"] == "new"
    assert leftovers(out.parent) == []


@pytest.mark.parametrize("failing", range(7))
def test_a_failure_between_two_files_restores_all(failing, out, monkeypatch):
    put(out, "old", OLD)
    (out / "notes.txt").write_text("mine")
    rename, calls = os.rename, []

    def fail(one, other):
        calls.append(one)
        if len(calls) == failing + 1:
            raise OSError(errno.ENOSPC, "No space left on device", str(one))
        rename(one, other)

    monkeypatch.setattr(os, "rename", fail)
    with pytest.raises(OSError, match="No space left") as caught:
        put(out, "new", NEW)
    monkeypatch.undo()
    assert os.path.dirname(caught.value.filename) == str(out)
    assert fit_of(out)["fit"] == "old"
    assert sorted(os.listdir(out)) == sorted([*OLD, "summary.json", "notes.txt"])


def test_errors_name_the_file_in_the_folder(out):
    with pytest.raises(OSError, match="No space left") as caught, replaced_folder(out) as folder:
        raise OSError(errno.ENOSPC, "No space left on device", str(folder / "model.zip"))
    assert caught.value.filename == str(out / "model.zip")
    assert not out.exists()
    assert leftovers(out.parent) == []


def test_paths_that_cannot_be_a_folder(tmp_path):
    (tmp_path / "file").write_text("mine")
    for out in (tmp_path / "file", tmp_path / "file" / "out"):
        with pytest.raises(InputError, match="cannot be a folder, since a file of that name exists"):
            require_free(out, NEW)


@pytest.mark.skipif(os.geteuid() == 0, reason="to root no folder is closed")
def test_a_folder_without_permission(tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    for out in (tmp_path / "closed", tmp_path / "closed" / "out"):
        with pytest.raises(PermissionError) as caught:
            require_free(out, NEW)
        assert caught.value.filename == str(tmp_path / "closed")


# ---- killed at every step

KILLED = textwrap.dedent("""
    import os, sys
    from pathlib import Path
    from tests.workflows.whole_folders import put

    def armed(step):
        # audit events come before what they announce: files opened, made, renamed, removed, and calls of the system
        seen = 0
        def hook(event, arguments):
            nonlocal seen
            if event in {"open", "ctypes.dlopen"} or event.split(".")[0] in {"os", "shutil", "fcntl"}:
                seen += 1
                if seen == step:
                    os.kill(os.getpid(), 9)
        sys.addaudithook(hook)

    out, old, new, user = Path(sys.argv[1]), sys.argv[2].split(), sys.argv[3].split(), sys.argv[4]
    ended = False
    step = 0
    while not ended:
        step += 1
        run = out.parent / str(step)
        run.mkdir()
        if old:
            put(run / "out", "old", old)
        if user:
            (run / "out").mkdir(exist_ok=True)
            (run / "out" / user).write_text("mine")
        child = os.fork()
        if not child:
            try:
                armed(step)
                put(run / "out", "new", new)
                os._exit(0)
            finally:
                os._exit(1)
        status = os.waitpid(child, 0)[1]
        if os.WIFEXITED(status) and os.WEXITSTATUS(status):
            sys.exit(f"step {step} failed")
        ended = status == 0
    print(step)
    """)


def killed_at_every_step(tmp_path, *, old=(), user=""):
    """Return folders in each of which a fit was killed one step later than in the last; the final one finished."""
    arguments = [str(tmp_path / "out"), " ".join(old), " ".join(NEW), user]
    done = subprocess.run([sys.executable, "-c", KILLED, *arguments], cwd=ROOT, capture_output=True, check=True)
    n_steps = int(done.stdout)
    assert n_steps > 20  # else the events have other names
    return [tmp_path / str(step) / "out" for step in range(1, n_steps + 1)]


def settled(out, user=""):
    """Run another fit, after which nothing is left of the killed one."""
    put(out, "third", OLD)
    assert fit_of(out)["fit"] == "third"
    assert leftovers(out.parent) == []
    assert set(os.listdir(out)) == {*OLD, "summary.json", *filter(None, [user])}


@pytest.mark.slow
def test_a_killed_fit_leaves_no_folder_or_the_whole(tmp_path):
    found = []
    for out in killed_at_every_step(tmp_path):
        found.append(fit_of(out) is not None)
        settled(out)
    assert found == sorted(found)
    assert set(found) == {False, True}


@pytest.mark.skipif(sys.platform not in {"linux", "darwin"}, reason="the system exchanges no folders")
@pytest.mark.slow
def test_a_killed_fit_leaves_the_old_or_the_new(tmp_path):
    found = []
    for out in killed_at_every_step(tmp_path, old=OLD):
        found.append(fit_of(out)["fit"])
        settled(out)
    assert found == sorted(found, reverse=True)
    assert set(found) == {"old", "new"}


@pytest.mark.slow
@pytest.mark.parametrize("old", [OLD, pytest.param((), marks=pytest.mark.slow)], ids=["a fit", "no fit"])
def test_a_killed_fit_in_a_mixed_folder_is_recognised_by_its_missing_summary(old, tmp_path):
    found = []
    for out in killed_at_every_step(tmp_path, old=old, user="notes.txt"):
        assert (out / "notes.txt").read_text() == "mine"
        is_whole = (out / "summary.json").exists() or (not old and fit_or_none(out) is None)
        require_free(out, [*NEW, "summary.json"])  # the first thing that the next fit does
        mended = fit_of(out)
        found.append((is_whole, mended and mended["fit"]))
        settled(out, "notes.txt")
        assert (out / "notes.txt").read_text() == "mine"
    before, states = "old" if old else None, [state for _, state in found]
    assert set(states) == {before, "new"}
    assert states == [before] * states.count(before) + ["new"] * states.count("new")
    assert not all(whole for whole, _ in found)  # there is such a moment
    assert all(state == before for whole, state in found if not whole)


def fit_or_none(out):
    """Return the fit in a folder, or True if it is incomplete."""
    try:
        return fit_of(out)
    except AssertionError:
        return True
