"""Retrieval for all questions at once: enough ranked chunks to fill the largest budget, never more than needed.

A searcher and a way to deliver in, positions and scores in rank order out. What the hits are worth is left to the
evaluation.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from faircut.embedding.contract import Vectors
from faircut.experiment.units import Delivery, Units
from faircut.index.rankings import Searcher

__all__ = ["Ranking", "retrieve"]

Positions = NDArray[np.int64]


@dataclass(frozen=True)
class Ranking:
    """The chunks retrieved for one question in rank order: positions into the row's chunks, and their scores."""

    positions: Positions
    scores: Vectors


def retrieve(
    searcher: Searcher, delivery: Delivery, units: Units, questions: int, *, budget: int, k: int
) -> list[Ranking]:
    """Search until what is delivered to each question is ``k`` passages and ``budget`` tokens, or there is no more.

    Args:
        searcher: knows the questions by their number.
        delivery: what is delivered for a found chunk.
        units: the chunks that the searcher's positions point into.
        questions: how many there are.
        budget: the largest budget in tokens.
        k: the largest number of passages that a measure looks at.
    """
    rankings: dict[int, Ranking] = {}
    waiting = np.arange(questions)
    depth = _first_depth(units, budget, k)
    while len(waiting):
        late = []
        for number, row, values in zip(waiting.tolist(), *searcher.search(waiting, depth), strict=True):
            found = row[row >= 0]
            needed = _needed(delivery, units, found.tolist(), budget, k)
            if needed is not None or len(found) < depth or depth >= len(units.chunks):
                rankings[number] = Ranking(found[:needed], values[: len(found)][:needed])
            else:
                late.append(number)
        waiting = np.array(late, dtype=np.int64)
        depth = min(depth * 2, max(len(units.chunks), 1))
    return [rankings[number] for number in range(questions)]


def _first_depth(units: Units, budget: int, k: int) -> int:
    typical = max(float(np.mean([passage.tokens for passage in units.passages])), 1.0)
    return max(1, min(len(units.chunks), max(k, int(1.3 * budget / typical) + 8)))


def _needed(delivery: Delivery, units: Units, positions: Sequence[int], budget: int, k: int) -> int | None:
    """How many of the ranked chunks fill both limits; None where they do not."""
    passages = tokens = 0
    for used, added in enumerate(delivery.walk(units, positions), 1):
        passages += len(added)
        tokens += sum(passage.tokens for passage in added)
        if passages >= k and tokens >= budget:
            return used
    return None
