import sqlite3
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faircut import Plan, run
from faircut.chunkers import build
from faircut.chunkers.contract import Models
from faircut.embedding import EMBEDDERS
from faircut.embedding.cache import CachedEmbedder
from faircut.embedding.late import Late, _windows, chunk_tokens, embed_chunks
from faircut.embedding.minilm import Minilm
from faircut.errors import EmbeddingError, SpecError
from faircut.experiment.meter import MeteredEmbedder
from faircut.records import Block, Chunk, Document, Span

RIVERS = "Rivers carry stones to the sea. The stones become round on their way. Fish live between them."


@pytest.fixture(scope="module")
def late(minilm):
    return Late(minilm)


@pytest.fixture(scope="module")
def narrow(minilm):
    """Windows of ten tokens, so that short documents have several."""
    return Late(Minilm(max_tokens=12), overlap=4)


def chunk(document, start, end):
    return Chunk(document.id, (Span(start, end),), document.text[start:end])


def whole(document):
    return chunk(document, 0, len(document.text))


def vectors(embedder, document, *chunks):
    return embedder.embed_chunks({document.id: document}, chunks)


# ---------------------------------------------------------------- specs


@pytest.mark.parametrize("spec", ["late(minilm)", "late(minilm(max_tokens=512), overlap=100)"])
def test_specs_print_as_they_parse(spec):
    assert str(EMBEDDERS.build(spec)) == spec


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ('late(st("a/b"))', "gives no token vectors; late\\(minilm\\) does"),
        ("late(late(minilm))", "gives no token vectors"),
        ("late(minilm, overlap=254)", "between 0 and 253"),
        ("late(minilm, overlap=-1)", "overlap"),
        ("late", "needs the parameter 'embedder'"),
    ],
)
def test_a_wrong_spec_says_what_is_possible(spec, says):
    with pytest.raises(SpecError, match=says):
        EMBEDDERS.build(spec)


def test_late_vectors_are_told_from_ordinary_ones_and_by_their_windows(minilm):
    prints = {e.fingerprint for e in (minilm, Late(minilm), Late(minilm, 10), Late(Minilm(max_tokens=100)))}
    assert len(prints) == 4


# ---------------------------------------------------------------- windows


@given(st.integers(0, 400), st.integers(1, 60), st.data())
def test_windows_give_every_token_once_from_the_window_in_whose_middle_it_lies_most(count, size, data):
    overlap = data.draw(st.integers(0, size - 1))
    windows = _windows(count, size, overlap)
    assert [t for w in windows for t in range(w.kept_from, w.kept_to)] == list(range(count))
    assert all(w.end - w.start == min(size, count) for w in windows)
    for window in windows:
        for token in range(window.kept_from, window.kept_to):
            room = [min(token - w.start, w.end - 1 - token) for w in windows if w.start <= token < w.end]
            assert min(token - window.start, window.end - 1 - token) >= max(room) - 1


# ---------------------------------------------------------------- vectors


@pytest.mark.parametrize(
    "text", [RIVERS, "Über naïve 日本 people.\n\n🙂 e\u0301", "one", "  \n padded  ", "\u200b", "a \ud800 b"]
)
def test_a_document_that_is_one_chunk_has_its_ordinary_vector(text, late, minilm):
    document = Document("d", text)
    np.testing.assert_array_equal(vectors(late, document, whole(document)), minilm.embed([text], "passage"))


def test_a_chunk_changes_with_its_surroundings_and_not_with_other_chunks(late):
    start = RIVERS.index("The stones")
    here, there = Document("d", RIVERS), Document("d", RIVERS.replace("sea", "museum"))
    own = chunk(here, start, start + 40)
    first = vectors(late, here, own)
    other = vectors(late, there, chunk(there, start + 3, start + 43))
    assert 0.5 < float(first[0] @ other[0]) < 0.9999
    np.testing.assert_array_equal(
        vectors(late, here, own, whole(here), own), [first[0], *vectors(late, here, whole(here)), first[0]]
    )


def test_a_chunk_is_the_mean_of_the_vectors_of_its_own_tokens(late, minilm):
    """By hand: offsets of the tokens, one window, the mean of those inside; accents, CJK and emoji in front of it."""
    text = "naïve 日本 🙂 " + RIVERS
    document = Document("d", text)
    start, end = text.index("stones"), text.index(" to the")
    tokens = minilm.document_tokens(text)
    inside = [n for n, (a, b) in enumerate(zip(tokens.starts, tokens.ends, strict=True)) if a < end and b > start]
    assert text[tokens.starts[inside[0]] : tokens.ends[inside[-1]]] == "stones"
    rows = next(iter(minilm.token_vectors([tokens.ids])))
    expected = rows[[n + 1 for n in inside]].astype(np.float64).mean(axis=0)
    expected /= np.linalg.norm(expected)
    np.testing.assert_allclose(vectors(late, document, chunk(document, start, end))[0], expected, atol=1e-6)


@settings(max_examples=15, deadline=None)
@given(st.text(alphabet="abc ÄŁ日🙂\u0301\n.", min_size=1, max_size=60), st.data())
def test_any_cut_of_any_text_has_a_unit_vector_and_the_same_one_again(text, data):
    embedder = Late(Minilm(max_tokens=12), overlap=4)
    document = Document("d", text)
    cuts = sorted({0, len(text), *data.draw(st.lists(st.integers(0, len(text)), max_size=4))})
    chunks = [chunk(document, a, b) for a, b in pairwise(cuts)]
    found = vectors(embedder, document, *chunks)
    np.testing.assert_allclose((found * found).sum(axis=1), 1, atol=1e-5)
    np.testing.assert_array_equal(vectors(embedder, document, *reversed(chunks)), found[::-1])


def test_chunks_over_several_windows_and_chunks_of_several_spans(narrow):
    document = Document("d", RIVERS)
    half = len(RIVERS) // 2
    split = Chunk("d", (Span(0, half), Span(half, len(RIVERS))), RIVERS)
    both = vectors(narrow, document, whole(document), split)
    assert float(both[0] @ both[1]) > 0.98  # a token that the cut goes through counts in both spans
    tokens = narrow.embedder.document_tokens(RIVERS)
    windows = _windows(len(tokens.ids), narrow.window, narrow.overlap)
    assert len(windows) > 2
    rows = list(narrow.embedder.token_vectors([tokens.ids[w.start : w.end] for w in windows]))
    kept = [r[w.kept_from - w.start + 1 : w.kept_to - w.start + 1] for w, r in zip(windows, rows, strict=True)]
    mean = np.concatenate([rows[0][:1], *kept, rows[-1][-1:]]).astype(np.float64).mean(axis=0)
    np.testing.assert_allclose(both[0], mean / np.linalg.norm(mean), atol=1e-6)


def test_questions_and_sentences_have_ordinary_vectors(late, minilm):
    for role in ("query", "sentence", "passage"):
        np.testing.assert_array_equal(late.embed([RIVERS], role), minilm.embed([RIVERS], role))


# ---------------------------------------------------------------- what is refused


def test_rewritten_chunks_are_refused_before_anything_is_run(late):
    document = Document("d", RIVERS)
    rewritten = Chunk("d", (Span(0, 31),), "Stones are carried to the sea by rivers.")
    with pytest.raises(EmbeddingError, match="was rewritten"):
        vectors(late, document, whole(document), rewritten)


def test_headings_and_table_headers_in_front_are_the_documents_and_written_contexts_are_refused(late):
    text = "# All about\n\n## Rivers\n\n" + RIVERS
    document = Document("d", text, (Block("heading", Span(0, 13)), Block("paragraph", Span(13, len(text)))))
    bare = chunk(document, 24, 60)
    headed = Chunk("d", bare.spans, bare.text, "All about > Rivers")
    np.testing.assert_array_equal(*vectors(late, document, bare, headed))
    with pytest.raises(EmbeddingError, match="not in the document"):
        vectors(late, document, Chunk("d", bare.spans, bare.text, "Rivers carry stones about."))


@pytest.mark.parametrize("spec", ["structure(max=40t)", "recursive(max=30t)", "sentence(max=30t)"])
def test_the_chunkers_own_chunks_are_taken(spec, late, minilm):
    text = "# Water\n\n" + "\n\n".join([RIVERS] * 3) + "\n\n| stone | size |\n|---|---|\n" + "| a | 1 |\n" * 30
    document = Document("d", text)
    chunks = build(spec).chunk(document, Models.of(minilm))
    assert vectors(late, document, *chunks).shape == (len(chunks), 384)


# ---------------------------------------------------------------- the seam


class Counting(Minilm):
    """Takes down how many tokens the model is run on."""

    seen: ClassVar[list[int]] = []

    def token_vectors(self, windows):
        for vectors in super().token_vectors(windows):
            self.seen.append(len(vectors))
            yield vectors


@pytest.mark.parametrize("cuts", [[0, 31], [0, 10, 20, 31, 60], [40, 50]])
def test_the_tokens_of_chunks_are_those_that_the_model_is_run_on_however_many_chunks_there_are(cuts, minilm, tmp_path):
    Counting.seen.clear()
    cached = CachedEmbedder(Late(Counting(max_tokens=12), overlap=4), tmp_path / "v.sqlite")
    documents = {"d": Document("d", RIVERS * 3), "e": Document("e", "Short.")}
    chunks = [chunk(documents["d"], *edges) for edges in pairwise(cuts)] + [whole(documents["e"])]
    metered = MeteredEmbedder(cached)
    metered.embed_chunks(documents, chunks)
    assert len(Counting.seen) > 5
    assert metered.account.tokens == cached.stats.tokens_embedded == sum(Counting.seen)
    assert chunk_tokens(cached, documents, chunks) == sum(Counting.seen)  # also where all is known
    cached.close()


def test_the_tokens_of_ordinary_chunks_are_those_of_each_distinct_text_as_far_as_it_is_read(minilm):
    short = Minilm(max_tokens=12)
    documents = {"d": Document("d", RIVERS)}
    sentence = chunk(documents["d"], 0, 31)
    assert chunk_tokens(short, documents, [sentence, sentence]) == minilm.tokenizer.count(sentence.text) + 2
    assert (
        chunk_tokens(short, documents, [sentence, whole(documents["d"])]) == minilm.tokenizer.count(sentence.text) + 14
    )


def test_what_embeds_texts_is_asked_for_the_chunks_texts_with_their_context(minilm):
    document = Document("d", RIVERS)
    headed = Chunk("d", (Span(0, 31),), RIVERS[:31], "Water")
    found = embed_chunks(MeteredEmbedder(minilm), {"d": document}, [headed])
    np.testing.assert_array_equal(found, minilm.embed([f"Water\n{RIVERS[:31]}"], "passage"))


def test_the_cache_remembers_chunks_by_their_document_and_texts_as_the_ordinary_embedder_does(late, minilm, tmp_path):
    document, other = Document("d", RIVERS), Document("d", RIVERS.replace("sea", "museum"))
    own = chunk(document, 0, 20)
    cached = CachedEmbedder(late, tmp_path / "v.sqlite")
    first = embed_chunks(MeteredEmbedder(cached), {"d": document}, [own, whole(document), own])
    np.testing.assert_array_equal(first, vectors(late, document, own, whole(document), own))
    changed = vectors(cached, other, own)
    assert not np.array_equal(changed[0], first[0])
    cached.embed([RIVERS], "query")
    assert cached.stats.hits == 0
    again = CachedEmbedder(late, tmp_path / "v.sqlite")
    np.testing.assert_array_equal(vectors(again, document, own, whole(document), own), first)
    assert (again.stats.hits, again.stats.embedded) == (2, 0)
    ordinary = CachedEmbedder(minilm, tmp_path / "v.sqlite")
    ordinary.embed([RIVERS], "query")
    assert (ordinary.stats.hits, ordinary.stats.embedded) == (1, 0)
    np.testing.assert_array_equal(ordinary.embed([own.text], "passage"), minilm.embed([own.text], "passage"))
    for embedder in (cached, again, ordinary):
        embedder.close()


def test_a_rewritten_chunk_is_refused_also_where_its_place_is_remembered(late, tmp_path):
    document = Document("d", RIVERS)
    cached = CachedEmbedder(late, tmp_path / "v.sqlite")
    vectors(cached, document, whole(document))
    with pytest.raises(EmbeddingError, match="was rewritten"):
        vectors(cached, document, Chunk("d", (Span(0, len(RIVERS)),), "Something else."))
    cached.close()


def test_a_comparison_searches_by_late_vectors_and_asks_by_ordinary_ones(small, minilm, tmp_path):
    """The second run finds the questions' vectors in the cache of the first, and no chunk's."""
    chunkers = ("recursive(40)", "structure(max=60)")
    stored, boards = [], []
    for embedder in ("late(minilm)", "minilm"):
        plan = Plan(str(small / "corpus"), str(small / "questions.jsonl"), chunkers, embedders=(embedder,))
        boards.append(run(plan, tmp_path / embedder, cache=tmp_path / "v.sqlite"))
        connection = sqlite3.connect(tmp_path / "v.sqlite")
        stored.append(connection.execute("SELECT count(*) FROM vectors").fetchone()[0])
        connection.close()
    assert [row["row"] for row in boards[0]["rows"]] == [f"late(minilm)::{chunker}" for chunker in chunkers]
    questions = len((small / "questions.jsonl").read_text().splitlines())
    assert stored[1] == 2 * (stored[0] - questions) + questions
