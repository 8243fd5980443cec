"""The seam of language models: requests in, one answer for each out. The client for servers is ``client.py``.

An answer that cannot be had says why in ``failure``; what stops a whole batch is raised, with all answers paid for.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from faircut.errors import LlmError

__all__ = [
    "Answer", "Failure", "FailureKind", "LanguageModel", "Message", "Progress", "Request", "Usage", "ask",
]  # fmt: skip

Progress = Callable[[int, int], None]
"""Called in the caller's thread with (requests answered or given up, requests in all)."""

FailureKind = Literal["connection", "timeout", "server", "refused", "unusable", "invalid", "truncated", "not_asked"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """What a model is asked. Equal requests are asked once, and never again where there is a cache.

    ``schema`` is a JSON schema of the subset that ``schema.py`` checks; the answer is then JSON that fits it.
    ``max_tokens`` bounds the answer (reasoning included, where a model does so), and so its price.

    Raises:
        LlmError: a value outside of its range, no message, or a schema with a keyword that is not checked.
    """

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    max_tokens: int = 1024
    temperature: float = 0.0
    seed: int | None = 0

    def __post_init__(self) -> None:
        from faircut.llm.schema import check_schema

        if not self.messages:
            raise LlmError("a request has no message; give at least one.")
        if self.max_tokens < 1:
            raise LlmError(f"max_tokens is at least 1, found {self.max_tokens}.")
        if not 0 <= self.temperature <= 2:
            raise LlmError(f"temperature lies between 0 and 2, found {self.temperature}.")
        if self.schema is not None:
            check_schema(self.schema)


def ask(
    prompt: str,
    *,
    system: str = "",
    schema: Mapping[str, Any] | None = None,
    max_tokens: int = 1024,
    temperature: float = 0.0,
    seed: int | None = 0,
) -> Request:
    """A request of one user message, after a system message where there is one. Raises as ``Request``."""
    first = (Message("system", system),) if system else ()
    return Request((*first, Message("user", prompt)), schema, max_tokens, temperature, seed)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server counted them; ``estimated`` where it did not say and they were counted here."""

    prompt: int = 0
    completion: int = 0
    estimated: bool = False

    def __add__(self, other: "Usage") -> "Usage":
        estimated = self.estimated or other.estimated
        return Usage(self.prompt + other.prompt, self.completion + other.completion, estimated)

    @property
    def total(self) -> int:
        """Prompt and completion."""
        return self.prompt + self.completion


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no usable answer; ``message`` is one sentence without keys and without control characters.

    ``connection``, ``timeout``, ``server`` (5xx, 429, a page instead of JSON): all tries failed. ``refused``: the
    server does not take this request (too long, filtered). ``unusable``: answered without text. ``invalid``: not JSON
    or not of the schema, twice. ``truncated``: the JSON ended at ``max_tokens``. ``not_asked``: the batch stopped
    before its turn.
    """

    kind: FailureKind
    message: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one request. Untrusted: text as the model wrote it, control characters included.

    ``parsed`` is the JSON value that fits the request's schema, None without a schema or with a failure (check
    ``failure``: null may be a value). ``usage`` and ``cost`` (US dollars, None when the price is
    unknown) are those of all that was asked for this answer, whether now or by an earlier run.
    """

    text: str = ""
    parsed: Any = None
    finish: str = ""
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    from_cache: bool = False
    failure: Failure | None = None

    @property
    def ok(self) -> bool:
        """Whether there is a usable answer."""
        return self.failure is None

    @property
    def truncated(self) -> bool:
        """Whether the text ended at ``max_tokens``."""
        return self.finish == "length"


class LanguageModel(Protocol):
    """A model that answers requests."""

    @property
    def model(self) -> str:
        """The model's name, as it goes into keys and reports."""
        ...

    def complete(self, requests: Sequence[Request], *, progress: Progress | None = None) -> list[Answer]:
        """One answer for each request, in order. A request that fails alone has an answer with a ``failure``.

        Raises:
            LlmStopped: nothing more can be asked (wrong key, unknown model, server gone). ``answers`` has one for
                each request; those not reached have the failure ``not_asked``.
            BudgetReached: the same, because the budget is spent.
            StoreError: the cache cannot be used; raised before anything is asked where that can be known.
        """
        ...
