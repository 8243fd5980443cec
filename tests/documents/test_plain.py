"""Plain text becomes paragraphs that tile it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faircut.documents.plain import plain_blocks

LINE_ENDS = ["\n", "\r\n", "\r", "\x85", "\u2028", "\u2029"]
TEXTS = st.lists(st.sampled_from([*LINE_ENDS, " ", "\t", "\xa0", "\0", "\ud800", "a", "b c", "ไทย", "👩‍🚀"])).map(
    "".join
)


def paragraphs(text):
    return [text[b.span.start : b.span.end] for b in plain_blocks(text)]


@pytest.mark.parametrize("end", LINE_ENDS, ids=ascii)
def test_a_blank_line_of_any_line_end_separates_paragraphs_and_belongs_to_the_one_before(end):
    assert paragraphs(f"a{end}b{end}{end}c{end} \t{end}{end}d") == [f"a{end}b{end}{end}", f"c{end} \t{end}{end}", "d"]


def test_crlf_is_one_line_end():
    assert paragraphs("a\r\nb\r\nc") == ["a\r\nb\r\nc"]


def test_leading_white_space_belongs_to_the_first_paragraph_and_trailing_to_the_last():
    assert paragraphs("\n\n  a\n\nb\n\n \n") == ["\n\n  a\n\n", "b\n\n \n"]


def test_an_empty_text_has_no_paragraphs():
    assert plain_blocks("") == ()


@given(TEXTS | st.text())
def test_paragraphs_tile_any_text_and_none_is_blank(text):
    found = paragraphs(text)
    assert "".join(found) == text
    assert all(p.strip() for p in found) or not text.strip()


@given(TEXTS)
def test_no_paragraph_holds_a_blank_line_between_words(text):
    for paragraph in paragraphs(text):
        body = paragraph.strip().replace("\r\n", "\n").translate(dict.fromkeys(map(ord, "\r\x85\u2028\u2029"), "\n"))
        assert all(line.strip() for line in body.split("\n")) or not body
