"""The shared cutting machinery: lengths of joined texts, packing, long words, tables, code and overlap."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from invariants import MINILM, MODELS, SIZES, TEXTS, length_of

from faircut.chunkers.boundaries import blocks_first, line_starts, paragraph_starts, sentence_starts
from faircut.chunkers.contract import Models
from faircut.chunkers.packing import (
    Piece,
    Ruler,
    check_overlap,
    pack,
    split_block,
    split_levels,
    split_long,
    to_chunk,
    to_chunks,
    trim,
    with_overlap,
)
from faircut.documents.markdown import markdown_blocks
from faircut.errors import SpecError
from faircut.records import Block, Chunk, Document, Span
from faircut.specs import Size


def ruler(text: str, size: Size, blocks: tuple[Block, ...] = ()) -> Ruler:
    return Ruler.of(Document("d", text, blocks), size, MODELS)


def texts(rule: Ruler, pieces: list[Piece]) -> list[str]:
    return [chunk.text for chunk in to_chunks(rule.document, pieces)]


# ---------------------------------------------------------------- packing


@given(text=TEXTS, size=SIZES, data=st.data())
@settings(max_examples=200, deadline=None)
def test_packed_atoms_fit_joined_and_one_more_would_not(text, size, data):
    rule = ruler(text, size)
    inner = data.draw(st.sets(st.integers(1, max(1, len(text) - 1)), max_size=20))
    places = sorted({0, len(text)} | {p for p in inner if p < len(text)})
    pieces = pack(rule, places)
    assert [0, *(p.end for p in pieces)] == [*(p.start for p in pieces), len(text)]
    for piece, following in pairwise([*pieces, None]):
        alone = places[places.index(piece.start) + 1] == piece.end
        assert alone or length_of(size, text[piece.start : piece.end].strip()) <= size.amount
        if following is not None:
            longer = places[places.index(piece.end) + 1]
            assert length_of(size, trimmed(rule, piece.start, longer)) > size.amount


def trimmed(rule: Ruler, start: int, end: int) -> str:
    start, end = trim(rule.document, start, end)
    return rule.text[start:end]


def test_white_space_between_atoms_counts_and_white_space_at_the_ends_does_not():
    text = "aaaa     bbbb     cccc     "
    assert texts(*packed(text, [0, 9, 18, 27], Size(13, "c"))) == ["aaaa     bbbb", "cccc"]
    assert texts(*packed(text, [0, 9, 18, 27], Size(12, "c"))) == ["aaaa", "bbbb", "cccc"]


def packed(text: str, places: list[int], size: Size) -> tuple[Ruler, list[Piece]]:
    rule = ruler(text, size)
    return rule, pack(rule, places)


def test_the_embedders_overhead_is_inside_the_ceiling():
    assert Ruler.of(Document("d", "one two"), Size(10), Models(MINILM, overhead=4)).limit == 6
    assert Ruler.of(Document("d", "one two"), Size(10, "c"), Models(MINILM, overhead=4)).limit == 10


def test_a_long_range_is_cut_after_words_and_a_long_word_between_graphemes():
    rule = ruler("one two three " + "e\u0301" * 9, Size(8, "c"))
    assert texts(rule, split_long(rule, 0, len(rule.text))) == [
        "one two", "three", "e\u0301" * 4, "e\u0301" * 4, "e\u0301",
    ]  # fmt: skip


def test_a_code_point_above_the_ceiling_goes_alone_and_cutting_ends():
    rule = Ruler.of(Document("d", "한국어"), Size(1), Models(MINILM))
    assert MINILM.count("한") > 1
    assert texts(rule, split_long(rule, 0, 3)) == ["한", "국", "어"]


def test_levels_are_tried_in_order_and_only_where_needed():
    text = "Short one.\n\nA line.\nAnother line that is long. It has two sentences.\n\nLast."
    rule = ruler(text, Size(30, "c"))
    asked = []

    def sentences(start: int, end: int) -> list[int]:
        asked.append(text[start:end])
        return sentence_starts(rule.document, start, end)

    levels = (lambda a, b: paragraph_starts(text, a, b), lambda a, b: line_starts(text, a, b), sentences)
    assert texts(rule, split_levels(rule, 0, len(text), levels)) == [
        "Short one.", "A line.", "Another line that is long.", "It has two sentences.", "Last.",
    ]  # fmt: skip
    assert asked == ["Another line that is long. It has two sentences.\n"]


# ---------------------------------------------------------------- boundaries


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\u2028", "\u0085"])
def test_lines_and_paragraphs_are_found_whatever_ends_a_line(end):
    text = f"one{end}two{end} {end}three{end}"
    assert [text[p:] for p in paragraph_starts(text, 0, len(text))] == [f"three{end}"]
    assert line_starts(text, 0, len(text)) == [text.index("two"), text.index(" "), text.index("three")]


def test_blocks_that_are_better_whole_are_not_cut_inside():
    text = "intro\n\n```\na\n\nb\n```\nafter\n\nend"
    document = Document("d", text, markdown_blocks(text))
    level = blocks_first(document, lambda a, b: paragraph_starts(text, a, b))
    places = [0, *level(0, len(text)), len(text)]
    assert [text[a:b].strip() for a, b in pairwise(places)] == ["intro", "```\na\n\nb\n```", "after", "end"]


# ---------------------------------------------------------------- tables and code

HEADER = "| item | price |\n|------|------:|\n"


def table(rows: list[str], size: Size) -> list[Chunk]:
    text = HEADER + "".join(rows)
    rule = ruler(text, size, (Block("table", Span(0, len(text))),))
    return to_chunks(rule.document, split_block(rule, 0, len(text), "table"))


def test_a_long_table_is_cut_between_rows_under_its_header():
    rows = [f"| part {i} | {i}.50 |\n" for i in range(40)]
    chunks = table(rows, Size(64))
    assert chunks[0].text.startswith(HEADER)
    assert chunks[0].context == ""
    assert {c.context for c in chunks[1:]} == {HEADER.strip()}
    assert all(length_of(Size(64), c.embedded_text) <= 64 for c in chunks)
    assert "".join(c.text + "\n" for c in chunks) == HEADER + "".join(rows)
    fuller = [length_of(Size(64), f"{c.embedded_text}\n{n.text.splitlines()[0]}") for c, n in pairwise(chunks)]
    assert min(fuller) > 64, "each is as full as it can be"


def test_a_row_that_does_not_fit_with_the_header_goes_without_it():
    rows = ["| a | 1 |\n", "| " + "long words " * 9 + "| 2 |\n", "| b | 3 |\n"]
    chunks = table(rows, Size(110, "c"))
    assert [c.context for c in chunks] == ["", "", HEADER.strip()]
    chunks = table(["| a | 1 |\n", "| " + "very " * 40 + "| 2 |\n", "| b | 3 |\n"], Size(60, "c"))
    assert all(len(c.embedded_text) <= 60 for c in chunks)
    assert chunks[-1].embedded_text == f"{HEADER.strip()}\n| b | 3 |"


def test_a_header_above_the_ceiling_is_cut_and_rows_are_packed_without_it():
    chunks = table([f"| {i} | x |\n" for i in range(6)], Size(30, "c"))
    assert all(len(c.embedded_text) <= 30 for c in chunks)
    assert [c.text.count("\n") for c in chunks][-2:] == [2, 2], "three rows in each"


def test_code_is_cut_at_blank_lines_and_keeps_its_indentation():
    text = "def f(x):\n    return x\n\n    # unreachable\n    return 2\n\ndef g():\n    pass\n"
    rule = ruler(text, Size(45, "c"), (Block("code", Span(0, len(text))),))
    assert texts(rule, split_block(rule, 0, len(text), "code")) == [
        "def f(x):\n    return x",
        "    # unreachable\n    return 2",
        "def g():\n    pass",
    ]


# ---------------------------------------------------------------- chunks


def test_a_chunk_is_trimmed_and_a_blank_one_is_none():
    document = Document("d", " \n text \u3000\n")
    chunk = to_chunk(document, 0, len(document.text), "Heading")
    assert chunk == Chunk("d", (Span(3, 7),), "text", "Heading")
    assert to_chunk(document, 0, 3) is None
    assert to_chunk(document, 2, 2) is None


def test_a_space_that_carries_an_accent_stays_with_it():
    document = Document("d", "a \u0301b")
    chunk = to_chunk(document, 1, 4)
    assert chunk is not None
    assert chunk.text == " \u0301b"


# ---------------------------------------------------------------- overlap


def test_overlap_begins_with_a_word_and_the_ceiling_holds():
    text = "Tokenization of unbelievable words happens, again and again, in many places. " * 12
    rule = ruler(text, Size(40))
    pieces = split_long(rule, 0, len(text), limit=rule.limit - 12)
    joined = with_overlap(rule, pieces, 12)
    shared = [MINILM.count(text[b.start : a.end]) for a, b in pairwise(joined)]
    assert len(shared) > 4
    assert all(8 <= amount <= 12 for amount in shared)
    assert all(piece.start == 0 or text[piece.start - 1] == " " for piece in joined)
    assert all(rule.fits(*piece) for piece in joined)


def test_overlap_inside_text_without_spaces_is_there_too():
    text = "中文没有空格所以重叠不能从词开始" * 20
    rule = ruler(text, Size(30))
    joined = with_overlap(rule, split_long(rule, 0, len(text), limit=20), 8)
    assert {a.end - b.start for a, b in pairwise(joined)} == {8}


def test_a_wide_gap_shortens_the_overlap_and_not_the_text():
    text = "one two three" + " " * 30 + "four five six"
    rule = ruler(text, Size(40, "c"))
    joined = with_overlap(rule, [Piece(0, 13), Piece(13, len(text))], 12)
    assert texts(rule, joined) == ["one two three", "four five six"]


def test_an_overlap_is_none_or_smaller_and_of_the_same_unit():
    assert check_overlap("c", None, Size(10)) == 0
    assert check_overlap("c", Size(0, "t"), Size(10, "w")) == 0
    assert check_overlap("c", Size(9, "w"), Size(10, "w")) == 9
    for wrong in (Size(10), Size(11), Size(-1), Size(3, "w"), 1.5, 3, True, Size(1.5)):
        with pytest.raises(SpecError):
            check_overlap("c", wrong, Size(10))  # type: ignore[arg-type]
