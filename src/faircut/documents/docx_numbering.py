"""The numbering of a DOCX -> the mark in front of each item, counted as Word counts: ``-``, ``1.``, ``2.1``, ``(a)``.

Which paragraphs are items is left to ``docx_flow.py``.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from faircut.documents.docx_styles import Styles, W, is_on, left_indent, numbering_place, value, whole
from faircut.documents.marked_items import BULLET, letters, roman

__all__ = ["ListPlace", "Numbering", "list_place", "read_numbering"]

LEVELS = 9
"""Levels of a list."""


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a list: how it counts, and the text around the numbers (``%1.%2``)."""

    form: str = "decimal"
    text: str = ""
    start: int = 1
    legal: bool = False
    style: str | None = None
    indent: int | None = None


Levels = Mapping[int, Level]


@dataclass(frozen=True, slots=True)
class Definition:
    """One list of the document: the counters that it shares, its levels, the levels that begin anew."""

    counters: str
    levels: Levels
    restarts: Mapping[int, int]


@dataclass
class Numbering:
    """All lists of a document, with their counters as the document is read from its beginning."""

    lists: Mapping[str, Definition] = field(default_factory=dict)
    _counts: dict[str, dict[int, int]] = field(default_factory=dict)
    _begun: set[str] = field(default_factory=set)

    def level_of_style(self, number_id: str, style: str) -> int:
        """The level that belongs to a style of headings or items."""
        levels = self.lists[number_id].levels if number_id in self.lists else {}
        return next((level for level, found in levels.items() if found.style == style), 0)

    def indent(self, number_id: str, level: int) -> int | None:
        """The left indent of a level, in twips."""
        found = self.lists.get(number_id)
        return found.levels.get(level, Level()).indent if found else None

    def next_mark(self, number_id: str, level: int) -> str:
        """Count one item at a level of 0 to 8; its mark. Nothing for a level that shows none."""
        found = self.lists.get(number_id)
        if found is None:
            return BULLET
        counts = self._counts.setdefault(found.counters, {})
        if number_id not in self._begun:
            self._begun.add(number_id)
            counts.update({at: start - 1 for at, start in found.restarts.items()})
        form = found.levels.get(level, Level())
        counts[level] = counts.get(level, found.restarts.get(level, form.start) - 1) + 1
        for deeper in [at for at in counts if at > level]:
            del counts[deeper]
        return _mark(found.levels, level, counts)


def _mark(levels: Levels, level: int, counts: Mapping[int, int]) -> str:
    form = levels.get(level, Level(text="%1."))
    if form.form == "bullet":
        return BULLET

    def number(match: re.Match[str]) -> str:
        at = int(match[1]) - 1
        of = levels.get(at, Level())
        count = counts.get(at, of.start)
        return str(count) if form.legal else _FORMS.get(of.form, str)(count)

    return re.sub(r"%([1-9])", number, form.text).strip()


@dataclass(frozen=True, slots=True)
class ListPlace:
    """Which list a paragraph belongs to, at which level from 0, and its left indent in twips."""

    number_id: str
    level: int
    indent: int


def list_place(properties: Element | None, style: str | None, styles: Styles, numbering: Numbering) -> ListPlace | None:
    """Where a paragraph stands by its own properties, else by its style's; None for one that is in no list.

    The list ``0`` is none, on purpose.
    """
    own, inherited = numbering_place(properties), styles.numbering(style)
    number_id = (own and own.number_id) or (inherited and inherited[1].number_id)
    if number_id is None:
        return None
    levels = [own and own.level, inherited and inherited[1].level]
    level = next((level for level in levels if level is not None), None)
    if level is None:
        level = numbering.level_of_style(number_id, inherited[0] if inherited else "")
    level = min(max(level, 0), LEVELS - 1)
    indents = [left_indent(properties), numbering.indent(number_id, level), styles.indent_of(style), 0]
    return ListPlace(number_id, level, next(indent for indent in indents if indent is not None))


# ---------------------------------------------------------------- how numbers are written


def _ordinal(count: int) -> str:
    special = 10 <= count % 100 <= 20
    return f"{count}{'th' if special else {1: 'st', 2: 'nd', 3: 'rd'}.get(count % 10, 'th')}"


_FORMS: Mapping[str, Callable[[int], str]] = {
    "lowerLetter": letters,
    "upperLetter": lambda count: letters(count).upper(),
    "lowerRoman": roman,
    "upperRoman": lambda count: roman(count).upper(),
    "decimalZero": lambda count: f"{count:02}",
    "ordinal": _ordinal,
    "none": lambda _: "",
}


# ---------------------------------------------------------------- numbering.xml


def read_numbering(root: Element | None, styles: Styles) -> Numbering:
    """The lists in ``numbering.xml``; none without it."""
    if root is None:
        return Numbering()
    abstract = {e.get(f"{W}abstractNumId", ""): e for e in root.iter(f"{W}abstractNum")}
    numbers = {e.get(f"{W}numId", ""): e for e in root.iter(f"{W}num")}

    def levels_of(abstract_id: str) -> Levels:
        element = abstract.get(abstract_id)
        linked = value(element, "numStyleLink")  # the levels are those of the list of a style
        if linked and (place := styles.numbering(linked)) and place[1].number_id in numbers:
            element = abstract.get(value(numbers[place[1].number_id], "abstractNumId") or "")
        return {} if element is None else _levels(element)

    cache = {abstract_id: levels_of(abstract_id) for abstract_id in abstract}
    return Numbering({id_: _definition(e, cache) for id_, e in numbers.items()})


def _definition(element: Element, abstract: Mapping[str, Levels]) -> Definition:
    counters = value(element, "abstractNumId") or ""
    levels = dict(abstract.get(counters, {}))
    restarts = {}
    for override in element.iter(f"{W}lvlOverride"):
        at = whole(override.get(f"{W}ilvl")) or 0
        levels |= _levels(override)
        if (start := whole(value(override, "startOverride"))) is not None:
            restarts[at] = start
    return Definition(counters, levels, restarts)


def _levels(parent: Element) -> dict[int, Level]:
    return {whole(e.get(f"{W}ilvl")) or 0: _level(e) for e in parent.iter(f"{W}lvl")}


def _level(element: Element) -> Level:
    start = whole(value(element, "start"))
    return Level(
        form=value(element, "numFmt") or "decimal",
        text=value(element, "lvlText") or "",
        start=1 if start is None else start,
        legal=bool(is_on(element, "isLgl")),
        style=value(element, "pStyle"),
        indent=left_indent(element.find(f"{W}pPr")),
    )
