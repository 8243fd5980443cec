"""A real server with a real small model on loopback, for every test that wants a model: the fixture ``real_server``.

What it is, and which two optional packages it needs, stands in ``bench/small_model.py``. They are looked for in the
Python that runs the tests, or in the one that the variable FAIRCUT_MODEL_PYTHON names. Without them tests are skipped.
"""

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))
from small_model import NAME, missing, serving


@dataclass(frozen=True)
class RealServer:
    """Where it listens, and the name to give its model."""

    url: str
    model: str = NAME


@pytest.fixture(scope="session")
def real_server() -> Iterator[RealServer]:
    python = os.environ.get("FAIRCUT_MODEL_PYTHON", sys.executable)
    lacking = missing(python)
    if lacking:
        pytest.skip(f"no real model: {', '.join(lacking)} not installed for {os.path.basename(python)}")
    with serving(python) as url:
        yield RealServer(url)
