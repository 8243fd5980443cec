"""What the tests of indexes share."""

import tempfile
from pathlib import Path

import pytest


@pytest.fixture(scope="module", autouse=True)
def memory_as_temporary_folder(tmp_path_factory):
    """The engine waits for the disk five times an index; where there is a folder in memory, the tests use that."""
    tmp_path_factory.getbasetemp()  # pytest's own folder is not to lie in the one that goes
    memory = Path("/dev/shm")  # noqa: S108
    with (
        pytest.MonkeyPatch.context() as patch,
        tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name,
    ):
        patch.setattr("tempfile.tempdir", name)
        yield
