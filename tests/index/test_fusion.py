"""Hybrid search and best sentences give what a slow computation over all chunks gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faircut.index import INDEXES, SEARCHES, fusion
from faircut.index.bm25 import Bm25
from faircut.index.rankings import ByBestSentence, ByVectors, ByWords
from faircut.records import Chunk, Span

WORDS = [f"w{i}" for i in range(30)]


class Corpus:
    """Chunks with vectors and words, questions with both, in every combination of engines."""

    def __init__(self, count, questions, seed, *, few=False, engine="exact"):
        random = np.random.default_rng(seed)
        self.chunks = [Chunk(f"doc-{i % 3}", (Span(i, i + 1),), "x") for i in range(count)]
        self.vectors = self.some(random, count, few=few)
        self.queries = self.some(random, questions, few=few)
        pick = WORDS[:3] if few else WORDS
        texts = [" ".join(random.choice(pick, size=random.integers(0, 12))) for _ in range(count)]
        weights = Bm25().weigh(texts)
        asked = [weights.query(" ".join(random.choice(pick, size=random.integers(0, 4)))) for _ in range(questions)]
        self.within = [[None, "doc-1", None, "not there"][i % 4] for i in range(questions)]
        built = INDEXES.build(engine)
        index = built.create()
        index.add(self.chunks, self.vectors)
        words = built.create_lexical(self.chunks, weights)
        self.by_vectors = ByVectors(index, self.queries, self.within)
        self.by_words = ByWords(words, self.chunks, asked, self.within)
        self.lexical = np.stack([weights.scores(query).astype(np.float32) for query in asked])
        self.opened = (index, words)

    @staticmethod
    def some(random, count, *, few):
        if few:
            return random.integers(-1, 2, size=(count, 4)).astype(np.float32)
        found = random.normal(size=(count, 12))
        return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)

    def visible(self, row):
        return np.array([i for i, c in enumerate(self.chunks) if self.within[row] in (None, c.document_id)], dtype=int)

    def dense(self, row):
        return (self.vectors.astype(np.float64) @ self.queries[row].astype(np.float64)).astype(np.float32)

    def ordered(self, positions, scores, k):
        """By score, then document, then start; for ``scores`` of these positions."""
        keys = sorted((-s, self.chunks[p].document_id, p) for p, s in zip(positions, scores, strict=True))
        return [key[-1] for key in keys[:k]]

    def close(self):
        for index in self.opened:
            index.close()


def slow_rrf(corpus, row, k, *, constant, depth):
    seen = corpus.visible(row)
    lexical = corpus.lexical[row]
    lists = [
        corpus.ordered(seen, corpus.dense(row)[seen], depth),
        corpus.ordered(seen[lexical[seen] > 0], lexical[seen[lexical[seen] > 0]], depth),
    ]
    total = {}
    for one in lists:
        for rank, position in enumerate(one, 1):
            total[position] = total.get(position, 0.0) + 1 / (constant + rank)
    return corpus.ordered(list(total), np.array(list(total.values())).astype(np.float32), k)


def slow_zscore(corpus, row, k):
    seen = corpus.visible(row)
    if not len(seen):
        return []
    total = np.zeros(len(seen))
    for scores in (corpus.dense(row)[seen], corpus.lexical[row][seen]):
        wide = scores.astype(np.float64)
        if wide.std() > 1e-9:
            total += (wide - wide.mean()) / wide.std()
    return corpus.ordered(seen, total.astype(np.float32), k)


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("engine", ["exact", "qdrant"])
@pytest.mark.parametrize(
    ("spec", "constant", "depth"),
    [("rrf", 60, 1000), ("rrf(k=0, depth=7)", 0, 7), ("rrf(depth=999999999999)", 60, 1000)],
)
def test_reciprocal_rank_fusion_is_that_of_its_definition(engine, few, spec, constant, depth):
    corpus = Corpus(90, 12, seed=4, few=few, engine=engine)
    searcher = SEARCHES.build(spec).searcher(corpus.by_vectors, corpus.by_words)
    for k in (1, 10, 200):
        positions, scores = searcher.search(np.arange(12), k)
        for row in range(12):
            found = positions[row][positions[row] >= 0].tolist()
            assert found == slow_rrf(corpus, row, k, constant=constant, depth=depth)
            assert (np.diff(scores[row][: len(found)]) <= 0).all()
    corpus.close()


@pytest.mark.parametrize("first", [4, 256])
@pytest.mark.parametrize("engine", ["exact", "qdrant"])
def test_the_sum_of_z_scores_is_that_over_all_visible_chunks(engine, first, monkeypatch):
    monkeypatch.setattr(fusion, "_DEPTH", first)
    corpus = Corpus(150, 12, seed=6, engine=engine)
    searcher = SEARCHES.build("zscore").searcher(corpus.by_vectors, corpus.by_words)
    for k in (1, 2, 40, 400):
        positions, scores = searcher.search(np.arange(12), k)
        for row in range(12):
            assert positions[row][positions[row] >= 0].tolist() == slow_zscore(corpus, row, k)
            assert scores[row][positions[row] >= 0].tolist() == sorted(scores[row][positions[row] >= 0].tolist())[::-1]
    corpus.close()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 60), st.booleans())
def test_z_scores_of_any_corpus_agree_with_the_slow_ones(seed, k, few):
    corpus = Corpus(40, 5, seed=seed, few=few)
    searcher = SEARCHES.build("zscore").searcher(corpus.by_vectors, corpus.by_words)
    positions, scores = searcher.search(np.arange(5), k)
    for row in range(5):
        found = positions[row][positions[row] >= 0].tolist()
        expected = slow_zscore(corpus, row, k)
        sums = dict(zip(found, scores[row].tolist(), strict=False))
        complete = slow_zscore(corpus, row, 40)
        assert set(found) <= set(complete)
        assert len(found) == len(expected)
        for got, wanted in zip(found, expected, strict=True):
            assert got == wanted or abs(sums[got] - sums.get(wanted, sums[found[-1]])) < 1e-5


def test_a_question_is_answered_alike_alone_and_in_any_batch():
    corpus = Corpus(80, 8, seed=8)
    for spec in ("rrf", "zscore"):
        searcher = SEARCHES.build(spec).searcher(corpus.by_vectors, corpus.by_words)
        together = searcher.search(np.arange(8), 9)
        for row in (6, 0, 3):
            alone = searcher.search(np.array([row]), 9)
            assert (alone[0][0] == together[0][row]).all()
            assert (alone[1][0] == together[1][row]).all()


def test_scores_that_are_all_alike_add_nothing():
    chunks = [Chunk("d", (Span(i, i + 1),), "x") for i in range(5)]
    weights = Bm25().weigh(["boat", "boat quay", "quay", "dog", "dog"])
    built = INDEXES.build("exact")
    index = built.create()
    index.add(chunks, np.full((5, 3), 0.1, dtype=np.float32))
    words = built.create_lexical(chunks, weights)
    asked = [weights.query("quay"), weights.query("nowhere")]
    by_vectors = ByVectors(index, np.full((2, 3), 0.7, dtype=np.float32), [None, None])
    positions, scores = (
        SEARCHES.build("zscore")
        .searcher(by_vectors, ByWords(words, chunks, asked, [None, None]))
        .search(np.arange(2), 5)
    )
    assert positions.tolist() == [[2, 1, 0, 3, 4], [0, 1, 2, 3, 4]]
    assert (scores[1] == 0).all()


# ---------------------------------------------------------------- best sentences


def best_sentences(seed, *, few, engine, count=50, questions=8):
    """A corpus with sentences, and its searcher."""
    corpus = Corpus(count, questions, seed=seed, few=few)
    random = np.random.default_rng(seed + 1)
    sizes = random.integers(0, 5, size=count)
    starts = np.cumsum([0, *(sizes + 1)])
    entries = [corpus.chunks[i] for i in range(count) for _ in range(sizes[i] + 1)]
    vectors = Corpus.some(random, len(entries), few=few)
    vectors[starts[:-1]] = corpus.vectors
    index = INDEXES.build(engine).create()
    index.add(entries, vectors)
    corpus.opened = (*corpus.opened, index)
    corpus.entries = (starts, vectors)
    return corpus, ByBestSentence(index, corpus.chunks, starts, corpus.queries, corpus.within)


def best(corpus, row):
    starts, vectors = corpus.entries
    each = (vectors.astype(np.float64) @ corpus.queries[row].astype(np.float64)).astype(np.float32)
    return np.maximum.reduceat(each, starts[:-1])


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("engine", ["exact", "qdrant"])
def test_a_chunk_scores_as_the_best_of_itself_and_its_sentences(engine, few):
    corpus, searcher = best_sentences(3, few=few, engine=engine)
    for k in (1, 6, 50, 80):
        positions, scores = searcher.search(np.arange(8), k)
        for row in range(8):
            seen, exact = corpus.visible(row), best(corpus, row)
            found = positions[row][positions[row] >= 0]
            assert found.tolist() == corpus.ordered(seen, exact[seen], k)
            assert scores[row][: len(found)].tolist() == exact[found].tolist()
    corpus.close()


def test_hybrid_search_takes_the_best_sentence_for_the_vectors():
    corpus, searcher = best_sentences(5, few=False, engine="exact")
    corpus.dense = lambda row: best(corpus, row)
    positions, _ = SEARCHES.build("zscore").searcher(searcher, corpus.by_words).search(np.arange(8), 12)
    for row in range(8):
        assert positions[row][positions[row] >= 0].tolist() == slow_zscore(corpus, row, 12)
