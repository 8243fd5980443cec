"""What can go wrong with one try, sorted: what to do about it, whether it was billed, and how long to wait.

Comes in: a status, headers and text of a server's refusal. Goes out: a ``Fault``. Trying again is left to
``attempts.py``.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any

from faircut.errors import LlmError
from faircut.llm.contract import Answer, FailureKind, Usage

__all__ = ["BudgetReached", "Fault", "LlmStopped", "fault_of_status", "retry_after"]

_RETRIED = (408, 409, 425, 429)
_REFUSED = (400, 413, 422, 501)
_COMPLAINT = 20_000  # characters


class LlmStopped(LlmError):  # noqa: N818  # a state, like StopIteration
    """Nothing more can be asked. ``answers`` has one for each request; those paid for are in the cache as well."""

    def __init__(self, message: str, answers: tuple[Answer, ...] = ()) -> None:
        super().__init__(message)
        self.answers = answers


class BudgetReached(LlmStopped):
    """The budget does not allow one more request; what was under way was finished and kept."""


@dataclass(eq=False)  # not frozen: an exception's traceback is set on its way
class Fault(Exception):  # noqa: N818  # never leaves this package
    """One try that gave no answer.

    Args:
        kind: what it is called in a ``Failure`` when it stays.
        message: one sentence, safe to print.
        retry: whether another try may help.
        fatal: whether no other request can fare better.
        billed: tokens that were billed; None for none; ``unknown`` when it cannot be known.
        wait: seconds that the server asked to wait.
        complaint: what a refusing server said, to learn its dialect from.
    """

    kind: FailureKind
    message: str
    retry: bool = False
    fatal: bool = False
    billed: Usage | None = None
    unknown: bool = False
    wait: float | None = None
    complaint: str = ""


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds to wait as the server says: ``retry-after-ms``, or ``Retry-After`` in seconds or as a date."""
    value = headers.get("retry-after", "").strip()
    scale = 1.0
    if headers.get("retry-after-ms"):
        value, scale = headers["retry-after-ms"].strip(), 0.001
    try:
        seconds = float(value) * scale
    except ValueError:
        seconds = _seconds_until(value, time.time() if now is None else now)
    return max(0.0, seconds) if isfinite(seconds) else None


def _seconds_until(date: str, now: float) -> float:
    try:
        return parsedate_to_datetime(date).timestamp() - now
    except (ValueError, TypeError, OverflowError):
        return float("nan")


def fault_of_status(status: int, headers: Mapping[str, str], body: str, said: str, where: str) -> Fault:
    """The fault of a status other than 2xx.

    Args:
        status: the status.
        headers: in lower case.
        body: what the server said, for finding out what it means.
        said: the same, safe to print.
        where: the server and the model, in words.
    """
    quoted = f": {said}" if said else ""
    if 300 <= status < 400:
        return Fault("server", f"{where} redirects elsewhere{quoted}; give the URL that is meant.", fatal=True)
    if status == 401 or status == 403:
        return Fault("refused", f"{where} refuses the key ({status}{quoted}); {_KEY_ADVICE}.", fatal=True)
    if status == 402 or (status == 429 and _code(body) in ("insufficient_quota", "billing_hard_limit_reached")):
        return Fault("refused", f"{where} has no credit left ({status}{quoted}).", fatal=True)
    if status in _RETRIED or (status >= 500 and status != 501):
        wait, complaint = retry_after(headers), body[:_COMPLAINT] if status == 500 else ""
        return Fault("server", f"{where} answers {status}{quoted}.", retry=True, wait=wait, complaint=complaint)
    if status in _REFUSED:
        return Fault("refused", f"{where} refuses the request ({status}{quoted}).", complaint=body[:_COMPLAINT])
    return Fault("refused", f"{where} answers {status}{quoted}.", fatal=status in (404, 405))


_KEY_ADVICE = "set the environment variable with the key, and name it with --api-key-env where it is not OPENAI_API_KEY"


def _code(body: str) -> str:
    try:
        found: Any = json.loads(body)["error"]
        return str(found.get("code") or found.get("type") or "")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return ""
