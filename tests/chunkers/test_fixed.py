"""Fixed windows: of tokens, words or characters, with real overlap, whatever the text says."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from invariants import MODELS, SIZES, TEXTS, check, length_of, shared

from faircut.chunkers.fixed import Fixed
from faircut.errors import SpecError
from faircut.records import Document
from faircut.specs import Registry, Size, parse_spec

REGISTRY = Registry("chunker", (Fixed,))


def cut(chunker: Fixed, text: str) -> list[str]:
    return [chunk.text for chunk in chunker.chunk(Document("d", text), MODELS)]


@given(text=TEXTS, size=SIZES, part=st.integers(0, 9), at=st.sampled_from(["anywhere", "space"]))
@settings(max_examples=300, deadline=None)
def test_windows_are_verbatim_complete_and_within_the_size(text, size, part, at):
    chunker = Fixed(size, Size(size.amount * part // 10, size.unit), at)
    document = Document("d", text)
    chunks = chunker.chunk(document, MODELS)
    check(document, chunks, size)
    assert chunks == chunker.chunk(document, MODELS)


def test_windows_of_words_have_the_size_and_share_the_overlap():
    words = [f"w{i}" for i in range(100)]
    windows = cut(Fixed(Size(40, "w"), Size(10, "w")), " ".join(words))
    assert [w.split() for w in windows] == [words[0:40], words[30:70], words[60:100]]


def test_windows_of_characters_end_at_the_last_space_or_anywhere():
    text = "the quick brown fox jumps"
    assert cut(Fixed(Size(12, "c")), text) == ["the quick br", "own fox jump", "s"]
    assert cut(Fixed(Size(12, "c"), at="space"), text) == ["the quick", "brown fox", "jumps"]


def test_windows_of_tokens_fill_the_ceiling_with_the_special_tokens_counted():
    text = "Cut where meaning turns, or where the window ends. " * 60
    chunks = Fixed(Size(66, "t")).chunk(Document("d", text), MODELS)
    assert {length_of(Size(66), c.text) for c in chunks[:-1]} == {66}


@pytest.mark.parametrize("spec", ["fixed(64t, overlap=16t)", "fixed(64w, overlap=16w)", "fixed(200c, overlap=50c)"])
def test_consecutive_windows_share_the_asked_overlap(spec):
    chunker = REGISTRY.build(spec)
    text = "Tokenization splits unbelievably long words, sentences and whole paragraphs of prose. " * 40
    chunks = chunker.chunk(Document("d", text), MODELS)
    overhead = MODELS.overhead if chunker.size.unit == "t" else 0
    amounts = [length_of(chunker.size, shared(a, b)) - overhead for a, b in pairwise(chunks)]
    slack = 1 if chunker.size.unit == "c" else 0  # a window that would begin with a space begins after it
    assert len(amounts) > 5
    assert all(chunker.overlap.amount - slack <= a <= chunker.overlap.amount for a in amounts)


PROSE = "The quick brown fox jumps over a lazy dog. Pack my box, with five  dozen liquor jugs. " * 6


@pytest.mark.parametrize("overlap", [1, 7, 13, 17, 18, 19])
def test_white_space_makes_the_overlap_smaller_by_what_it_needs_and_no_more(overlap):
    chunks = Fixed(Size(20, "c"), Size(overlap, "c")).chunk(Document("d", PROSE), MODELS)
    check(Document("d", PROSE), chunks, Size(20, "c"))
    for before, after in pairwise(chunks):
        end = before.spans[-1].end
        blank = len(PROSE[end:]) - len(PROSE[end:].lstrip())
        room = min(overlap, 20 - blank - 1)  # with more, the next character would be above the size
        assert len(PROSE[end - room : end].lstrip()) <= len(shared(before, after)) <= overlap


def test_windows_that_end_at_spaces_overlap_as_far_as_a_whole_word_fits_behind():
    chunks = cut(Fixed(Size(20, "c"), Size(19, "c"), at="space"), PROSE)
    words = set(PROSE.split())
    assert all(set(chunk.split()) <= words for chunk in chunks), "no word is cut"
    assert all(after.split()[0] in before.split() for before, after in pairwise(chunks)), "none stands apart"


def test_one_word_of_200_kb_is_cut_and_nothing_is_lost():
    text = "aGVsbG8gd29ybGQ" * 13_654
    for spec in ("fixed(256t, overlap=32t)", "fixed(500c, at=space)"):
        chunker = REGISTRY.build(spec)
        document = Document("d", text)
        check(document, chunker.chunk(document, MODELS), chunker.size)


def test_a_long_word_after_a_space_does_not_stop_windows_that_end_at_spaces():
    text = "a " + "b" * 50 + " c d"
    chunker = Fixed(Size(10, "c"), Size(8, "c"), at="space")
    document = Document("d", text)
    chunks = chunker.chunk(document, MODELS)
    check(document, chunks, chunker.size)
    assert len(chunks) < len(text)


def test_a_grapheme_above_the_size_is_cut_between_its_code_points_and_the_size_holds():
    assert cut(Fixed(Size(3, "c")), "ab👨‍👩‍👧‍👦cd") == ["ab", "👨\u200d👩", "\u200d👧\u200d", "👦cd"]


@pytest.mark.parametrize("text", ["", " \n\t\u3000\u0085"])
def test_an_empty_or_blank_document_gives_no_chunks(text):
    assert cut(Fixed(), text) == []


@pytest.mark.parametrize("value", [None, b"text", 5, "text"])
def test_what_is_not_a_document_is_refused(value):
    with pytest.raises(TypeError, match="cuts a Document, found"):
        Fixed().chunk(value, MODELS)


@pytest.mark.parametrize(
    ("size", "overlap", "reason"),
    [
        (Size(0, "w"), None, "size must be at least 1w, found 0w"),
        (Size(-5, "t"), None, "at least 1t, found -5t"),
        (512, None, "size must be a size such as 512t"),
        (Size(10, "w"), Size(10, "w"), "overlap must be below the size 10w"),
        (Size(10, "w"), Size(-1, "w"), "overlap must be at least 0w"),
        (Size(10, "w"), 1.5, "overlap must be a size"),
        (Size(1.5, "w"), None, "size must be a size"),
        (Size(10, "w"), Size(2, "t"), "need one unit; write for example 2w"),
    ],
)
def test_a_wrong_size_or_overlap_is_refused_when_built(size, overlap, reason):
    with pytest.raises(SpecError, match=reason):
        Fixed(size, overlap)


def test_a_wrong_place_to_cut_is_refused():
    with pytest.raises(SpecError, match="anywhere or space"):
        Fixed(at="word")  # type: ignore[arg-type]


def test_a_size_that_the_special_tokens_use_up_is_refused_with_the_reason():
    with pytest.raises(SpecError, match="adds 2 tokens"):
        Fixed(Size(2, "t")).chunk(Document("d", "text"), MODELS)


@pytest.mark.parametrize("spec", ["fixed", "fixed(overlap=64w)", "fixed(size=500c, at=space)"])
def test_the_name_builds_it_again(spec):
    assert str(REGISTRY.build(spec)) == spec
    assert REGISTRY.build(parse_spec(spec)) == REGISTRY.build(str(REGISTRY.build(spec)))
