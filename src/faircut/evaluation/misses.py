"""What is known of a miss: its cause and the facts that it was computed from, as plain records. No rule is here.

How a ranking becomes a diagnosis is in ``diagnosis.py``; a run keeps a diagnosis as JSON.
"""

from dataclasses import dataclass
from typing import Literal

from faircut.evaluation.intervals import Range

__all__ = ["CAUSES", "SHOWN", "Boundary", "Cause", "Diagnosis", "Miss", "Place", "Ranked"]

Cause = Literal[
    "lost", "truncated", "too long", "cut", "crowded out", "outranked", "wrong passage", "wrong document"
]  # fmt: skip

CAUSES: dict[Cause, str] = {
    "lost": "more than 5 % of the evidence is in no chunk, so no ranking could have made it a hit",
    "truncated": "less than half of the evidence is within what the embedder reads of any chunk",
    "too long": "even in first place, the chunk would not have brought the evidence within the budget",
    "cut": "no single chunk holds the evidence: a boundary lies inside it",
    "crowded out": "whole in one chunk, and within the budget if nothing had been delivered twice",
    "outranked": "whole in one chunk that was retrieved, but other chunks came first",
    "wrong passage": "whole in one chunk that was not retrieved, while another of its document was delivered",
    "wrong document": "nothing of the evidence's document was delivered",
}
"""The causes in their order: a miss has the first that holds. The last two are what is left, so every miss has one."""

SHOWN = 10
"""Passages that came first of which a diagnosis names at most so many; the counts are of all."""


@dataclass(frozen=True, slots=True)
class Place:
    """A chunk that holds at least a part of the evidence.

    Attributes:
        position, chunk: its position among the row's chunks, and its id.
        start, end: from its first to its last character in the document.
        rank: where it was retrieved, from 1, or None.
        share: how much of the evidence it holds, in [0, 1].
        seen: how much of the evidence is within what the embedder read of it.
    """

    position: int
    chunk: str
    start: int
    end: int
    rank: int | None
    share: float
    seen: float


@dataclass(frozen=True, slots=True)
class Boundary:
    """A boundary inside the evidence: the chunk at position ``before`` ends at ``end``, the one ``after`` begins at
    ``start`` (before ``end`` where they overlap).
    """

    before: int
    after: int
    end: int
    start: int


@dataclass(frozen=True, slots=True)
class Ranked:
    """A passage that came before the evidence, by the chunk that it was delivered for, with its rank and position.

    ``tokens`` is what its delivery costs, ``repeated`` how much of it had been delivered already, in [0, 1].
    """

    rank: int
    position: int
    chunk: str
    document: str
    tokens: int
    repeated: float


@dataclass(frozen=True, slots=True)
class Miss:
    """The facts of a miss, of the piece of evidence that came nearest to a hit.

    Attributes:
        piece: its position among the question's evidence; ``document``, ``start``, ``end`` are its place.
        covered: how much of it was delivered, in [0, 1].
        held_by: the chunks that hold some of it, in the order of the document; where single ones bring all, only those.
        boundaries: the boundaries inside it.
        lost: its ranges that are in no chunk.
        rank: the number of found chunks, in rank order, with which it would have been a hit; None beyond ``examined``.
        tokens_needed: the budget with which it would have been a hit; None likewise.
        tokens_delivered: budget tokens that were delivered.
        examined: how many chunks were retrieved, those beyond the cut included.
        above: the first passages that came before it; ``above_in_document`` and ``above_elsewhere`` count all of them.
        tokens_repeated: budget tokens of what was delivered twice among them.
    """

    piece: int
    document: str
    start: int
    end: int
    covered: float
    held_by: tuple[Place, ...]
    boundaries: tuple[Boundary, ...] = ()
    lost: tuple[Range, ...] = ()
    rank: int | None = None
    tokens_needed: int | None = None
    tokens_delivered: int = 0
    examined: int = 0
    above: tuple[Ranked, ...] = ()
    above_in_document: int = 0
    above_elsewhere: int = 0
    tokens_repeated: int = 0


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What became of one question; ``cause`` and ``miss`` are None where it was a hit."""

    question_id: str
    cause: Cause | None = None
    miss: Miss | None = None

    @property
    def missed(self) -> bool:
        """Whether ``hit`` is 0 at the cut."""
        return self.cause is not None
