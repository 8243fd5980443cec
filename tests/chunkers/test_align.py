"""Pieces of any splitter find their place again."""

import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cpu_time import cpu_time
from faircut.chunkers.align import align
from faircut.records import Span


def spans(text: str, pieces: list[str]) -> list[tuple[int, int] | None]:
    return [None if s is None else (s.start, s.end) for s in align(text, pieces).spans]


def test_white_space_may_be_stripped_collapsed_or_changed():
    text = "One  two\r\n\r\nthree\u00a0four.\tFive"
    assert spans(text, ["One two", "three four.", "Five"]) == [(0, 8), (12, 23), (24, 28)]
    assert text[12:23] == "three\u00a0four."


def test_what_python_calls_white_space_is_what_the_alignment_leaves_out():
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    assert align("a" + every.replace("a", "") + "b", ["ab"]).unaligned == (0,)
    blank = "".join(c for c in every if c.isspace())
    assert spans(f"a{blank}b", ["ab"]) == [(0, len(blank) + 2)]


def test_repeated_text_is_found_at_the_right_repetition():
    text = "Yes. No. Yes. No. Yes."
    assert spans(text, ["Yes.", "No.", "Yes.", "No.", "Yes."]) == [(0, 4), (5, 8), (9, 13), (14, 17), (18, 22)]


def test_overlapping_windows_of_one_letter_are_found_at_their_own_places():
    text = "a" * 1000
    windows = [(i, min(i + 100, 1000)) for i in range(0, 1000, 75)]
    assert spans(text, [text[a:b] for a, b in windows]) == windows


def test_a_piece_that_the_splitter_invented_is_reported_and_the_rest_is_found():
    text = "The lease ends in May. The rent is due monthly. Chapter 2 begins here."
    found = align(text, ["The lease ends in May.", "Chapter 2", "The rent is due monthly.", "Chapter 2 begins here."])
    assert found.unaligned == (1,)
    assert [text[s.start : s.end] for s in found.found] == [
        "The lease ends in May.",
        "The rent is due monthly.",
        "Chapter 2 begins here.",
    ]


def test_text_that_was_left_out_makes_a_gap_and_no_guess():
    text = "Keep this one. Drop this one. Keep that one."
    assert spans(text, ["Keep this one.", "Keep that one.", "Add this one."]) == [(0, 14), (30, 44), None]


def test_pieces_out_of_order_are_reported():
    assert align("First part. Second part.", ["Second part.", "First part."]).unaligned == (1,)


def test_a_long_piece_out_of_order_is_found_when_it_stands_only_once():
    text = "The first of these sentences. The second of these sentences." + " Again and again it stands." * 2
    first, second, again = text[:29], text[30:60], "Again and again it stands."
    assert spans(text, [second, first]) == [(30, 60), (0, 29)]
    assert align(text, [second, again, again, again]).unaligned == (3,)


def test_a_stated_place_counts_only_for_a_piece_out_of_order_that_stands_there():
    text, pieces = "First part. Second part.", ["Second part.", "First part."]
    assert align(text, pieces, [None, 0]).spans == (Span(12, 24), Span(0, 11))
    assert align(text, pieces, [None, 5]).unaligned == (1,)
    assert align(text, pieces[::-1], [12, 0]).spans == (Span(0, 11), Span(12, 24))
    assert align(text, ["Second part.", " First part."], [12, 0]).unaligned == (1,)


def test_blank_pieces_have_no_place_and_are_not_missing():
    found = align("a b", ["a", " \n", "", "b"])
    assert found.spans == (Span(0, 1), None, None, Span(2, 3))
    assert found.unaligned == ()


@st.composite
def windows(draw):
    """A text over a small alphabet, so that it repeats itself, and windows that cover it with one overlap."""
    text = draw(st.text(alphabet="ab \n", min_size=1, max_size=200))
    size = draw(st.integers(1, 40))
    overlap = draw(st.integers(0, size - 1))
    places = [(i, min(i + size, len(text))) for i in range(0, len(text), size - overlap)]
    return text, places


@given(windows())
def test_every_piece_of_any_window_splitter_is_found_in_order_with_its_own_characters(case):
    text, places = case
    pieces = [text[a:b] for a, b in places]
    found = align(text, pieces)
    for piece, span in zip(pieces, found.spans, strict=True):
        if span is not None:
            assert "".join(text[span.start : span.end].split()) == "".join(piece.split())
    starts = [s.start for s in found.found]
    assert starts == sorted(set(starts))


@given(st.text(max_size=300), st.lists(st.integers(0, 300), max_size=10))
def test_pieces_that_tile_a_text_are_found_exactly(text, cuts):
    edges = sorted({0, len(text), *(c for c in cuts if c < len(text))})
    pieces = [text[a:b] for a, b in pairwise(edges)]
    for (a, b), span in zip(pairwise(edges), align(text, pieces).spans, strict=True):
        raw = text[a:b]
        start = a + len(raw) - len(raw.lstrip())
        assert span == (Span(start, a + len(raw.rstrip())) if raw.strip() else None)


@pytest.mark.parametrize("unit", ["word ", "ab", "日本"])
def test_a_megabyte_takes_little_more_than_its_share(unit):
    def seconds(length: int) -> float:
        text = "".join(f"{unit}{i}" for i in range(length // 8))
        pieces = [text[i : i + 500] for i in range(0, len(text), 400)]
        with cpu_time() as spent:
            aligned = align(text, pieces)
        assert aligned.unaligned == ()
        return spent[0]

    small = min(seconds(125_000) for _ in range(3))
    assert seconds(1_000_000) < 24 * small + 0.1
