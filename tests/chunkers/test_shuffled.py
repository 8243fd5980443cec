"""The size-matched control."""

import gzip
import json
import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from invariants import MODELS, TEXTS, check

from faircut.chunkers import build
from faircut.chunkers.contract import Models
from faircut.chunkers.fixed import Fixed
from faircut.chunkers.recursive import Recursive
from faircut.chunkers.sentence import Sentence, sentence_places
from faircut.chunkers.shuffled import Shuffled
from faircut.embedding.minilm import Minilm
from faircut.errors import SpecError
from faircut.records import Document
from faircut.specs import Size

WORDS = ["lease", "rent", "deposit", "office", "archive", "minutes", "report", "invoice", "quarter", "tenant"]


@pytest.fixture(scope="module")
def models():
    return Models(Minilm().tokenizer, overhead=2)


def document(sentences=200, name="d"):
    """Sentences of 3 to 19 words in paragraphs of 1 to 7."""
    state, parts = 7, []
    for number in range(sentences):
        state = (state * 1_103_515_245 + 12_345) % 2**31
        words = [WORDS[(state >> k) % 10] for k in range(3 + state % 17)]
        parts.append(f"{number} {' '.join(words)} is kept." + ("\n\n" if state % 4 == 0 else " "))
    return Document(name, "".join(parts))


def sizes(chunks, models):
    return [models.tokenizer.count(c.text) for c in chunks]


def starts(chunks):
    return [c.spans[0].start for c in chunks]


@pytest.mark.parametrize("spec", ["recursive(max=96t)", "paragraph(max=400c)", "sentence(max=96t)", "fixed(size=96t)"])
def test_the_control_has_as_many_chunks_of_the_same_sizes_elsewhere(spec, models):
    inner, control = build(spec).chunk(document(), models), build(f"shuffled({spec})").chunk(document(), models)
    assert len(inner) <= len(control) <= 1.03 * len(inner) + 1
    a, b = np.array(sizes(inner, models)), np.array(sizes(control, models))
    assert a.sum() == pytest.approx(b.sum(), rel=0.01)
    assert np.quantile(a, [0.25, 0.5, 0.75]) == pytest.approx(np.quantile(b, [0.25, 0.5, 0.75]), rel=0.15)
    assert b.max() <= a.max()
    if not spec.startswith("fixed"):
        assert len(set(starts(inner)) & set(starts(control))) < 0.6 * len(inner)


def test_windows_of_one_size_are_their_own_control_until_the_short_last_one(models):
    inner = build("fixed(size=70w)").chunk(document(), models)
    control = build("shuffled(fixed(size=70w))").chunk(document(), models)
    same = [a == b for a, b in zip(inner, control, strict=False)]
    short = same.index(False)
    assert all(same[:short])
    assert len(control[short].text.split()) < 70


def test_a_chunker_that_cuts_at_sentences_has_a_control_that_does(models):
    edges = set(sentence_places(document()))
    control = build("shuffled(sentence(max=96t))").chunk(document(), models)
    assert {c.spans[0].start for c in control} <= edges
    windows = build("shuffled(fixed(size=70w))").chunk(document(), models)
    assert len({c.spans[0].start for c in windows} & edges) < len(windows) / 2


@pytest.mark.parametrize(
    "spec", ["recursive(max=96t, overlap=24t)", "sentence(max=96t, overlap=24t)", "fixed(size=96t, overlap=24t)"]
)
def test_the_control_overlaps_as_its_chunker_does(spec, models):
    def shared(chunks):
        text = document().text
        return [models.tokenizer.count(text[b.spans[0].start : a.spans[-1].end]) for a, b in pairwise(chunks)]

    inner = shared(build(spec).chunk(document(), models))
    control = shared(build(f"shuffled({spec})").chunk(document(), models))
    assert min(control) > 0
    assert np.median(control) == pytest.approx(np.median(inner), rel=0.3)
    assert sum(control) == pytest.approx(sum(inner), rel=0.15)


@pytest.mark.parametrize(
    "spec", ["recursive(max=96t, overlap=84t)", "sentence(max=64t, overlap=56t)", "sentence(max=50w, overlap=40w)"]
)
def test_the_control_of_a_chunker_that_repeats_nearly_everything_does_so_too(spec, models):
    def delivered(chunks):
        return sum(len(c.text) for c in chunks)

    inner = build(spec).chunk(document(60), models)
    control = build(f"shuffled({spec})").chunk(document(60), models)
    assert len(control) == pytest.approx(len(inner), rel=0.06)
    assert delivered(inner) > 3 * len(document(60).text)
    assert delivered(control) == pytest.approx(delivered(inner), rel=0.35)


@pytest.mark.parametrize("spec", ["recursive(max=512t, overlap=500t)", "sentence(max=64t, overlap=63t)"])
def test_an_overlap_of_nearly_the_size_takes_no_longer_than_its_many_chunks(spec, models):
    text = ("Hello there Dr. " + "x" * 150 + " word. ") * 12
    begin = time.process_time()
    control = build(f"shuffled({spec})").chunk(Document("d", text), models)
    assert time.process_time() - begin < 8  # trying each overlap one token at a time takes above 20
    assert len(control) > 100


@given(text=TEXTS, amount=st.integers(8, 60), less=st.integers(1, 6), unit=st.sampled_from("twc"))
@settings(max_examples=100, deadline=None)
def test_the_control_keeps_the_contract_whatever_the_overlap(text, amount, less, unit):
    size = Size(amount, unit)
    overlap = Size(max(1, amount - less), unit)
    for chunker in (Recursive(size, overlap), Sentence(size, overlap), Fixed(size, overlap)):
        control = Shuffled(chunker)
        chunks = control.chunk(Document("d", text), MODELS)
        check(Document("d", text), chunks, size)
        assert chunks == control.chunk(Document("d", text), MODELS)
        assert len({c.id for c in chunks}) == len(chunks)


def test_the_order_depends_on_seed_and_document_alone(models):
    def control(seed, name="d"):
        return starts(build(f"shuffled(sentence(max=96t), seed={seed})").chunk(document(name=name), models))

    assert control(0) == control(0)
    assert len({tuple(control(seed)) for seed in range(4)}) == 4
    assert control(0) != control(0, "another id")


def test_a_document_of_one_chunk_is_its_own_control(models):
    assert build("shuffled(recursive)").chunk(Document("d", "One. Two."), models) == build("recursive").chunk(
        Document("d", "One. Two."), models
    )


def test_sentences_that_are_too_long_are_cut_where_they_lie_and_nowhere_else(models):
    long = " ".join(WORDS * 12) + ". "
    text = document(40).text + long + document(40).text + long
    inner = build("sentence(max=64t)").chunk(Document("d", text), models)
    control = build("shuffled(sentence(max=64t))").chunk(Document("d", text), models)
    edges = set(sentence_places(Document("d", text)))
    inside = [s for s in starts(control) if s not in edges]
    assert inside
    assert len(inside) <= len([s for s in starts(inner) if s not in edges]) + 1
    assert max(sizes(control, models)) <= max(sizes(inner, models))


def test_chunks_of_a_foreign_splitter_have_a_control_too(models):
    control = build("shuffled(python:textwrap:wrap(width=300))").chunk(document(), models)
    inner = build("python:textwrap:wrap(width=300)").chunk(document(), models)
    assert len(control) == pytest.approx(len(inner), abs=3)


@pytest.mark.parametrize(
    ("spec", "what"),
    [
        ("shuffled(deviation(1.0))", "takes a chunker such as recursive, found deviation"),
        ("shuffled(p85)", "must be a spec"),
        ("shuffled(recursive, seed=0.5)", "seed must be a whole number"),
        ("shuffled", "needs the parameter 'chunker'"),
    ],
)
def test_what_cannot_be_shuffled_is_refused(spec, what):
    with pytest.raises(SpecError, match=what):
        build(spec)


@pytest.mark.parametrize("corpus", ["covidqa", "contractnli_dev", "xquad_de"])
def test_on_real_documents_the_sizes_match(corpus, models, shared_data):
    with gzip.open(shared_data / corpus / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(next(lines)) for _ in range(5)]
    documents = [Document(r["id"], r["text"], language=r.get("language")) for r in rows]
    inner = [n for d in documents for n in sizes(build("recursive(max=256t)").chunk(d, models), models)]
    control = [n for d in documents for n in sizes(build("shuffled(recursive(max=256t))").chunk(d, models), models)]
    assert len(control) == pytest.approx(len(inner), rel=0.07)
    assert np.mean(control) == pytest.approx(np.mean(inner), rel=0.07)
    assert np.std(control) == pytest.approx(np.std(inner), rel=0.25)
