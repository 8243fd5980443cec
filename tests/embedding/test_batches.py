import numpy as np
import pytest

from faircut.embedding.batches import embed_in_batches
from faircut.embedding.checks import OverlongWarning
from faircut.errors import EmbeddingError

TEXTS = ["a b c", "a", "b c", "a b c", "", "c c", "a a a a a a a", "b", "a"]


class Counts:
    """A model of four words: a text's direction is how often each occurs in it. Remembers its batches."""

    dimensions = 4

    def __init__(self, batch_tokens=6, max_tokens=9):
        from tokenizers import Tokenizer
        from tokenizers.models import WordLevel
        from tokenizers.pre_tokenizers import WhitespaceSplit

        words = {"?": 0, "a": 1, "b": 2, "c": 3}
        self.tokenizer = Tokenizer(WordLevel(words, unk_token="?"))  # noqa: S106
        self.tokenizer.pre_tokenizer = WhitespaceSplit()
        self.batch_tokens, self.max_tokens, self.seen = batch_tokens, max_tokens, []

    def encode(self, texts):
        self.seen.append(texts)
        ids = [self.tokenizer.encode(text).ids[: self.max_tokens] or [0] for text in texts]
        counts = np.stack([np.bincount(row, minlength=4) for row in ids]).astype(np.float32)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)


def embed(texts, model, prefix="", progress=None):
    return embed_in_batches(texts, model, prefix, name="counts", progress=progress)


def test_each_text_is_computed_once_with_others_of_its_length_and_stands_where_it_was_asked_for():
    model, said = Counts(), []
    found = embed(TEXTS, model, progress=lambda *done: said.append(done))
    assert model.seen == [["a a a a a a a"], ["a b c"], ["b c", "c c"], ["a", "b"], [""]]
    np.testing.assert_array_equal(found, np.concatenate([embed([text], Counts()) for text in TEXTS]))
    assert said == [(1, 9), (3, 9), (5, 9), (8, 9), (9, 9)]


def test_a_batch_has_no_more_tokens_than_it_may_and_one_text_where_vectors_depend_on_their_batch():
    texts = ["a b", "b a", "a a", "b b", "c c", "a c", "b c"]
    model = Counts(batch_tokens=6)
    embed(texts, model)
    assert [len(batch) for batch in model.seen] == [3, 3, 1]
    alone = Counts(batch_tokens=0)
    np.testing.assert_array_equal(embed(texts, alone), embed(texts, Counts()))
    assert {len(batch) for batch in alone.seen} == {1}


def test_the_prefix_is_embedded_and_counted_and_what_is_not_seen_is_reported():
    with pytest.warns(OverlongWarning, match="counts sees 3 tokens of a text: 2 of 3 texts are longer"):
        found = embed(["b c", "b c", "c"], Counts(max_tokens=3), "a a ")
    np.testing.assert_allclose(found[0], np.array([0, 2, 1, 0]) / 5**0.5, atol=1e-6)


def test_no_text_has_no_vectors_of_the_right_width_and_wrong_vectors_are_refused():
    assert embed([], Counts()).shape == (0, 4)
    model = Counts()
    model.encode = lambda texts: np.zeros((len(texts), 4), dtype=np.float32)
    with pytest.raises(EmbeddingError, match="counts gave 1 of 1 vectors that are not of unit length"):
        embed(["a"], model)
