"""WordPiece inside one word: the longest match from the left, in time that does not depend on the word's length.

Comes in: a word or a part of one, which a BERT pre-tokenizer would not split. Goes out: its tokens as a count, or where
they end. The tokenizer's own library tries the rest of the word first at each token, so that a part of 100 characters
takes it a millisecond; here only lengths that the vocabulary has are tried (Devlin et al. 2019).
"""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any
from unicodedata import combining

__all__ = ["LongestMatch"]

_HEAD = 2  # characters by which the longest piece is looked up


class LongestMatch:
    """The model of a parsed ``tokenizer.json``; ``normalize`` is its normalizer and takes lone surrogates."""

    def __init__(self, described: dict[str, Any], normalize: Callable[[str], str]) -> None:
        self.most: int = described["model"]["max_input_chars_per_word"]
        self._prefix: str = described["model"]["continuing_subword_prefix"]
        self._vocabulary: dict[str, int] = described["model"]["vocab"]
        self._normal = _Normalized(normalize)

    def count(self, part: str) -> int | None:
        """Tokens of a part of a word; what is unknown counts as the characters that it stands for.

        None when a rare mark in it may change its place as it is normalized: the tokenizer has to be asked.
        """
        if len(part) > self.most and part.isascii() and part.isalnum():
            return len(part)
        normal = part.translate(self._normal)
        if not self._normal.movable.isdisjoint(part):
            return None
        ends = self._ends(normal) if len(normal) <= self.most else None
        return self._stands_for(part) if ends is None else len(ends)

    def ends(self, part: str) -> list[int] | None:
        """Where the tokens of a part end; None when it is unknown, or not of ASCII letters and digits alone.

        Those stay one character each when they are normalized, so that the places are the part's own.
        """
        is_plain = part.isascii() and part.isalnum() and len(part) <= self.most
        return self._ends(part.translate(self._normal)) if is_plain else None

    def _ends(self, word: str) -> list[int] | None:
        ends: list[int] = []
        at, pieces, longest = 0, *self._first
        while at < len(word):
            stop = min(len(word), at + longest.get(word[at : at + _HEAD], 1))
            while stop > at and word[at:stop] not in pieces:
                stop -= 1
            if stop == at:
                return None
            ends.append(stop)
            at, pieces, longest = stop, *self._later
        return ends

    @cached_property
    def _first(self) -> tuple[frozenset[str], dict[str, int]]:
        return _pieces(self._vocabulary)

    @cached_property
    def _later(self) -> tuple[frozenset[str], dict[str, int]]:
        skip = len(self._prefix)
        return _pieces(token[skip:] for token in self._vocabulary if token.startswith(self._prefix))

    def _stands_for(self, part: str) -> int:
        """From the first to the last character that the normalizer keeps."""
        size = len(part)
        first = next((at for at in range(size) if self._normal[ord(part[at])]), size)
        return next((at for at in range(size, first, -1) if self._normal[ord(part[at - 1])]), first) - first


class _Normalized(dict[int, str]):
    """What the normalizer makes of each code point alone, asked once: BERT's decides character by character.

    But for the order of marks that it keeps, as Unicode sorts those; the characters that have one are ``movable``.
    """

    def __init__(self, normalize: Callable[[str], str]) -> None:
        self._normalize = normalize
        self.movable: set[str] = set()

    def __missing__(self, code: int) -> str:
        found = self._normalize(chr(code))
        if any(map(combining, found)):
            self.movable.add(chr(code))
        self[code] = found
        return found


def _pieces(texts: Iterable[str]) -> tuple[frozenset[str], dict[str, int]]:
    """The texts, and the length of the longest of them that begins with the same characters."""
    pieces = frozenset(texts)
    longest: dict[str, int] = {}
    for piece in pieces:
        head = piece[:_HEAD]
        longest[head] = max(longest.get(head, 1), len(piece))
    return pieces, longest
