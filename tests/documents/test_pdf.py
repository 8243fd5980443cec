"""PDF becomes text in reading order with its structure; what cannot be read is said. Files are written by the tests."""

import time
import tracemalloc
import zlib

import pytest
from pdf_blocks import SENTENCE, blocks, outlined
from pdf_writer import Sheet, pdf

from faircut.errors import DocumentError, FaircutWarning


def test_lines_become_paragraphs_and_blocks_carry_their_page(read_pdf):
    first, second = Sheet(), Sheet()
    y = first.paragraph(72, 100, [f"{SENTENCE}.", "Its decisions are public, and", "anybody may listen to them."])
    first.paragraph(72, y + 14, ["A second paragraph follows here."])
    second.paragraph(72, 100, ["A page of its own."])
    document = read_pdf(pdf(first, second, title="Rules"))
    assert blocks(document) == [
        f"{SENTENCE}. Its decisions are public, and anybody may listen to them.",
        "A second paragraph follows here.",
        "A page of its own.",
    ]
    assert [b.page for b in document.blocks] == [1, 1, 2]
    assert document.title == "Rules"
    assert document.media_type == "application/pdf"


def test_two_columns_are_read_one_after_the_other_below_a_title(read_pdf):
    sheet = Sheet()
    sheet.text(72, 70, "A title over both of the columns of this page, as wide as they are together", 12, "F2")
    for n in range(12):
        sheet.text(72, 110 + 12 * n, f"Left{n:02} and some words of the left side")
        sheet.text(320, 110 + 12 * n, f"Right{n:02} and some words of the right side")
    sheet.text(72, 300, "A line over both columns that divides them, from the left edge to the right edge of the page.")
    for n in range(12, 20):
        sheet.text(72, 180 + 12 * n, f"Left{n:02} and some words of the left side")
        sheet.text(320, 183 + 12 * n, f"Right{n:02} and some words of the right side")
    text = read_pdf(pdf(sheet)).text
    wanted = [f"{side}{n:02}" for part in (range(12), range(12, 20)) for side in ("Left", "Right") for n in part]
    assert sorted(wanted, key=text.index) == wanted


def test_a_paragraph_goes_on_in_the_next_column_and_on_the_next_page(read_pdf):
    first, second = Sheet(), Sheet()
    for n in range(10):
        first.text(72, 110 + 12 * n, "words of the left side in a row")
        first.text(320, 113 + 12 * n, "words of the right side in a row")
    second.paragraph(72, 110, ["and the end of it, at last."])
    assert len(blocks(read_pdf(pdf(first, second)))) == 1


def test_divided_words_are_joined_as_the_document_writes_them_elsewhere(read_pdf):
    sheet = Sheet()
    sheet.paragraph(
        72, 100, ["A government may have an open-ended", "mandate. This govern-", "ment has an open-", "ended one."]
    )
    assert blocks(read_pdf(pdf(sheet))) == [
        "A government may have an open-ended mandate. This government has an open-ended one."
    ]


def test_the_outline_gives_every_heading_its_level_whatever_its_type(read_pdf):
    sheets, outline = [], []
    for chapter in range(1, 4):
        sheet = Sheet()
        sheet.text(72, 80, f"{chapter} Chapter of things", 10)
        sheet.paragraph(72, 100, [f"{SENTENCE} {n}" for n in range(4)])
        sheet.text(72, 160, f"{chapter}.1 A section with a heading that goes", 10)
        sheet.text(72, 172, "on over a second line", 10)
        sheet.paragraph(72, 200, [f"{SENTENCE} {n}" for n in range(4)])
        sheet.text(72, 300, "NOT A HEADING", 16, "F2")
        sheets.append(sheet)
        outline.append((1, "Chapter of things", chapter, 70))
        outline.append((2, f"{chapter}.1 A section with a heading that goes on over a second line", chapter, 150))
    document = read_pdf(pdf(*sheets, outline=outline))
    assert outlined(document) == [
        wanted
        for n in range(1, 4)
        for wanted in (
            (1, f"{n} Chapter of things"),
            (2, f"{n}.1 A section with a heading that goes on over a second line"),
        )
    ]


def test_a_heading_run_into_its_paragraph_is_cut_off_where_the_outline_ends(read_pdf):
    sheet = Sheet()
    sheet.text(72, 100, "Methods: We asked forty people about their work and about").text(72, 112, "their free time.")
    sheet.text(72, 140, "Results: They answered in many ways that we did not think of")
    document = read_pdf(pdf(sheet, outline=[(1, "Methods", 1, 95), (1, "Results", 1, 135)]))
    assert blocks(document) == [
        "Methods:",
        "We asked forty people about their work and about their free time.",
        "Results:",
        "They answered in many ways that we did not think of",
    ]


def test_tags_say_what_a_heading_is_before_fonts_do(read_pdf):
    sheet = Sheet()
    sheet.text(72, 80, "Plain but tagged", 10, tag="H1")
    sheet.text(72, 100, "Text of the section in one line.", 10, tag="P")
    sheet.text(72, 130, "Deeper", 10, tag="H3").text(72, 160, "Large but not tagged as one", 18, "F2", tag="P")
    assert outlined(read_pdf(pdf(sheet))) == [(1, "Plain but tagged"), (3, "Deeper")]


def test_without_tags_and_outline_larger_type_makes_headings_in_order_of_size(read_pdf):
    sheet = Sheet()
    sheet.text(72, 80, "The whole", 20, "F2").text(72, 120, "A part", 14, "F2")
    sheet.paragraph(72, 150, [f"{SENTENCE}," for _ in range(3)])
    sheet.text(72, 210, "Another part", 14, "F2")
    sheet.paragraph(72, 240, [f"{SENTENCE}," for _ in range(3)])
    assert outlined(read_pdf(pdf(sheet))) == [(1, "The whole"), (2, "A part"), (2, "Another part")]


def test_monospaced_lines_are_code_with_their_indentation_and_blank_lines(read_pdf):
    sheet = Sheet()
    sheet.paragraph(72, 80, [f"{SENTENCE} {n}," for n in range(6)])
    for n, (indent, line) in enumerate([(0, "def f(x):"), (4, "if x:"), (8, "return 1"), (0, ""), (4, "return 2")]):
        if line:
            sheet.text(72 + 6 * indent, 170 + 12 * n, line, 10, "F3")
    assert blocks(read_pdf(pdf(sheet)), "code") == ["def f(x):\n    if x:\n        return 1\n\n    return 2"]


def test_list_items_are_one_block_with_nesting(read_pdf):
    sheet = Sheet()
    sheet.text(72, 100, "• one item that goes on").text(80, 112, "in a second line").text(72, 124, "• two")
    sheet.text(92, 136, "1. nested").text(92, 148, "2. nested as well").text(72, 160, "• three")
    document = read_pdf(pdf(sheet))
    assert blocks(document) == [
        "- one item that goes on in a second line\n- two\n  1. nested\n  2. nested as well\n- three"
    ]
    assert document.blocks[0].kind == "list"


def table_over_two_pages(ruled, repeated):
    header = ["Name", "Amount", "Price", "State"]
    rows = [[f"Item {n}", str(n * 13), f"{n}.50 EUR", "paid" if n % 2 else "open"] for n in range(1, 56)]
    xs = [72, 200, 300, 400, 500]
    first, second = Sheet(), Sheet()
    first.text(72, 60, "The table below lists all items.")
    for sheet, part in ((first, [header, *rows[:40]]), (second, [header] * repeated + rows[40:])):
        for n, row in enumerate(part):
            for x, cell in zip(xs, row, strict=False):
                sheet.text(x + 4, 92 + 16 * n, cell, font="F2" if row is header else "F1")
        if ruled:
            sheet.grid(xs, [80 + 16 * n for n in range(len(part) + 1)])
    second.text(72, 400, "This is the end of the list.")
    wanted = "\n".join(f"| {' | '.join(row)} |" for row in [header, ["---"] * 4, *rows])
    return pdf(first, second), wanted


@pytest.mark.parametrize("ruled", [True, False], ids=["ruled", "unruled"])
@pytest.mark.parametrize("repeated", [True, False], ids=["header repeated", "header once"])
def test_a_table_of_55_rows_over_two_pages_is_one_table(read_pdf, ruled, repeated):
    raw, wanted = table_over_two_pages(ruled, repeated)
    document = read_pdf(raw)
    assert [(b.kind, b.page) for b in document.blocks] == [("paragraph", 1), ("table", 1), ("paragraph", 2)]
    assert blocks(document, "table") == [wanted]


def test_a_merged_cell_is_repeated_in_each_place_that_it_covers(read_pdf):
    sheet = Sheet()
    sheet.text(80, 92, "Region").text(180, 92, "Sales of both years")
    sheet.text(180, 112, "2024").text(280, 112, "2025").text(80, 132, "North").text(180, 132, "3").text(280, 132, "4")
    for y in (80, 100, 120, 140):
        sheet.line(72 if y != 100 else 172, y, 372, y)
    sheet.line(72, 80, 72, 140).line(172, 80, 172, 140).line(372, 80, 372, 140).line(272, 100, 272, 140)
    assert blocks(read_pdf(pdf(sheet))) == [
        "| Region | Sales of both years | Sales of both years |\n"
        "| --- | --- | --- |\n"
        "| Region | 2024 | 2025 |\n"
        "| North | 3 | 4 |"
    ]


def test_running_headers_and_page_numbers_are_left_out_and_counted(read_pdf):
    sheets = []
    for page in range(1, 5):
        sheet = Sheet()
        sheet.text(72, 40, "Annual report").text(280, 810, f"Page {page} of 4")
        sheet.paragraph(
            72, 100, [f"Something about matter {page} is written here.", "It is not the same on every page."]
        )
        sheets.append(sheet)
    with pytest.warns(FaircutWarning, match=r"8 running headers and footers were left out.*'annual report'"):
        document = read_pdf(pdf(*sheets))
    assert "Annual" not in document.text
    assert "Page" not in document.text
    assert document.text.count("Something") == 4


def test_text_printed_twice_in_one_place_comes_once(read_pdf):
    sheet = Sheet()
    for shift in (0, 0.4, 0.8):
        sheet.text(72 + shift, 100, "Shadowed title", 24)
    sheet.text(72, 140, "Text below it, printed once.")
    assert read_pdf(pdf(sheet)).text.count("Shadowed") == 1


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_a_turned_page_reads_like_an_upright_one(read_pdf, turn):
    sheet = Sheet(rotate=turn)
    sheet.paragraph(72, 100, ["First line of the page,", "second line of the page."])
    assert blocks(read_pdf(pdf(sheet))) == ["First line of the page, second line of the page."]


def test_pages_without_text_are_counted(read_pdf):
    first = Sheet().text(72, 100, "The only page with text.")
    with pytest.warns(FaircutWarning, match=r"no text on 2 of 3 pages \(2, 3\)"):
        document = read_pdf(pdf(first, Sheet(), Sheet().line(10, 10, 100, 100)))
    assert blocks(document) == ["The only page with text."]


def test_a_document_without_any_text_is_an_error_that_says_what_to_install(read_pdf):
    with pytest.raises(DocumentError, match=r"no text on its 2 pages.*(faircut\[ocr\]|OCR found none)"):
        read_pdf(pdf(Sheet(), Sheet()))


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "0 bytes"),
        (b"<html><body>Not found</body></html>", "not a PDF"),
        (b"%PDF-1.7\nnothing else in it", "damaged"),
        (pdf(), "0 pages|damaged"),
        (pdf(Sheet().text(72, 100, "secret"), encrypt=True), "encrypted with a password"),
    ],
    ids=["0 bytes", "HTML", "damaged", "0 pages", "password"],
)
def test_what_cannot_be_read_is_a_typed_error_with_the_files_name(read_pdf, raw, reason):
    with pytest.raises(DocumentError, match=rf"file\.pdf: .*({reason})"):
        read_pdf(raw)


def test_a_broken_cross_reference_table_does_not_lose_the_text(read_pdf):
    raw = pdf(Sheet().text(72, 100, "The text is still here."))
    place = raw.index(b"xref\n")
    broken = (
        raw[:place]
        + b"xref\n0 1\n9999999999 65535 f \n"
        + raw[raw.index(b"trailer") :].replace(b"startxref\n", b"startxref\n7")
    )
    assert blocks(read_pdf(broken)) == ["The text is still here."]


def test_a_file_cut_off_in_the_middle_is_damaged(read_pdf):
    raw = pdf(*(Sheet().text(72, 100, f"Page {n} of many.") for n in range(5)))
    with pytest.raises(DocumentError, match="damaged"):
        read_pdf(raw[: raw.index(b"xref\n") // 2])


@pytest.mark.slow
def test_a_table_of_500_pages_is_one_table_and_takes_linear_time(read_pdf):
    def sheet(page):
        made = Sheet()
        for n in range(40):
            for x in (72, 200, 300, 400):
                made.text(x, 92 + 16 * n, f"{page}-{n}-{x}")
        return made.grid([68, 190, 290, 390, 500], [80 + 16 * n for n in range(41)])

    raw = pdf(*map(sheet, range(500)))
    start = time.process_time()
    document = read_pdf(raw)
    assert time.process_time() - start < 20
    assert [b.kind for b in document.blocks] == ["table"]
    assert document.text.count("\n") == 500 * 40 + 1


@pytest.mark.parametrize("layers", [1, 2])
def test_a_stream_that_expands_beyond_all_bounds_is_refused_before_it_is_read(read_pdf, layers):
    packed = zlib.compress(bytes(33 * 2**20), 9)
    packed = zlib.compress(packed, 9) if layers == 2 else packed
    filters = "[" + "/FlateDecode" * layers + "]"
    bomb = f"9 0 obj\n<</Filter {filters}/Length {len(packed)}>>\nstream\n".encode() + packed + b"\nendstream\nendobj\n"
    raw = pdf(Sheet().text(72, 100, "harmless"))
    start = time.process_time()
    with pytest.raises(DocumentError, match="a stream expands beyond 33,554,432 bytes"):
        read_pdf(raw[: raw.index(b"xref\n")] + bomb + raw[raw.index(b"xref\n") :])
    assert time.process_time() - start < 2


def test_crowded_pages_take_bounded_time(read_pdf):
    sheet = Sheet()
    for n in range(6000):
        sheet.text(20 + (n * 37) % 550, 20 + (n * 53) % 800, f"w{n}", 4)
    for n in range(3000):
        sheet.line(n % 590, 10, n % 590, 800).line(10, n % 830, 590, n % 830)
    start = time.process_time()
    assert "w5999" in read_pdf(pdf(sheet)).text
    assert time.process_time() - start < 10


@pytest.mark.slow
def test_a_page_more_takes_a_few_times_its_text_in_memory(read_pdf):
    def sheet(page):
        made = Sheet()
        for n in range(50):
            end = "." if n % 5 == 4 else ""
            made.text(72, 60 + 13 * n + 8 * (n // 5), f"Words of page {page % 9} and line {n} stand here in order{end}")
        return made

    def peak(count):
        raw = pdf(*map(sheet, range(count)))
        tracemalloc.start()
        try:
            assert len(read_pdf(raw).text) > 2_000 * count
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(1)  # what is loaded once
    assert (peak(260) - peak(100)) / 160 < 17_000  # bytes; 20,000 when the lines are held beside the text made of them
