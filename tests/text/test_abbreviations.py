"""The language comes from files of strangers: no text of it reaches an import, and an unknown one is as none at all."""

import sys

import pytest
from yasbd.rules import get_supported_langs

from faircut.text import abbreviations
from faircut.text.abbreviations import LANGUAGES, table
from faircut.text.sentences import sentence_spans

TEXT = "Dr. Who came at 3.14 p.m. today. He left on no. 5 of May. \u0391\u03b2. \u0434\u0430. \u0e01. \u6cb3\u3002End."


@pytest.mark.parametrize(
    "language",
    [
        "../../etc",
        "\0",
        "\ud800",
        "base",
        "_template",
        "auto",
        "os",
        "..os",
        "utils.logger",
        "__init__",
        "xx",
        "x" * 9999,
    ],
)
def test_an_unknown_language_is_read_as_none_and_imports_nothing(language):
    expected = sentence_spans(TEXT, None)
    before = set(sys.modules)
    assert sentence_spans(TEXT, language) == expected
    table(language)
    assert {m for m in set(sys.modules) - before if m.startswith("yasbd.rules.")} == set()


def test_the_languages_of_the_library_are_all_known():
    assert set(get_supported_langs()) >= abbreviations._LIBRARY_LANGUAGES
    assert len(abbreviations._LIBRARY_LANGUAGES) == 39


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_known_language_has_its_table(language):
    assert table(language).inside
    assert sentence_spans(TEXT, language)
