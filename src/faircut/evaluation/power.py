"""What a set of questions can show: its spread, size and clustering in, the smallest detectable difference out.

Before anything is run from stated assumptions, afterwards from the differences seen. Verdicts are left to
``statistics.py``.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt

from faircut.errors import MetricError
from faircut.evaluation.sampling import FEWEST_DOCUMENTS, Unit, student_quantile
from faircut.evaluation.significance import CLEARANCE, flip_error

__all__ = ["BAND", "POWER", "PlannedPower", "design_effect", "plan_power", "questions_for", "smallest_difference"]

POWER = 0.8
"""The chance of finding a difference of the smallest detectable size."""

BAND = 0.03
"""Differences smaller than this make no difference to a reader: half the width of the equivalence band."""

TYPICAL_SPREAD = 0.35
"""Standard deviation over questions of paired differences in recall at equal tokens between usual chunkers; 0.27 to
0.38 between five rule-based cuts on CovidQA and ContractNLI."""

TYPICAL_CORRELATION = 0.03
"""Correlation of those differences between questions about one document; 0.01 to 0.04 there."""


@dataclass(frozen=True, slots=True)
class PlannedPower:
    """What a comparison can be expected to show, before it is run.

    Attributes:
        smallest_difference: found with 80 % power, after correction for the number of contrasts; None where there are
            too few units to find any.
        questions_needed: to find ``difference`` with that power, on as many questions a document; None likewise.
        difference: the difference that matters (the equivalence band).
        questions: in the set.
        unit: what counts as independent.
        units: how many of them.
        design_effect: how many times more questions the clustering costs.
        assumption: the numbers assumed, in one sentence.
    """

    smallest_difference: float | None
    questions_needed: int | None
    difference: float
    questions: int
    unit: Unit
    units: int
    design_effect: float
    assumption: str


def smallest_difference(
    standard_error: float, units: float, *, contrasts: int = 1, alpha: float = 0.05, power: float = POWER
) -> float | None:
    """The true difference that a two-sided test at ``alpha / contrasts`` finds with the given power.

    None where no difference can be found: the units are too few for the test, or the contrasts too many.

    Args:
        standard_error: of the mean paired difference.
        units: (effective) independent units behind it; they give the t distribution's degrees of freedom.
        contrasts: how many are tested together (Bonferroni, which Holm's correction never undercuts).
        alpha: the level of all tests together.
        power: the chance of finding it.
    """
    level = alpha / contrasts
    level -= CLEARANCE * flip_error(level)  # a verdict stays clear of the flips' own random error
    smallest_p = 2.0 ** (1 - min(units, 1000))  # when every unit favours the same side
    if level <= smallest_p:
        return None
    return (student_quantile(1 - level / 2, units) + student_quantile(power, units)) * standard_error


def questions_for(difference: float, *, questions: int, detectable: float | None) -> int | None:
    """Questions needed to find ``difference`` where ``questions`` can show ``detectable``.

    The error of a mean falls with the root of the number of questions, provided that documents grow with them.
    None where nothing can be shown.
    """
    return None if detectable is None else ceil(questions * (detectable / difference) ** 2)


def design_effect(clusters: Sequence[str], correlation: float) -> float:
    """How many times more questions are needed because those about one document resemble each other (Kish 1965)."""
    sizes = Counter(clusters).values()
    return 1 + (sum(n * n for n in sizes) / sum(sizes) - 1) * correlation


def plan_power(
    clusters: Sequence[str],
    *,
    contrasts: int,
    spread: float = TYPICAL_SPREAD,
    correlation: float = TYPICAL_CORRELATION,
    difference: float = BAND,
    alpha: float = 0.05,
) -> PlannedPower:
    """What a set of questions can be expected to show, from its size and documents alone.

    Args:
        clusters: the document of each question.
        contrasts: chunkers compared with the baseline.
        spread: the standard deviation of the paired differences over questions that is assumed.
        correlation: of those differences between questions about one document; ignored below 20 documents, where
            questions are taken for independent.
        difference: the difference that matters.
        alpha: the level of all tests together.

    Raises:
        MetricError: there are no questions or no contrasts, or a number is out of range.
    """
    if not clusters or contrasts < 1:
        raise MetricError(f"power needs questions and a contrast, found {len(clusters)} and {contrasts}.")
    if spread <= 0 or difference <= 0 or not 0 <= correlation <= 1 or not 0 < alpha < 1:
        raise MetricError("power needs a spread and a difference above 0, a correlation and an alpha between 0 and 1.")
    documents = len(set(clusters))
    clustered = documents >= FEWEST_DOCUMENTS
    unit: Unit = "document" if clustered else "question"
    units = documents if clustered else len(clusters)
    effect = design_effect(clusters, correlation) if clustered else 1.0
    detectable = smallest_difference(spread * sqrt(effect / len(clusters)), units, contrasts=contrasts, alpha=alpha)
    needed = questions_for(difference, questions=len(clusters), detectable=detectable)
    assumption = (
        f"assuming paired differences with a standard deviation of {spread:g} over questions and a correlation of "
        f"{correlation if clustered else 0:g} between questions about one document"
    )
    return PlannedPower(detectable, needed, difference, len(clusters), unit, units, effect, assumption)
