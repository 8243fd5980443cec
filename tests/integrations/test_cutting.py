"""A text with metadata becomes a document as a file would; what is said of a chunk is flat, exact and repeatable."""

import subprocess
import sys

import pytest

from faircut.documents import read
from faircut.errors import DocumentError, FaircutError, LlmError, SpecError
from faircut.integrations.cutting import Cutter, described, identity_of
from faircut.integrations.extras import MissingFrameworkError
from faircut.records import Chunk, Document, Span


def cutter(chunker="structure(max=40t)", form="auto"):
    return Cutter.of(chunker, "minilm", None, form)


@pytest.mark.parametrize(
    ("metadata", "name"),
    [
        ({"source": "docs/manual.md"}, "manual.md"),
        ({"source": "https://example.org/manual.md?raw=1#top"}, "manual.md"),
        ({"file_path": "C:\\boats\\manual.MD"}, "manual.md"),
        ({"file_type": "text/markdown; charset=utf-8"}, "manual.md"),
        ({"source": "manual.txt"}, "manual.txt"),
        ({"source": "manual.pdf", "page": 1}, "manual.txt"),
        ({}, "manual.txt"),
        ({"source": "manual.py"}, "manual.py"),
        ({"source": "manual.toml"}, "manual.toml"),
    ],
)
def test_a_text_is_cut_as_a_file_of_its_name_is(metadata, name, manual, tmp_path):
    (tmp_path / name).write_text(manual, encoding="utf-8")
    one = cutter()
    there, here = read(tmp_path / name), one.document(manual, "d", metadata)
    assert (here.text, here.blocks, here.media_type, here.language) == (
        there.text, there.blocks, there.media_type, there.language
    )  # fmt: skip
    assert [c.spans for c in one.cut(here)] == [c.spans for c in one.cut(there)]


def test_a_format_that_is_named_wins_over_the_name_of_the_file(manual):
    assert all(b.kind == "paragraph" for b in cutter(form="plain").document(manual, "d", {"source": "a.md"}).blocks)
    assert cutter(form="markdown").document(manual, "d", {}).blocks[0].kind == "heading"


@pytest.mark.parametrize(
    ("make", "kind", "what"),
    [
        (lambda: cutter("hybird"), SpecError, "did you mean 'hybrid'"),
        (lambda: cutter(form="markdwon"), SpecError, "did you mean 'markdown'"),
        (lambda: cutter("llm"), LlmError, "pass one as language_model"),
        (lambda: Cutter.of("auto", "minilmm", None, "auto"), SpecError, "minilm"),
    ],
)
def test_what_is_wrong_is_said_before_any_work(make, kind, what):
    with pytest.raises(kind, match=what):
        make()


def test_what_is_no_text_is_refused():
    with pytest.raises(TypeError, match="must be str, found bytes"):
        cutter().document(b"text", "d", {})


def test_what_is_said_of_a_chunk_is_flat_and_leads_back_to_the_text(manual):
    one = cutter()
    document = one.document(manual, "boat", {"source": "boat.md"})
    found = described(one.cut(document), document)
    assert all(isinstance(value, str) and value for d in found for value in d.about.values())
    for d in found:
        spans = [tuple(map(int, span.split("-"))) for span in d.about["spans"].split(",")]
        assert "".join(manual[a:b] for a, b in spans) == d.chunk.text
    rows = next(d for d in found if "| belt |" in d.chunk.text)
    assert rows.about["context"].endswith("| part | every | by |\n|---|---|---|")
    assert rows.about["headings"] == "Boat manual > Engine"


def test_ids_are_the_same_at_every_run_and_differ_within_one():
    document = Document("d", "same same")
    chunks = [Chunk("d", (Span(0, 4),), "same"), Chunk("d", (Span(5, 9),), "same"), Chunk("d", (Span(0, 4),), "same")]
    ids = [d.uuid for d in described(chunks, document)]
    assert len(set(ids)) == 3
    assert ids == [d.uuid for d in described(chunks, document)]


def test_the_chunks_of_another_document_are_refused():
    with pytest.raises(DocumentError, match="a chunk of 'a' was given with the document 'b'"):
        described([Chunk("a", (Span(0, 1),), "x")], Document("b", "x"))


def test_pages_of_one_file_have_ids_of_their_own():
    first, second = (identity_of("blank form", {"source": "a.pdf", "page": page}, None) for page in (1, 2))
    assert first != second
    assert first == identity_of("blank form", {"page": 1, "source": "a.pdf"}, None)
    assert identity_of("text", {}, "given") == "given"


def test_a_missing_framework_names_the_command_and_is_an_import_error_too():
    error = MissingFrameworkError("LangChain", "langchain", ImportError("No module named 'langchain_core'"))
    assert isinstance(error, FaircutError)
    assert isinstance(error, ImportError)
    assert 'pip install "faircut[langchain]"' in str(error)


def test_neither_the_command_line_nor_the_layer_itself_imports_a_framework():
    code = (
        "import sys, faircut, faircut.cli.app, faircut.integrations;"
        "print([m for m in sys.modules if m.partition('.')[0] in "
        "('langchain_core', 'langchain_text_splitters', 'llama_index', 'haystack')])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
