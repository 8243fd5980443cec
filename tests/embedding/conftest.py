"""The model under test, where its weights are installed."""

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from faircut.embedding.minilm import Minilm
from faircut.embedding.weights import DISTRIBUTION, minilm_files
from faircut.errors import EmbeddingError


@pytest.fixture(scope="session")
def minilm() -> Minilm:
    try:
        minilm_files()
    except EmbeddingError as error:
        pytest.skip(str(error))
    return Minilm()


@pytest.fixture(scope="session")
def model_folder() -> Path:
    """The distribution's own folder, with all its configuration."""
    try:
        files = distribution(DISTRIBUTION).files or []
    except PackageNotFoundError:
        pytest.skip(f"{DISTRIBUTION} is not installed beside the tests")
    return next(Path(str(f.locate())).parent for f in files if f.name == "model.safetensors")
