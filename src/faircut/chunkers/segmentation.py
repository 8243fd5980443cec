"""Two ways to cut a sequence: the cheapest segments of all, exactly, or the strongest boundary first, locally.

Arrays only: costs, ranks and limits come in, the starts of the segments go out. Units are numbered 0 to n - 1, and a
segment ``[i, j)`` holds the units i to j - 1. What a unit is and what a cut is worth is left to the chunkers.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from faircut.embedding.contract import Vectors

__all__ = [
    "Limits", "Scatter", "SegmentCost", "SquaredLength", "cheapest", "cheapest_of_count", "lowest_within",
    "strongest_first",
]  # fmt: skip

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_TOO_SHORT = 1e6  # what a segment below the minimum costs beside all else: allowed where nothing else is possible
_STARTS = 16  # whose scatter is one matrix product
_PENALTIES = 16  # tried in one pass
_ROUNDS = 3
_LOWEST, _HIGHEST = 1e-5, 1e5  # penalties between which the wanted one is sought


class SegmentCost(Protocol):
    """What the segments themselves cost, whatever the penalty."""

    def rows(self, furthest: Ints) -> Iterator[Floats]:
        """For each start i the costs of the segments to the ends i + 1 .. furthest[i]: ``(furthest[i] - i,)``."""
        ...


@dataclass(frozen=True, eq=False)
class SquaredLength:
    """The square of a segment's length. ``until`` ``(n + 1,)``: the length of all units before each, in any unit.

    With a penalty p a cut, lengths around the root of p are the cheapest a unit of length.
    """

    until: Floats

    def rows(self, furthest: Ints) -> Iterator[Floats]:
        """See ``SegmentCost``."""
        for start, stop in enumerate(furthest.tolist()):
            yield np.square(self.until[start + 1 : stop + 1] - self.until[start])


@dataclass(frozen=True, eq=False)
class Scatter:
    """The sum of squared distances of a segment's vectors ``(n, d)`` from their mean, as in k-means.

    From prefix sums: the sum of squares less the squared length of the sum over their number. The sums begin anew every
    few starts, so that they stay small and exact.
    """

    vectors: Vectors

    def rows(self, furthest: Ints) -> Iterator[Floats]:
        """See ``SegmentCost``."""
        for first in range(0, len(furthest), _STARTS):
            stops = furthest[first : first + _STARTS]
            block = self._block(first, int(stops.max()), len(stops))
            for at, stop in enumerate(stops.tolist()):
                yield block[at, at + 1 : stop - first + 1]

    def _block(self, first: int, last: int, starts: int) -> Floats:
        """Scatter ``(starts, last - first + 1)`` from the first starts to each end; no meaning before the start."""
        part = self.vectors[first:last].astype(np.float64)
        sums = np.vstack([np.zeros((1, part.shape[1])), np.cumsum(part, axis=0)])
        squares = np.concatenate([[0.0], np.cumsum(np.einsum("nd,nd->n", part, part))])
        lengths = np.einsum("nd,nd->n", sums, sums)
        apart = lengths + lengths[:starts, None] - 2 * (sums[:starts] @ sums.T)
        count = np.arange(len(sums)) - np.arange(starts)[:, None]
        scatter: Floats = squares - squares[:starts, None] - apart / np.maximum(count, 1)
        return scatter.clip(0)


@dataclass(frozen=True, eq=False)
class Limits:
    """Which segments are possible, and what it costs to begin one.

    ``weights`` ``(n,)``: what a segment costs that begins at i, in penalties; infinite where no cut may be.
    ``furthest`` ``(n,)``: the last end that a segment from i may have, i + 1 at least. ``nearest`` ``(n,)``: the first
    end with which it is not too short; an earlier one is taken only where there is no other way.
    """

    weights: Floats
    furthest: Ints
    nearest: Ints

    def __post_init__(self) -> None:
        count = len(self.weights)
        if len(self.furthest) != count or len(self.nearest) != count:
            raise ValueError(f"{count} weights need as many limits, found {len(self.furthest)}, {len(self.nearest)}.")
        if count and not (np.arange(1, count + 1) <= self.furthest).all() & (self.furthest <= count).all():
            raise ValueError("each segment must hold at least one unit and end with the last unit.")


def cheapest(cost: SegmentCost, limits: Limits, penalty: float) -> list[int]:
    """Starts of the segments, 0 among them, for which costs + penalty x weights are least. Of equal ways, always one.

    Optimal partitioning by dynamic programming (Jackson et al. 2005): O(n m) for segments of up to m units, with
    vectors of d dimensions O(n m d); memory O(n), with vectors O(n d).

    Raises:
        ValueError: a penalty that is not above 0, or no segmentation is possible.
    """
    return _cheapest_of_each(cost, limits, np.array([penalty], dtype=np.float64))[0]


def cheapest_of_count(cost: SegmentCost, limits: Limits, wanted: float) -> tuple[list[int], float]:
    """The cheapest segments under the penalty that makes about ``wanted`` of them, and this penalty.

    The penalty is sought by sections of its logarithm, some in each pass; where no penalty gives the count (ties,
    limits), the nearest count is taken, of two the larger penalty.

    Raises:
        ValueError: no segmentation is possible.
    """
    low, high = _LOWEST, _HIGHEST
    tried: list[tuple[float, float, list[int]]] = []
    for _ in range(_ROUNDS):
        penalties = np.geomspace(low, high, _PENALTIES)
        found = _cheapest_of_each(cost, limits, penalties)
        tried += [(abs(len(s) - wanted), -p, s) for p, s in zip(penalties.tolist(), found, strict=True)]
        at = max((at for at, starts in enumerate(found) if len(starts) > wanted), default=0)
        low, high = float(penalties[at]), float(penalties[min(at + 1, _PENALTIES - 1)])
        if low == high or min(tried)[0] < 0.5:
            break
    _, penalty, starts = min(tried)
    return starts, -penalty


def _cheapest_of_each(cost: SegmentCost, limits: Limits, penalties: Floats) -> list[list[int]]:
    """The starts of the cheapest segments for each penalty ``(k,)``, all in one pass."""
    count = len(limits.weights)
    if not (penalties > 0).all():
        raise ValueError(f"a penalty must be above 0, found {penalties.min():g}.")
    total, before = _pass(cost, limits, penalties)
    if not np.isfinite(total).all():
        raise ValueError("no segmentation is possible: too many places at which no cut may be.")
    return [_trace(before[:, at].tolist(), count) for at in range(len(penalties))]


def _pass(cost: SegmentCost, limits: Limits, penalties: Floats) -> tuple[Floats, Ints]:
    """Least costs of all units ``(k,)``, and for each end where its last segment begins ``(n + 1, k)``."""
    count = len(limits.weights)
    # Infinite but for the empty beginning: with zeros a first segment could begin anywhere and ignore its limits.
    least = np.full((count + 1, len(penalties)), np.inf)
    least[0] = 0
    before = np.full(least.shape, -1, dtype=np.int64)
    opening = limits.weights[:, None] * penalties
    short = limits.nearest - np.arange(1, count + 1)
    too_short = _TOO_SHORT * (1 + penalties)
    for start, row in enumerate(cost.rows(limits.furthest)):
        ways = row[:, None] + (least[start] + opening[start])
        if short[start] > 0:
            ways[: short[start]] += too_short
        reached = least[start + 1 : start + 1 + len(row)]
        better = ways < reached
        np.copyto(reached, ways, where=better)
        np.copyto(before[start + 1 : start + 1 + len(row)], start, where=better)
    return least[count], before


def _trace(before: list[int], count: int) -> list[int]:
    starts: list[int] = []
    end = count
    while end > 0:
        end = before[end]
        starts.append(end)
    return starts[::-1]


# ---------------------------------------------------------------- strongest boundary first


def strongest_first(
    until: Floats, ranks: Floats, furthest: Ints, *, least: float, wanted: NDArray[np.bool_] | None = None
) -> list[int]:
    """Starts of the segments made by cutting at the strongest boundary, then at the next, while there is need.

    Args:
        until: ``(n + 1,)``, the length of all units before each.
        ranks: ``(n,)``, of the boundary before each unit; the lowest is the strongest.
        furthest: ``(n,)``, the last end that a segment from i may have.
        least: a cut leaves so much on both sides, unless the furthest end asks for more cuts.
        wanted: ``(n,)``, boundaries at which also a segment that is not too long is cut.

    A boundary is wanted only where it is the strongest within ``least``, so whether it is cut depends on those near it
    alone; then what is too long is cut. An edit moves cuts near it and no others, as a rule. O(n log n), beside the
    insertion into a list.
    """
    count = len(ranks)
    cuts = [0, count]
    room = np.minimum(until[:-1] - until[0], until[-1] - until[:-1]) >= least  # to both ends of the sequence
    room[:1] = False  # the first unit begins a segment anyway; with a least of 0 there would be room before it
    order = np.argsort(ranks, kind="stable")
    if wanted is not None:
        lowest = wanted & room & lowest_within(np.where(room, ranks, np.inf), until[:-1], least)
        _insert(cuts, order[lowest[order]].tolist(), until, least)
    if any(furthest[first] < last for first, last in pairwise(cuts)):
        _insert(cuts, order[room[order]].tolist(), until, least, furthest)
    return [start for first, last in pairwise(cuts) for start in _fitting(until, ranks, furthest, first, last)]


def _insert(cuts: list[int], places: Sequence[int], until: Floats, least: float, furthest: Ints | None = None) -> None:
    """Add to the cuts each place, in this order, that leaves enough on both sides; with limits where one is broken."""
    for at in places:
        after = bisect_left(cuts, at)
        first, last = cuts[after - 1], cuts[after]
        leaves = min(until[at] - until[first], until[last] - until[at])
        is_needed = furthest is None or furthest[first] < last
        if first < at < last and leaves >= least and is_needed:
            cuts.insert(after, at)


def lowest_within(ranks: Floats, places: Floats, reach: float) -> NDArray[np.bool_]:
    """Whether no boundary within reach of each, ``(n,)``, has a lower rank; places ascend. Linear time."""
    lows = np.searchsorted(places, places - reach, side="left").tolist()
    highs = np.searchsorted(places, places + reach, side="right").tolist()
    lowest = np.empty(len(ranks), dtype=np.bool_)
    window: deque[int] = deque()  # boundaries in reach, each of a rank not above those after it
    entered = 0
    for at, (low, high) in enumerate(zip(lows, highs, strict=True)):
        for new in range(entered, high):
            while window and ranks[window[-1]] > ranks[new]:
                window.pop()
            window.append(new)
        entered = max(entered, high)
        while window[0] < low:
            window.popleft()
        lowest[at] = ranks[window[0]] >= ranks[at]
    return lowest


def _fitting(until: Floats, ranks: Floats, furthest: Ints, first: int, last: int) -> Iterator[int]:
    """Starts of the parts of a segment that could not be cut so: at the strongest of the second half of what fits."""
    yield first
    while (reach := int(furthest[first])) < last:
        half = (until[first] + until[reach]) / 2
        low = min(int(np.searchsorted(until[first : reach + 1], half, side="right")) + first, reach)
        low = max(low, first + 1)
        first = low + int(np.argmin(ranks[low : reach + 1]))
        yield first
