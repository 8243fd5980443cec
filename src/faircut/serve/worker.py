"""The process that does the explorer's work: it reads, cuts and answers one request after the other.

Frames come in on the standard input and go out on the standard output, as between a job and its workers
(``experiment/worker.py``). A file that crashes a reader ends this process, not the server. It keeps vectors and the
last cuts in memory, writes nothing, and ends when its input is closed.
"""

import json
import os
import queue
import sys
import threading
import warnings
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from faircut.documents.reading import read_source
from faircut.documents.sources import Source
from faircut.embedding.checks import OverlongWarning
from faircut.errors import DocumentError, FaircutError, FaircutWarning, SpecError
from faircut.experiment.worker import Frame, read_frame, write_frame
from faircut.records import Chunk, Document
from faircut.serve.documents import document_from, stored
from faircut.serve.limits import Limits

__all__ = ["main"]

_MEMORY_BYTES = 6 * 2**30  # of this process, where the system can limit it
_CUTS_KEPT = 16
_DOCUMENTS_KEPT = 3


class _DroppedError(Exception):
    """Nobody waits for the answer any more."""


@dataclass
class _State:
    """What is known between requests, and the number of the request that is answered."""

    answers: IO[bytes]
    limits: Limits
    number: int = -1
    dropped: set[int] = field(default_factory=set)
    doing: str = ""
    documents: "OrderedDict[str, Document]" = field(default_factory=OrderedDict)
    cuts: "OrderedDict[tuple[str, str], _Cut]" = field(default_factory=OrderedDict)
    embedder: Any = None

    def say(self, header: dict[str, Any], payload: bytes = b"") -> None:
        write_frame(self.answers, header | {"number": self.number}, payload)

    def tell(self, done: int, total: int) -> None:
        """Report how many texts are embedded; the place where a request that was dropped ends."""
        if self.number in self.dropped:
            raise _DroppedError
        if total > 1:
            self.say({"is": "progress", "doing": self.doing, "done": done, "total": total})


@dataclass(frozen=True)
class _Cut:
    """One chunker's chunks of one document, with their tokens and the curve where there is one."""

    spec: str
    chunks: Sequence[Chunk]
    tokens: Sequence[int]
    curve: Any


def main() -> None:
    """Serve until the input is closed."""
    _limit_memory()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what libraries print is no frame
    tasks: queue.Queue[Frame] = queue.Queue()
    hello = read_frame(sys.stdin.buffer)
    if hello is None:
        return
    state = _State(answers, Limits(**hello[0]))
    threading.Thread(target=_receive, args=(sys.stdin.buffer, tasks, state), daemon=True).start()
    state.say({"is": "ready"})
    while True:
        _serve(tasks.get(), state)


def _limit_memory() -> None:
    with suppress(ImportError, ValueError, OSError):  # not on every system
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY_BYTES, _MEMORY_BYTES))


def _receive(file: IO[bytes], tasks: "queue.Queue[Frame]", state: _State) -> None:
    """Take what comes in; the end of it ends the process, whatever it is at."""
    while frame := read_frame(file):
        if frame[0]["do"] == "drop":
            state.dropped.add(frame[0]["number"])
        else:
            tasks.put(frame)
    os._exit(0)


def _serve(task: Frame, state: _State) -> None:
    """Answer one request; whatever goes wrong with it is told, and the next one can come."""
    asked, payload = task
    state.number = asked["number"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", FaircutWarning)
        warnings.simplefilter("ignore", OverlongWarning)  # the page counts them
        try:
            {"read": _read, "cut": _cut_all, "ask": _ask, "warm": _warm}[asked["do"]](asked, payload, state)
            last = {"is": "done"}
        except _DroppedError:
            last = {"is": "dropped"}
        except MemoryError:
            last = {"is": "failed", "reason": "this takes more memory than a document may take here."}
        except FaircutError as error:
            last = {"is": "failed", "reason": _without_place(str(error), asked)}
        except Exception as error:  # a defect of ours or of a library on one document must not end the explorer
            last = {"is": "failed", "reason": _unexpected(error)}
    said = dict.fromkeys(_without_place(str(w.message), asked) for w in caught)
    state.say(last | {"warnings": list(said)})
    state.dropped.discard(state.number)


def _without_place(said: str, asked: dict[str, Any]) -> str:
    """What was said, without the private folder in which an uploaded file lies."""
    folder = asked.get("hide")
    return said.replace(f"{folder}{os.sep}", "") if folder else said


def _unexpected(error: Exception) -> str:
    return f"this document could not be worked on: an unexpected {type(error).__name__}."


# ---------------------------------------------------------------- reading


def _read(asked: dict[str, Any], payload: bytes, state: _State) -> None:
    """Read a file, or a record with a text; say what it is and hand over the document."""
    source = Source(asked["place"], Path(asked["path"]), asked["id"], payload if asked["is_line"] else None)
    document = read_source(source)
    if len(document.text) > state.limits.characters:
        raise DocumentError(
            f"{asked['place']}: {len(document.text):,} characters of text; the explorer shows documents of up to "
            f"{state.limits.characters:,}. `faircut view` and `faircut chunk` take longer ones."
        )
    title = document.title or document.id
    state.say({"is": "document", "title": title[:300], "characters": len(document.text)}, stored(document))


# ---------------------------------------------------------------- cutting


def _warm(_asked: dict[str, Any], _payload: bytes, state: _State) -> None:
    """Load the model before it is asked for."""
    _models(state).embedder.embed(["a first sentence"], "sentence")


def _cut_all(asked: dict[str, Any], payload: bytes, state: _State) -> None:
    """Cut one document with each chunker; a wrong spec is told in its row, and the others are cut."""
    from faircut.report.payload import chunk_lane, lane_values
    from faircut.serve.forms import form_of

    document = _document(asked, payload, state)
    for row, spec in enumerate(asked["chunkers"]):
        try:
            form = form_of(spec)
            cut = _cut(asked["digest"], spec, document, state)
        except SpecError as error:
            state.say({"is": "lane", "row": row, "problem": str(error)})
            continue
        lane = lane_values(chunk_lane(cut.chunks, cut.tokens, document, cut.curve))
        values = {"spec": cut.spec, "form": form, "lane": lane}
        state.say({"is": "lane", "row": row}, json.dumps(values, ensure_ascii=False, allow_nan=False).encode())


def _document(asked: dict[str, Any], payload: bytes, state: _State) -> Document:
    """The document of a request, made again from its JSON or known from the last one."""
    digest = asked["digest"]
    if digest not in state.documents:
        if not payload:
            raise DocumentError("the document is not at hand; open it again.")
        state.documents[digest] = document_from(payload)
    state.documents.move_to_end(digest)
    while len(state.documents) > _DOCUMENTS_KEPT:
        old, _ = state.documents.popitem(last=False)
        for key in [key for key in state.cuts if key[0] == old]:
            del state.cuts[key]
    return state.documents[digest]


def _cut(digest: str, spec: str, document: Document, state: _State) -> _Cut:
    """The cut of one chunker, made now or before."""
    from faircut.serve.allowed import served_chunker
    from faircut.serve.amounts import least_chunks

    chunker: Any = served_chunker(spec)
    key = digest, str(chunker)
    if key not in state.cuts:
        state.doing = f"embedding sentences for {chunker}"
        state.tell(0, 0)
        models = _models(state)
        _check_number(least_chunks(chunker, document.text), state.limits, "at least ")
        chunks = chunker.chunk(document, models)
        _check_number(len(chunks), state.limits)
        tokens = models.tokenizer.count_many([chunk.embedded_text for chunk in chunks])
        curve = chunker.curve(document, models) if hasattr(chunker, "curve") and chunks else None
        state.cuts[key] = _Cut(str(chunker), chunks, tokens, curve)
    state.cuts.move_to_end(key)
    while len(state.cuts) > _CUTS_KEPT:
        state.cuts.popitem(last=False)
    return state.cuts[key]


def _check_number(chunks: int, limits: Limits, words: str = "") -> None:
    if chunks > limits.chunks:
        raise SpecError(f"{words}{chunks:,} chunks are more than the {limits.chunks:,} that are shown here.")


def _models(state: _State) -> Any:
    """The bundled model with its memory; loaded at the first request."""
    from faircut.chunkers.contract import Models
    from faircut.embedding import EMBEDDERS
    from faircut.embedding.remembered import RememberedEmbedder

    if state.embedder is None:
        state.embedder = RememberedEmbedder(EMBEDDERS.build("minilm"), state.tell)
    return Models.of(state.embedder)


# ---------------------------------------------------------------- asking


def _ask(asked: dict[str, Any], payload: bytes, state: _State) -> None:
    """Ask one question of the chunks of each chunker."""
    from faircut.serve.allowed import served_search
    from faircut.serve.answers import answer

    document = _document(asked, payload, state)
    search, embedder = served_search(asked["search"]), _models(state).embedder
    for row, spec in enumerate(asked["chunkers"]):
        cut = _cut(asked["digest"], spec, document, state)
        if not cut.chunks:
            raise DocumentError("the document has no text to ask about.")
        state.doing = f"embedding the chunks of {cut.spec}"
        found = answer(
            document, cut.chunks, asked["question"], search=search, budget=asked["budget"], embedder=embedder
        )
        values = found | {"spec": cut.spec, "chunks": len(cut.chunks)}
        state.say({"is": "answer", "row": row}, json.dumps(values, ensure_ascii=False, allow_nan=False).encode())
