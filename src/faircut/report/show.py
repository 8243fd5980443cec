"""One question of a run as it is shown: a run folder and a question's name in, evidence and ranked hits as pieces out.

What each hit holds of the evidence is counted as the scores count it. Laying it out is left to ``show_terminal.py``.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Literal

import polars as pl

from faircut.errors import PlanError, QuestionError, nearest
from faircut.evaluation.context import Passage
from faircut.evaluation.coverage import Gold, Touch
from faircut.evaluation.intervals import Range, length, union
from faircut.evaluation.misses import CAUSES
from faircut.questions.document_level import WholeDocument
from faircut.records import Document, Question
from faircut.report.run_data import DataSet, RowData

__all__ = ["Excerpt", "Piece", "QuestionView", "RowView", "ShownHit", "find_question", "view_question"]

Delivered = Literal["whole", "part", "no", "unknown"]

AROUND = 120
"""Characters shown on each side of what is marked."""
SHOWN = 400
"""Characters shown of a text in which nothing is marked, and of a mark that is longer."""
_WORD = 20
"""Characters of a broken word that are left out."""
FURTHER = 3
"""Hits below the first ones that are shown because they hold evidence."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text. ``evidence`` numbers the piece of evidence that it is of, or is 0; a ``gap`` is left out."""

    text: str
    evidence: int = 0
    gap: bool = False


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A place in a document, in code points, with its text (and some around it) in which evidence is marked."""

    document: str
    start: int
    end: int
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class ShownHit:
    """A retrieved chunk: what it costs, whether the reader got it, and what of the evidence it holds.

    ``delivered`` is ``unknown`` where the run delivers something else than the chunks that it retrieves.
    ``shares`` has a pair for each piece of evidence that it touches: the piece's number from 1, and the share held.
    ``alone`` is the share of all evidence (of the best alternative) that this hit holds, ``so_far`` what it holds with
    those above it. Where questions only name documents, no share is known: ``right`` says whether the chunk is of a
    document that the question names; else it is None.
    """

    rank: int
    score: float
    tokens: int
    delivered: Delivered
    shares: tuple[tuple[int, float], ...]
    alone: float
    so_far: float
    context: str
    rewritten: bool
    excerpt: Excerpt
    right: bool | None = None


@dataclass(frozen=True, slots=True)
class RowView:
    """What one row retrieved. ``cause`` and ``explanation`` are empty for a hit, or where the run has no diagnoses."""

    name: str
    measure: str
    score: float
    tokens: int
    hits: tuple[ShownHit, ...]
    retrieved: int
    cause: str
    explanation: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QuestionView:
    """A question with its evidence and what each row retrieved; ``number`` counts from 1.

    ``note`` says what is not shown, and why, where questions only name documents; the excerpt of such evidence has no
    pieces.
    """

    number: int
    questions: int
    id: str
    text: str
    match: str
    within: str | None
    evidence: tuple[Excerpt, ...]
    rows: tuple[RowView, ...]
    note: str = ""


def find_question(questions: Sequence[Question], name: str) -> int:
    """The position of a question: by its id, else by the beginning of one id only, else by its number from 1.

    Raises:
        QuestionError: there is none, or several ids begin so.
    """
    ids = [q.id for q in questions]
    if name in ids:
        return ids.index(name)
    begins = [i for i, found in enumerate(ids) if name and found.startswith(name)]
    if len(begins) == 1:
        return begins[0]
    number = name.removeprefix("#")
    if number.isascii() and number.isdigit() and (not begins or name != number) and 1 <= int(number[:9]) <= len(ids):
        return int(number[:9]) - 1
    if begins:
        some = ", ".join(ids[i] for i in begins[:5])
        raise QuestionError(f"{len(begins)} questions begin with {name!r} ({some}{', ...' * (len(begins) > 5)}).")
    close = get_close_matches(name, ids, n=1, cutoff=0.5)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise QuestionError(
        f"the run has no question {name[:60]!r}.{hint} Name one by its id, or by its number from 1 to {len(ids):,}; "
        "without a question, `faircut show` lists them."
    )


def view_question(
    data: DataSet, number: int, *, rows: Sequence[str] = (), top: int = 5, full: bool = False
) -> QuestionView:
    """All that is shown of the question at position ``number``.

    Args:
        data: the run's data set.
        number: the question's position, from 0.
        rows: rows or chunkers to show; all of them where none is named.
        top: hits of each row; those further down that hold evidence are added, up to three.
        full: show texts whole, not only around what is marked.

    Raises:
        PlanError: a row is not in the run.
    """
    question = data.questions[number]
    marks = _marks(question)
    around = None if full else AROUND
    chosen = [row for row in data.rows if not rows or {row.name, row.entry["chunker"]} & set(rows)]
    for name in rows:
        if not any(name in (row.name, row.entry["chunker"]) for row in chosen):
            raise PlanError(f"the run has no row {name!r}{nearest(name, [row.name for row in data.rows])}")
    return QuestionView(
        number=number + 1,
        questions=len(data.questions),
        id=question.id,
        text=question.text,
        match=question.match,
        within=question.within,
        evidence=tuple(_evidence(question, data.documents, marks, around)),
        rows=tuple(_row(data, row, number, marks, top, around) for row in chosen),
        note=data.named_only,
    )


# ---------------------------------------------------------------- excerpts

Marks = Mapping[str, Sequence[tuple[int, int, int]]]
"""For each document ``(start, end, number)`` of the pieces of evidence in it, in order of their start."""


def _marks(question: Question) -> Marks:
    marks: dict[str, list[tuple[int, int, int]]] = {}
    for number, e in enumerate(question.evidence, 1):
        if isinstance(e, WholeDocument):
            continue
        marks.setdefault(e.document_id, []).append((e.span.start, e.span.end, number))
    return {document: sorted(found) for document, found in marks.items()}


def _evidence(
    question: Question, documents: Mapping[str, Document], marks: Marks, around: int | None
) -> Iterable[Excerpt]:
    for number, e in enumerate(question.evidence, 1):
        if isinstance(e, WholeDocument):
            yield Excerpt(e.document_id, e.span.start, e.span.end, ())
            continue
        text = documents[e.document_id].text
        own = [m for m in marks[e.document_id] if m[2] == number]
        windows = [(max(e.span.start - AROUND, 0), min(e.span.end + AROUND, len(text)))] if around is None else None
        pieces = _pieces(text, (0, len(text)), own, windows or _windows(0, len(text), own, AROUND))
        yield Excerpt(e.document_id, e.span.start, e.span.end, _whole_words(pieces))


def _excerpt(document: str, text: str, bounds: Sequence[Range], marks: Marks, around: int | None) -> Excerpt:
    """The ranges of a text with the evidence in them marked, and with what is far from it left out."""
    pieces: list[Piece] = []
    for place, (start, end) in enumerate(bounds):
        if place:
            pieces.append(Piece("", gap=True))
        inside = [(max(a, start), min(b, end), n) for a, b, n in marks.get(document, ()) if a < end and b > start]
        pieces += _pieces(text, (start, end), inside, _windows(start, end, inside, around))
    return Excerpt(document, bounds[0][0], bounds[-1][1], _whole_words(pieces))


def _pieces(
    text: str, bounds: Range, marks: Sequence[tuple[int, int, int]], windows: Sequence[Range]
) -> Iterable[Piece]:
    """The windows of a text: every run has one mark or none; of overlapping marks the first one is shown."""
    at, end = bounds
    for low, high in windows:
        if low > at:
            yield Piece("", gap=True)
        at = low
        for a, b, number in marks:
            first, last = max(a, at), min(b, high)
            if first < last:
                if first > at:
                    yield Piece(text[at:first])
                yield Piece(text[first:last], number)
                at = last
        if at < high:
            yield Piece(text[at:high])
        at = high
    if at < end:
        yield Piece("", gap=True)


def _whole_words(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """Beside what is left out, no broken word (of usual length) where nothing is marked."""
    listed = list(pieces)
    for at, piece in enumerate(listed):
        if piece.gap or piece.evidence:
            continue
        text = piece.text
        if at and listed[at - 1].gap:
            text = re.sub(rf"\A\S{{0,{_WORD}}}\s+", "", text)
        if at + 1 < len(listed) and listed[at + 1].gap:
            text = re.sub(rf"\s+\S{{0,{_WORD}}}\Z", "", text)
        listed[at] = replace(piece, text=text)
    return tuple(listed)


def _windows(start: int, end: int, marks: Sequence[tuple[int, int, int]], around: int | None) -> list[Range]:
    if around is None:
        return [(start, end)]
    if not marks:
        return [(start, min(end, start + SHOWN))]
    ends = [(a, b) if b - a <= SHOWN else (a, a + SHOWN // 2) for a, b, _ in marks]
    ends += [(b - SHOWN // 2, b) for a, b, _ in marks if b - a > SHOWN]
    return union((max(a - around, start), min(b + around, end)) for a, b in ends)


# ---------------------------------------------------------------- one row


def _row(data: DataSet, row: RowData, number: int, marks: Marks, top: int, around: int | None) -> RowView:
    question = data.questions[number]
    hits = row.hits.filter(pl.col("question") == number).sort("rank").to_dicts()
    exact = {_stored(d): d for d in data.documents}
    chunks = [
        c | {"document": exact[c["document"]]} for c in row.chunks[[h["position"] for h in hits]].iter_rows(named=True)
    ]
    passages = [
        Passage(c["document"], tuple((a, b) for a, b in c["spans"]), len(c["text"]), c["tokens"]) for c in chunks
    ]
    gold = Gold.of(question)
    touches = [] if data.named_only else gold.touches(passages)
    right = {e.document_id for e in question.evidence} if data.named_only else None
    delivered = row.delivered.row(number, named=True)
    shown = sorted({*range(min(top, len(passages))), *_further(touches, top)})
    measure = next(str(run.leaderboard["measure"]) for run in data.runs if row in run.rows)
    cause, explanation = _diagnosis(row, number)
    return RowView(
        name=row.name,
        measure=measure,
        score=float(row.scores[measure][number]),
        tokens=int(delivered["tokens"]),
        hits=tuple(_hit(data, hits[at], chunks[at], gold, touches, delivered, marks, around, right) for at in shown),
        retrieved=len(passages),
        cause=cause,
        explanation=tuple(explanation),
    )


def _stored(text: str) -> str:
    """A document's id as Parquet holds it."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _further(touches: Sequence[Touch], top: int) -> list[int]:
    """Positions below the first ``top`` that hold evidence, the first few."""
    return sorted({t.rank for t in touches if t.rank >= top})[:FURTHER]


def _hit(
    data: DataSet,
    hit: Mapping[str, Any],
    chunk: Mapping[str, Any],
    gold: Gold,
    touches: Sequence[Touch],
    delivered: Mapping[str, Any],
    marks: Marks,
    around: int | None,
    right: set[str] | None,
) -> ShownHit:
    at = hit["rank"] - 1
    as_chunks = data.runs[0].leaderboard.get("deliver", "chunk") == "chunk"
    own = [t for t in touches if t.rank == at]
    rewritten = not chunk["verbatim"]
    bounds = [(a, b) for a, b in chunk["spans"]]
    if rewritten:
        whole = chunk["text"]
        pieces = _pieces(whole, (0, len(whole)), (), _windows(0, len(whole), (), around))
        excerpt = Excerpt(chunk["document"], bounds[0][0], bounds[-1][1], tuple(pieces))
    else:
        excerpt = _excerpt(chunk["document"], data.documents[chunk["document"]].text, bounds, marks, around)
    return ShownHit(
        rank=hit["rank"],
        score=hit["score"],
        tokens=chunk["tokens"],
        delivered=_delivered(at, delivered) if as_chunks else "unknown",
        shares=tuple(_shares(gold, own)),
        alone=_covered(gold, own),
        so_far=_covered(gold, [t for t in touches if t.rank <= at]),
        context=chunk["context"],
        rewritten=rewritten,
        excerpt=excerpt,
        right=None if right is None else chunk["document"] in right,
    )


def _delivered(at: int, delivered: Mapping[str, Any]) -> Delivered:
    if at < delivered["whole"]:
        return "whole"
    return "part" if at == delivered["whole"] and delivered["part"] else "no"


def _shares(gold: Gold, touches: Sequence[Touch]) -> Iterable[tuple[int, float]]:
    for piece in sorted({t.piece for t in touches}):
        held = length(union((t.start, t.end) for t in touches if t.piece == piece))
        yield piece + 1, held / len(gold.pieces[piece].span)


def _covered(gold: Gold, touches: Sequence[Touch]) -> float:
    return max(c / size for c, size in zip(gold.covered(touches), gold.sizes, strict=True))


# ---------------------------------------------------------------- why it was missed


def _diagnosis(row: RowData, number: int) -> tuple[str, list[str]]:
    """The cause of a miss with what is known of it; the table has a line a question, in their order."""
    found = row.diagnosis.row(number, named=True) if row.diagnosis is not None else {}
    if not found.get("cause"):
        return "", []
    cause = str(found["cause"])
    detail, moved = (json.loads(found[key] or "{}") for key in ("detail", "counterfactual"))
    said = {str(name): words for name, words in CAUSES.items()}.get(cause, "")
    return cause, [said] * bool(said) + _facts(detail) + _moved(moved)


def _facts(detail: Mapping[str, Any]) -> list[str]:
    rank, tokens = detail.get("rank"), detail.get("tokens_needed")
    if rank and tokens:
        return [f"with {rank} hits, {tokens:,} tokens, it would have been a hit"]
    return [f"not among the {detail['examined']:,} chunks that were retrieved"] if detail.get("examined") else []


def _moved(moved: Mapping[str, Any]) -> list[str]:
    """What moving a boundary by one sentence would have done; it was recomputed, not guessed."""
    words = {True: "would have made it a hit", False: "would not have made it a hit"}
    if "hit" not in moved:
        return []
    if moved.get("skipped"):
        return [f"whether another boundary would have helped was not asked: {moved['skipped']}"]
    return [f"moving the boundary by one sentence {words.get(moved['hit'], 'is not possible within its limits')}"]
