"""Any Python splitter is a chunker."""

import json
import sys
import warnings
from dataclasses import dataclass

import pytest

from faircut.chunkers.contract import Models
from faircut.chunkers.python import PythonChunker
from faircut.errors import ChunkingError, FaircutWarning, SpecError
from faircut.records import Document
from faircut.specs import Registry, parse_spec

REGISTRY = Registry("chunker", (PythonChunker,))
TEXT = "The lease  ends in May.\n\nThe rent is due\nmonthly. It is paid in advance, by transfer, to the landlord."
DOCUMENT = Document("lease", TEXT)
NO_MODELS = Models(tokenizer=None)  # type: ignore[arg-type]  # a foreign splitter does not ask for one


@dataclass
class Piece:
    text: str


@dataclass
class Page:
    page_content: str


class LineSplitter:
    def __init__(self, keep=100):
        self.keep = keep

    def split_text(self, text):
        return text.splitlines()[: self.keep]


def as_objects(text):
    return [Piece(line) for line in text.splitlines()]


def as_pages(text):
    return tuple(Page(line) for line in text.splitlines())


def as_dicts(text):
    return ({"text": line} for line in text.splitlines())


def with_heading(text):
    return [f"Summary {i}: {line}" if i == 0 else line for i, line in enumerate(text.splitlines())]


def rewritten(text):
    return ["something", "else"]


def failing(text):
    raise RuntimeError("no model")


def as_bytes(text):
    return [text.encode()]


def as_number(text):
    return 7


def make(size=10):
    return lambda text: [text[i : i + size] for i in range(0, len(text), size)]


def chunk(spec, document=DOCUMENT):
    return REGISTRY.build(spec).chunk(document, NO_MODELS)


LINES = ["The lease  ends in May.", "The rent is due", "monthly. It is paid in advance, by transfer, to the landlord."]


@pytest.mark.parametrize(
    "spec",
    [
        "python:builtins:str.splitlines",
        "python:test_python:LineSplitter",
        "python:test_python:LineSplitter(keep=50)",
        "python:test_python:LineSplitter(50)",
        "python:test_python:as_objects",
        "python:test_python:as_pages",
        "python:test_python:as_dicts",
    ],
)
def test_functions_classes_and_factories_whose_pieces_are_texts_or_have_one_are_chunkers(spec):
    chunks = chunk(spec)
    assert [c.text for c in chunks] == LINES
    assert all(c.is_verbatim(DOCUMENT) for c in chunks)


def test_a_function_that_wants_a_text_gets_its_parameters_at_every_call():
    chunks = chunk("python:textwrap:wrap(width=40)")
    assert chunks[0].text == "The lease  ends in May.\n\nThe rent is due"
    assert all(c.is_verbatim(DOCUMENT) for c in chunks)


def test_a_factory_is_called_once_and_what_it_makes_is_the_splitter():
    assert len(chunk("python:test_python:make(size=50)")) == 3


def test_nested_python_specs_name_objects():
    found = REGISTRY.build("python:test_python:make(python:builtins:int(50))")
    assert len(found.chunk(DOCUMENT, NO_MODELS)) == 3


@pytest.mark.parametrize(
    "spec",
    ["python:textwrap:wrap", "python:textwrap:wrap(width=40)", "python:test_python:LineSplitter(5)",
     'python:textwrap:wrap(width=40, initial_indent="", fix_sentence_endings=true)'],
)  # fmt: skip
def test_the_name_is_the_spec(spec):
    built = REGISTRY.build(spec)
    assert REGISTRY.build(str(built)) == built
    assert parse_spec(str(built)) == parse_spec(spec)


def test_a_piece_that_is_not_in_the_document_is_left_out_and_said_with_numbers():
    with pytest.warns(FaircutWarning, match=r"1 of 4 pieces are not in document 'lease'.*27 characters") as caught:
        chunks = chunk("python:test_python:with_heading")
    assert len(caught) == 1
    assert [c.text for c in chunks] == LINES[1:]


def test_a_splitter_whose_pieces_are_nowhere_in_the_document_is_refused():
    with pytest.raises(ChunkingError, match="2 of 2 pieces are not in document 'lease', the first is 'something'"):
        chunk("python:test_python:rewritten")


@pytest.mark.parametrize(
    ("spec", "what"),
    [
        ("python:test_python:failing", "failed on document 'lease': RuntimeError: no model"),
        ("python:test_python:as_bytes", "must return a list of texts.*found bytes"),
        ("python:test_python:as_number", "must return a list of texts.*found int"),
        ("python:test_python:make", "must return a list of texts.*a factory needs its parameters"),
    ],
)
def test_a_splitter_that_fails_or_returns_no_texts_is_named_with_the_document(spec, what):
    with pytest.raises(ChunkingError, match=what):
        chunk(spec)


@pytest.mark.parametrize(
    ("spec", "what"),
    [
        ("python:no_such_module:split", "cannot import 'no_such_module'"),
        ("python:textwrap:wrapp", "'textwrap' has no 'wrapp'.*did you mean 'wrap'"),
        ("python:textwrap", "unknown chunker|written python:module:function"),
        ("python:test_python:LineSplitter(size=3)", "cannot be built: TypeError"),
        ("python:test_python:make(size=512t)", "takes plain values, found 512t"),
        ("python:test_python:make(other(3))", "takes plain values or python: specs"),
        ("python:sys:maxsize", "gives int, which has none of split_text"),
        ('python:re:compile("[.]")', "gives Pattern, which has none of split_text"),
    ],
)
def test_a_target_that_cannot_be_a_splitter_is_refused_when_built(spec, what):
    with pytest.raises(SpecError, match=what):
        REGISTRY.build(spec)


def test_a_module_beside_the_documents_is_found(tmp_path, monkeypatch):
    (tmp_path / "my_own_splitter.py").write_text(
        "def halves(text):\n    h = len(text) // 2\n    return [text[:h], text[h:]]\n"
    )
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    assert len(chunk("python:my_own_splitter:halves")) == 2


@pytest.mark.parametrize("text", ["", " \r\n\t"])
def test_the_splitter_is_not_asked_about_a_document_without_text(text):
    assert chunk("python:test_python:failing", Document("empty", text)) == []


@pytest.mark.parametrize("wrong", [None, b"text", 3, "text"])
def test_what_is_not_a_document_is_a_type_error(wrong):
    with pytest.raises(TypeError, match=f"takes a Document, found {type(wrong).__name__}"):
        chunk("python:textwrap:wrap", wrong)


LIBRARIES = [
    ("langchain_text_splitters", "RecursiveCharacterTextSplitter(chunk_size=300, chunk_overlap=60)"),
    ("langchain_text_splitters", "CharacterTextSplitter(separator=' ', chunk_size=300, chunk_overlap=60)"),
    ("langchain_text_splitters", "MarkdownTextSplitter(chunk_size=300, chunk_overlap=0)"),
    (
        "llama_index.core.node_parser",
        "SentenceSplitter(chunk_size=100, chunk_overlap=20, tokenizer=python:builtins:list)",
    ),
    ("chonkie", 'RecursiveChunker(tokenizer="character", chunk_size=300)'),
    ("chonkie", 'TokenChunker(tokenizer="character", chunk_size=300, chunk_overlap=50)'),
    ("chonkie", 'SentenceChunker(tokenizer="word", chunk_size=60, chunk_overlap=10)'),
    ("semchunk", "chunkerify(python:builtins:len, chunk_size=300)"),
    ("semchunk", "chunk(chunk_size=300, token_counter=python:builtins:len)"),
    ("semantic_text_splitter", "TextSplitter(300)"),
    ("semantic_text_splitter", "MarkdownSplitter(300)"),
]


@pytest.mark.parametrize(("library", "call"), LIBRARIES)
def test_the_splitters_that_people_use_work_as_they_are(library, call, shared_data):
    pytest.importorskip(library)
    import gzip

    with gzip.open(shared_data / "covidqa" / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        document = Document("paper", json.loads(next(lines))["text"][:30_000])
    with warnings.catch_warnings():
        warnings.simplefilter("error", FaircutWarning)
        chunks = chunk(f"python:{library}:{call}", document)
    assert len(chunks) > 20
    covered = set().union(*(range(s.start, s.end) for c in chunks for s in c.spans))
    lost = [i for i, character in enumerate(document.text) if i not in covered and not character.isspace()]
    assert len(lost) <= len(document.text) // 100
