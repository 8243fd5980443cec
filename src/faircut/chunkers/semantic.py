"""Cuts where meaning turns: sentence vectors of a document in, chunks and the curve of similarities out.

Which gaps are cut is a rule of ``cuts``; vectors come from the embedder of ``Models``, once for each sentence; sizes
are left to ``packing``.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from faircut.chunkers.contract import Models
from faircut.chunkers.cuts import CutRule, SimilarityCurve, cut_rule, gap_similarities
from faircut.chunkers.packing import Piece, Ruler, check_document, check_size, split_levels, to_chunks
from faircut.chunkers.sentence import sentence_places
from faircut.embedding.contract import Embedder
from faircut.errors import EmbeddingError, SpecError
from faircut.records import Chunk, Document
from faircut.specs import Percentile, Size, spec_text

__all__ = ["Semantic", "SimilarityCurve"]

_UNLIMITED = 2**62

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Semantic:
    """Sentences joined until their meaning turns: `semantic(threshold=0.65)`, `semantic(threshold=p85, max=none)`.

    From left to right a cut is made where the rule of ``threshold`` cuts and ``min_sentences`` and ``min`` have been
    reached; then what is above ``max`` is cut at the least similar gap of the second half of what fits. A last group
    below ``min`` joins its neighbour where both fit: ``max`` holds always, ``min`` where it can. A sentence above
    ``max`` is cut after words before it is embedded.

    ``threshold``: a cosine, a percentile, ``deviation(1.0)``, ``interquartile(1.5)`` or ``gradient(p95)``; see ``cuts``
    for ties. ``window``: so many sentences before a gap are compared with as many after it. ``min``, ``max``: sizes, or
    none.

    Raises:
        SpecError: a threshold outside of its range, a count below 1, a minimum above the maximum or in another unit.
    """

    name: ClassVar[str] = "semantic"
    cuts_at_sentences: ClassVar[bool] = True

    threshold: float | Percentile | CutRule = 0.65
    window: int = 1
    min_sentences: int = 3
    min: Size | None = None
    max: Size | None = Size(512, "t")

    def __post_init__(self) -> None:
        cut_rule(self.threshold)
        for field, value in (("window", self.window), ("min_sentences", self.min_sentences)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise SpecError(f"{self.name}: {field} must be a whole number of at least 1, found {value}.")
        for field, size in (("min", self.min), ("max", self.max)):
            if size is not None:
                check_size(self.name, field, size)
        if self.min and self.max and (self.min.unit != self.max.unit or self.min.amount > self.max.amount):
            raise SpecError(f"{self.name}: min must not exceed max and have its unit, found {self.min} and {self.max}.")

    __str__ = spec_text

    def chunk(self, document: Document, models: Models) -> list[Chunk]:
        """The chunks of the document; see ``Chunker``."""
        check_document(document)
        embedder = self._embedder(models)
        ruler = self._ruler(document, models)
        units = _units(ruler)
        similarities = _similarities(document, units, embedder, self.window)
        groups = _grouped(units, self._turns(ruler, units, similarities))
        groups = [part for group in groups for part in _within(ruler, units, similarities, group)]
        groups = _small_joined(ruler, units, groups, self.min.amount if self.min else 0)
        return to_chunks(document, (_joined(units, group) for group in groups))

    def curve(self, document: Document, models: Models) -> SimilarityCurve:
        """The similarities of the document's neighbouring sentences and what the rule makes of them.

        Raises:
            EmbeddingError: ``models`` has no embedder.
        """
        check_document(document)
        embedder = self._embedder(models)
        units = _units(self._ruler(document, models))
        similarities = _similarities(document, units, embedder, self.window)
        positions = np.array([unit.start for unit in units[1:]], dtype=np.int64)
        return SimilarityCurve.of(positions, similarities, cut_rule(self.threshold))

    def _embedder(self, models: Models) -> Embedder:
        if models.embedder is None:
            raise EmbeddingError(f"{self} needs an embedder for its sentences; give one, such as minilm.")
        return models.embedder

    def _ruler(self, document: Document, models: Models) -> Ruler:
        """The ruler of the maximum; without one it has the unit of the minimum and no limit."""
        return Ruler.of(document, self.max or Size(_UNLIMITED, self.min.unit if self.min else "c"), models)

    def _turns(self, ruler: Ruler, units: Sequence[Piece], similarities: Floats) -> set[int]:
        """Numbers of the sentences at which a new group begins by the rule, the minima held."""
        least = self.min.amount if self.min else 0
        turns, first = set(), 0
        for gap in map(int, np.flatnonzero(cut_rule(self.threshold).judge(similarities).cuts)):
            following = gap + 1
            many = following - first >= self.min_sentences
            if many and (not least or ruler.length(units[first].start, units[gap].end) >= least):
                turns.add(following)
                first = following
        return turns


Group = tuple[int, int]
"""Half-open range of sentence numbers."""


def _units(ruler: Ruler) -> list[Piece]:
    """The sentences, tiling the text. What is above the limit is cut, so that each is embedded as it will stand.

    The parts of a table that was cut carry its header as context, and stay alone.
    """
    places = sentence_places(ruler.document)
    return [unit for start, end in pairwise(places) for unit in split_levels(ruler, start, end, [])]


def _similarities(document: Document, units: Sequence[Piece], embedder: Embedder, window: int) -> Floats:
    """Similarities ``(units - 1,)``, each sentence embedded once."""
    if len(units) < 2:
        return np.zeros(0)
    texts = [document.text[unit.start : unit.end].strip() for unit in units]
    return gap_similarities(embedder.embed(texts, "sentence"), window)


def _grouped(units: Sequence[Piece], turns: set[int]) -> list[Group]:
    """Groups that begin at the turns and around each unit with a context."""
    alone = {at + side for at, unit in enumerate(units) if unit.context for side in (0, 1)}
    return list(pairwise(sorted({0, len(units)} | turns | alone)))


def _joined(units: Sequence[Piece], group: Group) -> Piece:
    first, last = group
    return Piece(units[first].start, units[last - 1].end, units[first].context)


def _within(ruler: Ruler, units: Sequence[Piece], similarities: Floats, group: Group) -> list[Group]:
    """A group cut until each part fits: at the least similar gap in the second half of what fits, the last of ties."""
    parts: list[Group] = []
    first, last = group
    while first < last:
        stop = _furthest(ruler, units, first, last)
        if stop < last:
            stop = _weakest(ruler, units, similarities, first, stop)
        parts.append((first, stop))
        first = stop
    return parts


def _weakest(ruler: Ruler, units: Sequence[Piece], similarities: Floats, first: int, stop: int) -> int:
    start = units[first].start
    half = ruler.length(start, units[stop - 1].end) / 2
    low = bisect_right(range(first + 1, stop), half, key=lambda at: ruler.length(start, units[at - 1].end))
    stop = min(range(stop, first + low, -1), key=lambda at: similarities[at - 1])
    while stop > first + 1 and not ruler.fits(*_joined(units, (first, stop))):
        stop -= 1  # a shorter text may have more tokens, where a cut falls into what was one word
    return stop


def _furthest(ruler: Ruler, units: Sequence[Piece], first: int, last: int) -> int:
    """The last sentence number up to which the group from ``first`` fits, at least one sentence.

    Steps double and are then halved, so that the search costs the group, not the document.
    """
    step = 1
    while first + step < last and ruler.fits(*_joined(units, (first, first + step))):
        step *= 2
    low, high = first + 1, min(first + step, last)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if ruler.fits(*_joined(units, (first, middle))) else (low, middle - 1)
    return low


def _small_joined(ruler: Ruler, units: Sequence[Piece], groups: list[Group], least: int) -> list[Group]:
    """Groups below ``least`` joined with the one before or else after them, where both together fit."""

    def is_small(group: Group) -> bool:
        piece = _joined(units, group)
        return ruler.length(piece.start, piece.end) < least

    joined: list[Group] = []
    for group in groups:
        both = (joined[-1][0], group[1]) if joined else group
        plain = not (units[both[0]].context or units[group[0]].context)
        if joined and plain and (is_small(group) or is_small(joined[-1])) and ruler.fits(*_joined(units, both)):
            joined[-1] = both
        else:
            joined.append(group)
    return joined
