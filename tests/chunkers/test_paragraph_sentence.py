"""Paragraphs and sentences, packed."""

from itertools import pairwise

import pytest

from faircut.chunkers import build
from faircut.chunkers.contract import Models
from faircut.chunkers.sentence import sentence_places
from faircut.documents.markdown import markdown_blocks
from faircut.embedding.minilm import Minilm
from faircut.errors import SpecError
from faircut.records import Document


@pytest.fixture(scope="module")
def models():
    return Models(Minilm().tokenizer, overhead=2)


def texts(spec, text, models, blocks=()):
    return [chunk.text for chunk in build(spec).chunk(Document("d", text, blocks), models)]


SHORT = "The lease begins in May."
LONG = "The rent is due monthly. It is paid in advance. The bank keeps the deposit. Nobody pays in cash."


def test_paragraphs_that_fit_together_are_one_chunk(models):
    text = f"{SHORT}\n\n{SHORT}\r\n\r\n{SHORT}"
    assert texts("paragraph(max=60c)", text, models) == [f"{SHORT}\n\n{SHORT}", SHORT]
    assert texts("paragraph", text, models) == [text]


def test_joining_white_space_counts(models):
    assert texts("paragraph(max=50c)", f"{SHORT}\n\n{SHORT}", models) == [f"{SHORT}\n\n{SHORT}"]
    assert texts("paragraph(max=49c)", f"{SHORT}\n\n{SHORT}", models) == [SHORT, SHORT]


def test_a_long_paragraph_is_cut_at_sentences_and_stays_in_its_place(models):
    assert texts("paragraph(max=50c)", f"{SHORT}\n\n{LONG}\n\n{SHORT}", models) == [
        SHORT,
        "The rent is due monthly. It is paid in advance.",
        "The bank keeps the deposit. Nobody pays in cash.",
        SHORT,
    ]


def test_a_long_sentence_is_cut_after_words(models):
    sentence = "one two three four five six seven eight nine ten eleven twelve"
    assert texts("paragraph(max=24c)", sentence, models) == [
        "one two three four five",
        "six seven eight nine ten",
        "eleven twelve",
    ]
    assert texts("sentence(max=24c)", sentence, models) == [
        "one two three four five",
        "six seven eight nine ten",
        "eleven twelve",
    ]


def test_blocks_are_the_paragraphs_where_the_document_has_some(models):
    text = "# Lease\n\nIt begins in May.\n\n- one\n- two\n\n## Rent\n\nIt is due monthly.\n"
    assert texts("paragraph(max=40c)", text, models, markdown_blocks(text)) == [
        "# Lease\n\nIt begins in May.\n\n- one\n- two",
        "## Rent\n\nIt is due monthly.",
    ]


def test_a_heading_stays_with_what_follows_it(models):
    text = "It begins in May.\n\n# Rent\n\nIt is due monthly.\n"
    assert texts("paragraph(max=30c)", text, models, markdown_blocks(text)) == [
        "It begins in May.",
        "# Rent\n\nIt is due monthly.",
    ]


def test_a_table_is_whole_where_it_fits_and_keeps_its_header_where_not(models):
    table = "| a | b |\n|---|---|\n| Dr. x | 1. |\n| y | 2 |\n"
    text = f"{SHORT}\n\n{table}\n{SHORT}\n"
    for name in ("paragraph", "sentence"):
        assert table.strip() in texts(f"{name}(max=50c)", text, models, markdown_blocks(text))
        chunks = build(f"{name}(max=36c)").chunk(Document("d", text, markdown_blocks(text)), models)
        parts = [c for c in chunks if "|" in c.text]
        assert [c.context for c in parts] == ["", "| a | b |\n|---|---|"]
        assert all(len(c.embedded_text) <= 36 for c in chunks)


def test_whole_sentences_are_packed(models):
    assert texts("sentence(max=50c)", LONG, models) == [
        "The rent is due monthly. It is paid in advance.",
        "The bank keeps the deposit. Nobody pays in cash.",
    ]


def test_overlap_is_rounded_to_whole_sentences(models):
    assert texts("sentence(max=80c, overlap=25c)", LONG, models) == [
        "The rent is due monthly. It is paid in advance.",
        "It is paid in advance. The bank keeps the deposit. Nobody pays in cash.",
    ]


def test_where_no_sentence_fits_the_overlap_begins_with_a_word(models):
    first, second = texts(
        "sentence(max=52c, overlap=20c)", "The rent is paid in advance. The bank keeps the deposit.", models
    )
    assert first == "The rent is paid in advance."
    assert second == "is paid in advance. The bank keeps the deposit."


def test_sentences_are_places_of_their_block():
    text = "# Dr. No. 5\n\nOne. Two.\n\n```\na. b. c.\n```\n\n\n"
    places = sentence_places(Document("d", text, markdown_blocks(text)))
    assert [text[a:b].strip() for a, b in pairwise(places)] == [
        "# Dr. No. 5",
        "One.",
        "Two.",
        "```\na. b. c.\n```",
    ]
    assert places[-1] == len(text)


@pytest.mark.parametrize(
    "spec", ["paragraph(max=0)", "sentence(max=20t, overlap=20t)", "sentence(max=20t, overlap=5c)"]
)
def test_sizes_that_cannot_be_are_refused(spec):
    with pytest.raises(SpecError):
        build(spec)
