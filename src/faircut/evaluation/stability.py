"""Edit stability: a chunker and a document in; how many chunks change when one sentence in the middle is edited out.

A chunk that did not change needs no new vector. What an embedding costs is left to the run.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Literal, get_args

from faircut.chunkers.contract import Chunker, Models
from faircut.chunkers.sentence import sentence_places
from faircut.records import Block, Chunk, Document, Span

__all__ = ["Edit", "EditStability", "changed_chunks", "edit_stability", "edited"]

Edit = Literal["replaced", "inserted", "removed"]

_STEPS = 40  # sentences that are looked at for one that differs from the edited one


@dataclass(frozen=True, slots=True)
class EditStability:
    """Chunks that change with one sentence, of ``chunks`` before the edit; see ``changed_chunks``."""

    chunks: int
    replaced: int
    inserted: int
    removed: int

    @property
    def worst(self) -> int:
        """The most chunks that one of the edits changed."""
        return max(self.replaced, self.inserted, self.removed)


def edit_stability(chunker: Chunker, document: Document, models: Models) -> EditStability:
    """Cut the document as it is and with the sentence in its middle replaced, doubled by another one, and removed.

    A document without a sentence has no chunks and no changes.
    """
    before = chunker.chunk(document, models)
    if not before:
        return EditStability(0, 0, 0, 0)
    after = {edit: chunker.chunk(edited(document, edit), models) for edit in get_args(Edit)}
    return EditStability(len(before), **{edit: changed_chunks(before, chunks) for edit, chunks in after.items()})


def changed_chunks(before: Sequence[Chunk], after: Sequence[Chunk]) -> int:
    """Chunks of one cut that are not in the other, by the text that is embedded; of both sides the larger number."""
    old, new = (Counter(chunk.embedded_text for chunk in chunks) for chunks in (before, after))
    return max((old - new).total(), (new - old).total())


def edited(document: Document, edit: Edit, *, at: float = 0.5) -> Document:
    """The document with one sentence edited, its blocks moved along.

    The sentence is that at the share ``at`` of all sentences of running text (of all, where there is no running text).
    It is replaced by another sentence of the document, or that one is inserted behind it, or it is removed with the
    white space that parted it from its neighbour.

    Raises:
        ValueError: the document has no sentence.
    """
    sentences = _sentences(document)
    if not sentences:
        raise ValueError(f"document {document.id!r} has no sentence that could be edited.")
    number = min(int(at * len(sentences)), len(sentences) - 1)
    start, end = sentences[number]
    text = document.text[start:end]
    words = text.rstrip()
    other = _other(document, sentences, number)
    if edit == "replaced":
        return _with(document, start, end, other + text[len(words) :])
    if edit == "inserted":
        return _with(document, start, end, f"{words} {other}{text[len(words) :]}")
    return _removed(document, start, end, text[len(words) :])


def _sentences(document: Document) -> list[tuple[int, int]]:
    """The sentences of running text, else of all, as ranges with the white space behind them."""
    ranges = list(pairwise(sentence_places(document)))
    kinds = {b.span.start: b.kind for b in document.blocks}
    starts = sorted(kinds)
    prose: list[tuple[int, int]] = []
    at = -1
    for start, end in ranges:
        while at + 1 < len(starts) and starts[at + 1] <= start:
            at += 1
        if at < 0 or kinds[starts[at]] in ("paragraph", "quote", "other"):
            prose.append((start, end))
    return prose or ranges


def _other(document: Document, sentences: Sequence[tuple[int, int]], number: int) -> str:
    """The words of a sentence far away that differs from the one edited, else this one twice."""
    own = document.text[slice(*sentences[number])].strip()
    for step in range(_STEPS):
        start, end = sentences[(number + len(sentences) // 2 + step) % len(sentences)]
        words = document.text[start:end].strip()
        if words != own:
            return words
    return f"{own} {own}"


def _removed(document: Document, start: int, end: int, white: str) -> Document:
    """Without the sentence. The last of its block takes the white space before it along, so that blocks stay apart."""
    block = next((b for b in document.blocks if b.span.start <= start < b.span.end), None)
    is_last = end == block.span.end if block else "\n" in white
    before = document.text[:start].rstrip()
    is_first = start == block.span.start if block else "\n" in document.text[len(before) : start]
    if is_last and not is_first:
        return _with(document, len(before), end, white)
    return _with(document, start, end, "")


def _with(document: Document, start: int, end: int, new: str) -> Document:
    """The document with ``text[start:end]`` replaced; the range lies in one block, which vanishes when it is empty."""
    text = document.text[:start] + new + document.text[end:]
    grown = len(new) - (end - start)
    sizes = [len(b.span) + (grown if b.span.start <= start < b.span.end else 0) for b in document.blocks]
    kept = [(block, size) for block, size in zip(document.blocks, sizes, strict=True) if size]
    return replace(document, text=text, blocks=tuple(_tiled(kept)))


def _tiled(sized: Sequence[tuple[Block, int]]) -> list[Block]:
    ends = accumulate(size for _, size in sized)
    return [replace(block, span=Span(end - size, end)) for (block, size), end in zip(sized, ends, strict=True)]
