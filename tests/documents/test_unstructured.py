"""Elements of Unstructured become the same blocks as our readers make; what is wrong in them is said with its place."""

import pytest

from faircut.documents import from_unstructured
from faircut.errors import DocumentError, FaircutWarning


def element(kind, text, **metadata):
    return {"type": kind, "element_id": "x", "text": text, "metadata": metadata}


HTML = (
    "<table><thead><tr><th>Boat</th><th>Price</th></tr></thead><tbody><tr><td>long</td><td>5</td></tr></tbody></table>"
)
ELEMENTS = [
    element("Header", "Harbour rules", page_number=1),
    element("Title", "Harbour", page_number=1, category_depth=0),
    element("Title", "Boats", page_number=1, category_depth=1),
    element("NarrativeText", "Long boats moor outside.", page_number=1),
    element("ListItem", "rope", page_number=2, category_depth=1),
    element("ListItem", "of hemp", page_number=2, category_depth=2),
    element("PageBreak", ""),
    element("Table", "Boat Price long 5", page_number=3, text_as_html=HTML),
    element("Table", "no html", page_number=3),
    element("CodeSnippet", "if x:\n    y", page_number=3),
    element("UncategorizedText", "  "),
    element("Footer", "3", page_number=3),
]


def pieces(document):
    return [(b.kind, b.level, b.page, document.text[b.span.start : b.span.end].rstrip("\n")) for b in document.blocks]


EXPECTED = [
    ("heading", 1, 1, "Harbour"),
    ("heading", 2, 1, "Boats"),
    ("paragraph", None, 1, "Long boats moor outside."),
    ("list", 1, 2, "- rope\n  - of hemp"),
    ("table", None, 3, "| Boat | Price |\n| --- | --- |\n| long | 5 |"),
    ("paragraph", None, 3, "no html"),
    ("code", None, 3, "if x:\n    y"),
]


def test_titles_lists_tables_code_and_pages_become_blocks():
    with pytest.warns(
        FaircutWarning, match=r"a: left out page headers \(13 characters\), page footers \(1 characters\)"
    ):
        document = from_unstructured(ELEMENTS, id="a", source="s.pdf")
    assert (document.id, document.title, document.source) == ("a", "Harbour", "s.pdf")
    assert pieces(document) == EXPECTED


def test_objects_are_asked_for_their_json():
    class Element:
        def __init__(self, value):
            self.value = value

        def to_dict(self):
            return self.value

    assert pieces(from_unstructured(map(Element, ELEMENTS[1:-1]), id="a", title="T")) == EXPECTED


@pytest.mark.parametrize(
    ("elements", "said"),
    [
        ([element("Title", "x"), "text"], "a: element 1: expected an element with a type, found str"),
        ([{"text": "x"}], "a: element 0: expected an element with a type, found dict"),
        ([element("Text", 5)], "a: element 0: 'text' must be text, found int 5"),
        ([element("Title", "x", category_depth="1")], "a: element 0: 'category_depth' must be a whole number from 0"),
        ([element("Text", "x", page_number=-1)], "a: element 0: 'page_number' must be a whole number from 0"),
        ([element("Text", "x") | {"metadata": []}], "a: element 0: 'metadata' must be an object, found list"),
        ([], "a: none of 0 elements has a text"),
        (None, "a: expected a list of elements, found NoneType; give the list"),
        (element("Title", "x"), "a: expected a list of elements, found dict; give the list"),
        ([element("Image", " ")], "a: none of 1 elements has a text"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(elements, said):
    with pytest.raises(DocumentError, match=said):
        from_unstructured(elements, id="a")


def test_a_hostile_depth_or_table_does_no_harm():
    deep = [element("Title", "x", category_depth=10**8), element("ListItem", "y", category_depth=10**8)]
    assert len(from_unstructured(deep, id="a").text) < 100
    nested = element("Table", "words", text_as_html="<table><tr><td>" * 5000 + "x")
    assert "x" in from_unstructured([nested], id="a").text


def test_hidden_parts_of_a_table_are_counted():
    table = element("Table", "seen gone", text_as_html="<table><tr><td>seen</td></tr></table><p hidden>gone</p>")
    with pytest.warns(FaircutWarning, match=r"a: left out hidden parts \(4 characters\)"):
        from_unstructured([table], id="a")
