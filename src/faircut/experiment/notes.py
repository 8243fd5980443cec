"""Measures that can hardly tell chunkers apart: what may be searched in, a sentence for each such measure out.

A context that holds a quarter of all that may be searched holds much of the evidence however it was cut. What else
limits a result is said by the report.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median

from faircut.evaluation.measures import KINDS, Measure
from faircut.records import Chunk, Question
from faircut.text.percent import percent

__all__ = ["about_measures", "searched_chunks", "searched_tokens"]

_MUCH = 0.25
_BUDGETS = (2000, 1000, 500, 250, 100, 50)
_SMALL_CHUNK = 100  # tokens; before anything is cut, chunks are taken to have as many


def searched_tokens(questions: Sequence[Question], tokens: dict[str, int]) -> float:
    """Budget tokens that may be searched, median over questions; ``tokens`` are those of every document."""
    return _searched(questions, tokens)


def searched_chunks(questions: Sequence[Question], chunks: Iterable[Chunk]) -> float:
    """Chunks that may be searched, median over questions."""
    return _searched(questions, Counter(chunk.document_id for chunk in chunks))


def _searched(questions: Sequence[Question], sizes: dict[str, int]) -> float:
    total = sum(sizes.values())
    return float(median(sizes.get(q.within, 0) if q.within else total for q in questions))


def about_measures(measures: Iterable[Measure], tokens: float, chunks: float | None = None) -> list[str]:
    """A sentence for each measure that looks at a quarter or more of what may be searched.

    Args:
        measures: those that decide or were asked for.
        tokens: what may be searched, see ``searched_tokens``.
        chunks: the same in chunks; None before anything is cut: then chunks of 100 tokens are assumed.
    """
    notes = []
    for measure in dict.fromkeys(measures):
        amount, in_tokens = measure.cut.amount, measure.cut.unit == "tokens"
        all_ = tokens if in_tokens else max(tokens / _SMALL_CHUNK, 1.0) if chunks is None else chunks
        if all_ and amount >= _MUCH * all_ and (in_tokens or amount > 1):
            notes.append(_about(measure, amount / all_, tokens, is_assumed=chunks is None))
    return notes


def _about(measure: Measure, share: float, tokens: float, *, is_assumed: bool) -> str:
    amount, of = measure.cut.amount, percent(min(share, 1.0)) if share <= 1 else "more than all"
    budget = _budget_below(tokens)  # less than the amount, which is a quarter or more
    if measure.cut.unit == "tokens":
        tried = (
            f"try --measure {measure.name}@{budget}t" if budget else "it takes more documents to tell chunkers apart"
        )
        return f"{measure}: {amount:,} tokens are {of} of what may be searched; differences can hardly show; {tried}."
    assumed = f" if chunks have {_SMALL_CHUNK} tokens" if is_assumed else ""
    said = f"{measure}: {amount:,} chunks are {of} of what may be searched{assumed}; differences can hardly show"
    if not KINDS[measure.name].takes_tokens:
        return f"{said}; take a smaller k."
    meant = amount if amount >= _BUDGETS[-1] else _budget_below(tokens)
    return f"{said}; did you mean {measure.name}@{meant}t?" if meant else f"{said}; take a smaller k."


def _budget_below(tokens: float) -> int | None:
    """The largest usual budget that is less than a quarter of so many tokens; None where there is none."""
    return next((b for b in _BUDGETS if b < _MUCH * tokens), None)
