"""Quotes are found with other spacing, quotation marks and order; another word, number or sign is another text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faircut.questions.locate import LooseText, find_everywhere, locate_quotes, merged
from faircut.records import Document, Evidence, Span

TEXT = 'The "outer quay" has\n  twelve places. Dogs aren\u2019t allowed. It opens at 9. A fee of 3.50 is due now here.'


def found(quote, text=TEXT):
    return [text[s.start : s.end] for s in LooseText(text).find(quote)]


@pytest.mark.parametrize(
    ("quote", "place"),
    [
        ("The “outer quay” has twelve places.", 'The "outer quay" has\n  twelve places.'),
        ("The outer quay has twelve places .", 'The "outer quay" has\n  twelve places.'),
        ("Dogs aren't allowed", "Dogs aren\u2019t allowed"),
        ("«It opens at 9.»", "It opens at 9."),
        ("due\u00a0now here", "due now here"),
    ],
)
def test_spacing_and_quotation_marks_are_forgiven(quote, place):
    assert found(quote) == [place]


@pytest.mark.parametrize(
    "quote",
    [
        "The outer quay has twelve place",
        "due nowhere",
        "Dogs are allowed",
        "It opens at 19.",
        "A fee of 350 is",
        "A fee of 3,50 is",
        "the outer quay",
        "...",
        "",
        "\u201c\u201d",
    ],
)
def test_another_word_number_or_sign_is_another_text(quote):
    assert found(quote) == []


def test_letters_that_stand_without_spaces_are_found_over_a_line_end():
    text = "日本語の文章は、改行\nで分かれる。"
    assert found("改行で分かれる。", text) == ["改行\nで分かれる。"]


def test_composed_and_decomposed_letters_are_one():
    assert found("caf\u00e9 noir", "Un cafe\u0301 noir.") == ["cafe\u0301 noir"]


@given(st.text(alphabet="ab1 .\n\"'é日", max_size=40), st.data())
def test_what_is_found_says_the_same_words_as_the_quote(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    loose = LooseText(text)
    for span in loose.find(text[start:end]):
        assert LooseText(text[span.start : span.end]).tokens == LooseText(text[start:end]).tokens


def test_quotes_may_come_in_any_order_and_in_parts():
    window = Span(0, len(TEXT))
    dogs, places = "Dogs aren’t allowed.", 'The "outer quay" has\n  twelve places.'
    fee = "A fee of 3.50 is due"
    spans = locate_quotes(TEXT, window, [fee, "Dogs aren't allowed."])
    assert [TEXT[s.start : s.end] for s in spans] == [dogs, fee]
    (both,) = locate_quotes(TEXT, window, ["Dogs aren't allowed. The outer quay has twelve places."])
    assert TEXT[both.start : both.end] == f"{places} {dogs}"
    spans = locate_quotes(TEXT, window, ["has twelve places. [...] A fee of 3.50"])
    assert [TEXT[s.start : s.end] for s in spans] == ["has\n  twelve places.", "A fee of 3.50"]


def test_a_quote_with_one_part_that_is_not_there_is_refused():
    window = Span(0, len(TEXT))
    assert locate_quotes(TEXT, window, ["has twelve places. ... A fee of 4.50 is due"]) is None
    assert locate_quotes(TEXT, window, ["Dogs aren't allowed.", "Cats are."]) is None
    assert locate_quotes(TEXT, window, []) is None


def test_a_quote_outside_of_the_window_is_not_found():
    assert locate_quotes(TEXT, Span(0, 30), ["Dogs aren't allowed."]) is None
    spans = locate_quotes(TEXT, Span(30, len(TEXT)), ["Dogs aren't allowed."])
    assert [TEXT[s.start : s.end] for s in spans] == ["Dogs aren’t allowed."]


def test_places_that_touch_become_one():
    assert merged([Span(5, 8), Span(0, 4), Span(6, 7)], "abcd efgh") == [Span(0, 8)]
    assert merged([Span(0, 2), Span(3, 5)], "ab.cd") == [Span(0, 2), Span(3, 5)]


def test_all_places_of_many_quotes_are_found_in_one_pass():
    documents = {
        n: Document(n, t) for n, t in [("a", TEXT), ("b", f"x {TEXT} It opens\nat 9."), ("c", "At 9 it opens.")]
    }
    quotes = ["It opens at 9.", "Dogs", "nothing", "", "It opens at 9. A fee of 3.50 is due now here"]
    opens, dogs, *none, long = find_everywhere(documents, quotes)
    assert [e.document_id for e in opens] == ["a", "b", "b"]
    assert all(LooseText(documents[e.document_id].text[e.span.start : e.span.end]).tokens[1] == "opens" for e in opens)
    assert [e.document_id for e in dogs] == ["a", "b"]
    assert none == [[], []]
    assert [e.document_id for e in long] == ["a", "b"]
    at = TEXT.index("Dogs")
    assert find_everywhere(documents, ["Dogs"], limit=1) == [[Evidence("a", Span(at, at + 4))]]
