"""The process that reads and cuts one document after the other for a job; ``pool.py`` starts it.

Frames come in on the standard input (what to cut) and go out on the standard output (pieces of records, then how it
went); plain JSON and bytes, nothing is unpickled. It ends at once when the input is closed, so that it never outlives
its job.
"""

import json
import os
import queue
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from faircut.documents.sources import Source, content_digest
from faircut.errors import DocumentError, FaircutError, FaircutWarning

__all__ = ["Frame", "cut_source", "main", "read_frame", "source_frame", "unexpected", "write_frame"]

Frame = tuple[dict[str, Any], bytes]
"""A header, and bytes that go with it."""

_PIECE_BYTES = 2**20


def write_frame(file: IO[bytes], header: dict[str, Any], payload: bytes = b"") -> None:
    """Write a frame: the sizes of both parts, the header as JSON in ASCII, the payload."""
    raw = json.dumps(header).encode("ascii")
    file.write(len(raw).to_bytes(4) + len(payload).to_bytes(8) + raw + payload)
    file.flush()


def read_frame(file: IO[bytes]) -> Frame | None:
    """The next frame, None at the end (also when it is cut off: the other process is gone)."""
    sizes = file.read(12)
    header, payload = int.from_bytes(sizes[:4]), int.from_bytes(sizes[4:])
    raw, rest = file.read(header), file.read(payload)
    whole = len(sizes) == 12 and len(raw) == header and len(rest) == payload
    return (json.loads(raw), rest) if whole else None


def source_frame(source: Source, digest: str) -> Frame:
    """What a worker is sent for one source of the corpus."""
    header = {"place": source.place, "path": str(source.path), "id": source.id, "digest": digest}
    return header | {"is_line": source.line is not None}, source.line or b""


def main() -> None:
    """Serve until the input is closed."""
    answers = _own_stdout()
    tasks: queue.Queue[Frame] = queue.Queue()
    threading.Thread(target=_receive, args=(sys.stdin.buffer, tasks), daemon=True).start()
    try:
        cutter, models = _prepared(tasks.get()[0])
    except FaircutError as error:
        write_frame(answers, {"is": "refused", "error": type(error).__name__, "said": str(error)})
        return
    write_frame(answers, {"is": "ready"})
    while True:
        _serve(tasks.get(), cutter, models, answers)


def _own_stdout() -> IO[bytes]:
    """The output for frames alone: what libraries print goes to stderr."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers


def _receive(file: IO[bytes], tasks: "queue.Queue[Frame]") -> None:
    """Take what comes in; the end of it ends the process, also in the middle of a document."""
    while frame := read_frame(file):
        tasks.put(frame)
    os._exit(0)


def _prepared(hello: dict[str, Any]) -> tuple[Any, Any]:
    from faircut.chunkers import build
    from faircut.chunkers.contract import Models
    from faircut.embedding import EMBEDDERS

    models = Models.of(EMBEDDERS.build(hello["embedder"]))
    models.tokenizer.count("a word")  # loads it: not on the first document's time
    return build(hello["chunker"]), models


def _serve(task: Frame, cutter: Any, models: Any, answers: IO[bytes]) -> None:
    """Cut one document; whatever goes wrong with it is told and the next one can come."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", FaircutWarning)
        try:
            answer = cut_source(task, cutter, models, answers)
        except FaircutError as error:
            answer = {"is": "failed", "reason": str(error)}
        except Exception as error:  # a defect of ours or of a library on one file must not end the job
            answer = {"is": "failed", "reason": unexpected(error)}
    write_frame(answers, answer | {"warnings": [str(w.message) for w in caught]})


def cut_source(task: Frame, cutter: Any, models: Any, answers: IO[bytes]) -> dict[str, Any]:
    """Cut one document and write its records as frames; how it went is returned."""
    from faircut.chunkers.output import chunk_records
    from faircut.documents.reading import read_source
    from faircut.experiment.parts import compressed

    asked, raw = task
    line = raw if asked["is_line"] else None
    source = Source(asked["place"], Path(asked["path"]), asked["id"], line)
    document = read_source(source)
    chunks = cutter.chunk(document, models)
    for piece in _pieces(chunk_records(document, chunks, models.tokenizer)):
        write_frame(answers, {"is": "piece"}, compressed(piece))
    if content_digest(source) != asked["digest"]:
        raise DocumentError(f"{source.place}: was changed while it was read; run again.")
    return {"is": "done", "document": document.id, "chunks": len(chunks)}


def _pieces(records: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    """The records as JSON lines, about a megabyte at a time."""
    from faircut.chunkers.output import json_line

    piece = bytearray()
    for record in records:
        piece += json_line(record)
        if len(piece) >= _PIECE_BYTES:
            yield bytes(piece)
            piece.clear()
    if piece:
        yield bytes(piece)


def unexpected(error: Exception) -> str:
    """What to say of an error that nobody foresaw, with its place."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    place = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else "unknown place"
    said = " ".join(str(error).split())[:200]
    return f"unexpected {type(error).__name__} at {place}{': ' if said else ''}{said}"
