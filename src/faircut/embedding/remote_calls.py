"""Calls of ``/embeddings`` of an OpenAI-compatible server: a batch of texts in, its vectors out, retried and checked.

Comes in: an endpoint and texts that fit. Goes out: unit vectors, each with the place of its text, or a typed error.
What fits into a batch is left to ``remote.py``; keys, timeouts, limits of size, retries and the budget are those of
``faircut.llm``.
"""

import base64
import binascii
import json
import re
import threading
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from faircut.embedding.checks import unit_rows
from faircut.embedding.contract import Vectors
from faircut.errors import EmbeddingError, LlmError
from faircut.llm.attempts import RetryPolicy, Tries
from faircut.llm.budget import Ledger
from faircut.llm.contract import Usage
from faircut.llm.endpoint import Endpoint
from faircut.llm.exchange import Exchange, usage_of
from faircut.llm.faults import BudgetReached, Fault

__all__ = ["SPECIAL_TOKENS", "Answered", "Connection", "Refused", "in_our_words"]

RETRY = RetryPolicy()
SPECIAL_TOKENS = 2
"""Of one text, as most models have them."""

_TOO_LARGE = re.compile(
    r"too (long|large|many|big)|exceed|maximum|longer than|larger than|at most|context (length|size|window)|batch size"
)
_TOO_LARGE_500 = re.compile(r"(input|text|prompt|batch)[^.]*too (long|large)|context (length|size|window)|batch size")
"""How servers say that a text or a batch is too large; some say it with status 500, which else is tried again."""


class Refused(Exception):  # noqa: N818  # never leaves this package
    """The server does not take this batch; ``too_large`` when it says that a text or the batch is too long."""

    def __init__(self, message: str, *, too_large: bool) -> None:
        super().__init__(message)
        self.message, self.too_large = message, too_large


@dataclass(frozen=True)
class Answered:
    """What came back for a batch: unit vectors ``(n, d)``, and the places whose numbers are no vector."""

    vectors: Vectors
    unusable: tuple[int, ...]


class Connection:
    """A connection to an endpoint, to be used in a ``with``; it learns what the server takes.

    Args:
        endpoint: the server and the model.
        dimensions: the length that every vector must have.
        ledger: the budget of all calls, and what they took.
        ask_dimensions: whether the server is told so; else only once it gave longer vectors.

    Raises:
        EmbeddingError: the openai package is not installed, or there is no key where one is needed.
    """

    def __init__(self, endpoint: Endpoint, dimensions: int, ledger: Ledger, *, ask_dimensions: bool) -> None:
        try:
            self._exchange = Exchange(endpoint)
        except LlmError as error:
            raise EmbeddingError(in_our_words(str(error))) from error
        self._ledger, self._tries, self._never = ledger, Tries(ledger, RETRY), threading.Event()
        self._model, self._dimensions, self._ask_dimensions = endpoint.model, dimensions, ask_dimensions
        self._format: Literal["base64", "float"] = "base64"

    def __enter__(self) -> "Connection":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._exchange.close()

    @property
    def where(self) -> str:
        """The server and the model, in words."""
        return self._exchange.where

    def fits(self, texts: list[str]) -> bool:
        """Whether the most that these texts can cost still fits the budget."""
        return self._ledger.fits(_most(texts))

    def ask(self, texts: list[str], tokens: int) -> Answered:
        """The vectors of a batch; what may pass is tried again as ``RETRY`` says.

        Args:
            texts: as they are sent.
            tokens: of all of them, counted here: taken where the server does not say how many it took.

        Raises:
            Refused: the server does not take this batch.
            BudgetReached: the most that it can cost does not fit the budget.
            EmbeddingError: there is no answer, or none that can be used.
        """
        try:
            return self._tries.until_answered(_most(texts), lambda: self._send(texts, tokens), self._never, self._learn)
        except Fault as fault:
            if fault.kind == "not_asked" and self._ledger.reached:
                raise BudgetReached(
                    f"{self.where}: the budget of {self._ledger.reached} is reached; what was embedded is kept, run "
                    "the same again to go on where it stopped."
                ) from None
            raise EmbeddingError(in_our_words(fault.message)) from None

    def _send(self, texts: list[str], tokens: int) -> tuple[Answered, Usage]:
        wanted = {"dimensions": self._dimensions} if self._ask_dimensions else {}
        body = {"model": self._model, "input": texts, "encoding_format": self._format}
        answer = self._exchange.embeddings(body | wanted)
        counted = usage_of(answer.get("usage"))
        usage = counted if counted and counted.total else Usage(tokens, estimated=True)
        return self._checked(self._rows(answer, len(texts), usage), usage), usage

    def _learn(self, fault: Fault) -> bool:
        """Whether the call is worth saying in another way: without what the server complains of.

        Raises:
            Refused: the server does not take this batch, so that no other try of it helps.
        """
        said = fault.complaint.lower()
        if self._format == "base64" and ("encoding_format" in said or "base64" in said):
            self._format = "float"
            return True
        if (refused := _refusal(fault)) is not None:
            raise refused from None
        return False

    def _rows(self, answer: dict[str, Any], count: int, usage: Usage) -> list[NDArray[np.float64] | None]:
        """The numbers of each text, put in the order of the texts; None where they are no numbers."""
        data = answer.get("data")
        if not isinstance(data, list) or len(data) != count:
            found = f"{len(data)} vectors" if isinstance(data, list) else "an answer without vectors"
            raise self._unusable(f"{found} for {count} texts", usage)
        if not all(isinstance(row, dict) for row in data):
            raise self._unusable("an answer whose rows are no vectors", usage)
        places = [row.get("index", place) for place, row in enumerate(data)]
        if any(type(place) is not int for place in places) or sorted(places) != list(range(count)):
            raise self._unusable("vectors whose numbers (index) do not say which text they belong to", usage)
        by_place = dict(zip(places, data, strict=True))
        return [_numbers(by_place[place].get("embedding")) for place in range(count)]

    def _checked(self, rows: list[NDArray[np.float64] | None], usage: Usage) -> Answered:
        lengths = {len(row) for row in rows if row is not None}
        if wrong := sorted(lengths - {self._dimensions}):
            if not self._ask_dimensions and min(wrong) > self._dimensions:
                self._ask_dimensions = True  # longer than stated: the server may be able to shorten them
                raise self._unusable("longer vectors than stated", usage)
            raise Fault(
                "unusable",
                f"{self.where} gave vectors of {wrong[0]} numbers, the spec says {self._dimensions}; "
                f"write dimensions={wrong[0]}, or name another model.",
                fatal=True,
                billed=usage,
            )
        sound = np.zeros((len(rows), self._dimensions), dtype=np.float64)
        good = np.zeros(len(rows), dtype=bool)
        for place, row in enumerate(rows):
            if row is not None and np.isfinite(row).all() and (length := np.abs(row).max(initial=0.0)) > 0:
                sound[place], good[place] = row / length, True  # by its largest first: squares could overflow
        return Answered(unit_rows(sound), tuple(np.flatnonzero(~good).tolist()))

    def _unusable(self, what: str, usage: Usage) -> Fault:
        return Fault("unusable", f"{self.where} gave {what}.", retry=True, billed=usage)


def _most(texts: list[str]) -> Usage:
    """The most tokens that these texts can have: no tokenizer in use makes more of them than there are bytes."""
    return Usage(sum(len(text.encode("utf-8", "replace")) + SPECIAL_TOKENS for text in texts), estimated=True)


def _numbers(given: object) -> NDArray[np.float64] | None:
    """The numbers of one vector, from JSON or from base64 of little-endian float32."""
    try:
        if isinstance(given, str):
            return np.frombuffer(base64.b64decode(given, validate=True), dtype="<f4").astype(np.float64)
        if isinstance(given, list) and given and not any(isinstance(value, (str, bool)) for value in given):
            row = np.array(given, dtype=np.float64)
            return row if row.ndim == 1 else None
    except (ValueError, TypeError, OverflowError, binascii.Error):
        return None
    return None


def _refusal(fault: Fault) -> Refused | None:
    """The refusal of this batch alone, where the fault is one."""
    said = _said(fault.complaint)
    if fault.fatal or not (fault.kind == "refused" or _TOO_LARGE_500.search(said)):
        return None
    too_large = " (413" in fault.message or bool(_TOO_LARGE.search(said))
    return Refused(in_our_words(fault.message), too_large=too_large)


def _said(complaint: str) -> str:
    try:
        return json.dumps(json.loads(complaint)).lower()
    except ValueError:
        return complaint.lower()


def in_our_words(message: str) -> str:
    """An error of the language models' client, with the parameter of a spec instead of its option."""
    return message.replace("asking a language model", "this embedder").replace("--api-key-env NAME", "key_env").replace(
        "--api-key-env", "key_env"
    )  # fmt: skip
