import sys

import numpy as np
import pytest

from faircut.embedding import EMBEDDERS
from faircut.embedding.late import Late
from faircut.embedding.minilm import Minilm, _load
from faircut.errors import EmbeddingError, SpecError
from faircut.records import Chunk, Document, Span

TEXTS = [
    "Short.", "Rivers carry stones to the sea.", "", "日本語。", "word " * 200, "Rivers carry sand to the sea.",
    "Fish live in rivers and in the sea.", "Stones become round on their way.",
]  # fmt: skip


def test_the_runtime_is_part_of_the_spec_and_of_the_fingerprint():
    embedder = EMBEDDERS.build("minilm(runtime=openvino)")
    assert str(embedder) == "minilm(runtime=openvino)"
    assert embedder.fingerprint != Minilm().fingerprint
    assert "openvino" not in Minilm().fingerprint  # caches made before there was a choice stay good
    with pytest.raises(SpecError, match="onnxruntime or openvino"):
        EMBEDDERS.build("minilm(runtime=other)")


def test_without_the_extra_the_error_names_what_to_install(minilm, monkeypatch):
    monkeypatch.setitem(sys.modules, "openvino", None)
    _load.cache_clear()
    with pytest.raises(EmbeddingError, match=r'pip install "faircut\[openvino\]"'):
        EMBEDDERS.build("minilm(runtime=openvino)").embed(["text"], "query")


@pytest.fixture(scope="module")
def other(minilm):
    pytest.importorskip("openvino", reason="the extra openvino is not installed")
    return EMBEDDERS.build("minilm(runtime=openvino)")


def test_vectors_are_those_of_the_other_runtime_up_to_the_last_digits(other, minilm):
    np.testing.assert_allclose(other.embed(TEXTS, "passage"), minilm.embed(TEXTS, "passage"), atol=2e-6)


def test_the_same_text_gives_the_same_bits_in_any_batch(other):
    together = other.embed(TEXTS, "passage")
    np.testing.assert_array_equal(np.concatenate([other.embed([text], "passage") for text in TEXTS]), together)


def test_late_pooling_runs_on_it(other):
    text = "Rivers carry stones to the sea. " * 20
    document = Document("d", text)
    chunks = [Chunk("d", (Span(a, a + 64),), text[a : a + 64]) for a in (0, 64, 320)]
    found = [Late(e).embed_chunks({"d": document}, chunks) for e in (other, Minilm())]
    np.testing.assert_allclose(*found, atol=2e-6)
