import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faircut.embedding.checks import OverlongWarning
from faircut.embedding.minilm import Minilm
from faircut.errors import FaircutWarning, SpecError

CARD = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
TEXTS = [
    *CARD, "", "x", "Grüße aus Köln", "日本語のテキスト。", "word " * 40, "tab\tand\nline\r\n", "[CLS] literal [SEP]",
    "The quick brown fox jumps over the lazy dog.", "a\u0000b", "e\u0301 combining", "🙂🙃 emoji", "3.14159 " * 30,
    "Payment is due within thirty days of the invoice date.", "Payment is due within ninety days of the invoice date.",
]  # fmt: skip


def test_the_model_cards_similarities_hold_to_four_digits(minilm):
    a, b, c = minilm.embed(CARD, "sentence")
    assert [f"{x:.4f}" for x in (a @ b, a @ c, b @ c)] == ["0.6660", "0.1046", "0.1411"]


def test_the_graph_computes_what_a_padded_and_masked_bert_in_numpy_computes(minilm, model_folder):
    texts = ["A short one.", "A much longer sentence, so that the short one has to be padded.", "Middle length here."]
    np.testing.assert_allclose(minilm.embed(texts, "passage"), _masked_reference(texts, model_folder), atol=1e-5)


def _masked_reference(texts, folder):
    """Devlin et al. 2019 in float64, with padding and mask: independent of the graph under test."""
    from safetensors.numpy import load_file
    from scipy.special import erf, softmax
    from tokenizers import Tokenizer

    w = {k: v.astype(np.float64) for k, v in load_file(folder / "model.safetensors").items() if v.dtype == np.float32}
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.enable_padding()
    encoded = tokenizer.encode_batch(texts)
    ids, mask = (np.array([getattr(e, part) for e in encoded]) for part in ("ids", "attention_mask"))

    def linear(x, name):
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def norm(x, name):
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        return scaled * w[f"{name}.weight"] + w[f"{name}.bias"]

    def heads(x):
        return x.reshape(*x.shape[:2], 12, 32).transpose(0, 2, 1, 3)

    e = "embeddings"
    x = w[f"{e}.word_embeddings.weight"][ids] + w[f"{e}.position_embeddings.weight"][: ids.shape[1]]
    x = norm(x + w[f"{e}.token_type_embeddings.weight"][0], f"{e}.LayerNorm")
    for layer in range(6):
        p = f"encoder.layer.{layer}"
        q, k, v = (heads(linear(x, f"{p}.attention.self.{part}")) for part in ("query", "key", "value"))
        scores = q @ k.swapaxes(2, 3) / np.sqrt(32) - 1e9 * (1 - mask[:, None, None, :])
        mixed = (softmax(scores, axis=-1) @ v).transpose(0, 2, 1, 3).reshape(x.shape)
        x = norm(x + linear(mixed, f"{p}.attention.output.dense"), f"{p}.attention.output.LayerNorm")
        wide = linear(x, f"{p}.intermediate.dense")
        wide = wide * (1 + erf(wide / np.sqrt(2))) / 2
        x = norm(x + linear(wide, f"{p}.output.dense"), f"{p}.output.LayerNorm")
    pooled = (x * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
    return pooled / np.linalg.norm(pooled, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def alone(minilm):
    return {text: minilm.embed([text], "passage")[0].tobytes() for text in TEXTS}


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=60))
def test_a_text_has_the_same_bits_whatever_its_batch(minilm, alone, batch):
    vectors = minilm.embed(batch, "passage")
    assert [v.tobytes() for v in vectors] == [alone[text] for text in batch]


@pytest.mark.parametrize("words", [1, 2, 3, 6, 11, 30, 62, 127, 253])
def test_texts_of_equal_length_have_the_same_bits_alone_and_together(minilm, words):
    vocabulary = ["tree", "house", "river", "stone", "light", "paper", "glass", "water"]
    count = min(40, 700 // words + 2)
    texts = [
        " ".join(vocabulary[(i * 3 + j * (i + 1)) % 8] for j in range(words)) + "." * (i == 0) for i in range(count)
    ]
    together = minilm.embed(texts, "passage")
    some = range(0, count, 1 + count // 5)
    assert all(minilm.embed([texts[i]], "passage")[0].tobytes() == together[i].tobytes() for i in some)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system cannot bind a process to one core")
def test_the_bits_do_not_depend_on_the_number_of_cores(minilm):
    program = (
        "import os, sys; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "from faircut.embedding.minilm import Minilm\n"
        f"sys.stdout.buffer.write(Minilm().embed({TEXTS!r}, 'passage').tobytes())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout == minilm.embed(TEXTS, "passage").tobytes()


def test_the_order_is_kept_and_equal_texts_get_equal_vectors(minilm):
    texts = [CARD[2], "long " * 50, CARD[0], CARD[2], "", CARD[0]]
    vectors = minilm.embed(texts, "query")
    assert vectors.shape == (6, 384)
    assert vectors.dtype == np.float32
    assert np.array_equal(vectors[0], vectors[3])
    assert np.array_equal(vectors[2], vectors[5])
    np.testing.assert_array_equal(vectors[1], minilm.embed([texts[1]], "query")[0])


def test_progress_counts_every_text_once_and_ends_at_all(minilm):
    seen = []
    texts = [*TEXTS, CARD[0], CARD[0]]
    minilm.embed(texts, "passage", progress=lambda done, count: seen.append((done, count)))
    dones = [done for done, _ in seen]
    assert dones == sorted(set(dones))
    assert seen[-1] == (len(texts), len(texts))


def test_text_beyond_the_limit_is_cut_as_the_model_does_and_reported_once_with_counts(minilm):
    long = "hello " * 300
    with pytest.warns(OverlongWarning) as caught:
        vectors = minilm.embed([long, "short", long], "passage")
    assert len(caught) == 1
    message = str(caught[0].message)
    assert "2 of 3 texts" in message
    assert "302" in message
    assert f"{2 * 46} of {2 * 302 + 3} tokens" in message
    np.testing.assert_array_equal(vectors[0], minilm.embed(["hello " * 254], "passage")[0])


def test_the_limit_can_be_raised_to_512_tokens(minilm):
    long = "hello " * 300 + "goodbye"
    with warnings.catch_warnings():
        warnings.simplefilter("error", FaircutWarning)
        whole = Minilm(max_tokens=512).embed([long], "passage")
    with pytest.warns(OverlongWarning):
        cut = minilm.embed([long], "passage")
    assert not np.allclose(whole, cut, atol=1e-4)


def test_words_after_the_128th_token_are_seen_and_counted(minilm):
    """The tokenizer is saved with a truncation and a padding of 128 tokens."""
    start = "tree " * 150
    near, far = minilm.embed([start + "river " * 80, start + "bank money loan " * 26], "passage")
    assert near @ far < 0.95
    assert minilm.tokenizer.count("tree " * 3000) == 3000
    assert minilm.tokenizer.count("tree") == 1


def test_no_text_gives_no_vectors(minilm):
    assert minilm.embed([], "query").shape == (0, 384)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(st.characters(), max_size=40), min_size=1, max_size=4))
def test_any_unicode_text_gets_a_finite_unit_vector(minilm, texts):
    vectors = minilm.embed([*texts, "lone \ud800 surrogate\x00"], "passage")
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize(("wrong", "found"), [("one text", "str"), (b"bytes", "bytes"), (["a", None], "NoneType")])
def test_what_is_not_a_list_of_texts_is_a_type_error_that_says_so(minilm, wrong, found):
    with pytest.raises(TypeError, match=found):
        minilm.embed(wrong, "passage")


@pytest.mark.parametrize("limit", [0, 2, 513])
def test_an_impossible_limit_is_refused_when_built(limit):
    with pytest.raises(SpecError, match="between 3 and 512"):
        Minilm(max_tokens=limit)


def test_the_fingerprint_changes_with_the_limit_and_needs_no_weights(monkeypatch, tmp_path):
    monkeypatch.setenv("FAIRCUT_CACHE", str(tmp_path))
    assert Minilm().fingerprint != Minilm(max_tokens=512).fingerprint
    assert list(tmp_path.iterdir()) == []


def test_overhead_is_what_the_tokenizer_adds(minilm):
    assert minilm.prefix("query") == ""
    assert minilm.overhead("passage") == 2
