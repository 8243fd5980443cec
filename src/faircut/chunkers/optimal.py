"""The best of all possible cuts: sentences and blocks of a document in, the chunks of least cost out.

The search is left to ``segmentation``, what a unit is to ``units``; here is only what a chunk and a cut cost.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from faircut.chunkers.contract import Models
from faircut.chunkers.packing import Ruler, check_document, check_size, to_chunks
from faircut.chunkers.sections import blocks_of
from faircut.chunkers.segmentation import (
    Limits,
    Scatter,
    SegmentCost,
    SquaredLength,
    cheapest,
    cheapest_of_count,
    lowest_within,
)
from faircut.chunkers.units import (
    Unit,
    check_range,
    document_units,
    fingerprints,
    furthest_ends,
    joined,
    lengths_until,
    nearest_ends,
)
from faircut.embedding.contract import Embedder
from faircut.errors import EmbeddingError, SpecError
from faircut.records import Block, Chunk, Document
from faircut.specs import Size, spec_text

__all__ = ["Optimal"]

_WEIGHTS = {"heading": 0.5, "block": 1.0, "sentence": 1.5, "part": 1.5}  # of a cut there, in penalties
_AFTER_HEADING = 6.0  # a heading without what follows it
_HUNDRED = 100.0  # the cost of a chunk's length is the square of its hundreds
_USUAL_WEIGHT = 1.6  # local: of a cut, by which penalty and mean go together on texts with paragraphs and without

# The local variant: of the boundaries within this share of the mean only the strongest costs no more than its weight.
_REACH = 0.5
_NOT_STRONGEST = 3.0


@dataclass(frozen=True)
class Optimal:
    """The chunks of least cost among all possible, by dynamic programming: `optimal(mean=150t, max=512t)`.

    A chunk costs the square of its length in hundreds (of ``mean``'s unit), so that lengths stay near the mean, or with
    ``vectors=true`` the squared distances of its sentences' vectors from their mean, so that it keeps to one subject. A
    cut costs the penalty, times 0.5 at a heading, 1 at a block, 1.5 at a sentence, 6 right after a heading.
    There is no cut inside a sentence, heading, table or code block that fits ``max``; what does not is cut between
    rows, with the header as context, between lines, or after words. ``max`` holds always; a chunk below ``min`` is made
    only where there is no other way.

    ``penalty``: given, or found so that the document's chunks have about the ``mean``. ``local``: the penalty follows
    from ``mean`` alone, and cuts prefer the strongest boundary within half of the mean, of equal ones by the words
    behind them. An edit then moves only cuts near it, and the document's mean is near ``mean``, not at it. With vectors
    it needs a ``penalty``.

    Raises:
        SpecError: a size below 1, a minimum above the maximum or in another unit, a penalty that is not above 0, or
            ``local`` with vectors and without a penalty.
    """

    name: ClassVar[str] = "optimal"
    cuts_at_sentences: ClassVar[bool] = True

    mean: Size = Size(150, "t")
    penalty: float | None = None
    min: Size | None = None
    max: Size = Size(512, "t")
    vectors: bool = False
    local: bool = False

    def __post_init__(self) -> None:
        check_size(self.name, "mean", self.mean)
        check_range(self.name, self.min, self.max)
        if self.penalty is not None and not (np.isfinite(self.penalty) and self.penalty > 0):
            raise SpecError(f"{self.name}: penalty must be above 0, found {self.penalty:g}.")
        if self.local and self.vectors and self.penalty is None:
            raise SpecError(f"{self.name}: local with vectors needs a penalty, such as penalty=1.0.")

    __str__ = spec_text

    def chunk(self, document: Document, models: Models) -> list[Chunk]:
        """The chunks of the document; see ``Chunker``.

        Raises:
            EmbeddingError: ``vectors`` is true and ``models`` has no embedder.
        """
        check_document(document)
        if self.vectors and models.embedder is None:
            raise EmbeddingError(f"{self} needs an embedder for its sentences; give one, such as minilm.")
        ruler = Ruler.of(document, self.max, models)
        blocks = blocks_of(document)
        units = document_units(ruler, blocks)
        if not units:
            return []
        until = lengths_until(Ruler.of(document, self._measure(models), models), units)
        limits = Limits(
            self._weights(ruler, blocks, units, until),
            furthest_ends(ruler, units, [ruler.limit] * len(units)),
            nearest_ends(ruler, units, self.min.amount if self.min else 0),
        )
        cost = self._cost(ruler, units, until, models.embedder)
        return to_chunks(document, joined(ruler, units, self._best(cost, limits, until)))

    def _measure(self, models: Models) -> Size:
        """A size in the unit of the mean for a ruler that never says that there is no room."""
        return Size(self.mean.amount + models.overhead, self.mean.unit)

    def _cost(
        self, ruler: Ruler, units: Sequence[Unit], until: NDArray[np.float64], embedder: Embedder | None
    ) -> SegmentCost:
        if not self.vectors or embedder is None:
            return SquaredLength(until / _HUNDRED)
        texts = [ruler.text[unit.start : unit.end].strip() for unit in units]
        return Scatter(embedder.embed(texts, "sentence"))

    def _best(self, cost: SegmentCost, limits: Limits, until: NDArray[np.float64]) -> list[int]:
        """Numbers of the units that begin a chunk."""
        if self.penalty is not None:
            return cheapest(cost, limits, self.penalty)
        if self.local:
            return cheapest(cost, limits, (self.mean.amount / _HUNDRED) ** 2 / _USUAL_WEIGHT)
        return cheapest_of_count(cost, limits, float(until[-1]) / self.mean.amount)[0]

    def _weights(
        self, ruler: Ruler, blocks: Sequence[Block], units: Sequence[Unit], until: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """What a cut before each unit costs in penalties, ``(n,)``."""
        weights = np.array([_WEIGHTS[unit.begins] for unit in units])
        for at, (before, unit) in enumerate(pairwise(units), 1):
            if blocks[before.block].kind == "heading" and blocks[unit.block].kind != "heading":
                weights[at] = _AFTER_HEADING
        if not self.local:
            return weights
        ranks = weights * 2 + fingerprints(ruler, units)
        ranks[0] = np.inf  # no boundary lies before the first
        weights[~lowest_within(ranks, until[:-1], _REACH * self.mean.amount)] += _NOT_STRONGEST
        return weights
