"""A server of ``/v1/embeddings`` on loopback, with the scripted faults of ``loopback_server.py``.

A text's vector is made of its characters, so tests can say what belongs to which text; it costs as many tokens as it
has words. Every text is paid for by itself (``paid``).
"""

import base64
import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

import loopback_server
from loopback_server import Fault, FaultyServer, half_an_answer, hang, running, says

__all__ = [
    "EmbeddingServer", "Handler", "at_most", "changed", "half_an_answer", "hang", "raw_vector", "says", "serving",
    "status", "unit_vector",
]  # fmt: skip

SIZE = 8


def raw_vector(text: str, size: int = SIZE) -> np.ndarray:
    """Not of unit length, and another for every text."""
    seed = sum((place + 1) * ord(character) for place, character in enumerate(text))
    return (np.random.default_rng(seed).normal(size=size) * 3).astype(np.float32)


def unit_vector(text: str, size: int = SIZE) -> np.ndarray:
    raw = raw_vector(text, size).astype(np.float64)
    return (raw / np.linalg.norm(raw)).astype(np.float32)


class Handler(loopback_server.Handler):
    server: "EmbeddingServer"

    def rows(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        """The rows of a right answer, in whatever format was asked."""
        size = body.get("dimensions", self.server.size)
        vectors = [raw_vector(text, size) for text in body["input"]]
        coded = body.get("encoding_format") == "base64"
        shown = [base64.b64encode(v.tobytes()).decode() if coded else [float(x) for x in v] for v in vectors]
        return [{"object": "embedding", "index": place, "embedding": v} for place, v in enumerate(shown)]

    def answer(self, body: dict[str, Any], rows: list[Any] | None = None) -> None:
        found = self.rows(body) if rows is None else rows
        tokens = words(body["input"])
        usage = {"prompt_tokens": tokens, "total_tokens": tokens} if self.server.says_usage else None
        self.reply(json.dumps({"object": "list", "data": found} | ({"usage": usage} if usage else {})))
        self.paid(*body["input"])


class EmbeddingServer(FaultyServer):
    handler = Handler

    def __init__(self) -> None:
        super().__init__()
        self.models = ["tiny"]
        self.size = SIZE
        self.says_usage = True

    @property
    def sizes(self) -> list[int]:
        """How many texts each request had."""
        return [len(body["input"]) for body in self.bodies]

    @property
    def tokens(self) -> int:
        """What all texts cost that it gave, in tokens."""
        return sum(words([text]) * times for text, times in self.paid.items())


def words(texts: list[str]) -> int:
    return sum(len(text.split()) for text in texts)


def serving() -> AbstractContextManager[EmbeddingServer]:
    return running(EmbeddingServer())


# ---------------------------------------------------------------- faults


def status(code: int, message: str = "no", **headers: str) -> Fault:
    return loopback_server.status(code, json.dumps({"error": {"message": message}}), **headers)


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
