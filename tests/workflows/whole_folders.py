"""A small fit in a folder, and a reader that checks every file against the summary."""

import hashlib
import json

from consilience.workflows.result_folder import KNOWN, checksums_in, replaced_folder, require_free


def fit_of(folder):
    """Return the summary of the fit whose files a folder contains, with no others; None if it contains none."""
    there = {path.name for path in folder.iterdir()} & KNOWN if folder.is_dir() else set()
    if not there:
        return None
    assert "summary.json" in there, f"half a result: {sorted(there)}"
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert there == {"summary.json", *summary["checksums"]}
    for name, checksum in summary["checksums"].items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == checksum, name
    return summary


def leftovers(folder):
    """Return temporary files and folders in a folder."""
    return sorted(folder.rglob(".consilience-*.part"))


def put(out, fit, names):
    """Put files into a folder as ``consilience fit`` does."""
    require_free(out, [*names, "summary.json"])
    with replaced_folder(out) as folder:
        for name in names:
            (folder / name).write_text(f"{name} of {fit}")
        summary = {"consilience": "0", "fit": fit, "checksums": checksums_in(folder)}
        (folder / "summary.json").write_text(json.dumps(summary))
