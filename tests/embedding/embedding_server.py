"""A server of ``/v1/embeddings`` on loopback with scripted faults: each request takes the next fault, or is answered.

A text's vector is made of its characters, so tests can say what belongs to which text. It remembers which texts it
gave in full (``paid``).
"""

import base64
import json
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

Fault = Callable[["Handler", dict[str, Any]], None]
SIZE = 8


def raw_vector(text: str, size: int = SIZE) -> np.ndarray:
    """Not of unit length, and another for every text."""
    seed = sum((place + 1) * ord(character) for place, character in enumerate(text))
    return (np.random.default_rng(seed).normal(size=size) * 3).astype(np.float32)


def unit_vector(text: str, size: int = SIZE) -> np.ndarray:
    raw = raw_vector(text, size).astype(np.float64)
    return (raw / np.linalg.norm(raw)).astype(np.float32)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "EmbeddingServer"

    def do_GET(self) -> None:
        self.reply(json.dumps({"object": "list", "data": [{"id": "tiny"}]}))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.bodies.append(body)
            self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
            fault = self.server.faults.popleft() if self.server.faults else self.server.always
        try:
            if fault is not None:
                fault(self, body)
            else:
                self.answer(body)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def rows(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        """The rows of a right answer, in whatever format was asked."""
        size = body.get("dimensions", self.server.size)
        vectors = [raw_vector(text, size) for text in body["input"]]
        coded = body.get("encoding_format") == "base64"
        shown = [base64.b64encode(v.tobytes()).decode() if coded else [float(x) for x in v] for v in vectors]
        return [{"object": "embedding", "index": place, "embedding": v} for place, v in enumerate(shown)]

    def answer(self, body: dict[str, Any], rows: list[Any] | None = None) -> None:
        found = self.rows(body) if rows is None else rows
        self.reply(json.dumps({"object": "list", "data": found, "usage": {"prompt_tokens": 1, "total_tokens": 1}}))
        with self.server.lock:
            self.server.paid.update(body["input"])

    def reply(self, text: str, *, status: int = 200, kind: str = "application/json", **headers: str) -> None:
        raw = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(raw)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        """Quiet."""


class EmbeddingServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.faults: deque[Fault | None] = deque()
        self.always: Fault | None = None
        self.size = SIZE
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paid: Counter[str] = Counter()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    @property
    def sizes(self) -> list[int]:
        """How many texts each request had."""
        return [len(body["input"]) for body in self.bodies]

    def handle_error(self, *_: object) -> None:
        """A client that left is no news."""


@contextmanager
def serving() -> Iterator[EmbeddingServer]:
    server = EmbeddingServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


# ---------------------------------------------------------------- faults


def status(code: int, message: str = "no", **headers: str) -> Fault:
    return lambda handler, body: handler.reply(json.dumps({"error": {"message": message}}), status=code, **headers)


def says(text: str, kind: str = "application/json") -> Fault:
    """Status 200 with any body."""
    return lambda handler, body: handler.reply(text, kind=kind)


def changed(change: Callable[[list[dict[str, Any]]], list[Any]]) -> Fault:
    """An answer whose rows are changed; floats, so that tests can put in what they like."""

    def answer(handler: Handler, body: dict[str, Any]) -> None:
        handler.answer(body, change(handler.rows(body | {"encoding_format": "float"})))

    return answer


def at_most(texts: int, code: int = 413, message: str = "batch size 9 > maximum allowed batch size") -> Fault:
    """A server that takes so many texts and no more."""

    def answer(handler: Handler, body: dict[str, Any]) -> None:
        if len(body["input"]) > texts:
            handler.reply(json.dumps({"error": message}), status=code)
        else:
            handler.answer(body)

    return answer


def hang(seconds: float) -> Fault:
    return lambda handler, body: time.sleep(seconds)


def half_an_answer(handler: Handler, body: dict[str, Any]) -> None:
    """The connection ends in the middle of the body."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"data": [')
    handler.close_connection = True
