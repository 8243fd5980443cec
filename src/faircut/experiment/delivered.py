"""What every question was given up to the deciding cut: hits in, delivered and covered places out, one table a row.

The same delivery that the scores are made of, as places instead of numbers, so that a page can show it. Scoring is left
to ``evaluation``.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

import polars as pl

from faircut.evaluation.context import Context, Passage
from faircut.evaluation.coverage import Gold
from faircut.evaluation.intervals import union
from faircut.evaluation.measures import Cut
from faircut.experiment.inputs import Inputs
from faircut.experiment.stages import RowRun
from faircut.experiment.tables import rankings_from
from faircut.experiment.units import Units
from faircut.questions.document_level import is_document_level

__all__ = ["keep_delivered"]

_RANGES = pl.List(pl.List(pl.Int64))
_SCHEMA: dict[str, Any] = {
    "question": pl.Int64,
    "whole": pl.Int64,
    "part": _RANGES,
    "covered": _RANGES,
    "tokens": pl.Int64,
}


def keep_delivered(rows: Iterable[RowRun]) -> None:
    """Write ``delivered/<key of the scores>.parquet`` for every row, once.

    A line a question: what the first ``whole`` hits bring was delivered whole; of the next one the places ``part``; of
    piece ``i`` of its evidence the places in ``covered`` (lists of i, start, end), none where only a
    document is named; ``tokens`` were spent.
    """
    for row in rows:
        keys = row.keys
        if row.store.has("delivered", keys.scores):
            continue
        inputs = row.inputs
        chunks, sizes = row.cut(keys.chunks)
        passages = inputs.passages(chunks, sizes)
        rankings = rankings_from(row.store.read("hits", keys.hits)[0], len(inputs.questions))
        cut, walk = row.measures[0].cut, row.retrieval.delivery.walk
        units = Units(chunks, passages, inputs.documents, inputs.budget, inputs.token_index)
        brought = (list(walk(units, ranking.positions.tolist())) for ranking in rankings)
        lines = [_line(number, by_hit, cut, inputs) for number, by_hit in enumerate(brought)]
        row.store.write("delivered", keys.scores, pl.DataFrame(lines, schema=_SCHEMA), {"cut": str(cut)})


def _line(number: int, by_hit: Sequence[Sequence[Passage]], cut: Cut, inputs: Inputs) -> dict[str, object]:
    context = Context([passage for brought in by_hit for passage in brought])
    delivery = context.at(cut, inputs.token_index)
    question = inputs.questions[number]
    gold = Gold.of(question)
    touches = [] if is_document_level(question) else gold.touches(context.passages)
    held = gold.within(touches, context.passages, delivery)
    covered = [
        [piece, start, end]
        for piece in sorted({touch.piece for touch in held})
        for start, end in union((t.start, t.end) for t in held if t.piece == piece)
    ]
    part = [list(place) for place in delivery.part]
    whole = bisect_right(list(accumulate(len(brought) for brought in by_hit)), delivery.whole)
    return {"question": number, "whole": whole, "part": part, "covered": covered, "tokens": delivery.tokens}
