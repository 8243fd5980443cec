import subprocess
import sys

import numpy as np
import pytest

from faircut.embedding import EMBEDDERS
from faircut.embedding.checks import OverlongWarning
from faircut.embedding.prefixes import FAMILIES, PRESETS, family_of
from faircut.errors import EmbeddingError, SpecError

ROLES = ("query", "passage", "sentence")


@pytest.mark.parametrize(
    ("model", "prefixes"),
    [
        ("intfloat/e5-small-v2", ("query: ", "passage: ", "query: ")),
        ("intfloat/multilingual-e5-large", ("query: ", "passage: ", "query: ")),
        ("/models/E5-Base-v2/", ("query: ", "passage: ", "query: ")),
        ("BAAI/bge-base-en-v1.5", ("Represent this sentence for searching relevant passages: ", "", "")),
        ("BAAI/bge-m3", ("", "", "")),
        ("thenlper/gte-small", ("", "", "")),
        ("nomic-ai/nomic-embed-text-v1.5", ("search_query: ", "search_document: ", "clustering: ")),
        ("Snowflake/snowflake-arctic-embed-s", ("Represent this sentence for searching relevant passages: ", "", "")),
        ("Snowflake/snowflake-arctic-embed-m-v2.0", ("query: ", "", "")),
    ],
)
def test_known_models_get_the_prefixes_of_their_cards(model, prefixes):
    embedder = EMBEDDERS.build(f'st("{model}")')
    assert tuple(embedder.prefix(role) for role in ROLES) == prefixes


def test_an_instruct_model_is_told_its_task():
    assert EMBEDDERS.build('st("intfloat/multilingual-e5-large-instruct")').prefix("query").startswith("Instruct: ")


def test_a_prefix_that_is_given_wins_the_empty_one_too():
    embedder = EMBEDDERS.build('st("intfloat/e5-small-v2", query_prefix="Q: ", passage_prefix="")')
    assert tuple(embedder.prefix(role) for role in ROLES) == ("Q: ", "", "query: ")


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_every_preset_is_a_spec_of_a_known_family_and_prints_as_it(preset):
    embedder = EMBEDDERS.build(preset.name)
    assert str(embedder) == preset.spec
    assert EMBEDDERS.build(str(embedder)) == embedder
    assert family_of(embedder.model) in FAMILIES


@pytest.mark.parametrize("spec", ["minilm", "minilm(max_tokens=512)", 'st("a/b", sentence_prefix="s: ")'])
def test_specs_print_as_they_parse(spec):
    assert str(EMBEDDERS.build(spec)) == spec


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("minilmm", "did you mean 'minilm'"),
        ("minilm(tokens=3)", "no parameter 'tokens'"),
        ('st("")', "needs a model"),
        ("st", "needs the parameter 'model'"),
        ('st("a/b", max_seq_length=1)', "at least 3"),
    ],
)
def test_a_wrong_spec_says_what_is_possible(spec, says):
    with pytest.raises(SpecError, match=says):
        EMBEDDERS.build(spec)


def test_without_the_extra_the_error_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(EmbeddingError, match=r'pip install "faircut\[sentence-transformers\]"'):
        EMBEDDERS.build('st("some/model-without-the-extra")').embed(["text"], "query")


def test_describing_an_embedder_imports_neither_torch_nor_onnxruntime():
    program = (
        "import sys; from faircut.embedding import EMBEDDERS; EMBEDDERS.build('e5-small'); EMBEDDERS.build('minilm')\n"
        "print({'torch', 'onnxruntime', 'onnx', 'tokenizers', 'sentence_transformers'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.fixture(scope="module")
def local(model_folder):
    """MiniLM through sentence-transformers, from its folder."""
    pytest.importorskip("sentence_transformers", reason="the extra sentence-transformers is not installed")
    return EMBEDDERS.build(f'st("{model_folder.as_posix()}")')


@pytest.mark.slow
def test_the_same_model_through_sentence_transformers_gives_the_vectors_of_minilm(local, minilm):
    texts = ["A first text.", "Another, longer text about rivers and stones.", "", "naïve café \ud800", "日本語。"]
    a, b = minilm.embed(texts, "passage"), local.embed(texts, "passage")
    assert (a * b).sum(axis=1).min() > 0.99999
    alone = np.concatenate([local.embed([text], "passage") for text in texts])
    np.testing.assert_allclose(alone, b, atol=1e-5)


@pytest.mark.slow
def test_limits_lengths_and_overheads_are_the_models_own(local, minilm):
    assert (local.max_tokens, local.dimensions, local.overhead("passage")) == (256, 384, 2)
    assert local.tokenizer.count("tree " * 3000) == 3000
    with pytest.warns(OverlongWarning, match="1 of 1 texts"):
        cut = local.embed(["hello " * 300], "passage")
    np.testing.assert_allclose(cut, minilm.embed(["hello " * 254], "passage"), atol=1e-5)


@pytest.mark.slow
def test_prefixes_are_embedded_and_counted(local, minilm):
    prefixed = EMBEDDERS.build(f'st("{local.model}", query_prefix="query: ", max_seq_length=100)')
    assert (prefixed.overhead("query"), prefixed.overhead("passage"), prefixed.max_tokens) == (4, 2, 100)
    expected = minilm.embed(["query: what is it?"], "passage")
    np.testing.assert_allclose(prefixed.embed(["what is it?"], "query"), expected, atol=1e-5)
    assert prefixed.fingerprint != local.fingerprint


@pytest.mark.slow
def test_more_than_the_models_positions_and_missing_models_are_clear_errors(local):
    with pytest.raises(EmbeddingError, match="512 positions"):
        EMBEDDERS.build(f'st("{local.model}", max_seq_length=600)').embed(["text"], "query")
    with pytest.raises(EmbeddingError, match="cannot load"):
        EMBEDDERS.build('st("/no/such/folder")').embed(["text"], "query")
