import sys

import numpy as np
import pytest

from faircut.embedding import EMBEDDERS
from faircut.embedding.checks import OverlongWarning
from faircut.errors import EmbeddingError, FaircutWarning, SpecError

WORDS = ["river", "stone", "sea", "fish", "round", "large"]


def test_specs_print_as_they_parse_and_wrong_ones_say_why():
    spec = 'model2vec("minishlab/potion-base-8M", max_length=100)'
    assert str(EMBEDDERS.build(spec)) == spec
    with pytest.raises(SpecError, match="needs a model"):
        EMBEDDERS.build('model2vec("")')
    with pytest.raises(SpecError, match="at least 1"):
        EMBEDDERS.build('model2vec("a/b", max_length=0)')


def test_without_the_extra_the_error_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "model2vec", None)
    with pytest.raises(EmbeddingError, match=r'pip install "faircut\[model2vec\]"'):
        EMBEDDERS.build('model2vec("some/model-without-the-extra")').embed(["text"], "query")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of six words, as the library itself saves it."""
    model2vec = pytest.importorskip("model2vec", reason="the extra model2vec is not installed")
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    tokenizer = Tokenizer(WordLevel({word: n for n, word in enumerate(["[UNK]", *WORDS])}, unk_token="[UNK]"))  # noqa: S106
    tokenizer.pre_tokenizer = Whitespace()
    vectors = np.random.default_rng(0).normal(size=(len(WORDS) + 1, 5)).astype(np.float32)
    target = tmp_path_factory.mktemp("model")
    model2vec.StaticModel(vectors, tokenizer).save_pretrained(target)
    np.save(target / "vectors.npy", vectors)
    return target


@pytest.fixture
def build(folder):
    return lambda more="": EMBEDDERS.build(f'model2vec("{folder.as_posix()}"{more})')


def test_a_vector_is_the_mean_of_its_tokens_at_unit_length_whatever_its_batch(folder, build):
    table = np.load(folder / "vectors.npy")
    texts = ["river stone", "sea", "fish fish round", "river stone"]
    mean = np.stack([table[[1 + WORDS.index(w) for w in text.split()]].mean(axis=0) for text in texts])
    found = build().embed(texts, "passage")
    np.testing.assert_allclose(found, mean / np.linalg.norm(mean, axis=1, keepdims=True), atol=1e-6)
    np.testing.assert_array_equal(np.concatenate([build().embed([t], "query") for t in texts]), found)
    assert (build().dimensions, build().overhead("query"), build().prefix("query")) == (5, 0, "")


def test_long_texts_are_cut_by_tokens_never_by_characters_and_reported(build):
    long = "river " * 30 + "stone " * 30
    with pytest.warns(OverlongWarning, match="1 of 1 texts"):
        cut = build(", max_length=30").embed([long], "passage")
    np.testing.assert_allclose(cut, build().embed(["river"], "passage"), atol=1e-6)
    spaced = f"river{' ' * 5000}stone"
    np.testing.assert_allclose(
        build(", max_length=30").embed([spaced], "query"), build().embed(["river stone"], "query"), atol=1e-6
    )


def test_texts_without_a_known_token_have_one_vector_and_are_reported(build):
    with pytest.warns(FaircutWarning, match="no token of 2 of 3 texts"):
        found = build().embed(["???", "sea", ""], "passage")
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_allclose((found * found).sum(axis=1), 1, atol=1e-6)


def test_weights_and_limits_are_part_of_the_fingerprint_and_counts_are_the_tokenizers(folder, build, tmp_path):
    from model2vec import StaticModel

    other = StaticModel.from_pretrained(folder, force_download=False)
    other.embedding = other.embedding + 1
    other.save_pretrained(tmp_path)
    prints = {
        build().fingerprint,
        build(", max_length=9").fingerprint,
        EMBEDDERS.build(f'model2vec("{tmp_path.as_posix()}")').fingerprint,
    }
    assert len(prints) == 3
    assert build().tokenizer.count("river sea " * 600) == 1200
    assert build().max_tokens == 512


def test_a_model_that_is_not_there_is_a_clear_error(folder, tmp_path):
    with pytest.raises(EmbeddingError, match="cannot load"):
        EMBEDDERS.build(f'model2vec("{tmp_path.as_posix()}")').embed(["text"], "query")
