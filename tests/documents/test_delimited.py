"""CSV and TSV: whatever the dialect, the cells that a spreadsheet would show are the cells of one table."""

import csv
import io
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faircut.documents.building import pipe_table
from faircut.documents.delimited import DELIMITED, Form, delimited_rows, find_form
from faircut.documents.rows import looks_like_header, table_text
from faircut.errors import DocumentError, FaircutWarning


@pytest.fixture
def read(tmp_path):
    def read(content, name="a.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return DELIMITED.read(path, name)

    return read


def table(*rows):
    return pipe_table(rows) + "\n"


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("a,b\n1,2\n", Form(",")),
        ("a;b\n1,5;2,5\n3,5;4,5\n", Form(";")),  # decimal commas
        ("1,5;2,3\n2,5;3,1\n", Form(";")),
        ("name\tplace\nAda, Lady\tLondon\n", Form("\t")),
        ("a|b|c\n1|2|3\n", Form("|")),
        ("sep=;\na,b;c\n", Form(";")),
        ('"a";"b, c; d"\n"e";"f"\n', Form(";")),
        ("one column\nof text\n", Form(",")),
        ("a,b\n'x, y',2\n'z, w',3\n", Form(",", "'")),
        ('a,b\n"say \\"hi\\", all",2\n"x",3\n', Form(",", '"', "\\")),
        ("time;note\n12:30;a,b,c\n12:45;d\n", Form(";")),
        ("x", Form(",")),
    ],
)
def test_the_form_is_found_from_the_first_lines(text, form):
    assert find_form(text) == form


def test_a_tsv_file_is_read_with_tabs_where_both_would_do():
    assert find_form("a,b\tc,d\ne,f\tg,h\n", ".tsv") == Form("\t")


def test_a_file_is_one_table_with_its_header(read):
    document = read('name,said\nAda,"one, two\nthree"\nBob,"a ""b"" | c"\n')
    assert document.text == table(["name", "said"], ["Ada", "one, two three"], ["Bob", 'a "b" | c'])
    assert [(b.kind, b.page) for b in document.blocks] == [("table", None)]
    assert (document.title, document.media_type) == ("a", "text/csv")


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
def test_all_line_ends_and_a_byte_order_mark_are_read(read, end):
    assert read(b"\xef\xbb\xbf" + f"a;b{end}1;2{end}".encode()).text == table(["a", "b"], ["1", "2"])
    assert read(f"a\tb{end}ä\t2".encode("utf-16"), "a.tsv").text == table(["a", "b"], ["ä", "2"])


def test_values_in_the_first_row_are_no_header(read):
    assert read("1,2\n3,4\n").text == pipe_table([["1", "2"], ["3", "4"]], header_rows=0) + "\n"


@pytest.mark.parametrize(
    ("rows", "header"),
    [
        ([["name", "age"], ["Ada", "36"]], True),
        ([["", "2023", "2024"], ["North", "1", "2"]], False),  # years alone could be values
        ([["Region", "2023", "2024"], ["North", "1", "2"]], True),
        ([["Ada", "36"], ["Bob", "40"]], False),
        ([["a", "a"], ["b", "c"]], False),
        ([["date", "mail"], ["2024-01-02", "a@b.org"]], True),
        ([["2024-01-02", "a@b.org"], ["2024-01-03", "b@b.org"]], False),
        ([["title only", "", ""], ["a", "b", "c"]], False),
        ([], False),
    ],
)
def test_a_header_has_different_names_and_no_values(rows, header):
    assert looks_like_header(rows) is header


def test_lines_of_text_above_the_table_are_paragraphs(read):
    document = read("Sales report,,\n,,\nRegion,2023,2024\nNorth,1,2\n")
    assert [b.kind for b in document.blocks] == ["paragraph", "table"]
    assert document.text == "Sales report\n\n" + table(["Region", "2023", "2024"], ["North", "1", "2"])


def test_short_rows_are_filled_and_empty_rows_and_columns_at_the_end_are_left_out(read):
    assert read("a,b,c,,\n1,,,,\n,,,,\n\n4,5,6,,\n").text == table(["a", "b", "c"], ["1", "", ""], ["4", "5", "6"])


def test_a_quote_without_an_end_does_not_swallow_the_rest(read):
    with pytest.warns(FaircutWarning, match=r"never closed .* 1 times \(line 3\)"):
        document = read('sep=,\nname,size\nbolt,"5 mm\nnut,6 mm\n')
    assert document.text == table(["name", "size"], ["bolt", '"5 mm'], ["nut", "6 mm"])


def test_many_quotes_without_an_end_are_read_in_linear_time():
    text = "a,b\n" + 'x,"y\n' * 3001
    repaired: list[int] = []
    rows = list(delimited_rows(text, Form(","), repaired))
    assert rows[0] == ["a", "b"]
    assert len(repaired) <= 21


def test_a_cell_may_be_longer_than_the_limit_of_the_csv_module_which_stays_as_it_was(read):
    before = csv.field_size_limit()
    assert len(read(f'a,b\n"{"word " * 100_000}",2\n').text) > 400_000
    assert csv.field_size_limit() == before


def test_one_very_wide_row_does_not_fill_all_others():
    rows = [["x"]] * 10_000 + [["y"] * 10_000]
    assert len(table_text(rows)) < 1_000_000


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"", "empty"), (b",,,\n,,\n", "no text"), (b"\x00\x01\x02\xff", "not text"), (b" \n", "white")],
)
def test_a_file_without_cells_is_an_error(read, content, reason):
    with pytest.raises(DocumentError, match=f"a.csv: .*{reason}|a.csv: {reason}"):
        read(content)


CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


@given(st.lists(st.lists(CELL, min_size=2, max_size=4), min_size=1, max_size=6), st.sampled_from(",;\t|"))
def test_what_the_csv_module_writes_is_read_again(rows, delimiter):
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows(rows)
    assert list(delimited_rows(file.getvalue(), Form(delimiter), [])) == rows


@given(st.lists(st.lists(CELL, max_size=4), max_size=6))
def test_tables_are_those_of_the_builder_without_blank_rows(rows):
    kept = [row for row in rows if any(cell.strip() for cell in row)]
    width = max((i for row in kept for i, cell in enumerate(row, 1) if cell.strip()), default=0)
    assert table_text(rows) == pipe_table([row[:width] for row in kept])


@given(st.text(st.characters(codec="utf-8")))
def test_any_text_is_read_or_refused(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_text(text, encoding="utf-8", newline="")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FaircutWarning)
        try:
            document = DELIMITED.read(path, "a")
        except DocumentError:
            return
    assert document.text.strip()
