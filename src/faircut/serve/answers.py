"""One question asked of one document's chunks: the ranked chunks, what a budget of tokens delivers of them, as values.

The search and the delivery are those of a comparison (``experiment/searching.py``, ``evaluation/context.py``).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from faircut.embedding.contract import Embedder
from faircut.evaluation.context import Context, Delivery
from faircut.evaluation.measures import Cut
from faircut.experiment.inputs import Inputs
from faircut.experiment.searching import Retrieval, Searching
from faircut.experiment.units import WholeChunk
from faircut.index.exact import Exact
from faircut.index.searches import Search
from faircut.records import Chunk, Document, Question
from faircut.report.payload import plain

__all__ = ["answer"]

_RANKED = 200  # chunks that are looked at for filling a budget
_BEYOND = 3  # chunks that are shown below the budget
_SHOWN = 40


def answer(
    document: Document, chunks: Sequence[Chunk], text: str, *, search: Search, budget: int, embedder: Embedder
) -> dict[str, Any]:
    """The chunks that answer a question, best first.

    Each hit has the ``number`` of its chunk, its ``score``, and whether it is delivered ``whole``, in ``part`` or
    ``not``; ``tokens`` are delivered in all. Chunks without a common word are no hits of a search by words.
    """
    question = Question("asked", text, ())
    inputs = Inputs({document.id: document}, (question,), embedder.tokenizer, "", "")
    retrieval = Retrieval(search, WholeChunk())
    searching = Searching(retrieval, embedder, Exact(), inputs.documents, inputs.questions)
    with searching.over(chunks, Path("in-memory")) as searcher:
        positions, scores = searcher.search(np.array([0]), min(_RANKED, len(chunks)))
    found = [(int(p), float(s)) for p, s in zip(positions[0], scores[0], strict=True) if p >= 0]
    passages = inputs.passages([chunks[p] for p, _ in found])
    delivery = Context(passages).at(Cut(budget, "tokens"), inputs.token_index)
    shown = found[: min(_SHOWN, delivery.whole + 1 + _BEYOND)]
    return {
        "hits": [_hit(document, chunks[p], p, s, rank, passages[rank].tokens, delivery)
                 for rank, (p, s) in enumerate(shown)],
        "ranked": len(found),
        "delivered": delivery.whole + bool(delivery.part),
        "tokens": delivery.tokens,
        "budget": budget,
        "overlong": _overlong(chunks, embedder) if retrieval.uses_vectors else 0,
    }  # fmt: skip


def _hit(
    document: Document, chunk: Chunk, number: int, score: float, rank: int, tokens: int, delivery: Delivery
) -> dict[str, Any]:
    is_part = rank == delivery.whole and bool(delivery.part)
    return {
        "number": number,
        "score": round(score, 4),
        "spans": [[s.start, s.end] for s in chunk.spans],
        "text": None if chunk.is_verbatim(document) else plain(chunk.text),
        "context": plain(chunk.context),
        "tokens": tokens,
        "delivered": "whole" if rank < delivery.whole else "part" if is_part else "not",
        "part": [list(place) for place in delivery.part] if is_part else [],
    }


def _overlong(chunks: Sequence[Chunk], embedder: Embedder) -> int:
    """How many chunks are longer than what the embedder sees."""
    room = embedder.max_tokens - embedder.overhead("passage")
    return sum(tokens > room for tokens in embedder.tokenizer.count_many([c.embedded_text for c in chunks]))
