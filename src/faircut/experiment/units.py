"""What a reader is given for the chunks that were found: a ranking in, delivered passages out, for every chunker alike.

The chunk itself, its neighbours, or the section around it. Searching is left to ``retrieve.py``, scoring to
``evaluation``.
"""

import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from typing import ClassVar

from faircut.chunkers.contract import Models
from faircut.chunkers.structure import Structure
from faircut.errors import SpecError
from faircut.evaluation.context import Passage, TokenIndexOf
from faircut.evaluation.intervals import Range, intersection, length, overlap, union
from faircut.records import Chunk, Document
from faircut.specs import Registry, Size, spec_text
from faircut.text.contract import TokenCounter

__all__ = ["DELIVERIES", "Delivery", "Merge", "Parent", "Units", "WholeChunk", "Window"]


@dataclass(frozen=True)
class WholeChunk:
    """The chunk that was found, with its context."""

    name: ClassVar[str] = "chunk"
    __str__ = spec_text

    def walk(self, units: "Units", positions: Sequence[int]) -> Iterator[list[Passage]]:
        """Each chunk, and what two chunks share twice."""
        for position in positions:
            yield [units.passages[position]]


@dataclass(frozen=True)
class Window:
    """The chunk and so many chunks before and after it in its document.

    Raises:
        SpecError: fewer than 1.
    """

    name: ClassVar[str] = "window"
    __str__ = spec_text

    chunks: int = 1

    def __post_init__(self) -> None:
        if self.chunks < 1:
            raise SpecError(f"window: at least 1 chunk on each side, found {self.chunks}.")

    def walk(self, units: "Units", positions: Sequence[int]) -> Iterator[list[Passage]]:
        """The chunk and its neighbours as one passage."""
        delivered = Delivered(units)
        for position in positions:
            first, last = units.neighbours(position, self.chunks)
            yield delivered.add(position, [place for at in range(first, last) for place in units.ranges(at)])


@dataclass(frozen=True)
class Parent:
    """The section around the chunk: what `structure(max=size, context=false)` cuts, the same for all chunkers.

    Of several sections the one that holds most of the chunk, the first of equals; the rest of the chunk goes with it.

    Raises:
        SpecError: a size below 1.
    """

    name: ClassVar[str] = "parent"
    __str__ = spec_text

    size: Size = Size(2048, "t")

    def __post_init__(self) -> None:
        Structure(max=self.size)

    def walk(self, units: "Units", positions: Sequence[int]) -> Iterator[list[Passage]]:
        """The section and the chunk as one passage."""
        delivered = Delivered(units)
        for position in positions:
            own = units.ranges(position)
            parents = units.parents_of(position, self.size)
            most = max(parents, key=lambda parent: overlap(own, [parent]), default=None)
            yield delivered.add(position, [*own, *([most] if most else [])])


@dataclass(frozen=True)
class Merge:
    """The chunk, and the rest of the section around it as soon as two or more that were found cover a share of it.

    Sections are those of ``parent``. A chunk that lies in several counts in each.

    Raises:
        SpecError: a size below 1, or a share outside of 0 to 1.
    """

    name: ClassVar[str] = "merge"
    __str__ = spec_text

    share: float = 0.5
    size: Size = Size(2048, "t")

    def __post_init__(self) -> None:
        Structure(max=self.size)
        if not 0 < self.share <= 1:
            raise SpecError(f"merge: the share lies above 0 and up to 1, found {self.share:g}.")

    def walk(self, units: "Units", positions: Sequence[int]) -> Iterator[list[Passage]]:
        """The chunk, then the rest of its section where that is due."""
        delivered = Delivered(units)
        found: dict[tuple[str, Range], list[Range]] = {}
        hits: Counter[tuple[str, Range]] = Counter()
        for position in positions:
            own = units.ranges(position)
            passages = delivered.add(position, own)
            for parent in units.parents_of(position, self.size):
                key = (units.chunks[position].document_id, parent)
                hits[key] += 1
                found[key] = union([*found.get(key, ()), *intersection(own, [parent])])
                if hits[key] > 1 and length(found[key]) >= self.share * (parent[1] - parent[0]):
                    passages += delivered.add(position, [parent])
            yield passages


Delivery = WholeChunk | Window | Parent | Merge

DELIVERIES = Registry("delivery", (WholeChunk, Window, Parent, Merge))
"""What a spec can name; ``chunk`` is the default."""


@dataclass(frozen=True, eq=False)
class Units:
    """All that a delivery may be made of: a row's chunks with their passages, their documents, and the
    tokenizer that counts every budget.
    """

    chunks: Sequence[Chunk]
    passages: Sequence[Passage]
    documents: Mapping[str, Document]
    budget: TokenCounter
    token_index: TokenIndexOf
    _parents: dict[tuple[str, Size], list[Range]] = field(default_factory=dict, repr=False)

    def ranges(self, position: int) -> list[Range]:
        """The places of a chunk, united."""
        return union(self.passages[position].ranges)

    def neighbours(self, position: int, count: int) -> tuple[int, int]:
        """The positions from ``count`` chunks before to ``count`` after, in the same document; half-open."""
        first, last = self._edges[self.chunks[position].document_id]
        return max(position - count, first), min(position + count + 1, last)

    def parents_of(self, position: int, size: Size) -> list[Range]:
        """The sections that hold some of the chunk, in order."""
        document, own = self.chunks[position].document_id, self.ranges(position)
        if (document, size) not in self._parents:
            self._parents[document, size] = self._sections(self.documents[document], size)
        parents = self._parents[document, size]
        first = bisect_right(parents, (own[0][0], sys.maxsize)) - 1
        near = takewhile(lambda parent: parent[0] < own[-1][1], parents[max(first, 0) :])
        return [parent for parent in near if overlap(own, [parent])]

    def rest(self, position: int, places: Sequence[Range]) -> Passage | None:
        """The passage of these places of the chunk's document, charged by itself; None where they are blank."""
        document = self.documents[self.chunks[position].document_id]
        kept = tuple(place for place in places if not document.text[slice(*place)].isspace())
        if not kept:
            return None
        index = self.token_index(document.id)
        return Passage(
            document_id=document.id,
            ranges=kept,
            characters=length(kept),
            tokens=sum(index.count(*place) for place in kept),
            text="".join(document.text[slice(*place)] for place in kept),
        )

    @cached_property
    def _edges(self) -> dict[str, Range]:
        """The first position of each document's chunks, and the one after the last."""
        edges: dict[str, Range] = {}
        for position, chunk in enumerate(self.chunks):
            first, _ = edges.get(chunk.document_id, (position, 0))
            edges[chunk.document_id] = (first, position + 1)
        return edges

    def _sections(self, document: Document, size: Size) -> list[Range]:
        """What ``structure`` makes of the document without context, counted in budget tokens."""
        chunks = Structure(max=size, context=False).chunk(document, Models(self.budget))
        return [(chunk.spans[0].start, chunk.spans[-1].end) for chunk in chunks]


class Delivered:
    """What one question was given so far: no place is delivered twice."""

    def __init__(self, units: Units) -> None:
        self._units = units
        self._places: dict[str, list[Range]] = {}

    def add(self, position: int, places: Iterable[Range]) -> list[Passage]:
        """Deliver what is new in these places of the chunk's document: one passage, or none."""
        document = self._units.chunks[position].document_id
        known, asked = self._places.get(document, []), union(places)
        passage = self._units.rest(position, _without(asked, known))
        self._places[document] = union([*known, *asked])
        return [passage] if passage else []


def _without(places: Sequence[Range], known: Sequence[Range]) -> list[Range]:
    """The parts of united places that are not in the united others."""
    left: list[Range] = []
    for start, end in places:
        for taken in intersection([(start, end)], known):
            if start < taken[0]:
                left.append((start, taken[0]))
            start = taken[1]
        if start < end:
            left.append((start, end))
    return left
