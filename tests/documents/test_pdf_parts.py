"""The pieces of the PDF reader that need no file: right-to-left lines, divided words, list marks."""

import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faircut.documents.pdf_bidi import logical_order
from faircut.documents.pdf_lists import marker
from faircut.documents.pdf_words import Vocabulary


def as_printed(text):
    """The characters from left to right with their places, a space in front where one was."""
    places, spaced = [], ""
    for n, char in enumerate(text):
        if char == " ":
            spaced = " "
        else:
            places.append((spaced + char, 10.0 * n))
            spaced = ""
    return places


@pytest.mark.parametrize(
    ("printed", "read"),
    [
        ("םולש", "שלום"),
        ("PDF ארוק", "קורא PDF"),
        ("1403/09/19 ךיראת", "תאריך 1403/09/19"),
        ("plain text", "plain text"),
    ],
)
def test_a_printed_line_is_put_in_the_order_of_reading(printed, read):
    assert logical_order(as_printed(printed)) == read


@given(st.text(alphabet="אבגabc 12.,()-", min_size=1, max_size=40).map(str.strip).filter(bool))
def test_no_character_is_lost_in_a_line_of_two_directions(text):
    def letters(value):
        return Counter(c for c in value if unicodedata.category(c)[0] in "LN")

    assert letters(logical_order(as_printed(text))) == letters(text)


def test_the_letters_of_a_ligature_come_with_lam_first():
    alef, lam, khah = "\u0627", "\u0644", "\u062e"  # the engine gives alef and lam in one place, in this order
    assert logical_order([(lam, 0.0), (alef, 10.0), (lam, 10.0), (khah, 20.0)]) == khah + lam + alef + lam


@pytest.mark.parametrize(
    ("known", "lines", "joined"),
    [
        ("government", ["the govern-", "ment"], "the government"),
        ("open-ended", ["an open-", "ended list"], "an open-ended list"),
        ("open and ended", ["an open-", "ended list"], "an open-ended list"),
        ("", ["syntacti-", "cally"], "syntactically"),
        ("", ["the Smith-", "Jones case"], "the Smith-Jones case"),
        ("", ["pages 10-", "12"], "pages 10-12"),
        ("", ["a dash -", "and more"], "a dash - and more"),
        ("", ["東京", "大学"], "東京大学"),
    ],
)
def test_lines_are_joined_with_care_for_hyphens(known, lines, joined):
    vocabulary = Vocabulary()
    vocabulary.learn(known)
    assert vocabulary.join(lines) == joined


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("• one", ("•", None)),
        ("- one", ("-", None)),
        ("12. twelve", ("number", 12)),
        ("(a) first", ("letter", None)),
        ("2025 was a good year", None),
        ("3.5 per cent", None),
        ("-5 degrees", None),
    ],
)
def test_marks_of_list_items_are_told_from_numbers_in_text(line, found):
    mark = marker(line)
    assert (mark and (mark.kind, mark.number)) == found
