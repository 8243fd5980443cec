"""Running headers and footers of pages, found by repetition at one height of the margin, taken out and counted.

They would otherwise cut sentences at every page. Tables are never taken for them; what is removed is reported.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from faircut.documents.pdf_page import Line

__all__ = ["Furniture", "Margin", "find_furniture", "margin_lines"]

_ZONE = 0.13  # of the page's height, at its top and bottom
_APART = 1.2  # sizes of type between a running line and the text
_OUTERMOST = 3  # lines at each end that are looked at
_DIGITS = re.compile(r"\d+|\b[ivxlc]+\b")
_PAGE_NUMBER = re.compile(
    r"[\W_]*(?:(?:page|seite|p\.?|pag\.?|página|страница|第)\s*)?#(?:\s*(?:/|of|von|de|sur|из)\s*#)?[\W_]*(?:页|頁)?$",
    re.IGNORECASE,
)
_PAGE_OF = re.compile(r"\b(?:page|seite|página|страница)\s*#\s*(?:/|of|von|de|sur|из)\s*#$")

Key = tuple[str, int]  # the text with its numbers left out, and the height on the page in steps of 4 points


@dataclass(frozen=True, slots=True)
class Margin:
    """A line in the margin of a page."""

    page: int
    line: Line
    key: Key
    outer: int  # lines further out in the same margin
    gap: float  # to the next line inwards, in points


@dataclass(slots=True)
class Furniture:
    """What was taken out: how many lines, and the different texts (numbers as #)."""

    lines: int = 0
    texts: Counter[str] = field(default_factory=Counter)


def margin_lines(page: int, height: float, lines: Sequence[Line]) -> list[Margin]:
    """The lines of a page that may be running headers or footers."""
    ordered = sorted(lines, key=lambda a: a.middle)
    top = [a for a in ordered[:_OUTERMOST] if a.bottom < _ZONE * height]
    bottom = [a for a in ordered[-_OUTERMOST:] if a.top > (1 - _ZONE) * height and a not in top][::-1]
    margins = []
    for group, inwards in ((top, ordered), (bottom, ordered[::-1])):
        for n, line in enumerate(group):
            after = inwards[n + 1] if n + 1 < len(inwards) else None
            gap = max(after.top - line.bottom, line.top - after.bottom) if after else height
            margins.append(Margin(page, line, _key(line), n, gap))
    return margins


def _key(line: Line) -> Key:
    return _DIGITS.sub("#", " ".join(line.text.split()).casefold()), round(line.bottom / 4)


def find_furniture(margins: Sequence[Margin], pages: int, headings: Collection[int]) -> tuple[set[int], Furniture]:
    """The ids of the lines to leave out, and their count; ``headings`` are the ids of lines that stay.

    A text is running when it is at one height on three pages and on a third of the pages or on three in a row; a page
    number when it is on two pages or in a file of one page; in a file of two pages with page numbers also the outermost
    line of both.
    """
    where: dict[Key, list[Margin]] = defaultdict(list)
    for margin in margins:
        where[margin.key].append(margin)
    margins = [m for m in margins if id(m.line) not in headings]
    found, furniture = set[int](), Furniture()
    both = pages == 2 and any(
        _PAGE_NUMBER.match(text) and {m.page for m in g} == {1, 2} for (text, _), g in where.items()
    )
    for (text, step), group in where.items():
        near = group + where.get((text, step + 1), []) + where.get((text, step - 1), [])
        on = sorted({m.page for m in near})
        if _is_running(text, on, pages) or (both and len(on) == 2 and all(m.outer == 0 for m in near)):
            found.update(id(m.line) for m in group)
    known: dict[int, list[str]] = defaultdict(list)
    for margin in margins:
        if id(margin.line) in found:
            known[margin.key[1]].append(margin.key[0])
    found.update(id(m.line) for m in margins if _is_made_of(m.key, known))
    left_out = list(_outermost(margins, found))
    for margin in left_out:
        furniture.lines += 1
        furniture.texts[margin.key[0]] += 1
    return {id(m.line) for m in left_out}, furniture


def _outermost(margins: Sequence[Margin], found: set[int]) -> Iterator[Margin]:
    """Of the lines found, those with nothing but such lines further out, and with a gap inwards of the last of them."""
    group: list[Margin] = []
    for n, margin in enumerate(margins):
        if margin.outer == 0:
            group = []
        if id(margin.line) in found and len(group) == margin.outer:
            group.append(margin)
        after = margins[n + 1] if n + 1 < len(margins) else None
        if after is None or after.outer == 0:
            while group and group[-1].gap < _APART * group[-1].line.size:
                group.pop()
            yield from group


def _is_made_of(key: Key, known: dict[int, list[str]]) -> bool:
    """Whether a line joins running texts that stand apart on other pages."""
    text, step = key
    for part in sorted({t for s in (step - 1, step, step + 1) for t in known.get(s, ())}, key=len, reverse=True):
        text = text.replace(part, " ")
    return not any(map(str.isalnum, text))


def _is_running(text: str, on: list[int], pages: int) -> bool:
    if _PAGE_NUMBER.match(text) or (pages == 1 and _PAGE_OF.search(text)):
        return len(on) >= 2 or pages == 1
    in_a_row = any(b - a <= 4 for a, b in zip(on, on[2:], strict=False))
    return len(on) >= 3 and (len(on) >= pages / 3 or in_a_row)
