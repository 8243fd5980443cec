"""The tables of a run folder: chunks, hits and scores as records in, Parquet columns out, and back again.

Parquet holds UTF-8 only; what does not fit (lone surrogates) is kept exactly beside it. When tables are written is left
to ``stages.py``.
"""

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from faircut.evaluation.metrics import ScoreTable
from faircut.experiment.inputs import Inputs
from faircut.experiment.retrieve import Ranking
from faircut.records import Chunk, Document, Span

__all__ = ["chunk_table", "chunks_from", "hit_table", "rankings_from", "score_facts", "score_table"]


def _utf8(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _exact(chunk: Chunk, *, verbatim: bool) -> str | None:
    """Text (where it is not the document's own) and context as JSON, when UTF-8 cannot hold them."""
    parts = [None if verbatim else chunk.text, chunk.context]
    return None if all(part is None or _utf8(part) == part for part in parts) else json.dumps(parts)


def chunk_table(chunks: Sequence[Chunk], tokens: Sequence[int], inputs: Inputs) -> pl.DataFrame:
    """The chunks of a row, in document order; ``tokens`` are the budget's, context included."""
    verbatim = [c.is_verbatim(inputs.documents[c.document_id]) for c in chunks]
    return pl.DataFrame(
        {
            "id": [c.id for c in chunks],
            "document": [c.document_id for c in chunks],
            "spans": [[[s.start, s.end] for s in c.spans] for c in chunks],
            "text": [_utf8(c.text) for c in chunks],
            "context": [_utf8(c.context) for c in chunks],
            "tokens": list(tokens),
            "verbatim": verbatim,
            "exact": pl.Series([_exact(c, verbatim=v) for c, v in zip(chunks, verbatim, strict=True)], dtype=pl.String),
        }
    )


def chunks_from(table: pl.DataFrame, documents: dict[str, Document]) -> list[Chunk]:
    """The chunks in a table, exactly as they were written."""
    chunks = []
    for row in table.iter_rows(named=True):
        spans = tuple(Span(start, end) for start, end in row["spans"])
        whole = documents[row["document"]].text
        text, context = json.loads(row["exact"]) if row["exact"] else (row["text"], row["context"])
        if row["verbatim"]:
            text = "".join(whole[s.start : s.end] for s in spans)
        chunks.append(Chunk(row["document"], spans, text, context))
    return chunks


def hit_table(rankings: Sequence[Ranking], chunks: Sequence[Chunk], inputs: Inputs) -> pl.DataFrame:
    """The ranked chunks of every question, as positions into the chunks and as ids."""
    lengths = [len(r.positions) for r in rankings]
    positions = np.concatenate([r.positions for r in rankings])
    return pl.DataFrame(
        {
            "question": np.repeat(np.arange(len(rankings)), lengths),
            "rank": np.concatenate([np.arange(1, n + 1) for n in lengths]),
            "position": positions,
            "score": np.concatenate([r.scores for r in rankings]),
            "question_id": [q.id for q, n in zip(inputs.questions, lengths, strict=True) for _ in range(n)],
            "chunk_id": [chunks[p].id for p in positions],
        }
    )


def rankings_from(table: pl.DataFrame, questions: int) -> list[Ranking]:
    """The rankings in a table of hits, one for each question."""
    owners = table["question"].to_numpy()
    edges = np.searchsorted(owners, np.arange(questions + 1))
    positions = table["position"].to_numpy().astype(np.int64)
    scores = table["score"].to_numpy().astype(np.float32)
    return [Ranking(positions[a:b], scores[a:b]) for a, b in pairwise(edges.tolist())]


def score_table(table: ScoreTable, inputs: Inputs) -> pl.DataFrame:
    """A line for each question: its document, every measure, the tokens delivered at every cut."""
    columns: dict[str, Any] = {"question": list(table.question_ids), "document": inputs.clusters}
    columns |= {str(m): table.of(m) for m in table.measures}
    columns |= {f"tokens@{cut}": totals.tokens for cut, totals in table.totals.items()}
    return pl.DataFrame(columns)


def score_facts(table: ScoreTable) -> dict[str, Any]:
    """What is known of all questions together: means, the corpus measures, tokens delivered, questions unanswered."""
    return {
        "means": {str(m): table.mean(m) for m in table.measures},
        "pooled": {str(m): table.pooled(m) for m in table.measures},
        "tokens": {str(cut): float(totals.tokens.mean()) for cut, totals in table.totals.items()},
        "underfilled": {str(cut): totals.underfilled for cut, totals in table.totals.items()},
        "unanswered": table.unanswered,
    }
