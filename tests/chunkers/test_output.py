"""Chunks on disk: what a record says, and what is refused when records of other tools are read."""

import io
import json
import time

import polars as pl
import pytest

from faircut.chunkers.output import chunk_records, read_chunk_records, write_jsonl, write_parquet
from faircut.documents.markdown import markdown_blocks
from faircut.errors import DocumentError
from faircut.records import Block, Chunk, Document, Span
from faircut.text.tokens import WordCounter

TEXT = "intro\n\n# Lease\n\nIt begins\r\nin May.\n\n## Rent\n\nDue monthly.\n\n# Annex\n\nNone.\n"
DOCUMENT = Document("lease", TEXT, markdown_blocks(TEXT))


def cut(document, *edges):
    spans = (Span(a, b) for a, b in edges)
    return [Chunk(document.id, (span,), document.text[span.start : span.end]) for span in spans]


def between(first, last):
    return TEXT.index(first), TEXT.index(last) + len(last)


def test_a_record_names_lines_and_the_heading_path_at_its_begin():
    chunks = cut(DOCUMENT, between("intro", "intro"), between("intro", "May."), between("in May", "monthly."))
    chunks += cut(DOCUMENT, between("Due", "None."), between("# Annex", "# Annex"))
    records = list(chunk_records(DOCUMENT, chunks, WordCounter()))
    assert [r["headings"] for r in records] == [[], ["Lease"], ["Lease"], ["Lease", "Rent"], ["Annex"]]
    assert [r["lines"] for r in records] == [[1, 1], [1, 6], [6, 10], [10, 14], [12, 12]]
    assert [r["tokens"] for r in records] == [1, 7, 6, 5, 2]
    assert [Chunk(r["document"], tuple(Span(*s) for s in r["spans"]), r["text"]).id for r in records] == [
        r["id"] for r in records
    ]


def test_a_record_names_the_pages_that_it_touches():
    edges = [(0, 10, 1), (10, 20, 2), (20, 30, None), (30, 40, 3)]
    blocks = tuple(Block("paragraph", Span(a, b), page=page) for a, b, page in edges)
    document = Document("d", "x" * 40, blocks)
    records = chunk_records(document, cut(document, (0, 10), (9, 21), (20, 30), (10, 40)), WordCounter())
    assert [r.get("pages") for r in records] == [[1], [1, 2], None, [2, 3]]


def test_eight_times_the_headings_take_at_most_about_eight_times_the_cpu():
    def seconds(headings):
        text = "".join(f"# Heading {number}\n\n" for number in range(headings))
        document = Document("d", text, markdown_blocks(text))
        chunks = cut(document, *((b.span.start, b.span.end) for b in document.blocks))
        begin = time.process_time()
        assert len(list(chunk_records(document, chunks, WordCounter()))) == headings
        return time.process_time() - begin

    small = min(seconds(1_000) for _ in range(3))
    assert seconds(8_000) <= 24 * small + 0.1  # quadratic would be 64 times; the rest is room for a busy machine


LONE = Document("id\ud800", "# h\udfff\n\na \ud83d b\n", ())


def test_lone_surrogates_in_ids_texts_and_contexts_are_written_to_both_formats():
    document = Document(LONE.id, LONE.text, markdown_blocks(LONE.text))
    chunk = Chunk(LONE.id, (Span(0, len(LONE.text)),), LONE.text, "c\ud800")
    records = [dict(r, id="x\udc00") for r in chunk_records(document, [chunk], WordCounter())]
    file = io.BytesIO()
    assert write_parquet(records, file) == 1
    row = pl.read_parquet(io.BytesIO(file.getvalue())).to_dicts()[0]
    assert (row["id"], row["document"], row["context"]) == ("x\ufffd", "id\ufffd", "c\ufffd")
    assert (row["text"], row["headings"]) == ("# h\ufffd\n\na \ufffd b\n", ["h\ufffd"])
    lines = io.BytesIO()
    assert write_jsonl(records, lines) == 1
    assert json.loads(lines.getvalue()) == records[0]


def test_written_records_are_read_as_the_chunks_that_they_were(tmp_path):
    chunks = [Chunk("d\ud800", (Span(0, 3), Span(5, 9)), "a \udfff b", "über"), *cut(DOCUMENT, (0, 5))]
    records = [r for c in chunks for r in chunk_records(Document(c.document_id, TEXT), [c], WordCounter())]
    with (tmp_path / "chunks.jsonl").open("wb") as file:
        write_jsonl(records, file)
    assert list(read_chunk_records(str(tmp_path / "chunks.jsonl"))) == chunks


def test_numbers_of_other_tools_are_taken_where_they_are_exact(tmp_path):
    (tmp_path / "chunks.jsonl").write_text('{"document": 7, "spans": [[0.0, 5]], "text": "intro", "context": null}\n')
    assert list(read_chunk_records(str(tmp_path / "chunks.jsonl"))) == [Chunk("7", (Span(0, 5),), "intro")]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("[" * 100_000, "nested too deep"),
        ('{"a":' * 100_000, "nested too deep"),
        ('{"document": "d", "spans": [[0, 1e400]], "text": "a"}', "whole number of characters, found inf"),
        ('{"document": "d", "spans": [[0, NaN]], "text": "a"}', "whole number of characters, found nan"),
        ('{"document": "d", "spans": [[0, 5.7]], "text": "a"}', "whole number of characters, found 5.7"),
        ('{"document": "d", "spans": [[0, true]], "text": "a"}', "whole number of characters, found True"),
        ('{"document": "d", "spans": [["0", "5"]], "text": "a"}', "whole number of characters, found 0"),
        ('{"document": "d", "spans": [[0, 1%s]], "text": "a"}' % ("0" * 300), "whole number of characters, found 1000"),
        ('{"document": "d", "spans": [[0, 1%s]], "text": "a"}' % ("0" * 9000), "not JSON"),
        ('{"document": "d", "spans": [[5, 5]], "text": "a"}', "0 <= start < end"),
        ('{"document": "d", "spans": [], "text": "a"}', "has no spans"),
        ('{"document": "d", "spans": 5, "text": "a"}', "not a chunk record"),
        ('{"document": "d", "spans": [[0, 1]]}', "'text' is missing"),
        ('{"document": "d", "spans": [[0, 1]], "text": null}', "text must be a string, found NoneType"),
        ('{"document": null, "spans": [[0, 1]], "text": "a"}', "document must be a string, found NoneType"),
        ('{"document": "d", "spans": [[0, 1]], "text": "a", "context": ["x"]}', "context must be a string, found list"),
        ('["document"]', "not a chunk record"),
        ("7", "not a chunk record"),
        ("{", "not JSON"),
    ],
)
def test_what_is_no_chunk_record_is_refused_with_its_line(line, what, tmp_path):
    path = tmp_path / "chunks.jsonl"
    path.write_text('{"document": "d", "spans": [[0, 1]], "text": "a"}\n\n' + line + "\n")
    with pytest.raises(DocumentError, match=f"chunks.jsonl:3: .*{what}"):
        list(read_chunk_records(str(path)))
