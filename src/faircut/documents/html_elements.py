"""What each element of a web page means: headings, quotes, lists, tables, code, line ends, images, formulas.

A handler gets the walk and the element, and gives what is done at its end, or None to pass over what is in it. Elements
without a handler are inline. How items and cells become blocks is left to ``html_parts.py``.
"""

import re

from faircut.documents.html_parts import Cell, Item, Piece, Row, Table, list_pieces, quote_pieces, table_pieces
from faircut.documents.html_source import names
from faircut.documents.html_walk import BLANK_LINES, Element, Frame, Handler, Leave, Walk, integer, nothing

__all__ = ["HANDLERS"]

# ---------------------------------------------------------------- blocks


def _inline(walk: Walk, element: Element) -> Leave | None:
    """The place where a page of the printed book began, which its e-book may tell, or nothing special."""
    if "pagebreak" in element.get("epub:type") or element.get("role") == "doc-pagebreak":
        walk.page = integer(element.get("title") or element.get("aria-label"), walk.page or 0, low=0) or None
        return None
    return nothing


def _block(walk: Walk, element: Element) -> Leave:
    _inline(walk, element)
    walk.flush()
    return walk.flush


def _header(walk: Walk, element: Element) -> Leave:
    def leave() -> None:
        walk.headers -= 1
        block()

    block = _block(walk, element)
    walk.headers += 1
    return leave


def _content(walk: Walk, _element: Element) -> Leave:
    def leave() -> None:
        walk.flush()
        walk.content -= 1

    walk.flush()
    walk.content += 1
    return leave


def _heading(walk: Walk, element: Element) -> Leave:
    """A heading; blocks that follow its first one (it was never closed) are blocks of their own."""
    level = int(element.tag[1]) if element.tag in _HEADINGS else integer(element.get("aria-level"), 2, low=1, high=6)

    def leave(frame: Frame) -> None:
        pieces = frame.pieces
        short = all(p.kind == "paragraph" for p in pieces) and sum(len(p.text) for p in pieces) < _MAX_HEADING
        count = len(pieces) if short else 1
        walk.add(Piece("heading", " ".join(" ".join(p.text.split()) for p in pieces[:count]), level))
        walk.extend(pieces[count:])

    return walk.open(Frame("heading"), leave)


_HEADINGS = names("h1 h2 h3 h4 h5 h6")
_MAX_HEADING = 300  # characters of several blocks that are one heading


def _quote(walk: Walk, element: Element) -> Leave:
    if any(f.kind == "quote" for f in walk.frames):
        return _block(walk, element)
    return walk.open(Frame("quote"), lambda frame: walk.extend(quote_pieces(frame.pieces)))


def _list(walk: Walk, element: Element) -> Leave:
    def leave(frame: Frame) -> None:
        _stray(frame)
        walk.extend(list_pieces(frame.items))

    if walk.headers and walk.top.kind != "item" and _is_menu(element):
        return walk.mute("navigation")
    frame = Frame("list")
    if element.tag == "ol":
        falling = "reversed" in element.attributes
        first = sum(child.tag == "li" for child in element.node.iter()) if falling else 1
        frame.number, frame.step = integer(element.get("start"), first), -1 if falling else 1
    return walk.open(frame, leave)


def _is_menu(element: Element) -> bool:
    """Whether a list in a header has only links to follow: the languages or sections of a site."""
    items = element.node.css("li")
    return len(items) >= 5 and all(item.css_first("a") is not None for item in items)


def _stray(frame: Frame) -> None:
    """What stands in a list outside of its items is an item."""
    if frame.pieces:
        frame.items.append(Item(frame.pieces))
        frame.pieces = []


def _item(walk: Walk, element: Element) -> Leave:
    parent = walk.top
    if parent.kind != "list":
        return _block(walk, element)
    walk.flush()
    _stray(parent)
    number = None
    if element.tag == "li" and parent.number is not None:
        number = integer(element.get("value"), parent.number)
    depth = 1 if element.tag == "dd" else 0

    def leave(frame: Frame) -> None:
        if frame.pieces:
            parent.items.append(Item(frame.pieces, depth, number))
        if number is not None:
            parent.number = number + parent.step

    return walk.open(Frame("item"), leave)


def _table(walk: Walk, element: Element) -> Leave:
    table = Table(arranges=element.get("role") in ("presentation", "none"))
    frame = Frame("table", table=table)
    return walk.open(frame, lambda frame: walk.extend([*frame.pieces, *table_pieces(table)]))


def _row(walk: Walk, element: Element) -> Leave:
    group = element.node.parent
    if walk.top.table is not None and group is not None:
        walk.top.table.rows.append(Row(group.tag or "", group.mem_id))
    return _block(walk, element)


def _cell(walk: Walk, element: Element) -> Leave:
    if walk.top.table is None or not walk.top.table.rows:
        return _block(walk, element)
    row = walk.top.table.rows[-1]
    columns = integer(element.get("colspan"), 1, low=1, high=1000)
    rows = integer(element.get("rowspan"), 1, low=0, high=65534) or 65534  # 0 is: to the end of the group

    def leave(frame: Frame) -> None:
        row.cells.append(Cell(frame.pieces, columns, rows, element.tag == "th"))

    return walk.open(Frame("cell"), leave)


def _caption(walk: Walk, element: Element) -> Leave:
    if walk.top.table is None:
        return _block(walk, element)
    captions = walk.top.table.captions
    return walk.open(Frame("caption"), lambda frame: captions.extend(frame.pieces))


_WORD = re.compile(r"[^\W\d_]{2,}")


def _pre(walk: Walk, element: Element) -> Leave:
    if walk.top.kind == "pre":
        return _block(walk, element)
    is_code = element.node.css_first("code, samp, kbd, span") is not None or "class" in element.attributes

    def leave(frame: Frame) -> None:
        text = frame.line.take()
        if is_code or not _is_prose(text):
            walk.add(Piece("code", text.strip("\r\n").rstrip()))
            return
        for part in BLANK_LINES.split(text):
            walk.add(Piece("paragraph", part.rstrip()))

    return walk.open(Frame("pre"), leave)


def _is_prose(text: str) -> bool:
    """Whether preformatted text is a letter or law with paragraphs rather than code or a drawing."""
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < 10 or not BLANK_LINES.search(text):
        return False
    words = sum(len(m[0]) for m in _WORD.finditer(text))
    ink = sum(len(part) for part in text.split())
    many = sum(len(line.split()) >= 6 for line in lines)
    return words > 0.75 * ink and many > 0.4 * len(lines)


def _break(walk: Walk, _element: Element) -> None:
    walk.top.line.end()


def _image(walk: Walk, element: Element) -> None:
    alt = element.get("alt").strip()
    if alt:
        walk.top.line.add(f" {alt} ")


def _input(walk: Walk, element: Element) -> None:
    """A check box in an item is part of a task list, as Markdown writes it."""
    if element.get("type") == "checkbox" and walk.top.kind == "item":
        walk.top.line.add("[x] " if "checked" in element.attributes else "[ ] ")


def _button(walk: Walk, element: Element) -> Leave | None:
    """Buttons that send forms or copy code say nothing; others open a part of the page and name it."""
    beside_heading = walk.top.kind == "heading" and bool(walk.top.line.parts)
    if element.get("type") in ("submit", "reset") or walk.top.kind == "pre" or beside_heading:
        return None
    return nothing


def _anchor(walk: Walk, element: Element) -> Leave | None:
    """The text of a link; the sign that tools put beside a heading is none, nor "skip to content"."""
    if walk.is_at_start and element.get("href").startswith("#") and element.parent == "body":
        return walk.mute("navigation")
    if walk.top.kind == "heading":
        text = (element.node.text() or "").strip()
        if len(text) <= 2 and not any(c.isalnum() for c in text) and element.node.css_first("img") is None:
            return None
    return nothing


def _q(walk: Walk, _element: Element) -> Leave:
    walk.top.line.add("“")
    return lambda: walk.top.line.add("”")


_POWER = re.compile(r"\s*[+−–-]?\d+\s*")


def _sup(walk: Walk, element: Element) -> Leave:
    """A power keeps its sign: 10<sup>6</sup> is not 106."""
    child = element.node.first_child
    alone = child is not None and child.is_text_node and child.next is None
    if child is not None and alone and walk.top.line.last.isdigit() and _POWER.fullmatch(child.text_content or ""):
        walk.top.line.add("^")
    return nothing


def _math(walk: Walk, element: Element) -> Leave | None:
    """A formula as its author wrote it, where that is given."""
    parts = (part for child in element.node.iter() if child.tag == "semantics" for part in child.iter())
    annotation = next((part for part in parts if part.tag == "annotation"), None)
    source = element.get("alttext") or (annotation.text() if annotation is not None else "")
    if not source.strip():
        return nothing
    walk.top.line.add(" ".join(source.split()))
    return None


_BLOCKS = (
    "address aside body center details dialog div fieldset figcaption figure footer form hgroup hr html "
    "legend nav optgroup p search section summary thead tbody tfoot"
)
HANDLERS: dict[str, Handler] = {
    "span": _inline,
    **dict.fromkeys(_BLOCKS.split(), _block),
    **dict.fromkeys(_HEADINGS, _heading),
    **dict.fromkeys(("main", "article"), _content),
    **dict.fromkeys(("ul", "ol", "menu", "dir", "dl"), _list),
    **dict.fromkeys(("li", "dt", "dd"), _item),
    **dict.fromkeys(("pre", "xmp", "listing", "plaintext"), _pre),
    **dict.fromkeys(("td", "th"), _cell),
    "header": _header,
    "blockquote": _quote,
    "table": _table,
    "tr": _row,
    "caption": _caption,
    "br": _break,
    "img": _image,
    "input": _input,
    "button": _button,
    "a": _anchor,
    "q": _q,
    "sup": _sup,
    "math": _math,
}
