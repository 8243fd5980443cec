"""Why questions were missed, for every row of a run: its stored chunks and hits in, one table of causes a row out.

The causes are found by ``evaluation/diagnosis.py``; what another boundary would have done by ``counterfactual.py``.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from time import process_time
from typing import Any

import polars as pl

from faircut.evaluation.context import Passage
from faircut.evaluation.diagnosis import Cutting, Deliver, diagnose, seen_ranges
from faircut.evaluation.intervals import Range
from faircut.evaluation.misses import CAUSES, Diagnosis
from faircut.experiment.counterfactual import Ceiling, Counterfactuals, Move, ceiling_of
from faircut.experiment.searching import Retrieval
from faircut.experiment.stages import RowRun
from faircut.experiment.tables import rankings_from
from faircut.experiment.units import Units, WholeChunk
from faircut.index.searches import Dense
from faircut.records import Chunk

__all__ = ["keep_diagnoses"]

_SCHEMA = {
    "question": pl.String,
    "missed": pl.Boolean,
    "cause": pl.String,
    "detail": pl.String,
    "counterfactual": pl.String,
}


def keep_diagnoses(rows: Iterable[RowRun]) -> None:
    """Write ``diagnosis/<key of the scores>.parquet`` for every row, once.

    A line a question, in their order: its id, whether it was ``missed`` at the deciding cut, the ``cause``, the facts
    as JSON (``Miss``), and for evidence that is cut what moving a boundary would have done as JSON. What is known of
    all questions together lies beside it: ``causes`` counts them. There is no such table where questions only name
    documents: a cause is found from the place of the evidence.
    """
    for row in rows:
        if not row.inputs.document_level and not row.store.has("diagnosis", row.keys.scores):
            _keep(row)


def _keep(row: RowRun) -> None:
    started = process_time()
    keys, inputs, cut = row.keys, row.inputs, row.measures[0].cut
    chunks, sizes = row.cut(keys.chunks)
    rankings = rankings_from(row.store.read("hits", keys.hits)[0], len(inputs.questions))
    passages = inputs.passages(chunks, sizes)
    cutting = Cutting(chunks, passages, lambda d: inputs.documents[d].text, _seen_by(row, chunks))
    deliver = _deliver(row, chunks, passages)
    found = [
        diagnose(question, ranking.positions.tolist(), cutting, cut, inputs.token_index, deliver)
        for question, ranking in zip(inputs.questions, rankings, strict=True)
    ]
    again = Counterfactuals(
        inputs, chunks, passages, rankings, cut, row.embedder, Ceiling(ceiling_of(row.chunker), row.embedder)
    )
    asked = _asked(again, found, _why_not_moved(row.retrieval))
    facts = {"cut": str(cut)} | _facts(found, asked) | {"seconds": process_time() - started}
    row.store.write("diagnosis", keys.scores, _table(found, asked), facts)


def _seen_by(row: RowRun, chunks: Sequence[Chunk]) -> Callable[[int], Sequence[Range]]:
    """What the search knows of each chunk: where it goes by the chunk's vector alone, what the embedder read of it."""
    if isinstance(row.retrieval.search, Dense) and not row.retrieval.best_sentence:
        return cache(lambda at: seen_ranges(chunks[at], row.embedder))
    return lambda at: [(span.start, span.end) for span in chunks[at].spans]


def _deliver(row: RowRun, chunks: Sequence[Chunk], passages: Sequence[Passage]) -> Deliver:
    inputs = row.inputs
    units = Units(chunks, passages, inputs.documents, inputs.budget, inputs.token_index)
    return lambda positions: list(row.retrieval.delivery.walk(units, positions))


def _why_not_moved(retrieval: Retrieval) -> str:
    """Why the ranking cannot be made again for a few changed chunks, or ""."""
    if not isinstance(retrieval.search, Dense):
        return f"with search={retrieval.search}, the scores of all chunks depend on every chunk"
    if retrieval.best_sentence:
        return "with best_sentence, a boundary changes the sentences that are searched too"
    if not isinstance(retrieval.delivery, WholeChunk):
        return f"with deliver={retrieval.delivery}, what is delivered is not what the boundary cuts"
    return ""


def _asked(again: Counterfactuals, found: Sequence[Diagnosis], not_moved: str) -> dict[int, dict[str, Any]]:
    """For each question whose evidence is cut (by number) what another boundary would have done, or why not asked."""
    misses = {at: d.miss for at, d in enumerate(found) if d.miss and d.cause == "cut"}
    if not_moved:
        return {at: {"hit": None, "moves": [], "skipped": not_moved} for at in misses}
    return {at: _counterfactual(moves) for at, moves in again.ask(misses).items()}


def _table(found: Sequence[Diagnosis], asked: Mapping[int, Mapping[str, Any]]) -> pl.DataFrame:
    lines = [
        {
            "question": d.question_id,
            "missed": d.missed,
            "cause": d.cause,
            "detail": json.dumps(asdict(d.miss)) if d.miss else None,
            "counterfactual": json.dumps(asked[at]) if at in asked else None,
        }
        for at, d in enumerate(found)
    ]
    return pl.DataFrame(lines, schema=_SCHEMA)


def _counterfactual(moves: Sequence[Move]) -> dict[str, Any]:
    """``hit``: whether one of the moves would have made it a hit; null where none was possible."""
    tried = [move.hit for move in moves if move.possible]
    return {"hit": any(tried) if tried else None, "moves": [move.record() for move in moves]}


def _facts(found: Sequence[Diagnosis], asked: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
    counts = Counter(d.cause for d in found if d.cause)
    outcomes = Counter("skipped" if "skipped" in answer else answer["hit"] for answer in asked.values())
    return {
        "questions": len(found),
        "missed": counts.total(),
        "causes": {cause: counts[cause] for cause in CAUSES},
        "moved": {
            "hit": outcomes[True],
            "still a miss": outcomes[False],
            "not possible": outcomes[None],
            "skipped": outcomes["skipped"],
        },
    }
