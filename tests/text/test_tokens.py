"""Token counts are exact for every tokenizer, on any text and any span of it."""

import json
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from cpu_time import cpu_time
from faircut.embedding.weights import minilm_files
from faircut.errors import EmbeddingError
from faircut.text.encoding import EncodingCounter
from faircut.text.graphemes import Graphemes
from faircut.text.tokens import CharacterCounter, WordCounter, load_tokenizer
from faircut.text.units import cumulative
from faircut.text.wordpiece import WordPieceCounter

MINILM = minilm_files().tokenizer
PIECES = [
    *(
        "the",
        "embeddings",
        "Straße",
        "unaffable",
        "naïve",
        "##ing",
        "x" * 99,
        "x" * 101,
        "aGVsbG8" * 20,
        "3.14",
        "U.S.",
    ),
    *("e\u0301", "\u0301", "!\u0301", "İ", "ΣΑΣ", "ﬁ", "≮", "한국어", "각", "日本語", "漢字", "中\u0301"),
    *("\uf900", "\U00020000", "สวัสดีครับ", "مرحبا", "नमस्ते", "क्ष", "👨‍👩‍👧", "🇩🇪🇫🇷"),
    *(
        "\u200b",
        "\u200d",
        "\ufeff",
        "\u00ad",
        "\u0085",
        "\x1c",
        "\x1f",
        "\x0b",
        "\x0c",
        "\x00",
        "\x7f",
        "\ufffd",
        "\ud800",
        "\udfff",
    ),
    *("\u00a0", "\u3000", "\u2028", "\u2029", " ", "  ", "\n", "\r\n", "\t", ".", ",", "'", "-", "/"),
    *("“", "”", "—", "…", "。", "，", "¿", "§"),
    *("[SEP]", "[SEP", "SEP]", "[", "]", "[UNK]", "[CLS][SEP]", "[[MASK]]"),
]
ANY = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=40),
    st.lists(st.one_of(st.sampled_from(PIECES), st.characters(exclude_categories=())), max_size=25).map("".join),
)


@pytest.fixture(scope="module")
def minilm() -> WordPieceCounter:
    counter = load_tokenizer(MINILM)
    assert isinstance(counter, WordPieceCounter)
    return counter


@pytest.fixture(scope="module")
def reference():
    """The tokenizer's own count, with unknown tokens by their characters, in code of its own."""
    tokenizer = Tokenizer.from_file(str(MINILM))
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def count(text: str) -> int:
        clean = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
        encoding = tokenizer.encode(clean, add_special_tokens=False)
        pairs = zip(encoding.tokens, encoding.offsets, strict=True)
        return sum(end - start if piece == "[UNK]" else 1 for piece, (start, end) in pairs)

    return count


def test_a_truncating_tokenizer_file_counts_the_whole_text(minilm):
    assert json.loads(MINILM.read_text())["truncation"]["max_length"] == 128
    assert minilm.count("token " * 15489) == 15489
    assert minilm.count("one") == 1, "and is not padded"


def test_a_word_beyond_the_vocabulary_counts_by_its_characters(minilm):
    assert minilm.count("aGVsbG8g" * 25_000) == 200_000
    assert minilm.count("x" * 101) == 101
    assert minilm.index("ok " + "x" * 101).count(0, 60) == 1 + minilm.count("x" * 57)


def test_special_tokens_in_the_text_are_matched_before_punctuation_splits_them(minilm, reference):
    assert minilm.count("a [SEP] b") == reference("a [SEP] b") == 3
    index = minilm.index("a [SEP] b")
    assert [index.count(0, end) for end in (2, 3, 6, 7, 9)] == [1, 2, 3, 2, 3]


@given(text=ANY)
@settings(max_examples=400, deadline=None)
def test_the_count_of_any_text_is_the_tokenizers_own(minilm, reference, text):
    assert minilm.index(text).total == minilm.count(text) == reference(text)
    assert minilm.count_many([text, "and", text]) == [reference(text), 1, reference(text)]


@given(text=ANY, data=st.data())
@settings(max_examples=400, deadline=None)
def test_the_count_of_any_span_is_that_of_the_string(minilm, reference, text, data):
    index = minilm.index(text)
    for _ in range(4):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, len(text)))
        assert index.count(start, end) == reference(text[start:end])


@given(text=ANY, data=st.data())
@settings(max_examples=300, deadline=None)
def test_the_furthest_end_fits_and_no_later_word_end_does(minilm, reference, text, data):
    index, graphemes = minilm.index(text), Graphemes(text)
    start, limit = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 30))
    end = data.draw(st.integers(start, len(text)))
    cut = index.furthest(start, limit, end)
    assert start <= cut <= end
    assert cut == start or reference(text[start:cut]) <= limit
    assert cut in (start, end) or graphemes.is_boundary(cut)
    assert cut == end or reference(text[start:end]) > limit or len(text) > 100  # very long words are read in part
    spaces = [p for p in range(cut + 1, end) if text[p] in " \n\t" and graphemes.is_boundary(p)]
    assert not [p for p in spaces if text[cut:p].strip() and reference(text[start:p]) <= limit]


def test_inside_a_word_the_furthest_end_is_the_last_token_that_fits(minilm):
    text = "see unaffable tokenization"
    ends = [minilm.index(text).furthest(0, limit) for limit in range(1, 8)]
    assert [text[:end] for end in ends][:4] == ["see ", "see una", "see unaffa", "see unaffable "]


def test_every_character_of_unicode_is_split_as_the_tokenizer_splits_it(minilm, reference):
    for block in range(0, 0x110000, 0x8000):
        text = " ".join(f"a{chr(code)}b" for code in range(block, block + 0x8000, 7))
        assert minilm.index(text).total == reference(text), hex(block)


@pytest.mark.slow
def test_every_single_character_of_unicode_counts_as_in_the_tokenizer(minilm, reference):
    for block in range(0, 0x110000, 0x1000):
        text = "\n".join(f"a{chr(code)}b {chr(code)}.{chr(code)}" for code in range(block, block + 0x1000))
        index, start = minilm.index(text), 0
        if index.total == reference(text):
            continue
        for line in text.split("\n"):
            assert index.count(start, start + len(line)) == reference(line), ascii(line)
            start += len(line) + 1


def test_counts_at_many_places_at_once_equal_single_counts(minilm):
    text = "Where do I cut my documents? 我在哪里切？ It matters.\n\nOr not [SEP] at all."
    places = [0, 6, 28, 29, 36, 37, 48, len(text)]
    assert cumulative(minilm.index(text), places) == [minilm.count(text[:p]) for p in places]


def test_a_block_edge_splits_no_word_and_no_added_token(minilm, reference):
    text = "un" * 40_000 + " [SEP]x " + "embeddings [MASK] " * 8_000
    index = minilm.index(text)
    assert index.total == reference(text)
    assert index.count(79_990, 80_020) == reference(text[79_990:80_020])


def test_indexing_is_linear_and_needs_less_than_five_bytes_a_character(minilm):
    sentence = "Chunk boundaries matter less than most people believe; sizes matter more (see table 3). "
    minilm.index(sentence)

    def seconds(text: str) -> float:
        times = []
        for _ in range(3):
            with cpu_time() as spent:
                minilm.index(text)
            times += spent
        return min(times)

    assert seconds(sentence * 24_000) <= 24 * seconds(sentence * 3_000)
    text = sentence * 12_000
    tracemalloc.start()
    minilm.index(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 6 * len(text) + 2_000_000  # a block of words and the word table are the constant part


# ---------------------------------------------------------------- other tokenizers

CORPUS = [
    "Cut where meaning turns.",
    "Sizes matter; 3.14 and the naïve café.",
    "def f(x): return x",
    "日本語のテキスト",
] * 5


@pytest.fixture(scope="module")
def byte_level(tmp_path_factory) -> EncodingCounter:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(CORPUS, trainer)
    return saved(tokenizer, tmp_path_factory)


@pytest.fixture(scope="module")
def unigram(tmp_path_factory) -> EncodingCounter:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    unknown = "<unk>"
    trainer = trainers.UnigramTrainer(vocab_size=80, special_tokens=[unknown], unk_token=unknown, show_progress=False)
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.enable_truncation(5)
    return saved(tokenizer, tmp_path_factory)


def saved(tokenizer: Tokenizer, tmp_path_factory) -> EncodingCounter:
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    tokenizer.save(str(path))
    counter = load_tokenizer(path)
    assert isinstance(counter, EncodingCounter)
    return counter


@pytest.mark.parametrize("kind", ["byte_level", "unigram"])
@given(text=ANY, data=st.data())
@settings(max_examples=100, deadline=None)
def test_other_tokenizers_count_spans_as_strings_and_find_ends_that_fit(request, kind, text, data):
    counter = request.getfixturevalue(kind)
    index = counter.index(text)
    assert index.total == counter.count(text) == counter.count_many([text])[0]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    assert index.count(start, end) == counter.count(text[start:end])
    limit = data.draw(st.integers(0, 20))
    cut = index.furthest(start, limit, end)
    assert start <= cut <= end
    assert cut == start or counter.count(text[start:cut]) <= limit
    assert cut in (start, end) or Graphemes(text).is_boundary(cut)


def test_other_tokenizers_use_the_whole_limit_on_plain_text(byte_level):
    text = "Cut where meaning turns. Sizes matter. " * 30
    index = byte_level.index(text)
    cut = index.furthest(0, 50)
    assert byte_level.count(text[:cut]) in (49, 50)


def test_an_unknown_run_of_a_unigram_model_counts_by_its_characters(unigram):
    assert unigram.count("ЖЖЖЖЖЖЖЖ") >= 8
    assert unigram.count("Cut where meaning turns. " * 10) > 5, "and truncation is off"


# ---------------------------------------------------------------- counters without a tokenizer


@given(text=ANY, data=st.data())
@settings(max_examples=200, deadline=None)
def test_words_are_those_of_split_and_characters_are_code_points(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    limit = data.draw(st.integers(0, 10))
    for counter, length in ((WordCounter(), lambda s: len(s.split())), (CharacterCounter(), len)):
        index = counter.index(text)
        assert index.total == counter.count(text) == length(text)
        assert index.count(start, end) == length(text[start:end])
        cut = index.furthest(start, limit, end)
        assert start <= cut <= end
        assert length(text[start:cut]) <= limit
        assert cut in (start, end) or length(text[start : cut + 1]) > limit


def test_a_file_that_is_no_tokenizer_is_named_in_the_error(tmp_path):
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(EmbeddingError, match=r"tokenizer\.json is not a tokenizer"):
        load_tokenizer(tmp_path / "tokenizer.json")
    with pytest.raises(EmbeddingError, match="cannot read the tokenizer"):
        load_tokenizer(tmp_path / "missing.json")


def test_the_name_holds_the_hash_of_the_file(minilm):
    assert minilm.name == "wordpiece-be50c3628f2b"
    assert load_tokenizer(MINILM, name="minilm").name == "minilm-be50c3628f2b"
