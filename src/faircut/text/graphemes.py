r"""Grapheme clusters: a text in, the places out at which a cut splits nothing that a reader sees as one sign.

Clusters are those of Unicode (UAX 29) as the ``regex`` module's ``\X`` knows them; ``\r\n`` is one of them.
Only the clusters of several code points are kept, so plain text costs one scan. Where to cut is left to the chunkers.
"""

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property

import regex  # type: ignore[import-untyped]  # no stubs in the package

__all__ = ["Graphemes", "is_joined"]

# Two ASCII characters are never one cluster (\r\n is seen to apart), so only what touches other characters is
# searched, and of that only what holds a code point that joins its neighbours.
_FOREIGN = re.compile(r"[^\x00-\x7f]+(?:[\x00-\x7f][^\x00-\x7f]+)*")
_JOINERS = ("Extend", "ZWJ", "Spacing_Mark", "Prepend", "Regional_Indicator", "L", "V", "T")
_JOINING = regex.compile("[" + "".join(rf"\p{{GCB={kind}}}" for kind in _JOINERS) + "]")
_CLUSTER = regex.compile(r"\X")
_WINDOW = 512


def is_joined(before: str, after: str) -> bool:
    """Whether two characters, one of them white space, are in one cluster (a space and the accent that it carries)."""
    return not (before + after).isascii() and _CLUSTER.match(before + after).end() == 2


def _clusters_in(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The clusters of a range that begins with one, in windows: at each flag the module looks back over all of them."""
    size = _WINDOW
    while start < end:
        window = text[start : min(start + size, end)]
        spans = [c.span() for c in _CLUSTER.finditer(window)]
        if start + size < end:
            spans.pop()  # may go on beyond the window
        yield from ((start + first, start + last) for first, last in spans)
        size = _WINDOW if spans else 2 * size
        start += spans[-1][1] if spans else 0


class Graphemes:
    """The grapheme clusters of one text. Positions are code points; linear time and memory, and only when asked for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._ascii = text.isascii()

    @cached_property
    def _clusters(self) -> "tuple[array[int], array[int]]":
        """Starts and ends of the clusters of more than one code point."""
        starts, ends = array("i"), array("i")
        for run in _FOREIGN.finditer(self.text):
            if _JOINING.search(run.group()):
                # one more on each side: a mark joins the character before it, a few signs the one after them
                for start, end in _clusters_in(self.text, max(0, run.start() - 1), min(run.end() + 1, len(self.text))):
                    if end - start > 1:
                        starts.append(start)
                        ends.append(end)
        return starts, ends

    def floor(self, position: int) -> int:
        """The last place at or before ``position`` that is not inside a cluster."""
        if 0 < position < len(self.text) and self.text[position - 1 : position + 1] == "\r\n":
            return position - 1
        if self._ascii:
            return position
        starts, ends = self._clusters
        at = bisect_left(starts, position) - 1
        return starts[at] if at >= 0 and position < ends[at] else position

    def ceil(self, position: int) -> int:
        """The first place at or after ``position`` that is not inside a cluster."""
        if self.floor(position) == position:
            return position
        if self.text[position] == "\n":
            return position + 1
        starts, ends = self._clusters
        return ends[bisect_left(starts, position) - 1]

    def is_boundary(self, position: int) -> bool:
        """Whether a cut at ``position`` splits no cluster."""
        return self.floor(position) == position
