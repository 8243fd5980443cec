"""Why a question was missed: its ranking and all chunks in, one cause with the facts that it was computed from out.

A miss is a 0 of ``hit`` at the deciding cut. The causes of ``misses.py`` are tried in their order, and the first that
holds is the cause. Whether another boundary would have helped is asked in ``experiment/counterfactual.py``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from faircut.embedding.contract import Embedder
from faircut.evaluation.context import Context, Delivery, Passage, TokenIndexOf
from faircut.evaluation.coverage import Gold
from faircut.evaluation.intervals import Range, intersection, overlap, union
from faircut.evaluation.measures import Cut
from faircut.evaluation.misses import SHOWN, Boundary, Cause, Diagnosis, Miss, Place, Ranked
from faircut.evaluation.repetition import without_repeats
from faircut.records import Chunk, Evidence, Question

__all__ = ["Cutting", "Deliver", "diagnose", "is_hit", "seen_ranges"]

Deliver = Callable[[Sequence[int]], list[list[Passage]]]
"""From positions of found chunks, in rank order, to the passages that are delivered for each of them."""


@dataclass(frozen=True)
class Cutting:
    """All chunks of a row, ready to be asked which of them hold a place.

    Attributes:
        chunks: in document order.
        passages: the same as the scores see them.
        text_of: from a document's id to its text.
        seen: for a position the ranges that the embedder reads of that chunk; see ``seen_ranges``.
    """

    chunks: Sequence[Chunk]
    passages: Sequence[Passage]
    text_of: Callable[[str], str]
    seen: Callable[[int], Sequence[Range]]
    _extents: dict[str, NDArray[np.int64]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        rows: dict[str, list[tuple[int, int, int]]] = {}
        for position, p in enumerate(self.passages):
            extent = (p.ranges[0][0], max(end for _, end in p.ranges), position)
            rows.setdefault(p.document_id, []).append(extent)
        object.__setattr__(self, "_extents", {d: np.array(r, dtype=np.int64) for d, r in rows.items()})

    def touching(self, evidence: Evidence) -> list[int]:
        """Positions of the chunks that hold a part of the evidence, by start."""
        extents = self._extents.get(evidence.document_id)
        if extents is None:
            return []
        start, end = evidence.span.start, evidence.span.end
        near = extents[(extents[:, 0] < end) & (extents[:, 1] > start)]
        near = near[np.argsort(near[:, 0], kind="stable")]
        return [at for at in near[:, 2].tolist() if self.held(at, evidence)]

    def held(self, position: int, evidence: Evidence) -> int:
        """Characters of the evidence that a chunk holds."""
        return overlap(union(self.passages[position].ranges), [(evidence.span.start, evidence.span.end)])


def seen_ranges(chunk: Chunk, embedder: Embedder) -> tuple[Range, ...]:
    """The spans of a chunk up to where the embedder stops reading: all of them when it is short enough.

    Of a rewritten text it is not known which place a part stands for, so all of its spans count as read.
    """
    spans = tuple((s.start, s.end) for s in chunk.spans)
    room = embedder.max_tokens - embedder.overhead("passage")
    if embedder.tokenizer.count(chunk.embedded_text) <= room or sum(e - s for s, e in spans) != len(chunk.text):
        return spans
    read = embedder.tokenizer.index(chunk.embedded_text).furthest(0, room)
    left = read - (len(chunk.embedded_text) - len(chunk.text))
    seen = []
    for start, end in spans:
        if left > 0:
            seen.append((start, min(end, start + left)))
        left -= end - start
    return tuple(seen)


def is_hit(question: Question, ranked: Sequence[Passage], cut: Cut, token_index: TokenIndexOf) -> bool:
    """Whether ``hit`` is 1 at the cut: what ``metrics`` counts, for one question."""
    gold = Gold.of(question)
    delivery = Context(ranked).at(cut, token_index)
    return gold.is_hit(gold.within(gold.touches(ranked), ranked, delivery))


def diagnose(
    question: Question,
    ranking: Sequence[int],
    cutting: Cutting,
    cut: Cut,
    token_index: TokenIndexOf,
    deliver: Deliver | None = None,
) -> Diagnosis:
    """The cause of a miss, or that there was none.

    With several pieces of evidence (together or alternatives) one piece makes a hit, so the miss is that of the piece
    that came nearest: the one that the fewest passages in rank order would have covered, then the one covered most.

    Args:
        question: with its evidence.
        ranking: positions into the chunks, best first, as far as they were retrieved.
        cutting: all chunks of the row.
        cut: the deciding measure's.
        token_index: a document's exact token counts in the budget's tokenizer.
        deliver: what is delivered for found chunks; the chunks themselves when it is None.
    """
    given = _Given.of(ranking, cutting, cut, token_index, deliver or _themselves(cutting))
    if is_hit(question, given.passages, cut, token_index):
        return Diagnosis(question.id)
    cases = [_Case.of(question, piece, given) for piece in range(len(question.evidence))]
    return min(cases, key=lambda c: (c.needed or len(given.passages) + 1, -c.covered)).diagnosis()


def _themselves(cutting: Cutting) -> Deliver:
    return lambda positions: [[cutting.passages[at]] for at in positions]


@dataclass(frozen=True, slots=True)
class _Given:
    """What one question was given: its passages in rank order; ``owners`` are the ranks (from 0) they came with."""

    ranking: Sequence[int]
    owners: Sequence[int]
    context: Context
    cutting: Cutting
    cut: Cut
    token_index: TokenIndexOf
    deliver: Deliver

    @classmethod
    def of(
        cls, ranking: Sequence[int], cutting: Cutting, cut: Cut, token_index: TokenIndexOf, deliver: Deliver
    ) -> "_Given":
        groups = deliver(ranking)
        owners = [rank for rank, group in enumerate(groups) for _ in group]
        context = Context([passage for group in groups for passage in group])
        return cls(ranking, owners, context, cutting, cut, token_index, deliver)

    @property
    def passages(self) -> Sequence[Passage]:
        return self.context.passages

    def delivery(self) -> Delivery:
        """What of them is within the cut."""
        return self.context.at(self.cut, self.token_index)


@dataclass(frozen=True, slots=True)
class _Case:
    """One piece of evidence that was missed, as a question of its own; ``needed`` passages would have made it a hit."""

    question: Question
    piece: int
    given: _Given
    needed: int | None
    covered: float

    @classmethod
    def of(cls, question: Question, piece: int, given: _Given) -> "_Case":
        alone = Question(question.id, question.text, (question.evidence[piece],))
        gold = Gold.of(alone)
        touches = gold.touches(given.passages)
        held = gold.within(touches, given.passages, given.delivery())
        covered = gold.covered(held)[0] / gold.sizes[0]
        return cls(alone, piece, given, gold.first_hit(touches), covered)

    @property
    def cutting(self) -> Cutting:
        return self.given.cutting

    @property
    def evidence(self) -> Evidence:
        return self.question.evidence[0]

    def diagnosis(self) -> Diagnosis:
        """The first cause that holds, with the facts."""
        touching = self.cutting.touching(self.evidence)
        whole = [at for at in touching if self._brings_all(at)]
        cause = self._cause(touching, whole)
        return Diagnosis(self.question.id, cause, self._miss(cause, touching, whole))

    def _cause(self, touching: Sequence[int], whole: Sequence[int]) -> Cause:
        span = self.evidence.span
        if not self._is_most(len(span) - self._characters_lost(touching)):
            return "lost"
        if 2 * self._seen(touching) < len(span):
            return "truncated"
        if self._is_too_long(whole):
            return "too long"
        if not whole:
            return "cut" if self._boundaries(touching) else "lost"
        if self.needed is not None:
            return "crowded out" if self._hits_without_repeats() else "outranked"
        return "wrong passage" if self._delivers_document() else "wrong document"

    def _brings_all(self, position: int) -> bool:
        """Whether what is delivered for this chunk holds the evidence."""
        gold, passages = Gold.of(self.question), self._brought(position)
        return gold.is_hit(gold.touches(passages))

    def _brought(self, position: int) -> Sequence[Passage]:
        return [passage for group in self.given.deliver([position]) for passage in group]

    def _is_most(self, characters: int) -> bool:
        return 20 * characters >= 19 * len(self.evidence.span)

    def _lost(self, touching: Sequence[int]) -> list[Range]:
        start, end = self.evidence.span.start, self.evidence.span.end
        held = union(r for at in touching for r in self.cutting.passages[at].ranges)
        inside = intersection(held, [(start, end)])
        edges = [start, *(edge for r in inside for edge in r), end]
        return [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if a < b]

    def _characters_lost(self, touching: Sequence[int]) -> int:
        """White space aside: chunks are trimmed, and what lies between two of them is no text."""
        text = self.cutting.text_of(self.evidence.document_id)
        return sum(not text[at].isspace() for start, end in self._lost(touching) for at in range(start, end))

    def _seen(self, touching: Sequence[int]) -> int:
        """Characters of the evidence that the embedder read, in whatever chunk."""
        span = (self.evidence.span.start, self.evidence.span.end)
        return overlap(union(r for at in touching for r in self.cutting.seen(at)), [span])

    def _is_too_long(self, whole: Sequence[int]) -> bool:
        """Whether the cut comes too early for each chunk that brings it, in first place; of a cut one, for itself."""
        first = [self._brought(at) for at in whole] or [[self._itself()]]
        return not any(self._hits(passages) for passages in first)

    def _hits(self, passages: Sequence[Passage], cut: Cut | None = None) -> bool:
        return is_hit(self.question, passages, cut or self.given.cut, self.given.token_index)

    def _itself(self) -> Passage:
        start, end = self.evidence.span.start, self.evidence.span.end
        tokens = self.given.token_index(self.evidence.document_id).count(start, end)
        return Passage(self.evidence.document_id, ((start, end),), end - start, tokens)

    def _above(self) -> Sequence[Passage]:
        """The passages up to the one with which it would have been a hit."""
        return self.given.passages[: self.needed]

    def _with_evidence(self) -> set[int]:
        return {touch.rank for touch in Gold.of(self.question).touches(self._above())}

    def _hits_without_repeats(self) -> bool:
        kept, _ = without_repeats(self._above(), self.given.token_index, keep=self._with_evidence())
        return self._hits(kept)

    def _delivers_document(self) -> bool:
        delivery = self.given.delivery()
        count = delivery.whole + bool(delivery.part)
        return any(p.document_id == self.evidence.document_id for p in self.given.passages[:count])

    # ------------------------------------------------------------ the facts

    def _miss(self, cause: Cause, touching: Sequence[int], whole: Sequence[int]) -> Miss:
        span, named = self.evidence.span, whole if whole and cause != "lost" else touching
        before = (self.needed or len(self.given.passages) + 1) - 1
        above, tokens_repeated = self._ranked_above(before)
        in_document = sum(p.document_id == self.evidence.document_id for p in self.given.passages[:before])
        return Miss(
            piece=self.piece,
            document=self.evidence.document_id,
            start=span.start,
            end=span.end,
            covered=self.covered,
            held_by=tuple(map(self._place, named)),
            boundaries=() if whole else tuple(self._boundaries(touching)),
            lost=tuple(self._lost(touching)),
            rank=self.given.owners[self.needed - 1] + 1 if self.needed else None,
            tokens_needed=self._tokens_needed(),
            tokens_delivered=self.given.delivery().tokens,
            examined=len(self.given.ranking),
            above=above,
            above_in_document=in_document,
            above_elsewhere=before - in_document,
            tokens_repeated=tokens_repeated,
        )

    def _place(self, position: int) -> Place:
        span, ranges = self.evidence.span, self.cutting.passages[position].ranges
        ranks = [rank for rank, at in enumerate(self.given.ranking, 1) if at == position]
        seen = overlap(union(self.cutting.seen(position)), [(span.start, span.end)])
        return Place(
            position=position,
            chunk=self.cutting.chunks[position].id,
            start=ranges[0][0],
            end=max(end for _, end in ranges),
            rank=ranks[0] if ranks else None,
            share=self.cutting.held(position, self.evidence) / len(span),
            seen=seen / len(span),
        )

    def _boundaries(self, touching: Sequence[int]) -> list[Boundary]:
        """Between neighbours inside the evidence; a chunk within another one bounds nothing."""
        found, span = [], self.evidence.span
        edges = sorted((self._edges(at) for at in touching), key=lambda e: (e[0], -e[1]))
        reach = accumulate((end for _, end, _ in edges), max, initial=0)
        outer = [edge for edge, reached in zip(edges, reach, strict=False) if edge[1] > reached]
        for (_, end, before), (start, _, after) in pairwise(outer):
            if end < span.end and start > span.start:
                found.append(Boundary(before, after, end, start))
        return found

    def _edges(self, position: int) -> tuple[int, int, int]:
        ranges = self.cutting.passages[position].ranges
        return ranges[0][0], ranges[-1][1], position

    def _ranked_above(self, before: int) -> tuple[tuple[Ranked, ...], int]:
        passages = self.given.passages[:before]
        _, repeats = without_repeats(passages, self.given.token_index, keep=self._with_evidence())
        share = {repeat.rank: repeat.share for repeat in repeats}
        above = tuple(self._ranked(place, passage, share) for place, passage in enumerate(passages[:SHOWN], 1))
        return above, sum(repeat.tokens for repeat in repeats)

    def _ranked(self, place: int, passage: Passage, share: Mapping[int, float]) -> Ranked:
        owner = self.given.owners[place - 1]
        position = self.given.ranking[owner]
        chunk = self.cutting.chunks[position].id
        return Ranked(owner + 1, position, chunk, passage.document_id, passage.tokens, share.get(place, 0.0))

    def _tokens_needed(self) -> int | None:
        """The smallest budget that would have made it a hit, by halving the tokens of the last passage needed."""
        if self.needed is None:
            return None
        tokens = [p.tokens for p in self._above()]
        low, high = sum(tokens[:-1]), sum(tokens)
        while high - low > 1:
            middle = (low + high) // 2
            enough = self._hits(self._above(), Cut(middle, "tokens"))
            low, high = (low, middle) if enough else (middle, high)
        return high
