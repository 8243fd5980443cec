"""Paragraphs and tables of a DOCX in reading order -> blocks: headings, lists with their marks, code, quotes, tables.

Where the parts of the package come from, and notes at the end, are left to ``docx.py``.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal
from xml.etree.ElementTree import Element

from faircut.documents.building import DocumentBuilder
from faircut.documents.docx_numbering import ListPlace, Numbering, list_place
from faircut.documents.docx_styles import W, font_of, is_monospaced, is_on, left_indent, value, whole
from faircut.documents.docx_tables import frame_content, grid_rows, header_count, row_texts
from faircut.documents.docx_text import ParagraphText, Story, paragraph_text
from faircut.documents.marked_items import BULLET, MarkedItem, list_text
from faircut.documents.open_packaging import ALTERNATE, alternative

__all__ = ["Flow", "flat_text", "flow_elements"]

MAX_NESTED = 20
"""Tables in tables and text boxes in text boxes are followed so deep; below, only their text is taken."""

_ENTERED = frozenset(W + name for name in ("ins", "moveTo", "smartTag", "customXml", "sdtContent"))
_FLOW = frozenset({f"{W}p", f"{W}tbl"})

Kind = Literal["heading", "paragraph", "list", "code", "quote", "other"]


def flow_elements(container: Element, story: Story) -> Iterator[Element]:
    """The paragraphs and tables of a body, cell or box, as they are with all changes accepted."""
    todo = list(reversed(container))
    while todo:
        element = todo.pop()
        if element.tag in _FLOW:
            yield element
        elif element.tag in _ENTERED or (element.tag == f"{W}sdt" and not is_on(element, "sdtPr/showingPlcHdr")):
            todo += reversed(element)
        elif element.tag == ALTERNATE:
            todo += reversed(alternative(element) or [])
        elif element.tag == f"{W}altChunk":
            story.embedded += 1


@dataclass
class _Seen:
    """Where a list was last seen: its depth at level 0, and its indent."""

    number_id: str
    depth: int
    indent: int


@dataclass
class Flow:
    """Puts paragraphs and tables into a builder. Those that belong together (items, lines of code) become one block."""

    builder: DocumentBuilder
    story: Story
    numbering: Numbering
    _kind: Kind | None = None  # of the block that is being collected
    _lines: list[str] = field(default_factory=list)
    _items: list[MarkedItem] = field(default_factory=list)
    _styled: bool = False  # whether a style said that the lines are code, not only the font
    _page: int | None = None
    _lists: list[_Seen] = field(default_factory=list)
    _carried: list[str] = field(default_factory=list)  # text of a paragraph whose end was deleted, or of a drop cap
    _is_cell: bool = False
    _depth: int = 0

    def add_all(self, container: Element) -> None:
        """The contents of a body, cell or box."""
        for element in flow_elements(container, self.story):
            if element.tag == f"{W}p":
                self._add_paragraph(element)
            else:
                self._add_table(element)
        if self._carried:
            self._collect("paragraph", self._take(""), self.story.page)
        self.finish()

    # ------------------------------------------------------------ paragraphs

    def _add_paragraph(self, paragraph: Element) -> None:
        properties = paragraph.find(f"{W}pPr")
        content = paragraph_text(paragraph, self.story)
        if _joins_next(properties):
            self._carried.append(content.text)
        else:
            text = self._take(content.text)
            if text.strip():
                self._add_text(properties, text, content)
            elif self._kind == "code" and self._is_code(properties, content):
                self._lines.append("")
        for box in content.boxes:
            self._add_nested(box)

    def _take(self, text: str) -> str:
        carried, self._carried = self._carried, []
        return "".join([*carried, text])

    def _add_text(self, properties: Element | None, text: str, content: ParagraphText) -> None:
        style, styles = value(properties, "pStyle"), self.story.styles
        level = _outline(properties) if _outline(properties) is not None else styles.heading_level(style)
        role = styles.role(style)
        if level and role != "contents":
            self.finish()
            self.builder.page = content.page
            mark = self._mark(properties, style)
            self.builder.heading(f"{mark[0]} {text}" if mark and mark[0] != BULLET else text, level)
        elif self._is_code(properties, content):
            self._add_code(properties, text, content, styled=role == "code")
        elif role == "quote":
            self._collect("quote", text.strip(), content.page)
        elif role == "contents":
            self._collect("other", text.strip(), content.page)
        elif mark := self._mark(properties, style):
            self._add_item(MarkedItem(mark[0], text.strip(), mark[1]), content.page)
        elif self._kind == "list" and styles.list_name(style) and len(self._items[-1].text) < _MAX_ITEM:
            last = self._items.pop()  # a further paragraph of the item
            self._items.append(MarkedItem(last.mark, f"{last.text}\n{text.strip()}", last.depth))
        else:
            self.finish()
            self._collect("paragraph", text.strip(), content.page)
            self.finish()

    def _collect(self, kind: Kind, line: str, page: int | None) -> None:
        if self._kind != kind:
            self.finish()
            self._kind, self._page = kind, page
        self._lines.append(line)

    def finish(self) -> None:
        """Close the block that is being collected."""
        kind, self._kind = self._kind, None
        self.builder.page = self._page if kind else self.story.page
        if kind == "list":
            self.builder.add("list", list_text(self._items), 1)
        elif kind:
            text = "\n".join(self._lines)
            prose = kind == "code" and not self._styled and not _CODE_SIGNS.search(text)
            self.builder.add("paragraph" if prose else kind, text)
        self._lines, self._items, self._styled = [], [], False

    # ------------------------------------------------------------ code

    def _is_code(self, properties: Element | None, content: ParagraphText) -> bool:
        """By its style, or by the font of all of its text where the document is not typewritten as a whole."""
        styles = self.story.styles
        if styles.role(value(properties, "pStyle")) == "code":
            return True
        if styles.is_typewritten or value(properties, "numPr/numId"):
            return False
        mark = None if properties is None else properties.find(f"{W}rPr")
        return content.monospaced or (not content.text.strip() and is_monospaced(font_of(mark)))

    def _add_code(self, properties: Element | None, text: str, content: ParagraphText, *, styled: bool) -> None:
        indent = left_indent(properties) or 0
        if self._kind == "code" and self._styled != styled and any(self._lines):
            self.finish()
        spaces = " " * min(indent // _TWIPS_A_CHARACTER, 80) if indent > 0 else ""
        self._collect("code", "\n".join(spaces + line for line in text.rstrip().split("\n")), content.page)
        self._styled = styled

    # ------------------------------------------------------------ lists

    def _mark(self, properties: Element | None, style: str | None) -> tuple[str, int] | None:
        """The mark and the depth of an item; None for a paragraph that is none."""
        place = list_place(properties, style, self.story.styles, self.numbering)
        if place is None:
            return self._named_mark(style)
        if place.number_id == "0":  # a style's numbering, switched off
            return None
        mark = self.numbering.next_mark(place.number_id, place.level)
        named = self.story.styles.list_name(style)
        depth = self._list_depth(place)
        return (mark, max(depth, named.depth if named else 0)) if mark else None

    def _named_mark(self, style: str | None) -> tuple[str, int] | None:
        """Of styles such as "List Bullet 2", in documents without their numbering."""
        named = self.story.styles.list_name(style)
        if named is None or named.kind not in ("bullet", "number"):
            return None
        if named.kind == "bullet":
            return BULLET, named.depth
        before = next((item for item in reversed(self._items) if item.depth <= named.depth), None)
        counted = before is not None and before.depth == named.depth and before.mark[:-1].isdigit()
        return f"{int(before.mark[:-1]) + 1 if before and counted else 1}.", named.depth

    def _list_depth(self, place: ListPlace) -> int:
        """Lists of different definitions are nested when the inner one is indented further."""
        if self._kind != "list":
            self._lists = []
        known = next((seen for seen in self._lists if seen.number_id == place.number_id), None)
        if known:
            del self._lists[self._lists.index(known) + 1 :]
        else:
            while self._lists and self._lists[-1].indent >= place.indent:
                self._lists.pop()
            depth = self._items[-1].depth + 1 - place.level if self._lists and self._items else 0
            known = _Seen(place.number_id, depth, place.indent)
            self._lists.append(known)
        known.indent = place.indent
        return max(known.depth + place.level, 0)

    def _add_item(self, item: MarkedItem, page: int | None) -> None:
        """A list ends where another begins beside it: bullets after numbers, or numbers that start again."""
        other = self._items and item.depth == 0 and not _goes_on(self._items, item.mark)
        if self._kind != "list" or other:
            self.finish()
            self._kind, self._page = "list", page
        self._items.append(item)

    # ------------------------------------------------------------ tables and boxes

    def _add_table(self, table: Element) -> None:
        self.finish()
        rows = grid_rows(table)
        content = frame_content(rows)
        if content is not None:
            self._add_nested(content)
            return
        self.builder.page = self.story.page
        texts = list(row_texts(rows, self._cell_text))
        if self._is_cell:
            self.builder.add("other", "; ".join(", ".join(filter(None, row)) for row in texts if any(row)))
        else:
            self.builder.table(texts, header_count(rows))

    def _cell_text(self, cell: Element) -> str:
        """The content of a cell as one text; a table in it is written with commas."""
        return flat_text(cell, self.story, self.numbering, depth=self._depth)

    def _add_nested(self, container: Element) -> None:
        """The content of a text box or cell; what is nested too deeply comes as one paragraph."""
        self.finish()
        if self._depth < MAX_NESTED:
            self._depth += 1
            self.add_all(container)
            self._depth -= 1
        else:
            self.builder.add("paragraph", " ".join(t.text or "" for t in container.iter(f"{W}t")))


def flat_text(container: Element, story: Story, numbering: Numbering, *, depth: int = 0) -> str:
    """The content of a cell or note as text, a line a paragraph or item; a table in it is written with commas."""
    flow = Flow(DocumentBuilder(), story, numbering, _is_cell=True, _depth=depth)
    flow._add_nested(container)
    return _BLANK_LINES.sub("\n", flow.builder.build("", title="", source="", media_type="").text).strip()


_BLANK_LINES = re.compile(r"\n{2,}")


def _goes_on(items: list[MarkedItem], mark: str) -> bool:
    outer = next((item.mark for item in reversed(items) if item.depth == 0), None)
    return outer is None or ((outer == BULLET) == (mark == BULLET) and mark not in _FIRST)


_MAX_ITEM = 20_000  # characters to which further paragraphs are added
_FIRST = ("1.", "1)", "(1)", "a.", "a)", "(a)", "A.", "A)")
_TWIPS_A_CHARACTER = 120  # 6 points: the width of a monospaced character of 10 points
_CODE_SIGNS = re.compile(r"[{}\[\]();=<>$#\\|/*_`]|^[ \t]|\n[ \t]|::|--")


def _outline(properties: Element | None) -> int | None:
    """The level that the paragraph itself gives: 1 to 9, 0 for text, None for what its style says."""
    level = whole(value(properties, "outlineLvl"))
    return None if level is None else level + 1 if level < 9 else 0


def _joins_next(properties: Element | None) -> bool:
    """Whether the paragraph goes on in the next: its end was deleted or moved away, or it is a drop cap."""
    if properties is None:
        return False
    mark = properties.find(f"{W}rPr")
    gone = mark is not None and (mark.find(f"{W}del") is not None or mark.find(f"{W}moveFrom") is not None)
    frame = properties.find(f"{W}framePr")
    return gone or (frame is not None and frame.get(f"{W}dropCap") in ("drop", "margin"))
