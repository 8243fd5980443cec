"""A batch under way: work for threads in, answers in order out; stops without losing what is under way.

Comes in: keys of requests, what is known, a function that asks one. Goes out: an answer for each, or an error that
carries them. How one is asked is left to ``client.py``.
"""

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue

from faircut.errors import StoreError
from faircut.llm.budget import Ledger
from faircut.llm.contract import Answer, Failure, Progress
from faircut.llm.faults import BudgetReached, Fault, LlmStopped

__all__ = ["Batch", "Streak"]

FAILURES_IN_A_ROW, _MOST_IN_A_ROW = 3, 12
"""So many requests (or as many as run at a time, up to the second) failing one after the other end the batch."""

_GRACE_SECONDS = 10.0
_LOOK_SECONDS = 0.05
_SERVER_FAULTS = ("connection", "timeout", "server", "refused")

Work = Callable[[bytes, threading.Event], Answer]
_Finished = SimpleQueue[tuple[bytes, Answer | BaseException | None]]
"""Outcomes of the threads: an answer, what was raised, or None for what was not asked."""


@dataclass
class Streak:
    """How many requests failed one after the other, over all batches of a model: batches may be small."""

    length: int = 0


class Batch:
    """The answers of one call of ``complete``, growing."""

    def __init__(
        self,
        keys: Sequence[bytes],
        answers: dict[bytes, Answer],
        ledger: Ledger,
        progress: Progress | None,
        streak: Streak | None = None,
    ) -> None:
        self._keys, self._answers, self._ledger, self._progress = keys, answers, ledger, progress
        self._streak = streak or Streak()
        self._stop = threading.Event()
        self._reason = ""
        self._shares = Counter(keys)
        self._done = sum(self._shares[key] for key in answers)
        self._tell()

    def run(self, missing: Sequence[bytes], work: Work, concurrency: int) -> None:
        """Do the work with threads; Ctrl-C lets what is under way finish for 10 s, a second one leaves at once."""
        waiting, finished = deque(missing), _Finished()
        # Daemons: a thread that waits for a server must not keep a stopped process alive.
        threads = [
            threading.Thread(target=self._serve, args=(waiting, finished, work), daemon=True)
            for _ in range(min(concurrency, len(missing)))
        ]
        for thread in threads:
            thread.start()
        try:
            for _ in missing:
                self._take(*_next(finished), concurrency)
        finally:
            self._stop.set()
            self._wait_for(threads)

    def finished(self) -> list[Answer]:
        """All answers, in the order of the requests.

        Raises:
            BudgetReached: some were not asked, because of the budget.
            LlmStopped: some were not asked, because nothing more could be.
        """
        lacking = Failure("not_asked", self._why() or "not asked.")
        answers = [self._answers.get(key, Answer(failure=lacking)) for key in self._keys]
        if not self._why():
            return answers
        usable = sum(answer.ok for answer in answers)
        told = f"{self._why()} {usable:,} of {len(answers):,} requests are answered and kept."
        kind = LlmStopped if self._reason else BudgetReached
        raise kind(told, tuple(answers))

    def _why(self) -> str:
        if self._reason:
            return self._reason
        if self._ledger.reached and any(key not in self._answers for key in self._keys):
            return f"the budget of {self._ledger.reached} is reached; run the same again to go on where it stopped."
        return ""

    # ------------------------------------------------------------ in the threads

    def _serve(self, waiting: deque[bytes], finished: _Finished, work: Work) -> None:
        while True:
            try:
                key = waiting.popleft()
            except IndexError:
                return
            finished.put((key, self._outcome(key, work)))

    def _outcome(self, key: bytes, work: Work) -> Answer | BaseException | None:
        if self._stop.is_set():
            return None
        try:
            return work(key, self._stop)
        except BaseException as error:  # raised again or told by the caller's thread
            if not isinstance(error, Fault) or error.fatal:
                self._stop.set()  # at once: not one more call is paid for
            return error

    # ------------------------------------------------------------ in the caller's thread

    def _take(self, key: bytes, outcome: Answer | BaseException | None, concurrency: int) -> None:
        """Note one outcome; None was not asked."""
        if isinstance(outcome, Fault):
            outcome = self._failed(outcome, concurrency)
        elif isinstance(outcome, StoreError):  # what was paid for cannot be kept: pay for no more
            self._end(str(outcome))
            outcome = None
        elif isinstance(outcome, BaseException):
            raise outcome
        elif outcome is not None:
            self._streak.length = 0
        if isinstance(outcome, Answer):
            self._answers[key] = outcome
            self._done += self._shares[key]
            self._tell()

    def _failed(self, fault: Fault, concurrency: int) -> Answer | None:
        if fault.kind == "not_asked":
            return None
        self._streak.length = self._streak.length + 1 if fault.kind in _SERVER_FAULTS else 0
        if fault.fatal:
            self._end(fault.message)
        elif self._streak.length >= max(FAILURES_IN_A_ROW, min(concurrency, _MOST_IN_A_ROW)):
            self._end(f"{fault.message} {self._streak.length} requests in a row failed, so no more are asked.")
        return Answer(failure=Failure(fault.kind, fault.message))

    def _end(self, reason: str) -> None:
        self._reason = self._reason or reason
        self._stop.set()

    def _tell(self) -> None:
        if self._progress and self._keys:
            self._progress(self._done, len(self._keys))

    def _wait_for(self, threads: Sequence[threading.Thread]) -> None:
        deadline = time.monotonic() + _GRACE_SECONDS
        while any(thread.is_alive() for thread in threads) and time.monotonic() < deadline:
            time.sleep(_LOOK_SECONDS)


def _next(finished: _Finished) -> tuple[bytes, Answer | BaseException | None]:
    """The next outcome. Looks up now and then: libraries of others let Ctrl-C not end a wait for a lock."""
    while True:
        try:
            return finished.get(timeout=_LOOK_SECONDS)
        except Empty:
            continue
