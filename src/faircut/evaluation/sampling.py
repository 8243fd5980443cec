"""What is drawn at random when a comparison is repeated: rows and their documents in, sums for each unit out.

Questions about one document share its fate, so documents are the units wherever there are enough of them.
Every result is the same for any order of the rows. Tests and intervals over the units are left to the files beside.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from faircut.errors import MetricError
from faircut.records import Question

__all__ = [
    "FEWEST_DOCUMENTS",
    "Sample",
    "Unit",
    "as_scores",
    "document_of",
    "resamples",
    "sample",
    "signs",
    "student_quantile",
]

FEWEST_DOCUMENTS = 20
"""Below this number of documents the questions are the units: so few clusters carry no interval."""

Values = NDArray[np.float64]
Unit = Literal["document", "question"]


@dataclass(frozen=True)
class Sample:
    """Values summed by the units that are independent of each other.

    Attributes:
        unit: what a unit is.
        sums: ``(u,)`` sum of the values in each unit.
        sizes: ``(u,)`` questions in each unit.
    """

    unit: Unit
    sums: Values
    sizes: Values

    @property
    def units(self) -> int:
        """The number of units."""
        return len(self.sums)

    @property
    def questions(self) -> int:
        """The number of questions."""
        return int(self.sizes.sum())

    @property
    def effective_units(self) -> float:
        """The number of units of equal size that tell as much: (sum of sizes)^2 / sum of squared sizes (Kish 1965)."""
        return float(self.sizes.sum() ** 2 / (self.sizes @ self.sizes))

    @property
    def mean(self) -> float:
        """The mean over questions."""
        return float(self.sums.sum() / self.sizes.sum())

    @property
    def residuals(self) -> Values:
        """``(u,)`` each unit's sum minus what it would be at the mean; adds up to 0."""
        return np.asarray(self.sums - self.mean * self.sizes)

    @property
    def standard_error(self) -> float:
        """Of the mean, by linearisation over the units (Cochran 1977, section 6.4); 0 for a single unit."""
        r = self.residuals
        return float(np.sqrt(self.units / max(self.units - 1, 1) * (r @ r)) / self.questions)

    @property
    def jackknife_error(self) -> float:
        """The standard error of the mean when each of at least two units in turn is left out."""
        shifts = self.residuals / (self.questions - self.sizes)
        return float(np.sqrt((self.units - 1) / self.units * (shifts @ shifts)))

    @property
    def is_degenerate(self) -> bool:
        """Whether the units do not vary, so that nothing can be estimated from their differences."""
        return self.units < 2 or self.standard_error < 1e-12


def document_of(question: Question) -> str:
    """The document that a question is about, by which it is clustered: its search's, else its first evidence's.

    Raises:
        MetricError: the question has no evidence.
    """
    if not question.evidence:
        raise MetricError(
            f"question {question.id!r} has no evidence, so it belongs to no document; remove or label it."
        )
    return question.within or question.evidence[0].document_id


def as_scores(values: Sequence[float] | Values, name: str) -> Values:
    """The scores as ``(n,)`` float64.

    Raises:
        MetricError: there are none, or one is not a number in [0, 1].
    """
    scores = np.asarray(values, dtype=np.float64)
    if scores.ndim != 1 or not len(scores):
        raise MetricError(f"{name}: one score for each question is wanted, found an array of shape {scores.shape}.")
    wrong = ~((scores >= -1e-12) & (scores <= 1 + 1e-12))
    if wrong.any():
        place = int(np.argmax(wrong))
        raise MetricError(f"{name}: the score at position {place} is {scores[place]}, not a number in [0, 1].")
    return np.clip(scores, 0.0, 1.0)


def sample(values: Values, clusters: Sequence[str]) -> Sample:
    """Sum values by document, or take each alone where there are fewer than 20 documents.

    Args:
        values: ``(n,)`` one value a question.
        clusters: the document of each question.

    Raises:
        MetricError: the lengths differ.
    """
    if len(values) != len(clusters):
        raise MetricError(f"{len(values)} scores but {len(clusters)} documents: one document a question is wanted.")
    documents = {name: code for code, name in enumerate(sorted(set(clusters)))}
    codes = np.array([documents[name] for name in clusters], dtype=np.int64)
    order = np.lexsort((values, codes))  # sums and draws must not depend on the order of the rows
    values, codes = values[order], codes[order]
    if len(documents) < FEWEST_DOCUMENTS:
        return Sample("question", values, np.ones(len(values)))
    sizes = np.bincount(codes).astype(np.float64)
    return Sample("document", np.bincount(codes, weights=values).astype(np.float64), sizes)


def student_quantile(probability: float, units: float) -> float:
    """The quantile of Student's t for the mean of so many units (one degree of freedom fewer, at least one)."""
    from scipy.special import stdtrit

    return float(stdtrit(max(units - 1, 1.0), probability))


@lru_cache(maxsize=2)
def resamples(units: int, draws: int, seed: int) -> NDArray[np.uint8]:
    """``(draws, units)`` how often each unit is drawn when as many units are drawn with replacement."""
    rng = np.random.default_rng((seed, units, 1))
    counts = np.empty((draws, units), dtype=np.uint8)  # the chance of drawing one unit 256 times is nil
    for row in range(0, draws, 500):
        size = min(500, draws - row)
        drawn = rng.integers(0, units, (size, units)) + units * np.arange(size)[:, None]
        counts[row : row + size] = np.bincount(drawn.ravel(), minlength=size * units).reshape(size, units)
    counts.flags.writeable = False
    return counts


@lru_cache(maxsize=2)
def signs(units: int, flips: int, seed: int) -> NDArray[np.int8]:
    """``(flips, units)`` of +1 and -1, each equally likely."""
    rng = np.random.default_rng((seed, units, 2))
    drawn = rng.integers(0, 2, (flips, units), dtype=np.int8) * np.int8(2) - np.int8(1)
    drawn.flags.writeable = False
    return drawn
