"""Chunks as records on disk: one JSON line or one Parquet row a chunk, with the lines, pages and headings it covers.

Comes in: a document with its chunks. Goes out: plain dictionaries in the order of the columns. Cutting is left to the
chunkers, atomic writing to the caller.
"""

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

from faircut.errors import DocumentError
from faircut.records import Block, Chunk, Document, Span
from faircut.text.contract import TokenCounter

__all__ = ["chunk_records", "read_chunk_records", "record_chunk", "write_jsonl", "write_parquet"]

LINE_ENDS = ("\r\n", "\n", "\r")


def chunk_records(document: Document, chunks: Sequence[Chunk], tokenizer: TokenCounter) -> Iterator[dict[str, Any]]:
    """One record for each chunk: ``id document spans text context tokens lines`` and where known ``pages headings``.

    ``lines`` are the first and the last line from 1, ``tokens`` counts context and text as embedded.
    """
    starts = _line_starts(document.text)
    paths = _heading_paths(document)
    tokens = tokenizer.count_many([c.embedded_text for c in chunks])
    for chunk, count in zip(chunks, tokens, strict=True):
        first, last = chunk.spans[0].start, chunk.spans[-1].end - 1
        record: dict[str, Any] = {
            "id": chunk.id,
            "document": document.id,
            "spans": [[s.start, s.end] for s in chunk.spans],
            "text": chunk.text,
            "context": chunk.context,
            "tokens": count,
            "lines": [bisect_right(starts, first), bisect_right(starts, last)],
        }
        yield record | _optional(document, first, last, paths)


def _optional(document: Document, first: int, last: int, paths: "_Paths") -> dict[str, Any]:
    extra: dict[str, Any] = {}
    pages = sorted({b.page for b in _blocks_between(document, first, last) if b.page is not None})
    if pages:
        extra["pages"] = pages
    if paths:
        at = bisect_right([place for place, _ in paths], last) - 1
        inside = bisect_right([place for place, _ in paths], first) - 1
        extra["headings"] = list(paths[inside if inside >= 0 else at][1]) if at >= 0 else []
    return extra


def _blocks_between(document: Document, first: int, last: int) -> Iterable[Block]:
    begin = bisect_right(document.blocks, first, key=lambda b: b.span.end)
    for block in document.blocks[begin:]:
        if block.span.start > last:
            return
        yield block


_Paths = list[tuple[int, tuple[str, ...]]]


def _heading_paths(document: Document) -> _Paths:
    """The heading path that holds from each heading on, in document order."""
    paths: _Paths = []
    open_headings: list[tuple[int, str]] = []
    for block in document.blocks:
        if block.kind == "heading":
            level = block.level or 1
            title = document.text[block.span.start : block.span.end].strip().strip("#=-").strip().partition("\n")[0]
            open_headings = [h for h in open_headings if h[0] < level] + [(level, title)]
            paths.append((block.span.start, tuple(text for _, text in open_headings)))
    return paths


def _line_starts(text: str) -> list[int]:
    """Offsets at which lines begin; CR, LF and CRLF end a line."""
    starts, position = [0], 0
    for line in text.splitlines(keepends=True):
        position += len(line)
        if line.endswith(("\n", "\r")):
            starts.append(position)
    return starts


def write_jsonl(records: Iterable[dict[str, Any]], file: IO[bytes]) -> int:
    """Write one record a line and return how many; lone surrogates become JSON escapes."""
    count = 0
    for record in records:
        try:
            raw = json.dumps(record, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raw = json.dumps(record).encode()
        file.write(raw + b"\n")
        count += 1
    return count


def write_parquet(records: Iterable[dict[str, Any]], file: IO[bytes]) -> int:
    """Write the records as one Parquet table and return how many; lone surrogates become U+FFFD (Parquet is UTF-8)."""
    import polars as pl

    schema: dict[str, Any] = {
        "id": pl.String,
        "document": pl.String,
        "spans": pl.List(pl.List(pl.Int64)),
        "text": pl.String,
        "context": pl.String,
        "tokens": pl.Int64,
        "lines": pl.List(pl.Int64),
        "pages": pl.List(pl.Int64),
        "headings": pl.List(pl.String),
    }
    rows = [{key: _utf8(record.get(key)) for key in schema} for record in records]
    pl.DataFrame(rows, schema=schema).write_parquet(file, compression="zstd")
    return len(rows)


def _utf8(value: Any) -> Any:
    if isinstance(value, list):
        return [_utf8(v) for v in value]
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def record_chunk(record: Any, place: str) -> Chunk:
    """A chunk from its record, of faircut or of another tool that writes ``document``, ``spans`` and ``text``.

    Raises:
        DocumentError: a field is missing or of the wrong kind; says where.
    """
    try:
        spans = tuple(Span(int(start), int(end)) for start, end in record["spans"])
        context = record.get("context") or ""
        return Chunk(str(record["document"]), spans, str(record["text"]), str(context))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        wanted = '{"document": ..., "spans": [[start, end]], "text": ...}'
        raise DocumentError(f"{place}: not a chunk record ({error}); expected {wanted}.") from error


def read_chunk_records(path: str) -> Iterator[Chunk]:
    """Chunks of a JSONL file, one record a line.

    Raises:
        DocumentError: the file cannot be read or a line is not a chunk record; names the line.
    """
    try:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield record_chunk(_json(line, f"{path}:{number}"), f"{path}:{number}")
    except (OSError, UnicodeDecodeError) as error:
        raise DocumentError(f"{path}: the chunks cannot be read ({error}).") from error


def _json(line: str, place: str) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise DocumentError(f"{place}: not JSON ({error}).") from error
