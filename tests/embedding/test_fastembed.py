import json
import shutil
import sys

import numpy as np
import pytest

from faircut.embedding import EMBEDDERS
from faircut.embedding.checks import OverlongWarning
from faircut.embedding.weights import minilm_files
from faircut.errors import EmbeddingError, SpecError

NAME = "sentence-transformers/all-MiniLM-L6-v2"
TEXTS = ["Cats and dogs.", "A longer text about rivers and stones.", "", "naïve \ud800", "日本語。", "Cats and dogs."]


def test_specs_print_as_they_parse_and_prefixes_are_those_of_the_family():
    spec = 'fastembed("BAAI/bge-small-en-v1.5", folder="a/b", passage_prefix="p: ")'
    embedder = EMBEDDERS.build(spec)
    assert str(embedder) == spec
    assert embedder.prefix("query").startswith("Represent this sentence")
    assert (embedder.prefix("passage"), embedder.prefix("sentence")) == ("p: ", "")
    with pytest.raises(SpecError, match="needs a model"):
        EMBEDDERS.build('fastembed("")')


def test_without_the_extra_the_error_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(EmbeddingError, match=r'pip install "faircut\[fastembed\]"'):
        EMBEDDERS.build('fastembed("some/model-without-the-extra")').embed(["text"], "query")


@pytest.fixture(scope="module")
def local(minilm, tmp_path_factory):
    """MiniLM through fastembed, from a folder as that library expects it."""
    pytest.importorskip("fastembed", reason="the extra fastembed is not installed")
    folder = tmp_path_factory.mktemp("minilm")
    shutil.copy(minilm_files().graph, folder / "model.onnx")
    shutil.copy(minilm_files().tokenizer, folder / "tokenizer.json")
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 256, "pad_token": "[PAD]"}))
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    return EMBEDDERS.build(f'fastembed("{NAME}", folder="{folder.as_posix()}")')


def test_the_same_model_through_fastembed_gives_the_vectors_of_minilm_in_any_batch(local, minilm):
    found = local.embed(TEXTS, "passage")
    np.testing.assert_allclose(found, minilm.embed(TEXTS, "passage"), atol=1e-5)
    np.testing.assert_array_equal(np.concatenate([local.embed([text], "passage") for text in TEXTS]), found)


def test_limits_lengths_and_overheads_are_the_models_own(local, minilm):
    assert (local.max_tokens, local.dimensions, local.overhead("passage")) == (256, 384, 2)
    assert local.tokenizer.count("tree " * 3000) == 3000
    with pytest.warns(OverlongWarning, match="1 of 1 texts"):
        cut = local.embed(["hello " * 300], "passage")
    np.testing.assert_allclose(cut, minilm.embed(["hello " * 254], "passage"), atol=1e-5)


def test_prefixes_are_embedded_and_counted(local, minilm):
    prefixed = EMBEDDERS.build(f'fastembed("{NAME}", folder="{local.folder}", query_prefix="query: ")')
    assert (prefixed.overhead("query"), prefixed.overhead("passage")) == (4, 2)
    expected = minilm.embed(["query: what is it?"], "passage")
    np.testing.assert_allclose(prefixed.embed(["what is it?"], "query"), expected, atol=1e-5)


def test_other_files_are_another_fingerprint(local, tmp_path):
    shutil.copytree(local.folder, tmp_path / "other")
    (tmp_path / "other" / "config.json").write_text('{"pad_token_id": 0, "other": 1}')
    other = EMBEDDERS.build(f'fastembed("{NAME}", folder="{(tmp_path / "other").as_posix()}")')
    assert other.fingerprint != local.fingerprint


def test_missing_folders_and_unknown_models_are_clear_errors(local, tmp_path):
    with pytest.raises(EmbeddingError, match="no folder"):
        EMBEDDERS.build(f'fastembed("{NAME}", folder="/no/such/folder")').embed(["text"], "query")
    with pytest.raises(EmbeddingError, match="cannot load 'no/such-model'"):
        EMBEDDERS.build(f'fastembed("no/such-model", folder="{local.folder}")').embed(["text"], "query")
