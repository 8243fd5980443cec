"""Lines and tables in reading order -> paragraphs, lists, code, headings and whole tables, ready for the builder.

Paragraphs and tables that go on in the next column or on the next page are joined. What is a heading is known before.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import median

from faircut.documents.building import DocumentBuilder, ListItem
from faircut.documents.pdf_bidi import has_right_to_left
from faircut.documents.pdf_headings import Heading
from faircut.documents.pdf_lists import Marker, marker
from faircut.documents.pdf_page import Line, Table
from faircut.documents.pdf_words import Vocabulary
from faircut.records import BlockKind

__all__ = ["Part", "Region", "add_blocks", "parts_of"]

_NEAR = 12.0  # points between the columns of two parts of one table


@dataclass(frozen=True, slots=True)
class Region:
    """A column or band of a page in reading order."""

    page: int
    elements: tuple[Line | Table, ...]
    aside: bool = False  # written sideways beside the text


@dataclass(slots=True)
class Part:
    """A block in the making. ``kind`` is heading, paragraph, item, code, quote, note or table."""

    kind: str
    page: int
    lines: list[Line] = field(default_factory=list)
    rows: list[tuple[str, ...]] = field(default_factory=list)
    level: int = 1
    marker: Marker | None = None
    origin: float = 0.0  # where its region begins, in points
    table: Table | None = None
    last_page: int = 0  # of a table that goes on


def parts_of(regions: Sequence[Region], headings: Mapping[int, Heading], code: bool) -> list[Part]:
    """The parts of all regions, joined over columns and pages. ``code`` says that monospaced lines are code."""
    parts: list[Part] = []
    usual = _Leading.of([a for r in regions for a in r.elements if isinstance(a, Line) and not r.aside], {})
    for region in regions:
        if region.aside:
            parts += [Part("aside", region.page, [a]) for a in region.elements if isinstance(a, Line)]
            continue
        fresh = list(_region_parts(region, headings, code, usual.steps))
        if parts and fresh and _goes_on(parts, fresh[0]):
            _append(parts, fresh.pop(0))
        parts += fresh
    return parts


# ---------------------------------------------------------------- inside a region


def _region_parts(
    region: Region, headings: Mapping[int, Heading], code: bool, usual: Mapping[int, float]
) -> Iterator[Part]:
    lines: list[Line] = []
    elements = _cut_run_in(region.elements, headings)
    leading = _Leading.of([a for a in region.elements if isinstance(a, Line)], usual)
    left = min((_start(a) for a in region.elements), default=0.0)
    right = max((_end(a) for a in region.elements), default=0.0)
    n = 0
    while n < len(elements):
        element = elements[n]
        n += 1
        heading = headings.get(id(element))
        if isinstance(element, Line) and not heading:
            lines.append(element)
            continue
        yield from _paragraphs(region.page, lines, leading, (left, right), code)
        lines = []
        if isinstance(element, Table):
            yield Part("table", region.page, rows=list(element.rows), table=element)
        elif heading:
            group = [element, *(a for a in elements[n : n + heading.lines - 1] if isinstance(a, Line))]
            n += len(group) - 1
            if heading.length:
                group = [replace(element, text=element.text[: heading.length])]
            yield Part("heading", region.page, group, level=heading.level)
    yield from _paragraphs(region.page, lines, leading, (left, right), code)


def _cut_run_in(elements: Sequence[Line | Table], headings: Mapping[int, Heading]) -> list[Line | Table]:
    """Divide lines in which a paragraph follows its heading; the heading's line stays the object it is known by."""
    result: list[Line | Table] = []
    for element in elements:
        heading = headings.get(id(element))
        result.append(element)
        if isinstance(element, Line) and heading and heading.length and heading.length < len(element.text):
            result.append(replace(element, text=element.text[heading.length :].lstrip(), bold=False))
    return result


@dataclass(frozen=True, slots=True)
class _Leading:
    """The usual distance of baselines in points, for each size of type in a region."""

    steps: Mapping[int, float]

    @classmethod
    def of(cls, lines: Sequence[Line], usual: Mapping[int, float]) -> "_Leading":
        """``usual`` is that of the whole document: it counts where most lines of the region end short of its edge."""
        counts: dict[int, Counter[float]] = defaultdict(Counter)
        for a, b in pairwise(lines):
            if abs(a.size - b.size) < 0.6 and 0.8 * b.size < b.bottom - a.bottom < 1.9 * b.size:
                counts[round(b.size)][round(2 * (b.bottom - a.bottom)) / 2] += 1
        # The commonest; of equally common ones the smallest, which is inside paragraphs rather than between them.
        steps = {size: min(c, key=lambda step: (-c[step], step)) for size, c in counts.items()}
        for size, step in steps.items():
            if step > 1.22 * usual.get(size, step) + 0.5 and _mostly_short(lines, size, step):
                steps[size] = usual[size]
        return cls(steps)

    def at(self, line: Line) -> float:
        """For a line; a third more than its size where nothing is known."""
        return self.steps.get(round(line.size), 1.3 * line.size)


def _mostly_short(lines: Sequence[Line], size: int, step: float) -> bool:
    """Whether of the lines that the next one follows at this distance most leave room at their end."""
    right = max(map(_end, lines))
    width = right - min(map(_start, lines))
    ends = [_end(a) for a, b in pairwise(lines) if round(b.size) == size and abs(b.bottom - a.bottom - step) < 0.5]
    return sum(end < right - 0.12 * width for end in ends) > 0.5 * len(ends)


def _start(line: Line | Table) -> float:
    """Where a line begins, growing in the direction of reading: to the left in right-to-left text."""
    return -line.right if isinstance(line, Line) and has_right_to_left(line.text) else line.left


def _end(line: Line | Table) -> float:
    return -line.left if isinstance(line, Line) and has_right_to_left(line.text) else line.right


def _paragraphs(
    page: int, lines: Sequence[Line], leading: _Leading, edges: tuple[float, float], code: bool
) -> Iterator[Part]:
    part: Part | None = None
    for line in lines:
        kind, mark = _kind(line, code)
        if part is None or _begins(part, line, kind, mark, leading.at(line), edges[1]):
            if part:
                yield _no_code(part)
            part = Part(kind, page, [line], marker=mark, origin=edges[0])
        else:
            part.lines.append(line)
    if part:
        yield _no_code(part)


_ADDRESS = re.compile(r"(?:\S+@[\w.-]+\.\w+|(?:https?://|www\.)\S+)[.,;]?$")


def _no_code(part: Part) -> Part:
    """Addresses of people and pages are often typed like code, and are none when nothing else stands with them."""
    if part.kind == "code" and all(_ADDRESS.match(a.text.strip()) for a in part.lines):
        part.kind = "paragraph"
    return part


def _kind(line: Line, code: bool) -> tuple[str, Marker | None]:
    role = line.tag[0] if line.tag else ""
    if (line.mono and code) or role == "Code":
        return "code", None
    if role in ("BlockQuote", "Quote"):
        return "quote", None
    mark = marker(line.text)
    return ("item", mark) if mark else ("paragraph", None)


def _begins(part: Part, line: Line, kind: str, mark: Marker | None, leading: float, right: float) -> bool:
    """Whether a line begins a new paragraph, item or piece of code."""
    last = part.lines[-1]
    step = line.bottom - last.bottom
    if part.kind == "code" or kind == "code":
        return part.kind != kind or step > 3.2 * max(leading, line.size)
    if mark or (part.kind == "quote") != (kind == "quote"):
        return True
    if line.tag and last.tag:
        if line.tag[1] == last.tag[1]:
            return False
        if line.tag[0] in ("P", "LI", "Note", "Caption") or last.tag[0] in ("P", "LI"):
            return True
    if abs(line.size - last.size) > 0.08 * last.size and (step > 1.05 * leading or len(line.text) > 8):
        return True
    if step > 1.22 * leading + 0.5 or step < -0.5 * leading:
        return True
    if part.kind == "item":
        indent = _start(line) - _start(part.lines[0])
        return indent < -1 or (indent <= 1 and _is_short(last, line, right))
    return _is_indented(part, line, right) or (_is_short(last, line, right) and _ends(last) and _starts_upper(line))


def _is_indented(part: Part, line: Line, right: float) -> bool:
    """A first line that is set in; not the second line of a hanging paragraph, nor centred lines."""
    last = part.lines[-1]
    indent = _start(line) - _start(last)
    if not 0.7 * line.size < indent < 6 * line.size:
        return False
    centred = abs((line.left + line.right) - (last.left + last.right)) < 4
    return not centred and (len(part.lines) > 1 or _is_short(last, line, right))


def _is_short(line: Line, after: Line, right: float) -> bool:
    """Whether the first word of the line ``after`` would have had room on the line."""
    word = after.text.split(maxsplit=1)[0] if after.text.strip() else ""
    room = right - _end(line)
    width = 1.3 * len(word) * after.width / max(len(after.text), 1)  # its letters may be wider than most
    return room > max(width + 0.5 * line.size, 0.06 * right)


def _ends(line: Line) -> bool:
    return line.text.rstrip().endswith((".", "!", "?", ":", ".”", '."', ".)", "。", "؟"))


def _starts_upper(line: Line) -> bool:
    first = next((c for c in line.text if c.isalnum()), "a")
    return not first.islower()


# ---------------------------------------------------------------- over columns and pages


def _goes_on(parts: Sequence[Part], fresh: Part) -> bool:
    """Whether the first part of a region continues the last one before it."""
    last = parts[-1]
    if fresh.kind == "table":
        return last.kind == "table" and last.table is not None and fresh.table is not None and _one_table(last, fresh)
    if fresh.kind == "code" and last.kind == "code":
        return fresh.lines[0].top < last.lines[-1].top  # at the head of the next column or page
    before = _text_before(parts, fresh) if fresh.kind == "paragraph" else None
    if before is None:
        return False
    a, b = before.lines[-1].text.rstrip(), fresh.lines[0].text
    if fresh.lines[0].tag and fresh.lines[0].tag == before.lines[-1].tag and before.page == fresh.page:
        return True
    first = next((c for c in b if c.isalnum()), "")
    if before.kind == "item" and before is parts[-1] and not _ends(before.lines[-1]):
        return True
    if a.endswith((".", "!", "?", ":", "。", "؟")):
        return False
    # A last line that is as wide as the others was not the end of its paragraph.
    full = len(before.lines) > 1 and before.lines[-1].width > 0.95 * max(x.width for x in before.lines[-50:])
    return first.islower() or (first.isalpha() and a.endswith("-")) or (first.isalnum() and full)


def _text_before(parts: Sequence[Part], fresh: Part) -> Part | None:
    """The last paragraph or item in type of the same size, when only smaller type (notes) and tables stand after it."""
    size = fresh.lines[0].size
    for part in [p for p in parts[-8:] if p.kind != "aside"][:-6:-1]:
        if part.kind not in ("paragraph", "item", "table"):
            return None
        if part.lines and abs(part.lines[-1].size - size) <= 0.6:
            return part
        if part.lines and part.lines[0].size > size:
            return None
    return None


def _one_table(last: Part, fresh: Part) -> bool:
    """Whether a table goes on on the next page or in the next column: as many columns in the same places."""
    a, b = last.table, fresh.table
    if a is None or b is None or a.ruled != b.ruled or len(a.columns) != len(b.columns):
        return False
    step = fresh.page - max(last.page, last.last_page)
    if step > 1 or (step == 0 and b.top > a.bottom):  # below it on the same page is another table
        return False
    shift = b.left - a.left if step == 0 or abs(b.left - a.left) > _NEAR else 0.0
    pairs = zip(a.columns, b.columns, strict=True)
    near = sum(abs(x[0] + shift - y[0]) < _NEAR or abs(x[1] + shift - y[1]) < _NEAR for x, y in pairs)
    return near >= 0.7 * len(a.columns)


def _append(parts: list[Part], fresh: Part) -> None:
    if fresh.kind == "table":
        last = parts[-1]
        repeated = 0
        # As many rows as are at the head of the first part are a repeated header.
        while repeated < min(len(fresh.rows) - 1, len(last.rows), 3) and _same_row(
            fresh.rows[repeated], last.rows[repeated]
        ):
            repeated += 1
        last.rows += fresh.rows[repeated:]
        last.table, last.last_page = fresh.table, fresh.page
        return
    if fresh.kind == "code":
        parts[-1].lines += _shifted(fresh.lines, parts[-1].lines)
        return
    before = _text_before(parts, fresh)
    if before:
        before.lines += fresh.lines


def _shifted(lines: Sequence[Line], before: Sequence[Line]) -> list[Line]:
    """Code of another column, as if it stood below the first one's."""
    shift = min(a.left for a in before) - min(a.left for a in lines)
    if abs(shift) < 100:  # the same column on the next page
        return list(lines)
    return [replace(a, left=a.left + shift, right=a.right + shift) for a in lines]


def _same_row(a: Sequence[str], b: Sequence[str]) -> bool:
    return [" ".join(c.split()) for c in a] == [" ".join(c.split()) for c in b]


# ---------------------------------------------------------------- into the builder


def add_blocks(builder: DocumentBuilder, parts: list[Part], vocabulary: Vocabulary) -> None:
    """All parts, items of one list together, with the page on which each begins.

    What is added is taken out of ``parts``, so that lines and text of a long document are not held both.
    """
    n = 0
    while n < len(parts):
        part = parts[n]
        builder.page = part.page
        end = n + 1
        if part.kind == "item":
            while end < len(parts) and parts[end].kind == "item" and parts[end].page - parts[end - 1].page <= 1:
                end += 1
            builder.items(_items(parts[n:end], vocabulary))
        elif part.kind == "table":
            builder.table([[vocabulary.join(c.split("\n")) for c in row] for row in part.rows])
        elif part.kind == "code":
            builder.add("code", _code(part.lines))
        elif part.kind == "heading":
            builder.heading(vocabulary.join(_heading_lines(part)), part.level)
        else:
            kind: BlockKind = "quote" if part.kind == "quote" else "other" if part.kind == "aside" else "paragraph"
            builder.add(kind, vocabulary.join(a.text for a in part.lines))
        parts[n:end] = [_ADDED] * (end - n)
        n = end
    parts.clear()


_ADDED = Part("added", 0)


def _heading_lines(part: Part) -> list[str]:
    return [a.text for a in part.lines]


def _items(parts: Sequence[Part], vocabulary: Vocabulary) -> Iterator[ListItem]:
    """The items; their depth comes from how far they are set in."""
    lefts: list[float] = []
    indents = [_indent(p, parts[0].origin) for p in parts]
    for left in sorted(indents):
        if not lefts or left - lefts[-1] > 6:
            lefts.append(left)
    for part, indent in zip(parts, indents, strict=True):
        depth = max(n for n, left in enumerate(lefts) if left <= indent)
        text = vocabulary.join(a.text for a in part.lines)
        mark = part.marker
        yield ListItem(text[mark.length :] if mark else text, depth, mark.number if mark else None)


def _indent(part: Part, origin: float) -> float:
    """How far an item is set in; a region far from the first one is another column."""
    return _start(part.lines[0]) - (origin if abs(part.origin - origin) < 40 else part.origin)


def _code(lines: Sequence[Line]) -> str:
    """Code with the indentation and the blank lines that it has on the page."""
    widths = [a.width / len(a.text) for a in lines if len(a.text) > 2]
    width = median(widths) if widths else 0.6 * lines[0].size
    left = min(a.left for a in lines)
    step = min((b.bottom - a.bottom for a, b in pairwise(lines) if b.bottom > a.bottom), default=0.0)
    text = ""
    for n, line in enumerate(lines):
        if n:
            gap = line.bottom - lines[n - 1].bottom
            text += "\n" * (min(max(round(gap / step), 1), 3) if step > 3 else 1)
        text += " " * round((line.left - left) / max(width, 1.0)) + line.text
    return text
