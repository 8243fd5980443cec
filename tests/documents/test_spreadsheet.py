"""Spreadsheets: tables where a person sees them, values as a person writes them, nothing that ends the process."""

import base64
import time
import warnings
import zipfile
import zlib
from datetime import date, datetime, timedelta
from datetime import time as clock
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faircut.documents import spreadsheet_bounds
from faircut.documents.sheet_tables import LONG, sheet_blocks
from faircut.documents.spreadsheet import SPREADSHEET, cell_text
from faircut.documents.spreadsheet_bounds import check_bounds
from faircut.errors import DocumentError, FaircutWarning

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
DATE, PERCENT, QUOTED = 1, 2, 3  # styles below
STYLES = (
    f'<styleSheet xmlns="{MAIN}"><numFmts><numFmt numFmtId="170" formatCode="0.0&quot;%&quot;"/></numFmts>'
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="9"/><xf numFmtId="170"/></cellXfs></styleSheet>'
)


def column(number):
    return chr(65 + number) if number < 26 else column(number // 26 - 1) + column(number % 26)


def cell(place, value):
    """Text, a number, or a number with the number of its style."""
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>' if value else ""
    number, style = value if isinstance(value, tuple) else (value, 0)
    return f'<c r="{place}" s="{style}"><v>{number}</v></c>'


def rows_xml(rows):
    made = ("".join(cell(f"{column(c)}{r}", v) for c, v in enumerate(row)) for r, row in enumerate(rows, 1))
    return "".join(f'<row r="{r}">{cells}</row>' for r, cells in enumerate(made, 1))


def write(path: Path, sheets, *, hidden=(), merged=(), raw=None) -> Path:
    """A workbook; ``raw`` replaces the rows of the first sheet by XML."""

    def relations(entries):
        inner = "".join(f'<Relationship Id="{i}" Type="{RELATION}/{k}" Target="{t}"/>' for i, k, t in entries)
        return f'<Relationships xmlns="{PACKAGE}">{inner}</Relationships>'

    names = list(sheets)
    state = dict.fromkeys(hidden, 'state="hidden"')
    entries = "".join(
        f'<sheet name="{escape(n)}" sheetId="{i}" r:id="r{i}" {state.get(n, "")}/>' for i, n in enumerate(names, 1)
    )
    parts = [(f"r{i}", "worksheet", f"worksheets/sheet{i}.xml") for i in range(1, len(names) + 1)]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("_rels/.rels", relations([("w", "officeDocument", "xl/workbook.xml")]))
        book = f'<workbook xmlns="{MAIN}" xmlns:r="{RELATION}"><sheets>{entries}</sheets></workbook>'
        archive.writestr("xl/workbook.xml", book)
        archive.writestr("xl/_rels/workbook.xml.rels", relations([*parts, ("s", "styles", "styles.xml")]))
        archive.writestr("xl/styles.xml", STYLES)
        for i, name in enumerate(names, 1):
            data = raw if raw is not None and i == 1 else rows_xml(sheets[name])
            ranges = "".join(f'<mergeCell ref="{ref}"/>' for ref in merged)
            end = f"<mergeCells>{ranges}</mergeCells>" if ranges else ""
            archive.writestr(
                f"xl/worksheets/sheet{i}.xml",
                f'<worksheet xmlns="{MAIN}"><sheetData>{data}</sheetData>{end}</worksheet>',
            )
    return path


@pytest.fixture
def read(tmp_path):
    return lambda sheets, **more: SPREADSHEET.read(write(tmp_path / "a.xlsx", sheets, **more), "a.xlsx")


def kinds(document):
    return [block.kind for block in document.blocks]


# ---------------------------------------------------------------- values and sheets


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3.0, "3"), (-0.5, "-0.5"), (0.1 + 0.2, "0.3"), (1e15, "1e+15"),
        (12345678901.0, "12345678901"), (True, "TRUE"),
        (False, "FALSE"), (date(2024, 1, 5), "2024-01-05"), (datetime(2024, 1, 5), "2024-01-05"),
        (datetime(2024, 1, 5, 13, 4), "2024-01-05 13:04"),
        (datetime(2024, 1, 5, 13, 3, 59, 999_999), "2024-01-05 13:04"),
        (datetime(2024, 1, 5, 13, 4, 7), "2024-01-05 13:04:07"), (clock(3, 4), "03:04"), (clock(3, 4, 5), "03:04:05"),
        (timedelta(hours=30), "30:00:00"), (timedelta(seconds=-61), "-0:01:01"), (" a\n", "a"), ("", ""),
    ],
)  # fmt: skip
def test_values_are_written_as_a_person_expects(value, text):
    assert cell_text(value) == text


def test_each_sheet_is_a_heading_with_its_tables(read):
    document = read({"Stock": [["Part", "Count"], ["Bolt", 3], ["Nut", 2.5]], "Empty": [], "Q&A": [["a line"]]})
    assert document.text == ("Stock\n\n| Part | Count |\n| --- | --- |\n| Bolt | 3 |\n| Nut | 2.5 |\n\nQ&A\n\na line\n")
    assert [(b.kind, b.level) for b in document.blocks] == [
        ("heading", 1), ("table", None), ("heading", 1), ("paragraph", None),
    ]  # fmt: skip
    assert (document.title, document.media_type.rsplit(".", 1)[-1]) == ("a", "sheet")


def test_dates_and_percentages_are_read_as_they_are_shown(read):
    rows = [
        ["Day", "Share", "Odd"],
        [(45296, DATE), (0.25, PERCENT), (0.25, QUOTED)],
        [(45297, DATE), (0.07, PERCENT), 1],
    ]
    lines = read({"S": rows}).text.splitlines()[4:]
    assert lines == ["| 2024-01-05 | 25% | 0.25 |", "| 2024-01-06 | 7% | 1 |"]


def test_hidden_sheets_are_left_out_and_counted(read):
    with pytest.warns(FaircutWarning, match=r"left out 1 hidden sheets \('Lists'\)"):
        document = read({"A": [["x", "y"], ["1", "2"]], "Lists": [["secret"]]}, hidden=["Lists"])
    assert "secret" not in document.text


def test_merged_cells_are_repeated_in_each_place_that_they_cover(read):
    rows = [["Region", "Year", "", ""], ["", "2023", "2024", "Note"], ["North", 1, 2, "a"], ["", 3, 4, "b"]]
    document = read({"S": rows}, merged=["A1:A2", "B1:D1", "A3:A4"])
    assert document.text.splitlines()[2:] == [
        "| Region | Year / 2023 | Year / 2024 | Year / Note |", "| --- | --- | --- | --- |",
        "| North | 1 | 2 | a |", "| North | 3 | 4 | b |",
    ]  # fmt: skip


# ---------------------------------------------------------------- tables on a sheet


def found(rows):
    return [(kind, text.splitlines()) for kind, text in sheet_blocks(rows)]


def test_blank_rows_part_tables_and_a_title_above_is_a_paragraph():
    rows = [["Sales", ""], ["Part", "Count"], ["Bolt", "3"], ["", ""], ["", ""], ["Name", "Town"], ["Ada", "Bath"]]
    assert found(rows) == [
        ("paragraph", ["Sales"]),
        ("table", ["| Part | Count |", "| --- | --- |", "| Bolt | 3 |"]),
        ("table", ["| Name | Town |", "| --- | --- |", "| Ada | Bath |"]),
    ]


def test_a_single_blank_row_inside_a_table_does_not_take_the_header_from_the_rest():
    rows = [["Part", "Count"], ["Bolt", "3"], ["Nut", "4"], ["", ""], ["Cog", "5"]]
    assert found(rows) == [
        ("table", ["| Part | Count |", "| --- | --- |", "| Bolt | 3 |", "| Nut | 4 |", "| Cog | 5 |"])
    ]


def test_tables_side_by_side_are_parted_where_both_have_a_header():
    rows = [
        ["Part", "Count", "", "", ""],
        ["Bolt", "3", "", "Name", "Town"],
        ["Nut", "4", "", "Ada", "Bath"],
        ["", "", "", "Bob", "Cork"],
        ["", "", "", "", ""],
        ["Total", "7", "", "", ""],
    ]
    tables = found(rows[:4])
    assert [lines[0] for _, lines in tables] == ["| Part | Count |", "| Name | Town |"]
    assert tables[1][1][2:] == ["| Ada | Bath |", "| Bob | Cork |"]


def test_a_blank_column_for_the_look_of_it_does_not_part_a_table():
    rows = [["1", "", "Voltage", "", "kV"], ["2", "", "Current", "", "A"]]
    assert found(rows) == [
        ("table", ["|  |  |  |", "| --- | --- | --- |", "| 1 | Voltage | kV |", "| 2 | Current | A |"])
    ]


def test_a_column_of_text_is_text_and_one_of_values_is_a_table():
    assert found([["First line"], ["second line"]]) == [("paragraph", ["First line", "second line"])]
    assert found([["Count"], ["1"], ["2"]]) == [("table", ["| Count |", "| --- |", "| 1 |", "| 2 |"])]


def test_a_long_table_is_streamed_with_its_title_header_and_neighbour():
    def rows():
        yield ["Report", "", "", "", ""]
        yield ["Id", "Name", "", "Key", "Value"]
        for number in range(3 * LONG):
            yield [str(number), f"n{number}", "", f"k{number}", "7"]
        yield [""] * 5
        yield ["the end", "", "", "", ""]

    title, first, second, end = sheet_blocks(rows())
    assert title == ("paragraph", "Report")
    assert first[1].startswith("| Id | Name |\n| --- | --- |\n| 0 | n0 |\n")
    assert second[1].endswith(f"| k{3 * LONG - 1} | 7 |")
    assert first[1].count("\n") == second[1].count("\n") == 3 * LONG + 1
    assert end == ("paragraph", "the end")


GRID = st.lists(st.lists(st.sampled_from(["", "", "a", "b c", "1"]), min_size=5, max_size=5), max_size=9)


@given(GRID)
def test_every_cell_of_any_sheet_is_in_a_block(rows):
    words = sorted(word for row in rows for cell in row for word in cell.split())
    text = " ".join(text for _, text in sheet_blocks(rows))
    kept = sorted(word for word in text.replace("|", " ").replace(" / ", " ").split() if word.strip("-"))
    assert set(kept) == set(words)
    assert len(kept) <= len(words)  # repeated ones may be joined: a name over two rows of a header, a merged title


# ---------------------------------------------------------------- other formats

OLD = base64.b64decode(
    "eNrtWEtoE0EY/mY3b9s8aiq0QgkFq/ZxEC9e6mqpFg+J0YsPhJo2eyiNiYR4UEGrNUdB8KR4KdSDl6oXH/hA8eJBqOhBEIRU8eRJUPDQ"
    "Zv3/PxtNY4UGtNCyX5h/Zv6Zb+bLPHf39WykNHW3fQ512AkdZcsPT41PUfBXM2FQuWVxshr7KFgOVhX8PppIjxuPml95eQ55vueg4Y7r"
    "OVngI4VjOIlELmvGVhADoiGlWEM/WYUb5AmiTVS1iB0Vu17sban5WOwu8VwW2091S+ooZo1E9w57FR/WOqUsCG73vnDei2cbWvGSV/H5"
    "K6pS143d+bFUZpUVdLiaMA2a0CEza+Y5H8JNBIAjhL54vG9wsIQoTfY0vlsx4Ft1Vz+LOf6V9SuQ/8div/cvfh9NYr3/quYCJmAdl01S"
    "xDpEXFyiY38mPY8eWhKQQN59BfMERfFU2iRPMj82alJ2IJcp6EDiVCHAB7wcCOFFB0KzbJQmsmmEJB2R7RImRfO3vr6JjySNYfFMyCVQ"
    "uSo2sTJYuMAMIgelRMSROqBbGD1iL0qrGyXdLjZKoinuSrbaib2TUueSlHZRP9sFb43NNektlC5+OfCgo/jJ2ErpmaG5M9GZd8YUOunq"
    "ShOff5PoVb3q+jXGQ6MaK/tY+SC27Y8jxqeFbe2WfR+GsMCbihARW8nx6KhfOc0eK2arJdhK2DweT6h/VteCey+YddbNbOZpS/A04fFo"
    "ntM4xwyP3Y9eV/8pjYRuq+TautRmdZ9FgSaldOlr1Dc3TEfobwTgwIEDBw4cOHDgYM1AySNq5YHcZb8p8GOk1/6us0Ch7HwmWbM4iBz9"
    "CvRSuQdZivM43dD62QC3qrallsmpfi9kHKLe8xjHiOgYb3j90iubqv0/yyaG/90WarT/ciM6/3P/PwGb+tgi"
)


def test_an_old_xls_file_is_read(tmp_path):
    path = tmp_path / "a.xls"
    path.write_bytes(zlib.decompress(OLD))
    assert SPREADSHEET.read(path, "a").text.splitlines() == [
        "Old", "", "| Item | Made | Price |", "| --- | --- | --- |", "| Bolt | 2024-01-02 | 3.5 |", "| Nut |  | 1 |",
        "| Nut |  | 2 |",
    ]  # fmt: skip


def ods(path: Path, rows: str) -> Path:
    office = "urn:oasis:names:tc:opendocument:xmlns:"
    names = " ".join(f'xmlns:{n}="{office}{n}:1.0"' for n in ("office", "table", "text"))
    table = f'<table:table table:name="T">{rows}</table:table>'
    body = f"<office:body><office:spreadsheet>{table}</office:spreadsheet></office:body>"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", '<manifest:manifest xmlns:manifest="urn:x"/>')
        archive.writestr("content.xml", f"<office:document-content {names}>{body}</office:document-content>")
    return path


def ods_cell(text, more=""):
    return f'<table:table-cell office:value-type="string" {more}><text:p>{text}</text:p></table:table-cell>'


def test_an_ods_file_is_read(tmp_path):
    rows = "".join(f"<table:table-row>{ods_cell(a)}{ods_cell(b)}</table:table-row>" for a, b in ("ab", "cd"))
    blank = '<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row>'
    assert (
        SPREADSHEET.read(ods(tmp_path / "a.ods", rows + blank), "a").text
        == "T\n\n| a | b |\n| --- | --- |\n| c | d |\n"
    )


# ---------------------------------------------------------------- bad input


def far(reference):
    return f'<row r="1">{cell("A1", "a")}</row><row r="1048576">{reference}</row>'


@pytest.mark.parametrize(
    "corner",
    [
        '<c r="XFD1048576"><v>1</v></c>', "<c r='XFD1048576'><v>1</v></c>", '<c  r = "XFD1048576"><v>1</v></c>',
        '<x:c r="XFD1048576"><v>1</v></x:c>', '<c s="0" t="n" r="XFD1048576"><v>1</v></c>',
    ],
)  # fmt: skip
def test_cells_in_far_corners_are_refused_before_they_end_the_process(tmp_path, corner):
    path = write(tmp_path / "a.xlsx", {"S": []}, raw=far(corner))
    with pytest.raises(DocumentError, match="17,179,869,184 places"):
        SPREADSHEET.read(path, "a")


def test_empty_cells_in_far_corners_do_no_harm(read):
    for corner in ('<c r="XFD1048576" s="0"/>', '<c r="XFD1048576" s="0"></c>'):
        assert read({"S": []}, raw=far(corner)).text == "S\n\na\n"


def test_a_long_text_shared_by_very_many_cells_is_refused(tmp_path):
    many = "".join(f'<row r="{i}"><c r="A{i}" t="s"><v>0</v></c></row>' for i in range(1, 10_001))
    path = write(tmp_path / "a.xlsx", {"S": []}, raw=many)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("xl/sharedStrings.xml", f'<sst xmlns="{MAIN}"><si><t>{"x" * 30_000}</t></si></sst>')
    with pytest.raises(DocumentError, match="repeats its texts to 300,"):
        SPREADSHEET.read(path, "a")


@pytest.mark.parametrize(
    "rows",
    [
        '<table:table-row table:number-rows-repeated="1048576">{0}</table:table-row>',
        '<table:table-row table:number-rows-repeated="50000">{1}</table:table-row>',
    ],
)
def test_repeated_cells_of_an_ods_file_are_counted(tmp_path, rows):
    wide = ods_cell("b", 'table:number-columns-repeated="16384"')
    path = ods(tmp_path / "a.ods", rows.format(wide, ods_cell("x" * 30_000)))
    with pytest.raises(DocumentError, match="refused"):
        SPREADSHEET.read(path, "a")


def test_an_ods_file_whose_table_never_ends_is_refused(tmp_path):
    path = tmp_path / "a.ods"
    whole = f"<table:table-row>{ods_cell('a')}</table:table-row>"
    for content in (whole + "<table:table>", whole.replace("</text:p>", "&e;</text:p>")):
        with pytest.raises(DocumentError, match="not well-formed"):
            SPREADSHEET.read(ods(path, content), "a")


def test_a_count_of_shared_texts_that_cannot_be_is_refused(tmp_path):
    path = write(tmp_path / "a.xlsx", {"S": [["a"]]})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("xl/sharedStrings.xml", f'<sst xmlns="{MAIN}" count="1" uniqueCount="99999999999"></sst>')
    with pytest.raises(DocumentError, match="more shared texts than"):
        SPREADSHEET.read(path, "a")


def test_large_sheets_are_compared_with_the_limit_by_one_search(tmp_path, monkeypatch):
    rows = [["a", "b", 1, 2]] * 3000
    path = write(tmp_path / "a.xlsx", {"S": rows})
    for piece in (100, 2**22):  # the quick way for large sheets, and the exact one
        monkeypatch.setattr(spreadsheet_bounds, "_PIECE", piece)
        monkeypatch.setattr(spreadsheet_bounds, "MAX_CELLS", 12_000)
        check_bounds(path)
        monkeypatch.setattr(spreadsheet_bounds, "MAX_CELLS", 11_999)
        with pytest.raises(DocumentError, match="12,000 places"):
            check_bounds(path)


def test_an_old_file_with_far_cells_or_broken_chains_is_refused(tmp_path):
    path = tmp_path / "a.xls"
    good = zlib.decompress(OLD)
    many = good.index(b"\xbd\x00\x12\x00\x01\x00")  # the numbers B2:C2: a row, two of them, the last column
    path.write_bytes(good[: many + 4] + b"\xff\xff" + good[many + 6 : many + 20] + b"\xff\xff" + good[many + 22 :])
    with pytest.raises(DocumentError, match="4,294,967,296 places"):
        SPREADSHEET.read(path, "a")
    for broken in (good[:600], good[:48] + b"\x07\x00\x00\x00" + good[52:], good[:30] + b"\xff\xff" + good[32:]):
        path.write_bytes(broken)
        with pytest.raises(DocumentError, match=r"a\.xls: "):
            SPREADSHEET.read(path, "a")


@pytest.mark.parametrize(
    "piece",
    [
        b"<c ",
        b'<c r="A1" t="s">',
        b"<table:table-row ",
        b"<table:table-cell '\"",
        b' r="A1" t="s" ',
        b"<c \"'>",
        b"<si ",
    ],
)
def test_looking_at_any_bytes_takes_linear_time(piece):
    def seconds(count):
        data = b"<row>" + piece * count
        start = time.process_time()
        spreadsheet_bounds._xlsx_size(data, [40_000_000])
        spreadsheet_bounds._filled_area(data)
        spreadsheet_bounds._ods_size(data)
        return time.process_time() - start

    assert seconds(20_000) < 1
    assert seconds(80_000) < 8 * seconds(20_000) + 0.1


@pytest.mark.parametrize("name", ["a.xlsx", "a.xls", "a.ods", "a.xlsb"])
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"<html><table></table></html>", "not what its name says"),
        (b"PK\x03\x04 cut short", "damaged"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "damaged"),
    ],
)
def test_what_is_no_spreadsheet_is_refused_with_the_reason(tmp_path, name, content, reason):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DocumentError, match=f"{name}: {reason}"):
        SPREADSHEET.read(path, "a")


def test_an_archive_without_workbook_and_a_workbook_without_text_are_refused(tmp_path, read):
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", "<document/>")
    with pytest.raises(DocumentError, match="without a workbook"):
        SPREADSHEET.read(path, "a")
    with pytest.raises(DocumentError, match="no sheet has a cell with text"):
        read({"S": [[" "]], "T": []})


def test_reading_is_linear(tmp_path):
    def seconds(count):
        path = write(tmp_path / "a.xlsx", {"S": [["Id", "Name"], *([i, f"name {i}"] for i in range(count))]})
        start = time.process_time()
        SPREADSHEET.read(path, "a")
        return time.process_time() - start

    seconds(10)  # imports
    small = min(seconds(4000) for _ in range(3))
    assert seconds(32_000) < 24 * small + 0.1


# ---------------------------------------------------------------- files that people have


def test_the_tables_of_a_real_data_sheet_are_found(shared_data):
    path = shared_data / "nasty" / "docling__xlsx_07_gap_tolerance_.xlsx"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        document = SPREADSHEET.read(path, "x")
    assert kinds(document) == ["heading", "table", "table", "paragraph", "paragraph", "table"]
    assert "| Package no.: | Doc. no.: | Rev. |\n| --- | --- | --- |\n| 13156456 | 144564 | A |\n" in document.text
    assert "| 6 | Control voltage supply |  | : | 2 x 136V AC UPS 1 x 137V AC normal | Note 1 |" in document.text
