"""Cut rules: similarities of neighbours in, the gaps to cut at out; one entry for each gap between two sentences.

A rule is a value that prints as it parses: ``0.65`` (``Absolute``), ``p85`` (``AbovePercentile``), ``deviation(1.0)``,
``interquartile(1.5)``, ``gradient(p95)``. Sizes, minimum sentences and the vectors themselves are left to the chunkers.
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from faircut.embedding.contract import Vectors
from faircut.errors import SpecError
from faircut.specs import Percentile, spec_text

__all__ = [
    "CUT_RULES", "AbovePercentile", "Absolute", "CutRule", "Deviation", "Gaps", "Gradient", "Interquartile",
    "SimilarityCurve", "cut_rule", "gap_similarities",
]  # fmt: skip

Floats = NDArray[np.float64]

_DECIMALS = 5  # vectors are the same in any batch to 1e-5 only: smaller differences are ties, not meaning


@dataclass(frozen=True, eq=False)
class Gaps:
    """What a rule saw, ``signal`` ``(n,)``, one entry a gap, and what it decided: cut where signal > threshold.

    ``cosine`` is the similarity below which the rule cuts, None where it does not look at the similarity itself.
    """

    signal: Floats
    threshold: float
    cosine: float | None = None

    @property
    def cuts(self) -> NDArray[np.bool_]:
        """Whether the rule cuts at each gap. Ties with the threshold are no cut."""
        return self.signal > self.threshold


@dataclass(frozen=True, eq=False)
class SimilarityCurve:
    """What a semantic chunker saw in one document; arrays ``(n,)``, one entry a gap between two sentences.

    ``positions`` are the offsets at which the sentence after the gap begins, ``similarities`` cosines, ``cuts`` whether
    the rule alone cuts there, before minimum and maximum are applied. ``threshold`` is the cosine below which the rule
    cuts, None where it does not look at the cosine itself (gradient) or nothing could be below it.
    """

    positions: NDArray[np.int64]
    similarities: Floats
    cuts: NDArray[np.bool_]
    threshold: float | None

    @classmethod
    def of(cls, positions: NDArray[np.int64], similarities: Floats, rule: "CutRule") -> "SimilarityCurve":
        """The curve with what a rule makes of it."""
        gaps = rule.judge(similarities)
        return cls(positions, similarities, gaps.cuts, gaps.cosine)


class CutRule(Protocol):
    """Decides from the similarities ``(n,)`` of a document at which of its n gaps meaning turns."""

    def judge(self, similarities: Floats) -> Gaps:
        """The signal that the rule looks at and the threshold that it must exceed.

        Equal similarities exceed no threshold that comes from them, so the relative rules then cut nowhere.
        """
        ...


@dataclass(frozen=True)
class Absolute:
    """Cut where the cosine of neighbours lies below a fixed value; written as the bare number, `0.65`.

    It does not travel between models: E5's cosines all lie above 0.7, MiniLM's adjacent sentences average 0.44.
    """

    cosine: float

    def __post_init__(self) -> None:
        if not -1 <= self.cosine <= 1:
            hint = f"; for the percentile write p{self.cosine:g}" if 1 < self.cosine <= 100 else ""
            raise SpecError(f"semantic: a cosine threshold lies between -1 and 1, found {self.cosine:g}{hint}.")

    def judge(self, similarities: Floats) -> Gaps:
        """The signal is the negative similarity."""
        return Gaps(-similarities, -self.cosine, self.cosine)


@dataclass(frozen=True)
class AbovePercentile:
    """Cut where the distance exceeds a percentile of the document's own distances; written as the percentile, `p85`.

    The percentile fixes the number of cuts (p85: up to 15 % of the gaps) whatever the text says. A single gap never
    exceeds its own percentile, so two sentences stay together. As "percentile" in LangChain's SemanticChunker.
    """

    percentile: Percentile

    def judge(self, similarities: Floats) -> Gaps:
        """The signal is the cosine distance; percentiles are interpolated linearly between distances."""
        distances = 1 - similarities
        return _beyond(distances, _percentile(distances, self.percentile))


@dataclass(frozen=True)
class Deviation:
    """Cut where the distance exceeds the document's mean by k population standard deviations: `deviation(1.0)`.

    As "standard_deviation" in LangChain's SemanticChunker, whose k is 3 unless given.
    """

    name: ClassVar[str] = "deviation"

    k: float

    def __post_init__(self) -> None:
        _check_factor(self.name, self.k)

    __str__ = spec_text

    def judge(self, similarities: Floats) -> Gaps:
        """The signal is the cosine distance."""
        distances = 1 - similarities
        if _are_equal(distances):
            return Gaps(distances, np.inf)
        return _beyond(distances, float(distances.mean() + self.k * distances.std()))


@dataclass(frozen=True)
class Interquartile:
    """Cut where the distance exceeds the third quartile by k interquartile ranges: `interquartile(1.5)`.

    Tukey's rule for outliers. LangChain's SemanticChunker adds the ranges to the mean instead, so its cuts are more.
    """

    name: ClassVar[str] = "interquartile"

    k: float

    def __post_init__(self) -> None:
        _check_factor(self.name, self.k)

    __str__ = spec_text

    def judge(self, similarities: Floats) -> Gaps:
        """The signal is the cosine distance."""
        distances = 1 - similarities
        if _are_equal(distances):
            return Gaps(distances, np.inf)
        first, third = np.percentile(distances, [25, 75])
        return _beyond(distances, float(third + self.k * (third - first)))


@dataclass(frozen=True)
class Gradient:
    """Cut where the distance rises faster than a percentile of the document's own rises: `gradient(p95)`.

    For documents whose sentences are all alike (legal, medical). As "gradient" in LangChain's SemanticChunker: central
    differences, so the cut falls where the distance climbs, which may be one gap before its top.
    """

    name: ClassVar[str] = "gradient"

    percentile: Percentile

    __str__ = spec_text

    def judge(self, similarities: Floats) -> Gaps:
        """The signal is the gradient of the cosine distance along the document, 0 for a single gap."""
        rises = np.gradient(1 - similarities) if len(similarities) > 1 else np.zeros(len(similarities))
        rises = np.round(rises, _DECIMALS)
        return Gaps(rises, _percentile(rises, self.percentile))


CUT_RULES: tuple[type[Deviation] | type[Interquartile] | type[Gradient], ...] = (Deviation, Interquartile, Gradient)
"""The rules with a name; they stand inside ``semantic`` only."""


def cut_rule(threshold: float | Percentile | CutRule) -> CutRule:
    """The rule that a threshold stands for.

    Raises:
        SpecError: a cosine outside of [-1, 1], or a component that is no rule.
    """
    if isinstance(threshold, Percentile):
        return AbovePercentile(threshold)
    if isinstance(threshold, (int, float)):
        return Absolute(threshold)
    if not hasattr(threshold, "judge"):
        wanted = "a cosine such as 0.65, a percentile such as p85, deviation(1.0), interquartile(1.5) or gradient(p95)"
        raise SpecError(f"semantic: threshold must be {wanted}, found {threshold}.")
    return threshold


def gap_similarities(vectors: Vectors, window: int = 1) -> Floats:
    """Cosine ``(n - 1,)`` between the mean of the ``window`` sentences before each gap and the mean of those after it.

    Windows do not share sentences and are shorter at the document's ends. A mean without direction is similar to
    nothing (0). Rounded to 5 decimals, so that noise in the vectors makes no difference out of a tie. Linear in ``n``.
    """
    count = len(vectors)
    if count < 2:
        return np.zeros(0)
    sums = np.vstack([np.zeros((1, vectors.shape[1])), np.cumsum(vectors, axis=0, dtype=np.float64)])
    gaps = np.arange(1, count)
    before = sums[gaps] - sums[np.maximum(gaps - window, 0)]
    after = sums[np.minimum(gaps + window, count)] - sums[gaps]
    norms = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    products = np.einsum("nd,nd->n", before, after)
    similarities: Floats = np.divide(products, norms, out=np.zeros(count - 1), where=norms > 1e-9)
    return similarities.clip(-1, 1).round(_DECIMALS)


def _beyond(distances: Floats, threshold: float) -> Gaps:
    """The decision of a rule that looks at the distance itself."""
    return Gaps(distances, threshold, 1 - threshold if np.isfinite(threshold) else None)


def _percentile(values: Floats, percentile: Percentile) -> float:
    return float(np.percentile(values, percentile.value)) if len(values) else np.inf


def _are_equal(values: Floats) -> bool:
    """Whether no value differs: the mean of equal values may lie one rounding error below them."""
    return len(values) == 0 or bool(values.min() == values.max())


def _check_factor(name: str, k: float) -> None:
    if not (np.isfinite(k) and k >= 0):
        raise SpecError(f"{name}: the factor must be 0 or more, found {k:g}.")
