"""Scores: questions with their ranked passages in, one value in [0, 1] for each question and measure out.

The covered and delivered characters are counted once for each question and cut; every measure is derived from them.
Retrieval, and what the numbers say about the chunkers, is left to others.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from faircut.errors import MetricError
from faircut.evaluation.context import Context, Passage, TokenIndexOf
from faircut.evaluation.coverage import Gold, Touch
from faircut.evaluation.measures import Cut, Measure
from faircut.evaluation.published import context_precision, document_mrr, document_recall, literal_hit, semantic_hit
from faircut.records import Question, Score

__all__ = ["CutTotals", "ScoreTable", "score"]

Values = NDArray[np.float64]
Counts = NDArray[np.int64]

_T = TypeVar("_T")
_TOLERANCE = 1e-12


@dataclass(frozen=True)
class CutTotals:
    """What was delivered and covered at one cut, for all questions.

    Attributes:
        covered: ``(a,)`` characters of each alternative that the context holds; a question has one alternative when
            its evidence belongs together, else one for each piece.
        evidence: ``(a,)`` characters of each alternative.
        first: ``(q,)`` the position of each question's first alternative.
        hit: ``(q,)`` whether one piece of evidence is covered by at least 95 %.
        characters: ``(q,)`` characters delivered, what is delivered twice counted twice, context included.
        tokens: ``(q,)`` the same in budget tokens.
        underfilled: questions whose ranking ended before the cut was reached.
    """

    covered: Counts
    evidence: Counts
    first: Counts
    hit: NDArray[np.bool_]
    characters: Counts
    tokens: Counts
    underfilled: int

    def values(self, name: str) -> Values:
        """``(q,)`` values of ``recall``, ``precision``, ``iou``, ``f1``, ``hit`` or ``full``; the best alternative."""
        if name == "hit":
            return self.hit.astype(np.float64)
        delivered = np.repeat(self.characters, np.diff(self.first, append=len(self.covered)))
        each = _SHARES[name](self.covered, self.evidence, delivered)
        return np.asarray(np.maximum.reduceat(each, self.first), dtype=np.float64)

    def pooled(self, name: str) -> float:
        """The corpus measure of ``recall``, ``precision``, ``iou`` or ``f1``: one quotient of the sums over all
        questions, so that long evidence weighs more; of alternatives the one of best recall counts.
        """
        recall = self.covered / self.evidence
        ends = np.append(self.first[1:], len(recall))
        best = [start + int(np.argmax(recall[start:end])) for start, end in zip(self.first, ends, strict=True)]
        sums = (np.array([int(x.sum())]) for x in (self.covered[best], self.evidence[best], self.characters))
        return float(_SHARES[name](*sums)[0])


def _recall(covered: Counts, evidence: Counts, _: Counts) -> Values:
    return np.asarray(covered / evidence)


def _precision(covered: Counts, _: Counts, delivered: Counts) -> Values:
    return _quotient(covered, delivered)


def _iou(covered: Counts, evidence: Counts, delivered: Counts) -> Values:
    return _quotient(covered, delivered + evidence - covered)


def _f1(covered: Counts, evidence: Counts, delivered: Counts) -> Values:
    """2PR / (P + R), which is 2 covered / (delivered + evidence)."""
    return _quotient(2 * covered, delivered + evidence)


def _full(covered: Counts, evidence: Counts, _: Counts) -> Values:
    return np.asarray(covered == evidence, dtype=np.float64)


def _quotient(above: Counts, below: Counts) -> Values:
    """``above / below``, and 0 where nothing was delivered. What should be impossible stays visible to the check."""
    return np.divide(above, below, out=np.where(above > 0, np.inf, 0.0), where=below > 0)


_SHARES = {"recall": _recall, "precision": _precision, "iou": _iou, "f1": _f1, "full": _full}
_COUNTED = frozenset({*_SHARES, "hit"})


@dataclass(frozen=True)
class ScoreTable:
    """The scores of one row of the leaderboard.

    Attributes:
        measures: the columns.
        question_ids: the rows.
        values: ``(questions, measures)`` in [0, 1].
        unanswered: questions without any result; they score 0 and stay in every mean.
        totals: what was delivered and covered at each cut.
    """

    measures: tuple[Measure, ...]
    question_ids: tuple[str, ...]
    values: Values
    unanswered: int
    totals: dict[Cut, CutTotals] = field(repr=False)

    def of(self, measure: Measure) -> Values:
        """``(questions,)`` values of one measure."""
        return np.asarray(self.values[:, self.measures.index(measure)])

    def mean(self, measure: Measure) -> float:
        """The mean over questions, each weighing the same."""
        return float(self.of(measure).mean())

    def pooled(self, measure: Measure) -> float:
        """The corpus measure: sums over all questions divided, for ``recall``, ``precision``, ``iou`` and ``f1``;
        for the others, which have no sums, the mean.
        """
        if measure.name in ("recall", "precision", "iou", "f1"):
            return self.totals[measure.cut].pooled(measure.name)
        return self.mean(measure)

    def records(self) -> Iterator[Score]:
        """Every value as a ``Score``, question by question."""
        names = [str(m) for m in self.measures]
        for question_id, row in zip(self.question_ids, self.values.tolist(), strict=True):
            for name, value in zip(names, row, strict=True):
                yield Score(question_id, name, value)


def score(
    questions: Sequence[Question],
    rankings: Mapping[str, Sequence[Passage]],
    measures: Sequence[Measure],
    *,
    token_index: TokenIndexOf,
    evidence_texts: Mapping[str, Sequence[str]] | None = None,
    cosines: Mapping[str, NDArray[np.floating]] | None = None,
) -> ScoreTable:
    """Score every question by every measure.

    Args:
        questions: what was asked, with evidence.
        rankings: for each question's id its passages, best first; a question that is missing has no result, scores 0
            and is counted.
        measures: the columns of the result, in this order.
        token_index: a document's exact token counts; asked only for the passage that a token budget cuts.
        evidence_texts: for each question's id the text of each piece of its evidence; ``literal_hit`` needs it.
        cosines: for each question's id ``(passages, pieces of evidence)`` cosines; ``semantic_hit`` needs them.

    Raises:
        MetricError: no questions, no measures, one of them twice, a ranking for an unknown question, an input that
            a measure needs is missing, or a value outside [0, 1].
    """
    _check(questions, rankings, measures)
    cases = [_Case.of(q, rankings.get(q.id, ())) for q in questions]
    cuts = dict.fromkeys(m.cut for m in measures)  # also of measures that count no characters: what they cost
    totals = {cut: _totals(cut, cases, token_index) for cut in cuts}
    inputs = _Inputs(cases, totals, evidence_texts or {}, cosines or {})
    values = _checked(np.stack([inputs.column(m) for m in measures], axis=1), questions, measures)
    unanswered = sum(not case.context.passages for case in cases)
    return ScoreTable(tuple(measures), tuple(q.id for q in questions), values, unanswered, totals)


@dataclass(frozen=True, slots=True)
class _Case:
    """One question with what is needed of its ranking, whatever the measures."""

    question: Question
    context: Context
    gold: Gold
    touches: list[Touch]
    first_hit: int | None

    @classmethod
    def of(cls, question: Question, passages: Sequence[Passage]) -> "_Case":
        gold = Gold.of(question)
        touches = gold.touches(passages)
        return cls(question, Context(passages), gold, touches, gold.first_hit(touches))


def _totals(cut: Cut, cases: Sequence[_Case], token_index: TokenIndexOf) -> CutTotals:
    covered: list[int] = []
    hit: list[bool] = []
    deliveries = [case.context.at(cut, token_index) for case in cases]
    for case, delivery in zip(cases, deliveries, strict=True):
        held = case.gold.within(case.touches, case.context.passages, delivery)
        covered += case.gold.covered(held)
        hit.append(case.gold.is_hit(held))
    alternatives = [len(case.gold.sizes) for case in cases]
    return CutTotals(
        covered=np.array(covered),
        evidence=np.array([size for case in cases for size in case.gold.sizes]),
        first=np.cumsum([0, *alternatives[:-1]]),
        hit=np.array(hit),
        characters=np.array([d.characters for d in deliveries]),
        tokens=np.array([d.tokens for d in deliveries]),
        underfilled=sum(not d.filled for d in deliveries),
    )


@dataclass(frozen=True, slots=True)
class _Inputs:
    """All that a column of the table is made of."""

    cases: Sequence[_Case]
    totals: Mapping[Cut, CutTotals]
    evidence_texts: Mapping[str, Sequence[str]]
    cosines: Mapping[str, NDArray[np.floating]]

    def column(self, measure: Measure) -> Values:
        """``(questions,)`` values of one measure."""
        if measure.name in _COUNTED:
            return self.totals[measure.cut].values(measure.name)
        return np.array([self._value(case, measure) for case in self.cases], dtype=np.float64)

    def _value(self, case: _Case, measure: Measure) -> float:
        k, passages = measure.cut.amount, case.context.passages
        match measure.name:
            case "mrr":
                return 1 / case.first_hit if case.first_hit and case.first_hit <= k else 0.0
            case "context_precision":
                return context_precision(case.question, passages, k)
            case "document_recall":
                return document_recall(case.question, passages, k)
            case "document_mrr":
                return document_mrr(case.question, passages, k)
            case "literal_hit":
                return literal_hit(passages, _needed(self.evidence_texts, case, measure, "evidence_texts"), k)
            case _:
                return self._semantic_hit(case, measure)

    def _semantic_hit(self, case: _Case, measure: Measure) -> float:
        if not case.context.passages:
            return 0.0
        cosines = np.asarray(_needed(self.cosines, case, measure, "cosines"))
        shape = (len(case.context.passages), len(case.question.evidence))
        if cosines.shape != shape:
            raise MetricError(
                f"question {case.question.id!r}: cosines of shape {shape} are wanted, found {cosines.shape}."
            )
        return semantic_hit(cosines, measure.cut.amount, measure.threshold or 0.0)


def _needed(given: Mapping[str, _T], case: _Case, measure: Measure, name: str) -> _T:
    if case.question.id not in given:
        raise MetricError(f"{measure} needs {name} for question {case.question.id!r}; give them to score().")
    return given[case.question.id]


def _check(questions: Sequence[Question], rankings: Mapping[str, object], measures: Sequence[Measure]) -> None:
    ids = {q.id for q in questions}
    if not questions or not measures:
        raise MetricError("nothing to score: at least one question and one measure are needed.")
    if len(ids) < len(questions) or len(set(measures)) < len(measures):
        raise MetricError("a question id or a measure stands twice; each may stand once.")
    if unknown := sorted(set(rankings) - ids):
        raise MetricError(f"there are results for {len(unknown)} unknown questions, the first is {unknown[0]!r}.")


def _checked(values: Values, questions: Sequence[Question], measures: Sequence[Measure]) -> Values:
    wrong = ~((values >= -_TOLERANCE) & (values <= 1 + _TOLERANCE))  # also true for nan
    if wrong.any():
        row, column = (int(i) for i in np.argwhere(wrong)[0])
        raise MetricError(
            f"{measures[column]} of question {questions[row].id!r} is {values[row, column]}, outside [0, 1]: "
            "a passage's spans, characters or tokens do not fit together."
        )
    return np.clip(values, 0.0, 1.0)
