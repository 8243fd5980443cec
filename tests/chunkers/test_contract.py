"""Every registered chunker keeps the contract, on any text. Registered means tested: nothing is listed here by hand."""

import time
from dataclasses import fields, replace
from hashlib import blake2b
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pytest
import regex
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from scripted_model import WildModel

from cpu_time import cpu_time
from faircut.chunkers import BUILT_IN, CHUNKERS, MODEL_MADE, build
from faircut.chunkers.asking import rewrites
from faircut.chunkers.contract import Models
from faircut.documents.markdown import markdown_blocks
from faircut.documents.plain import plain_blocks
from faircut.embedding.minilm import Minilm
from faircut.errors import EmbeddingError
from faircut.records import Document
from faircut.specs import Size


class HashedVectors:
    """A real embedder without meaning: the vector of a text is made of its hash, so cuts fall anywhere."""

    name: ClassVar[str] = "hashed"
    dimensions = 64
    fingerprint = "hashed-blake2b"
    max_tokens = 1_000_000

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.embedded = 0

    def prefix(self, role):
        return ""

    def overhead(self, role):
        return 2

    def embed(self, texts, role, *, progress=None):
        assert role == "sentence"
        self.embedded += len(texts)
        digests = b"".join(blake2b(text.encode("utf-8", "surrogatepass")).digest() for text in texts)
        vectors = np.frombuffer(digests, dtype=np.int8).reshape(len(texts), 64).astype(np.float32) + 8
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def models():
    tokenizer = Minilm().tokenizer
    return Models.of(HashedVectors(tokenizer), WildModel())


# ---------------------------------------------------------------- the chunkers


def resized(chunker, size):
    """The same chunker with another size and, where it has one, an overlap of a quarter of it."""
    changes = {f.name: size for f in fields(chunker) if f.name in ("size", "max") and getattr(chunker, f.name)}
    if changes and hasattr(chunker, "overlap"):
        changes["overlap"] = Size(size.amount // 4, size.unit)
    if hasattr(chunker, "chunker"):
        changes["chunker"] = resized(chunker.chunker, size)
    return replace(chunker, **changes)


def ceiling(chunker):
    if hasattr(chunker, "chunker"):
        return ceiling(chunker.chunker)
    return getattr(chunker, "max", None) or getattr(chunker, "size", None)


CHUNKERS_OF_ALL_SIZES = {
    spec: [build(spec), *(resized(build(spec), size) for size in (Size(24), Size(90, "c"), Size(16, "w"), Size(7)))]
    for spec in (*BUILT_IN, "shuffled(sentence)", *(spec for spec in MODEL_MADE if not rewrites(build(spec))))
}
every_chunker = pytest.mark.parametrize("spec", list(CHUNKERS_OF_ALL_SIZES))


def test_every_registered_chunker_is_among_the_tested():
    tested = {type(build(spec)) for spec in (*BUILT_IN, *MODEL_MADE)}  # those that rewrite: test_propositions.py
    foreign = {c for c in CHUNKERS.classes if getattr(c, "prefix", None)}  # needs the user's function: test_python.py
    assert tested | foreign == set(CHUNKERS.classes)
    assert {preset.name for preset in CHUNKERS.presets} <= set(BUILT_IN)


# ---------------------------------------------------------------- the texts

ANY_CHARACTER = st.characters(exclude_categories=())  # lone surrogates included
FAMILY = "👨‍👩‍👧‍👦"
PIECES = [
    "The tenant pays the rent on the first of each month. ",
    "Dr. Smith (see Art. 5, No. 3.14) asked: \u201cIs it due?\u201d It was not. ",
    "A line that ends\nin the middle\nof a sentence. ",
    "\r\n\r\n",
    "\n\n",
    "\r",
    "\r\n",
    "\x00",
    "\ud800",
    "\u00a0\u3000\u2028",
    "\t\t\x0b\x0c ",
    "ประเทศไทยเป็นประเทศในเอเชียตะวันออกเฉียงใต้ ",
    "人間は生まれながらにして自由であり、平等である。だから、互いに行動しなければならない。",
    "يولد جميع الناس أحرارا؟ نعم. ",
    FAMILY * 3 + " 🇩🇪🇫🇷🇯🇵 ",
    "e\u0301a\u0300o\u0302 Z\u0351\u036b\u0343\u032a\u0302a\u0335 ",
    "한국어 각 ",
    "a" * 130 + " ",
    "TWFuIGlzIGRpc3Rpbmd1aXNoZWQsIG5vdCBvbmx5IGJ5IGhpcyByZWFzb24=" * 4 + " ",
    "\n\n## A heading\n\n",
    "\n\n| item | price |\n|---|---|\n| lease of the house | 1,200.00 |\n| deposit | 300 |\n| a | b |\n\n",
    "\n\n```python\ndef rent(month):\n    if month == 1:\n\n        return 1200\n    return 1000\n```\n\n",
    "\n- one\n- two\n  - three\n\n",
]
READINGS = {
    "no blocks": lambda text: (),
    "plain": plain_blocks,
    "markdown": markdown_blocks,
}


@st.composite
def documents(draw):
    pieces = st.one_of(st.sampled_from(PIECES), st.sampled_from(PIECES), st.text(ANY_CHARACTER, max_size=30))
    text = "".join(draw(st.lists(pieces, max_size=14)))
    language = draw(st.sampled_from([None, "en", "de", "ja", "th"]))
    return Document("d", text, READINGS[draw(st.sampled_from(sorted(READINGS)))](text), language=language)


TABLE = "| a | b |\n|---|---|\n" + "| one | two |\n" * 30
NASTY = [
    Document("d", "\u0301" * 300 + " zalgo. " + "x\u0301" * 100),
    Document("d", TABLE, markdown_blocks(TABLE)),
    Document("d", "word\r" * 400),
    Document("d", "\ud83d" * 50 + "\udc00 " * 20),
    Document("d", "…" * 200 + "。" * 200),
]


# ---------------------------------------------------------------- the contract


def check_contract(chunker, document, models):
    chunks = chunker.chunk(document, models)
    assert chunker.chunk(document, models) == chunks, "deterministic"
    for chunk in chunks:
        assert chunk.document_id == document.id
        assert chunk.is_verbatim(document)
        assert chunk.spans[-1].end <= len(document.text)
        assert chunk.text.strip(), "no blank chunk"
    covered = bytearray(len(document.text))
    for span in (s for c in chunks for s in c.spans):
        covered[span.start : span.end] = b"\1" * len(span)
    lost = [i for i, c in enumerate(document.text) if not covered[i] and not c.isspace()]
    assert not lost, "every character that is not blank is in a chunk"
    starts = [c.spans[0].start for c in chunks]
    assert starts == sorted(starts), "in document order"
    check_ceiling(chunker, chunks, models)
    check_graphemes(chunker, document, chunks, models)


def check_ceiling(chunker, chunks, models):
    size = ceiling(chunker)
    if size is None:
        return
    for chunk in chunks:
        text = chunk.embedded_text
        length = {
            "t": lambda text: models.overhead + models.tokenizer.count(text),
            "w": lambda text: len(text.split()),
            "c": len,
        }[size.unit](text)
        assert length <= size.amount, f"{length} {size.unit} under a ceiling of {size}"


def check_graphemes(chunker, document, chunks, models):
    """No cut inside a grapheme, unless it alone is above the ceiling, or the cut parts it from white space only."""
    edges = {e for c in chunks for s in c.spans for e in (s.start, s.end)}
    for cluster in regex.finditer(r"\X", document.text):
        for edge in edges.intersection(range(cluster.start() + 1, cluster.end())):
            before, after = document.text[cluster.start() : edge], document.text[edge : cluster.end()]
            if before.strip() and after.strip():
                size = ceiling(chunker)
                assert size, f"cut inside {cluster.group()!r}"
                counts = {"t": models.tokenizer.count, "c": len, "w": lambda text: len(text.split())}
                room = size.amount - (models.overhead if size.unit == "t" else 0)
                assert counts[size.unit](cluster.group()) > room, f"cut inside {cluster.group()!r} at {edge}"


@every_chunker
@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@example(document=NASTY[0], which=1)
@example(document=NASTY[1], which=1)
@example(document=NASTY[2], which=0)
@example(document=NASTY[3], which=2)
@example(document=NASTY[4], which=1)
@given(document=documents(), which=st.integers(0, 4))
def test_every_chunker_keeps_the_contract_on_any_text(spec, models, document, which):
    check_contract(CHUNKERS_OF_ALL_SIZES[spec][which], document, models)


@every_chunker
def test_the_name_is_the_spec(spec):
    for chunker in CHUNKERS_OF_ALL_SIZES[spec]:
        assert build(str(chunker)) == chunker


@every_chunker
@pytest.mark.parametrize("text", ["", " ", "\r\n\r\n\t\u3000"])
def test_a_document_without_text_has_no_chunks(spec, text, models):
    assert build(spec).chunk(Document("empty", text, plain_blocks(text)), models) == []


@every_chunker
@pytest.mark.parametrize("wrong", [None, b"text", 7, "text"])
def test_what_is_not_a_document_is_a_type_error_that_says_so(spec, wrong, models):
    with pytest.raises(TypeError, match=f"Document, found {type(wrong).__name__}"):
        build(spec).chunk(wrong, models)


@pytest.mark.parametrize("spec", ["semantic", "semantic_p85", "shuffled(semantic)"])
def test_a_chunker_that_needs_vectors_says_so_before_any_work(spec, models):
    without = Models(models.tokenizer)
    with pytest.raises(EmbeddingError, match="needs an embedder"):
        build(spec).chunk(Document("d", "One. Two."), without)


@every_chunker
@pytest.mark.parametrize("word", ["QmFzZTY0", FAMILY, "x", "ก", "\ud800"])
def test_one_word_of_200_kilobytes_is_cut_under_the_ceiling_in_time(spec, word, models):
    text = "Before it. " + word * (200_000 // len(word.encode("utf-8", "surrogatepass"))) + " After it."
    begin = time.process_time()
    check_contract(build(spec), Document("d", text), models)
    assert time.process_time() - begin < 10


# ---------------------------------------------------------------- overlap and time

VERBS = ["pays", "returns", "signs", "reads", "keeps", "forwards", "destroys"]
THINGS = ["the lease", "a copy of the report", "all invoices of the quarter", "the key", "the minutes in full"]


def running_text(characters):
    """English sentences of 4 to 20 words in paragraphs of 5, none like the other."""
    sentences, length, number = [], 0, 0
    while length < characters:
        verb, thing = VERBS[number % 7], THINGS[number % 5]
        tail = " before the office closes and the archive is sealed" if number % 3 == 0 else ""
        sentences.append(f"Tenant {number} {verb} {thing}{tail}." + ("\n\n" if number % 5 == 4 else " "))
        length += len(sentences[-1])
        number += 1
    return "".join(sentences)


@pytest.mark.parametrize("spec", [s for s in CHUNKERS_OF_ALL_SIZES if hasattr(build(s), "overlap")])
@pytest.mark.parametrize("size", [Size(64), Size(300, "c"), Size(50, "w")])
def test_overlap_is_real(spec, size, models):
    chunker = resized(build(spec), size)
    text = running_text(20_000)
    chunks = chunker.chunk(Document("d", text), models)
    count = {"t": models.tokenizer.count, "c": len, "w": lambda text: len(text.split())}[size.unit]
    shared = [count(text[b.spans[0].start : a.spans[-1].end]) for a, b in pairwise(chunks)]
    assert len(shared) > 20
    assert min(shared) > 0
    longest_sentence = max(count(s) for s in text.replace("\n\n", " ").split(". "))
    assert max(shared) <= chunker.overlap.amount + longest_sentence
    assert float(np.median(shared)) >= 0.6 * chunker.overlap.amount


@every_chunker
def test_eight_times_the_text_takes_at_most_about_eight_times_the_cpu(spec, models):
    chunker = build(spec)
    small, large = (Document("d", running_text(n)) for n in (40_000, 320_000))
    chunker.chunk(small, models)  # what is loaded once is not measured

    def seconds(document, repeats):
        times = []
        for _ in range(repeats):
            with cpu_time() as spent:
                chunker.chunk(document, models)
            times += spent
        return min(times)

    assert seconds(large, 2) <= 20 * seconds(small, 5) + 0.1
