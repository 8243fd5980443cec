"""Which characters of a question's evidence a delivery covers: evidence and passages in, counts of characters out.

Characters are counted once however often they are delivered. Turning counts into scores is left to ``metrics.py``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from faircut.errors import MetricError
from faircut.evaluation.context import Delivery, Passage
from faircut.evaluation.intervals import Range, length, union
from faircut.records import Evidence, Question

__all__ = ["Gold", "Touch"]


class Touch(NamedTuple):
    """The part of one piece of evidence that one range of the passage at ``rank`` (from 0) holds."""

    rank: int
    piece: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Gold:
    """The evidence of one question, prepared for counting.

    Attributes:
        pieces: the pieces of evidence, as given.
        alternatives: the sets of pieces that each are a full answer: all of them, or one each where any will do.
        sizes: the characters of each alternative; where its pieces overlap they are counted once.
    """

    pieces: tuple[Evidence, ...]
    alternatives: tuple[frozenset[int], ...]
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, question: Question) -> "Gold":
        """The evidence of a question.

        Raises:
            MetricError: it has none.
        """
        pieces = question.evidence
        if not pieces:
            raise MetricError(f"question {question.id!r} has no evidence, so it cannot be scored; remove or label it.")
        every = range(len(pieces))
        alternatives = (frozenset(every),) if question.match == "all" else tuple(frozenset({i}) for i in every)
        whole = [Touch(0, i, e.span.start, e.span.end) for i, e in enumerate(pieces)]
        sizes = tuple(_characters(pieces, (t for t in whole if t.piece in a)) for a in alternatives)
        return cls(pieces, alternatives, sizes)

    def touches(self, passages: Sequence[Passage]) -> list[Touch]:
        """Where the passages meet the evidence, by rank. Ranges that only touch at an end do not meet."""
        documents = {e.document_id for e in self.pieces}
        return [
            touch
            for rank, passage in enumerate(passages)
            if passage.document_id in documents
            for touch in self._meet(rank, passage.document_id, passage.ranges)
        ]

    def _meet(self, rank: int, document_id: str, ranges: Iterable[Range]) -> Iterable[Touch]:
        for i, piece in enumerate(self.pieces):
            if piece.document_id == document_id:
                for start, end in ranges:
                    low, high = max(start, piece.span.start), min(end, piece.span.end)
                    if low < high:
                        yield Touch(rank, i, low, high)

    def within(self, touches: Sequence[Touch], passages: Sequence[Passage], delivery: Delivery) -> list[Touch]:
        """Those touches that a delivery holds: the whole passages' and what the cut leaves of the next one."""
        held = [t for t in touches if t.rank < delivery.whole]
        if delivery.part:
            held += self._meet(delivery.whole, passages[delivery.whole].document_id, delivery.part)
        return held

    def covered(self, held: Sequence[Touch]) -> list[int]:
        """Characters of each alternative that the touches hold together."""
        if not held:
            return [0] * len(self.alternatives)
        return [_characters(self.pieces, (t for t in held if t.piece in a)) for a in self.alternatives]

    def is_hit(self, held: Sequence[Touch]) -> bool:
        """Whether one piece is covered by at least 95 %, be it by several passages together."""
        return any(self._covers(i, held) for i in {t.piece for t in held})

    def _covers(self, piece: int, held: Sequence[Touch]) -> bool:
        covered = length(union((t.start, t.end) for t in held if t.piece == piece))
        return 20 * covered >= 19 * len(self.pieces[piece].span)

    def first_hit(self, touches: Sequence[Touch]) -> int | None:
        """The smallest number of passages that make a hit, from 1, or None."""
        for n, touch in enumerate(touches, start=1):
            if self._covers(touch.piece, touches[:n]):
                return touch.rank + 1
        return None


def _characters(pieces: Sequence[Evidence], touches: Iterable[Touch]) -> int:
    by_document: dict[str, list[Range]] = {}
    for touch in touches:
        by_document.setdefault(pieces[touch.piece].document_id, []).append((touch.start, touch.end))
    return sum(length(union(ranges)) for ranges in by_document.values())
