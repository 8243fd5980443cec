"""A document of the tool Docling, as its object or as its JSON -> a document of ours. The tool itself is not needed.

Its body is followed in reading order: headings with their level, nested lists, tables with merged cells, code,
captions, pages. Page headers and footers, notes, the text inside pictures, and what the body does not refer to are left
out and counted.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from faircut.documents.building import DocumentBuilder, ListItem
from faircut.documents.html import warn_left_out
from faircut.documents.json_places import lists, mapping, number, text
from faircut.errors import DocumentError
from faircut.records import Document

__all__ = ["from_docling"]

MAX_CELLS = 5_000_000
"""Places of all tables together."""
_USUAL = 100  # characters of a cell
_MAX_DEPTH = 100  # groups in groups
_LISTS = frozenset(("list", "ordered_list"))
_FURNITURE = {"page_header": "page headers", "page_footer": "page footers"}
_CHECKS = {"checkbox_selected": "[x] ", "checkbox_unselected": "[ ] "}

Item = dict[str, Any]
Range = tuple[int, int]


def from_docling(document: Any, *, id: str, title: str = "", source: str = "") -> Document:  # noqa: A002
    """The same document with blocks that tile its text.

    Args:
        document: a ``DoclingDocument``, or the object of its JSON.
        id: the document's id.
        title: its title; without it, its title item, first heading or name.
        source: where it comes from.

    Warns:
        FaircutWarning: page headers, footers, notes, text in pictures, or text that the body does not refer to were
            left out, with their characters.

    Raises:
        DocumentError: no document of Docling, something wrong in it (with its place), or no text.
    """
    value = document.export_to_dict() if hasattr(document, "export_to_dict") else document
    if not isinstance(value, dict) or value.get("schema_name") != "DoclingDocument":
        raise DocumentError(
            f"{id}: expected a DoclingDocument or its JSON, found {type(document).__name__}; "
            "give the document of the conversion's result."
        )
    walk = _Walk(id, value)
    walk.children(mapping(value, "body", id), 0)
    walk.close_list()
    walk.count_unseen()
    warn_left_out(id, walk.left_out)
    if walk.builder.is_empty:
        raise DocumentError(f"{id}: no item of its body has a text; convert the file again, with OCR if it is a scan.")
    named = title or walk.title or text(value, "name", id)
    return walk.builder.build(id, title=named, source=source, media_type="text/plain")


@dataclass
class _Walk:
    """The way through a body, and what was found on it."""

    id: str
    value: Item
    builder: DocumentBuilder = field(default_factory=DocumentBuilder)
    left_out: Counter[str] = field(default_factory=Counter)
    title: str = ""
    _seen: set[str] = field(default_factory=set)
    _places: int = 0  # of the tables so far
    _items: list[ListItem] = field(default_factory=list)  # of the list in the making
    _page: int | None = None  # of its first item

    def __post_init__(self) -> None:
        self._all = {kind: lists(self.value, [kind], self.id) for kind in _KINDS}
        self._has_title = any(item.get("label") == "title" for item in self._all["texts"])

    def children(self, item: Item, depth: int, list_depth: int = -1) -> None:
        for reference, child in self._referred(item, "children"):
            self._visit(reference, child, depth + 1, list_depth)

    def _referred(self, item: Item, key: str) -> Iterator[tuple[str, Item]]:
        """The items that a list of references names, each once in the whole document."""
        for entry in lists(item, [key], self._place(item)):
            reference = entry.get("$ref", entry.get("cref"))
            if not isinstance(reference, str) or not (found := _REFERENCE.fullmatch(reference)):
                place = self._place(item)
                raise DocumentError(
                    f"{place}: {key!r} holds no reference such as #/texts/0: {entry!r:.60}; export it again."
                )
            if reference in self._seen:
                continue
            self._seen.add(reference)
            items = self._all[found[1]]
            if int(found[2]) >= len(items):
                raise DocumentError(
                    f"{self._place(item)}: refers to {reference}, of which there are {len(items)}; "
                    "convert the file again."
                )
            yield reference, items[int(found[2])]

    def _place(self, item: Item) -> str:
        return f"{self.id}: {item.get('self_ref', '#/body')}"

    def _visit(self, reference: str, item: Item, depth: int, list_depth: int) -> None:
        if depth > _MAX_DEPTH:
            raise DocumentError(
                f"{self._place(item)}: nested deeper than {_MAX_DEPTH} levels; it is damaged, convert the file again."
            )
        label = text(item, "label", self._place(item))
        layer = text(item, "content_layer", self._place(item)) or "body"
        if layer != "body" or label in _FURNITURE:
            self.left_out[_FURNITURE.get(label, f"text of the layer {layer}")] += len(text(item, "text", reference))
        elif reference.startswith("#/groups/"):
            self._group(item, label, depth, list_depth)
        elif label == "list_item":
            self._list_item(item, depth, max(list_depth, 0))
        elif list_depth >= 0 and reference.startswith("#/texts/") and self._items:
            self._extend_item(self._words(item, depth))
        else:
            self._block(reference, item, label, depth)

    def _group(self, item: Item, label: str, depth: int, list_depth: int) -> None:
        if label in _LISTS:
            self.children(item, depth, list_depth + 1)
            if list_depth < 0:
                self.close_list()
        elif label == "inline":
            words = self._words(item, depth)
            if list_depth >= 0 and self._items:
                self._extend_item(words)
            else:
                self.close_list()
                self.builder.add("paragraph", words)
        else:
            self.children(item, depth, list_depth)

    def _words(self, item: Item, depth: int) -> str:
        """The text of an item with that of the pieces that it is made of."""
        if depth > _MAX_DEPTH:
            raise DocumentError(
                f"{self._place(item)}: nested deeper than {_MAX_DEPTH} levels; it is damaged, convert the file again."
            )
        own = text(item, "text", self._place(item))
        self._set_page(item)
        pieces = [self._words(child, depth + 1) for _, child in self._referred(item, "children")]
        return " ".join(filter(None, [own, *pieces]))

    def _set_page(self, item: Item) -> None:
        places = lists(item, ["prov"], self._place(item))
        if places:
            self.builder.page = number(places[0], "page_no", self._place(item))

    def count_unseen(self) -> None:
        """Count the text of items that no reference from the body leads to."""
        for kind in ("texts", "tables"):
            for number_, item in enumerate(self._all[kind]):
                reference = f"#/{kind}/{number_}"
                if reference not in self._seen:
                    cells = lists(mapping(item, "data", reference), ["table_cells"], reference)
                    words = (text(part, "text", reference) for part in (item, *cells))
                    self.left_out["text that the body does not refer to"] += sum(map(len, words))

    # ------------------------------------------------------------ lists

    def _list_item(self, item: Item, depth: int, list_depth: int) -> None:
        self._set_page(item)
        if not self._items:
            self._page = self.builder.page
        marker = _NUMBER.match(text(item, "marker", self._place(item))) if item.get("enumerated") else None
        number_ = int(marker[1]) if marker else None
        self._items.append(ListItem(text(item, "text", self._place(item)), list_depth, number_))
        self.children(item, depth, list_depth)

    def _extend_item(self, words: str) -> None:
        last = self._items[-1]
        self._items[-1] = ListItem(f"{last.text} {words}".strip(), last.depth, last.number)

    def close_list(self) -> None:
        """Add the list that was in the making."""
        page = self.builder.page
        if self._items:
            self.builder.page = self._page
            self.builder.items(self._items)
            self._items = []
        self.builder.page = page

    # ------------------------------------------------------------ other blocks

    def _block(self, reference: str, item: Item, label: str, depth: int) -> None:
        self.close_list()
        self._set_page(item)
        for _, caption in self._referred(item, "captions"):
            self.builder.add("paragraph", text(caption, "text", reference))
        words = text(item, "text", self._place(item))
        if label in ("title", "section_header"):
            self._heading(item, label, words)
        elif reference.startswith("#/tables/"):
            self._table(item)
        elif reference.startswith("#/pictures/"):
            self.left_out["text in pictures"] += len(self._words(item, depth))
        elif reference.startswith(("#/key_value_items/", "#/form_items/")):
            cells = lists(mapping(item, "graph", self._place(item)), ["cells"], self._place(item))
            self.builder.add("paragraph", "\n".join(text(cell, "text", reference) for cell in cells))
        else:
            self.builder.add("code" if label == "code" else "paragraph", _CHECKS.get(label, "") + words)
        self.children(item, depth)
        for _, note in self._referred(item, "footnotes"):
            self.builder.add("paragraph", text(note, "text", reference))

    def _heading(self, item: Item, label: str, words: str) -> None:
        """Sections count from 1, below the title where there is one."""
        level = 1 if label == "title" else (number(item, "level", self._place(item)) or 1) + self._has_title
        if not self.title or label == "title":
            self.title = " ".join(words.split())
        self.builder.heading(words, level)

    def _table(self, item: Item) -> None:
        place = self._place(item)
        data = mapping(item, "data", place)
        cells = lists(data, ["table_cells"], place)
        extents = [(_extent(cell, "row", place), _extent(cell, "col", place)) for cell in cells]
        height = max([number(data, "num_rows", place) or 0, *(rows[1] for rows, _ in extents)])
        width = max([number(data, "num_cols", place) or 0, *(columns[1] for _, columns in extents)])
        self._check_size(cells, extents, height * width, place)
        rows = [[""] * width for _ in range(height)]
        for cell, ((top, bottom), (left, right)) in zip(cells, extents, strict=True):
            words = text(cell, "text", place)
            for row in rows[top:bottom]:
                row[left:right] = [f"{before} {words}" if before else words for before in row[left:right]]
        self.builder.table(rows, _header_rows(cells, place))

    def _check_size(self, cells: Sequence[Item], extents: Sequence[tuple[Range, Range]], size: int, place: str) -> None:
        """Refuse what a few bytes of JSON could make of the memory. A long text in many places counts for more."""
        merged = sum(
            (bottom - top) * (right - left) * (1 + len(text(cell, "text", place)) // _USUAL)
            for cell, ((top, bottom), (left, right)) in zip(cells, extents, strict=True)
        )
        self._places += max(size, merged)
        if self._places > MAX_CELLS:
            raise DocumentError(
                f"{place}: with this table there are {self._places:,} cells, more than {MAX_CELLS:,}; "
                "convert the document in parts."
            )


_KINDS = ("texts", "tables", "pictures", "groups", "key_value_items", "form_items")
_REFERENCE = re.compile(rf"#/({'|'.join(_KINDS)})/(\d{{1,9}})")
_NUMBER = re.compile(r"\s*\(?(\d{1,9})")


def _extent(cell: Item, axis: str, place: str) -> Range:
    start = number(cell, f"start_{axis}_offset_idx", place) or 0
    end = number(cell, f"end_{axis}_offset_idx", place)
    return start, start + 1 if end is None else max(end, start + 1)


def _header_rows(cells: Sequence[Item], place: str) -> int:
    """How many rows from the top are headers."""
    rows: dict[int, list[bool]] = {}
    for cell in cells:
        row = number(cell, "start_row_offset_idx", place) or 0
        rows.setdefault(row, []).append(cell.get("column_header") is True)
    count = 0
    while rows.get(count) and all(rows[count]):
        count += 1
    return min(count, max(len(rows) - 1, 0))
