"""BM25 by the engine's sparse vectors gives the hits and scores of the definition, ties included."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faircut.errors import SearchError, SpecError
from faircut.index import INDEXES, SEARCHES
from faircut.index.bm25 import Bm25
from faircut.index.words import terms
from faircut.records import Chunk, Span

ENGINES = ["exact", "qdrant"]
WORDS = ["quay", "boat", "the", "the", "the", "a", "lead", "dog", "fee", "kiosk", "Card"]


def chunks_of(texts, documents=4):
    """Documents come in turn, so that their chunks are not next to each other."""
    return [Chunk(f"doc-{i % documents}", (Span(i // 3, i // 3 + 1),), text) for i, text in enumerate(texts)]


def some_texts(count, seed):
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, size=random.integers(0, 9))) for _ in range(count)]


def definition(texts, question, k1=1.2, b=0.75):
    """The formula in the docstring of ``Bm25``, one chunk after the other."""
    bags = [Counter(terms(text)) for text in texts]
    mean = sum(map(Counter.total, bags)) / len(bags)
    scores = []
    for bag in bags:
        score = 0.0
        for term in terms(question):
            holding = sum(term in other for other in bags)
            idf = math.log(1 + (len(bags) - holding + 0.5) / (holding + 0.5))
            frequency = bag[term]
            saturation = k1 * (1 - b + b * bag.total() / mean) if mean else 1.0
            score += idf * frequency * (k1 + 1) / (frequency + saturation) if frequency else 0.0
        scores.append(score)
    return scores


def search(engine, texts, questions, k, within=None):
    chunks, weights = chunks_of(texts), Bm25().weigh(texts)
    index = INDEXES.build(engine).create_lexical(chunks, weights)
    found = index.search([weights.query(q) for q in questions], k, within)
    index.close()
    return found


@pytest.fixture(params=ENGINES)
def engine(request):
    return request.param


@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (0.0, 0.3), (2.0, 0.0), (0.9, 1.0)])
def test_the_scores_are_those_of_the_formula(k1, b):
    texts, question = some_texts(60, seed=1), "Boat, boat and the dog's kiosk"
    weights = Bm25(k1, b).weigh(texts)
    assert weights.scores(weights.query(question)) == pytest.approx(definition(texts, question, k1, b), rel=1e-6)


@pytest.mark.parametrize("k", [1, 7, 60, 500])
def test_the_hits_are_the_chunks_with_a_common_word_by_score_then_document_then_start(engine, k):
    texts, questions = some_texts(200, seed=2), ["quay", "the dog", "card fee boat the a", "nowhere", ""]
    within = [None, "doc-1", None, None, "doc-2"]
    positions, scores = search(engine, texts, questions, k, within)
    weights, chunks = Bm25().weigh(texts), chunks_of(texts)
    for question, document, row, values in zip(questions, within, positions, scores, strict=True):
        exact = weights.scores(weights.query(question)).astype(np.float32)
        keys = [
            (-exact[i], c.document_id, c.spans[0].start, i)
            for i, c in enumerate(chunks)
            if exact[i] > 0 and document in (None, c.document_id)
        ]
        expected = [key[-1] for key in sorted(keys)[:k]]
        assert row[row >= 0].tolist() == expected
        assert values[row >= 0].tolist() == exact[expected].tolist()
        assert (values[row < 0] == -np.inf).all()


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), min_size=1, max_size=40),
    st.lists(st.lists(st.sampled_from([*WORDS, "rare"]), max_size=5).map(" ".join), min_size=1, max_size=4),
    st.integers(1, 45),
)
def test_the_engines_agree_bit_for_bit(texts, questions, k):
    (a, x), (b, y) = (search(engine, texts, questions, k) for engine in ENGINES)
    assert (a == b).all()
    assert (x == y).all()


def test_rarity_is_counted_over_the_whole_corpus_also_within_one_document(engine):
    texts = ["the quay", "the quay", "the dog", "the", "the fee", "quay"]
    everywhere, within = (search(engine, texts, ["the quay"], 6, [w])[1][0] for w in (None, "doc-0"))
    assert set(within[within > 0]) <= set(everywhere)


def test_chunks_without_a_word_and_corpora_without_any_are_no_hits(engine):
    assert search(engine, ["...", "", "boat"], ["boat", "!"], 3)[0].tolist() == [[2, -1, -1], [-1, -1, -1]]
    assert search(engine, ["...", "-"], ["boat"], 2)[0].tolist() == [[-1, -1]]


def test_documents_of_any_name_can_be_searched_alone(engine):
    chunks = [Chunk(name, (Span(0, 1),), "boat") for name in ("\ud800", "a\x00b", "漢")]
    weights = Bm25().weigh([c.text for c in chunks])
    index = INDEXES.build(engine).create_lexical(chunks, weights)
    found = index.search([weights.query("boat")] * 3, 2, [c.document_id for c in chunks])[0]
    index.close()
    assert found.tolist() == [[0, -1], [1, -1], [2, -1]]


def test_an_index_in_a_folder_stays_there_and_a_closed_one_says_so(tmp_path):
    weights = Bm25().weigh(["boat"])
    index = INDEXES.build("qdrant").create_lexical(chunks_of(["boat"]), weights, tmp_path / "words")
    index.close()
    index.close()
    assert any((tmp_path / "words").rglob("*"))
    with pytest.raises(SearchError, match="the index is closed"):
        index.search([weights.query("boat")], 1)


@pytest.mark.parametrize("k", [0, True, 1.5])
def test_wrong_numbers_of_hits_are_refused(engine, k):
    with pytest.raises(SearchError, match="k must be a whole number"):
        search(engine, ["boat"], ["boat"], k)


@pytest.mark.parametrize("spec", ["bm25(k1=-1)", "bm25(b=1.5)", "rrf(k=-1)", "rrf(depth=0)", "zscore(lexical=dense)"])
def test_searches_that_make_no_sense_are_refused(spec):
    with pytest.raises(SpecError):
        SEARCHES.build(spec)


@pytest.mark.parametrize("spec", ["dense", "bm25", "bm25(k1=0.9)", "rrf(k=10, lexical=bm25(b=0))", "zscore"])
def test_a_search_prints_as_what_builds_it(spec):
    assert str(SEARCHES.build(spec)) == spec
