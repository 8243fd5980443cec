"""Untrusted text does nothing in a terminal, and a name never looks like a line of ours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faircut.report.safe import printable, printable_lines

ANY = st.text(st.characters(codec=None, exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nfaircut: all is well", "a\\nfaircut: all is well"),
        ("\x1b]0;pwn\x07", "\\x1b]0;pwn\\x07"),
        ("a\r\tb\x85\u2028\u2029\u202e\ud800", "a\\r\\tb\\x85\\u2028\\u2029\\u202e\\ud800"),
        ("Grüße, 河 [red]", "Grüße, 河 [red]"),
    ],
)
def test_what_a_terminal_obeys_becomes_visible(text, shown):
    assert printable(text) == shown


@given(ANY)
def test_a_name_stays_in_one_line_that_can_be_encoded(text):
    assert len(printable(text).encode().splitlines()) <= 1
    assert printable(printable(text)) == printable(text)


@given(ANY)
def test_lines_that_we_composed_stay_lines(text):
    assert printable_lines(text).split("\n") == [printable(line) for line in text.split("\n")]
