"""One try: a body is sent to the server and its answer read, within limits of time and size.

Comes in: the body of a call. Goes out: a ``Reply`` (for vectors: the JSON), or a ``Fault`` that says what went wrong.
Redirects are not followed, so the key goes nowhere else. Deciding about another try is left to ``attempts.py``.
"""

import importlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from faircut.errors import LlmError
from faircut.llm.answer_store import Reply
from faircut.llm.contract import Usage
from faircut.llm.endpoint import Endpoint, key_of, plain, redact, redacted
from faircut.llm.faults import Fault, fault_of_status

__all__ = ["Exchange", "usage_of"]

LARGEST_ANSWER = 16_000_000
"""Bytes on the wire; far above any answer, far below what hurts."""

_SHOWN_MODELS = 20
_LONGEST_COUNT = 1_000_000_000


class Exchange:
    """A connection to an endpoint. Safe for threads; closing it ends the tries under way.

    Raises:
        LlmError: the openai package is not installed, or there is no key where one is needed.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._key = key_of(endpoint)
        self._openai = _openai()
        self._http = _http_of(self._openai)
        self._client = self._connected()

    @property
    def where(self) -> str:
        """The server and the model, in words."""
        return f"{self._endpoint.base_url} (model {plain(self._endpoint.model, self._key)})"

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def send(self, body: dict[str, Any], on_text: Callable[[str], None] | None = None) -> Reply:
        """One call of ``/chat/completions``.

        Args:
            body: as of ``wire.body_of``; with ``stream``, the answer is put together from its pieces.
            on_text: called with each piece of text as it comes.

        Raises:
            Fault: there is no whole answer.
        """
        with self._faults():
            creating = self._client.chat.completions.with_streaming_response.create
            with creating(**body) as response:
                kind = _kind(response)
                if body.get("stream") and kind != "application/json":
                    return self._joined(kind, response.iter_lines(), on_text)
                return self._whole(kind, response.read())

    def embeddings(self, body: dict[str, Any]) -> dict[str, Any]:
        """One call of ``/embeddings``: the JSON object that comes back, whatever is in it.

        Args:
            body: ``model``, ``input``, ``encoding_format``, and ``dimensions`` where they are asked.

        Raises:
            Fault: no JSON object came back.
        """
        with self._faults(), self._client.embeddings.with_streaming_response.create(**body) as response:
            return self._json(_kind(response), response.read().decode("utf-8", "replace"))

    def models(self) -> list[str]:
        """The names of the models that the server has; empty where it does not say."""
        try:
            with self._faults():
                answer = json.loads(self._client.models.with_raw_response.list().http_response.content)
            return [str(row["id"]) for row in answer["data"]]
        except (Fault, ValueError, KeyError, TypeError, RecursionError):
            return []

    # ------------------------------------------------------------ the connection

    def _connected(self) -> Any:
        seconds = self._endpoint.timeouts
        read = min(seconds.read, seconds.total)
        timeout = self._openai.Timeout(read, connect=min(seconds.connect, seconds.total), pool=None)
        places = self._http.Limits(max_connections=self._endpoint.concurrency + 1)
        http_client = self._openai.DefaultHttpxClient(
            follow_redirects=False,
            timeout=timeout,
            limits=places,
            trust_env=not self._endpoint.is_loopback,  # a proxy for the outside is not asked for this machine
            headers={"Accept-Encoding": "identity"},  # what is counted is what is read
            event_hooks={"request": [_note_start], "response": [self._bound]},
        )
        return self._openai.OpenAI(
            api_key=self._key,
            base_url=self._endpoint.base_url,
            max_retries=0,
            timeout=timeout,
            http_client=http_client,
            default_headers={"Accept-Encoding": "identity"},
        )

    def _bound(self, response: Any) -> None:
        """Put limits of size and time around what is read from now on."""
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise Fault("server", f"{self.where} compresses its answer, which was not asked for.", unknown=True)
        deadline = response.request.extensions["faircut_start"] + self._endpoint.timeouts.total
        response.stream = self._http.Response(200, content=self._bounded(response.stream, deadline)).stream

    def _bounded(self, stream: Any, deadline: float) -> Iterator[bytes]:
        size = 0
        try:
            for part in stream:
                size += len(part)
                if size > LARGEST_ANSWER:
                    raise Fault(
                        "unusable", f"{self.where} sent more than {LARGEST_ANSWER:,} bytes in one answer.", unknown=True
                    )
                if time.monotonic() > deadline:
                    raise self._late()
                yield part
        finally:
            stream.close()

    def _late(self) -> Fault:
        seconds = self._endpoint.timeouts.total
        return Fault("timeout", f"{self.where} did not finish its answer in {seconds:g} s.", retry=True, unknown=True)

    # ------------------------------------------------------------ what comes back

    def _whole(self, kind: str, raw: bytes) -> Reply:
        text = raw.decode("utf-8", "replace")
        if kind == "text/event-stream":
            return self._joined(kind, iter(text.splitlines()), None)
        answer = self._json(kind, text)
        choice = self._choice(answer)
        message = choice.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        return self._reply(content, choice.get("finish_reason"), answer.get("usage"), message)

    def _json(self, kind: str, text: str) -> dict[str, Any]:
        try:
            answer = json.loads(text)
        except (ValueError, RecursionError):
            answer = None
        if isinstance(answer, dict):
            return redacted(answer, self._key)  # type: ignore[no-any-return]
        if kind == "text/html" or text.lstrip()[:1] == "<":
            found = "a page of HTML; is it the base URL (it often ends in /v1)?"
        else:
            begins = plain(text, self._key)[:80]
            # What is written with escapes might be the key, in one of the forms that nobody thought of.
            found = "no JSON object" if "\\" in begins or "%" in begins else f"no JSON object but {begins!r}"
        raise Fault("server", f"{self.where} answered with {found}", retry=True, unknown=True)

    def _choice(self, answer: dict[str, Any]) -> dict[str, Any]:
        choices = answer.get("choices")
        if isinstance(choices, list) and choices and isinstance(choices[0], dict):
            return choices[0]
        error = f" ({plain(json.dumps(answer['error']), self._key)})" if answer.get("error") else ""
        raise self._unusable(f"gave an answer without choices{error}", answer.get("usage"))

    def _joined(self, kind: str, lines: Iterator[str], on_text: Callable[[str], None] | None) -> Reply:
        """The answer from its pieces; whole only when one of them says why it ends."""
        parts: list[str] = []
        finish = usage = None
        for line in lines:
            if kind == "text/html":
                self._json(kind, "")
            if not line.startswith("data:") or line[5:].strip() == "[DONE]":
                continue
            piece = self._json(kind, line[5:])
            if piece.get("error"):
                raise self._unusable(f"broke off ({plain(json.dumps(piece['error']), self._key)})", None)
            usage = piece.get("usage") or usage
            text, ended = _delta(piece)
            finish = ended or finish
            parts.append(text)
            if text and on_text:
                on_text(text)
        if finish is None:
            raise Fault("connection", f"{self.where} sent half an answer.", retry=True, unknown=True)
        return self._reply(redact("".join(parts), self._key), finish, usage, None)

    def _reply(self, content: object, finish: object, usage: object, message: object) -> Reply:
        counted = usage_of(usage)
        ended = finish if isinstance(finish, str) else ""
        if ended == "content_filter" or (isinstance(message, dict) and message.get("refusal")):
            said = plain(str(message.get("refusal") or "filtered"), self._key) if isinstance(message, dict) else ""
            raise Fault(
                "refused", f"{self.where} declined to answer ({said}).", billed=counted, unknown=counted is None
            )
        text = content if isinstance(content, str) else ""
        if not text and ended != "length":  # all of max_tokens may have gone into thinking
            raise self._unusable("gave an answer without text", usage)
        return Reply(text, ended, counted or Usage(estimated=True))

    def _unusable(self, what: str, usage: object) -> Fault:
        counted = usage_of(usage)
        return Fault("unusable", f"{self.where} {what}.", retry=True, billed=counted, unknown=counted is None)

    # ------------------------------------------------------------ what goes wrong

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """What the packages raise, as faults; without their own message or request, which hold the key."""
        openai, http = self._openai, self._http
        fault: Fault | None = None
        try:
            yield
        except openai.APIStatusError as error:
            fault = self._refusal(error.response)
        except (openai.APIConnectionError, http.TransportError) as error:
            fault = self._broken(error if isinstance(error, http.TransportError) else error.__cause__ or error)
        except (openai.OpenAIError, http.HTTPError, http.StreamError, http.InvalidURL) as error:
            said = plain(f"{type(error).__name__}: {error}", self._key)
            fault = Fault("server", f"{self.where} cannot be understood ({said}).", retry=True, unknown=True)
        except RuntimeError as error:  # the connections were closed to stop
            if not self._client.is_closed():
                raise
            fault = Fault("not_asked", f"stopped ({plain(str(error), self._key)}).", unknown=True)
        if fault is not None:
            raise fault from None

    def _refusal(self, response: Any) -> Fault:
        body = redact(response.text, self._key)
        headers = {name.lower(): value for name, value in response.headers.items()}
        said = plain(headers["location"] if "location" in headers else _message(body), self._key)
        fault = fault_of_status(response.status_code, headers, body, said, self.where)
        if response.status_code == 404 and not response.request.url.path.endswith("/models"):
            return self._not_found(fault)
        return fault

    def _not_found(self, fault: Fault) -> Fault:
        names = [plain(name, self._key) for name in self.models()]
        if not names:
            advice = "check the URL (it often ends in /v1) and the model's name."
        else:
            more = f" and {len(names) - _SHOWN_MODELS} more" if len(names) > _SHOWN_MODELS else ""
            advice = f"the server has: {', '.join(names[:_SHOWN_MODELS])}{more}."
        return Fault("refused", f"{fault.message} {advice}", fatal=True)

    def _broken(self, error: BaseException) -> Fault:
        http = self._http
        what = plain(f"{type(error).__name__}: {error}", self._key)
        if isinstance(error, (http.ConnectError, http.ConnectTimeout, http.UnsupportedProtocol, http.ProxyError)):
            message = f"{self.where} cannot be reached ({what}); is the server running, and is this its URL?"
            return Fault("connection", message, retry=True, fatal=True)
        if isinstance(error, http.TimeoutException):
            seconds = self._endpoint.timeouts.read
            message = f"{self.where} sent nothing for {seconds:g} s ({type(error).__name__})."
            return Fault("timeout", message, retry=True, unknown=True)
        return Fault("connection", f"{self.where} broke the connection off ({what}).", retry=True, unknown=True)


def _openai() -> Any:
    try:
        import openai
    except ImportError as error:
        raise LlmError(
            f"asking a language model needs the openai package; run: {sys.executable} -m pip install 'faircut[llm]'"
        ) from error
    return openai


def _http_of(openai: Any) -> Any:
    """The package that speaks HTTP for it: version 3 has httpx2, version 2 has httpx."""
    modules = (cls.__module__.partition(".")[0] for cls in openai.DefaultHttpxClient.__mro__)
    return importlib.import_module(next(name for name in modules if name.startswith("httpx")))


def _kind(response: Any) -> str:
    """The media type of an answer, without parameters."""
    kind: str = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind


def _note_start(request: Any) -> None:
    request.extensions["faircut_start"] = time.monotonic()


def _delta(piece: dict[str, Any]) -> tuple[str, str | None]:
    """The text of a piece, and why the answer ends where it does."""
    choices = piece.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    delta = choice.get("delta")
    text = delta.get("content") if isinstance(delta, dict) else None
    finish = choice.get("finish_reason")
    return text if isinstance(text, str) else "", finish if isinstance(finish, str) else None


def usage_of(usage: object) -> Usage | None:
    """Tokens as the server counted them (``usage`` of its answer); None where what it says is no count."""
    if not isinstance(usage, dict):
        return None
    counts = [usage.get("prompt_tokens"), usage.get("completion_tokens", 0)]
    if all(isinstance(n, int) and not isinstance(n, bool) and 0 <= n < _LONGEST_COUNT for n in counts):
        return Usage(*counts)
    return None


def _message(body: str) -> str:
    """The sentence in an error's body, or the body."""
    try:
        answer: Any = json.loads(body)
        error = answer.get("error", answer)
        found = error.get("message") if isinstance(error, dict) else error
        return found if isinstance(found, str) else body
    except (ValueError, AttributeError, RecursionError):
        return "" if body.lstrip()[:1] == "<" else body
