"""The words that lexical search compares: a text in, its terms out, the same for documents and questions.

Case is folded and compatibility forms are made one (NFKC: full-width letters, ligatures). Nothing is stemmed and no
word is left out: rare words weigh more by themselves. What terms are worth is left to ``bm25.py``.
"""

import re
from functools import cache
from itertools import pairwise
from typing import Any
from unicodedata import normalize

__all__ = ["terms"]

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\u30fc\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
"""Scripts that put no spaces between words."""
_ASCII_WORD = re.compile(r"[a-z0-9]+")


def terms(text: str) -> list[str]:
    """The terms of a text in order: runs of letters, marks and digits between all else.

    Where a script has no spaces between words, every two neighbouring letters (each with its marks) are a term, and a
    letter that stands alone is one. Linear in the length of the text.
    """
    plain = normalize("NFKC", text).casefold()
    if plain.isascii():
        return _ASCII_WORD.findall(plain)
    listed: list[str] = []
    for word, run in _words().findall(plain):
        if word:
            listed.append(word)
        else:
            letters = _letters().findall(run)
            listed += [a + b for a, b in pairwise(letters)] or letters
    return listed


@cache
def _words() -> Any:
    """A word in the first group, or in the second a run of a script without spaces."""
    import regex  # type: ignore[import-untyped]  # no stubs in the package

    return regex.compile(rf"(?V1)([[\p{{L}}\p{{M}}\p{{N}}]--[{_UNSPACED}]]+)|([{_UNSPACED}]+)")


@cache
def _letters() -> Any:
    import regex

    return regex.compile(r"\P{M}\p{M}*|\p{M}+")
