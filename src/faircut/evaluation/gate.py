"""Is there a loss that matters? Scores of a base and of what replaces it on the same questions in, an outcome out.

A gate stops a change, so it must not stop a harmless one: it fails only where the questions show that the loss is
larger than a stated margin. Which scores are compared is left to ``experiment/gate.py``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from faircut.errors import MetricError
from faircut.evaluation.confidence import Interval, studentised_intervals
from faircut.evaluation.sampling import sample
from faircut.evaluation.statistics import Contrast, compare_pairs

__all__ = ["MARGIN", "LossTest", "Outcome", "judge_losses"]

MARGIN = 0.02
"""A loss up to this size passes."""

Values = NDArray[np.float64]
Outcome = Literal[
    "loss above the margin", "no loss above the margin", "loss not shown to be above the margin", "no measured loss"
]

_SMALLEST_BAND = 1e-9


@dataclass(frozen=True, slots=True)
class LossTest:
    """One row of a gate.

    Attributes:
        name: the row's.
        outcome: ``loss above the margin`` when the paired test, corrected for the number of rows, finds a loss and the
            whole interval of the difference lies below minus the margin: the only outcome that fails. ``no loss above
            the margin`` when the whole interval lies above it. Between the two, ``loss not shown to be above the
            margin`` when the test finds a loss, else ``no measured loss``.
        contrast: the row against its base.
        interval: of the difference, at ``1 - alpha / rows`` (Bonferroni), so that all hold together.
        base_mean: the mean of the base; the row's own is ``contrast.estimate.mean``.
        margin: the loss that passes.
        caught_from: the loss that fails with 80 % power; None where no loss could.
    """

    name: str
    outcome: Outcome
    contrast: Contrast
    interval: Interval
    base_mean: float
    margin: float
    caught_from: float | None

    @property
    def failed(self) -> bool:
        """Whether a loss above the margin is shown."""
        return self.outcome == "loss above the margin"


def judge_losses(
    pairs: Mapping[str, tuple[Sequence[float] | Values, Sequence[float] | Values]],
    clusters: Sequence[str],
    *,
    margin: float = MARGIN,
    alpha: float = 0.05,
    seed: int = 0,
) -> list[LossTest]:
    """Test each row against its base for a loss above the margin.

    A two-sided test at ``alpha`` decides downwards only, so where no row has lost more than the margin, the gate
    fails in at most ``alpha / 2`` of question sets, however many rows there are and whatever their true losses up to
    the margin. A rule that asked for a significant loss and an estimate above the margin would fail half of the time
    at a true loss of exactly the margin. The paired test beside the interval is the one of a comparison
    (``statistics.py``): a gate never stops what a leaderboard would not call worse.

    Args:
        pairs: for each row the ``(n,)`` scores of its base and its own, in [0, 1].
        clusters: the document of each question.
        margin: the loss that passes, at least 0 and below 1.
        alpha: the level of all tests together.
        seed: of flips and bootstrap.

    Raises:
        MetricError: as in ``compare``, or a wrong margin.
    """
    if not 0 <= margin < 1:
        raise MetricError(f"the margin is a loss from 0 to below 1, found {margin:g}.")
    contrasts = compare_pairs(pairs, clusters, band=max(margin, _SMALLEST_BAND), alpha=alpha, seed=seed)
    return [_test(c, *pairs[c.name], clusters, margin, alpha / len(pairs), seed) for c in contrasts]


def _test(
    contrast: Contrast,
    base: Sequence[float] | Values,
    scores: Sequence[float] | Values,
    clusters: Sequence[str],
    margin: float,
    level: float,
    seed: int,
) -> LossTest:
    interval = _interval(contrast, np.asarray(scores) - np.asarray(base), clusters, 1 - level, seed)
    caught = contrast.smallest_detectable
    return LossTest(
        name=contrast.name,
        outcome=_outcome(contrast, interval, margin),
        contrast=contrast,
        interval=interval,
        base_mean=float(np.mean(base)),
        margin=margin,
        caught_from=None if caught is None else margin + caught,
    )


def _interval(contrast: Contrast, differences: Values, clusters: Sequence[str], level: float, seed: int) -> Interval:
    """The contrast's own where nothing varies: its kind knows no other level."""
    drawn = sample(differences, clusters)
    if drawn.is_degenerate:
        return contrast.interval
    (interval,) = studentised_intervals(drawn, (level,), bounds=(-1.0, 1.0), seed=seed)
    return interval


def _outcome(contrast: Contrast, interval: Interval, margin: float) -> Outcome:
    if contrast.verdict == "worse" and interval.high < -margin:
        return "loss above the margin"
    if interval.low > -margin:
        return "no loss above the margin"
    return "loss not shown to be above the margin" if contrast.verdict == "worse" else "no measured loss"
