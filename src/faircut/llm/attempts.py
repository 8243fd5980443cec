"""Tries until there is an answer: budget, waiting and retries around one call, the same for answers and for vectors.

Comes in: what a call costs at most and how it is sent. Goes out: what it brought, paid for and settled, or the
``Fault`` that stays. What is done with either is left to ``client.py`` and to the embedders.
"""

import random
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from faircut.errors import FaircutWarning, LlmError
from faircut.llm.answer_store import Reply
from faircut.llm.budget import Ledger
from faircut.llm.contract import Request, Usage
from faircut.llm.estimate import prompt_tokens
from faircut.llm.exchange import Exchange
from faircut.llm.faults import Fault
from faircut.llm.wire import Dialect, body_of, most_usage
from faircut.text.contract import TokenCounter

__all__ = ["Asker", "RetryPolicy", "Tries", "counted_usage"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """When a try failed: on 408, 409, 425, 429, 5xx, timeouts, broken connections and answers without text.

    Args:
        attempts: tries of one request in all.
        billed_attempts: of these, how many may have been billed (cut off, timed out, without text).
        first: seconds before the second try; doubled each time, then shortened by up to half, at random.
        longest: seconds, the most of that.
        longest_wait: seconds that a server may ask for with ``Retry-After``; more stops the batch.

    Raises:
        LlmError: not at least one attempt, or a time below 0.
    """

    attempts: int = 6
    billed_attempts: int = 3
    first: float = 0.5
    longest: float = 30.0
    longest_wait: float = 120.0

    def __post_init__(self) -> None:
        if min(self.attempts, self.billed_attempts) < 1 or min(self.first, self.longest, self.longest_wait) < 0:
            raise LlmError("retries need at least one attempt and times from 0 on.")

    def pause(self, tries: int) -> float:
        """Seconds to wait after so many tries."""
        return min(self.longest, self.first * 2.0 ** min(tries - 1, 30)) * random.uniform(0.5, 1.0)  # noqa: S311


class Tries:
    """Calls of one server within a budget, from any number of threads; remembers when it wants to be left alone."""

    def __init__(self, ledger: Ledger, policy: RetryPolicy) -> None:
        self._ledger, self._policy = ledger, policy
        self._not_before = 0.0
        self._lock = threading.Lock()

    def until_answered(
        self,
        most: Usage,
        send: Callable[[], tuple[T, Usage]],
        stop: threading.Event,
        learn: Callable[[Fault], bool],
    ) -> T:
        """What a call brings.

        Args:
            most: what it can cost at most.
            send: makes it; what it brought, and what was billed.
            stop: when set, no further try is made.
            learn: whether the call can be said in another way after this fault; that is no further try.

        Raises:
            Fault: it brings nothing; ``not_asked`` when the budget is reached or ``stop`` was set before.
        """
        tries = billed = 0
        while True:
            try:
                return self._try(most, send, stop)
            except Fault as fault:
                if learn(fault):
                    continue
                tries, billed = tries + 1, billed + (fault.unknown or fault.billed is not None)
                spent = tries >= self._policy.attempts or billed >= self._policy.billed_attempts
                if spent or not fault.retry or stop.is_set():
                    raise
                self._pause(fault, tries, stop)

    def _try(self, most: Usage, send: Callable[[], tuple[T, Usage]], stop: threading.Event) -> T:
        stop.wait(max(0.0, self._not_before - time.monotonic()))
        if not self._ledger.reserve(most, stop.is_set):
            raise Fault("not_asked", "the batch was stopped before this request was asked.")
        used: Usage | None = most
        unknown = True
        try:
            found, used = send()
            unknown = False
            return found
        except Fault as fault:
            used, unknown = (most if fault.unknown else fault.billed), fault.unknown
            raise
        finally:
            self._ledger.settle(most, used, unknown=unknown)

    def _pause(self, fault: Fault, tries: int, stop: threading.Event) -> None:
        """Wait before the next try; where the server named a time, all other calls wait for it as well."""
        if fault.wait is None:
            stop.wait(self._policy.pause(tries))
            return
        if fault.wait > self._policy.longest_wait:
            message = f"{fault.message} It asks to wait {fault.wait:,.0f} s; run again then, what was paid for is kept."
            raise Fault("server", message, fatal=True) from None
        with self._lock:
            self._not_before = max(self._not_before, time.monotonic() + fault.wait)
        stop.wait(fault.wait + min(1.0, fault.wait * random.uniform(0, 0.1)))  # noqa: S311


class Asker:
    """Asks one server, from any number of threads; remembers its dialect."""

    def __init__(self, exchange: Exchange, model: str, ledger: Ledger, policy: RetryPolicy, dialect: Dialect) -> None:
        self.dialect = dialect
        self._exchange, self._model, self._tries = exchange, model, Tries(ledger, policy)
        self._lock = threading.Lock()

    def ask(
        self,
        request: Request,
        stop: threading.Event,
        *,
        counter: TokenCounter | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Reply:
        """The reply to a request.

        Raises:
            Fault: there is none; ``not_asked`` when the budget is reached or ``stop`` was set before.
        """
        used = self.dialect

        def send() -> tuple[Reply, Usage]:
            nonlocal used
            used = self.dialect
            reply = self._exchange.send(body_of(request, self._model, used), on_text)
            usage = counted_usage(reply, request, counter)
            return replace(reply, usage=usage), usage

        def learn(fault: Fault) -> bool:
            return self._learn(used, fault, request)

        return self._tries.until_answered(most_usage(request), send, stop, learn)

    def _learn(self, used: Dialect, fault: Fault, request: Request) -> bool:
        """Whether there is another way to say it, found by this refusal or by another thread meanwhile."""
        if not fault.complaint:
            return False
        with self._lock:
            if self.dialect != used:
                return True
            following = used.after(fault.complaint, has_schema=request.schema is not None)
            if following is None:
                return False
            self.dialect = following
        left_out = [name for name in ("temperature", "seed") if getattr(used, name) and not getattr(following, name)]
        if left_out:
            warnings.warn(
                f"{self._exchange.where} does not take {left_out[0]}; it was left out, so answers may vary more.",
                FaircutWarning,
                stacklevel=2,
            )
        return True


def counted_usage(reply: Reply, request: Request, counter: TokenCounter | None) -> Usage:
    """The server's counts; where it gave none, those of a tokenizer, or a quarter of the bytes without one."""
    if reply.usage.total or not reply.usage.estimated:
        return reply.usage
    answer = counter.count(reply.text) if counter else -(-len(reply.text.encode("utf-8", "replace")) // 4)
    return Usage(prompt_tokens([request], counter), answer, estimated=True)
