"""Token counts by asking the tokenizer itself, for every tokenizer: a text comes in, exact counts of its spans go out.

Nothing is assumed about the tokenizer: each count encodes the span as it stands, and one encoding of the whole text
only gives first guesses. Faster ways, where they are proven, are left to ``wordpiece.py``.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from faircut.text.graphemes import Graphemes
from faircut.text.units import Positions

__all__ = ["EncodingCounter", "EncodingIndex"]

_BLOCK = 1 << 16
_SURROGATE = re.compile("[\ud800-\udfff]")


class EncodingCounter:
    """Counts by encoding; ``tokenizer`` neither truncates nor pads, ``unknown`` is the id of its unknown token."""

    def __init__(self, name: str, tokenizer: Tokenizer, unknown: int | None) -> None:
        self.name = name
        self.tokenizer = tokenizer
        self.unknown = unknown

    def encode(self, text: str) -> Encoding:
        """The encoding without special tokens. A lone surrogate, which no tokenizer takes, is read as U+FFFD."""
        return self.tokenizer.encode(_SURROGATE.sub("\ufffd", text), add_special_tokens=False)

    def places(self, encoding: Encoding) -> NDArray[np.int32]:
        """Where each token begins, ascending, ``(count,)``; an unknown token stands at each of its characters."""
        if self.unknown is None or self.unknown not in encoding.ids:
            return np.sort(np.array([start for start, _ in encoding.offsets], dtype=np.int32))
        pairs = zip(encoding.ids, encoding.offsets, strict=True)
        spread = (range(s, max(e, s + 1)) if id_ == self.unknown else (s,) for id_, (s, e) in pairs)
        return np.sort(np.array([place for places in spread for place in places], dtype=np.int32))

    def count(self, text: str) -> int:
        """Tokens of ``text``; an unknown token counts as the characters it stands for."""
        return self._size(self.encode(text))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """``count`` of each text."""
        clean = [_SURROGATE.sub("\ufffd", text) for text in texts]
        return [self._size(e) for e in self.tokenizer.encode_batch(clean, add_special_tokens=False)]

    def index(self, text: str) -> "EncodingIndex":
        """The index of a text."""
        return EncodingIndex(self, text)

    def _size(self, encoding: Encoding) -> int:
        ids = encoding.ids
        if self.unknown is None or self.unknown not in ids:
            return len(ids)
        pairs = zip(ids, encoding.offsets, strict=True)
        return sum(max(1, end - start) if id_ == self.unknown else 1 for id_, (start, end) in pairs)


class EncodingIndex:
    """Counts spans of one text by encoding them; about as fast as the tokenizer."""

    def __init__(self, counter: EncodingCounter, text: str) -> None:
        self.counter = counter
        self.text = text
        self.graphemes = Graphemes(text)

    @cached_property
    def total(self) -> int:
        """Tokens of the whole text."""
        return self.counter.count(self.text)

    def count(self, start: int, end: int) -> int:
        """Tokens of ``text[start:end]``."""
        return self.counter.count(self.text[start:end]) if start < end else 0

    def counts_until(self, positions: Positions) -> Positions:
        """About the tokens of ``text[:p]`` for each place: those of the blocks' own encodings."""
        return np.searchsorted(self._places, positions.astype(np.int32)).astype(np.int64)

    def furthest(self, start: int, limit: int, end: int | None = None) -> int:
        """The end of the last token that is within the limit, from the guess on; verified by encoding the span."""
        stop = len(self.text) if end is None else end
        if limit < 1 or start >= stop:
            return start
        at = self._guess(start, limit, stop)
        while at > start and (over := self.count(start, at) - limit) > 0:
            at = self.graphemes.floor(self._back(at, over))
        while at < stop and self.count(start, following := self._forward(at, stop)) <= limit:
            at = following
        return max(at, start)

    def _guess(self, start: int, limit: int, stop: int) -> int:
        at = bisect_left(self._places.data, start) + limit
        place = int(self._places[at]) if at < len(self._places) else stop
        return self.graphemes.floor(min(place, stop))

    def _back(self, position: int, tokens: int) -> int:
        at = bisect_left(self._places.data, position) - tokens
        return min(int(self._places[at]), position - 1) if at >= 0 else 0

    def _forward(self, position: int, stop: int) -> int:
        following = bisect_right(self._places.data, position)
        place = int(self._places[following]) if following < len(self._places) else stop
        return min(self.graphemes.ceil(place), stop)

    @cached_property
    def _places(self) -> NDArray[np.int32]:
        parts = [self.counter.places(self.counter.encode(self.text[s:e])) + np.int32(s) for s, e in self._blocks()]
        return np.concatenate([np.empty(0, dtype=np.int32), *parts])

    def _blocks(self) -> Iterator[tuple[int, int]]:
        """The text in blocks that end at white space where there is some: encodings are large."""
        start = 0
        while start < len(self.text):
            end = min(start + _BLOCK, len(self.text))
            space = self.text.rfind(" ", start + 1, end) if end < len(self.text) else -1
            end = space if space > start else end
            yield start, end
            start = end
