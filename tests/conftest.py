"""Fixtures that all tests share."""

from pathlib import Path

import pytest

pytest_plugins = ["small_comparison"]

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def repository() -> Path:
    return REPOSITORY


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The labelled corpora beside the repository, where they are."""
    folder = REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the labelled corpora (../shared/data) are not on this machine")
    return folder
