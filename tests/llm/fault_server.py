"""An OpenAI-compatible server of answers on loopback, with the scripted faults of ``loopback_server.py``.

Every answer is paid for by its prompt (``paid``), so tests can count what was paid for twice.
"""

import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from loopback_server import (
    Fault,
    FaultyServer,
    cut_off,
    drip,
    half_an_answer,
    hang,
    huge,
    running,
    says,
    status,
)
from loopback_server import Handler as LoopbackHandler

__all__ = [
    "FaultServer", "Handler", "changed", "chosen", "cut_off", "drip", "half_a_stream", "half_an_answer", "hang", "huge",
    "prompt_of", "says", "serving", "status",
]  # fmt: skip


class Handler(LoopbackHandler):
    server: "FaultServer"

    def answer(self, body: dict[str, Any], **changes: Any) -> None:
        time.sleep(self.server.seconds)
        text = self.server.text(body)
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        if body.get("stream"):
            self.pieces(text, usage)
        else:
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            self.reply(json.dumps({"id": "1", "choices": [choice], "usage": usage} | changes))
        self.paid(prompt_of(body))

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


class FaultServer(FaultyServer):
    handler = Handler

    def __init__(self) -> None:
        super().__init__()
        self.text: Callable[[dict[str, Any]], str] = lambda body: f"answer to {prompt_of(body)}"
        self.seconds = 0.0

    @property
    def asked(self) -> list[str]:
        """The prompts of all requests, in order."""
        return [prompt_of(body) for body in self.bodies]


def serving() -> AbstractContextManager[FaultServer]:
    return running(FaultServer())


def prompt_of(body: dict[str, Any]) -> str:
    return next(m["content"] for m in body["messages"] if m["role"] == "user")


# ---------------------------------------------------------------- faults


def changed(**changes: Any) -> Fault:
    """An answer with other fields at its top."""
    return lambda handler, body: handler.answer(body, **changes)


def chosen(content: object, finish: str = "stop", **more: Any) -> Fault:
    """An answer with this message and end."""
    message = {"role": "assistant", "content": content} | more
    return changed(choices=[{"index": 0, "message": message, "finish_reason": finish}])


def half_a_stream(handler: Handler, body: dict[str, Any]) -> None:
    """The pieces end without a reason."""
    handler.pieces("half of it", None, whole=False)
