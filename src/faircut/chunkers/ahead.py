"""A language model asked about many documents at a time: a chunker and documents in, models that know answers out.

A chunker asks about one document after the other, and a short one has few questions: most of what a server could answer
at a time would stand idle. Here the first requests of many documents are asked together. What a chunker asks after a
wrong answer is still asked when its document is cut.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from faircut.chunkers.asking import needs_language_model
from faircut.chunkers.contract import Chunker, Models
from faircut.llm.contract import Answer, LanguageModel, Progress, Request
from faircut.llm.faults import LlmStopped
from faircut.llm.wire import key_of_request
from faircut.records import Document

__all__ = ["CHARACTERS_AHEAD", "DOCUMENTS_AHEAD", "asked_ahead", "groups"]

DOCUMENTS_AHEAD = 64
CHARACTERS_AHEAD = 500_000
"""So much text is asked about together, and one document more."""

_OF_THE_MODEL = ("invalid", "truncated")  # failures that the model's own words are, and not what stopped everything


def groups(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Documents in order, so many together as are asked about together."""
    group: list[Document] = []
    size = 0
    for document in documents:
        group.append(document)
        size += len(document.text)
        if len(group) == DOCUMENTS_AHEAD or size >= CHARACTERS_AHEAD:
            yield group
            group, size = [], 0
    if group:
        yield group


def asked_ahead(
    chunker: Chunker,
    documents: Sequence[Document],
    models: Models,
    progress: Progress | None = None,
    *,
    uncounted: Models | None = None,
) -> Models:
    """Models whose language model has the answers to what the chunker asks first about each of these documents.

    ``uncounted`` are the same models without what counts their use, for finding out what is asked: what is embedded for
    that is embedded again when the document is cut, and counts then.

    Without a language model, or with one document, those that were given. When nothing more can be asked (budget,
    server gone), what was answered is there all the same, and the first request without an answer raises what was
    raised here.
    """
    model = models.language_model
    if model is None or len(documents) < 2 or not needs_language_model(chunker):
        return models
    ahead = _Ahead(model)
    ahead.ask(
        [request for document in documents for request in _first_asked(chunker, document, uncounted or models)],
        progress,
    )
    return replace(models, language_model=ahead)


def _first_asked(chunker: Chunker, document: Document, models: Models) -> list[Request]:
    """What a chunker asks first about a document; nothing where it fails before, which is told when it is cut."""
    listener = _Listener()
    with suppress(Exception):  # of a user's code as well
        chunker.chunk(document, replace(models, language_model=listener, tally=None))
    return listener.heard


class _Heard(Exception):  # noqa: N818  # ends the chunker's work, no error
    """The first requests are known."""


@dataclass(frozen=True)
class _Listener:
    """Takes down what is asked first."""

    heard: list[Request] = field(default_factory=list)
    model: str = "nobody"

    def complete(self, requests: Sequence[Request], *, progress: Progress | None = None) -> list[Answer]:  # noqa: ARG002
        self.heard.extend(requests)
        raise _Heard


@dataclass
class _Ahead:
    """Passes on what it does not know."""

    inner: LanguageModel
    _known: dict[bytes, Answer] = field(default_factory=dict)
    _stopped: LlmStopped | None = None

    @property
    def model(self) -> str:
        return self.inner.model

    def ask(self, requests: Sequence[Request], progress: Progress | None) -> None:
        try:
            answers: Sequence[Answer] = self.inner.complete(requests, progress=progress)
        except LlmStopped as stopped:
            answers, self._stopped = stopped.answers, stopped
        for request, answer in zip(requests, answers, strict=False):  # a stop may bring none
            if not self._stopped or answer.ok or (answer.failure and answer.failure.kind in _OF_THE_MODEL):
                self._known[key_of_request(request, self.model)] = answer

    def complete(self, requests: Sequence[Request], *, progress: Progress | None = None) -> list[Answer]:
        """The answers that are known, and the inner model's; raises as it does."""
        keys = [key_of_request(request, self.model) for request in requests]
        missing = [request for key, request in zip(keys, requests, strict=True) if key not in self._known]
        if not missing:
            return [self._known[key] for key in keys]
        if self._stopped:
            raise self._stopped
        asked = iter(self.inner.complete(missing, progress=progress))
        return [self._known[key] if key in self._known else next(asked) for key in keys]
