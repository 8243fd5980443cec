"""Any Python splitter is a chunker."""

import json
import subprocess
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


def leaving(text):
    sys.exit(3)


def interrupted(text):
    raise KeyboardInterrupt


class Panic(BaseException):
    """As the panics of splitters that are written in Rust: no Exception."""


def panicking(text):
    raise Panic("index out of range\n  in the library")


def halfway(text):
    yield text[:5]
    raise ValueError("in the middle")


def nothing(text):
    return []


def white(text):
    return ["", " ", "\n"]


def broken_factory(size=1):
    return 1 / 0


def broken_object(size=1):
    class Broken:
        @property
        def split_text(self):
            raise RuntimeError("not today")

    return Broken()


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
        ("python:test_python:leaving", "failed on document 'lease': SystemExit: 3"),
        ("python:test_python:panicking", "failed on document 'lease': Panic: index out of range in the library$"),
        ("python:test_python:halfway", "failed on document 'lease': ValueError: in the middle"),
        ("python:test_python:nothing", "returned nothing for document 'lease' of 102 characters"),
        ("python:test_python:white", "returned nothing for document 'lease'"),
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
        ("python:test_python:make(python:test_python:broken_factory(1))", "broken_factory' cannot be built: ZeroDiv"),
        ("python:test_python:make(python:sys:maxsize(1))", "'python:sys:maxsize' cannot be built: TypeError"),
        ("python:test_python:broken_object(1)", "broken_object' cannot be built: RuntimeError: not today"),
        ("python:sys:maxsize", "gives int, which has none of split_text"),
        ('python:re:compile("[.]")', "gives Pattern, which has none of split_text"),
    ],
)
def test_a_target_that_cannot_be_a_splitter_is_refused_when_built(spec, what):
    with pytest.raises(SpecError, match=what):
        REGISTRY.build(spec)


def test_ctrl_c_inside_a_splitter_stops_the_program():
    with pytest.raises(KeyboardInterrupt):
        chunk("python:test_python:interrupted")


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """A function that writes a module where the program runs; all such modules are forgotten afterwards."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    known = set(sys.modules)

    def write(name, source):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(source)

    yield write
    for name in set(sys.modules) - known:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def split(text:", "SyntaxError"),
        ("import sys; sys.exit('no licence')", "SystemExit: no licence"),
        ("import no_such_library", "No module named 'no_such_library'.*Install it"),
        ("def __getattr__(name): raise RuntimeError('lazy')", "RuntimeError: lazy"),
    ],
)
def test_a_module_that_fails_at_its_import_is_one_sentence_when_built(source, what, beside):
    beside("failing_module.py", source)
    with pytest.raises(SpecError, match=f"cannot import 'failing_module' for 'python:failing_module:split'.*{what}"):
        REGISTRY.build("python:failing_module:split")
    with pytest.raises(SpecError, match="cannot import 'failing_module'"):
        REGISTRY.build("python:test_python:make(python:failing_module:split)")


def test_ctrl_c_at_an_import_stops_the_program(beside):
    beside("stopping_module.py", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        REGISTRY.build("python:stopping_module:split")


SPLITTER = "def split(text):\n    from sizes.given import SIZE\n    return [text]\n"


@pytest.mark.parametrize("changed", ["splitter.py", "sizes/given.py", "sizes/other.py"])
def test_the_fingerprint_changes_with_any_code_of_the_user_that_the_splitter_imports(changed, beside, tmp_path):
    for name, source in {"splitter.py": SPLITTER, "sizes/given.py": "SIZE = 5\n", "sizes/other.py": ""}.items():
        beside(name, source)
    beside("elsewhere.py", "")
    before = REGISTRY.build("python:splitter:split")
    beside("elsewhere.py", "NOTHING = 1\n")
    before.chunk(DOCUMENT, NO_MODELS)  # imports what it needs; that changes nothing
    assert REGISTRY.build("python:splitter:split").fingerprint == before.fingerprint
    beside(changed, (tmp_path / changed).read_text() + "MORE = 1\n")
    after = REGISTRY.build("python:splitter:split")
    assert after.fingerprint != before.fingerprint
    assert after == before


def test_the_fingerprint_changes_with_the_code_behind_a_parameter(beside):
    beside("counter.py", "def length(text): return len(text)\n")
    spec = "python:test_python:make(size=python:counter:length)"
    before = REGISTRY.build(spec).fingerprint
    beside("counter.py", "def length(text): return 2 * len(text)\n")
    assert REGISTRY.build(spec).fingerprint != before


def test_the_fingerprint_is_the_same_in_another_process_whatever_is_loaded_there(beside, tmp_path):
    beside("splitter.py", SPLITTER + "import sizes.given, numpy\n")
    beside("sizes/given.py", "SIZE = 5\n")
    program = "from faircut.chunkers import build; print(build('python:splitter:split').fingerprint)"
    told = [
        subprocess.run(
            [sys.executable, "-c", first + program], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        for first in ("", "import sys; sys.path.append('.'); import splitter, json; ")
    ]
    assert {found.stdout.strip() for found in told} == {REGISTRY.build("python:splitter:split").fingerprint}


def test_an_installed_package_is_known_by_its_version(monkeypatch):
    from faircut.chunkers import user_code

    before = user_code.code_hash(["numpy.linalg"])
    monkeypatch.setattr(user_code, "version", lambda name: "0.0")
    assert user_code.code_hash(["numpy"]) != before
    assert user_code.code_hash(["textwrap"]) == user_code.code_hash(["faircut.chunkers"])


def test_functions_without_a_file_have_a_fingerprint_of_their_code():
    program = (
        "import __main__; from faircut.chunkers import build; print(build('python:__main__:split').fingerprint)\n"
        "def split(text): return [text, 'b']\nprint(build('python:__main__:split').fingerprint)"
    )
    run = [sys.executable, "-c", "def split(text): return [text]\n" + program]
    first, second = (subprocess.run(run, capture_output=True, text=True, check=True).stdout for _ in range(2))
    assert first == second
    assert len(set(first.split())) == 2


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
