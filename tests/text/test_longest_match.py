"""Parts of long words are counted as the tokenizer would, and without asking it."""

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from faircut.embedding.weights import minilm_files
from faircut.text.tokens import load_tokenizer

MINILM = load_tokenizer(minilm_files().tokenizer)
LETTERS = ["QmFzZTY0", "unbelievable", "éßİıÅﬁẞ", "สวัสดีครับ", "नमस्ते", "한국어", "👨‍👩‍👧‍👦🇩🇪", "e\u0301\u0328"]
LETTERS += ["\ud800a\x00\u200b", "a\u302e\u302f\u0301", "ΣΑΣ", "\u0600\u0627\u0651"]
WORDS = st.sampled_from(LETTERS).flatmap(lambda letters: st.text(letters, min_size=1, max_size=220))


@given(word=st.one_of(WORDS, st.text(st.characters(categories=["L", "N", "M", "Cf", "Cs", "So"]), max_size=120)))
@example("x" * 100)
@example("x" * 101)
@example("\u0301" + "x" * 101 + "\u0301")
@example("한" * 34)
@settings(max_examples=600, deadline=None)
def test_a_part_of_a_word_has_the_tokenizers_own_count(word):
    assert MINILM.count_part(word) == MINILM.encoding.count(word)


@given(word=st.text("QmFzZTY0unbelivab9", min_size=1, max_size=99))
@settings(max_examples=200, deadline=None)
def test_the_tokens_of_a_part_end_where_the_tokenizers_do(word):
    assert MINILM.match.ends(word) == [end for _, end in MINILM.encoding.encode(word).offsets]


@pytest.mark.parametrize("word", ["tokens\u0301", "a" * 101, "SEP]", "中"])
def test_where_places_could_move_or_the_word_is_unknown_there_are_no_ends(word):
    assert MINILM.match.ends(word) is None


@given(text=st.text("QmFz0", min_size=130, max_size=260), start=st.integers(0, 120), limit=st.integers(0, 130))
@settings(max_examples=100, deadline=None)
def test_no_further_place_inside_a_long_word_is_within_the_limit(text, start, limit):
    index = MINILM.index(text)
    place = index.furthest(start, limit)
    assert index.count(start, place) <= limit
    ends = [start + end for end in MINILM.match.ends(text[start : start + 100])]
    ends += range(start + 101, len(text) + 1)
    assert all(index.count(start, end) > limit for end in ends if end > place)


def test_windows_over_a_word_without_spaces_cost_less_than_the_encoding_of_each():
    text = "QmFzZTY0IGlzIGxvbmc" * 400
    index, parts = MINILM.index(text), [(at, at + 90) for at in range(0, 6_000, 30)]

    def seconds(count):
        begin = time.process_time()
        counts = [count(*part) for part in parts]
        return time.process_time() - begin, counts

    index.count(3, 95)  # what is built once is not measured
    (fast, counts), (slow, expected) = (
        min(seconds(count) for _ in range(3))
        for count in (index.count, lambda start, end: MINILM.encoding.count(text[start:end]))
    )
    assert counts == expected
    assert fast < 0.8 * slow
