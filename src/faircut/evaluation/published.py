"""The rules of published comparisons, kept to reproduce them and for nothing else: a ranking in, one value out.

Each has a known fault, named in its docstring. The measures to decide by are in ``metrics.py``.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from faircut.evaluation.context import Passage
from faircut.records import Question

__all__ = ["context_precision", "document_mrr", "document_recall", "literal_hit", "semantic_hit"]


def _right_documents(question: Question) -> set[str]:
    return {e.document_id for e in question.evidence}


def context_precision(question: Question, passages: Sequence[Passage], k: int) -> float:
    """The share of the first k passages (of those there are) that come from a document with evidence.

    Ragas' id-based context precision with documents as ids. It rewards fragments: the more pieces the right document
    is cut into, the easier it is to fill k places from it; one chunk a document can at best reach 1 / k.
    """
    right = _right_documents(question)
    first = passages[:k]
    return sum(p.document_id in right for p in first) / len(first) if first else 0.0


def document_recall(question: Question, passages: Sequence[Passage], k: int) -> float:
    """The share of the documents with evidence that have a passage among the first k; of alternatives, whether one has.

    With one document a question this is the "recall@k" or "hit rate" of many chunking reports. It rewards fragments:
    any piece of the right document counts, though it holds nothing of the answer.
    """
    right = _right_documents(question)
    found = right & {p.document_id for p in passages[:k]}
    return float(bool(found)) if question.match == "any" else len(found) / len(right)


def document_mrr(question: Question, passages: Sequence[Passage], k: int) -> float:
    """1 / the rank of the first passage from a document with evidence, 0 beyond k.

    The reciprocal rank of document retrieval (TREC question answering, Voorhees 1999). It rewards fragments: any
    piece of the right document counts.
    """
    right = _right_documents(question)
    ranks = (rank for rank, p in enumerate(passages[:k], start=1) if p.document_id in right)
    return 1 / next(ranks, float("inf"))


def literal_hit(passages: Sequence[Passage], evidence_texts: Sequence[str], k: int) -> float:
    """1 when one of the first k passages contains the text of one piece of evidence, runs of white space alike.

    The "answer in chunk" rule of many reports. It rewards large chunks: evidence that a cut divides can never be
    found, and the same words in a wrong place count. A passage that is shorter than the evidence never counts.
    """
    wanted = [w for w in map(_spaced, evidence_texts) if w]
    return float(any(w in text for text in (_spaced(p.text) for p in passages[:k]) for w in wanted))


def _spaced(text: str) -> str:
    return " ".join(text.split())


def semantic_hit(cosines: NDArray[np.floating], k: int, threshold: float) -> float:
    """1 when one of the first k passages has at least this cosine with the text of one piece of evidence.

    The rule by which some comparisons judged rewritten chunks. It accepts look-alikes: models differ in what a cosine
    of 0.7 means, and for some nearly every pair of sentences passes.

    Args:
        cosines: ``(passages, pieces of evidence)``.
        k: how many passages are looked at.
        threshold: the cosine that counts as found.
    """
    return float(bool((cosines[:k] >= threshold).any()))
