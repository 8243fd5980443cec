"""Exact token counts for tokenizers of the BERT family, each distinct word counted once.

Comes in: a text. Goes out: exact counts of any of its spans. The text is taken apart where BERT's pre-tokenizer
certainly splits: white space (no token), punctuation and Chinese characters (one token each), added tokens such as
``[SEP]``; what lies between are words, counted by the tokenizer itself and remembered. So counts add up over these
atoms (BERT: Devlin et al. 2019; the classes of characters are asked from the tokenizer, not assumed).
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faircut.text.encoding import EncodingCounter
from faircut.text.graphemes import Graphemes
from faircut.text.longest_match import LongestMatch
from faircut.text.units import Positions

__all__ = ["WordPieceCounter", "WordPieceIndex", "is_bert"]

Ints = NDArray[np.int32]
Kinds = NDArray[np.uint8]

_SURROGATE = re.compile("[\ud800-\udfff]")
_UNSEEN, _SPACE, _ALONE, _WORD = range(4)
_NONE: Ints = np.zeros(0, dtype=np.int32)
_BLOCK = 1 << 15
_REMEMBERED = 1 << 17
"""Words kept in memory; then it starts afresh."""
_LONG = 128
"""Characters of a word that is never remembered, and above which a text is taken apart before it is counted."""
_SHORT = 24
"""Characters of a part of a word that is remembered, and of a word that the tokenizer counts fastest itself."""


def is_bert(described: dict[str, Any]) -> bool:
    """Whether the description (a parsed ``tokenizer.json``) is one for which the counts of atoms certainly add up."""
    kinds = [(described.get(part) or {}).get("type") for part in ("model", "normalizer", "pre_tokenizer")]
    if kinds != ["WordPiece", "BertNormalizer", "BertPreTokenizer"]:
        return False
    added = described.get("added_tokens", [])
    return not any(t["single_word"] or t["normalized"] for t in added) and _apart([t["content"] for t in added])


def _apart(tokens: Sequence[str]) -> bool:
    """Whether no two added tokens can overlap in a text, so that each span finds the same ones."""
    if any(not t or t.split() != [t] for t in tokens):
        return False
    overlaps = (a[-n:] == b[:n] for a in tokens for b in tokens for n in range(1, min(len(a), len(b)) + (a != b)))
    return not any(overlaps) and not any(a != b and a in b for a in tokens for b in tokens)


class WordPieceCounter:
    """Counts tokens as a BERT tokenizer does; remembers the counts of words, nothing else."""

    def __init__(self, encoding: EncodingCounter, described: dict[str, Any]) -> None:
        self.name = encoding.name
        self.encoding = encoding
        contents = [t["content"] for t in described.get("added_tokens", [])]
        self._added = re.compile("|".join(map(re.escape, contents))) if contents else None
        self._kinds = np.zeros(0x110000, dtype=np.uint8)
        self._kinds[0xD800:0xE000] = _WORD  # lone surrogates are read as U+FFFD, which BERT removes
        self._words: dict[str, int] = {}
        self.match = LongestMatch(described, self._normalize)

    def count(self, text: str) -> int:
        """Tokens of ``text``; an unknown token counts as the characters it stands for."""
        return self.encoding.count(text) if len(text) < _LONG else self.index(text).total

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """``count`` of each text."""
        return [self.index(text).total for text in texts]

    def index(self, text: str) -> "WordPieceIndex":
        """The index of a text: 12 bytes a word."""
        starts, ends, counts = [_NONE], [_NONE], [np.zeros(1, dtype=np.int32)]
        for begin, stop in _blocks(text):
            atoms = self._atoms(text[begin:stop])
            starts.append(atoms.starts + np.int32(begin))
            ends.append(atoms.ends + np.int32(begin))
            counts.append(atoms.counts)
        joined = (_joined(parts) for parts in (starts, ends, counts))
        return WordPieceIndex(self, text, next(joined), next(joined), np.cumsum(next(joined), dtype=np.int32))

    def _atoms(self, block: str) -> "_Atoms":
        kinds = self._kinds_of(block)
        added = [m.span() for m in self._added.finditer(block)] if self._added else []
        for start, end in added:
            kinds[start], kinds[start + 1 : end] = _ALONE, _SPACE
        atoms, is_word = _runs(kinds)
        is_long = is_word & (atoms.ends - atoms.starts > _LONG)
        atoms.counts[is_word & ~is_long] = self._count_words(atoms.texts(block, is_word & ~is_long))
        if is_long.any():
            atoms.counts[is_long] = list(map(self._count_word, atoms.texts(block, is_long)))
        for start, end in added:
            at = np.searchsorted(atoms.starts, start)
            atoms.ends[at], atoms.counts[at] = end, self.encoding.count(block[start:end])
        return atoms

    def _kinds_of(self, block: str) -> Kinds:
        """What each character of the block is: ``(len(block),)``."""
        if block.isascii():
            codes: NDArray[Any] = np.frombuffer(block.encode("ascii"), dtype=np.uint8)
        else:
            codes = np.frombuffer(block.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        kinds: Kinds = self._kinds[codes]
        if kinds.all():
            return kinds
        for code in np.unique(codes[kinds == _UNSEEN]):
            self._kinds[code] = self._kind(chr(code))
        return self._kinds_of(block)

    def _kind(self, character: str) -> int:
        """Asked from the tokenizer: BERT decides character by character, so one context shows what it does in all."""
        tokenizer = self.encoding.tokenizer
        normal = tokenizer.normalizer.normalize_str(f"a{character}a")
        pieces = [piece for piece, _ in tokenizer.pre_tokenizer.pre_tokenize_str(normal)]
        if pieces == ["a", "a"]:
            return _SPACE
        alone = len(pieces) == 3 and pieces[0] == pieces[2] == "a" and len(pieces[1]) == 1
        return _ALONE if alone else _WORD

    def _normalize(self, text: str) -> str:
        normal: str = self.encoding.tokenizer.normalizer.normalize_str(_SURROGATE.sub("\ufffd", text))
        return normal

    def count_part(self, part: str) -> int:
        """Tokens of a part of an atom: of a word, or of an added token that its cut takes apart."""
        known = self._words.get(part)
        if known is not None:
            return known
        if (self._kinds_of(part) != _WORD).any():
            return self.encoding.count(part)
        count = self._count_word(part)
        if len(part) <= _SHORT and len(self._words) <= _REMEMBERED:
            self._words[part] = count
        return count

    def _count_word(self, word: str) -> int:
        count = self.match.count(word)
        return self.encoding.count(word) if count is None else count

    def _count_words(self, words: list[str]) -> Ints:
        if len(self._words) > _REMEMBERED:
            self._words = {}  # another thread may still read the old one
        known = self._words
        counts = list(map(known.get, words))
        if None in counts:
            unseen = {word for word, count in zip(words, counts, strict=True) if count is None}
            short = [word for word in unseen if len(word) <= _SHORT]
            known.update(zip(short, self._ask(short), strict=True))
            known.update((word, self._count_word(word)) for word in unseen if len(word) > _SHORT)
            counts = list(map(known.get, words))
        return np.array(counts, dtype=np.int32)

    def _ask(self, words: list[str]) -> list[int]:
        """Counts of the words, from one encoding of all of them: a line end keeps words apart."""
        lengths = np.fromiter(map(len, words), dtype=np.int64, count=len(words)) + 1
        starts = np.cumsum(lengths) - lengths
        places = self.encoding.places(self.encoding.encode("\n".join(words)))
        owners = np.searchsorted(starts, places, side="right") - 1
        return list(map(int, np.bincount(owners, minlength=len(words))))


class _Atoms:
    """Atoms of a block: starts, ends and counts, each ``(n,)`` int32."""

    __slots__ = ("counts", "ends", "starts")

    def __init__(self, starts: Ints, ends: Ints, counts: Ints) -> None:
        self.starts, self.ends, self.counts = starts, ends, counts

    def texts(self, block: str, chosen: NDArray[np.bool_]) -> list[str]:
        starts, ends = self.starts[chosen].tolist(), self.ends[chosen].tolist()
        return [block[start:end] for start, end in zip(starts, ends, strict=True)]


def _joined(parts: list[Ints]) -> Ints:
    """All parts in one array; the list is emptied, so that only one of three is in memory twice."""
    whole = np.concatenate(parts)
    parts.clear()
    return whole


def _runs(kinds: Kinds) -> tuple[_Atoms, NDArray[np.bool_]]:
    """The atoms by the kinds of characters, each of one token for now, and which of them are words."""
    word = kinds == _WORD
    begins, stops = word.copy(), word.copy()
    begins[1:] &= ~word[:-1]
    stops[:-1] &= ~word[1:]
    starts = np.flatnonzero(begins | (kinds == _ALONE)).astype(np.int32)
    ends = starts + np.int32(1)
    is_word = word[starts]
    ends[is_word] = np.flatnonzero(stops) + 1
    return _Atoms(starts, ends, np.ones(len(starts), dtype=np.int32)), is_word


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """The text in blocks that end at a space or line end: no word and no added token lies in two."""
    start = 0
    while start < len(text):
        end = start + _BLOCK
        if end < len(text):
            end = max(text.rfind(" ", start, end), text.rfind("\n", start, end)) + 1
            if end <= start:
                found = [p for p in (text.find(" ", start), text.find("\n", start)) if p >= 0]
                end = min(found, default=len(text) - 1) + 1
        end = min(end, len(text))
        yield start, end
        start = end


class WordPieceIndex:
    """Exact counts of all spans of one text: ``starts``, ``ends`` of its n atoms, ``until`` their counts, summed."""

    def __init__(self, counter: WordPieceCounter, text: str, starts: Ints, ends: Ints, until: Ints) -> None:
        self.counter = counter
        self.text = text
        self.total = int(until[-1])
        self.graphemes = Graphemes(text)
        self._starts_array, self._until_array = starts, until
        self._starts, self._ends, self._until = starts.data, ends.data, until.data

    def counts_until(self, positions: Positions) -> Positions:
        """Tokens of ``text[:p]`` for each place, ``(n,) -> (n,)``; the word that a place lies in counts wholly."""
        return self._until_array[np.searchsorted(self._starts_array, positions.astype(np.int32))].astype(np.int64)

    def count(self, start: int, end: int) -> int:
        """Tokens of ``text[start:end]``: whole atoms from the sums, parts of words at the edges from the tokenizer."""
        if start >= end:
            return 0
        first, last = bisect_right(self._ends, start), bisect_left(self._starts, end) - 1
        if first > last:
            return 0
        head, tail = self._starts[first] < start, self._ends[last] > end
        if first == last and (head or tail):
            return self._part(max(start, self._starts[first]), min(end, self._ends[last]))
        tokens = self._until[last + 1 - tail] - self._until[first + head]
        tokens += self._part(start, self._ends[first]) if head else 0
        return tokens + (self._part(self._starts[last], end) if tail else 0)

    def furthest(self, start: int, limit: int, end: int | None = None) -> int:
        """The largest end within the limit: after white space, or inside a word after one of its tokens."""
        stop = len(self.text) if end is None else end
        first, last = bisect_right(self._ends, start), bisect_left(self._starts, stop)  # the atoms that it touches
        if limit < 0 or start >= stop or first >= last:
            return start if limit < 0 else max(start, stop)
        used = 0
        if self._starts[first] < start:
            edge = min(self._ends[first], stop)
            part = self._within(start, edge, limit)
            if part is None:
                return self._settle(start, self._inside(start, edge, limit), limit)
            if edge == stop:
                return stop
            used, first = part, first + 1
        over = bisect_right(self._until, self._until[first] + limit - used) - 1
        if over >= last and self._ends[last - 1] <= stop:
            return stop
        over = min(over, last - 1)
        at = self._cut(over, stop, limit - used - self._until[over] + self._until[first])
        return at if at == stop else self._settle(start, at, limit)

    def _cut(self, over: int, stop: int, left: int) -> int:
        """The place in the first atom that does not fit, of whose tokens ``left`` still do."""
        start, end = self._starts[over], self._ends[over]
        if end > stop and self._within(start, stop, left) is not None:
            return stop
        return self._inside(start, min(end, stop), left)

    def _within(self, start: int, stop: int, limit: int) -> int | None:
        """Tokens of (a part of) one word, None when above the limit; of a very long word only the beginning is read."""
        reach = 2 * max(limit, _LONG)
        while start + reach < stop:
            if self._part(start, start + reach) > limit:
                return None
            reach *= 2
        tokens = self._part(start, stop)
        return tokens if tokens <= limit else None

    def _part(self, start: int, end: int) -> int:
        return self.counter.count_part(self.text[start:end])

    def _inside(self, start: int, stop: int, limit: int) -> int:
        """The last end of a token within the limit in (a part of) one word; ``start`` when there is none.

        WordPiece takes the longest match from the left, so a part of a word begins with the tokens of the whole.
        """
        if limit < 1:
            return start
        known = min(stop, start + self.counter.match.most)
        ends = self.counter.match.ends(self.text[start:known])
        if ends is None:
            return self._inside_unknown(start, stop, limit)
        if limit < len(ends):
            return start + ends[limit - 1]
        return known if known == stop or limit <= known - start else self._inside_unknown(start, stop, limit)

    def _inside_unknown(self, start: int, stop: int, limit: int) -> int:
        """As ``_inside``, by halving: a part can have fewer tokens than a shorter one, so not always the last place."""
        low, reach = start, limit
        while start + reach < stop and (tokens := self._part(start, start + reach)) <= limit:
            low, reach = start + reach, 2 * reach
            if tokens == limit:
                return low
        high = min(start + reach, stop)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._part(start, middle) <= limit else (low, middle)
        return low

    def _settle(self, start: int, at: int, limit: int) -> int:
        """Back to a place outside grapheme clusters that is within the limit."""
        at = self.graphemes.floor(at)
        while at > start and self.count(start, at) > limit:
            at = self.graphemes.floor(at - 1)
        return max(at, start)
