"""The seam of token counting: text in, exact numbers of tokens out. Implementations are in ``tokens.py``."""

from collections.abc import Sequence
from typing import Protocol

__all__ = ["TokenCounter", "TokenIndex"]


class TokenIndex(Protocol):
    """Exact token counts of every span of one text, after one pass over it."""

    @property
    def total(self) -> int:
        """Tokens of the whole text."""
        ...

    def count(self, start: int, end: int) -> int:
        """Tokens of ``text[start:end]``, equal to ``TokenCounter.count`` of that string."""
        ...

    def furthest(self, start: int, limit: int, end: int | None = None) -> int:
        """The largest ``e`` in ``[start, end]`` such that ``text[start:e]`` has at most ``limit`` tokens.

        Only ends of words, or inside a word ends of tokens that are not inside a grapheme cluster, are considered;
        ``start`` is returned when not even one fits.
        """
        ...


class TokenCounter(Protocol):
    """Counts tokens as a model's tokenizer does, without truncation, padding, special tokens or prefix."""

    @property
    def name(self) -> str:
        """The tokenizer's name and the hash of its file, as it goes into cache keys."""
        ...

    def count(self, text: str) -> int:
        """Tokens of ``text``; a word that becomes one unknown token counts as its number of characters."""
        ...

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """``count`` of each text."""
        ...

    def index(self, text: str) -> TokenIndex:
        """Prepare exact counts of all spans of ``text``. Linear time and memory."""
        ...
