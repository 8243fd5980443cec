"""On the labelled corpora, with real vectors, the default engine gives the hits of the exact reference."""

import numpy as np
import pytest

from faircut.chunkers import Models, build
from faircut.documents import read_corpus
from faircut.embedding import EMBEDDERS
from faircut.embedding.cache import CachedEmbedder
from faircut.embedding.weights import cache_directory
from faircut.index import INDEXES
from faircut.questions import read_questions


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::faircut.errors.FaircutWarning")  # one blank evidence; texts above 256 tokens
@pytest.mark.parametrize("name", ["chroma", "covidqa", "contractnli_dev"])
def test_the_engine_gives_the_hits_of_the_reference_on_real_vectors(shared_data, tmp_path, name):
    documents = {d.id: d for d in read_corpus(shared_data / name / "corpus.jsonl.gz")}
    questions = read_questions(shared_data / name / "questions.jsonl.gz", documents)
    embedder = CachedEmbedder(EMBEDDERS.build("minilm"), cache_directory() / "vectors.sqlite")
    chunker, models = build("recursive"), Models.of(embedder)
    chunks = [chunk for document in documents.values() for chunk in chunker.chunk(document, models)]
    vectors = embedder.embed([c.embedded_text for c in chunks], "passage")
    queries = embedder.embed([q.text for q in questions], "query")
    within = [q.within for q in questions]
    found = []
    for engine in ("exact", "qdrant"):
        with INDEXES.build(engine).create(tmp_path / engine) as index:
            index.add(chunks, vectors)
            found.append(index.search(queries, 20, within))
    (positions, scores), (others, other_scores) = found
    assert np.array_equal(positions, others)
    assert np.array_equal(scores, other_scores)
