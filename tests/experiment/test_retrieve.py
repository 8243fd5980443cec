"""Retrieval delivers enough chunks for the largest budget and the largest k, and no more."""

import numpy as np
import pytest

from faircut.evaluation.context import Passage
from faircut.experiment.retrieve import retrieve
from faircut.experiment.units import Units, WholeChunk
from faircut.index.exact import Exact
from faircut.index.rankings import ByVectors
from faircut.records import Chunk, Span
from faircut.text.units import WordCounter


def indexed(tokens, documents=("d",), seed=0):
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(len(tokens), 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    chunks = [Chunk(documents[i * len(documents) // len(tokens)], (Span(i, i + 1),), "x") for i in range(len(tokens))]
    index = Exact().create()
    index.add(chunks, vectors)
    return index, vectors, chunks


def asked(index, queries, within, tokens):
    """What ``retrieve`` takes: questions over an index whose chunks cost so many tokens."""
    passages = [
        Passage(c.document_id, ((c.spans[0].start, c.spans[0].end),), 1, t)
        for c, t in zip(index.chunks, tokens.tolist(), strict=True)
    ]
    units = Units(index.chunks, passages, {}, WordCounter(), lambda _: pytest.fail("nothing is counted again"))
    return ByVectors(index, queries, within), WholeChunk(), units, len(queries)


def truth(vectors, query, allowed):
    order = sorted(allowed, key=lambda i: (-float(np.float32(vectors[i].astype(np.float64) @ query)), i))
    return np.array(order)


@pytest.mark.parametrize("seed", range(5))
def test_each_question_gets_the_best_chunks_until_both_limits_are_filled(seed):
    random = np.random.default_rng(seed)
    tokens = random.choice([1, 1, 2, 3, 400], size=300).astype(np.int64)
    index, vectors, chunks = indexed(tokens, ("a", "b", "c"), seed)
    queries = vectors[::60] + np.float32(0.01)
    within = [None, "b", None, "c", "b"]
    found = retrieve(*asked(index, queries, within, tokens), budget=250, k=7)
    for query, only, ranking in zip(queries, within, found, strict=True):
        allowed = [i for i, c in enumerate(chunks) if only in (None, c.document_id)]
        best = truth(vectors, query.astype(np.float64), allowed)[: len(ranking.positions)]
        assert ranking.positions.tolist() == best.tolist()
        delivered = tokens[ranking.positions]
        assert delivered.sum() >= 250
        assert len(ranking.positions) >= 7
        if len(ranking.positions) > 7:
            assert delivered[:-1].sum() < 250


def test_a_small_document_gives_all_its_chunks_and_an_unknown_one_none():
    tokens = np.full(20, 10, dtype=np.int64)
    index, vectors, _ = indexed(tokens, ("a", "b"))
    found = retrieve(*asked(index, vectors[:2], ["a", "nowhere"], tokens), budget=4000, k=50)
    assert sorted(found[0].positions.tolist()) == list(range(10))
    assert found[1].positions.tolist() == []


def test_thousands_of_chunks_without_tokens_end_the_search():
    tokens = np.zeros(3000, dtype=np.int64)
    index, vectors, _ = indexed(tokens)
    (found,) = retrieve(*asked(index, vectors[:1], [None], tokens), budget=100, k=1)
    assert len(found.positions) == 3000
