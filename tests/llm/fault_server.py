"""An OpenAI-compatible server on loopback whose faults are scripted: each request takes the next fault, or is answered.

It remembers what it was asked and what it answered in full (``paid``), so tests can count what was paid for twice.
"""

import json
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Fault = Callable[["Handler", dict[str, Any]], None]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "FaultServer"

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
            self.server.asked.append(prompt_of(body))
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

    def answer(self, body: dict[str, Any], **changes: Any) -> None:
        time.sleep(self.server.seconds)
        text = self.server.text(body)
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        if body.get("stream"):
            self.pieces(text, usage)
        else:
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            self.reply(json.dumps({"id": "1", "choices": [choice], "usage": usage} | changes))
        with self.server.lock:
            self.server.paid[prompt_of(body)] += 1

    def pieces(self, text: str, usage: dict[str, int] | None, *, whole: bool = True) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for start in range(0, len(text), 7):
            self.event(
                {"choices": [{"index": 0, "delta": {"content": text[start : start + 7]}, "finish_reason": None}]}
            )
        if whole:
            self.event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
            self.event({"choices": [], "usage": usage})
            self.wfile.write(b"data: [DONE]\n\n")

    def event(self, piece: dict[str, Any]) -> None:
        self.wfile.write(f"data: {json.dumps(piece)}\n\n".encode())
        self.wfile.flush()

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


class FaultServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.faults: deque[Fault | None] = deque()
        self.always: Fault | None = None
        self.text: Callable[[dict[str, Any]], str] = lambda body: f"answer to {prompt_of(body)}"
        self.models: list[str] | None = ["tiny", "small"]
        self.seconds = 0.0
        self.asked: list[str] = []
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
def serving() -> Iterator[FaultServer]:
    server = FaultServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def prompt_of(body: dict[str, Any]) -> str:
    return next(m["content"] for m in body["messages"] if m["role"] == "user")


# ---------------------------------------------------------------- faults


def status(code: int, text: str = '{"error": {"message": "no"}}', **headers: str) -> Fault:
    return lambda handler, body: handler.reply(text, status=code, **headers)


def says(text: str, kind: str = "application/json") -> Fault:
    """Status 200 with any body."""
    return lambda handler, body: handler.reply(text, kind=kind)


def changed(**changes: Any) -> Fault:
    """An answer with other fields at its top."""
    return lambda handler, body: handler.answer(body, **changes)


def chosen(content: object, finish: str = "stop", **more: Any) -> Fault:
    """An answer with this message and end."""
    message = {"role": "assistant", "content": content} | more
    return changed(choices=[{"index": 0, "message": message, "finish_reason": finish}])


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
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def cut_off(handler: Handler, body: dict[str, Any]) -> None:
    """The connection is cut before a word."""
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def half_a_stream(handler: Handler, body: dict[str, Any]) -> None:
    """The pieces end without a reason."""
    handler.pieces("half of it", None, whole=False)


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
