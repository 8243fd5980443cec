"""How a request is written for a server, in the dialect that it was found to speak; and the key of its answer.

Comes in: a request. Goes out: the body of ``/chat/completions``, the most tokens it can cost, a hash. A server that
refuses a part of the body teaches its dialect (``Dialect.after``). Sending is left to ``exchange.py``.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Literal

from faircut.llm.contract import Message, Request, Usage

__all__ = ["Dialect", "body_of", "key_of_request", "most_usage", "repair", "schema_text"]

_KEY_VERSION = 1
_SURROGATE = re.compile("[\ud800-\udfff]")
_TOKENS_A_MESSAGE = 24  # marks around a message, in any chat template seen; bytes bound the text itself
_JSON_WORDS = ("response_format", "json_schema", "json_object", "grammar", "schema", "structured output", "guided")


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a server takes; the first guess is what OpenAI documents."""

    json: Literal["schema", "object", "plain"] = "schema"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    seed: bool = True
    stream: bool = False
    stream_usage: bool = True

    def after(self, complaint: str, *, has_schema: bool) -> "Dialect | None":
        """The next thing to try after a server refused a body with this complaint; None when it says nothing new."""
        said = complaint.lower()
        if self.limit == "max_tokens" and "max_completion_tokens" in said:
            return replace(self, limit="max_completion_tokens")
        if self.stream and self.stream_usage and ("stream_options" in said or "include_usage" in said):
            return replace(self, stream_usage=False)
        if has_schema and self.json != "plain" and any(word in said for word in _JSON_WORDS):
            return replace(self, json="object" if self.json == "schema" else "plain")
        if not self.stream and "stream" in said and any(word in said for word in ("only", "must", "require", "true")):
            return replace(self, stream=True)
        return self._without(said)

    def _without(self, said: str) -> "Dialect | None":
        if self.seed and re.search(r"\bseed\b", said):
            return replace(self, seed=False)
        if self.temperature and "temperature" in said:
            return replace(self, temperature=False)
        return None


def _wire_messages(request: Request, dialect: Dialect) -> list[dict[str, str]]:
    """The messages; where the server does not take a schema, it is written out for the model to read."""
    messages = [{"role": m.role, "content": _encodable(m.content)} for m in request.messages]
    if request.schema is not None and dialect.json != "schema":
        wanted = "Answer with JSON only, without any other text. The JSON must fit this JSON schema:\n"
        messages[-1] = messages[-1] | {"content": f"{messages[-1]['content']}\n\n{wanted}{schema_text(request)}"}
    return messages


def body_of(request: Request, model: str, dialect: Dialect) -> dict[str, Any]:
    """The body of the call."""
    body: dict[str, Any] = {
        "model": model,
        "messages": _wire_messages(request, dialect),
        dialect.limit: request.max_tokens,
    }
    if dialect.temperature:
        body["temperature"] = request.temperature
    if dialect.seed and request.seed is not None:
        body["seed"] = request.seed
    if dialect.stream:
        body["stream"] = True
        body |= {"stream_options": {"include_usage": True}} if dialect.stream_usage else {}
    if request.schema is not None and dialect.json != "plain":
        body["response_format"] = _response_format(request.schema, dialect)
    return body


def _response_format(schema: Mapping[str, Any], dialect: Dialect) -> dict[str, Any]:
    if dialect.json == "object":
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}


def schema_text(request: Request) -> str:
    """The schema as JSON without spaces; empty where there is none."""
    return "" if request.schema is None else _canonical(request.schema)


def most_usage(request: Request) -> Usage:
    """An upper bound: no tokenizer in use makes more tokens than there are bytes, and the server ends the answer."""
    schema = 0 if request.schema is None else len(schema_text(request)) + 2 * _TOKENS_A_MESSAGE
    texts = sum(len(_encodable(m.content).encode()) + _TOKENS_A_MESSAGE for m in request.messages)
    return Usage(texts + schema, request.max_tokens, estimated=True)


def key_of_request(request: Request, model: str) -> bytes:
    """32 bytes of BLAKE2b over model, messages, schema and parameters.

    Not over the URL: a finished run repeats wherever the model is served, and where the server is gone. Two servers
    that give different models one name need two cache files.
    """
    parts = {
        "version": _KEY_VERSION,
        "model": model,
        "messages": [[m.role, m.content] for m in request.messages],
        "schema": request.schema,
        "max_tokens": request.max_tokens,
        "temperature": float(request.temperature),
        "seed": request.seed,
    }
    return blake2b(_canonical(parts).encode("ascii"), digest_size=32).digest()


def repair(request: Request, text: str, problem: str) -> Request:
    """The request asked once more, with the wrong answer and what is wrong with it."""
    said = Message("assistant", text[:4000])
    again = Message("user", f"That cannot be used: {problem}. Answer again, with JSON only that fits the schema.")
    return replace(request, messages=(*request.messages, said, again))


def _canonical(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True)


def _encodable(text: str) -> str:
    return _SURROGATE.sub("\ufffd", text)
