"""What chunkers that ask a language model share: whether one is needed, which it is, and its text made harmless.

Comes in: a chunker and its models, or what a model wrote. What is asked is left to each chunker, how to the client.
"""

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from faircut.chunkers.contract import Models, Tally
from faircut.errors import LlmError
from faircut.llm.contract import Answer, LanguageModel, Request

__all__ = [
    "answers_of", "language_model_for", "loads_model", "needs_language_model", "one_line", "rewrites", "shortened",
    "tally_of",
]  # fmt: skip

_OF_THE_SERVER = ("connection", "timeout", "server")  # failures that another day may not have
_JOINERS = "\u200c\u200d"  # without them words of Persian and Hindi are others


def needs_language_model(chunker: Any) -> bool:
    """Whether a chunker, or one inside it, asks a language model of ``Models``."""
    return any(getattr(part, "needs_language_model", False) for part in _parts(chunker))


def loads_model(chunker: Any) -> bool:
    """Whether a chunker, or one inside it, runs a large model here, which should be in memory once."""
    return any(getattr(part, "loads_model", False) for part in _parts(chunker))


def rewrites(chunker: Any) -> bool:
    """Whether a chunker, or one inside it, gives text that is not the document's own; spans say where it is from."""
    return any(getattr(part, "rewrites", False) for part in _parts(chunker))


def _parts(chunker: Any) -> Iterator[Any]:
    yield chunker
    if is_dataclass(chunker):
        for item in fields(chunker):
            yield from _parts(getattr(chunker, item.name))


def language_model_for(chunker: Any, models: Models) -> LanguageModel:
    """The language model of ``models``.

    Raises:
        LlmError: there is none; says how to name one.
    """
    if models.language_model is None:
        raise LlmError(
            f"{chunker} needs a language model: name a server with --llm URL and a model with --model NAME, "
            "or in Python give Models a language_model."
        )
    return models.language_model


def answers_of(model: LanguageModel, requests: Sequence[Request]) -> list[Answer]:
    """The answers to all requests, usable or not.

    Raises:
        LlmError: the server failed at one of them, however often it was tried. That says nothing about the text, so
            nothing is made of it: what was answered is kept, and asking again goes on from there.
        LlmStopped: as of the model.
    """
    answers = model.complete(requests)
    lost = [answer.failure for answer in answers if answer.failure and answer.failure.kind in _OF_THE_SERVER]
    if lost:
        raise LlmError(
            f"{len(lost):,} of {len(answers):,} requests got no answer: {lost[0].message} What was answered is kept; "
            "run the same again to go on."
        )
    return answers


def tally_of(models: Models) -> Tally:
    """Where to count; what nobody asked for is counted for nobody."""
    return models.tally or Tally()


def one_line(text: str) -> str:
    """Text on one line without control characters, marks that turn the direction of text, and lone surrogates."""
    if not text.isprintable():
        text = "".join(c for c in text if c.isprintable() or c.isspace() or c in _JOINERS)
    return " ".join(text.split())


def shortened(text: str, characters: int) -> str:
    """The beginning of a text that is too long, with the mark of it."""
    return text if len(text) <= characters else f"{text[:characters].rstrip()}..."
