"""Line ends that end a sentence whatever its punctuation: blank lines, list items, headings, turns of a dialogue.

A range of a text comes in, the units between such line ends go out. What ends a sentence inside a unit is asked
elsewhere. A single line end is only a boundary with evidence, because hard-wrapped text has one in the middle of
every sentence.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

_LINE_ENDS: Final = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
_GAP: Final = re.compile(rf"[{_LINE_ENDS}]\s*")
_LINE_END: Final = re.compile(rf"\r\n|[{_LINE_ENDS}]")

_BULLET: Final = re.compile(r"[-*+•‣◦▪●○■□✓・]\s*[^\W_]|[([]?(?:\d{1,2}|[A-Za-z]|[ivxIVX]{1,5})\)\s")
_NUMBER: Final = re.compile(
    r"(?:\d{1,3}\.|[A-Z]\.|[IVX]{1,5}\.|§+ ?\d+\w*)\s+[^\W\d_]|\d{1,3}(?:\.\d{1,3})*\.?\s+[^\W\d_a-z]|[–—]\s"
)
_MARKDOWN: Final = re.compile(r"#{1,6}\s|={3,}|-{3,}|\|")
_SPEAKER: Final = re.compile(r"[^\W\d_a-z][\w.'’-]*(?: [\w.'’-]+){0,3} ?[:：]\s")

_WHITE: Final = re.compile(r"\s*")
_WORD: Final = re.compile("[\u3041-\u30ff\u3400-\u9fff]|[^\\s\u3041-\u30ff\u3400-\u9fff]+")

_HEAD: Final = 120  # characters: no heading, marker or speaker's name is longer
_NARROW: Final = 40  # characters: nobody wraps prose this narrow, so such lines were ended on purpose
_EARLY: Final = 0.9  # a line ended early when its next word would have fitted into this part of the width
_SENTENCE_ENDS: Final = tuple('.!?…。！？؟।॥۔"”»)')
_CONTINUES: Final = tuple(",;、，；،-–—([{/&+=«“„¿¡")
_SMALL_WORDS: Final = (
    "a an and as at between by for from if in into of on or that the their to with which who is are was were be "
    "been has have had its his her der die das den dem des ein eine einer und oder von vom zum zur mit für im am "
    "auf aus bei nach ist sind le la les un une du de et ou à au aux en pour par sur dans que qui est el los las "
    "una unos unas del y o con por para es al il lo gli di da e per che i no"
)
_FUNCTION_WORDS: Final = frozenset(_SMALL_WORDS.split())


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    head: str  # its first characters
    tail: str  # its last characters, white space stripped


def units(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Tile `text[start:end]` into units that a sentence never crosses; white space stays with the unit before."""
    unit = start
    for break_ in _breaks(text, start, end):
        yield unit, break_
        unit = break_
    if unit < end:
        yield unit, end


def _breaks(text: str, start: int, end: int) -> Iterator[int]:
    """Starts of the lines that begin a new unit."""
    paragraph: list[_Line] = []
    line_start = start + _indent(text, start, end)
    for gap in _GAP.finditer(text, line_start, end):
        if gap.end() == end:
            break
        paragraph.append(_line(text, line_start, gap.start()))
        line_start = gap.end()
        if _is_blank(gap.group()):
            yield from _paragraph_breaks(paragraph)
            yield line_start
            paragraph = []
    if paragraph:
        paragraph.append(_line(text, line_start, end))
        yield from _paragraph_breaks(paragraph)


def _indent(text: str, start: int, end: int) -> int:
    stripped = _WHITE.match(text, start, end)
    return stripped.end() - start if stripped else 0


def _line(text: str, start: int, end: int) -> _Line:
    return _Line(start, end, text[start : min(end, start + _HEAD)], text[max(start, end - _HEAD) : end].rstrip())


def _is_blank(gap: str) -> bool:
    return "\u2029" in gap or len(_LINE_END.findall(gap)) > 1


def _paragraph_breaks(lines: list[_Line]) -> Iterator[int]:
    """Breaks between the lines of one paragraph. `fresh`: nothing flows into the line from the one before."""
    if len(lines) < 2:
        return
    width = _width(lines)
    fresh, in_item = True, bool(_BULLET.match(lines[0].head) or _NUMBER.match(lines[0].head))
    for line, following in pairwise(lines):
        early = _ended_early(line, following, width)
        item = _starts_item(line, following, early=early, in_item=in_item)
        broken = item or _ends_unit(line, following, early=early, fresh=fresh, in_item=in_item, width=width)
        if broken:
            yield following.start
            in_item = item
        fresh = broken or line.tail.endswith(_SENTENCE_ENDS)


def _width(lines: list[_Line]) -> int:
    """The width that the paragraph is wrapped to: its longest lines, but for the longest tenth."""
    lengths = sorted(line.end - line.start for line in lines)
    return lengths[min(len(lengths) - 1, len(lengths) * 9 // 10)]


def _ended_early(line: _Line, following: _Line, width: int) -> bool:
    word = _WORD.match(following.head)
    return line.end - line.start + 1 + (word.end() if word else 0) <= _EARLY * width


def _starts_item(line: _Line, following: _Line, *, early: bool, in_item: bool) -> bool:
    """Whether a list item, a numbered section or a Markdown line begins on `following`."""
    if _BULLET.match(following.head) or _MARKDOWN.match(following.head):
        return True
    ended = line.tail.endswith((*_SENTENCE_ENDS, ":", ";", "："))
    return (ended or early or in_item) and _NUMBER.match(following.head) is not None


def _ends_unit(line: _Line, following: _Line, *, early: bool, fresh: bool, in_item: bool, width: int) -> bool:
    """Whether `line` is a heading, the last line of a list, or the end of a speaker's turn."""
    if line.head.startswith("#"):
        return True
    if _SPEAKER.match(following.head) and (early or _SPEAKER.match(line.head)):
        return True
    on_purpose = early or (in_item and width < _NARROW)
    return on_purpose and (fresh or in_item) and _is_heading(line) and _may_begin(following)


def _is_heading(line: _Line) -> bool:
    """A short line that begins like a sentence and neither ends like one nor promises to go on."""
    if line.end - line.start > _HEAD or line.head[:1].islower() or line.tail.endswith((*_SENTENCE_ENDS, *_CONTINUES)):
        return False
    words = line.tail.split()
    return bool(words) and (words[-1] not in _FUNCTION_WORDS)


def _may_begin(line: _Line) -> bool:
    first = line.head.lstrip("\"'“„«»‘([¿¡*_")[:1]
    return first.isalpha() and not first.islower()
