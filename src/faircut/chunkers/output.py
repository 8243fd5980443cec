"""Chunks as records on disk: one JSON line or one Parquet row a chunk, with the lines, pages and headings it covers.

Comes in: a document with its chunks. Goes out: plain dictionaries in the order of the columns. Cutting is left to the
chunkers, atomic writing to the caller.
"""

import json
import re
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, takewhile
from typing import IO, Any, NamedTuple

from faircut.chunkers.sections import heading_title
from faircut.errors import DocumentError
from faircut.records import Block, Chunk, Document, Span
from faircut.text.contract import TokenCounter

__all__ = [
    "HeadingPlaces", "chunk_records", "heading_places", "json_line", "pages_of", "read_chunk_records", "record_chunk",
    "write_jsonl", "write_parquet",
]  # fmt: skip

_SURROGATE = re.compile("[\ud800-\udfff]")
_ROWS_A_GROUP = 4096  # 10 MB of chunks of 512 tokens
_SHOWN = 40  # characters of a wrong value that an error shows


def chunk_records(document: Document, chunks: Sequence[Chunk], tokenizer: TokenCounter) -> Iterator[dict[str, Any]]:
    """One record for each chunk: ``id document spans text context tokens lines``, and where known more.

    ``lines`` are the first and the last line from 1, ``tokens`` counts context and text as embedded. Where known:
    ``source`` (the file), ``pages``, ``headings`` (the titles above the chunk's begin, whatever its context).
    """
    starts = _line_starts(document.text)
    paths = heading_places(document)
    tokens = tokenizer.count_many([c.embedded_text for c in chunks])
    for chunk, count in zip(chunks, tokens, strict=True):
        first, last = chunk.spans[0].start, chunk.spans[-1].end - 1
        record: dict[str, Any] = {
            "id": chunk.id,
            "document": document.id,
            **({"source": document.source} if document.source else {}),
            "spans": [[s.start, s.end] for s in chunk.spans],
            "text": chunk.text,
            "context": chunk.context,
            "tokens": count,
            "lines": [bisect_right(starts, first), bisect_right(starts, last)],
        }
        yield record | _optional(document, first, last, paths)


def _optional(document: Document, first: int, last: int, paths: "HeadingPlaces") -> dict[str, Any]:
    extra: dict[str, Any] = {}
    if pages := pages_of(document, first, last):
        extra["pages"] = pages
    if paths.places:
        extra["headings"] = list(paths.above(first, last))
    return extra


def pages_of(document: Document, first: int, last: int) -> list[int]:
    """The pages of a range of characters, ascending; none where they are not known."""
    return sorted({b.page for b in _blocks_between(document, first, last) if b.page is not None})


def _blocks_between(document: Document, first: int, last: int) -> Iterator[Block]:
    begin = bisect_right(document.blocks, first, key=lambda b: b.span.end)
    inside = takewhile(lambda at: document.blocks[at].span.start <= last, range(begin, len(document.blocks)))
    return (document.blocks[at] for at in inside)


class HeadingPlaces(NamedTuple):
    """The heading path that holds from each heading on: where the headings begin, and the path's titles there."""

    places: list[int]
    titles: list[tuple[str, ...]]

    def above(self, first: int, last: int) -> tuple[str, ...]:
        """The titles above a range of characters: those at its begin, else the first path inside of it."""
        inside = bisect_right(self.places, first) or bisect_right(self.places, last)
        return self.titles[inside - 1] if inside else ()


def heading_places(document: Document) -> HeadingPlaces:
    """All heading paths in document order."""
    paths = HeadingPlaces([], [])
    open_headings: list[tuple[int, str]] = []
    for block in document.blocks:
        if block.kind == "heading":
            level = block.level or 1
            title = heading_title(document.text[block.span.start : block.span.end])
            open_headings = [h for h in open_headings if h[0] < level] + [(level, title)]
            paths.places.append(block.span.start)
            paths.titles.append(tuple(text for _, text in open_headings))
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
        file.write(json_line(record))
        count += 1
    return count


def json_line(record: dict[str, Any]) -> bytes:
    """A record as one line of UTF-8 with its line end; lone surrogates become JSON escapes."""
    try:
        return json.dumps(record, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(record).encode() + b"\n"


def write_parquet(records: Iterable[dict[str, Any]], file: IO[bytes]) -> int:
    """Write the records as one Parquet table and return how many; lone surrogates become U+FFFD (Parquet is UTF-8).

    Memory is bounded by some groups of 4,096 rows, however many there are. The same records give the same bytes.
    What ``records`` raises passes unchanged.
    """
    import polars as pl
    from polars.io.plugins import register_io_source

    schema = _parquet_schema()
    count = 0
    raised: list[BaseException] = []

    def groups(*_: Any) -> "Iterator[pl.DataFrame]":  # called by polars from a thread of its own
        nonlocal count
        waiting = iter(records)
        try:
            while rows := [{key: _utf8(r.get(key)) for key in schema} for r in islice(waiting, _ROWS_A_GROUP)]:
                count += len(rows)
                yield pl.DataFrame(rows, schema=schema)
        except BaseException as error:  # polars would make another error of it
            raised.append(error)
            raise

    table = register_io_source(groups, schema=schema)
    try:
        table.sink_parquet(file, compression="zstd", row_group_size=_ROWS_A_GROUP, maintain_order=True)
    except pl.exceptions.PolarsError:
        if raised:
            raise raised[0] from None
        raise
    return count


def _parquet_schema() -> dict[str, Any]:
    import polars as pl

    return {
        "id": pl.String,
        "document": pl.String,
        "source": pl.String,
        "spans": pl.List(pl.List(pl.Int64)),
        "text": pl.String,
        "context": pl.String,
        "tokens": pl.Int64,
        "lines": pl.List(pl.Int64),
        "pages": pl.List(pl.Int64),
        "headings": pl.List(pl.String),
    }


def _utf8(value: Any) -> Any:
    if isinstance(value, list):
        return [_utf8(v) for v in value]
    return _SURROGATE.sub("\ufffd", value) if isinstance(value, str) and not value.isascii() else value


def record_chunk(record: Any, place: str) -> Chunk:
    """A chunk from its record, of faircut or of another tool that writes ``document``, ``spans`` and ``text``.

    Raises:
        DocumentError: a field is missing or of the wrong kind; says where.
    """
    try:
        spans = tuple(Span(_offset(start), _offset(end)) for start, end in record["spans"])
        context = record.get("context") or ""
        return Chunk(_document_id(record["document"]), spans, _text("text", record["text"]), _text("context", context))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        wanted = '{"document": ..., "spans": [[start, end]], "text": ...}'
        raise DocumentError(f"{place}: not a chunk record ({reason}); expected {wanted}.") from error


def _offset(value: Any) -> int:
    """A whole number of code points, also when it was written as 5.0.

    Raises:
        TypeError: it is none, or beyond any text.
    """
    is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not is_whole or abs(value) > sys.maxsize:
        raise TypeError(f"an offset must be a whole number of characters, found {str(value)[:_SHOWN]}")
    return int(value)


def _document_id(value: Any) -> str:
    """The id; numbers, which other tools count documents by, become text."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else _text("document", value)


def _text(field: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{field} must be a string, found {type(value).__name__}")
    return value


def read_chunk_records(path: str) -> Iterator[Chunk]:
    """Chunks of a ``.parquet`` file, or of a JSONL file with one record a line.

    Raises:
        DocumentError: the file cannot be read or a line is not a chunk record; names the line.
    """
    if path.lower().endswith(".parquet"):
        for number, record in enumerate(_parquet_rows(path), 1):
            yield record_chunk(record, f"{path}, row {number}")
        return
    try:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield record_chunk(_json(line, f"{path}:{number}"), f"{path}:{number}")
    except (OSError, UnicodeDecodeError) as error:
        raise DocumentError(f"{path}: the chunks cannot be read ({error}).") from error


def _parquet_rows(path: str) -> Iterator[dict[str, Any]]:
    import polars as pl

    try:
        table = pl.read_parquet(path, glob=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DocumentError(f"{path}: the chunks cannot be read ({error}).") from error
    return table.iter_rows(named=True)


def _json(line: str, place: str) -> Any:
    try:
        return json.loads(line)
    except RecursionError as error:
        raise DocumentError(f"{place}: nested too deep for a chunk record.") from error
    except ValueError as error:
        raise DocumentError(f"{place}: not JSON ({error}).") from error
