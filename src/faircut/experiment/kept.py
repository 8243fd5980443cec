"""The inputs of a run, kept in its folder: documents and questions in, two Parquet tables out, and back again.

A report is made from the run folder alone, also when the corpus has moved. Offsets stay code points; Parquet holds
UTF-8 only, so what does not fit (lone surrogates) is kept exactly beside it.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from faircut.errors import StoreError
from faircut.experiment.store import RunStore
from faircut.records import Block, Document, Evidence, Question, Span

__all__ = ["keep_documents", "keep_questions", "kept_documents", "kept_questions"]

DOCUMENTS, QUESTIONS = "documents.parquet", "questions.parquet"

_BLOCK = pl.Struct({"kind": pl.String, "start": pl.Int64, "end": pl.Int64, "level": pl.Int64, "page": pl.Int64})
_EVIDENCE = pl.Struct({"document": pl.String, "start": pl.Int64, "end": pl.Int64})
_STRINGS = ("id", "title", "source", "media_type", "language", "text")
_SCHEMA: dict[str, Any] = dict.fromkeys(_STRINGS, pl.String) | {"blocks": pl.List(_BLOCK), "exact": pl.String}
_QUESTION_SCHEMA: dict[str, Any] = {
    "id": pl.String, "text": pl.String, "evidence": pl.List(_EVIDENCE), "match": pl.String, "within": pl.String,
    "exact": pl.String,
}  # fmt: skip


def _utf8(text: str | None) -> str | None:
    return text if text is None or text.isascii() else text.encode("utf-8", "replace").decode()


def _exact(record: Mapping[str, Any]) -> str | None:
    """The strings of a record as JSON, when UTF-8 cannot hold one of them."""
    strings = {key: value for key, value in record.items() if isinstance(value, str)}
    return json.dumps(strings) if any(_utf8(value) != value for value in strings.values()) else None


def _storable(record: dict[str, Any]) -> dict[str, Any]:
    return {k: _utf8(v) if isinstance(v, str) else v for k, v in record.items()} | {"exact": _exact(record)}


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
            {"document": _utf8(e.document_id), "start": e.span.start, "end": e.span.end} for e in q.evidence
        ]
        records.append(_storable(record))
    store.write_table(QUESTIONS, pl.DataFrame(records, schema=_QUESTION_SCHEMA))


def kept_documents(store: RunStore) -> dict[str, Document]:
    """The documents of a run by id, as they were read.

    Raises:
        StoreError: the run is not finished, of an earlier version, or damaged.
    """
    documents = (_document(row) for row in _rows(store, DOCUMENTS))
    return {document.id: document for document in documents}


def kept_questions(store: RunStore) -> tuple[Question, ...]:
    """The questions of a run, in their order.

    Raises:
        StoreError: the run is not finished, of an earlier version, or damaged.
    """
    return tuple(_question(row) for row in _rows(store, QUESTIONS))


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
    evidence = tuple(Evidence(e["document"], Span(e["start"], e["end"])) for e in row["evidence"])
    return Question(row["id"], row["text"], evidence, row["match"], row["within"])
