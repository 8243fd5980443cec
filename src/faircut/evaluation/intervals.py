"""Interval algebra: half-open ranges ``(start, end)`` in, united ranges and lengths out.

Ranges that only touch do not overlap. Which ranges belong to which document is left to the caller.
"""

from collections.abc import Iterable, Sequence

__all__ = ["Range", "intersection", "length", "overlap", "union"]

Range = tuple[int, int]
"""``(start, end)``, code points, half-open; empty when ``start >= end``."""


def union(ranges: Iterable[Range]) -> list[Range]:
    """The same positions as disjoint, sorted ranges with a gap between neighbours; empty ranges vanish. O(n log n)."""
    united: list[Range] = []
    for start, end in sorted(r for r in ranges if r[0] < r[1]):
        if united and start <= united[-1][1]:
            united[-1] = (united[-1][0], max(united[-1][1], end))
        else:
            united.append((start, end))
    return united


def length(disjoint: Iterable[Range]) -> int:
    """Positions in ranges that are disjoint already (as ``union`` gives them)."""
    return sum(end - start for start, end in disjoint)


def intersection(a: Sequence[Range], b: Sequence[Range]) -> list[Range]:
    """The positions that two united lists share, as a united list. Linear time."""
    shared: list[Range] = []
    i = j = 0
    while i < len(a) and j < len(b):
        start, end = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if start < end:
            shared.append((start, end))
        if a[i][1] <= b[j][1]:
            i += 1
        else:
            j += 1
    return shared


def overlap(a: Sequence[Range], b: Sequence[Range]) -> int:
    """The number of positions that two united lists share."""
    return length(intersection(a, b))
