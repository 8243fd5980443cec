"""A splitter object is a chunker: handed over in Python, or named where it is made. No framework is needed for that."""

import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace

import pytest

from faircut import EMBEDDERS, Models, Plan, audit, build, run
from faircut.chunkers.foreign import split_function, stated_start, text_of
from faircut.chunkers.object_state import object_state
from faircut.errors import PlanError, SpecError
from faircut.integrations import as_chunker
from faircut.records import Document

NO_MODELS = Models(tokenizer=None)  # type: ignore[arg-type]  # a foreign splitter does not ask for one


@dataclass
class Lines:
    """As LangChain's splitters."""

    keep: int = 100

    def split_text(self, text):
        return [line for line in text.splitlines() if line.strip()][: self.keep]


class Swapped:
    """Every two lines in the wrong order."""

    def chunk(self, text):
        lines = [line for line in text.splitlines() if line.strip()]
        return [line for i in range(0, len(lines), 2) for line in reversed(lines[i : i + 2])]


class NodeParser:
    """Callable with nodes, as LlamaIndex's parsers, but split by its method."""

    def split_text(self, text):
        return text.split("\n\n")

    def __call__(self, nodes):
        raise AssertionError("called with a text")


def test_a_splitter_handed_over_is_compared_under_a_spec_of_its_own(small, tmp_path):
    chunker = as_chunker(Lines(), name="by_line")
    assert str(chunker) == "python:faircut.integrations.given:by_line"
    assert build(str(chunker)) == chunker
    plan = Plan(
        str(small / "corpus"), str(small / "questions.jsonl"), ("recursive", str(chunker), f"shuffled({chunker})")
    )
    board = run(plan, tmp_path / "run", cache=tmp_path / "cache.sqlite")
    assert "by_line" in str(board)


def test_an_object_with_other_settings_is_another_chunker_also_under_the_same_name():
    all_lines, two = as_chunker(Lines()), as_chunker(Lines(keep=2))
    assert str(all_lines) != str(two)
    assert str(as_chunker(Lines())) == str(all_lines)
    before = as_chunker(Lines(), name="again").fingerprint
    assert as_chunker(Lines(keep=2), name="again").fingerprint != before
    assert as_chunker(Lines(), name="again").fingerprint == before


def test_pieces_out_of_order_are_placed_and_counted_not_left_out():
    text = "".join(f"This is the line with number {n} of ten.\n" for n in range(10))
    document = Document("d", text)
    chunks = as_chunker(Swapped()).chunk(document, NO_MODELS)
    report = audit(document, chunks, Models.of(EMBEDDERS.build("minilm")))
    assert report.lost == 0
    assert report.out_of_order == 5


@pytest.mark.parametrize("wrong", [str.splitlines, Lines, 7, "text", None, SimpleNamespace(run=lambda documents: 1)])
def test_what_is_no_splitter_object_is_refused(wrong):
    with pytest.raises(SpecError, match="expected a splitter object"):
        as_chunker(wrong)


@pytest.mark.parametrize("name", ["two words", "1st", "a:b", "_hidden", "é"])
def test_a_name_that_no_spec_can_hold_is_refused(name):
    with pytest.raises(SpecError, match="the name of a splitter"):
        as_chunker(Lines(), name=name)


def test_a_spec_of_another_process_says_what_to_do():
    with pytest.raises(SpecError, match=r"no splitter was handed over as 'elsewhere'.*as_chunker"):
        build("python:faircut.integrations.given:elsewhere")
    with pytest.raises((SpecError, PlanError), match="elsewhere"):
        Plan("c", "q", ("python:faircut.integrations.given:elsewhere",))


def test_an_object_in_a_module_of_the_user_is_a_chunker_on_the_command_line(tmp_path):
    (tmp_path / "mine.py").write_text(
        "class Lines:\n    def split_text(self, text):\n        return text.splitlines()\n"
        "    def __call__(self, nodes):\n        raise RuntimeError\nsplitter = Lines()\n"
    )
    (tmp_path / "a.txt").write_text("one line\nanother line\n")
    command = "from faircut.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", command, "audit", "a.txt", "-c", "python:mine:splitter"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "python:mine:splitter: nothing lost, nothing wrong" in done.stdout


def test_the_method_for_texts_is_taken_before_the_call():
    assert split_function(NodeParser())("a\n\nb") == ["a", "b"]
    assert build("python:test_given:NodeParser").chunk(Document("d", "a\n\nb"), NO_MODELS)


def test_the_text_and_the_place_of_a_piece_are_read_wherever_libraries_put_them():
    pieces = [
        {"text": "t", "start_index": 3},
        SimpleNamespace(text="t", start_index=3, end_index=4),
        SimpleNamespace(text="t", start_char_idx=3),
        SimpleNamespace(page_content="t", metadata={"start_index": 3}),
        SimpleNamespace(content="t", meta={"split_idx_start": 3}),
    ]
    assert [(text_of(p), stated_start(p)) for p in pieces] == [("t", 3)] * 5
    odd = [
        "t",
        SimpleNamespace(text="t", start_char_idx=None),
        SimpleNamespace(page_content="t", metadata={"start_index": -1}),
    ]
    assert [stated_start(p) for p in odd] == [None, None, None]
    assert text_of(SimpleNamespace(content=None)) is None


def chonkie_object():
    return pytest.importorskip("chonkie").RecursiveChunker(tokenizer="character", chunk_size=60)


def semchunk_object():
    return pytest.importorskip("semchunk").chunkerify(lambda text: len(text.split()), chunk_size=12)


def text_splitter_object():
    return pytest.importorskip("semantic_text_splitter").TextSplitter(60)


@pytest.mark.parametrize("make", [chonkie_object, semchunk_object, text_splitter_object])
def test_objects_of_other_libraries_are_chunkers_that_lose_nothing(make):
    text = "Yes. It is so.\n\nNo. It is not so.\n\n" * 12
    document, models = Document("d", text), Models.of(EMBEDDERS.build("minilm"))
    chunks = as_chunker(make()).chunk(document, models)
    report = audit(document, chunks, models)
    assert len(chunks) > 5
    assert (report.lost, report.out_of_order, report.offsets_wrong) == (0, 0, 0)


class Holder:
    def __init__(self, **held):
        self.__dict__.update(held)


def test_the_state_of_an_object_is_its_settings_all_the_way_down():
    def state(**held):
        return object_state(Holder(**held))[0]

    assert state(size=3, inner=Holder(of=[1, 2])) == state(size=3, inner=Holder(of=[1, 2]))
    assert state(size=3) != state(size=4)
    assert state(inner=Holder(of=[1, 2])) != state(inner=Holder(of=[1, 3]))
    assert state(length=len) != state(length=str.__len__)
    assert state(length=lambda t: len(t)) != state(length=lambda t: len(t) + 1)
    assert state(length=partial(int, base=2)) != state(length=partial(int, base=3))
    circle = Holder(a=1)
    circle.itself = circle
    assert object_state(circle)[0]


def test_the_state_closes_over_what_a_function_has_closed_over():
    def counter(size):
        return Holder(length=lambda text: len(text) // size)

    assert object_state(counter(2))[0] == object_state(counter(2))[0] != object_state(counter(3))[0]


def test_the_state_is_the_same_in_another_process():
    code = (
        "from faircut.chunkers.object_state import object_state\n"
        "class H: pass\nh = H(); h.names = {'a', 'b', 'c', 'dd'}; h.inner = H(); h.f = print\nprint(object_state(h)[0])"
    )
    outputs = {subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout for _ in range(2)}
    assert len(outputs) == 1
