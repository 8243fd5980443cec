"""Boundary quality where the true segments are known: two segmentations of the same units in, an error rate out.

Units are whatever can be parted (utterances, sentences, lines). Where truth comes from is left to the caller; for
retrieval the scores of ``metrics.py`` decide, not these.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from faircut.errors import MetricError

__all__ = ["half_mean_length", "nearest_units", "pk", "window_diff"]


def half_mean_length(boundaries: Iterable[int], units: int) -> int:
    """The window that both measures use by convention: half the mean length of the true segments, at least 1.

    Args:
        boundaries: numbers of the units that begin a segment; the first unit always does.
        units: how many there are.
    """
    segments = int(_counts(boundaries, units)[-1]) + 1
    return max(1, round(units / segments / 2))


def pk(truth: Iterable[int], found: Iterable[int], units: int, window: int | None = None) -> float:
    """Share of all pairs of units ``window`` apart of which truth and finding disagree whether one segment holds both.

    0 is perfect. Beeferman, Berger and Lafferty, "Statistical Models for Text Segmentation", 1999.

    Args:
        truth: numbers of the units that begin a true segment.
        found: the same for the segments that were found.
        units: how many units there are.
        window: the distance; ``half_mean_length`` of the truth when None.

    Raises:
        MetricError: a boundary outside of the units, or no pair is that far apart.
    """
    true, own = _spans(truth, found, units, window)
    return float(np.mean((true > 0) != (own > 0)))


def window_diff(truth: Iterable[int], found: Iterable[int], units: int, window: int | None = None) -> float:
    """Share of all windows in which the numbers of boundaries differ; stricter than ``pk`` with near misses and extras.

    0 is perfect. Pevzner and Hearst, "A Critique and Improvement of an Evaluation Metric for Text Segmentation", 2002.

    Args, Raises: as ``pk``.
    """
    true, own = _spans(truth, found, units, window)
    return float(np.mean(true != own))


def nearest_units(starts: Iterable[int], edges: Sequence[int]) -> set[int]:
    """For places in a text the units whose begin is nearest, of two equally near the earlier.

    Args:
        starts: places, in code points.
        edges: where each unit begins, in ascending order, ``(u,)``.
    """
    places, at = np.asarray(edges), np.asarray(list(starts), dtype=np.int64)
    right = np.clip(np.searchsorted(places, at), 1, max(len(places) - 1, 1))
    left = right - 1
    right = np.minimum(right, len(places) - 1)
    nearest = np.where(at - places[left] <= places[right] - at, left, right)
    return set(nearest.tolist())


def _spans(
    truth: Iterable[int], found: Iterable[int], units: int, window: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many boundaries lie between each unit and the one ``window`` further, in truth and in the finding."""
    true = list(truth)
    width = half_mean_length(true, units) if window is None else window
    if not 1 <= width < units:
        raise MetricError(f"a window of 1 to {units - 1} units is needed for {units} units, found {width}.")
    counts = (_counts(boundaries, units) for boundaries in (true, found))
    first, second = (np.asarray(count[width:] - count[:-width]) for count in counts)
    return first, second


def _counts(boundaries: Iterable[int], units: int) -> NDArray[np.int64]:
    """For each unit how many boundaries lie before it, ``(units,)``; the one before the first unit parts nothing."""
    starts = sorted(set(boundaries) - {0})
    if starts and not (starts[0] > 0 and starts[-1] < units):
        raise MetricError(f"boundaries must lie between unit 0 and {units - 1}, found {starts[0]} to {starts[-1]}.")
    marks = np.zeros(units, dtype=np.int64)
    marks[starts] = 1
    return np.cumsum(marks)
