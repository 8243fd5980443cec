"""Elements of the tool Unstructured, as objects or as their JSON -> a document. The tool itself is not needed for that.

Titles become headings by their depth, list items one list, tables pipe tables from their HTML. Headers, footers and
page numbers are left out and counted. How the elements came about is left to the tool.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from faircut.documents.building import DocumentBuilder, ListItem
from faircut.documents.html import add_pieces, html_page, warn_left_out
from faircut.documents.json_places import mapping, number, text
from faircut.errors import DocumentError
from faircut.records import Document

__all__ = ["from_unstructured"]

_HEADINGS = frozenset(("Title", "Headline", "Subheadline", "Section-header"))
_ITEMS = frozenset(("ListItem", "List-item", "BulletedText"))
_LEFT_OUT = {
    "Header": "page headers",
    "Page-header": "page headers",
    "Footer": "page footers",
    "Page-footer": "page footers",
    "PageNumber": "page numbers",
    "PageBreak": "page breaks",
}
_MAX_DEPTH = 20

Element = dict[str, Any]


def from_unstructured(elements: Iterable[Any], *, id: str, title: str = "", source: str = "") -> Document:  # noqa: A002
    """The document that these elements describe, with headings, lists, tables, code and pages.

    Args:
        elements: ``unstructured`` elements, or the objects of their JSON: ``type``, ``text`` and in ``metadata``
            ``category_depth``, ``page_number``, ``text_as_html``.
        id: the document's id.
        title: its title; without it, the first heading.
        source: where it comes from.

    Warns:
        FaircutWarning: headers, footers, page numbers or hidden parts of tables were left out, with their characters.

    Raises:
        DocumentError: what is no element, with its place in the list; no element has a text.
    """
    builder = DocumentBuilder()
    left_out: Counter[str] = Counter()
    if isinstance(elements, (str, bytes, Mapping)) or not isinstance(elements, Iterable):
        raise DocumentError(
            f"{id}: expected a list of elements, found {type(elements).__name__}; "
            "give the list that partition() returns, or its JSON."
        )
    found = [_element(element, f"{id}: element {place}") for place, element in enumerate(elements)]
    for is_list, run in groupby(enumerate(found), lambda pair: pair[1]["type"] in _ITEMS):
        places = [(f"{id}: element {place}", element) for place, element in run]
        if is_list:
            _add_list(builder, places)
            continue
        for place, element in places:
            _add(builder, element, place, left_out)
    warn_left_out(id, left_out)
    if builder.is_empty:
        raise DocumentError(f"{id}: none of {len(found)} elements has a text; partition the file again.")
    first = next((element["text"] for element in found if element["type"] in _HEADINGS), "")
    return builder.build(id, title=title or " ".join(first.split()), source=source, media_type="text/plain")


def _element(element: Any, place: str) -> Element:
    value = element.to_dict() if hasattr(element, "to_dict") else element
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise DocumentError(
            f"{place}: expected an element with a type, found {type(element).__name__}; "
            "give the list that partition() returns, or its JSON."
        )
    return value | {"text": text(value, "text", place)}


def _add(builder: DocumentBuilder, element: Element, place: str, left_out: Counter[str]) -> None:
    kind, words = element["type"], element["text"]
    about = mapping(element, "metadata", place)
    if kind in _LEFT_OUT:
        left_out[_LEFT_OUT[kind]] += len(words)
        return
    builder.page = number(about, "page_number", place)
    if kind in _HEADINGS:
        builder.heading(words, (number(about, "category_depth", place) or 0) + 1)
    elif kind == "Table" and (html := text(about, "text_as_html", place)):
        _add_table(builder, html, words, place, left_out)
    else:
        builder.add("code" if kind == "CodeSnippet" else "paragraph", words)


def _add_table(builder: DocumentBuilder, html: str, words: str, place: str, left_out: Counter[str]) -> None:
    found = html_page(html, place, frozenset())
    page = builder.page
    if found.pieces:
        add_pieces(builder, found.pieces)
        left_out.update(found.left_out)
    else:
        builder.add("paragraph", words)
    builder.page = page


def _add_list(builder: DocumentBuilder, places: list[tuple[str, Element]]) -> None:
    """Items that follow each other as one list, on the page of the first."""
    items = []
    for place, element in places:
        about = mapping(element, "metadata", place)
        items.append(ListItem(element["text"], min(number(about, "category_depth", place) or 0, _MAX_DEPTH)))
    builder.page = number(mapping(places[0][1], "metadata", places[0][0]), "page_number", places[0][0])
    least = min(item.depth for item in items)
    builder.items(ListItem(item.text, item.depth - least) for item in items)
