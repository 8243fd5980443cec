"""A document of Docling becomes the same blocks as our readers make; what is wrong in it is said with its place."""

import copy

import pytest

from faircut.documents import from_docling
from faircut.errors import DocumentError, FaircutWarning


def cell(text, row, column, *, rows=1, columns=1, header=False):
    return {
        "text": text, "column_header": header,
        "start_row_offset_idx": row, "end_row_offset_idx": row + rows,
        "start_col_offset_idx": column, "end_col_offset_idx": column + columns,
    }  # fmt: skip


def ref(*names):
    return [{"$ref": f"#/{name}"} for name in names]


def text(number, label, words, *, children=(), page=None, **more):
    found = {"self_ref": f"#/texts/{number}", "label": label, "text": words, "children": ref(*children), **more}
    return found | {"prov": [{"page_no": page}] if page else [], "content_layer": more.get("content_layer", "body")}


def group(number, label, *children):
    return {"self_ref": f"#/groups/{number}", "label": label, "children": ref(*children), "content_layer": "body"}


TEXTS = [
    text(0, "title", "Harbour", page=1),
    text(
        1,
        "section_header",
        "Boats",
        level=1,
        page=1,
        children=("texts/2", "groups/0", "texts/5", "tables/0", "groups/2"),
    ),
    text(2, "text", "Long boats moor outside.", page=1),
    text(3, "list_item", "rope", children=("groups/1",), page=2),
    text(4, "list_item", "of hemp", enumerated=True, marker="3."),
    text(5, "caption", "Table 1: prices", page=2),
    text(6, "text", "See the"),
    text(7, "code", "run.sh"),
    text(8, "code", "if x:\n    y\n", page=3),
    text(9, "page_header", "Page head", content_layer="furniture"),
    text(10, "section_header", "Ships", level=2, page=3),
    text(11, "list_item", "", children=("groups/3",)),
    text(12, "text", "bold"),
    text(13, "text", "words"),
    text(14, "checkbox_selected", "Paid"),
]
DOCUMENT = {
    "schema_name": "DoclingDocument",
    "name": "harbour.pdf",
    "body": {
        "self_ref": "#/body",
        "children": ref("texts/9", "texts/0", "texts/1", "texts/8", "texts/10", "groups/4", "texts/14", "pictures/0"),
    },
    "texts": TEXTS,
    "groups": [
        group(0, "list", "texts/3"),
        group(1, "list", "texts/4"),
        group(2, "inline", "texts/6", "texts/7"),
        group(3, "inline", "texts/12", "texts/13"),
        group(4, "ordered_list", "texts/11"),
    ],
    "pictures": [{"self_ref": "#/pictures/0", "label": "picture", "children": [], "captions": [], "prov": []}],
    "tables": [
        {
            "self_ref": "#/tables/0", "label": "table", "captions": ref("texts/5"), "children": ref("texts/5"),
            "prov": [{"page_no": 2}],
            "data": {
                "num_rows": 3, "num_cols": 3,
                "table_cells": [
                    cell("Boat", 0, 0, header=True), cell("Price", 0, 1, columns=2, header=True),
                    cell("long", 1, 0, rows=2), cell("5", 1, 1), cell("6", 1, 2), cell("7", 2, 1), cell("a|b", 2, 2),
                ],
            },
        }
    ],
}  # fmt: skip


def pieces(document):
    return [(b.kind, b.level, b.page, document.text[b.span.start : b.span.end].rstrip("\n")) for b in document.blocks]


def test_headings_lists_tables_code_captions_and_pages_come_in_reading_order():
    with pytest.warns(FaircutWarning, match=r"a: left out page headers \(9 characters\)\."):
        document = from_docling(DOCUMENT, id="a")
    assert document.title == "Harbour"
    assert pieces(document) == [
        ("heading", 1, 1, "Harbour"),
        ("heading", 2, 1, "Boats"),
        ("paragraph", None, 1, "Long boats moor outside."),
        ("list", 1, 2, "- rope\n  3. of hemp"),
        ("paragraph", None, 2, "Table 1: prices"),
        ("table", None, 2, "| Boat | Price | Price |\n| --- | --- | --- |\n| long | 5 | 6 |\n| long | 7 | a\\|b |"),
        ("paragraph", None, 2, "See the run.sh"),
        ("code", None, 3, "if x:\n    y"),
        ("heading", 3, 3, "Ships"),
        ("list", 1, 3, "- bold words"),
        ("paragraph", None, 3, "[x] Paid"),
    ]


def test_an_object_is_exported_first_and_sections_without_a_title_count_from_one():
    class Result:
        def export_to_dict(self):
            return changed(body={"children": ref("texts/9")}, texts=TEXTS[1:])

    with pytest.warns(FaircutWarning, match="left out text that the body does not refer to"):
        document = from_docling(Result(), id="a")
    assert [b.level for b in document.blocks] == [2]


def changed(**parts):
    return copy.deepcopy(DOCUMENT) | parts


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (None, "a: expected a DoclingDocument or its JSON, found NoneType"),
        ({"texts": []}, "a: expected a DoclingDocument or its JSON, found dict"),
        (changed(body={"children": ref("texts/99")}), "a: #/body: refers to #/texts/99, of which there are 15"),
        (changed(body={"children": [{"$ref": "file:///etc"}]}), r"a: #/body: 'children' holds no reference such as"),
        (changed(body={"children": "x"}), "a: #/body: 'children' must be a list of objects, found str 'x'"),
        (changed(texts=[text(0, "text", 5)], body={"children": ref("texts/0")}), "#/texts/0: 'text' must be text"),
        (changed(body={}, texts=[], tables=[]), "a: no item of its body has a text"),
        (
            changed(
                tables=[{"self_ref": "#/tables/0", "data": {"num_rows": 10**6, "num_cols": 10**6}}],
                body={"children": ref("tables/0")},
            ),
            "#/tables/0: with this table there are 1,000,000,000,000 cells, more than 5,000,000; convert",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_place(document, said):
    with pytest.raises(DocumentError, match=said):
        from_docling(document, id="a")


def test_groups_that_hold_each_other_end():
    loop = changed(groups=[group(0, "section", "groups/1"), group(1, "section", "groups/0", "texts/0")])
    loop |= {"body": {"children": ref("groups/0")}, "texts": TEXTS[:1], "tables": []}
    assert pieces(from_docling(loop, id="a")) == [("heading", 1, 1, "Harbour")]
    deep = [group(n, "section", f"groups/{n + 1}") for n in range(1000)]
    with pytest.raises(DocumentError, match="nested deeper than 100 levels"):
        from_docling(changed(groups=[*deep, group(1000, "section")], body={"children": ref("groups/0")}), id="a")


def table_of(cells, **size):
    return {
        "schema_name": "DoclingDocument",
        "body": {"children": ref("tables/0")},
        "tables": [{"self_ref": "#/tables/0", "label": "table", "data": {**size, "table_cells": cells}}],
    }


@pytest.mark.parametrize("size", [{}, {"num_rows": 1, "num_cols": 1}])
def test_no_cell_is_lost_whatever_size_the_table_says_that_it_has(size):
    cells = [cell("in", 0, 0), cell("below", 1, 0), cell("beside", 0, 1), cell("twice", 0, 0)]
    text = from_docling(table_of(cells, **size), id="a").text
    assert text == "|  |  |\n| --- | --- |\n| in twice | beside |\n| below |  |\n"


def test_text_that_nothing_refers_to_is_counted_and_not_lost_in_silence():
    document = table_of([cell("in", 0, 0)])
    document["texts"] = [text(0, "text", "12345")]
    document["tables"].append({"data": {"table_cells": [cell("67", 0, 0)]}})
    with pytest.warns(FaircutWarning, match=r"left out text that the body does not refer to \(7 characters\)"):
        from_docling(document, id="a")


def test_many_merged_cells_or_deep_headings_do_not_fill_the_memory():
    merged = cell("x" * 10_000, 0, 0, rows=1000, columns=100)
    for cells in ([merged], [cell("x", 0, 0, rows=2000, columns=2000)] * 2):
        with pytest.raises(DocumentError, match="more than 5,000,000; convert the document in parts"):
            from_docling(table_of(cells), id="a")
    deep = table_of([])
    deep["texts"] = [text(n, "section_header", f"h{n}", level=n * 1000) for n in range(1000)]
    deep["body"]["children"] = ref(*(f"texts/{n}" for n in range(1000)))
    assert max(block.level for block in from_docling(deep, id="a").blocks) == 20
