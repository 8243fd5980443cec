"""Lines of a PDF -> which of them are headings, and of what level, in the order of evidence: tags, outline, fonts.

Headings guessed from fonts are wrong more often than not in other tools; here they count only where neither the tagged
structure nor the outline (bookmarks) says anything.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from faircut.documents.pdf_lists import marker
from faircut.documents.pdf_page import Line

if TYPE_CHECKING:
    from pypdfium2 import PdfBookmark, PdfDocument

__all__ = ["Entry", "Heading", "find_headings", "outline", "outlined_lines"]

MAX_LEVEL = 6
_MAX_ENTRIES = 20_000
_MAX_LINES = 4  # of one heading


@dataclass(frozen=True, slots=True)
class Entry:
    """One bookmark: ``page`` counts from 1, ``top`` is the distance from the page's top in points where it is given."""

    title: str
    level: int
    page: int
    top: float | None


@dataclass(frozen=True, slots=True)
class Heading:
    """One heading: how many lines from its first one it takes, and how many characters of the last (None: all)."""

    level: int
    lines: int = 1
    length: int | None = None


Lines = Sequence[Line]


def outline(document: "PdfDocument") -> list[Entry]:
    """The bookmarks that lead to a page, in order."""
    entries = []
    heights: dict[int, float] = {}
    for number, mark in enumerate(document.get_toc(max_depth=15)):
        if number >= _MAX_ENTRIES:
            break
        goal = mark.get_dest()
        index = goal.get_index() if goal else None
        title = _title(mark)
        if index is None or not title.strip():
            continue
        if index not in heights:
            heights[index] = _height(document, index)
        entries.append(Entry(title, mark.level + 1, index + 1, _top(goal.get_view(), heights[index])))
    return entries


def _title(mark: "PdfBookmark") -> str:
    """Of a bookmark; nothing where its bytes are damaged."""
    try:
        return str(mark.get_title())
    except UnicodeDecodeError:
        return ""


def _height(document: "PdfDocument", index: int) -> float:
    """Of a page; that of A4 where the page is damaged."""
    from pypdfium2 import PdfiumError

    try:
        return float(document.get_page_size(index)[1])
    except PdfiumError:
        return 842.0


def _top(view: tuple[int, Sequence[float]], height: float) -> float | None:
    """XYZ has its height second, FitH and FitBH first."""
    from pypdfium2 import raw

    mode, values = view
    place = {raw.PDFDEST_VIEW_XYZ: 1, raw.PDFDEST_VIEW_FITH: 0, raw.PDFDEST_VIEW_FITBH: 0}.get(mode)
    if place is None or len(values) <= place or not values[place]:
        return None
    return height - values[place]


def find_headings(pages: Sequence[tuple[int, Lines]], entries: Sequence[Entry]) -> dict[int, Heading]:
    """The headings by the id of their first line.

    Args:
        pages: number and lines in reading order of each page, without furniture, tables and code.
        entries: the outline.
    """
    tagged = _from_tags(pages)
    named, missing = _from_outline(pages, entries)
    if tagged or ((named and len(named) >= max(2, 2 * missing)) or len(named) >= 5):
        return named | tagged
    return _from_fonts(pages) | named


# ---------------------------------------------------------------- tags

_HEADING_TAG = re.compile(r"H([1-6])?$|Title$")


def _from_tags(pages: Sequence[tuple[int, Lines]]) -> dict[int, Heading]:
    """Lines tagged H1 to H6, H or Title; none of them when the file tags most of its text as headings."""
    found: dict[int, Heading] = {}
    letters = total = 0
    for _, lines in pages:
        total += sum(len(a.text) for a in lines)
        n = 0
        while n < len(lines):
            tag = lines[n].tag
            match = _HEADING_TAG.match(tag[0]) if tag else None
            end = n + 1
            if match:
                while end < len(lines) and lines[end].tag == tag:
                    end += 1
                found[id(lines[n])] = Heading(int(match[1] or 1), end - n)
                letters += sum(len(a.text) for a in lines[n:end])
            n = end
    return found if letters <= 0.5 * total else {}


# ---------------------------------------------------------------- outline

_LETTERS = re.compile(r"[\W_]+")


def _plain(text: str) -> str:
    return _LETTERS.sub("", text).casefold()


def _from_outline(pages: Sequence[tuple[int, Lines]], entries: Sequence[Entry]) -> tuple[dict[int, Heading], int]:
    """The headings that the outline names, and how many of its entries are not on their page."""
    lines = dict(pages)
    goals = {n for e in entries for n in (e.page, e.page + 1)}
    plain = {number: [_plain(a.text) for a in page] for number, page in pages if number in goals}
    found: dict[int, Heading] = {}
    taken: set[tuple[int, int]] = set()
    missing = 0
    times = Counter((e.page, _plain(e.title)) for e in entries if e.top is None)
    for entry in entries:
        nth = times[entry.page, _plain(entry.title)]
        times[entry.page, _plain(entry.title)] -= 1
        number = entry.page
        place = _place(entry, lines.get(number, ()), plain.get(number, []), taken, repeated=nth > 1)
        if not place and entry.page + 1 in plain:
            number, place = entry.page + 1, _over_page(entry, lines[entry.page + 1], plain[entry.page + 1], taken)
        if place:
            start, heading = place
            taken.update((number, n) for n in range(start, start + heading.lines))
            found[id(lines[number][start])] = heading
        else:
            missing += 1
    return found, missing


def _over_page(
    entry: Entry, lines: Lines, plain: Sequence[str], taken: set[tuple[int, int]]
) -> tuple[int, Heading] | None:
    """A heading at the head of the page after the one that its bookmark leads to: it was set before the page broke."""
    place = _place(replace(entry, page=entry.page + 1, top=0.0), lines, plain, taken)
    return place if place and place[0] <= 3 and not place[1].length else None


def outlined_lines(lines: Iterable[tuple[int, Line]], entries: Sequence[Entry]) -> set[int]:
    """The ids of the lines to which a bookmark with their text leads: headings near the edge of their page."""
    goals: dict[int, list[Entry]] = defaultdict(list)
    for entry in entries:
        goals[entry.page].append(entry)
    return {
        id(line)
        for page, line in lines
        for entry in goals.get(page, ())
        if _distance(entry, line, 0)[0] < _FAR / 2 and _same(_plain(line.text), _plain(entry.title))
    }


def _place(
    entry: Entry, lines: Lines, plain: Sequence[str], taken: set[tuple[int, int]], *, repeated: bool = False
) -> tuple[int, Heading] | None:
    """Where on its page the entry's heading is: whole lines first, then lines that begin with it; the nearest.

    ``repeated`` says that the same title follows again on this page, and no bookmark tells where: the first one counts.
    """
    wanted = _plain(entry.title)
    free = [n for n in range(len(lines)) if (entry.page, n) not in taken and plain[n]]
    level = min(entry.level, MAX_LEVEL)
    begun = list(_begun(wanted, free, plain))
    whole = list(_whole(wanted, free, plain, str.__eq__)) or list(_whole(wanted, free, plain, _same))
    if repeated:
        whole = sorted(dict(begun + whole).items())
    places = whole or begun or list(_similar(wanted, free, plain))
    if not wanted or not places:
        return None
    start, count = min(places, key=lambda p: _distance(entry, lines[p[0]], p[0]))
    if begun and _distance(entry, lines[start], 0)[0] > _FAR:
        run_in = min(begun, key=lambda p: _distance(entry, lines[p[0]], p[0]))
        if _distance(entry, lines[run_in[0]], 0)[0] < _FAR / 2:
            start, count = run_in
    length = _cut(lines[start].text, wanted) if count == 0 else None
    return start, Heading(level, max(count, 1), length)


_FAR = 60.0  # points from where a bookmark leads


def _distance(entry: Entry, line: Line, order: int) -> tuple[float, int]:
    return (abs(line.top - entry.top) if entry.top is not None else 0.0), order


def _whole(
    wanted: str, free: Sequence[int], plain: Sequence[str], alike: Callable[[str, str], bool]
) -> Iterator[tuple[int, int]]:
    """Up to four lines that together are the title."""
    for n in free:
        text = ""
        for count in range(1, _MAX_LINES + 1):
            if n + count > len(plain):
                break
            text += plain[n + count - 1]
            if alike(text, wanted):
                yield n, count
                break
            if len(text) > len(wanted) + 12:
                break


def _same(text: str, wanted: str) -> bool:
    """Whether the two are alike but for a number in front of one of them."""
    if text == wanted:
        return True
    long, short = (text, wanted) if len(text) > len(wanted) else (wanted, text)
    number = long[: len(long) - len(short)]
    return long.endswith(short) and len(short) >= 3 and _IS_NUMBER.match(number) is not None


_IS_NUMBER = re.compile(
    r"(?:chapter|section|part|appendix|kapitel|chapitre|abschnitt)?(?:\d{1,6}[a-z]?|[ivxlc]{1,6}|[a-z]\d{0,3})$"
)


def _begun(wanted: str, free: Sequence[int], plain: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Lines that go on after the title: a heading run into its paragraph."""
    yield from ((n, 0) for n in free if len(wanted) >= 4 and plain[n].startswith(wanted))


def _similar(wanted: str, free: Sequence[int], plain: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Lines that are the title with a few other letters (ligatures, signs that the fonts do not name)."""
    for n in free[:200]:
        alike = len(wanted) >= 6 and abs(len(plain[n]) - len(wanted)) <= 0.2 * len(wanted)
        if alike and SequenceMatcher(None, plain[n], wanted, autojunk=False).ratio() > 0.85:
            yield n, 1


def _cut(text: str, wanted: str) -> int:
    """The length of the beginning of ``text`` that spells ``wanted``, with the punctuation that ends it."""
    spelt = 0
    for place, char in enumerate(text):
        if spelt >= len(wanted) and (char.isalnum() or char.isspace()):
            return place
        spelt += len(_plain(char))
    return len(text)


# ---------------------------------------------------------------- fonts

_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s+\D")
_ENDS_A_SENTENCE = (".", ",", ";", "-", "。", "，", "、")

Style = tuple[float, bool]


def _from_fonts(pages: Sequence[tuple[int, Lines]]) -> dict[int, Heading]:
    """Short lines that stand apart in larger or bold type; levels by size, or by the depth of their numbers."""
    weights: Counter[float] = Counter()
    for _, lines in pages:
        for line in lines:
            weights[_size(line)] += len(line.text)
    if not weights:
        return {}
    body = weights.most_common(1)[0][0]
    groups = [g for _, lines in pages for g in _groups(lines, body)]
    ranks = _ranks(groups)
    return {id(g[0]): Heading(ranks[_style(g[0])], len(g)) for g in groups}


def _size(line: Line) -> float:
    return round(2 * line.size) / 2


def _style(line: Line) -> Style:
    return _size(line), line.bold


def _ranks(groups: Sequence[Lines]) -> dict[Style, int]:
    """The level of each style: larger before smaller, bold before plain; numbers correct it where they agree."""
    styles = sorted({_style(g[0]) for g in groups}, reverse=True)
    ranks = {style: min(n, MAX_LEVEL) for n, style in enumerate(styles, 1)}
    depths: dict[Style, Counter[int]] = defaultdict(Counter)
    for group in groups:
        if match := _NUMBERED.match(group[0].text):
            depths[_style(group[0])][match[1].count(".") + 1] += 1
    first = min((ranks[s] - c.most_common(1)[0][0] for s, c in depths.items()), default=0)
    for style, counts in depths.items():
        ranks[style] = min(max(counts.most_common(1)[0][0] + max(first, 0), 1), MAX_LEVEL)
    return ranks


def _groups(lines: Lines, body: float) -> Iterator[Lines]:
    """Consecutive lines of one style that may be one heading."""
    n = 0
    while n < len(lines):
        end = n + 1
        if _stands_out(lines[n], body):
            while end < len(lines) and end - n < _MAX_LINES and _continues(lines[end - 1], lines[end]):
                end += 1
            group = lines[n:end]
            if _is_heading(group, lines[n - 1] if n else None, lines[end] if end < len(lines) else None, body):
                yield group
        n = end


def _stands_out(line: Line, body: float) -> bool:
    larger = line.size >= 1.12 * body
    return (larger or (line.bold and line.size >= 0.95 * body)) and not line.mono and len(line.text) <= 160


def _continues(a: Line, b: Line) -> bool:
    near = -0.5 * a.size < b.top - a.bottom < 0.7 * a.size
    return _style(a) == _style(b) and near and not _NUMBERED.match(b.text) and not marker(b.text)


def _is_heading(group: Lines, before: Line | None, after: Line | None, body: float) -> bool:
    text = " ".join(a.text for a in group)
    letters = sum(c.isalpha() for c in text)
    if text.count(",") > 2 and not _NUMBERED.match(text):
        return False  # names of authors, an address
    if letters < 3 or letters < 0.5 * len(text.replace(" ", "")) or len(text) > 200:
        return False
    if text.rstrip().endswith((*_ENDS_A_SENTENCE, ":")) and group[0].size < 1.15 * body:
        return False
    if group[0].size >= 1.12 * body:
        return True
    # Bold type of the body's size also marks words inside paragraphs: it must stand apart, with plain text below.
    apart = before is None or group[0].top - before.bottom > 0.35 * body or before.bottom > group[0].bottom
    # A table or picture may stand between it and the next line.
    plain_below = after is None or not after.bold or after.top - group[-1].bottom > 2.5 * body
    return (len(group) <= 2 and apart and plain_below and not marker(text)) or bool(
        _NUMBERED.match(text) and plain_below
    )
