"""Real PDFs with a peculiarity each: what one sees on the page is what comes out. They lie beside the repository."""

import unicodedata
import warnings
from collections import Counter

import pytest

from faircut.documents.pdf import PDF
from faircut.documents.pdf_ocr import ocr_available
from faircut.errors import DocumentError, FaircutWarning

ABSTRACT = ("Background", "Methods", "Results", "Conclusions")
DAMAGED_FONTS = "pdfminersix__issue-791-non-unicode-cmap.pdf"  # pypdfium2's own text of it is wrong


@pytest.fixture
def nasty(shared_data):
    def read(name):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FaircutWarning)
            return PDF.read(shared_data / "nasty" / name, name)

    return read


def blocks(document, kind):
    return [document.text[b.span.start : b.span.end].strip() for b in document.blocks if b.kind == kind]


def rows(table):
    return [[cell.strip() for cell in line[2:-2].split(" | ")] for line in table.split("\n")]


def in_order(text, *pieces):
    places = [text.index(piece) for piece in pieces]
    assert places == sorted(places)


def test_no_letter_is_lost_but_those_of_running_headers(shared_data):
    from pypdfium2 import PdfDocument

    for path in sorted((shared_data / "nasty").glob("*.pdf")):
        source = PdfDocument(path)
        text = "".join(page.get_textpage().get_text_range() for page in source)
        source.close()
        if not text.strip() or path.name in (DAMAGED_FONTS, "pdfplumber__issue-842-example.pdf"):
            continue
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            document = PDF.read(path, path.name)
        missing = letters(text) - letters(document.text)
        headers = any("running headers" in str(w.message) for w in said)
        assert missing.total() <= (0.03 * len(text) if headers else 0), (path.name, missing)


def letters(text):
    return Counter(c for c in unicodedata.normalize("NFKD", text) if c.isalnum())


def test_two_columns_of_a_paper_are_read_in_order(nasty):
    document = nasty("unstructured__multi-column-2p.pdf")
    in_order(
        document.text,
        "Dense Passage Retrieval for Open-Domain Question Answering",
        "Abstract",
        "state-of-the-art on multiple open-domain QA benchmarks",
        "1 Introduction",
        "indicating the needs of improving retrieval",
        "Retrieval in open-domain QA is usually implemented",
        "setting new state-of-the-art results on multiple open-domain QA datasets, it also suffers from two weaknesses",
        "2 Background",
        "3 Dense Passage Retriever (DPR)",
    )
    assert "“Who first voiced Meg on Family Guy?”" in document.text
    assert {"1 Introduction", "2 Background", "3.1 Overview"} <= set(blocks(document, "heading"))
    assert "Barlas Oğuz" in document.text
    assert not blocks(document, "code")  # the authors' addresses


def test_two_columns_with_formulas_and_a_poor_text_layer_are_read_in_order(nasty):
    document = nasty("unstructured__a1977-backus-p21.pdf")
    in_order(
        document.text,
        "position is that it permits the definition of new functional forms",
        "In addition to its use in defining functional forms",
        "13.3.3 Summary of the properties",
        "13.3.4 Cells, fetching, and storing",
        "The functional form fetch takes an object",
    )
    assert "the meaning function will produce the meaning of each application, giving" in document.text
    assert len(blocks(document, "table")) <= 1  # the page's foot; its justified lines and formulas are none


def test_a_wrong_startxref_does_not_hide_pages_and_the_outline_gives_25_headings(nasty):
    document = nasty("kreuzberg__medium.pdf")
    assert {b.page for b in document.blocks} == set(range(1, 8))
    found = [
        (b.level, document.text[b.span.start : b.span.end].strip()) for b in document.blocks if b.kind == "heading"
    ]
    assert len(found) == 25
    assert found[:6] == [(1, "Abstract"), *((2, f"{t}:") for t in ABSTRACT), (1, "Background")]
    assert (1, "Methods") in found
    assert (3, "HCV genotyping and sequencing") in found
    assert (2, "Authors’ contributions") in found
    assert "Page 3 of 7" not in document.text
    assert document.text.startswith("RESEARCH ARTICLE Open Access")
    assert (
        "For this reason, and in light of high costs and frequent side effects, it is important to identify factors "
        "that can predict the likelihood of response."
    ) in document.text
    in_order(
        document.text,
        "Hepatitis C virus (HCV) infection is a major cause of cirrhosis",
        "Full list of author information is available at the end of the article",
        "Several host factors such as age",
        "The association between mutations in this segment",
    )
    table = rows(blocks(document, "table")[0])
    assert ["R1", "1a", "4.36", "M", "52.6", "R", "C", "CC", "SVR"] in table
    assert ["1b", "60%", "35%", "-", "4%", "1%", "71%", "28%", "2022"] in rows(blocks(document, "table")[2])


def test_a_table_over_16_pages_is_one_table_with_one_header(nasty):
    document = nasty("pdfplumber__WARN-Report-for-7-1-2015-to-03-25-2016.pdf")
    notices, summary = blocks(document, "table")
    table = rows(notices)
    assert table[0] == ["Notice Date", "Effective", "Received", "Company", "City", "No. Of", "Layoff/Closure"]
    assert sum(row == table[0] for row in table) == 1
    assert len(table) - 2 == 633  # as many as pdfplumber finds on its 15 pages
    assert {len(row) for row in table} == {7}
    assert "| Total | 632 |" in summary  # the report's own count


def test_an_unruled_invoice_keeps_its_rows(nasty):
    tables = blocks(nasty("markitdown__REPAIR-2022-INV-001_multipage.pdf"), "table")
    assert "| Claim # | SF-1008 |" in tables[0]
    assert "| Sales Tax |" in tables[0]
    assert "10.20% | 278.46 |" in tables[0]
    assert "| Insured name | Bruce Wayne | Year | 2025 |" in tables[1]


def test_a_magazines_table_keeps_its_columns_and_passages(nasty):
    document = nasty("pdfminersix__issue-00352-asw-oct96-p41.pdf")
    table = rows(blocks(document, "table")[0])
    assert table[0] == ["Date", "Location", "Aircraft Type", "Aircraft Damage", "Injuries"]
    assert ["Sept. 15, 2001", "Belo Horizonte, Brazil", "Fokker 100", "substantial", "1 fatal, 88 none"] in table
    assert document.text.count("The flight crew was not aware that a tail strike had occurred") == 1


def test_a_sideways_table_is_read_row_by_row(nasty):
    document = nasty("pdfplumber__nics-background-checks-2015-11-rotated.pdf")
    table = rows(blocks(document, "table")[0])
    alabama = next(row for row in table if row[0] == "Alabama")
    assert alabama[:6] == ["Alabama", "18,870", "23,022", "22,650", "859", "1,178"]
    assert alabama[-1] == "71,137"
    assert "They do not represent the number of firearms sold" in document.text
    assert "NICS Firearm Background Checks" in blocks(document, "heading")[0]
    groups, names = (next(r for r in table if r[7] == title) for title in ("Pre-Pawn", "Handgun"))
    assert groups[:10] == [
        "State / Territory",
        "Permit",
        "Handgun",
        "Long Gun",
        "*Other",
        "**Multiple",
        "Admin",
    ] + 3 * ["Pre-Pawn"]
    assert names[7:12] == ["Handgun", "Long Gun", "*Other", "Handgun", "Long Gun"]
    assert "Page 1 of 205" not in document.text


def test_a_judges_sheet_keeps_its_rows_of_marks(nasty):
    document = nasty("pdfplumber__issue-90-example.pdf")
    skater, table = map(rows, blocks(document, "table")[:2])
    assert skater[0] == [
        "Rank",
        "Name",
        "Nation",
        "Starting Number",
        "Total Segment Score",
        "Total Element Score",
        "Total Program Component Score (factored)",
        "Total Deductions",
    ]
    marks = next(row for row in table if "NtCiSt3" in row)
    assert document.text.count("Info") == 2  # written upwards in the header of both sheets
    assert marks == ["1", "NtCiSt3", "6.50", "0.57", "0", "1", "0", "1", "0", "1", "0", "1", "1", "7.07"]


def test_a_form_of_meaningless_words_is_a_grid(nasty):
    table = rows(blocks(nasty("pdfplumber__issue-192-example.pdf"), "table")[0])
    assert {len(row) for row in table} == {15}
    assert table[-1][0] == "abba aaabbaaab aa aaab gaga"


def test_an_invoice_of_two_identical_pages_is_not_taken_for_running_headers(nasty):
    document = nasty("pdfminersix__issue-625-identity-cmap.pdf")
    assert document.text.count("Faktura nr FV 1/2021") == 2
    assert document.text.count("| 1 | Testy Książę | szt. | 1 | 33,00 | 23% | 33,00 | 40,59 |") == 2


def test_a_title_printed_several_times_comes_once_and_no_character_is_lost(shared_data):
    with pytest.warns(FaircutWarning, match="engines differ on 1 of 1 pages"):
        text = PDF.read(shared_data / "nasty" / "pdfplumber__issue-842-example.pdf", "x").text
    for piece in ("安徽安利合成革股份有限公司", "2011 年年度报告", "股票代码：300218", "股票简称：安利股份"):
        assert text.count(piece) == 1


def test_arabic_with_latin_words_is_in_the_order_of_reading(nasty):
    document = nasty("docling__right_to_left_01.pdf")
    assert blocks(document, "heading") == ["تحسين الإنتاجية وحل المشكلات من خلال البرمجة بلغة R وPython"]
    assert len(blocks(document, "paragraph")) == 4
    assert "مكتبة pandas في Python لإدارة البيانات بكفاءة" in document.text
    assert "أيضًا إلى اتخاذ قرارات أكثر دقة بناءً على" in document.text  # marks join letters, and end words


def test_persian_tables_have_their_first_column_at_the_right(nasty):
    document = nasty("docling__right_to_left_03.pdf")
    first, second = map(rows, blocks(document, "table"))
    assert first[2] == ["شماره استاندارد ملی", "20300"]
    assert second[0] == ["تاريخ ارائه مدارک", "1403/09/19"]
    assert "2-5- استاندارد کالا" in document.text


def test_vertical_japanese_is_read_whole_in_columns_from_the_right_and_in_two_bands(nasty):
    document = nasty("pdfminersix__jo.pdf")
    in_order(
        document.text,
        "序",
        "わたくしといふ現象は假定された有機交流電燈のひとつの青い照明です（あらゆる透明な幽霊の複合体）",
        "風景やみんなといっしょにせはしくせはしく明滅しながらいかにもたしかにともりつづける因果交流電燈の",
        "（ひかりはたもち、その電燈は失はれ）",
        "これらは二十二箇月の過去とかんずる方角から",
        "みんなのおのおののなかのすべてですから）",
        "けれどもこれら新世代沖積世の巨大に明るい時間の集積のなかで",
        "すべてこれらの命題は心象や時間それ自身の性質として第四次延長のなかで主張されます",
        "大正十三年一月廿日宮澤賢治",
    )
    assert sum(not c.isspace() for c in document.text) == 880


def test_words_written_sideways_are_read_in_order(nasty):
    assert nasty("pdfminersix__issue-449-vertical.pdf").text.split() == ["Test", "Vertical", "Layout"]


def test_fonts_without_unicode_are_read_by_the_engine_that_understands_them(nasty):
    assert nasty(DAMAGED_FONTS).text.strip() == "Peněžní prostředky na účtech"


def test_a_corrupted_cross_reference_table_is_repaired(nasty):
    text = nasty("pdfminersix__zen_of_python_corrupted.pdf").text
    assert "Readability counts.\nSpecial cases" in text  # a printed text file keeps its lines
    in_order(
        text, "Beautiful is better than ugly.", "Flat is better than nested.", "Namespaces are one honking great idea"
    )


def test_code_keeps_its_indentation_and_formulas_their_signs(nasty):
    document = nasty("docling__code_and_formula.pdf")
    (code,) = blocks(document, "code")
    assert code.split("\n")[:3] == ["function add(a, b) {", "    return a + b;", "}"]
    assert "a2 + 8 = 12" in document.text
    assert blocks(document, "heading") == ["JavaScript Code Example", "Formula"]


def test_a_typeset_paper_has_its_words_whole_its_footnotes_apart_and_its_listings(nasty):
    document = nasty("kreuzberg__the_hideous_name_1985_pike85hideous.pdf")
    assert "can be given syntactically familiar names" in document.text
    assert "part of the name of a file is a string that identifies the disk drive" in document.text
    assert "/usr/rob/bin/cat-v" in blocks(document, "code")
    assert "Principles of Names and Name Spaces" in blocks(document, "heading")
    assert "- 2 -" not in document.text


def test_a_scan_with_a_bad_text_layer_gives_that_text(nasty):
    assert "keep you posted on the progress of the Foundation" in nasty("unstructured__pdf-with-ocr-text.pdf").text


@pytest.mark.parametrize(
    "name", ["kreuzberg__image_only_german_pdf.pdf", "unstructured__table-multi-row-column-cells.pdf"]
)
def test_pictures_are_an_error_that_says_so_where_ocr_is_not_installed(nasty, name):
    if ocr_available():
        pytest.skip("OCR is installed and reads them")
    with pytest.raises(DocumentError, match="a scan or pictures; install OCR"):
        nasty(name)


@pytest.mark.slow
def test_a_scan_is_read_where_ocr_is_installed(nasty):
    if not ocr_available():
        pytest.skip("needs the extra ocr")
    assert "Bayerisches Staatsministerium" in nasty("kreuzberg__image_only_german_pdf.pdf").text
