"""The styles of a DOCX -> what a paragraph is: heading with level, code, quote, list; also what is inherited.

What the styles are applied to is left to ``docx_flow.py``.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeVar
from xml.etree.ElementTree import Element

__all__ = [
    "NumberingPlace", "Style", "Styles", "W", "font_of", "is_monospaced", "is_on", "left_indent", "numbering_place",
    "read_styles", "value", "whole",
]  # fmt: skip

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"

MAX_CHAIN = 20
"""Styles that are based on each other; Word follows eleven."""

Answer = TypeVar("Answer")
Role = Literal["title", "code", "quote", "contents"]


class NumberingPlace(NamedTuple):
    """Which list a paragraph belongs to, and at which level; each None where it is not said."""

    number_id: str | None
    level: int | None


@dataclass(frozen=True, slots=True)
class Style:
    """One paragraph or character style, as far as it is of interest; None where it says nothing."""

    name: str = ""
    based_on: str | None = None
    outline: int | None = None
    numbering: NumberingPlace | None = None
    font: str | None = None
    indent: int | None = None
    hidden: bool | None = None


def value(parent: Element | None, path: str) -> str | None:
    """The ``w:val`` of the element at a path such as ``pPr/outlineLvl``."""
    found = None if parent is None else parent.find(_path(path))
    return None if found is None else found.get(f"{W}val")


def _path(path: str) -> str:
    return "/".join(W + name for name in path.split("/"))


def is_on(parent: Element | None, path: str) -> bool | None:
    """A switch such as ``rPr/vanish``; None where it is absent."""
    found = None if parent is None else parent.find(_path(path))
    return None if found is None else found.get(f"{W}val", "1") not in ("0", "false", "off")


def whole(text: str | None) -> int | None:
    """A whole number, or None where it is none."""
    try:
        return None if text is None else int(text)
    except ValueError:
        return None


def numbering_place(properties: Element | None) -> NumberingPlace | None:
    """The ``numPr`` in paragraph properties."""
    if properties is None or properties.find(f"{W}numPr") is None:
        return None
    return NumberingPlace(value(properties, "numPr/numId"), whole(value(properties, "numPr/ilvl")))


def font_of(properties: Element | None) -> str | None:
    """The font of Latin letters in run properties."""
    fonts = None if properties is None else properties.find(f"{W}rFonts")
    return None if fonts is None else fonts.get(f"{W}ascii") or fonts.get(f"{W}hAnsi")


def left_indent(properties: Element | None) -> int | None:
    """The left indent in paragraph properties, in twips (a twentieth of a point)."""
    found = None if properties is None else properties.find(f"{W}ind")
    return None if found is None else whole(found.get(f"{W}left") or found.get(f"{W}start"))


_MONOSPACED = re.compile(
    r"\bmono|courier|consolas|menlo|monaco\b|lucida (console|sans typewriter)|inconsolata|(fira|source) code"
    r"|cascadia|jetbrains|source code|\bhack\b|terminal|fixedsys|typewriter|andale|letter gothic|cousine|code\b",
    re.IGNORECASE,
)


def is_monospaced(font: str | None) -> bool:
    """Whether a font is one of those for code, by its name."""
    return font is not None and _MONOSPACED.search(font) is not None


# ---------------------------------------------------------------- names

# Built-in styles keep their English names in the file whatever the language of Word; other programs translate them.
_HEADING = re.compile(
    r"(?:heading|überschrift|titre|título|titulo|titolo|kop|rubrik|overskrift|otsikko|nagłówek|nadpis|заголовок|címsor"
    r"|başlık|naslov|επικεφαλίδα|titlu|tiêu đề|標題|标题|見出し|제목|عنوان|כותרת)[ _-]?([1-9])"
)
_ROLES: tuple[tuple[Role, re.Pattern[str]], ...] = (
    ("title", re.compile(r"title|titel|titre|título|titolo|tytuł|název|название|标题|標題|表題|제목")),
    ("contents", re.compile(r"toc ?\d|contents ?\d|table of (contents|figures)|verzeichnis ?\d|tm ?\d")),
    (
        "code",
        re.compile(
            r"(source[ _-]?|program[ _-]?|example[ _-]?)?code([ _-]?(block|text|listing|snippet|example|paragraph))?"
            r"|(source|program|code)[ _-]?listing|listing|html preformatted|preformatted( text)?|macro( text)?|verbatim"
            r"|quell(text|code)|vorformatierter text|console|terminal|screen"
        ),
    ),
    (
        "quote",
        re.compile(
            r"(intense |block ?)?quot(e|ation)s?|block text|(intensives )?zitat|citation( intense)?|cita( destacada)?"
            r"|citazione( intensa)?|citat|引用|引用文|인용"
        ),
    ),
)
_LIST = re.compile(r"list (bullet|number|continue)(?: ([1-5]))?|(list) paragraph")


class ListName(NamedTuple):
    """What the name of a style says of lists: bullet, number, continue or paragraph, and the depth from 0."""

    kind: str
    depth: int


@dataclass(frozen=True)
class Styles:
    """All styles of a document by their id; also for a document that has none, where the ids speak for themselves."""

    by_id: Mapping[str, Style]
    default: str | None = None
    font: str | None = None
    _found: dict[tuple[str, str | None], Any] = field(default_factory=dict, compare=False)

    def chain(self, style: str | None) -> Iterator[tuple[str, Style]]:
        """The style and those it is based on, nearest first; circles end."""
        style = style or self.default
        for _ in range(MAX_CHAIN):
            if style is None:
                return
            found = self.by_id.get(style) or Style(name=_name_from_id(style))
            yield style, found
            style = found.based_on

    def _once(self, question: str, style: str | None, answer: Callable[[], Answer]) -> Answer:
        """The answer for a style, looked for once only."""
        key = (question, style)
        if key not in self._found:
            self._found[key] = answer()
        found: Answer = self._found[key]
        return found

    def heading_level(self, style: str | None) -> int | None:
        """1 to 9 for a heading or a title."""
        return self._once("heading", style, lambda: self._heading_level(style))

    def _heading_level(self, style: str | None) -> int | None:
        for _, found in self.chain(style):
            if found.outline is not None:
                return found.outline + 1 if 0 <= found.outline < 9 else None
            if match := _HEADING.fullmatch(found.name):
                return int(match[1])
            if _role(found.name) == "title":
                return 1
        return None

    def role(self, style: str | None) -> Role | None:
        """What the name of the style, or of one that it is based on, says."""
        roles = (_role(found.name) for _, found in self.chain(style))
        return self._once("role", style, lambda: next(filter(None, roles), None))

    def list_name(self, style: str | None) -> ListName | None:
        """What the name of the style says of lists."""
        names = (_list_name(found.name) for _, found in self.chain(style))
        return self._once("list", style, lambda: next(filter(None, names), None))

    def numbering(self, style: str | None) -> tuple[str, NumberingPlace] | None:
        """The list that a style puts its paragraphs into, and the id of the style that says so."""
        places = ((id_, s.numbering) for id_, s in self.chain(style) if s.numbering)
        return self._once("numbering", style, lambda: next(places, None))

    def font_of(self, style: str | None) -> str | None:
        """The font that a style gives, else the document's."""
        fonts = (s.font for _, s in self.chain(style) if s.font)
        return self._once("font", style, lambda: next(fonts, self.font))

    def indent_of(self, style: str | None) -> int | None:
        """The left indent that a style gives, in twips."""
        indents = (s.indent for _, s in self.chain(style) if s.indent is not None)
        return self._once("indent", style, lambda: next(indents, None))

    def hides(self, style: str | None) -> bool:
        """Whether a style hides its text."""
        return self._once("hidden", style, lambda: any(s.hidden for _, s in self.chain(style))) if style else False

    @cached_property
    def is_typewritten(self) -> bool:
        """Whether the document is monospaced throughout, so that the font says nothing about code."""
        return is_monospaced(self.font_of(None))


def _list_name(name: str) -> ListName | None:
    match = _LIST.fullmatch(name)
    return ListName(match[1] or "paragraph", int(match[2] or 1) - 1) if match else None


def _role(name: str) -> Role | None:
    return next((role for role, pattern in _ROLES if pattern.fullmatch(name)), None)


def _name_from_id(style: str) -> str:
    """``Heading1`` -> ``heading 1``, ``ListBullet2`` -> ``list bullet 2``: the ids that Word itself makes."""
    return re.sub(r"(?<=[a-z])(?=[A-Z0-9])", " ", style).replace("_", " ").casefold()


def read_styles(root: Element | None) -> Styles:
    """The styles in ``styles.xml``; none without it."""
    if root is None:
        return Styles({})
    elements = {e.get(f"{W}styleId", ""): e for e in root.iter(f"{W}style") if e.get(f"{W}type") != "table"}
    default = [
        id_
        for id_, e in elements.items()
        if e.get(f"{W}type", "paragraph") == "paragraph" and e.get(f"{W}default") in ("1", "true", "on")
    ]
    font = font_of(root.find(_path("docDefaults/rPrDefault/rPr")))
    return Styles({id_: _style(e) for id_, e in elements.items()}, next(iter(default), None), font)


def _style(element: Element) -> Style:
    paragraph, run = element.find(f"{W}pPr"), element.find(f"{W}rPr")
    return Style(
        name=" ".join((value(element, "name") or "").casefold().split()),
        based_on=value(element, "basedOn"),
        outline=whole(value(paragraph, "outlineLvl")),
        numbering=numbering_place(paragraph),
        font=font_of(run),
        indent=left_indent(paragraph),
        hidden=is_on(run, "vanish"),
    )
