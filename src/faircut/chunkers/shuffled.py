"""The size-matched control: the lengths of another chunker's chunks in shuffled order; only their places differ.

A document goes in and is cut by the inner chunker; out come chunks of the same lengths, as many, elsewhere. What it
shows is left to the comparison: a chunker that does not beat its control owes its score to sizes, not to boundaries.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate, chain, repeat
from typing import ClassVar, Literal

from faircut.chunkers.contract import Chunker, Models
from faircut.chunkers.packing import Piece, Ruler, check_document, to_chunks, trim
from faircut.chunkers.sentence import sentence_places
from faircut.errors import SpecError
from faircut.records import Chunk, Document, content_id
from faircut.specs import Size, spec_text

__all__ = ["Shuffled"]

_UNLIMITED = 2**62
_NOT_BLANK = re.compile(r"\S")

_Edge = Literal["sentence", "word", "anywhere"]
"""Where a chunk begins or ends: at a sentence's edge, at a word's, or inside a word."""


_Inside = Literal["word", "anywhere"]
"""As above, for what does not begin with a sentence."""


@dataclass(frozen=True, slots=True)
class _Length:
    """One chunk as a length to be laid again: text after the chunk before, text shared with it, kinds of its edges."""

    new: int
    shared: int
    begin: _Edge
    end: _Edge


@dataclass(frozen=True)
class Shuffled:
    """The size-matched control of a chunker, its lengths in shuffled order: `shuffled(recursive, seed=0)`.

    Lengths are measured as laid, white space between chunks included, in the unit of the inner chunker's size (tokens
    where it has none). Each takes along how much its chunk shared with the one before, and whether it was cut at a
    sentence, at a word or inside one, so the control cuts inside sentences and repeats text about as often as its
    chunker. Cuts go to the edge nearest to where the shuffled lengths add up to, so errors do not add up. A chunker
    that declares ``cuts_at_sentences = False`` gets no cut moved to a sentence, although some of its own fall there.

    No chunk of the control is longer than the longest of its chunker, context included. Where that leaves no room for
    whole sentences, the control has a few chunks more; where sentences are too long, a few fewer. Nothing is lost.
    Where chunks overlap, the first stays first. The order depends on the seed, the document's id and text alone.

    Raises:
        SpecError: the inner component is no chunker, or the seed no whole number.
    """

    name: ClassVar[str] = "shuffled"

    chunker: Chunker
    seed: int = 0

    def __post_init__(self) -> None:
        if not hasattr(self.chunker, "chunk"):
            raise SpecError(f"{self.name}: takes a chunker such as recursive, found {self.chunker}.")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise SpecError(f"{self.name}: seed must be a whole number, found {self.seed}.")

    __str__ = spec_text

    def chunk(self, document: Document, models: Models) -> list[Chunk]:
        """The chunks of the document; see ``Chunker``."""
        check_document(document)
        inner = self.chunker.chunk(document, models)
        if len(inner) < 2:
            return inner
        ruler = Ruler.of(document, Size(_UNLIMITED, _unit(self.chunker)), models)
        ruler = replace(ruler, limit=max(ruler.counter.count_many([chunk.embedded_text for chunk in inner])))
        at_sentences = getattr(self.chunker, "cuts_at_sentences", True)
        places = sentence_places(document) if at_sentences else []
        return to_chunks(document, _lay(ruler, self._shuffle(document, _lengths(ruler, inner, places)), places))

    def _shuffle(self, document: Document, lengths: list[_Length]) -> list[_Length]:
        """The lengths in an order that only the seed and the document decide, the same on every machine."""
        key = content_id(str(self.seed), document.id, document.text)
        # Where chunks overlap, the first one is all new text, for which there would be no room elsewhere.
        pinned = 1 if any(length.shared for length in lengths) else 0
        order = sorted(range(pinned, len(lengths)), key=lambda at: content_id(key, str(at)))
        return lengths[:pinned] + [lengths[at] for at in order]


def _unit(chunker: Chunker) -> Literal["t", "w", "c"]:
    """The unit of the chunker's size, of the innermost for wrapped ones; tokens where there is none."""
    for name in ("max", "size"):
        size = getattr(chunker, name, None)
        if isinstance(size, Size):
            return size.unit
    inner = getattr(chunker, "chunker", None)
    return _unit(inner) if inner is not None else "t"


# ---------------------------------------------------------------- measuring


def _lengths(ruler: Ruler, chunks: Sequence[Chunk], places: Sequence[int]) -> list[_Length]:
    """The chunks as lengths. Text that earlier chunks have reached already is shared and not new."""

    @cache  # a sentence is measured once, however often it was cut
    def is_too_long(sentence: int) -> bool:
        return not ruler.fits(places[sentence], places[sentence + 1])

    def is_forced(position: int) -> bool:
        """Whether a cut inside a sentence had to be, for it is too long: there the control has to cut as well."""
        at = bisect_left(places, position)
        return 0 < at < len(places) and is_too_long(at - 1)

    lengths: list[_Length] = []
    laid = 0
    for chunk in chunks:
        start, end = chunk.spans[0].start, chunk.spans[-1].end
        if end > laid:
            shared = ruler.length(start, laid) if start < laid else 0
            begin, stop = _edge(ruler.text, places, start), _edge(ruler.text, places, end)
            stop = "sentence" if stop != "sentence" and is_forced(end) else stop
            lengths.append(_Length(ruler.length(laid, end), shared, begin, stop))
            laid = end
    return lengths


def _edge(text: str, places: Sequence[int], position: int) -> _Edge:
    at = bisect_left(places, position)
    if at < len(places) and not _NOT_BLANK.search(text, position, places[at]):
        return "sentence"
    inside = 0 < position < len(text) and not (text[position - 1].isspace() or text[position].isspace())
    return "anywhere" if inside else "word"


# ---------------------------------------------------------------- laying


def _lay(ruler: Ruler, lengths: Sequence[_Length], places: Sequence[int]) -> list[Piece]:
    """Pieces of these lengths in this order over the whole text; what is left at the end is laid under the ceiling."""
    targets = accumulate(length.new for length in lengths[:-1])
    pieces: list[Piece] = []
    place = laid = 0
    for length in chain(lengths, repeat(lengths[-1])):
        target = next(targets, None)
        end = _end(ruler, places, place, None if target is None else target - laid, length)
        if pieces and not _NOT_BLANK.search(ruler.text, place, end):  # no chunk twice for the white space behind it
            pieces[-1] = pieces[-1]._replace(end=end)
        else:
            start = _begin(ruler, places, pieces[-1], end, length) if pieces else place
            pieces.append(Piece(start, end))
        laid += ruler.length(place, end)
        place = end
        if place >= len(ruler.text):
            break
    return pieces


def _end(ruler: Ruler, places: Sequence[int], start: int, wanted: int | None, length: _Length) -> int:
    """Where a piece with about ``wanted`` new units ends, with room for what it shares; None: at the text's end."""
    last, room = len(ruler.text), max(1, ruler.limit - length.shared)
    reach = ruler.skip_blank(ruler.furthest(start, last, limit=room), last)
    if wanted is None and reach == last:
        return last
    wanted = room if wanted is None else max(1, min(wanted, room))
    find = ruler.furthest if length.end == "anywhere" else ruler.furthest_word
    near = find(start, last, limit=wanted)
    if length.end != "sentence":
        return near
    at = bisect_left(places, near)
    at -= at > 0 and near - places[at - 1] <= places[at] - near
    at = max(at, bisect_right(places, start))
    at = min(at, bisect_right(places, reach) - 1)
    while places[at] > start and not ruler.fits(start, places[at], limit=room):
        at -= 1
    return places[at] if places[at] > start else near


def _begin(ruler: Ruler, places: Sequence[int], before: Piece, end: int, length: _Length) -> int:
    """Where a piece to ``end`` begins that shares with the one before what its length did, or less under the ceiling.

    Found by halving, because joined words may have more tokens than their parts.
    """
    _, reached = trim(ruler.document, before.start, before.end)
    at: _Inside = "anywhere" if length.begin == "anywhere" else "word"

    def begin(shared: int) -> int | None:
        """The place for an overlap of ``shared``; None where it is too much."""
        start = max(before.start, ruler.overlap_start(reached, shared, at=at))
        for place in (*_nearest(places, start, length.begin), start):
            if before.start <= place < reached and ruler.fits(place, end):
                return place
        return before.end if ruler.fits(start, end) else None

    fitting, most = 0, min(length.shared, ruler.limit - ruler.length(reached, end))
    shared, place = most, before.end
    while fitting < most:
        found = begin(shared)
        if found is None:
            most = shared - 1
        else:
            fitting, place = shared, found
        shared = (fitting + most + 1) // 2
    return place


def _nearest(places: Sequence[int], position: int, edge: _Edge) -> list[int]:
    """The begins of sentences on both sides of a position, the nearer one first; none where no sentence is wanted."""
    if edge != "sentence":
        return []
    at = bisect_left(places, position)
    return sorted(places[max(at - 1, 0) : at + 1], key=lambda place: abs(place - position))
