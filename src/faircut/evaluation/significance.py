"""Tests of a difference: paired differences in, p values out, and their correction for the number of contrasts.

All are two-sided. What follows from a p value is left to ``statistics.py``.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from faircut.evaluation.sampling import signs

__all__ = ["CLEARANCE", "FLIPS", "flip_error", "holm", "mcnemar", "sign_flips"]

FLIPS = 10_000
"""Random sign flips of a randomisation test."""

CLEARANCE = 3
"""By how many standard errors of its flips a p value must clear alpha, so that another seed would say the same."""


def sign_flips(sums: NDArray[np.float64], *, seed: int = 0) -> NDArray[np.float64]:
    """P values of a paired randomisation test: 10,000 times each unit keeps or changes the sign of its difference.

    With the +1 correction (Phipson and Smyth 2010), so that p is never 0. It is valid when the two sides of a unit
    could be exchanged, however the units' sizes and distributions differ.

    Args:
        sums: ``(units, contrasts)`` the sum of the differences in each unit (document or question).
        seed: of the flips; all contrasts share them.

    Returns:
        ``(contrasts,)`` p values.
    """
    slack = 1e-9 * np.abs(sums).sum(axis=0)  # equal sums must count as equal whatever the order of adding
    observed = np.abs(sums.sum(axis=0)) - slack
    drawn = signs(len(sums), FLIPS, seed)
    reached = np.zeros(sums.shape[1])
    for row in range(0, FLIPS, 1000):
        reached += (np.abs(drawn[row : row + 1000].astype(np.float64) @ sums) >= observed).sum(axis=0)
    return np.asarray((1 + reached) / (FLIPS + 1))


def flip_error(p: float) -> float:
    """The standard error that 10,000 random flips leave in a p value."""
    return float((p * (1 - p) / FLIPS) ** 0.5)


def mcnemar(baseline: NDArray[np.float64], candidate: NDArray[np.float64]) -> float:
    """The exact p value of McNemar's test on hits (0 or 1) of the same questions; 1 when no question differs.

    It takes the questions for independent of each other.
    """
    from scipy.stats import binomtest

    won, lost = int((candidate > baseline).sum()), int((candidate < baseline).sum())
    return float(binomtest(won, won + lost).pvalue) if won + lost else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's (1979) step-down correction: adjusted p values in the order given, each at most 1."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, i in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = largest
    return adjusted
