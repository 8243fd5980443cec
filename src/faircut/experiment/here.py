"""A pool of one in this process: sources of documents in, events out, as ``pool.py`` has them.

For chunkers that ask a language model: its budget, its cache and its connections are one object, which no two processes
can share. They wait more than they compute, so other processes would be of little use. And for those that run a large
model, which has place in memory once.
"""

import warnings
from collections import deque
from contextlib import suppress
from io import BytesIO
from typing import Any, NamedTuple

from faircut.chunkers.ahead import CHARACTERS_AHEAD, DOCUMENTS_AHEAD, asked_ahead
from faircut.chunkers.asking import needs_language_model
from faircut.chunkers.contract import Chunker, Models
from faircut.documents.reading import read_source
from faircut.documents.sources import Source
from faircut.errors import FaircutError, FaircutWarning
from faircut.experiment.pool import Event
from faircut.experiment.worker import cut_source, read_frame, source_frame, unexpected
from faircut.llm import LlmStopped
from faircut.records import Document

__all__ = ["Here"]


class _Given(NamedTuple):
    """A document that waits to be cut."""

    number: int
    source: Source
    digest: str


class Here:
    """Gathers documents, asks the model about all of them together, and cuts them one after the other."""

    def __init__(self, chunker: Chunker, models: Models) -> None:
        self._chunker = chunker
        self._models = self._ready_models = models
        self._waiting: deque[_Given] = deque()
        self._ready: deque[_Given] = deque()
        self._events: deque[Event] = deque()

    @property
    def has_room(self) -> bool:
        """Whether another document can be given."""
        busy = self._events or self._ready
        return not busy and len(self._waiting) < DOCUMENTS_AHEAD

    def give(self, number: int, source: Source, digest: str) -> None:
        """Take a document to be cut."""
        self._waiting.append(_Given(number, source, digest))

    def next(self) -> Event:
        """The next event. Call only when a document was given whose end was not told.

        Raises:
            LlmStopped: the model cannot be asked any more; documents that are finished stay finished.
        """
        if not self._events:
            if not self._ready:
                self._ask()
            self._cut(self._ready.popleft())
        return self._events.popleft()

    def _ask(self) -> None:
        """Ask about as many of the waiting documents as go together."""
        if not needs_language_model(self._chunker):
            self._ready.append(self._waiting.popleft())
            return
        documents: list[Document] = []
        while self._waiting and sum(len(document.text) for document in documents) < CHARACTERS_AHEAD:
            given = self._waiting.popleft()
            self._ready.append(given)
            with suppress(Exception), warnings.catch_warnings():  # told when it is cut
                warnings.simplefilter("ignore")
                documents.append(read_source(given.source))
        self._ready_models = asked_ahead(self._chunker, documents, self._models)

    def _cut(self, given: _Given) -> None:
        pieces = BytesIO()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", FaircutWarning)
            how = self._how(given, pieces)
        pieces.seek(0)
        while frame := read_frame(pieces):
            self._events.append(Event("piece", given.number, frame[1]))
        facts = {key: how[key] for key in ("document", "chunks", "reason") if key in how}
        self._events.append(Event(how["is"], given.number, warnings=tuple(str(w.message) for w in caught), **facts))

    def _how(self, given: _Given, pieces: BytesIO) -> dict[str, Any]:
        try:
            task = source_frame(given.source, given.digest)
            return cut_source(task, self._chunker, self._ready_models, pieces)
        except LlmStopped:
            raise
        except FaircutError as error:
            return {"is": "failed", "reason": str(error)}
        except Exception as error:  # a defect on one file must not end the job
            return {"is": "failed", "reason": unexpected(error)}

    def close(self) -> None:
        """Nothing is open."""
