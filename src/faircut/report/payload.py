"""What the pages' scripts read: documents with their cuts, questions with their hits, as small JSON values.

Offsets are code points; the scripts turn them into their own. Numbers are kept short (differences, whole thousandths),
because every byte of a report is loaded. Packing and compression are left to ``html.py``.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from faircut.chunkers.cuts import SimilarityCurve
from faircut.evaluation.misses import CAUSES
from faircut.questions.document_level import WholeDocument
from faircut.records import Chunk, Document, Evidence
from faircut.report.brought import asked_delivery, brought_by
from faircut.report.run_data import DataSet, RowData

__all__ = [
    "Lane",
    "chunk_lane",
    "curve_values",
    "data_set_values",
    "document_values",
    "lane_values",
    "question_values",
    "row_lanes",
]

_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Lane:
    """One chunker's cuts of one document: chunks with their sizes in tokens, and the curve where it has one."""

    chunks: Sequence[Mapping[str, Any]]
    curve: Mapping[str, Any] | None = None


def plain(text: str | None) -> str:
    """Text without lone surrogates, which no page can hold; its length stays."""
    return _SURROGATES.sub("\ufffd", text or "")


def chunk_lane(
    chunks: Sequence[Chunk], tokens: Sequence[int], document: Document, curve: SimilarityCurve | None
) -> Lane:
    """The lane of chunks that were just cut."""
    rows = [
        {
            "spans": [[s.start, s.end] for s in c.spans],
            "tokens": t,
            "context": c.context,
            "text": None if c.is_verbatim(document) else c.text,
        }
        for c, t in zip(chunks, tokens, strict=True)
    ]
    return Lane(rows, curve_values(curve.positions, curve.similarities, curve.threshold) if curve else None)


def curve_values(positions: Iterable[int], similarities: Iterable[float], threshold: float | None) -> dict[str, Any]:
    """A curve: differences of the positions, cosines in thousandths."""
    values = [round(1000 * float(s)) for s in similarities]
    return {"positions": _differences(map(int, positions)), "values": values, "threshold": threshold}


def _differences(values: Iterable[int]) -> list[int]:
    return [b - a for a, b in pairwise([0, *values])]


def row_lanes(row: RowData, documents: Mapping[str, Document]) -> dict[str, Lane]:
    """The lanes of one row, by document."""
    chunks: dict[str, list[dict[str, Any]]] = {d: [] for d in documents}
    for c in row.chunks.select("document", "spans", "tokens", "context", "text", "verbatim").iter_rows(named=True):
        c["text"] = None if c["verbatim"] else c["text"]
        chunks[c["document"]].append(c)
    curves = {}
    if row.curves is not None:
        for c in row.curves.iter_rows(named=True):
            curves[c["document"]] = curve_values(c["positions"], c["similarities"], c["threshold"])
    return {d: Lane(chunks[d], curves.get(d)) for d in documents}


def document_values(document: Document, lanes: Sequence[Lane]) -> dict[str, Any]:
    """One document with its blocks and every lane."""
    return {
        "id": plain(document.id),
        "title": plain(document.title),
        "language": document.language,
        "text": plain(document.text),
        "blocks": [[b.kind, b.span.start, b.span.end, b.level] for b in document.blocks],
        "lanes": [lane_values(lane) for lane in lanes],
    }


def lane_values(lane: Lane) -> dict[str, Any]:
    """Starts as differences, lengths, tokens; what only few chunks have (contexts, further spans, texts) by number."""
    spans = [c["spans"] for c in lane.chunks]
    values: dict[str, Any] = {
        "starts": _differences(s[0][0] for s in spans),
        "lengths": [s[0][1] - s[0][0] for s in spans],
        "tokens": [c["tokens"] for c in lane.chunks],
    }
    contexts: dict[str, list[int]] = {}
    for number, chunk in enumerate(lane.chunks):
        if chunk["context"]:
            contexts.setdefault(plain(chunk["context"]), []).append(number)
    if contexts:
        values["contexts"] = list(contexts.items())
    further = {str(i): s for i, s in enumerate(spans) if len(s) > 1}
    if further:
        values["spans"] = further
    texts = {str(i): plain(c["text"]) for i, c in enumerate(lane.chunks) if c["text"] is not None}
    if texts:
        values["texts"] = texts
    if lane.curve:
        values["curve"] = lane.curve
    return values


def data_set_values(data: DataSet, packs: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """What all pages of a data set need at once: rows, documents, questions with their scores, hits or misses.

    ``packs`` says for documents and questions in which part each one lies.
    """
    place = {d: i for i, d in enumerate(data.documents)}
    return {
        "rows": [_row_values(data, row, label) for row, label in zip(data.rows, data.labels, strict=True)],
        "documents": [
            {"id": plain(d.id), "title": plain(d.title), "characters": len(d.text), "pack": p}
            for d, p in zip(data.documents.values(), packs["documents"], strict=True)
        ],
        "questions": [
            {
                "id": plain(q.id),
                "text": plain(q.text),
                "match": q.match,
                "within": None if q.within is None else place.get(q.within),
                "evidence": [_place(place, e) for e in q.evidence],
                "pack": p,
            }
            for q, p in zip(data.questions, packs["questions"], strict=True)
        ],
        "scores": [[round(float(x), 4) for x in row.scores[_measure(data, row)]] for row in data.rows],
        "hits": [hits_of(data, row) for row in data.rows],
        "causes": [_causes(row, len(data.questions)) for row in data.rows],
        "causeWords": dict(CAUSES),
        "namedOnly": data.named_only,
    }


def _place(place: Mapping[str, int], e: Evidence) -> list[int]:
    """Document, start and end; the same start and end where only the document is named."""
    start, end = (0, 0) if isinstance(e, WholeDocument) else (e.span.start, e.span.end)
    return [place[e.document_id], start, end]


def _row_values(data: DataSet, row: RowData, label: str) -> dict[str, Any]:
    counts = dict(row.chunks.group_by("document").len().iter_rows())
    return {
        "label": label,
        "name": row.name,
        "run": row.run,
        "spec": row.entry["spec"],
        "baseline": row.entry["is_baseline"],
        "control": row.entry["is_control"],
        "measure": _measure(data, row),
        "delivers": asked_delivery(_plan(data, row)),
        "chunks": [counts.get(_stored(d), 0) for d in data.documents],
    }


def _stored(text: str) -> str:
    """An id as tables hold it."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _measure(data: DataSet, row: RowData) -> str:
    return next(str(run.leaderboard["measure"]) for run in data.runs if row in run.rows)


def _plan(data: DataSet, row: RowData) -> str:
    return next(run.plan for run in data.runs if row in run.rows)


def hits_of(data: DataSet, row: RowData) -> list[int]:
    """For each question 1 where one piece of its evidence is covered by 95 % at the deciding cut, else 0.

    Where questions only name documents, 1 where a chunk of a right one is within the cut: then the score is above 0.
    """
    if data.named_only:
        return [int(score > 0) for score in row.scores[_measure(data, row)]]
    found = [0] * len(data.questions)
    for number, covered in zip(row.delivered["question"], row.delivered["covered"].to_list(), strict=True):
        evidence = data.questions[number].evidence
        sums = [0] * len(evidence)
        for piece, start, end in covered:
            sums[piece] += end - start
        found[number] = int(any(20 * s >= 19 * len(e.span) for s, e in zip(sums, evidence, strict=True)))
    return found


def _causes(row: RowData, questions: int) -> list[str] | None:
    """The cause of each miss, empty for a hit; None where the run has no diagnoses."""
    if row.diagnosis is None:
        return None
    causes = [""] * questions
    for number, cause in zip(_numbers(row), row.diagnosis["cause"], strict=True):
        causes[number] = cause or ""
    return causes


def _numbers(row: RowData) -> list[int]:
    """The questions of the diagnoses as numbers; a table may name them by id instead."""
    if row.diagnosis is None:
        return []
    column = row.diagnosis["question"]
    if column.dtype.is_integer():
        return list(column)
    place = {question: i for i, question in enumerate(row.scores["question"])}
    return [place[question] for question in column]


def question_values(data: DataSet) -> Iterator[list[dict[str, Any]]]:
    """For each question what every row retrieved: hits as rank, chunk (document, number), score; what was delivered."""
    rows = [_row_questions(data, row) for row in data.rows]
    for number in range(len(data.questions)):
        yield [row[number] for row in rows]


_SHOWN = 10  # ranks that are shown at least


def _row_questions(data: DataSet, row: RowData) -> list[dict[str, Any]]:
    place = {_stored(d): i for i, d in enumerate(data.documents)}
    owners = np.array([place[d] for d in row.chunks["document"]], dtype=np.int64)
    numbers = _number_within(owners)
    spans = row.chunks["spans"].to_list()
    diagnoses = _diagnoses(row)
    brought = brought_by(row, _plan(data, row), {_stored(d): document for d, document in data.documents.items()})
    hits = row.hits.sort("question", "rank")
    edges = np.searchsorted(hits["question"].to_numpy(), np.arange(len(data.questions) + 1)).tolist()
    positions, scores = hits["position"].to_list(), hits["score"].to_list()
    values = []
    for delivered, (a, b) in zip(row.delivered.sort("question").iter_rows(named=True), pairwise(edges), strict=True):
        evidence = [
            (place[_stored(e.document_id)], e.span.start, e.span.end)
            for e in data.questions[delivered["question"]].evidence
            if not isinstance(e, WholeDocument)
        ]
        shown = [
            [rank, int(owners[p]), int(numbers[p]), round(s, 4)]
            for rank, (p, s) in enumerate(zip(positions[a:b], scores[a:b], strict=True), 1)
            if rank <= max(_SHOWN, delivered["whole"] + 1) or _touches(int(owners[p]), spans[p], evidence)
        ]
        value = {k: delivered[k] for k in ("whole", "part", "covered", "tokens")} | {"hits": shown, "ranked": b - a}
        if brought:
            value["brought"] = brought(positions[a:b], delivered["whole"] + bool(delivered["part"]))
        if delivered["question"] in diagnoses:
            value["diagnosis"] = diagnoses[delivered["question"]]
        values.append(value)
    return values


def _number_within(owners: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The number of each chunk inside its document; the chunks stand in document order."""
    if not len(owners):
        return owners
    starts = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]])
    return np.asarray(np.arange(len(owners)) - np.repeat(starts, np.diff([*starts, len(owners)])))


def _touches(document: int, spans: Sequence[Sequence[int]], evidence: Sequence[tuple[int, int, int]]) -> bool:
    return any(d == document and start < b and a < end for d, a, b in evidence for start, end in spans)


def _opened(name: str, value: Any) -> Any:
    """What tables hold as JSON, as values."""
    return json.loads(value) if name in ("detail", "counterfactual") and isinstance(value, str) else value


def _diagnoses(row: RowData) -> dict[int, dict[str, Any]]:
    if row.diagnosis is None:
        return {}
    return {
        number: {k: _opened(k, v) for k, v in line.items() if k not in ("question", "row") and v is not None}
        for number, line in zip(_numbers(row), row.diagnosis.iter_rows(named=True), strict=True)
    }
