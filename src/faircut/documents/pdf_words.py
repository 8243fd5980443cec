"""Lines of text -> running text: words divided at line ends are joined when the document shows that they are one.

A hyphen at a line end stays when the compound is written with it elsewhere, or when both halves are words of their own.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from faircut.documents.pdf_glyphs import is_vertical_script

__all__ = ["Vocabulary"]

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LAST = re.compile(r"([^\W\d_]+(?:-[^\W\d_]+)*)-$")
_FIRST = re.compile(r"[^\W\d_]+")
# First parts of English compounds that are written with a hyphen far more often than without.
_FIRST_PARTS = frozenset(
    {
        "all",
        "cross",
        "ever",
        "full",
        "half",
        "high",
        "ill",
        "large",
        "long",
        "low",
        "self",
        "short",
        "single",
        "small",
        "state",
        "well",
    }
)
_HYPHENS = "-\u00ad\u2010"


@dataclass(slots=True)
class Vocabulary:
    """The words of a document, with which divided words are judged."""

    words: set[str] = field(default_factory=set)
    _divided: bool = False

    def learn(self, line: str) -> None:
        """Take in the words of a line that follows the one learned before; the halves of divided words are left out."""
        found = _WORD.findall(line.casefold())
        if found and self._divided:
            del found[0]
        self._divided = line.rstrip().endswith(tuple(_HYPHENS))
        if found and self._divided:
            found.pop()
        self.words.update(found)

    def join(self, lines: Iterable[str]) -> str:
        """One running text."""
        parts: list[str] = []
        for line in lines:
            piece = " ".join(line.split())
            if parts and piece:  # only the line before is looked at: a paragraph may have 100,000
                parts[-1] = self.joined(parts[-1], piece).removesuffix(piece)
            if piece:
                parts.append(piece)
        return "".join(parts)

    def joined(self, before: str, after: str) -> str:
        """Two pieces of text that followed each other over a line end."""
        if before[-1] in _HYPHENS:
            return self._over_hyphen(before[:-1] + "-", after)
        if is_vertical_script(before[-1]) and is_vertical_script(after[0]):
            return before + after
        return f"{before} {after}"

    def _over_hyphen(self, before: str, after: str) -> str:
        last, first = _LAST.search(before), _FIRST.match(after)
        if not last:  # a dash, or a number before it
            return f"{before} {after}" if before.endswith((" -", "--")) or before == "-" else before + after
        if not first or not first[0][0].islower():
            return before + after
        left, right = last[1].casefold(), first[0].casefold()
        if left + right in self.words:
            return before[:-1] + after
        halves = left in _FIRST_PARTS or (
            left.rpartition("-")[2] in self.words and right in self.words and min(len(left), len(right)) > 2
        )
        keep = f"{left}-{right}" in self.words or halves
        return before + after if keep else before[:-1] + after
