"""Peculiarities of PDF files that real producers have, each in a small file that the tests write."""

import warnings

import pytest
from pdf_blocks import SENTENCE, blocks, outlined
from pdf_writer import LIGATURES, Sheet, locked, pdf

from faircut.errors import DocumentError, FaircutWarning

# ---------------------------------------------------------------- files


def test_a_password_for_owners_only_does_not_keep_anybody_from_reading(read_pdf):
    raw = locked(pdf(Sheet().text(72, 100, "Anybody may read this.")), owner="of the owner")
    assert blocks(read_pdf(raw)) == ["Anybody may read this."]


def test_a_password_for_users_is_a_typed_error(read_pdf):
    raw = locked(pdf(Sheet().text(72, 100, "Nobody may read this.")), owner="of the owner", user="of the user")
    with pytest.raises(DocumentError, match="encrypted with a password"):
        read_pdf(raw)


def test_a_tree_of_tags_that_loops_ends(read_pdf):
    raw = pdf(Sheet().text(72, 100, "First.", tag="P").text(72, 130, "Second.", tag="P"))
    content = raw[raw.index(b"<</Type/MCR") : raw.index(b"MCID 0>>") + 8]
    document = raw[: raw.index(b"/S/Document")].rsplit(b" 0 obj", 1)[0].rsplit(b"\n", 1)[1]
    assert blocks(read_pdf(raw.replace(content, (document + b" 0 R").ljust(len(content)), 1))) == ["First.", "Second."]


def test_more_than_1000_pages_are_read_by_the_fast_engine_to_the_end(read_pdf):
    raw = pdf(*(Sheet().text(72, 100, f"Matter {n} of many.") for n in range(1, 1006)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the second engine would say that it stood in
        document = read_pdf(raw)
    assert [b.page for b in document.blocks] == list(range(1, 1006))


def test_pages_that_inherit_their_size_and_fonts_read_like_others(read_pdf):
    sheet = Sheet(width=400, height=600)
    sheet.grid([72, 200, 300], [200 + 16 * n for n in range(4)])
    for n in range(3):
        sheet.text(76, 212 + 16 * n, f"Item {n}").text(204, 212 + 16 * n, str(n))
    assert blocks(read_pdf(pdf(sheet, inherited=True))) == blocks(read_pdf(pdf(sheet)))


def test_one_damaged_page_is_said_and_the_others_are_read(read_pdf):
    raw = pdf(Sheet().text(72, 100, "First page."), Sheet().text(72, 100, "Second page."))
    second = raw.rindex(b"/Type/Page/Parent")
    broken = raw[:second] + b"/Type/Pagx/Parent" + raw[second + 17 :]
    with pytest.warns(FaircutWarning, match=r"damaged, 1 of 2 pages \(2\) cannot be opened"):
        document = read_pdf(broken)
    assert blocks(document) == ["First page."]


# ---------------------------------------------------------------- letters


def test_ligatures_become_their_letters(read_pdf):
    sheet = Sheet().text(72, 100, "A di\u201aerent o\u0192ce with a \u201eag", font="F5")
    assert set(LIGATURES.values()) == {"ff", "ffi", "fl"}
    assert blocks(read_pdf(pdf(sheet))) == ["A different office with a flag"]


def test_letters_set_apart_are_words(read_pdf):
    sheet = Sheet()
    x = 72.0
    for char in "RESEARCH ARTICLE":
        if char == " ":
            x += 8
            continue
        sheet.text(x, 80, char, 14, "F2")
        x += {"I": 3.9, "S": 9.3, "E": 9.3, "T": 8.6, "L": 8.6}.get(char, 10.1) + 2.6
    sheet.paragraph(72, 120, [f"{SENTENCE}," for _ in range(3)])
    assert "RESEARCH ARTICLE" in read_pdf(pdf(sheet)).text


def test_single_letters_with_spaces_between_them_stay_apart(read_pdf):
    assert blocks(read_pdf(pdf(Sheet().text(72, 100, "The answers were A B C D E and F")))) == [
        "The answers were A B C D E and F"
    ]


def test_an_accent_drawn_by_itself_joins_the_letter_below_it(read_pdf):
    sheet = Sheet().text(72, 100, "Mr Jose").text(72 + 31.1, 100, "\u00b4").text(110, 100, "came to see us.")
    assert blocks(read_pdf(pdf(sheet))) == ["Mr Jos\u00e9 came to see us."]


# ---------------------------------------------------------------- headings


def test_a_bookmark_to_the_foot_of_the_page_before_finds_its_heading(read_pdf):
    first, second, third = Sheet(), Sheet(), Sheet()
    first.text(72, 80, "Opening").paragraph(72, 100, [f"{SENTENCE}," for _ in range(4)])
    second.text(72, 80, "Middle").paragraph(72, 100, [f"{SENTENCE}," for _ in range(4)])
    third.text(72, 80, "Closing").paragraph(72, 100, [f"{SENTENCE}," for _ in range(4)])
    marks = [(1, "Opening", 1, 70), (2, "Middle", 1, 800), (2, "Closing", 2, 800)]
    assert outlined(read_pdf(pdf(first, second, third, outline=marks))) == [
        (1, "Opening"),
        (2, "Middle"),
        (2, "Closing"),
    ]


def test_a_title_that_comes_twice_on_a_page_has_its_levels_in_order_when_bookmarks_lead_to_the_page_only(read_pdf):
    sheet = Sheet().text(72, 60, "Abstract").text(72, 80, "Aims: We asked what people do and why they do it")
    sheet.text(72, 100, "Findings: They do many things, for many reasons")
    sheet.text(72, 130, "Aims").text(72, 150, f"{SENTENCE}.").text(72, 180, "Findings").text(72, 200, f"{SENTENCE}.")
    marks = [(1, "Abstract", 1, None), (2, "Aims", 1, None), (2, "Findings", 1, None)]
    marks += [(1, "Aims", 1, None), (1, "Findings", 1, None)]
    assert outlined(read_pdf(pdf(sheet, outline=marks))) == [
        (1, "Abstract"),
        (2, "Aims:"),
        (2, "Findings:"),
        (1, "Aims"),
        (1, "Findings"),
    ]


# ---------------------------------------------------------------- layout


def test_columns_stay_columns_when_some_of_their_lines_are_justified_widely(read_pdf):
    sheet = Sheet()
    for n in range(10):
        sheet.text(72, 110 + 12 * n, f"Left{n:02} and some words of the left side")
        y = 110 + 12 * n
        if n in (3, 4, 6, 8):
            for x, word in zip((320, 360, 390, 425, 455, 480), (f"Right{n:02}", "with", "words", "far", "apart", "x"),
                               strict=True):  # fmt: skip
                sheet.text(x, y, word)
        else:
            sheet.text(320, y, f"Right{n:02} and some words of the right")
    text = read_pdf(pdf(sheet)).text
    wanted = [f"{side}{n:02}" for side in ("Left", "Right") for n in range(10)]
    assert sorted(wanted, key=text.index) == wanted


def test_justified_lines_with_wide_spaces_are_no_table(read_pdf):
    sheet = Sheet()
    lines = [
        "will produce the meaning of each application",
        "in the order that is given by the sequence and",
        "by the rules of chapter two so that all is one",
    ]
    for n, line in enumerate(lines):
        words = line.split()
        widths = [5.2 * len(w) for w in words]
        gap = (300 - sum(widths)) / (len(words) - 1)
        x = 72.0
        for word, width in zip(words, widths, strict=True):
            sheet.text(round(x, 1), 100 + 12 * n, word)
            x += width + gap
    sheet.text(72, 136, "at last.")
    assert not blocks(read_pdf(pdf(sheet)), "table")


def test_formulas_that_begin_with_a_sign_of_equality_are_no_table(read_pdf):
    sheet = Sheet()
    for n, text in enumerate(["f(x, y, z)", "f(x) by definition", "g(x)", "x"]):
        sheet.text(72, 100 + 12 * n, "=").text(90, 100 + 12 * n, text)
    assert not blocks(read_pdf(pdf(sheet)), "table")


def test_a_header_whose_groups_name_their_columns_below_is_two_rows(read_pdf):
    sheet = Sheet()
    xs = [72, 172, 242, 312, 382, 452]
    sheet.text(80, 96, "State").text(200, 92, "Sales").text(355, 92, "Returns")
    for x, name in zip(xs[1:], ("new", "old", "new", "old"), strict=False):
        sheet.text(x + 8, 106, name)
    for n, row in enumerate([["North", 1, 2, 3, 4], ["South", 5, 6, 7, 8]]):
        for x, cell in zip(xs, row, strict=False):
            sheet.text(x + 8, 124 + 16 * n, str(cell))
    for y in (80, 112, 128, 144):
        sheet.line(xs[0], y, xs[-1], y)
    for x in xs:
        sheet.line(x, 80 if x in (72, 172, 312, 452) else 112, x, 144)
    assert blocks(read_pdf(pdf(sheet))) == [
        "| State | Sales | Sales | Returns | Returns |\n"
        "| --- | --- | --- | --- | --- |\n"
        "| State | new | old | new | old |\n"
        "| North | 1 | 2 | 3 | 4 |\n"
        "| South | 5 | 6 | 7 | 8 |"
    ]


def test_a_column_that_only_repeats_its_neighbour_is_dropped(read_pdf):
    sheet = Sheet()
    for n, (name, value) in enumerate([("Colour", "green"), ("Weight", "12 kg"), ("Size", "large")]):
        sheet.text(80, 92 + 20 * n, name).text(182, 92 + 20 * n, value)
    for n in range(4):
        sheet.line(72, 80 + 20 * n, 372, 80 + 20 * n)
    sheet.line(72, 80, 72, 140).line(172, 80, 172, 140).line(372, 80, 372, 140).line(300, 80, 300, 83)
    assert blocks(read_pdf(pdf(sheet))) == ["| Colour | green |\n| --- | --- |\n| Weight | 12 kg |\n| Size | large |"]


def test_cells_that_stand_at_the_foot_of_their_row_belong_to_it(read_pdf):
    sheet = Sheet()
    y = 100
    for n in range(6):
        sheet.text(100, y, f"Part {n} that was asked for by")
        if n % 2:
            y += 12
            sheet.text(100, y, "the workshop in the spring")
        sheet.text(72, y, str(n)).text(300, y, f"{n}.50").text(360, y, "ordered" if n % 3 else "in store")
        y += 20
    (table,) = blocks(read_pdf(pdf(sheet)), "table")
    assert "| 3 | Part 3 that was asked for by the workshop in the spring | 3.50 | in store |" in table
    assert table.count("\n") == 6


# ---------------------------------------------------------------- kinds


def test_addresses_typed_like_code_are_text(read_pdf):
    sheet = Sheet()
    sheet.paragraph(72, 80, [f"{SENTENCE} {n}," for n in range(6)])
    sheet.text(72, 170, "mary@example.org", font="F3").text(72, 182, "https://example.org/people", font="F3")
    assert not blocks(read_pdf(pdf(sheet)), "code")


def test_a_printed_text_file_keeps_its_lines(read_pdf):
    sheet = Sheet().text(72, 60, "poem.txt", 11, "F2")
    lines = [
        "One line is short.",
        "Another is shorter.",
        "This one goes on for much longer than the others do.",
        "End.",
    ]
    sheet.paragraph(72, 90, lines, font="F3")
    assert blocks(read_pdf(pdf(sheet)), "code") == ["\n".join(lines)]


def test_a_typewritten_letter_is_text(read_pdf):
    sheet = Sheet()
    lines = ["This letter was typed on a machine and has lines", "that are all about as long as the paper is wide,",
             "so that they run on from one line to the next", "until it ends."]  # fmt: skip
    sheet.paragraph(72, 90, lines, font="F3")
    assert blocks(read_pdf(pdf(sheet))) == [" ".join(lines)]


@pytest.mark.parametrize("foot", ["Page 1 of 205", "- 7 -", "Seite 3 von 4"])
def test_the_page_number_of_a_single_page_is_left_out_and_said(read_pdf, foot):
    sheet = Sheet()
    sheet.paragraph(72, 100, [f"{SENTENCE}.", "Its decisions are public."])
    sheet.text(280, 810, foot)
    with pytest.warns(FaircutWarning, match="1 running headers and footers"):
        document = read_pdf(pdf(sheet))
    assert foot not in document.text
