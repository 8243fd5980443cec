"""Places of pieces in the text that they were cut from: text and strings in, spans out, in order.

White space is left out of both sides before they are compared, so pieces that were stripped or had it collapsed are
found. What cannot be found is reported, never guessed. Where the pieces come from is left to others.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from faircut.records import Span

__all__ = ["Alignment", "align"]

_SURE = 20  # characters from which a piece's place is trusted against the piece before it


@dataclass(frozen=True, slots=True)
class Alignment:
    """Where each piece lies in the text.

    ``spans`` has one entry a piece, without surrounding white space; None for a piece that is blank or was not found.
    ``unaligned`` are the positions (from 0) of the pieces that are not blank and were not found.
    """

    spans: tuple[Span | None, ...]
    unaligned: tuple[int, ...]

    @property
    def found(self) -> tuple[Span, ...]:
        """The spans that were found, in the order of the pieces."""
        return tuple(s for s in self.spans if s is not None)


def align(text: str, pieces: Sequence[str], stated: Sequence[int | None] = ()) -> Alignment:
    """Find every piece in the text, in order.

    A piece begins after the begin of the piece before it: before that one's end (overlap), at it, or after it (text
    left out). Of several places with the same characters the one nearest to where it is expected is taken: at the end
    of the piece before, less the mean overlap, which follows from the lengths of text and pieces. Near-linear. A piece
    out of order is found where it says that it begins, or when it is long enough and stands in the text only once.

    Args:
        text: what was cut.
        pieces: what the splitter made of it.
        stated: where each piece says that it begins, None where it does not. Splitters often say a wrong place, so it
            counts only for a piece that is not found in order, and only when the piece stands there.
    """
    solid = _Solid(text)
    keys = ["".join(piece.split()) for piece in pieces]
    overlap = _mean_overlap(keys, len(solid.text))
    following = _next_not_blank(keys)
    spans: list[Span | None] = []
    start, end = -1, 0
    for key, after in zip(keys, following, strict=True):
        at = _place(solid.text, key, after, start, end, overlap) if key else -1
        spans.append(solid.span(at, at + len(key)) if at >= 0 else None)
        if at >= 0:
            start, end = at, max(end, at + len(key))
    for i, (key, begin) in enumerate(zip(keys, stated or [None] * len(keys), strict=True)):
        if not key or spans[i] is not None:
            continue
        is_there = begin is not None and text.startswith(pieces[i], begin)
        spans[i] = _without_space(pieces[i], begin or 0) if is_there else _only_place(solid, key)
    unaligned = (i for i, key in enumerate(keys) if key and spans[i] is None)
    return Alignment(tuple(spans), tuple(unaligned))


def _only_place(solid: "_Solid", key: str) -> Span | None:
    """Where a piece stands that is not in its turn, without a guess."""
    at = solid.text.find(key) if len(key) >= _SURE else -1
    return solid.span(at, at + len(key)) if at >= 0 and solid.text.find(key, at + 1) < 0 else None


def _without_space(piece: str, begin: int) -> Span:
    start = begin + len(piece) - len(piece.lstrip())
    return Span(start, begin + len(piece.rstrip()))


class _Solid:
    """A text without its white space, and the way back to the offsets of the text."""

    def __init__(self, text: str) -> None:
        runs = [(m.start(), m.group()) for m in re.finditer(r"\S+", text)]
        self.text = "".join(run for _, run in runs)
        self._origins = [origin for origin, _ in runs]
        self._starts: list[int] = []
        position = 0
        for _, run in runs:
            self._starts.append(position)
            position += len(run)

    def span(self, start: int, end: int) -> Span:
        """The span of the text behind ``[start, end)`` of the solid text."""
        return Span(self._origin(start), self._origin(end - 1) + 1)

    def _origin(self, position: int) -> int:
        run = bisect_right(self._starts, position) - 1
        return self._origins[run] + position - self._starts[run]


def _mean_overlap(keys: list[str], length: int) -> int:
    """Characters that a piece shares with the one before it on average, 0 when they are no more than the text."""
    count = sum(1 for key in keys if key)
    surplus = sum(map(len, keys)) - length
    return max(0, round(surplus / (count - 1))) if count > 1 else 0


def _next_not_blank(keys: list[str]) -> list[str]:
    """For each piece the next one that is not blank, or ""."""
    following, after = [], ""
    for key in reversed(keys):
        following.append(after)
        after = key or after
    return following[::-1]


def _place(text: str, key: str, following: str, start: int, end: int, overlap: int) -> int:
    """The begin of ``key`` in ``text`` nearest to ``end - overlap`` and after ``start``, or -1."""
    expected = max(end - overlap, start + 1)
    if text.startswith(key, expected):
        return expected
    before = _last(text, key, start + 1, expected)
    limit = len(text) if before < 0 else 2 * expected - before + len(key)
    after = text.find(key, expected, limit)
    if after < 0:
        return before
    if after <= end or before >= 0 or not _is_foreign(text, key, following, expected, after):
        return after
    return -1


def _last(text: str, key: str, low: int, high: int) -> int:
    """The last begin of ``key`` in ``[low, high)``, or -1.

    Searches the reversed window, because ``str.rfind`` is quadratic on repetitive text and ``str.find`` is not.
    """
    window = text[low : high - 1 + len(key)]
    found = window[::-1].find(key[::-1])
    return -1 if found < 0 else low + len(window) - found - len(key)


def _is_foreign(text: str, key: str, following: str, expected: int, after: int) -> bool:
    """Whether the piece was put in by its splitter and only looks like text further on.

    Then the piece that follows it lies before that text. A short piece is found anywhere, so it proves nothing.
    """
    if len(following) < min(len(key), _SURE):
        return False
    return text.find(following, expected, after + len(following) - 1) >= 0
