"""The one client: a batch of requests in, an answer for each out, from the cache or from a server, never asked twice.

Each answer is on the disk before it is counted as done, so a process killed at any moment loses at most what is under
way. What is sent and how it is retried is left to ``attempts.py`` and ``exchange.py``.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol

from faircut.errors import LlmError
from faircut.llm.answer_store import AnswerStore, Reply
from faircut.llm.attempts import Asker, RetryPolicy
from faircut.llm.batch import Batch, Streak
from faircut.llm.budget import Budget, Ledger, Purse, Spending
from faircut.llm.claims import Claims
from faircut.llm.contract import Answer, Failure, Progress, Request, Usage
from faircut.llm.endpoint import Endpoint
from faircut.llm.estimate import Estimate, estimate
from faircut.llm.faults import Fault
from faircut.llm.prices import Price, load_prices
from faircut.llm.schema import read_json
from faircut.llm.wire import Dialect, key_of_request, repair
from faircut.text.contract import TokenCounter

__all__ = ["ChatModel"]

_CLAIM_LOOK_SECONDS = 0.1

OnText = Callable[[Request, str], None]
_Fetch = Callable[[Request], "tuple[Reply, bool] | None"]
"""The reply to a request and whether it was paid for by an earlier run; None where there is none."""


class ChatModel:
    """A ``LanguageModel`` on an OpenAI-compatible server. Nothing is opened before the first answer that is missing.

    A batch that is answered in the cache needs no server, no key and not even the openai package.

    Args:
        endpoint: the server and the model.
        cache: the file of answers; None keeps them for as long as this object lives.
        cache_owned: the file is ours by its name, so that it may be begun again when it is damaged.
        budget: for all that this object asks, or a purse that it shares with other models.
        price: of a million tokens; None looks the model up in the table that comes with faircut.
        counter: a tokenizer for estimates, and for servers that do not say how many tokens they took.
        retry: when and how often a failed try is repeated.
        on_text: called with a request and each piece of its answer as it comes (``Endpoint.stream``), from several
            threads.

    Raises:
        LlmError: a budget in money and no price.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        cache: Path | None = None,
        cache_owned: bool = False,
        budget: Budget | Purse | None = None,
        price: Price | None = None,
        counter: TokenCounter | None = None,
        retry: RetryPolicy | None = None,
        on_text: OnText | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.price = price or load_prices().find(endpoint.model)
        self._ledger = Ledger(budget or Budget(), self.price, endpoint.model)
        self._retry, self._counter, self._on_text = retry or RetryPolicy(), counter, on_text
        self._store: _Store = AnswerStore(cache, owned=cache_owned) if cache else _Memory()
        self._claims = Claims(Path(f"{cache}.claims")) if cache else None
        self._asker: Asker | None = None
        self._learned: Dialect | None = None
        self._close: Callable[[], None] = lambda: None
        self._connecting = threading.Lock()
        self._streak = Streak()

    def __repr__(self) -> str:
        return f"ChatModel({self.endpoint!r})"

    def __enter__(self) -> "ChatModel":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def model(self) -> str:
        """The model's name."""
        return self.endpoint.model

    @property
    def spent(self) -> Spending:
        """What this object has spent so far."""
        return self._ledger.spent

    @property
    def dialect(self) -> Dialect | None:
        """What the server was found to take; None before anything was asked."""
        return self._asker.dialect if self._asker else self._learned

    def close(self) -> None:
        """Close connections and files; they are opened again when needed."""
        with self._connecting:
            self._close()
            self._learned = self.dialect
            self._asker, self._close = None, lambda: None
        self._store.close()
        if self._claims:
            self._claims.close()

    def estimate(self, requests: Sequence[Request]) -> Estimate:
        """What these requests would take, without asking any.

        Raises:
            StoreError: the cache cannot be read.
        """
        distinct = self._distinct(requests)
        known = self._recalled(distinct)
        missing = [request for key, request in distinct.items() if key not in known]
        cached = sum(key_of_request(request, self.model) in known for request in requests)
        return estimate(
            requests, cached=cached, to_ask=missing, model=self.model, price=self.price, counter=self._counter
        )

    def complete(self, requests: Sequence[Request], *, progress: Progress | None = None) -> list[Answer]:
        """One answer for each request, in order; equal requests are asked once.

        Raises:
            LlmStopped: as of ``LanguageModel``.
            BudgetReached: as of ``LanguageModel``.
            LlmError: no key where one is needed, or the openai package is not installed.
            StoreError: the cache cannot be written; raised before anything is asked.
        """
        listed = [_checked(request) for request in requests]
        keys = [key_of_request(request, self.model) for request in listed]
        distinct = self._distinct(listed)
        answers = self._recalled(distinct)
        batch = Batch(keys, answers, self._ledger, progress, self._streak)
        missing = {key: request for key, request in distinct.items() if key not in answers}
        if missing:
            self._store.check_writable()
            asker = self._connected()
            batch.run(
                list(missing), lambda key, stop: self._asked(key, missing[key], asker, stop), self.endpoint.concurrency
            )
        return batch.finished()

    # ------------------------------------------------------------ from the cache

    def _distinct(self, requests: Iterable[Request]) -> dict[bytes, Request]:
        return {key_of_request(request, self.model): request for request in requests}

    def _recalled(self, distinct: dict[bytes, Request]) -> dict[bytes, Answer]:
        """The answers that need no server: also the second ones to requests whose first answer was wrong."""
        known = self._store.read(list(distinct))
        answers = {}
        for key, request in distinct.items():
            if key in known and (answer := self._answer(request, lambda asked: self._remembered(asked, known))):
                answers[key] = answer
        return answers

    def _remembered(self, request: Request, known: dict[bytes, Reply]) -> tuple[Reply, bool] | None:
        key = key_of_request(request, self.model)
        reply = known.get(key) or self._store.read([key]).get(key)
        return (reply, True) if reply else None

    # ------------------------------------------------------------ from the server

    def _connected(self) -> Asker:
        from faircut.llm.exchange import Exchange

        with self._connecting:
            if self._asker is None:
                exchange = Exchange(self.endpoint)
                dialect = self._learned or Dialect(stream=self.endpoint.stream)
                self._asker = Asker(exchange, self.model, self._ledger, self._retry, dialect)
                self._close = exchange.close
            return self._asker

    def _asked(self, key: bytes, request: Request, asker: Asker, stop: threading.Event) -> Answer:
        """The answer to a request that no other process is asking at this moment."""
        while self._claims and not self._claims.take(key):
            if stop.wait(_CLAIM_LOOK_SECONDS):
                raise Fault("not_asked", "the batch was stopped before this request was asked.")
        try:
            answer = self._answer(request, lambda asked: self._fetched(asked, asker, stop))
            if answer is None:  # pragma: no cover  # what is fetched is there, or a Fault was raised
                raise Fault("unusable", "no answer.")
            return answer
        finally:
            if self._claims:
                self._claims.give_back(key)

    def _fetched(self, request: Request, asker: Asker, stop: threading.Event) -> tuple[Reply, bool]:
        if found := self._remembered(request, {}):
            return found  # another process paid for it meanwhile
        watch = self._on_text
        on_text = (lambda piece: watch(request, piece)) if watch else None
        reply = asker.ask(request, stop, counter=self._counter, on_text=on_text)
        self._store.write(key_of_request(request, self.model), reply)
        return reply, False

    # ------------------------------------------------------------ reply -> answer

    def _answer(self, request: Request, fetch: _Fetch) -> Answer | None:
        """The answer made of one reply, or of two where the first breaks the schema."""
        first = fetch(request)
        if first is None:
            return None
        if request.schema is None:
            return self._made([first])
        value, problem = read_json(first[0].text, request.schema)
        if problem is None:
            return self._made([first], value)
        if first[0].finish == "length":
            return self._made([first], failure=_truncated(request))
        second = fetch(repair(request, first[0].text, problem))
        if second is None:
            return None
        value, problem = read_json(second[0].text, request.schema)
        failure = Failure("invalid", f"the model gave no JSON that fits, twice: {_safe(problem)}.") if problem else None
        return self._made([first, second], value, failure)

    def _made(self, replies: list[tuple[Reply, bool]], value: object = None, failure: Failure | None = None) -> Answer:
        last = replies[-1][0]
        usage = sum((reply.usage for reply, _ in replies), Usage())
        cost = None if self.price is None else self.price.of(usage)
        cached = all(known for _, known in replies)
        parsed = None if failure else value
        return Answer(last.text, parsed, last.finish, usage, cost, cached, failure)


class _Store(Protocol):
    """What keeps replies."""

    def read(self, keys: Sequence[bytes]) -> dict[bytes, Reply]: ...

    def write(self, key: bytes, reply: Reply) -> None: ...

    def check_writable(self) -> None: ...

    def close(self) -> None: ...


class _Memory:
    """Replies for as long as the process runs."""

    def __init__(self) -> None:
        self._replies: dict[bytes, Reply] = {}

    def read(self, keys: Sequence[bytes]) -> dict[bytes, Reply]:
        return {key: self._replies[key] for key in keys if key in self._replies}

    def write(self, key: bytes, reply: Reply) -> None:
        self._replies[key] = reply

    def check_writable(self) -> None:
        """Always."""

    def close(self) -> None:
        """Nothing is open."""


def _checked(request: Request) -> Request:
    if not isinstance(request, Request):
        raise LlmError(f"complete takes requests, found {type(request).__name__}; make one with ask(prompt).")
    return request


def _truncated(request: Request) -> Failure:
    return Failure("truncated", f"the answer ended at {request.max_tokens} tokens, before its JSON did; ask for less.")


def _safe(problem: str) -> str:
    return "".join(c if c.isprintable() else "\ufffd" for c in problem)[:300]
