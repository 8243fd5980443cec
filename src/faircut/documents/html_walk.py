"""The tree of a web page -> pieces in reading order, with white space as a browser shows it.

The walk keeps its own stack, so depth costs no recursion. What is left out (navigation, what is hidden) is counted by
its reason. What each element means is left to the handlers of ``html_elements.py``.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from faircut.documents.html_parts import Item, Piece, Table
from faircut.documents.html_source import names

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

__all__ = ["BLANK_LINES", "Element", "Frame", "Handler", "Leave", "Walk", "integer", "nothing"]

MAX_FRAMES = 50
"""Quotes, items, cells in each other that are told apart; what lies deeper belongs to the one around it."""

Attributes = dict[str, str | None]
Leave = Callable[[], None]
"""What is done at an element's end."""


@dataclass(slots=True)
class Element:
    """An element on the way: its node, its tag in lower case, its attributes."""

    node: "LexborNode"
    tag: str
    attributes: Attributes

    def get(self, name: str) -> str:
        """An attribute's value, empty where there is none."""
        return self.attributes.get(name) or ""

    @property
    def parent(self) -> str:
        """The tag of the element around it."""
        return (self.node.parent.tag or "") if self.node.parent is not None else ""


Handler = Callable[["Walk", Element], Leave | None]
"""Enters an element; None when there is nothing to see in it."""


# ---------------------------------------------------------------- lines

_SPACE = re.compile(r"[ \t\n\r\f]{2,}|[\t\n\r\f]")  # a single space is left alone: most are
_CJK = "[\u2e80-\u312f\u31a0-\ua4cf\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"
_CJK_BREAK = re.compile(rf"(?<={_CJK})[ \t\r\f]*\n[ \t\n\r\f]*(?={_CJK})")  # Chinese and Japanese have no spaces
BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")


@dataclass(slots=True)
class Line:
    """Text in the making, its white space collapsed over the borders of inline elements."""

    parts: list[str] = field(default_factory=list)
    at_space: bool = True  # so the next white space vanishes

    def add(self, text: str) -> None:
        """Append text as a browser does; a line end between Chinese or Japanese letters vanishes."""
        if "\n" in text and not text.isascii():
            text = _CJK_BREAK.sub("", text)
        text = _SPACE.sub(" ", text)
        if self.at_space:
            text = text.removeprefix(" ")
        if text:
            self.add_as_is(text)

    def add_as_is(self, text: str) -> None:
        """Append text with its white space; it must not be empty."""
        self.parts.append(text)
        self.at_space = text[-1] in " \t\n\r\f"

    def end(self) -> None:
        """A line end; spaces in front of it vanish."""
        if self.parts and self.at_space:
            self.parts[-1] = self.parts[-1].rstrip(" ")
        self.add_as_is("\n")

    def take(self) -> str:
        """The text, and begin a new one."""
        text = "".join(self.parts)
        self.parts, self.at_space = [], True
        return text

    @property
    def last(self) -> str:
        """The last character, or nothing."""
        return self.parts[-1][-1:] if self.parts else ""


@dataclass(slots=True)
class Frame:
    """Where pieces go: the page, a heading, a quote, a list, an item, a table, a cell, preformatted text."""

    kind: str
    pieces: list[Piece] = field(default_factory=list)
    line: Line = field(default_factory=Line)
    items: list[Item] = field(default_factory=list)
    table: Table | None = None
    number: int | None = None  # of the next item
    step: int = 1


# ---------------------------------------------------------------- what is not shown

_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all", re.IGNORECASE)
_WHITE_SPACE = re.compile(r"white-space\s*:\s*([a-z-]+)", re.IGNORECASE)
_UNSEEN = names(
    "head script style template noscript noembed noframes iframe embed canvas audio video datalist rp colgroup title"
)
_COUNTED = {"select": "form fields", "textarea": "form fields", "svg": "graphics", "rt": "ruby readings"}
_INLINE = names("a abbr b button i img span strong em small sub sup svg mark label")
_LANDMARKS = {
    **dict.fromkeys(("navigation", "menu", "menubar", "search"), "nav"),
    "banner": "header",
    "contentinfo": "footer",
    "complementary": "aside",
}
_REASONS = {"nav": "navigation", "header": "page headers", "footer": "page footers", "aside": "sidebars"}
# Marks that tools put beside the text: edit links, anchors of headings, numbers of code lines.
_FURNITURE = names("mw-editsection headerlink linenos lineno linenodiv line-numbers-rows hljs-ln-numbers blob-num")


def _hidden(element: Element) -> bool:
    attributes = element.attributes
    if "hidden" in attributes and attributes["hidden"] != "until-found":
        return True
    if element.get("aria-hidden") == "true" and element.tag in _INLINE:
        return True  # on blocks it marks a closed panel, whose text a reader wants
    if element.tag == "dialog" and "open" not in attributes:
        return True
    return bool(_HIDING.search(element.get("style")))


_INTEGER = re.compile(r"\s*([+-]?\d{1,9})")


def integer(value: str, default: int, *, low: int = -(10**9), high: int = 10**9) -> int:
    """The number that an attribute begins with, as browsers read it, within bounds."""
    match = _INTEGER.match(value) if value else None
    return min(max(int(match[1]), low), high) if match else default


# ---------------------------------------------------------------- the walk


class Walk:
    """One pass over a page.

    ``pieces(root)`` gives its blocks in reading order. ``left_out`` then says how many characters were left out, by
    reason. ``chrome`` are the landmarks (nav, header, footer, aside) that are no part of the text; all but nav only
    outside of ``main`` and ``article``. ``handlers`` give the meaning of the tags; others are inline.
    """

    def __init__(self, handlers: Mapping[str, Handler], chrome: frozenset[str]) -> None:
        self.handlers = handlers
        self.chrome = chrome
        self.left_out: Counter[str] = Counter()
        self.frames = [Frame("page")]
        self.muted = ""  # the reason, inside of what is left out
        self.content = 0  # main and article elements around this place
        self.headers = 0  # header elements around it
        self.spacing = "normal"  # the white-space property
        self.page: int | None = None
        self.keeps_header = True

    def pieces(self, root: "LexborNode") -> list[Piece]:
        """The blocks below ``root``."""
        if root.css_first("main, article, [role=main]") is None:
            self.chrome &= {"nav"}  # what is outside cannot be told
        self.keeps_header = root.css_first("main h1, article h1, [role=main] h1") is None
        for node in _nodes(root, self.enter):
            self._text(node.text_content or "")
        self.flush()
        return self.frames[0].pieces

    @property
    def top(self) -> Frame:
        """The innermost open frame."""
        return self.frames[-1]

    @property
    def is_at_start(self) -> bool:
        """Whether nothing was read yet."""
        return len(self.frames) == 1 and not self.top.pieces and not self.top.line.parts

    def enter(self, node: "LexborNode") -> Leave | None:
        """Enter an element: its handler says what is done at its end."""
        tag = node.tag or ""
        if tag in _UNSEEN:
            return None
        element = Element(node, tag, node.attributes)
        if element.attributes and not _FURNITURE.isdisjoint(element.get("class").split()):
            return None
        if self.muted:
            return nothing
        if reason := self._reason(element):
            return self.mute(reason)
        if element.attributes and element.get("role") == "heading" and tag[0] != "h":
            tag = "h2"
        handler = self.handlers.get(tag)
        leave = handler(self, element) if handler else nothing
        return self._spaced(element, leave) if leave and "white-space" in element.get("style") else leave

    def _reason(self, element: Element) -> str:
        """Why the element is left out, or nothing."""
        landmark = element.tag
        if element.attributes:
            if _hidden(element):
                return "hidden parts"
            landmark = _LANDMARKS.get(element.get("role"), landmark)
        elif landmark == "dialog":
            return "hidden parts"
        if landmark in self.chrome and (landmark == "nav" or not self.content):
            # The title of many pages stands in their header.
            if landmark == "header" and self.keeps_header and element.node.css_first("h1") is not None:
                self.chrome -= {"header"}
                return ""
            return _REASONS[landmark]
        return _COUNTED.get(element.tag, "")

    def mute(self, reason: str) -> Leave:
        """Only count the text until the element's end."""

        def leave() -> None:
            self.muted = ""

        if reason in _REASONS.values():
            self.flush()
        self.muted = reason
        return leave

    def _spaced(self, element: Element, leave: Leave) -> Leave:
        """Keep white space as the element's style says, until it ends."""
        before = self.spacing
        match = _WHITE_SPACE.search(element.get("style"))
        self.spacing = match[1].lower() if match else before

        def restore() -> None:
            leave()
            self.spacing = before

        return restore

    # -------------------------------------------------------- text

    def _text(self, text: str) -> None:
        if self.muted:
            self.left_out[self.muted] += len(" ".join(text.split()))
            return
        if "\xad" in text:
            text = text.replace("\xad", "")  # a soft hyphen is not seen and hides the word from search
        line = self.top.line
        if self.top.kind == "pre" or self.spacing in ("pre", "pre-wrap", "break-spaces"):
            if text:
                line.add_as_is(text)
        elif self.spacing == "pre-line":
            first, *rest = text.split("\n")
            line.add(first)
            for part in rest:
                line.end()
                line.add(part)
        else:
            line.add(text)

    def flush(self) -> None:
        """End the paragraph in the making; blank lines (``<br><br>``) part it."""
        frame = self.top
        if frame.kind == "pre":
            if frame.line.last not in ("", "\n"):
                frame.line.add_as_is("\n")
            return
        if not frame.line.parts:
            return
        text = frame.line.take().strip(" \n")
        for part in BLANK_LINES.split(text) if "\n" in text else (text,):
            self.add(Piece("paragraph", part))

    def add(self, piece: Piece) -> None:
        """Append a piece that is not blank."""
        if piece.text.strip():
            piece.page = self.page if piece.page is None else piece.page
            self.top.pieces.append(piece)

    def open(self, frame: Frame, leave: Callable[[Frame], None]) -> Leave:
        """Open a frame; ``leave`` gets it when its element ends, with the frame around it on top again.

        Beyond ``MAX_FRAMES``, and inside preformatted text, the element is a block like any other.
        """
        self.flush()
        if len(self.frames) >= MAX_FRAMES or self.top.kind == "pre":
            return self.flush
        self.frames.append(frame)

        def close() -> None:
            self.flush()
            self.frames.pop()
            leave(frame)

        return close

    def extend(self, pieces: list[Piece]) -> None:
        """Append pieces that were made of others."""
        for piece in pieces:
            self.add(piece)


def _nodes(root: "LexborNode", enter: Callable[["LexborNode"], Leave | None]) -> Iterator["LexborNode"]:
    """The text nodes below ``root`` in order; elements are entered and left on the way."""
    stack: list[tuple[LexborNode | None, Leave]] = [(root.first_child, nothing)]
    while stack:
        node, leave = stack[-1]
        if node is None:
            stack.pop()
            leave()
            continue
        stack[-1] = (node.next, leave)
        if node.is_text_node:
            yield node
        elif node.is_element_node:
            at_end = enter(node)
            if at_end is not None:
                stack.append((node.first_child, at_end))


def nothing() -> None:
    """The end of an element that does nothing there."""
