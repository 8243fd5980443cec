"""Presentations, made here from strings of XML: slides in order, a heading each, shapes as a person reads them."""

import zipfile
from pathlib import Path

import pytest

from faircut.documents.pptx import PPTX
from faircut.errors import DocumentError, FaircutWarning

NAMES = " ".join(
    f'xmlns:{prefix}="{uri}"'
    for prefix, uri in {
        "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
        "p": "http://schemas.openxmlformats.org/presentationml/2006/main",
        "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
        "c": "http://schemas.openxmlformats.org/drawingml/2006/chart",
        "dgm": "http://schemas.openxmlformats.org/drawingml/2006/diagram",
        "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
    }.items()
)
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
INCH = 914_400


def at(left, top, width=2.0, height=0.5, tag="a:xfrm"):
    numbers = [round(n * INCH) for n in (left, top, width, height)]
    return '<{4}><a:off x="{0}" y="{1}"/><a:ext cx="{2}" cy="{3}"/></{4}>'.format(*numbers, tag)


def lines(*paragraphs):
    """Paragraphs: a text, or a text with the XML of its properties."""
    made = (paragraph if isinstance(paragraph, tuple) else (paragraph, "") for paragraph in paragraphs)
    return "".join(f"<a:p>{more}<a:r><a:t>{text}</a:t></a:r></a:p>" for text, more in made)


def shape(*paragraphs, kind="", number="", place="", styles=""):
    named = f'<p:ph type="{kind}"/>' if kind and not number else f'<p:ph idx="{number}"/>' if number else ""
    body = f"<p:txBody><a:bodyPr/>{styles}{lines(*paragraphs)}</p:txBody>"
    return f"<p:sp><p:nvSpPr><p:nvPr>{named}</p:nvPr></p:nvSpPr><p:spPr>{place}</p:spPr>{body}</p:sp>"


def title(text):
    return shape(text, kind="title")


def graphic(content, place=""):
    return f"<p:graphicFrame>{place}<a:graphic><a:graphicData>{content}</a:graphicData></a:graphic></p:graphicFrame>"


def write(path: Path, slides, *, order=None, related=None, parts=None, layout="", master_styles="") -> Path:
    """A presentation; ``order`` lists the numbers of the slides, ``related`` a slide's further parts by kind."""
    order = order or range(1, len(slides) + 1)

    def relations(entries):
        inner = "".join(f'<Relationship Id="{i}" Type="{RELATION}/{k}" Target="{t}"/>' for i, k, t in entries)
        return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{inner}</Relationships>'

    def tree(content, root):
        return f"<p:{root} {NAMES}><p:cSld><p:spTree>{content}</p:spTree></p:cSld>"

    with zipfile.ZipFile(path, "w") as archive:
        ids = "".join(f'<p:sldId r:id="r{number}"/>' for number in order)
        archive.writestr(
            "ppt/presentation.xml", f"<p:presentation {NAMES}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>"
        )
        named = [(f"r{n}", "slide", f"slides/slide{n}.xml") for n in range(1, len(slides) + 1)]
        archive.writestr("ppt/_rels/presentation.xml.rels", relations(named))
        for number, content in enumerate(slides, 1):
            archive.writestr(f"ppt/slides/slide{number}.xml", tree(content, "sld") + "</p:sld>")
            extra = [("l", "slideLayout", "../slideLayouts/l.xml"), *((related or {}).get(number, []))]
            archive.writestr(f"ppt/slides/_rels/slide{number}.xml.rels", relations(extra))
        archive.writestr("ppt/slideLayouts/l.xml", tree(layout, "sldLayout") + "</p:sldLayout>")
        archive.writestr(
            "ppt/slideLayouts/_rels/l.xml.rels", relations([("m", "slideMaster", "../slideMasters/m.xml")])
        )
        styles = f"<p:txStyles>{master_styles}</p:txStyles></p:sldMaster>"
        archive.writestr("ppt/slideMasters/m.xml", tree("", "sldMaster") + styles)
        for name, content in (parts or {}).items():
            archive.writestr(name, content)
    return path


@pytest.fixture
def read(tmp_path):
    return lambda *slides, **more: PPTX.read(write(tmp_path / "a.pptx", slides, **more), "a.pptx")


def blocks_of(document):
    return [(b.kind, b.page, document.text[b.span.start : b.span.end].rstrip("\n")) for b in document.blocks]


BULLETS = (
    '<p:bodyStyle><a:lvl1pPr><a:buChar char="•"/></a:lvl1pPr><a:lvl2pPr><a:buChar char="–"/></a:lvl2pPr></p:bodyStyle>'
)


def test_slides_come_in_the_order_of_the_presentation_with_their_numbers_as_pages(read):
    document = read(title("A"), title("B"), title("C"), order=[3, 1, 2])
    assert blocks_of(document) == [("heading", 1, "C"), ("heading", 2, "A"), ("heading", 3, "B")]
    assert document.title == "C"


def test_the_title_is_a_heading_wherever_it_stands_and_a_slide_without_one_gets_its_number(read):
    document = read(
        shape("text") + shape("The</a:t></a:r><a:br/><a:r><a:t>title", kind="ctrTitle"), shape("lonely"), ""
    )
    assert blocks_of(document) == [
        ("heading", 1, "The title"), ("paragraph", 1, "text"), ("heading", 2, "Slide 2"), ("paragraph", 2, "lonely"),
    ]  # fmt: skip
    assert {b.level for b in document.blocks if b.kind == "heading"} == {1}


def test_bullets_are_inherited_from_the_master_and_can_be_switched_off(read):
    body = shape("one", ("in", '<a:pPr lvl="1"/>'), ("plain", "<a:pPr><a:buNone/></a:pPr>"), "two", number="1")
    assert blocks_of(read(title("T") + body, master_styles=BULLETS))[1:] == [
        ("list", 1, "- one\n  - in"), ("paragraph", 1, "plain"), ("list", 1, "- two"),
    ]  # fmt: skip
    box = shape("a text box has none")
    assert blocks_of(read(title("T") + box, master_styles=BULLETS))[1:] == [("paragraph", 1, "a text box has none")]


def test_the_layout_decides_before_the_master(read):
    layout = shape("", number="1", styles="<a:lstStyle><a:lvl1pPr><a:buNone/></a:lvl1pPr></a:lstStyle>")
    found = read(title("T") + shape("one", number="1"), layout=layout, master_styles=BULLETS)
    assert blocks_of(found)[1:] == [("paragraph", 1, "one")]


def test_numbers_are_counted_by_level(read):
    auto = '<a:pPr lvl="{}"><a:buAutoNum type="{}"/></a:pPr>'.format
    body = shape(
        ("a", auto(0, "arabicPeriod")), ("b", auto(1, "alphaLcParenR")), ("c", auto(1, "alphaLcParenR")),
        ("d", auto(0, "arabicPeriod")), ("e", auto(1, "romanUcPeriod")),
    )  # fmt: skip
    assert read(body).text == "Slide 1\n\n1. a\n  a) b\n  b) c\n2. d\n  I. e\n"


@pytest.mark.parametrize(
    ("places", "order"),
    [
        ([(1, 4), (1, 1)], "ba"),
        ([(5, 1), (1, 1.2)], "ba"),  # side by side
        ([(1, 1), (5, 1), (1, 3), (5, 3)], "acbd"),  # two columns with a heading each
        ([(5, 1), (1, 1), (5, 2), (1, 2), (5, 3), (1, 3)], "badcfe"),  # a table of boxes
    ],
)
def test_boxes_are_read_in_columns_and_rows_as_a_person_does(read, places, order):
    boxes = [shape(letter, place=at(*place)) for letter, place in zip("abcdef", places, strict=False)]
    assert "".join(text for kind, _, text in blocks_of(read("".join(boxes))) if kind == "paragraph") == order


def test_a_wide_box_above_two_columns_comes_first(read):
    boxes = [shape("c", place=at(5, 2, 3, 3)), shape("b", place=at(1, 2, 3, 3)), shape("a", place=at(1, 1, 7, 0.5))]
    assert [text for *_, text in blocks_of(read("".join(boxes)))][1:] == ["a", "b", "c"]


def test_placeholders_stand_where_their_layout_puts_them(read):
    layout = shape("", number="1", place=at(5, 2)) + shape("", number="2", place=at(1, 2))
    document = read(shape("right", number="1") + shape("left", number="2"), layout=layout)
    assert [text for *_, text in blocks_of(document)][1:] == ["left", "right"]


def test_groups_are_dissolved_with_their_own_coordinates(read):
    group = "<p:grpSp><p:grpSpPr><a:xfrm>{}{}</a:xfrm></p:grpSpPr>{}</p:grpSp>".format(
        at(1, 5, 2, 2, "a:x")[5:-6],
        '<a:chOff x="0" y="0"/><a:chExt cx="100" cy="100"/>',
        "<p:grpSp><p:grpSpPr/>"
        + shape("in the group", place='<a:xfrm><a:off x="0" y="50"/><a:ext cx="9" cy="9"/></a:xfrm>')
        + "</p:grpSp>",
    )
    document = read(group + shape("above", place=at(1, 1)) + shape("below", place=at(1, 7)))
    assert [text for *_, text in blocks_of(document)][1:] == ["above", "in the group", "below"]


def test_tables_repeat_merged_cells(read):
    def cell(text, more=""):
        return f"<a:tc {more}><a:txBody>{lines(text)}</a:txBody></a:tc>"

    rows = [
        cell("Region", 'rowSpan="2"') + cell("Year", 'gridSpan="2"') + cell("", 'hMerge="1"'),
        cell("", 'vMerge="1"') + cell("2023") + cell("2024"),
        cell("North") + cell("1") + cell("2"),
    ]
    made = f'<a:tbl><a:tblPr firstRow="1"/>{"".join(f"<a:tr>{row}</a:tr>" for row in rows)}</a:tbl>'
    assert blocks_of(read(title("T") + graphic(made)))[1] == (
        "table", 1,
        "| Region | Year | Year |\n| --- | --- | --- |\n| Region | 2023 | 2024 |\n| North | 1 | 2 |",
    )  # fmt: skip


def test_the_numbers_of_a_chart_are_a_table_and_the_texts_of_a_diagram_a_list(read):
    def points(tag, *values):
        inner = "".join(f'<c:pt idx="{i}"><c:v>{value}</c:v></c:pt>' for i, value in enumerate(values))
        return f"<c:{tag}><c:strRef><c:strCache>{inner}</c:strCache></c:strRef></c:{tag}>"

    series = "".join(
        f"<c:ser>{points('tx', name)}{points('cat', 'East', 'West')}{points('val', *values)}</c:ser>"
        for name, values in {"Q1": (1, 2), "Q2": (3, 4)}.items()
    )
    heading = f"<c:title>{lines('Sales')}</c:title>"
    chart = f"<c:chartSpace {NAMES}><c:chart>{heading}<c:plotArea>{series}</c:plotArea></c:chart></c:chartSpace>"
    point = "<dgm:pt><dgm:t>{}</dgm:t></dgm:pt>".format
    diagram = f"<dgm:dataModel {NAMES}>{point(lines('Plan'))}{point(lines(''))}{point(lines('Do'))}</dgm:dataModel>"
    document = read(
        title("T") + graphic('<c:chart r:id="c"/>') + graphic('<dgm:relIds r:dm="d"/>'),
        related={1: [("c", "chart", "../charts/c.xml"), ("d", "diagramData", "../diagrams/d.xml")]},
        parts={"ppt/charts/c.xml": chart, "ppt/diagrams/d.xml": diagram},
    )
    assert [text for *_, text in blocks_of(document)][1:] == [
        "Sales", "|  | Q1 | Q2 |\n| --- | --- | --- |\n| East | 1 | 3 |\n| West | 2 | 4 |", "- Plan\n- Do",
    ]  # fmt: skip


def test_notes_follow_their_slide_and_comments_and_footers_are_counted(read):
    notes = f"<p:notes {NAMES}><p:cSld><p:spTree>{shape('say', 'this', kind='body')}{shape('7', kind='sldNum')}"
    comments = f"<p:cmLst {NAMES}><p:cm/><p:cm/></p:cmLst>"
    with pytest.warns(FaircutWarning, match="left out: 1 x footer, 2 x comment"):
        document = read(
            title("T") + shape("ACME", kind="ftr") + shape("1", kind="sldNum"),
            title("U"),
            related={1: [("n", "notesSlide", "../notes/n.xml"), ("c", "comments", "../comments/c.xml")]},
            parts={"ppt/notes/n.xml": notes + "</p:spTree></p:cSld></p:notes>", "ppt/comments/c.xml": comments},
        )
    assert document.text == "T\n\nNotes: say\nthis\n\nU\n"


def test_of_two_variants_of_a_shape_one_is_read(read):
    choice, fallback = (f"<mc:{tag}>{shape(text)}</mc:{tag}>" for tag, text in (("Choice", "new"), ("Fallback", "old")))
    both = f"<mc:AlternateContent>{choice}{fallback}</mc:AlternateContent>"
    assert read(title("T") + both).text == "T\n\nnew\n"


def test_deep_groups_and_many_shapes_are_read_in_good_time(read):
    deep = "<p:grpSp>" * 900 + shape("deep") + "</p:grpSp>" * 900
    many = "".join(shape(str(i), place=at(i % 7, i // 7 / 50, 0.5, 0.01)) for i in range(3000))
    assert "deep" in read(deep + many).text


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04 cut"])
def test_what_is_no_presentation_is_refused(tmp_path, content):
    path = tmp_path / "a.pptx"
    path.write_bytes(content)
    with pytest.raises(DocumentError, match=r"a\.pptx: "):
        PPTX.read(path, "a")


def test_a_word_file_named_pptx_and_slides_without_text_are_refused(tmp_path, read):
    path = tmp_path / "b.pptx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", "<document/>")
    with pytest.raises(DocumentError, match="not what its name says"):
        PPTX.read(path, "b")
    with pytest.raises(DocumentError, match="no text on its slides"):
        read("<p:pic/>", shape(" "))


def test_slides_that_are_missing_are_an_error_and_not_silence(tmp_path):
    path = write(tmp_path / "a.pptx", [title("A")])
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(tmp_path / "b.pptx", "w") as new:
        for name in old.namelist():
            if name != "ppt/slides/slide1.xml":
                new.writestr(name, old.read(name))
    with pytest.raises(DocumentError, match=r"slide1\.xml"):
        PPTX.read(tmp_path / "b.pptx", "b")
