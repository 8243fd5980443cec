"""Recursive cuts: the largest boundaries that are small enough, exact in tokens, with real overlap."""

import gzip
import json
import time
import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from invariants import MINILM, MODELS, SIZES, TEXTS, check, length_of, shared
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer

from cpu_time import cpu_time
from faircut.chunkers.contract import Models
from faircut.chunkers.recursive import Recursive
from faircut.documents.markdown import markdown_blocks
from faircut.errors import SpecError
from faircut.records import Document
from faircut.specs import Registry, Size
from faircut.text.tokens import load_tokenizer

REGISTRY = Registry("chunker", (Recursive,))


def cut(chunker: Recursive, text: str, *, markdown: bool = False) -> list[str]:
    document = Document("d", text, markdown_blocks(text) if markdown else ())
    chunks = chunker.chunk(document, MODELS)
    check(document, chunks, chunker.max)
    return [chunk.text for chunk in chunks]


@given(text=TEXTS, size=SIZES, part=st.integers(0, 9), markdown=st.booleans())
@settings(max_examples=300, deadline=None)
def test_chunks_are_verbatim_complete_and_within_the_ceiling(text, size, part, markdown):
    chunker = Recursive(size, Size(size.amount * part // 10, size.unit))
    document = Document("d", text, markdown_blocks(text) if markdown else ())
    chunks = chunker.chunk(document, MODELS)
    check(document, chunks, size)
    assert chunks == chunker.chunk(document, MODELS)


def test_paragraphs_come_before_lines_before_sentences_before_words():
    text = (
        "First paragraph.\n\nSecond paragraph, short too.\n\n"
        "A first line of the third.\nThen a line with a sentence. And another one here.\n\n"
        "Unpunctuated words that go on and on until the ceiling ends them somewhere between two of them"
    )
    assert cut(Recursive(Size(48, "c")), text) == [
        "First paragraph.\n\nSecond paragraph, short too.",
        "A first line of the third.",
        "Then a line with a sentence.",
        "And another one here.",
        "Unpunctuated words that go on and on until the",
        "ceiling ends them somewhere between two of them",
    ]


def test_a_sentence_is_not_cut_at_an_abbreviation():
    text = "The rent is due under Art. 5 of the U.S. code. Dr. Smith pays 3.14 dollars a day. He is late."
    assert cut(Recursive(Size(50, "c")), text)[0] == "The rent is due under Art. 5 of the U.S. code."


def test_text_with_carriage_returns_only_is_cut_at_its_lines():
    lines = [f"Line number {i} says a few words about nothing" for i in range(300)]
    chunks = cut(Recursive(Size(64)), "\r".join(lines))
    assert len(chunks) > 30
    assert {line for chunk in chunks for line in chunk.split("\r")} == set(lines)


def test_a_table_or_code_block_that_fits_begins_a_new_chunk_instead_of_being_cut():
    table = "| a | b |\n|---|---|\n" + "| one | two |\n" * 4
    code = "```\nx = 1\n\ny = 2\n\nz = 3\n```"
    text = "Some words of introduction, enough to fill.\n\n" + table + "\n" + code + "\n\nAnd some words after it.\n"
    chunks = cut(Recursive(Size(80, "c")), text, markdown=True)
    assert [c for c in chunks if "|" in c] == [table.strip()]
    assert [c for c in chunks if "x = 1" in c and "z = 3" in c]


def test_a_long_table_repeats_its_header_within_the_ceiling():
    text = "Prices.\n\n| item | price |\n|---|---|\n" + "".join(f"| part {i} | {i} |\n" for i in range(60)) + "\nEnd.\n"
    document = Document("d", text, markdown_blocks(text))
    chunks = Recursive(Size(80), Size(16)).chunk(document, MODELS)
    check(document, chunks, Size(80))
    rows = [c for c in chunks if "| part" in c.text and "End." not in c.text]
    assert len(rows) > 5
    assert all(c.embedded_text.count("| item | price |") == 1 for c in rows)


@pytest.mark.parametrize("spec", ["recursive(128t, overlap=32t)", "recursive(100w, overlap=20w)"])
def test_consecutive_chunks_share_the_asked_overlap_to_a_word(spec, shared_data):
    chunker = REGISTRY.build(spec)
    with gzip.open(shared_data / "covidqa" / "corpus.jsonl.gz", "rt") as lines:
        document = Document("d", json.loads(next(lines))["text"])
    chunks = chunker.chunk(document, MODELS)
    check(document, chunks, chunker.max)
    overhead = MODELS.overhead if chunker.max.unit == "t" else 0
    amounts = sorted(length_of(chunker.max, shared(a, b)) - overhead for a, b in pairwise(chunks))
    assert max(amounts) <= chunker.overlap.amount
    assert amounts[len(amounts) // 20] >= chunker.overlap.amount * 0.7
    assert amounts[len(amounts) // 2] >= chunker.overlap.amount - 2


def test_one_word_of_200_kb_is_cut_in_time():
    text = "aGVsbG8gd29ybGQ" * 13_654
    begin = time.process_time()
    chunks = cut(Recursive(Size(256)), f"Before. {text} After.")
    assert len(chunks) >= 200_000 // 254
    assert time.process_time() - begin < 10


def test_real_text_is_filled_as_other_recursive_splitters_fill_it(shared_data):
    lengths = []
    with gzip.open(shared_data / "chroma" / "corpus.jsonl.gz", "rt") as lines:
        for line in lines:
            document = Document("d", json.loads(line)["text"][:200_000])
            chunks = Recursive(Size(200)).chunk(document, MODELS)
            lengths += [n + MODELS.overhead for n in MINILM.count_many([c.text for c in chunks])]
    assert max(lengths) <= 200
    assert 115 < sum(lengths) / len(lengths) < 150, "LangChain's realised mean at 200 is 128 on these texts"


def test_time_and_memory_are_linear_in_the_text(shared_data):
    with gzip.open(shared_data / "covidqa" / "corpus.jsonl.gz", "rt") as lines:
        text = "\n\n".join(json.loads(next(lines))["text"] for _ in range(12))[:200_000]

    def seconds(times: int, runs: int) -> float:
        found: list[float] = []
        for _ in range(runs):
            with cpu_time() as spent:
                Recursive().chunk(Document("d", text * times), MODELS)
            found += spent
        return min(found)

    seconds(1, 1)
    assert seconds(8, 2) <= 11 * seconds(1, 5)  # the bench script measures the bar of 9 on more text
    document = Document("d", text * 4)
    tracemalloc.start()
    chunks = Recursive().chunk(document, MODELS)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert chunks
    size = len(document.text) * (1 if document.text.isascii() else 2)
    assert peak + size < 8 * size


@pytest.fixture(scope="module")
def byte_level(tmp_path_factory):
    """A tokenizer whose counts do not add up over words: a space belongs to the word after it."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    trainer = BpeTrainer(vocab_size=500, initial_alphabet=ByteLevel.alphabet(), show_progress=False)
    tokenizer.train_from_iterator(["Cut where meaning turns. Sizes matter. Do they? Sentences end."] * 9, trainer)
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    tokenizer.save(str(path))
    return load_tokenizer(path)


@given(text=TEXTS, most=st.integers(8, 50), part=st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_the_ceiling_holds_in_a_byte_level_tokenizer_too(byte_level, text, most, part):
    chunks = Recursive(Size(most), Size(most * part // 10)).chunk(Document("d", text), Models(byte_level, overhead=2))
    assert all(byte_level.count(c.text) + 2 <= most or len(c.text) == 1 for c in chunks)
    kept = {place for c in chunks for place in range(c.spans[0].start, c.spans[0].end)}
    assert all(c.isspace() for place, c in enumerate(text) if place not in kept)


@pytest.mark.parametrize("text", ["", "\r\n\r\n \u3000"])
def test_an_empty_or_blank_document_gives_no_chunks(text):
    assert cut(Recursive(), text) == []


@pytest.mark.parametrize("value", [None, b"text", 5, ["text"]])
def test_what_is_not_a_document_is_refused(value):
    with pytest.raises(TypeError, match="cuts a Document, found"):
        Recursive().chunk(value, MODELS)


@pytest.mark.parametrize(
    "spec", ["recursive(0)", "recursive(64t, overlap=64t)", "recursive(overlap=1.5)", "recursive(64w, overlap=8)"]
)
def test_a_wrong_size_or_overlap_is_refused_when_built(spec):
    with pytest.raises(SpecError):
        REGISTRY.build(spec)


def test_the_name_builds_it_again():
    chunker = Recursive(Size(250), Size(125))
    assert str(chunker) == "recursive(max=250t, overlap=125t)"
    assert REGISTRY.build(str(chunker)) == chunker
