"""What statements are made of: a document in; its sentences with their headings, in packs for a model, out.

Tables, code and headings without text are sources as well, which stand for themselves: no model is asked to rewrite
them. What a model makes of a pack is left to ``statements`` and ``propositionizer``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from faircut.chunkers.asking import one_line, shortened
from faircut.chunkers.boundaries import WHOLE
from faircut.chunkers.packing import Ruler
from faircut.chunkers.sections import blocks_of, heading_paths
from faircut.chunkers.units import Unit, document_units
from faircut.records import Block

__all__ = ["Pack", "Source", "halves", "packs_of", "sources_of"]

_CHARACTERS_A_WORD = 8  # of text without spaces
_TITLE = 200  # characters of a title that a model is shown


class Source(NamedTuple):
    """A range of the document that statements may come from; headings right before it belong to it.

    ``text_start`` is where it begins without those headings, ``path`` the titles above it, ``context`` a table's header
    where the table was cut. ``kept`` sources are shown to no model.
    """

    start: int
    end: int
    text_start: int
    path: tuple[str, ...]
    context: str = ""
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Pack:
    """Consecutive sentences under one heading, as a model is shown them; ``numbers`` are those of their sources."""

    title: str
    path: tuple[str, ...]
    numbers: tuple[int, ...]
    sentences: tuple[str, ...]

    @property
    def section(self) -> str:
        """The titles above the sentences on one line."""
        return " > ".join(self.path)


def sources_of(ruler: Ruler) -> list[Source]:
    """The sources of a document, tiling it; each fits the ruler's limit."""
    blocks = blocks_of(ruler.document)
    units = document_units(ruler, blocks)
    paths = [tuple(filter(None, path)) for path in heading_paths(ruler.document, blocks)]
    sources: list[Source] = []
    for unit in units:
        kind = blocks[unit.block].kind
        source = Source(unit.start, unit.end, unit.start, paths[unit.block], unit.context, kind in ("heading", *WHOLE))
        before = sources[-1] if sources else None
        if before and _goes_on(ruler, blocks, before, unit):
            text_start = before.text_start if kind == "heading" else unit.start
            sources[-1] = source._replace(start=before.start, text_start=text_start)
        else:
            sources.append(source)
    return sources


def _goes_on(ruler: Ruler, blocks: Sequence[Block], before: Source, unit: Unit) -> bool:
    """Whether a source of headings alone takes in the unit that follows it."""
    headings_alone = unit.block > 0 and blocks[unit.block - 1].kind == "heading" and before.kept
    begins_block = unit.begins in ("heading", "block")
    return headings_alone and begins_block and not unit.context and ruler.fits(before.start, unit.end)


def packs_of(ruler: Ruler, sources: Sequence[Source], words: int) -> list[Pack]:
    """Packs of about ``words`` words; none reaches over a heading, a table or code."""
    title = shortened(one_line(ruler.document.title), _TITLE)
    packs = []
    for group in _groups(ruler, sources, words):
        sentences = tuple(one_line(ruler.text[sources[n].text_start : sources[n].end]) for n in group)
        path = tuple(shortened(one_line(part), _TITLE) for part in sources[group[0]].path)
        packs.append(Pack(title, path, tuple(group), sentences))
    return packs


def _groups(ruler: Ruler, sources: Sequence[Source], words: int) -> Iterator[list[int]]:
    group: list[int] = []
    size = 0
    for number, source in enumerate(sources):
        text = ruler.text[source.text_start : source.end]
        length = max(len(text.split()), len(text) // _CHARACTERS_A_WORD)
        another = group and (source.path != sources[group[0]].path or size + length > words or source.kept)
        if another:
            yield group
            group, size = [], 0
        if not source.kept:
            group.append(number)
            size += length
    if group:
        yield group


def halves(pack: Pack) -> tuple[Pack, Pack]:
    """A pack of two sentences or more as two packs."""
    at = len(pack.numbers) // 2
    first = Pack(pack.title, pack.path, pack.numbers[:at], pack.sentences[:at])
    return first, Pack(pack.title, pack.path, pack.numbers[at:], pack.sentences[at:])
