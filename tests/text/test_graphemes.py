"""Grapheme clusters are those of Unicode, wherever in a text one asks."""

import time

import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from faircut.text.graphemes import Graphemes, is_joined

SIGNS = [
    *(
        "a",
        "1",
        " ",
        "\r",
        "\n",
        "\r\n",
        "é",
        "”",
        "漢",
        "e\u0301",
        "\u0301",
        "\u200d",
        "👨",
        "👩",
        "🏽",
        "🇩",
        "🇪",
        "\u0600",
    ),
    *("\ud800", "한", "ᄀ", "ᅡ", "ᆨ", "ก", "ำ", "क", "्", "ष", "\ufe0f", "\U000e0067"),
]


@given(st.lists(st.one_of(st.sampled_from(SIGNS), st.characters(exclude_categories=())), max_size=12).map("".join))
@example("éa" + "b" * 50 + "éé")
@settings(max_examples=500, deadline=None)
def test_the_places_between_clusters_are_those_of_the_whole_text(text):
    edges = [0, *(m.end() for m in regex.finditer(r"\X", text))]
    graphemes = Graphemes(text)
    for place in range(len(text) + 1):
        assert graphemes.is_boundary(place) == (place in edges)
        assert graphemes.floor(place) == max(edge for edge in edges if edge <= place)
        assert graphemes.ceil(place) == min(edge for edge in edges if edge >= place)


def test_a_space_and_its_accent_are_joined_and_a_line_end_joins_nothing():
    assert is_joined(" ", "\u0301")
    assert is_joined("\u0600", " ")
    assert not is_joined("\n", "\u0301")
    assert not is_joined("a", " ")


def test_asking_everywhere_in_a_long_text_of_flags_is_linear():
    text = "🇩🇪" * 50_000
    graphemes = Graphemes(text)
    begin = time.process_time()
    assert all(graphemes.is_boundary(place) == (place % 2 == 0) for place in range(0, len(text), 7))
    assert time.process_time() - begin < 2
