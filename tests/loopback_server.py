"""A server on loopback whose faults are scripted: each request takes the next fault, or is answered.

What is answered is left to the servers of answers (``llm/fault_server.py``) and of vectors
(``embedding/embedding_server.py``). It remembers what it was asked and what it gave in full (``paid``), so tests can
count what was paid for twice.
"""

import json
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

Fault = Callable[["Handler", dict[str, Any]], None]
S = TypeVar("S", bound="FaultyServer")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "FaultyServer"

    def do_GET(self) -> None:
        self.server.paths.append(self.path)
        if self.path.endswith("/models") and self.server.models is not None:
            self.reply(json.dumps({"object": "list", "data": [{"id": name} for name in self.server.models]}))
        else:
            self.reply("not here", status=404)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.paths.append(self.path)
            self.server.bodies.append(body)
            self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
            self.server.under_way += 1
            self.server.most_under_way = max(self.server.most_under_way, self.server.under_way)
            fault = self.server.faults.popleft() if self.server.faults else self.server.always
        try:
            if fault is not None:
                fault(self, body)
            else:
                self.answer(body)
        except (BrokenPipeError, ConnectionResetError):
            pass
        finally:
            with self.server.lock:
                self.server.under_way -= 1

    def answer(self, body: dict[str, Any]) -> None:
        """A right answer."""
        raise NotImplementedError

    def paid(self, *what: str) -> None:
        """Note what was given in full."""
        with self.server.lock:
            self.server.paid.update(what)

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


class FaultyServer(ThreadingHTTPServer):
    daemon_threads = True
    handler: type[Handler] = Handler

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), self.handler)
        self.lock = threading.Lock()
        self.faults: deque[Fault | None] = deque()
        self.always: Fault | None = None
        self.models: list[str] | None = ["tiny", "small"]
        self.paths: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paid: Counter[str] = Counter()
        self.under_way = self.most_under_way = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, *_: object) -> None:
        """A client that left is no news."""


@contextmanager
def running(server: S) -> Iterator[S]:
    """The server, until the end of the block."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


# ---------------------------------------------------------------- faults


def status(code: int, text: str = '{"error": {"message": "no"}}', **headers: str) -> Fault:
    return lambda handler, body: handler.reply(text, status=code, **headers)


def says(text: str, kind: str = "application/json") -> Fault:
    """Status 200 with any body."""
    return lambda handler, body: handler.reply(text, kind=kind)


def hang(seconds: float) -> Fault:
    return lambda handler, body: time.sleep(seconds)


def half_an_answer(handler: Handler, body: dict[str, Any]) -> None:
    """The connection is cut in the middle of the body."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [{"message": {"content": "ha')
    handler.wfile.flush()
    cut_off(handler, body)


def cut_off(handler: Handler, body: dict[str, Any]) -> None:
    """The connection is cut before a word."""
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def drip(handler: Handler, body: dict[str, Any]) -> None:
    """A byte now and then, for ever: no read timeout ends it."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    for _ in range(200):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.05)


def huge(size: int) -> Fault:
    """A body of this many bytes, without a length in front."""

    def send(handler: Handler, body: dict[str, Any]) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.close_connection = True
        part = b" " * 1_000_000
        for _ in range(size // len(part)):
            handler.wfile.write(part)

    return send
