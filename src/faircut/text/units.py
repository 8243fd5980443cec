"""Counters that need no tokenizer: characters and white-space words, with the same contract as a model's tokens.

Comes in: a text. Goes out: exact counts of its spans. ``cumulative`` makes one array of lengths for the packing of many
atoms. The tokens of a model are left to ``tokens.py``.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from faircut.text.contract import TokenIndex

__all__ = ["CharacterCounter", "CumulativeIndex", "Positions", "WordCounter", "cumulative"]

Positions = NDArray[np.int64]
"""Places in a text, or lengths up to them: ``(n,)`` int64."""

_WORD = re.compile(r"\S+")


@runtime_checkable
class CumulativeIndex(Protocol):
    """An index that also counts up to many places at once."""

    def counts_until(self, positions: Positions) -> Positions:
        """Length of ``text[:p]`` for each place; a word that a place lies in may count wholly. ``(n,) -> (n,)``."""
        ...


def cumulative(index: TokenIndex, boundaries: Sequence[int]) -> list[int]:
    """Lengths from the first boundary to each of them, as a first guess for packing.

    Exact for ranges whose lengths add up; whoever needs the length of a joined text asks ``index.count`` for it.
    """
    if isinstance(index, CumulativeIndex):
        until = index.counts_until(np.asarray(boundaries, dtype=np.int64))
        return list(map(int, until - until[0]))
    steps = [index.count(start, end) for start, end in pairwise(boundaries)]
    return list(accumulate(steps, initial=0))


@dataclass(frozen=True)
class CharacterCounter:
    """Counts code points."""

    name: str = "characters"

    def count(self, text: str) -> int:
        """Code points of ``text``."""
        return len(text)

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """``count`` of each text."""
        return [len(text) for text in texts]

    def index(self, text: str) -> "CharacterIndex":
        """The index of a text; costs nothing."""
        return CharacterIndex(len(text))


@dataclass(frozen=True, slots=True)
class CharacterIndex:
    """Code points of spans of one text."""

    total: int

    def count(self, start: int, end: int) -> int:
        """Code points of ``text[start:end]``."""
        return max(0, end - start)

    def furthest(self, start: int, limit: int, end: int | None = None) -> int:
        """``limit`` code points further."""
        return min(start + max(0, limit), self.total if end is None else end)

    def counts_until(self, positions: Positions) -> Positions:
        """The places themselves."""
        return positions


@dataclass(frozen=True)
class WordCounter:
    """Counts words between white space, as ``str.split`` does."""

    name: str = "words"

    def count(self, text: str) -> int:
        """Words of ``text``."""
        return len(text.split())

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """``count`` of each text."""
        return [len(text.split()) for text in texts]

    def index(self, text: str) -> "WordIndex":
        """The index of a text: four bytes a word."""
        return WordIndex(text, np.fromiter((m.start() for m in _WORD.finditer(text)), dtype=np.int32))


@dataclass(frozen=True, slots=True)
class WordIndex:
    """White-space words of spans of one text; a part of a word is a word."""

    text: str
    starts: NDArray[np.int32]

    @property
    def total(self) -> int:
        """Words of the whole text."""
        return len(self.starts)

    def count(self, start: int, end: int) -> int:
        """Words of ``text[start:end]``."""
        if start >= end:
            return 0
        starts = self.starts.data
        return bisect_left(starts, end) - bisect_left(starts, start) + self._inside(start)

    def furthest(self, start: int, limit: int, end: int | None = None) -> int:
        """The start of the first word that is too many, or ``end``."""
        stop = len(self.text) if end is None else end
        left = limit - self._inside(start)
        if left < 0 or start >= stop:
            return start
        following = bisect_left(self.starts.data, start) + left
        return min(stop, int(self.starts[following])) if following < len(self.starts) else stop

    def counts_until(self, positions: Positions) -> Positions:
        """Words that begin before each place."""
        return np.searchsorted(self.starts, positions.astype(np.int32)).astype(np.int64)

    def _inside(self, start: int) -> int:
        """1 when ``start`` lies inside a word, whose rest then counts as a word."""
        inner = 0 < start < len(self.text) and not self.text[start - 1].isspace() and not self.text[start].isspace()
        return int(inner)
