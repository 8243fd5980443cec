"""Chunks on disk: what a record says, and what is refused when records of other tools are read."""

import io
import json
import zipfile
from pathlib import Path

import polars as pl
import pytest

from cpu_time import cpu_time
from faircut.chunkers import build
from faircut.chunkers.contract import Models
from faircut.chunkers.output import chunk_records, read_chunk_records, write_jsonl, write_parquet
from faircut.documents import read
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
        with cpu_time() as spent:
            made = len(list(chunk_records(document, chunks, WordCounter())))
        assert made == headings
        return spent[0]

    small = min(seconds(1_000) for _ in range(3))
    large = min(seconds(8_000) for _ in range(2))
    assert large <= 24 * small + 0.1  # quadratic would be 64 times; the rest is room for a busy machine


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


# ---------------------------------------------------------------- large tables


def many(count):
    for n in range(count):
        yield {"id": f"{n}", "document": "d", "spans": [[n, n + 1]], "text": f"text {n} " * 20, "lines": [n, n]}


@pytest.mark.parametrize("count", [0, 1, 4096, 10_000])
def test_parquet_is_written_in_groups_and_holds_every_row_in_order(count):
    files = [io.BytesIO(), io.BytesIO()]
    assert [write_parquet(many(count), file) for file in files] == [count, count]
    assert files[0].getvalue() == files[1].getvalue()
    table = pl.read_parquet(io.BytesIO(files[0].getvalue()))
    assert table["id"].to_list() == [str(n) for n in range(count)]
    assert table.columns[:4] == ["id", "document", "source", "spans"]


def test_what_the_records_raise_passes_through_the_writer_unchanged():
    def broken():
        yield from many(5000)
        raise DocumentError("here it breaks.")

    with pytest.raises(DocumentError, match=r"^here it breaks\.$"):
        write_parquet(broken(), io.BytesIO())


# ---------------------------------------------------------------- kinds of files

MARKDOWN = "# Lease of C#\n\nIt begins in May.\n\n## Rent ##\n\nIt is due monthly.\n"
HTML = "<html><body><h1>Lease of C#</h1><p>It begins in May.</p><h2>Rent</h2><p>It is due monthly.</p></body></html>"
PYTHON = '"""Rules."""\n\n\nclass Lease:\n    """A lease."""\n\n    def rent(self):\n        return "monthly"\n'


def word(path):
    """A Word file with two headings and two paragraphs."""
    name = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    content = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    said = (
        ("Heading1", "Lease of C#"),
        ("Normal", "It begins in May."),
        ("Heading2", "Rent"),
        ("Normal", "It is due monthly."),
    )
    body = "".join(
        f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>' for style, text in said
    )
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="Heading{n}"><w:name w:val="heading {n}"/></w:style>' for n in (1, 2)
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "[Content_Types].xml",
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            f'<Override PartName="/word/document.xml" ContentType="{content}"/></Types>',
        )
        archive.writestr(
            "_rels/.rels",
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            f'<Relationship Id="r1" Type="{relations}/officeDocument" Target="word/document.xml"/></Relationships>',
        )
        archive.writestr(
            "word/_rels/document.xml.rels",
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            f'<Relationship Id="r1" Type="{relations}/styles" Target="styles.xml"/></Relationships>',
        )
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{name}"><w:body>{body}</w:body></w:document>')
        archive.writestr("word/styles.xml", f'<w:styles xmlns:w="{name}">{styles}</w:styles>')


def pages(path):
    """A PDF of two pages with a heading on each, in its outline."""
    from pdf_writer import Sheet, pdf

    first, second = Sheet(), Sheet()
    first.text(72, 80, "Lease of C#", 18, "F2").text(72, 120, "It begins in May.")
    second.text(72, 80, "Rent", 14, "F2").text(72, 120, "It is due monthly.")
    path.write_bytes(pdf(first, second, outline=[(1, "Lease of C#", 1, 80), (2, "Rent", 2, 80)]))


WRITERS = {
    "a.md": lambda path: path.write_text(MARKDOWN),
    "a.html": lambda path: path.write_text(HTML),
    "a.docx": word,
    "a.pdf": pages,
}


@pytest.mark.parametrize("name", list(WRITERS))
def test_records_of_every_kind_of_file_carry_source_lines_and_headings_also_without_context(
    name, tmp_path, monkeypatch
):
    monkeypatch.syspath_prepend(Path(__file__).parent.parent / "documents")  # where the writer of PDFs is
    WRITERS[name](tmp_path / name)
    document = read(tmp_path / name)
    chunks = build("sentence(max=4w)").chunk(document, Models(WordCounter()))
    assert not any(chunk.context for chunk in chunks)
    records = {r["text"]: r for r in chunk_records(document, chunks, WordCounter())}
    begin, due = (next(r for text, r in records.items() if said in text) for said in ("May.", "monthly."))
    assert (begin["headings"], due["headings"]) == (["Lease of C#"], ["Lease of C#", "Rent"])
    for record in (begin, due):
        assert record["source"] == str(tmp_path / name)
        first, last = record["lines"]
        lines = document.text.splitlines()[first - 1 : last]
        assert record["text"].strip() in "\n".join(lines)
        assert record["text"].startswith(lines[0])
    assert [r.get("pages") for r in (begin, due)] == ([[1], [2]] if name == "a.pdf" else [None, None])


def test_records_of_source_code_carry_source_and_lines(tmp_path):
    (tmp_path / "a.py").write_text(PYTHON)
    document = read(tmp_path / "a.py")
    chunks = build("structure(max=12w)").chunk(document, Models(WordCounter()))
    last = list(chunk_records(document, chunks, WordCounter()))[-1]
    assert last["source"] == str(tmp_path / "a.py")
    assert last["lines"][1] == 8
