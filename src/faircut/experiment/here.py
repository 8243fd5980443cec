"""A pool of one in this process: sources of documents in, events out, as ``pool.py`` has them.

For chunkers that ask a language model: its budget, its cache and its connections are one object, which no two processes
can share. They wait more than they compute, so other processes would be of little use.
"""

import warnings
from collections import deque
from io import BytesIO
from typing import Any

from faircut.chunkers.contract import Chunker, Models
from faircut.documents.sources import Source
from faircut.errors import FaircutError, FaircutWarning
from faircut.experiment.pool import Event
from faircut.experiment.worker import cut_source, read_frame, source_frame, unexpected
from faircut.llm import LlmStopped

__all__ = ["Here"]


class Here:
    """Cuts each document when it is given."""

    def __init__(self, chunker: Chunker, models: Models) -> None:
        self._chunker = chunker
        self._models = models
        self._events: deque[Event] = deque()

    @property
    def has_room(self) -> bool:
        """Whether another document can be given."""
        return not self._events

    def give(self, number: int, source: Source, digest: str) -> None:
        """Cut this document.

        Raises:
            LlmStopped: the model cannot be asked any more; documents that are finished stay finished.
        """
        pieces = BytesIO()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", FaircutWarning)
            how = self._cut(source, digest, pieces)
        pieces.seek(0)
        while frame := read_frame(pieces):
            self._events.append(Event("piece", number, frame[1]))
        facts = {key: how[key] for key in ("document", "chunks", "reason") if key in how}
        self._events.append(Event(how["is"], number, warnings=tuple(str(w.message) for w in caught), **facts))

    def _cut(self, source: Source, digest: str, pieces: BytesIO) -> dict[str, Any]:
        try:
            return cut_source(source_frame(source, digest), self._chunker, self._models, pieces)
        except LlmStopped:
            raise
        except FaircutError as error:
            return {"is": "failed", "reason": str(error)}
        except Exception as error:  # a defect on one file must not end the job
            return {"is": "failed", "reason": unexpected(error)}

    def next(self) -> Event:
        """The next event. Call only when a document was given whose end was not told."""
        return self._events.popleft()

    def close(self) -> None:
        """Nothing is open."""
