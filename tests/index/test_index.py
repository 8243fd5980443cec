"""Both engines give the same hits in the same order, ties included, and refuse what they cannot search."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from faircut.errors import SearchError, SpecError
from faircut.index import INDEXES, to_hits
from faircut.records import Chunk, Span

ENGINES = ["exact", "qdrant"]


def chunk(document, start, text="text", context=""):
    return Chunk(document, (Span(start, start + len(text)),), text, context)


def chunks_of(count, documents=7):
    size = -(-count // documents)
    return [chunk(f"doc-{i // size}", i % size) for i in range(count)]


def unit(vectors):
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def search(engine, chunks, vectors, queries, k, within=None, parts=1):
    with INDEXES.build(engine).create() as index:
        for part in np.array_split(np.arange(len(chunks)), parts):
            index.add([chunks[i] for i in part], vectors[part])
        return index.search(queries, k, within)


def brute_force(chunks, vectors, queries, k, within=None):
    """The contract, word for word: score in float32, then document as first added, start, position."""
    documents = list(dict.fromkeys(c.document_id for c in chunks))
    rows = []
    for number, query in enumerate(queries):
        scores = (vectors.astype(np.float64) * query.astype(np.float64)).sum(axis=1).astype(np.float32)
        limit = within[number] if within else None
        keys = [
            (-scores[i], documents.index(c.document_id), c.spans[0].start, i)
            for i, c in enumerate(chunks)
            if limit in (None, c.document_id)
        ]
        found = [key[-1] for key in sorted(keys)[:k]]
        rows.append(found + [-1] * (k - len(found)))
    return np.array(rows)


@pytest.fixture(params=ENGINES)
def engine(request):
    return request.param


# ---------------------------------------------------------------- the hits


@pytest.mark.parametrize("k", [1, 10, 400])
@pytest.mark.parametrize("parts", [1, 3])
def test_the_hits_are_those_of_the_definition(engine, k, parts):
    rng = np.random.default_rng(0)
    chunks, vectors, queries = chunks_of(300), unit(rng.normal(size=(300, 24))), unit(rng.normal(size=(40, 24)))
    positions, scores = search(engine, chunks, vectors, queries, k, parts=parts)
    assert (positions == brute_force(chunks, vectors, queries, k)).all()
    assert (positions.dtype, scores.dtype, positions.shape, scores.shape) == (np.int64, np.float32, (40, k), (40, k))
    assert ((scores == -np.inf) == (positions < 0)).all()
    assert (np.diff(scores[:, : min(k, 300)], axis=1) <= 0).all()


def tied_data(seed, count=300, different=20, width=16):
    """Each vector many times over, in documents whose chunks come out of order; queries with few values."""
    rng = np.random.default_rng(seed)
    pool = rng.integers(-2, 3, size=(different, width)).astype(np.float32)
    vectors = pool[rng.integers(different, size=count)]
    chunks = [chunk(f"doc-{rng.integers(6)}", int(rng.integers(50))) for _ in range(count)]
    return chunks, vectors, np.concatenate([pool[:15], rng.integers(-2, 3, size=(15, width)).astype(np.float32)])


@pytest.mark.parametrize("k", [1, 5, 37, 500])
def test_equal_scores_are_ordered_by_document_then_start_then_position(engine, k):
    chunks, vectors, queries = tied_data(seed=k)
    positions, _ = search(engine, chunks, vectors, queries, k)
    assert (positions == brute_force(chunks, vectors, queries, k)).all()


@pytest.mark.parametrize("k", [1, 4, 400])
def test_a_query_within_a_document_finds_only_its_chunks(engine, k):
    chunks, vectors, queries = tied_data(seed=3)
    within = [[None, "doc-1", "doc-4", "doc-1", "not there"][i % 5] for i in range(len(queries))]
    positions, _ = search(engine, chunks, vectors, queries, k, within)
    assert (positions == brute_force(chunks, vectors, queries, k, within)).all()
    assert (positions[4] == -1).all()


def test_vectors_that_differ_in_the_last_bit_are_ordered_alike():
    rng = np.random.default_rng(5)
    one = unit(rng.normal(size=(1, 384)))
    vectors = np.repeat(one, 200, axis=0)
    vectors[np.arange(200), rng.integers(384, size=200)] *= 1 + 2.0**-20 * rng.integers(-3, 4, size=200).astype(
        np.float32
    )
    queries = unit(one + 0.1 * rng.normal(size=(20, 384)))
    for engine in ENGINES:
        with INDEXES.build(engine).create() as index:
            index.add(chunks_of(200), vectors)
            for k in (1, 3, 10, 50):
                assert (index.search(queries, k)[0] == brute_force(chunks_of(200), vectors, queries, k)).all()


@settings(max_examples=15, deadline=None)
@given(
    st.integers(1, 12).flatmap(lambda d: st.tuples(*(arrays(np.float32, (n, d), elements=st.sampled_from(
        [-1, -0.5, 0, 0.1, 0.3, 1, 1e-3])) for n in (40, 5)))),
    st.integers(1, 50),
)  # fmt: skip
def test_the_engines_agree_bit_for_bit_on_any_vectors(vectors_and_queries, k):
    vectors, queries = vectors_and_queries
    (a, x), (b, y) = (search(engine, chunks_of(40), vectors, queries, k) for engine in ENGINES)
    assert (a == b).all()
    assert (x == y).all()


def test_when_all_scores_are_equal_the_first_chunks_are_found(engine):
    vectors, queries = np.full((40, 3), -1.0), np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    assert search(engine, chunks_of(40), vectors, queries, 3)[0].tolist() == [[0, 1, 2], [0, 1, 2]]


def test_a_query_gives_the_same_hits_alone_and_in_any_batch(engine):
    chunks, vectors, queries = tied_data(seed=9)
    with INDEXES.build(engine).create() as index:
        index.add(chunks, vectors)
        together = index.search(queries, 10)
        alone = [index.search(query[np.newaxis], 10) for query in queries]
    assert (together[0] == np.concatenate([p for p, _ in alone])).all()
    assert (together[1] == np.concatenate([s for _, s in alone])).all()


def test_memory_blocks_change_nothing(monkeypatch):
    from faircut.index import exact, qdrant, rows

    chunks, vectors, queries = tied_data(seed=11)
    expected = brute_force(chunks, vectors, queries, 20)
    monkeypatch.setattr(exact, "_BLOCK_SCORES", 700)
    monkeypatch.setattr(qdrant, "_QUERIES_A_CALL", 7)
    monkeypatch.setattr(qdrant, "_POINTS_A_CALL", 11)
    monkeypatch.setattr(rows, "_BLOCK", 13)
    for engine in ENGINES:
        assert (search(engine, chunks, vectors, queries, 20)[0] == expected).all()


def test_hits_name_the_chunks_in_rank_order_without_padding(engine):
    chunks = [chunk("a", 0), chunk("a", 9), chunk("b", 0)]
    vectors = np.array([[1, 0], [0, 1], [0.6, 0.8]], dtype=np.float32)
    found = search(engine, chunks, vectors, np.array([[0, 1], [1, 0]], dtype=np.float32), 2, [None, "b"])
    first, second = to_hits(["q1", "q2"], chunks, *found)
    assert [(h.question_id, h.chunk_id, h.rank, h.score) for h in first] == [
        ("q1", chunks[1].id, 1, 1.0),
        ("q1", chunks[2].id, 2, pytest.approx(0.8)),
    ]
    assert [(h.chunk_id, h.rank) for h in second] == [(chunks[2].id, 1)]


def test_real_text_gives_the_same_hits_in_both(shared_data):
    """Word-hash vectors of real passages: many duplicates of short lines, hence many ties."""
    from faircut.documents import read_corpus

    chunks = [
        Chunk(d.id, (b.span,), d.text[b.span.start : b.span.end])
        for d in read_corpus(shared_data / "covidqa" / "corpus.jsonl.gz")
        for b in d.blocks[:40]
    ]
    vectors = np.zeros((len(chunks), 64), dtype=np.float32)
    for row, one in zip(vectors, chunks, strict=True):
        for word in one.text.split():
            row[sum(word.encode()) % 64] += 1
    queries, within = unit(vectors[::17]), [c.document_id if i % 2 else None for i, c in enumerate(chunks[::17])]
    (a, x), (b, y) = (search(engine, chunks, unit(vectors), queries, 25, within) for engine in ENGINES)
    assert (a == b).all()
    assert (x == y).all()


# ---------------------------------------------------------------- the errors


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        (np.zeros((2, 3)), "found 3 chunks and 2 vectors"),
        (np.zeros(3), "of shape (3,)"),
        (np.zeros((3, 0)), "of shape (3, 0)"),
        (np.array([["a"], ["b"], ["c"]]), "must be numbers"),
        (np.array([[0.0], [np.nan], [1.0]]), "row 1 (1 in all) holds nan or infinity"),
        (np.array([[0.0], [np.inf], [1e300]]), "row 1 (2 in all) holds nan or infinity"),
    ],
)
def test_wrong_vectors_are_refused_when_added(engine, vectors, said):
    with INDEXES.build(engine).create() as index, pytest.raises(SearchError) as caught:
        index.add(chunks_of(3), vectors)
    assert said in str(caught.value)


def test_vectors_of_another_width_are_refused(engine):
    with INDEXES.build(engine).create() as index:
        index.add(chunks_of(3), np.eye(3, 4))
        with pytest.raises(SearchError, match="has 4 dimensions, the vectors have 5"):
            index.add(chunks_of(3), np.eye(3, 5))
        with pytest.raises(SearchError, match="has 4 dimensions, the vectors have 5"):
            index.search(np.eye(2, 5), 1)
        assert index.search(np.eye(2, 4), 1)[0].tolist() == [[0], [1]]


def test_an_empty_index_is_not_searched(engine):
    with INDEXES.build(engine).create() as index:
        index.add([], np.zeros((0, 3)))
        with pytest.raises(SearchError, match="the index is empty"):
            index.search(np.eye(1, 3), 1)


@pytest.mark.parametrize("k", [0, -1, 1.5, True, None])
def test_k_is_a_whole_number_from_one(engine, k):
    with INDEXES.build(engine).create() as index:
        index.add(chunks_of(3), np.eye(3))
        with pytest.raises(SearchError, match="k must be a whole number"):
            index.search(np.eye(1, 3), k)


@pytest.mark.parametrize("within", ["doc-0", ["doc-0"], [None] * 3])
def test_within_names_a_document_for_each_query(engine, within):
    with INDEXES.build(engine).create() as index:
        index.add(chunks_of(3), np.eye(3))
        with pytest.raises(SearchError, match="within needs one document"):
            index.search(np.eye(2, 3), 1, within)


def test_no_queries_give_no_hits(engine):
    assert search(engine, chunks_of(3), np.eye(3), np.zeros((0, 3)), 5)[0].shape == (0, 5)


# ---------------------------------------------------------------- specs and folders


def test_the_spec_builds_the_engine_again():
    for spec in ENGINES:
        assert str(INDEXES.build(spec)) == spec
    assert INDEXES.names == ENGINES
    with pytest.raises(SpecError, match="did you mean 'qdrant'"):
        INDEXES.build("quadrant")


ODD = [
    chunk("a", 0, "plain"),
    chunk("\ud800", 3, "lone \udfff surrogate", "context \ud801"),
    chunk("\x00json:x", 0, "\x00json:not escaped\0"),
    chunk("123", 0, "number-like id"),
    chunk("c9b4a1f2-0000-4000-8000-000000000000", 0, "uuid-like id 👩‍🚀"),
    Chunk("a", (Span(0, 5), Span(90, 99)), "two spans"),
]


def test_a_closed_index_is_opened_again_with_its_chunks_and_gives_the_same_hits(tmp_path):
    engine, vectors = INDEXES.build("qdrant"), unit(np.random.default_rng(0).normal(size=(6, 8)))
    queries, within = vectors, [c.document_id for c in ODD]
    with engine.create(tmp_path / "new" / "index") as index:
        index.add(ODD, vectors)
        before = [index.search(queries, 3), index.search(queries, 3, within)]
    with engine.open(tmp_path / "new" / "index") as index:
        assert list(index.chunks) == ODD
        after = [index.search(queries, 3), index.search(queries, 3, within)]
    assert all((a == b).all() for one, two in zip(before, after, strict=True) for a, b in zip(one, two, strict=True))
    assert (after[1][0] == brute_force(ODD, vectors, queries, 3, within)).all()


def test_an_opened_index_takes_more_chunks(tmp_path):
    engine, chunks = INDEXES.build("qdrant"), chunks_of(1500)
    vectors = unit(np.random.default_rng(1).normal(size=(1500, 8)))
    with engine.create(tmp_path) as index:
        index.add(chunks[:1100], vectors[:1100])
    with engine.open(tmp_path) as index:
        index.add(chunks[1100:], vectors[1100:])
    with engine.open(tmp_path) as index:
        assert list(index.chunks) == chunks
        assert (index.search(vectors[:20], 9)[0] == brute_force(chunks, vectors, vectors[:20], 9)).all()


def test_a_finished_index_is_not_overwritten(tmp_path):
    engine = INDEXES.build("qdrant")
    with engine.create(tmp_path) as index:
        index.add(chunks_of(3), np.eye(3))
    with pytest.raises(SearchError, match="an index is there already"):
        engine.create(tmp_path)


KILLED = """
import os, sys, numpy as np
from pathlib import Path
from faircut.index import INDEXES
from faircut.records import Chunk, Span
index = INDEXES.build("qdrant").create(Path(sys.argv[1]))
index.add([Chunk("a", (Span(0, 1),), "x")], np.eye(1, 3))
os._exit(9)
"""


def test_an_index_whose_making_was_killed_is_refused_and_made_anew(tmp_path):
    engine = INDEXES.build("qdrant")
    assert subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False).returncode == 9
    with pytest.raises(SearchError, match="the index was not finished; create it again"):
        engine.open(tmp_path)
    with engine.create(tmp_path) as index:
        index.add(chunks_of(3), np.eye(3))
    with engine.open(tmp_path) as index:
        assert list(index.chunks) == chunks_of(3)


def test_an_index_left_by_an_error_does_not_count_as_finished(tmp_path):
    engine = INDEXES.build("qdrant")

    def fail():
        with engine.create(tmp_path) as index:
            index.add(chunks_of(3), np.eye(3))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    with pytest.raises(SearchError, match="not finished"):
        engine.open(tmp_path)


def test_a_folder_without_an_index_or_with_a_damaged_one_is_told(tmp_path):
    engine = INDEXES.build("qdrant")
    with pytest.raises(SearchError, match="there is no index"):
        engine.open(tmp_path)
    with engine.create(tmp_path) as index:
        index.add(chunks_of(3), np.eye(3))
    for content, said in (
        ("{", "cannot be read"),
        ('{"format": 99}', "another version"),
        ('{"format": 1, "chunks": 4}', "damaged"),
    ):
        (tmp_path / "index.json").write_text(content)
        with pytest.raises(SearchError, match=said):
            engine.open(tmp_path)
    with pytest.raises(SearchError, match="not kept on disk"):
        INDEXES.build("exact").open(tmp_path)


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(SearchError, match="cannot be written"):
        INDEXES.build("qdrant").create(tmp_path / "file" / "index")


def test_an_index_without_a_folder_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with INDEXES.build("qdrant").create() as index:
        index.add(chunks_of(3), np.eye(3))
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []
    forgotten = INDEXES.build("qdrant").create()
    forgotten.add(chunks_of(3), np.eye(3))
    del forgotten
    assert list(tmp_path.iterdir()) == []


def test_a_closed_index_says_so(tmp_path):
    index = INDEXES.build("qdrant").create(Path(tmp_path))
    index.add(chunks_of(3), np.eye(3))
    index.close()
    index.close()
    with pytest.raises(SearchError, match="closed"):
        index.search(np.eye(1, 3), 1)
    with pytest.raises(SearchError, match="closed"):
        index.add(chunks_of(3), np.eye(3))
