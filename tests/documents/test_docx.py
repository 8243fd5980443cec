"""Word files, made here from strings of XML: what a person reads in them is in the text, once, as the right block."""

import warnings
import zipfile
from pathlib import Path

import pytest

from faircut.documents.docx import DOCX
from faircut.documents.markdown import markdown_blocks
from faircut.errors import DocumentError, FaircutWarning

NAMES = " ".join(
    f'xmlns:{prefix}="{uri}"'
    for prefix, uri in {
        "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
        "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
        "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
        "v": "urn:schemas-microsoft-com:vml",
        "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
    }.items()
)
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def p(text="", style=None, more="", properties=""):
    """A paragraph; ``more`` is XML behind its text."""
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    run = f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>' if text else ""
    return f"<w:p><w:pPr>{named}{properties}</w:pPr>{run}{more}</w:p>"


def item(text, number=1, level=0):
    return p(text, properties=f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')


def cell(content, properties=""):
    inner = content if content.startswith("<") else p(content)
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{inner}</w:tc>"


def table(*rows):
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"


def style(id_, name, based_on="", more="", kind="paragraph"):
    base = f'<w:basedOn w:val="{based_on}"/>' if based_on else ""
    return f'<w:style w:type="{kind}" w:styleId="{id_}"><w:name w:val="{name}"/>{base}{more}</w:style>'


def level(number, form, text, left=0, more=""):
    return (
        f'<w:lvl w:ilvl="{number}"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/>{more}'
        f'<w:pPr><w:ind w:left="{left}"/></w:pPr></w:lvl>'
    )


def write(path: Path, body: str, **parts: str) -> Path:
    """A file with these parts (``styles``, ``numbering`` ...) beside the body; their contents without the root."""
    roots = {
        "header1": "hdr",
        "footer1": "ftr",
        "footnotes": "footnotes",
        "endnotes": "endnotes",
        "comments": "comments",
    }
    relations = "".join(
        f'<Relationship Id="r{i}" Type="{RELATION}/{name.rstrip("1")}" Target="{name}.xml"/>'
        for i, name in enumerate(parts)
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", f"<w:document {NAMES}><w:body>{body}</w:body></w:document>")
        archive.writestr(
            "word/_rels/document.xml.rels",
            f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{relations}</Relationships>',
        )
        for name, content in parts.items():
            root = roots.get(name, name)
            archive.writestr(f"word/{name}.xml", f"<w:{root} {NAMES}>{content}</w:{root}>")
    return path


def blocks_of(document):
    return [(b.kind, b.level, document.text[b.span.start : b.span.end].rstrip("\n")) for b in document.blocks]


@pytest.fixture
def read(tmp_path):
    def read(body, **parts):
        return DOCX.read(write(tmp_path / "a.docx", body, **parts), "a.docx")

    return read


@pytest.fixture
def text(read):
    return lambda body, **parts: read(body, **parts).text.rstrip("\n")


# ---------------------------------------------------------------- headings


def test_heading_levels_come_from_styles_through_inheritance_outline_and_translated_names(read):
    styles = (
        style("a", "heading 2")
        + style("b", "Clause", based_on="a")
        + style("c", "My own", more='<w:pPr><w:outlineLvl w:val="3"/></w:pPr>')
        + style("d", "Überschrift 1")
        + style("e", "見出し 3")
        + style("f", "No heading", based_on="a", more='<w:pPr><w:outlineLvl w:val="9"/></w:pPr>')
        + style("g", "Title")
        + style("h", "circle", based_on="i")
        + style("i", "circle", based_on="h")
        + style("j", "heading 5", kind="table")
    )
    document = read("".join(p(id_, id_) for id_ in "abcdefghij"), styles=styles)
    found = [(level if kind == "heading" else 0) for kind, level, _ in blocks_of(document)]
    assert found == [2, 2, 4, 1, 3, 0, 1, 0, 0, 0]


def test_a_paragraph_can_be_a_heading_by_itself_or_not_be_one_in_spite_of_its_style(read):
    body = p("yes", properties='<w:outlineLvl w:val="1"/>') + p(
        "no", "Heading1", properties='<w:outlineLvl w:val="9"/>'
    )
    assert blocks_of(read(body)) == [("heading", 2, "yes"), ("paragraph", None, "no")]


def test_without_styles_the_names_of_the_styles_speak(read):
    document = read(
        p("Top", "Heading1") + p("text") + p("one", "ListBullet") + p("in", "ListBullet2") + p("x = 1", "SourceCode")
    )
    assert blocks_of(document) == [
        ("heading", 1, "Top"),
        ("paragraph", None, "text"),
        ("list", 1, "- one\n  - in"),
        ("code", None, "x = 1"),
    ]
    assert document.title == "Top"


# ---------------------------------------------------------------- lists

NUMBERING = (
    f'<w:abstractNum w:abstractNumId="0">{level(0, "decimal", "%1.", 360)}{level(1, "lowerLetter", "(%2)", 720)}'
    f"{level(2, 'lowerRoman', '%3)', 1080)}</w:abstractNum>"
    f'<w:abstractNum w:abstractNumId="1">{level(0, "bullet", "o", 720)}{level(1, "bullet", "x", 1080)}</w:abstractNum>'
    f'<w:abstractNum w:abstractNumId="2">{level(0, "upperRoman", "%1", 0)}'
    f"{level(1, 'decimal', '%1.%2', 0, '<w:isLgl/>')}</w:abstractNum>"
    '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
    '<w:num w:numId="3"><w:abstractNumId w:val="0"/>'
    '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride></w:num>'
    '<w:num w:numId="4"><w:abstractNumId w:val="2"/></w:num><w:num w:numId="5"><w:abstractNumId w:val="0"/></w:num>'
)


def test_items_have_the_marks_that_word_counts_and_their_nesting(text):
    body = item("a") + item("b", level=1) + item("c", level=1) + item("d", level=2) + item("e") + item("f", level=1)
    assert text(body, numbering=NUMBERING) == "1. a\n  (a) b\n  (b) c\n    i) d\n2. e\n  (a) f"


def test_a_list_goes_on_after_text_and_starts_anew_where_it_is_told_to(text):
    body = item("a") + p("between") + item("b", 5) + p("between") + item("c", 3) + item("d", 3)
    assert text(body, numbering=NUMBERING) == "1. a\n\nbetween\n\n2. b\n\nbetween\n\n7. c\n8. d"


def test_bullets_of_another_list_that_are_indented_further_are_nested(text):
    body = item("a") + item("b", 2) + item("c", 2, 1) + item("d")
    assert text(body, numbering=NUMBERING) == "1. a\n  - b\n    - c\n2. d"


def test_legal_numbers_are_digits_and_headings_keep_their_number(read):
    number = '<w:numPr><w:ilvl w:val="{}"/><w:numId w:val="4"/></w:numPr>'
    body = p("Scope", "Heading1", properties=number.format(0)) + p("Clause", properties=number.format(1))
    assert blocks_of(read(body, numbering=NUMBERING)) == [("heading", 1, "I Scope"), ("list", 1, "1.1 Clause")]


def test_a_style_gives_its_numbering_and_a_paragraph_can_switch_it_off(text):
    styles = style("N", "Clause", more='<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>')
    off = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="0"/></w:numPr>'
    body = p("a", "N") + p("plain", "N", properties=off) + p("b", "N")
    assert text(body, styles=styles, numbering=NUMBERING) == "1. a\n\nplain\n\n2. b"


def test_a_further_paragraph_of_an_item_stays_in_the_item(text):
    styles = style("L", "List Paragraph")
    body = item("a") + p("more of a", "L") + item("b") + p("no item", "L0")
    assert text(body, styles=styles, numbering=NUMBERING) == "1. a\n   more of a\n2. b\n\nno item"


# ---------------------------------------------------------------- tables


def test_merged_cells_are_repeated_in_each_place_that_they_cover(text):
    span, down, on = '<w:gridSpan w:val="2"/>', '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    body = table(
        cell("h", down) + cell("wide", span),
        cell("", on) + cell("b") + cell("c"),
        '<w:trPr><w:gridBefore w:val="1"/></w:trPr>' + cell("late"),
    )
    assert text(body) == "| h | wide | wide |\n| --- | --- | --- |\n| h | b | c |\n|  | late |  |"


def test_rows_that_are_repeated_on_each_page_are_one_header(text):
    head = "<w:trPr><w:tblHeader/></w:trPr>"
    body = table(
        head + cell("Year", '<w:gridSpan w:val="2"/>'), head + cell("2023") + cell("2024"), cell("1") + cell("2")
    )
    assert text(body) == "| Year / 2023 | Year / 2024 |\n| --- | --- |\n| 1 | 2 |"


def test_a_nested_table_and_a_list_are_part_of_their_cell(text):
    inner = table(cell("e") + cell("f"), cell("g") + cell("h"))
    body = table(cell("a") + cell("b"), cell(p("see") + inner) + cell(item("x", 1) + item("y", 1)))
    assert text(body, numbering=NUMBERING) == "| a | b |\n| --- | --- |\n| see e, f; g, h | 1. x 2. y |"


def test_a_table_of_one_cell_is_a_frame_around_its_content(read):
    assert blocks_of(read(table(cell(p("Note", "Heading2") + p("text"))))) == [
        ("heading", 2, "Note"),
        ("paragraph", None, "text"),
    ]


def test_rows_and_cells_inside_content_controls_are_read_and_deleted_rows_are_not(text):
    body = (
        f"<w:tbl><w:tr>{cell('a')}{cell('b')}</w:tr>"
        f"<w:sdt><w:sdtContent><w:tr>{cell('c')}<w:sdt><w:sdtContent>{cell('d')}</w:sdtContent></w:sdt></w:tr></w:sdtContent></w:sdt>"
        f'<w:tr><w:trPr><w:del w:id="1"/></w:trPr>{cell("gone")}{cell("gone")}</w:tr></w:tbl>'
    )
    assert text(body) == "| a | b |\n| --- | --- |\n| c | d |"


# ---------------------------------------------------------------- changes, controls, boxes, fields


def run(text):
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def test_changes_are_accepted_and_moved_text_is_there_once(text):
    body = (
        p(
            "kept",
            more=f'<w:ins w:id="1">{run(" new")}</w:ins><w:del w:id="2"><w:r><w:delText> old</w:delText></w:r></w:del>',
        )
        + p(more=f'<w:moveFrom w:id="3">{run("moved")}</w:moveFrom>')
        + p(more=f'<w:moveTo w:id="4">{run("moved")}</w:moveTo>')
        + f'<w:ins w:id="5">{p("inserted paragraph")}</w:ins><w:del w:id="6">{p("deleted paragraph")}</w:del>'
        + p("joined ", properties='<w:rPr><w:del w:id="7"/></w:rPr>')
        + p("paragraphs")
    )
    assert text(body) == "kept new\n\nmoved\n\ninserted paragraph\n\njoined paragraphs"


def test_content_controls_are_read_but_not_their_hints(text):
    hint = f"<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>{run('Click here')}</w:sdtContent></w:sdt>"
    body = (
        p("Name: ", more=f"<w:sdt><w:sdtPr/><w:sdtContent>{run('Ada')}</w:sdtContent></w:sdt>")
        + p("Place: ", more=hint)
        + f"<w:sdt><w:sdtContent>{p('whole')}</w:sdtContent></w:sdt>"
    )
    assert text(body) == "Name: Ada\n\nPlace:\n\nwhole"


def test_a_text_box_is_read_once_though_the_file_has_it_twice(text):
    box = f"<w:txbxContent>{p('in the box')}{table(cell('a') + cell('b'), cell('c') + cell('d'))}</w:txbxContent>"
    both = (
        f'<mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wps:txbx>{box}</wps:txbx></w:drawing></mc:Choice>'
        f"<mc:Fallback><w:pict><v:textbox>{box}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent>"
    )
    expected = "anchor\n\nin the box\n\n| a | b |\n| --- | --- |\n| c | d |\n\nafter"
    assert text(p("anchor", more=f"<w:r>{both}</w:r>") + p("after")) == expected
    old = f"<w:r><w:pict><v:textbox>{box}</v:textbox></w:pict></w:r>"
    assert text(p("anchor", more=old) + p("after")) == expected


def test_of_fields_and_links_the_shown_text_is_read(text):
    mark = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'.format
    code = "<w:r><w:instrText> REF x </w:instrText></w:r>"
    field = mark("begin") + code + run("code") + mark("separate") + run("shown") + mark("end")
    link = f'<w:hyperlink r:id="r1">{run("link")}</w:hyperlink><w:fldSimple w:instr="PAGE">{run(" 7")}</w:fldSimple>'
    assert text(p("see ", more=field + run(" and ") + link)) == "see shown and link 7"


def test_breaks_tabs_symbols_ruby_and_formulas_are_characters(text):
    more = (
        "<w:r><w:t>a</w:t><w:br/><w:t>b</w:t><w:tab/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t><w:softHyphen/></w:r>"
        '<w:r><w:sym w:font="Wingdings" w:char="F0E0"/><w:sym w:font="Symbol" w:char="F061"/></w:r>'
        f"<w:ruby><w:rt>{run('kan')}</w:rt><w:rubyBase>{run('漢')}</w:rubyBase></w:ruby>"
        "<m:oMath><m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>x</m:t></m:r></m:den></m:f>"
        "<m:sSup><m:e><m:r><m:t>y</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath>"
    )
    assert text(p(more=more)) == "a\nb\tc\u2011d→α漢(kan)(1)/(x)y^(2)"


def test_hidden_text_is_left_out_and_counted(read):
    hidden = "<w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r>"
    with pytest.warns(FaircutWarning, match="left out: 1 x run of hidden text"):
        assert read(p("shown", more=hidden)).text == "shown\n"


def test_a_drop_cap_belongs_to_its_paragraph(text):
    assert text(p("O", properties='<w:framePr w:dropCap="drop"/>') + p("nce upon a time")) == "Once upon a time"


# ---------------------------------------------------------------- notes, comments, pages


def test_notes_stand_at_the_end_and_their_numbers_in_the_text(text):
    note = '<w:r><w:{0}noteReference w:id="{1}"/></w:r>'.format
    noted = '<w:{0}note w:id="{1}">{2}</w:{0}note>'.format
    lines = '<w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:t>---</w:t></w:r></w:p></w:footnote>'
    body = (
        p("one", more=note("foot", 3))
        + p("two", more=note("foot", 2) + note("end", 5))
        + p("again", more=note("foot", 3))
    )
    found = text(
        body,
        footnotes=lines + noted("foot", 2, p("second")) + noted("foot", 3, p("first") + p("goes on")),
        endnotes=noted("end", 5, p("at the end")),
    )
    assert found == "one[1]\n\ntwo[2][i]\n\nagain[1]\n\n[1] first\ngoes on\n\n[2] second\n\n[i] at the end"


def test_comments_headers_and_footers_are_left_out_and_counted(read):
    parts = {
        "comments": f'<w:comment w:id="0">{p("hm")}</w:comment>' * 2,
        "header1": p("Confidential"),
        "footer1": p(""),
    }
    with pytest.warns(FaircutWarning, match="left out: 2 x comment, 1 x header or footer"):
        assert read(p("text"), **parts).text == "text\n"


def test_pages_are_known_where_word_has_laid_the_text_out(read):
    new = "<w:r><w:lastRenderedPageBreak/><w:t>{}</w:t></w:r>".format
    document = read(
        p("one")
        + p("two ", more=new("three"))
        + p(more=new("four"))
        + table(cell("a") + cell("b"), cell("c") + cell("d"))
    )
    assert [block.page for block in document.blocks] == [1, 1, 3, 3]
    assert {block.page for block in read(p("one") + p(more='<w:r><w:br w:type="page"/></w:r>') + p("two")).blocks} == {
        None
    }


# ---------------------------------------------------------------- code and quotes


def mono(text):
    return p(more=f'<w:r><w:rPr><w:rFonts w:ascii="Courier New"/></w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>')


def test_code_is_one_block_with_its_indentation_and_blank_lines(read):
    styles = style("C", "Source Code", more='<w:rPr><w:rFonts w:ascii="Consolas"/></w:rPr>')
    body = (
        p("def f():", "C")
        + p("    pass", "C")
        + p("", "C")
        + p("f()", "C")
        + p("prose")
        + mono("SELECT *")
        + mono("  FROM t")
    )
    assert blocks_of(read(body, styles=styles)) == [
        ("code", None, "def f():\n    pass\n\nf()"),
        ("paragraph", None, "prose"),
        ("code", None, "SELECT *\n  FROM t"),
    ]


def test_a_document_that_is_typewritten_throughout_is_no_code(read):
    styles = '<w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Courier"/></w:rPr></w:rPrDefault></w:docDefaults>'
    assert {b.kind for b in read(p("INT. KITCHEN (DAY)") + mono("He said; she said."), styles=styles).blocks} == {
        "paragraph"
    }


def test_quotes_are_quotes(read):
    styles = style("Q", "Intense Quote") + style("Z", "Zitat")
    assert blocks_of(read(p("a", "Q") + p("b", "Q") + p("text") + p("c", "Z"), styles=styles)) == [
        ("quote", None, "a\nb"),
        ("paragraph", None, "text"),
        ("quote", None, "c"),
    ]


def test_the_same_content_in_markdown_has_the_same_blocks(read):
    markdown = (
        "# Guide\n\nFirst text.\n\n## Steps\n\n1. open\n2. close\n\n- a\n  - b\n\n"
        "| Part | Price |\n| --- | --- |\n| Bolt | 3 |\n\nLast text.\n"
    )
    body = p("Guide", "Heading1") + p("First text.") + p("Steps", "Heading2") + item("open", 6) + item("close", 6)
    body += item("a", 2) + item("b", 2, 1) + table(cell("Part") + cell("Price"), cell("Bolt") + cell("3"))
    numbering = NUMBERING.replace(
        "<w:num ", f'<w:abstractNum w:abstractNumId="9">{level(0, "decimal", "%1.", 720)}</w:abstractNum><w:num ', 1
    )
    numbering += '<w:num w:numId="6"><w:abstractNumId w:val="9"/></w:num>'
    wanted = [(b.kind, b.level, markdown[b.span.start : b.span.end].strip("#\n ")) for b in markdown_blocks(markdown)]
    assert blocks_of(read(body + p("Last text."), numbering=numbering)) == wanted


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"just text", "not what its name says"),
        (b"PK\x03\x04 cut short", "damaged"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "encrypted with a password or in the old"),
    ],
)
def test_what_is_no_word_file_is_refused_with_the_reason(tmp_path, content, reason):
    path = tmp_path / "a.docx"
    path.write_bytes(content)
    with pytest.raises(DocumentError, match=f"a.docx: .*{reason}|a.docx: {reason}"):
        DOCX.read(path, "a")


def test_another_archive_named_docx_is_refused(tmp_path):
    path = tmp_path / "a.docx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    with pytest.raises(DocumentError, match="not what its name says"):
        DOCX.read(path, "a")


def test_a_file_without_text_is_an_error_and_never_empty_text(read):
    with pytest.raises(DocumentError, match="no text in it"):
        read(p("") + p(" ", more="<w:r><w:drawing/></w:r>"))


def test_entities_are_refused(tmp_path):
    path = tmp_path / "a.docx"
    evil = (
        f'<!DOCTYPE d [<!ENTITY e SYSTEM "file:///etc/passwd">]><w:document {NAMES}><w:body>&e;</w:body></w:document>'
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", evil)
    with pytest.raises(DocumentError, match="entity"):
        DOCX.read(path, "a")


def test_deep_nesting_keeps_its_text(text):
    deep = p("bottom")
    for _ in range(150):
        deep = table(cell(p("x") + deep) + cell("y"))
    assert "bottom" in text(deep)
    wrapped = p("inner", more="<w:smartTag>" * 900 + run(" deepest") + "</w:smartTag>" * 900)
    assert text(wrapped) == "inner deepest"


def test_numbers_that_are_none_and_huge_spans_do_no_harm(text):
    body = table(
        cell("a", '<w:gridSpan w:val="x"/>') + cell("b"), cell("c", '<w:gridSpan w:val="999999999"/>') + cell("d")
    )
    assert text(body).startswith("| a | b |")
    assert len(text(body)) < 10_000
    assert text(item("a", number=99, level=77) + item("b", number=1, level=10**9)) == "- a\n- b"


def test_the_strict_variant_reads_the_same(tmp_path):
    path = tmp_path / "a.docx"
    strict = f"<w:document {NAMES}><w:body>{p('Top', 'Heading1')}</w:body></w:document>".replace(
        "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "http://purl.oclc.org/ooxml/wordprocessingml/main",
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", strict)
    assert blocks_of(DOCX.read(path, "a")) == [("heading", 1, "Top")]


# ---------------------------------------------------------------- files that people have


def nasty(shared_data, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FaircutWarning)
        return DOCX.read(shared_data / "nasty" / name, name)


def test_tables_with_nested_and_merged_cells_of_a_real_file(shared_data):
    tables = [t for kind, _, t in blocks_of(nasty(shared_data, "unstructured__docx-tables.docx")) if kind == "table"]
    assert tables[1].splitlines()[2] == "| d | e, f; g&t, h | i |"
    assert tables[2] == "| a | b | b |\n| --- | --- | --- |\n| a | c | d |\n| e | e | d |"


def test_rows_that_begin_late_and_end_early_in_a_real_file(shared_data):
    document = nasty(shared_data, "unstructured__tables-with-incomplete-rows.docx")
    tables = [t for kind, _, t in blocks_of(document) if kind == "table"]
    assert len(tables) == 6
    assert tables[4].splitlines()[2:] == ["|  | d | d |  |", "| e | d | d | f |", "|  | d | d |  |"]


def test_code_by_style_and_by_font_in_a_real_file(shared_data):
    found = blocks_of(nasty(shared_data, "docling__docx_code_blocks.docx"))
    code = [text for kind, _, text in found if kind == "code"]
    assert code[0] == "import sys\nprint(sys.argv)"
    assert code[1].startswith("SELECT")
    assert code[2].splitlines()[3] == "        a, b = b, a + b"
    assert len(code) == 3  # a memo in Courier and styles with similar names are none
    assert [level for kind, level, _ in found if kind == "heading"] == [1] + 8 * [2]


def test_comments_of_a_real_file_are_counted(shared_data):
    with pytest.warns(FaircutWarning, match="2 x comment"):
        document = DOCX.read(shared_data / "nasty" / "markitdown__test_with_comment.docx", "c")
    assert "55yiyi" not in document.text
    assert document.title.startswith("AutoGen")
    assert document.language == "en-US"
