"""Read a file with given content."""

import pytest

from consilience.annotations import read_annotations


@pytest.fixture
def read(tmp_path):
    """Write text or bytes to a file and read it as annotations."""

    def read(content, name="table.csv", **options):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_annotations(path, **options)

    return read
