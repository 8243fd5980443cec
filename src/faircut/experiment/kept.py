"""The inputs of a run, kept in its folder: documents and questions in, two Parquet tables out, and back again.

A report is made from the run folder alone, also when the corpus has moved. Offsets stay code points; Parquet holds
UTF-8 only, so what does not fit (lone surrogates) is kept exactly beside it.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import polars as pl

from faircut.errors import StoreError
from faircut.experiment.store import RunStore
from faircut.questions.document_level import WholeDocument
from faircut.records import Block, Document, Evidence, Question, Span

__all__ = ["keep_documents", "keep_questions", "kept_documents", "kept_questions"]

DOCUMENTS, QUESTIONS = "documents.parquet", "questions.parquet"

_BLOCK = pl.Struct({"kind": pl.String, "start": pl.Int64, "end": pl.Int64, "level": pl.Int64, "page": pl.Int64})
_EVIDENCE = pl.Struct({"document": pl.String, "start": pl.Int64, "end": pl.Int64, "whole": pl.Boolean})
_STRINGS = ("id", "title", "source", "media_type", "language", "text")
_SCHEMA: dict[str, Any] = dict.fromkeys(_STRINGS, pl.String) | {"blocks": pl.List(_BLOCK), "exact": pl.String}
_QUESTION_SCHEMA: dict[str, Any] = {
    "id": pl.String, "text": pl.String, "evidence": pl.List(_EVIDENCE), "match": pl.String, "within": pl.String,
    "exact": pl.String,
}  # fmt: skip


def _utf8(value: Any) -> Any:
    """The value with all strings in it as UTF-8 can hold them."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_utf8(one) for one in value]
    return {key: _utf8(one) for key, one in value.items()} if isinstance(value, dict) else value


def _storable(record: dict[str, Any]) -> dict[str, Any]:
    """The record as Parquet can hold it, with itself as JSON where that is not the same."""
    stored: dict[str, Any] = _utf8(record)
    return stored | {"exact": None if stored == record else json.dumps(record)}


def keep_documents(store: RunStore, documents: Iterable[Document]) -> None:
    """Write ``documents.parquet``: id, title, source, media type, language, text, blocks; in the corpus's order."""
    records = []
    for d in documents:
        record: dict[str, Any] = {name: getattr(d, name) for name in _STRINGS}
        record["blocks"] = [
            {"kind": b.kind, "start": b.span.start, "end": b.span.end, "level": b.level, "page": b.page}
            for b in d.blocks
        ]
        records.append(_storable(record))
    store.write_table(DOCUMENTS, pl.DataFrame(records, schema=_SCHEMA))


def keep_questions(store: RunStore, questions: Iterable[Question]) -> None:
    """Write ``questions.parquet``: id, text, evidence, match, within; in the order of their file."""
    records = []
    for q in questions:
        record: dict[str, Any] = {"id": q.id, "text": q.text, "match": q.match, "within": q.within}
        record["evidence"] = [
            {"document": e.document_id, "start": e.span.start, "end": e.span.end, "whole": isinstance(e, WholeDocument)}
            for e in q.evidence
        ]
        records.append(_storable(record))
    store.write_table(QUESTIONS, pl.DataFrame(records, schema=_QUESTION_SCHEMA))


def kept_documents(store: RunStore) -> dict[str, Document]:
    """The documents of a run by id, as they were read.

    Raises:
        StoreError: the run is not finished, of an earlier version, or damaged.
    """
    with _damage(store, DOCUMENTS):
        documents = [_document(row) for row in _rows(store, DOCUMENTS)]
    return {document.id: document for document in documents}


def kept_questions(store: RunStore) -> tuple[Question, ...]:
    """The questions of a run, in their order.

    Raises:
        StoreError: the run is not finished, of an earlier version, or damaged.
    """
    with _damage(store, QUESTIONS):
        return tuple(_question(row) for row in _rows(store, QUESTIONS))


@contextmanager
def _damage(store: RunStore, name: str) -> Iterator[None]:
    """What is wrong inside of a table, as one sentence."""
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"{store.folder / name}: damaged ({error}); run the comparison again.") from error


def _rows(store: RunStore, name: str) -> Iterable[dict[str, Any]]:
    path = store.folder / name
    if not path.is_file():
        raise StoreError(f"{path}: not found; is {store.folder} a finished run? Run its comparison again.")
    try:
        table = pl.read_parquet(path, glob=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise StoreError(f"{path}: cannot be read ({error}); delete it and run again.") from error
    for row in table.iter_rows(named=True):
        yield row | (json.loads(row["exact"]) if row["exact"] else {})


def _document(row: Mapping[str, Any]) -> Document:
    blocks = tuple(Block(b["kind"], Span(b["start"], b["end"]), b["level"], b["page"]) for b in row["blocks"])
    return Document(blocks=blocks, **{name: row[name] for name in _STRINGS})


def _question(row: Mapping[str, Any]) -> Question:
    return Question(row["id"], row["text"], tuple(map(_piece, row["evidence"])), row["match"], row["within"])


def _piece(e: Mapping[str, Any]) -> Evidence:
    """A piece of evidence; runs of earlier versions do not say whether it is a whole document."""
    return (WholeDocument if e.get("whole") else Evidence)(e["document"], Span(e["start"], e["end"]))
