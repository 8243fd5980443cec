"""The verdict: scores of a baseline and of its rivals on the same questions in, one ``Contrast`` for each rival out.

Paired, clustered by document, corrected for the number of rivals. Tests, intervals and power come from the files
beside this one; saying it to a reader is left to the report.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from faircut.errors import MetricError
from faircut.evaluation.confidence import Estimate, Interval, mean_interval, studentised_intervals, wilson
from faircut.evaluation.power import BAND, questions_for, smallest_difference
from faircut.evaluation.sampling import Sample, Unit, as_scores, sample
from faircut.evaluation.significance import CLEARANCE, FLIPS, flip_error, holm, mcnemar, sign_flips

__all__ = ["Contrast", "Verdict", "compare", "compare_pairs"]

Values = NDArray[np.float64]
Verdict = Literal["better", "worse", "equivalent", "no measured difference"]


@dataclass(frozen=True, slots=True)
class Contrast:
    """A chunker against the baseline, on the same questions.

    Attributes:
        name: the chunker's.
        verdict: ``equivalent`` when the 90 % interval of the difference lies inside the band, whatever p is: a
            difference that is certain and too small to matter is no reason to choose. Else ``better`` or ``worse``
            when the corrected p is below alpha by more than three times the random error of its flips (another
            seed would say the same) and the 95 % interval excludes 0. Else ``no measured difference``.
        estimate: the chunker's mean with its 95 % interval.
        difference: mean of the chunker minus mean of the baseline.
        interval: of the difference, 95 %, not corrected for the number of contrasts.
        interval_90: of the difference, 90 %: the equivalence test's.
        p: of the paired test.
        p_holm: p corrected for all contrasts of this comparison.
        test: which test p comes from.
        wins, losses: questions on which the chunker is above or below the baseline; the others are ties.
        smallest_detectable: the difference that this set finds with 80 % power at this number of contrasts; None
            where none can be found or estimated: the differences do not vary, or there are too few units.
        questions_needed: to find a difference as large as the band with 80 % power, with documents growing in
            proportion; None where ``smallest_detectable`` is.
        band: half the width of the equivalence band.
        questions: how many there are.
        unit: what was flipped and resampled, documents or (below 20 documents) questions.
        units: how many of them.
    """

    name: str
    verdict: Verdict
    estimate: Estimate
    difference: float
    interval: Interval
    interval_90: Interval
    p: float
    p_holm: float
    test: str
    wins: int
    losses: int
    smallest_detectable: float | None
    questions_needed: int | None
    band: float
    questions: int
    unit: Unit
    units: int


def compare(
    baseline: Sequence[float] | Values,
    rivals: Mapping[str, Sequence[float] | Values],
    clusters: Sequence[str],
    *,
    band: float = BAND,
    alpha: float = 0.05,
    seed: int = 0,
    same: Collection[str] = (),
) -> list[Contrast]:
    """Judge each rival against the baseline on one measure.

    The result is the same for any order of the rows; p, intervals and estimates do not depend on the other rivals.

    Args:
        baseline: ``(n,)`` scores in [0, 1], one a question.
        rivals: for each name ``(n,)`` scores of the same questions in the same order.
        clusters: the document of each question.
        band: differences below this do not matter.
        alpha: the level of all tests together.
        seed: of flips and bootstrap.
        same: names that are the baseline under another name (the same chunks), so equal on any other questions too;
            equal scores alone are no proof of that.

    Raises:
        MetricError: lengths differ, a score is not a number in [0, 1], there is no rival, a wrong band or alpha.
    """
    pairs = {name: (baseline, scores) for name, scores in rivals.items()}
    return compare_pairs(pairs, clusters, band=band, alpha=alpha, seed=seed, same=same)


def compare_pairs(
    pairs: Mapping[str, tuple[Sequence[float] | Values, Sequence[float] | Values]],
    clusters: Sequence[str],
    *,
    band: float = BAND,
    alpha: float = 0.05,
    seed: int = 0,
    same: Collection[str] = (),
) -> list[Contrast]:
    """As ``compare``, each chunker against a baseline of its own (its size-matched control), corrected over all pairs.

    Args:
        pairs: for each name the ``(n,)`` scores of its baseline and its own.
        clusters: the document of each question.
        band: differences below this do not matter.
        alpha: the level of all tests together.
        seed: of flips and bootstrap.
        same: as in ``compare``.

    Raises:
        MetricError: as in ``compare``.
    """
    if not pairs:
        raise MetricError("nothing to compare: at least one chunker beside the baseline is needed.")
    if not 0 < band < 1 or not 0 < alpha < 1:
        raise MetricError(f"band and alpha lie between 0 and 1, found {band} and {alpha}.")
    ready = {name: _Pair.of(base, scores, name, clusters) for name, (base, scores) in pairs.items()}
    flipped = sign_flips(np.stack([pair.differences.sums for pair in ready.values()], axis=1), seed=seed)
    tests = [pair.test(float(p)) for pair, p in zip(ready.values(), flipped, strict=True)]
    corrected = holm([test.p for test in tests])
    certain = [p < alpha for p in holm([test.p + CLEARANCE * test.error for test in tests])]
    rules = _Rules(len(ready), band, alpha, seed, frozenset(same))
    return [
        _contrast(name, pair, clusters, test, p_holm, significant, rules)
        for (name, pair), test, p_holm, significant in zip(ready.items(), tests, corrected, certain, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Rules:
    """What all contrasts of a comparison share."""

    contrasts: int
    band: float
    alpha: float
    seed: int
    same: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Test:
    """A p value, the standard error that its random flips leave in it, and which test it is."""

    p: float
    error: float
    name: str


@dataclass(frozen=True, slots=True)
class _Pair:
    """The scores of two chunkers on the same questions, and their differences by unit."""

    base: Values
    scores: Values
    differences: Sample

    @classmethod
    def of(
        cls,
        baseline: Sequence[float] | Values,
        scored: Sequence[float] | Values,
        name: str,
        clusters: Sequence[str],
    ) -> "_Pair":
        base, scores = as_scores(baseline, f"baseline of {name}"), as_scores(scored, name)
        if len(base) != len(scores):
            raise MetricError(
                f"{name}: {len(scores)} scores, but the baseline has {len(base)}; score the same questions."
            )
        return cls(base, scores, sample(scores - base, clusters))

    @property
    def is_identical(self) -> bool:
        return bool((self.base == self.scores).all())

    def test(self, p: float) -> _Test:
        """The paired test, given the p value of the sign flips.

        McNemar's takes questions for independent. Where documents are the units, hits must pass both it and the flips
        by document: the larger p counts.
        """
        s = self.differences
        error, name = flip_error(p), f"{FLIPS:,} sign flips by {s.unit}"
        if not np.isin((self.base, self.scores), (0.0, 1.0)).all():
            return _Test(p, error, name)
        exact = mcnemar(self.base, self.scores)
        if s.units == s.questions:
            return _Test(exact, 0.0, "exact McNemar")
        return _Test(max(p, exact), error, f"exact McNemar and {name}, the larger p")

    def intervals(self, levels: Sequence[float], seed: int, *, same: bool) -> list[Interval]:
        """Of the mean difference.

        Where no question tells the two apart, others still may: by the rule of three (Clopper and Pearson's bound for 0
        of ``u`` units) the share of those is below ``1 - ((1 - level) / 2) ** (1 / u)``, and so is the difference.
        Where all differ by the same, Wilson's on the number of units, stretched to [-1, 1].
        """
        s = self.differences
        if same and self.is_identical:
            return [Interval(0.0, 0.0, level, "the chunks are the same") for level in levels]
        if self.is_identical:
            bounds = [(level, 1 - ((1 - level) / 2) ** (1 / s.units)) for level in levels]
            return [Interval(-b, b, level, f"rule of three, {s.units} {s.unit}s") for level, b in bounds]
        if not s.is_degenerate:
            return studentised_intervals(s, levels, bounds=(-1.0, 1.0), seed=seed)
        ends = [(level, *wilson((s.mean + 1) / 2, s.units, level)) for level in levels]
        return [Interval(2 * a - 1, 2 * b - 1, level, f"Wilson, {s.units} {s.unit}s") for level, a, b in ends]


def _contrast(
    name: str, pair: _Pair, clusters: Sequence[str], test: _Test, p_holm: float, significant: bool, rules: _Rules
) -> Contrast:
    s = pair.differences
    interval, interval_90 = pair.intervals((0.95, 0.90), rules.seed, same=name in rules.same)
    detectable = _detectable(s, rules)
    return Contrast(
        name=name,
        verdict=_verdict(s.mean, interval, interval_90, significant, rules.band),
        estimate=mean_interval(pair.scores, clusters, seed=rules.seed),
        difference=s.mean,
        interval=interval,
        interval_90=interval_90,
        p=test.p,
        p_holm=p_holm,
        test=test.name,
        wins=int((pair.scores > pair.base).sum()),
        losses=int((pair.scores < pair.base).sum()),
        smallest_detectable=detectable,
        questions_needed=questions_for(rules.band, questions=s.questions, detectable=detectable),
        band=rules.band,
        questions=s.questions,
        unit=s.unit,
        units=s.units,
    )


def _verdict(difference: float, interval: Interval, interval_90: Interval, significant: bool, band: float) -> Verdict:
    if interval_90.inside(band):
        return "equivalent"
    if significant and interval.excludes(0.0):
        return "better" if difference > 0 else "worse"
    return "no measured difference"


def _detectable(s: Sample, rules: _Rules) -> float | None:
    if s.is_degenerate:
        return None
    return smallest_difference(s.jackknife_error, s.effective_units, contrasts=rules.contrasts, alpha=rules.alpha)
