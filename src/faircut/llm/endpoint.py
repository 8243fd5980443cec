"""Where a model is served: a base URL, a model's name and limits, checked; and the key, which is read late and hidden.

The key comes from the environment when the first call is made, is never part of a record, and is taken out of all
that a server says. Talking to the server is left to ``exchange.py``.
"""

import os
import re
from dataclasses import dataclass, field
from ipaddress import ip_address
from math import isfinite
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from faircut.errors import LlmError

__all__ = ["Endpoint", "Timeouts", "key_of", "plain", "redact", "redacted"]

DEFAULT_KEY_ENV = "OPENAI_API_KEY"
NO_KEY = "no-key"
"""Sent where there is no key: the openai package wants one, servers of one's own do not."""

_OPENAI = "api.openai.com"
_LOOKS_LIKE_A_KEY = re.compile(r"\b(?:sk|pk|gsk|xai|hf)[-_][A-Za-z0-9_\-*.]{6,}|(?i:bearer)\s+[^\s\"']{6,}")
_SHOWN = 300
_HIDDEN = "[key hidden]"
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})|\\/")  # as JSON may write any letter


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds: until connected, until the next byte, and for one try in all.

    Raises:
        LlmError: one is not a number above 0.
    """

    connect: float = 10.0
    read: float = 120.0
    total: float = 300.0

    def __post_init__(self) -> None:
        for seconds in (self.connect, self.read, self.total):
            if not isfinite(seconds) or seconds <= 0:
                raise LlmError(f"a timeout is a number of seconds above 0, found {seconds}.")


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible server and a model of it.

    Args:
        base_url: as of the openai package, for example ``http://127.0.0.1:8080/v1``.
        model: the name that the server knows.
        api_key_env: the environment variable with the key. None: ``OPENAI_API_KEY`` where it is set, and only over
            https or to this machine, so that it never travels in clear to a server it is not meant for.
        timeouts: of each try.
        concurrency: requests under way at a time, 1 to 256.
        stream: ask for answers in pieces: the read timeout then is the time between two pieces.

    Raises:
        LlmError: the URL is none, holds a password or a query, or another value is out of range.
    """

    base_url: str
    model: str
    api_key_env: str | None = None
    timeouts: Timeouts = field(default_factory=Timeouts)
    concurrency: int = 4
    stream: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "base_url", checked_url(self.base_url))
        if not self.model.strip():
            raise LlmError("the model has no name; name one that the server knows.")
        if not 1 <= self.concurrency <= 256:
            raise LlmError(f"concurrency lies between 1 and 256, found {self.concurrency}.")
        if self.api_key_env is not None and not re.fullmatch(r"[A-Za-z_]\w*", self.api_key_env):
            raise LlmError(  # what was given may be the key itself, so it is not repeated
                "the name of the environment variable with the key is made of letters, digits and _; "
                "give its name, never the key."
            )

    @property
    def host(self) -> str:
        """The server's host in lower case."""
        return urlsplit(self.base_url).hostname or ""

    @property
    def is_loopback(self) -> bool:
        """Whether it is this machine."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False


def checked_url(url: str) -> str:
    """The base URL without a trailing slash.

    Raises:
        LlmError: not http or https, no host, or a user, password, query or fragment in it. Not repeated in the error
            where it may hold a key.
    """
    try:
        parts = urlsplit(url.strip())
        port_is_fine = parts.port is None or parts.port > 0
    except ValueError:
        parts, port_is_fine = urlsplit(""), False
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise LlmError(
            "the URL of the server holds a user, password, query or fragment; give it without: a key belongs into an "
            "environment variable (--api-key-env NAME)."
        )
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_fine or not url.isprintable():
        raise LlmError(f"{plain(url)!r} is no URL of a server; give one such as http://127.0.0.1:8080/v1.")
    return url.strip().rstrip("/")


def key_of(endpoint: Endpoint) -> str:
    """The key from the environment, or ``NO_KEY``.

    Raises:
        LlmError: the variable that was named is not set, OpenAI's own server is asked without a key, or the key holds
            characters that no header takes.
    """
    name = endpoint.api_key_env or DEFAULT_KEY_ENV
    may_travel = endpoint.base_url.startswith("https://") or endpoint.is_loopback
    key = os.environ.get(name, "").strip() if endpoint.api_key_env or may_travel else ""
    if not key and (endpoint.api_key_env or endpoint.host == _OPENAI):
        raise LlmError(f"the environment variable {name} with the API key is not set; set it, or name another.")
    if not all("!" <= character <= "~" for character in key):
        raise LlmError(f"the environment variable {name} holds no API key: it has spaces or other characters in it.")
    return key or NO_KEY


def redact(text: str, key: str) -> str:
    """A text without the key, however a server echoes it."""
    if len(key) >= 4 and key != NO_KEY:
        for form in {key, quote(key, safe="")}:
            text = text.replace(form, _HIDDEN)
        for plainly in (unquote(text), _ESCAPED.sub(lambda m: chr(int(m[1], 16)) if m[1] else m[0][1:], text)):
            if key in plainly:
                text = plainly.replace(key, _HIDDEN)
    return text


def redacted(value: Any, key: str) -> Any:
    """A JSON value without the key in any text; numbers are left alone, whatever their number."""
    if isinstance(value, str):
        return redact(value, key)
    if isinstance(value, dict):
        return {redact(name, key): redacted(inner, key) for name, inner in value.items()}
    if isinstance(value, list) and not (value and isinstance(value[0], float)):
        return [redacted(inner, key) for inner in value]
    return value


def plain(text: str, key: str = "") -> str:
    """What a server said, fit for an error: one line of at most 300 characters, no keys, no control characters."""
    text = _LOOKS_LIKE_A_KEY.sub(_HIDDEN, redact(text[: 20 * _SHOWN], key))
    line = "".join(c if c.isprintable() else "\ufffd" for c in " ".join(text.split()))
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."
