"""Sections, and the chunker that cuts along them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faircut.chunkers import build
from faircut.chunkers.contract import Models
from faircut.chunkers.sections import heading_title, section_ends, sections
from faircut.documents.markdown import markdown_blocks
from faircut.documents.plain import plain_blocks
from faircut.embedding.minilm import Minilm
from faircut.errors import SpecError
from faircut.records import Document

HANDBOOK = """\
# Handbook

Welcome to the house.

## Rent

The rent is due on the first of the month. It is paid by transfer.

### Late payment

A reminder is sent after five days. After ten days a fee is due.

### Increase

The rent may rise once a year. The tenant is told three months before.

## Keys

Each tenant has two keys. A lost key is reported at once.
"""


def markdown(text):
    return Document("d", text, markdown_blocks(text))


@pytest.fixture(scope="module")
def models():
    return Models(Minilm().tokenizer, overhead=2)


def cut(spec, document, models):
    return [(chunk.context, chunk.text) for chunk in build(spec).chunk(document, models)]


# ---------------------------------------------------------------- sections


def test_a_section_ends_before_the_next_heading_of_its_level_or_a_higher_one():
    document = markdown(HANDBOOK)
    found = {s.path[-1]: (s.level, document.text[s.span.start : s.span.end]) for s in sections(document)}
    assert list(found) == ["Handbook", "Rent", "Late payment", "Increase", "Keys"]
    assert found["Handbook"] == (1, HANDBOOK)
    assert found["Rent"][1].endswith("months before.\n\n")
    assert found["Late payment"][1].startswith("### Late")
    assert found["Late payment"][1].endswith("fee is due.\n\n")


def test_text_before_the_first_heading_is_a_section_without_a_path():
    first, second = sections(markdown("A preface.\n\n## Rent\n\nDue.\n"))
    assert (first.level, first.path, len(first.span)) == (0, (), 12)
    assert (second.level, second.path) == (2, ("Rent",))
    assert [s.level for s in sections(Document("d", "Plain text."))] == [0]
    assert sections(Document("d", "")) == []


@given(st.lists(st.integers(0, 6), max_size=15))
def test_section_ends_are_those_found_by_looking_ahead(levels):
    text = "".join(f"{'#' * level} head\n\n" if level else f"Text {at}.\n\n" for at, level in enumerate(levels))
    blocks = markdown_blocks(text) if text else ()
    current, wanted = 0, []
    for at, block in enumerate(blocks):
        current = block.level if block.kind == "heading" else current
        later = (n for n in range(at + 1, len(blocks)) if blocks[n].kind == "heading" and blocks[n].level <= current)
        wanted.append(next(later, len(blocks)))
    assert section_ends(blocks) == wanted


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("## Rent ##\n\n", "Rent"),
        ("Rent and\nkeys\n====\n", "Rent and keys"),
        ("# C#\n", "C#"),
        ("A heading of a PDF\n\n", "A heading of a PDF"),
        ("#hashtag", "#hashtag"),
        ("#\n", "#"),
    ],
)
def test_a_title_is_the_words_of_a_heading(source, title):
    assert heading_title(source) == title


# ---------------------------------------------------------------- chunks


def test_what_fits_is_one_chunk_with_its_subsections(models):
    (chunk,) = cut("structure", markdown(HANDBOOK), models)
    assert chunk == ("", HANDBOOK.strip())


def test_what_does_not_fit_is_cut_at_headings_and_carries_the_path_above_it(models):
    chunks = cut("structure(max=70t)", markdown(HANDBOOK), models)
    assert [(context, text.split("\n")[0]) for context, text in chunks] == [
        ("", "# Handbook"),
        ("Handbook", "## Rent"),
        ("Handbook", "## Keys"),
    ]
    chunks = cut("structure(max=40t)", markdown(HANDBOOK), models)
    assert [(context, text.split("\n")[0]) for context, text in chunks] == [
        ("", "# Handbook"),
        ("Handbook", "## Rent"),
        ("Handbook > Rent", "### Late payment"),
        ("Handbook > Rent", "### Increase"),
        ("Handbook", "## Keys"),
    ]
    assert {context for context, _ in cut("structure(max=40t, context=false)", markdown(HANDBOOK), models)} == {""}


def test_a_later_part_of_a_section_carries_the_path_with_its_own_heading(models):
    text = "# House\n\n## Rent\n\n" + "The rent is due on the first of the month.\n\n" * 12
    chunks = cut("structure(max=60t)", markdown(text), models)
    assert len(chunks) > 2
    assert chunks[0][1].startswith("# House\n\n## Rent\n\nThe rent")
    assert {context for context, _ in chunks[1:]} == {"House > Rent"}


def test_a_path_that_does_not_fit_beside_the_text_is_shortened_from_the_top_then_dropped(models):
    block = "The tenant pays the rent on the first day of each month and keeps the receipt in the house."  # 91
    text = f"# A rather long title\n\n## Rent\n\n{block}\n\n{block}\n"
    contexts = {
        size: [c for c, t in cut(f"structure(max={size}c)", markdown(text), models) if t == block][-1]
        for size in (150, 110, 97, 94)
    }
    assert contexts == {150: "A rather long title > Rent", 110: "Rent", 97: "Rent", 94: ""}


def test_a_path_above_a_quarter_of_the_ceiling_leaves_room_for_text(models):
    text = f"# {'A very long title indeed ' * 20}\n\n## Rent\n\n" + "The rent is due today.\n\n" * 12
    chunks = cut("structure(max=120c)", markdown(text), models)
    assert {context for context, text in chunks if text.startswith("The rent")} == {"Rent"}


def test_paragraphs_are_packed_and_only_one_above_the_ceiling_is_cut_between_sentences(models):
    short, long = "The rent is due today. It is paid.\n\n", "This sentence is one of many. " * 30 + "\n\n"
    text = short * 10 + long + short * 10
    for document in (Document("d", text, plain_blocks(text)), Document("d", text)):
        chunks = [text for _, text in cut("structure(max=90t)", document, models)]
        assert all(chunk.startswith(("The rent", "This sentence")) for chunk in chunks)
        assert all(chunk.endswith(("It is paid.", "of many.")) for chunk in chunks)
        assert sum(chunk.count("\n\n") for chunk in chunks) > 10


def test_a_heading_stays_with_the_text_that_follows_it(models):
    parts = (f"## Part {n}\n\n### The rent\n\n{'The rent is due today. ' * n}\n\n" for n in range(1, 20))
    document = markdown("# All about the house\n\n" + "".join(parts))
    for size in (30, 40, 60, 90):
        for _, chunk in cut(f"structure(max={size}t)", document, models):
            assert not chunk.splitlines()[-1].startswith("#")


def test_a_table_above_the_ceiling_is_cut_between_rows_under_path_and_header(models):
    head = "| item | price |\n|---|---|"
    text = f"# Prices\n\n{head}\n" + "".join(f"| lease {n} | {n}00 |\n" for n in range(30))
    document = markdown(text)
    chunks = cut("structure(max=80t)", document, models)
    assert len(chunks) > 3
    assert {context for context, _ in chunks[1:]} == {f"Prices\n{head}"}
    assert [line for _, t in chunks for line in t.splitlines() if "lease" in line] == text.splitlines()[4:]


def test_a_short_text_of_its_own_goes_with_the_first_subsection_below_the_minimum(models):
    assert len(cut("structure(max=60t)", markdown(HANDBOOK), models)) == 5
    chunks = [text for _, text in cut("structure(max=60t, min=12t)", markdown(HANDBOOK), models)]
    assert chunks[0].startswith("# Handbook\n\nWelcome")
    assert "## Rent" in chunks[0]


@st.composite
def outlines(draw):
    parts = []
    for number in range(draw(st.integers(0, 12))):
        level = draw(st.integers(1, 4))
        parts.append(f"{'#' * level} Head {number}\n\n")
        parts += [f"Text {number} of it. " * n + "\n\n" for n in draw(st.lists(st.integers(1, 12), max_size=3))]
    return "".join(parts)


@settings(max_examples=150, deadline=None)
@given(text=outlines(), size=st.integers(20, 150), least=st.sampled_from(["", ", min=15t"]))
def test_no_chunk_goes_on_over_a_heading_of_its_sections_level_or_a_higher_one(text, size, least, models):
    document = markdown(text)
    for chunk in build(f"structure(max={size}t{least})").chunk(document, models):
        start, end = chunk.spans[0].start, chunk.spans[-1].end
        own = max((b for b in document.blocks if b.kind == "heading" and b.span.start <= start), key=lambda b: b.span)
        inside = [b.level for b in document.blocks if b.kind == "heading" and start < b.span.start < end]
        assert all(level > own.level for level in inside)
        assert chunk.context.count(">") < own.level


def test_sizes_that_cannot_be_are_refused():
    with pytest.raises(SpecError, match="min must not exceed max"):
        build("structure(max=100t, min=200t)")
    with pytest.raises(SpecError, match="have its unit"):
        build("structure(max=100t, min=20c)")
    with pytest.raises(SpecError, match="at least 1t"):
        build("structure(max=0)")
