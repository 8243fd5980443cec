"""Terms of lexical search: every script gives words or pairs of letters, and the same word is the same term."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faircut.index.words import terms


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Don't PANIC, see 3.14 (a_b)!", ["don", "t", "panic", "see", "3", "14", "a", "b"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("\ufb01ne \uff21\uff22\uff11", ["fine", "ab1"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("한국어 문장", [unicodedata.normalize("NFKC", w) for w in ("한국어", "문장")]),
        ("人工智能", ["人工", "工智", "智能"]),
        ("漢", ["漢"]),
        ("v2の値abc", ["v2", "の値", "abc"]),
        ("นรู้ค", ["นรู้", "รู้ค"]),
        ("\ud800 \x00 ...", []),
        ("", []),
    ],
)
def test_words_are_found_in_every_script(text, found):
    assert terms(text) == found


@given(st.text())
def test_case_and_compatibility_forms_make_no_difference(text):
    assert terms(unicodedata.normalize("NFKC", text)) == terms(text)
    assert all(term for term in terms(text))


@given(st.text(alphabet="aB1 .é漢นี้", max_size=40), st.text(alphabet="aB1 .é漢นี้", max_size=40))
def test_a_space_keeps_words_apart(left, right):
    assert terms(f"{left} . {right}") == terms(left) + terms(right)
