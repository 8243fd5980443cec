"""Characters of a line as they stand on the page -> the order in which they are read, for right-to-left scripts.

The reverse of the Unicode bidirectional algorithm (UAX #9) for one line with one level of embedding, which is what a
printed line has. Where lines are is found elsewhere.
"""

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

__all__ = ["has_right_to_left", "is_right_to_left", "logical_order"]

_MIRRORED = str.maketrans("()[]{}<>«»", ")(][}{><»«")
_INSIDE_NUMBERS = frozenset(["CS", "ES"])


@lru_cache(maxsize=4096)
def _class(char: str) -> str:
    return unicodedata.bidirectional(char)


def is_right_to_left(char: str) -> bool:
    """Whether the character is a letter or mark of Arabic, Hebrew and their like."""
    return char >= "\u0590" and _class(char) in ("R", "AL")


def has_right_to_left(text: str) -> bool:
    """Whether at least a few characters of the text are written from right to left."""
    return not text.isascii() and sum(map(is_right_to_left, text)) >= 3


def logical_order(places: Sequence[tuple[str, float]]) -> str:
    """The text of a line whose characters (with a space in front where there was one) stand at ``places``.

    ``places`` go from left to right. The line's own direction is that of most of its letters.
    """
    cells = _cells(places)
    kinds = [_direction(cell) for cell in cells]
    kinds = _join_numbers(cells, kinds)
    right = sum(k == "R" for k in kinds) >= sum(k == "L" for k in kinds)
    runs = _runs(cells, _neutrals(kinds, "R" if right else "L"))
    ordered = [cells if kind == "L" else cells[::-1] for kind, cells in (reversed(runs) if right else runs)]
    return _brackets("".join(cell for run in ordered for cell in run))


def _cells(places: Sequence[tuple[str, float]]) -> list[str]:
    """Single characters; a space is a cell of its own; the letters of one ligature are one cell in reading order."""
    cells: list[str] = []
    before = None
    for text, left in places:
        if text.startswith(" "):
            cells.append(" ")
        char = text.strip()
        joined = unicodedata.combining(char) or (before is not None and abs(left - before) < 0.01)
        if joined and cells and is_right_to_left(char) and not text.startswith(" "):
            # Engines give the letters of a right-to-left ligature from left to right: lam comes first in reading.
            cells[-1] = cells[-1] + char if unicodedata.combining(char) or cells[-1] == "\u0644" else char + cells[-1]
        else:
            cells.append(char)
        before = left
    return cells


def _direction(cell: str) -> str:
    kind = _class(cell[0])
    if kind in ("R", "AL"):
        return "R"
    return {"L": "L", "EN": "N", "AN": "N"}.get(kind, "?")


def _join_numbers(cells: list[str], kinds: list[str]) -> list[str]:
    """A sign between two digits, and a per cent or currency sign beside one, belongs to the number."""
    joined = list(kinds)
    for n in range(1, len(cells) - 1):
        if kinds[n] == "?" and kinds[n - 1] == kinds[n + 1] == "N" and _class(cells[n]) in _INSIDE_NUMBERS:
            joined[n] = "N"
    return joined


def _neutrals(kinds: list[str], base: str) -> list[str]:
    """Numbers run from left to right; what has no direction takes that of both neighbours, else the line's."""
    strong = ["L" if k == "N" else k for k in kinds]
    result = list(strong)
    start = 0
    while start < len(strong):
        if strong[start] != "?":
            start += 1
            continue
        end = start
        while end < len(strong) and strong[end] == "?":
            end += 1
        before = strong[start - 1] if start else base
        after = strong[end] if end < len(strong) else base
        number = "N" in (kinds[start - 1 : start] + kinds[end : end + 1]) and base == "R"
        result[start:end] = [before if before == after and not number else base] * (end - start)
        start = end
    return result


def _runs(cells: list[str], kinds: list[str]) -> list[tuple[str, list[str]]]:
    runs: list[tuple[str, list[str]]] = []
    for cell, kind in zip(cells, kinds, strict=True):
        if runs and runs[-1][0] == kind:
            runs[-1][1].append(cell)
        else:
            runs.append((kind, [cell]))
    return runs


def _brackets(text: str) -> str:
    """Some files store brackets as they look, some as they are read: a line that closes before it opens is turned."""
    first = next((c for c in text if c in "()[]{}«»"), "")
    return text.translate(_MIRRORED) if first in tuple(")]}»") and first else text
