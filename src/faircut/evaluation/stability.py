"""Edit stability: a chunker and documents in; how many chunks change when one sentence in the middle is edited out.

A chunk that did not change needs no new vector. What an embedding costs is left to the run. ``edit_stability`` looks at
one document, ``stability_of`` at a bounded sample of a corpus.
"""

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import accumulate, pairwise
from statistics import fmean
from typing import Any, Literal, get_args

from faircut.chunkers.contract import Chunker, Models
from faircut.chunkers.sentence import sentence_places
from faircut.embedding.remembered import RememberedEmbedder
from faircut.errors import FaircutWarning
from faircut.records import Block, Chunk, Document, Span

__all__ = [
    "Changes",
    "Edit",
    "EditStability",
    "Stability",
    "changed_chunks",
    "edit_stability",
    "edited",
    "stability_of",
]

Edit = Literal["replaced", "inserted", "removed"]

SAMPLE = 5
"""Documents that ``stability_of`` looks at, so that it costs the same for any corpus."""
SENTENCES = 20
"""The fewest sentences of a document that is looked at."""
CHARACTERS = 20_000
"""Of a longer document only so many are looked at: about 200 sentences."""

_LOOKED_AT = 100  # documents among which the sample is found
_GOLDEN = (5**0.5 - 1) / 2  # its multiples spread evenly, however many are taken
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


@dataclass(frozen=True, slots=True)
class Changes:
    """Chunks that one kind of edit changed: the mean over the documents, and the most in one."""

    mean: float
    worst: int


@dataclass(frozen=True, slots=True)
class Stability:
    """Edit stability over a sample of ``documents``, of ``chunks`` in the mean before the edit.

    The sample is of at most ``SAMPLE`` documents with ``SENTENCES`` sentences or more, spread evenly over the corpus,
    and of each at most the first ``CHARACTERS``.
    """

    documents: int
    chunks: float
    replaced: Changes
    inserted: Changes
    removed: Changes

    @property
    def worst(self) -> int:
        """The most chunks that one edit changed."""
        return max(self.replaced.worst, self.inserted.worst, self.removed.worst)

    def as_json(self) -> dict[str, Any]:
        """The fields, ``worst``, and all of it in ``words``."""
        return asdict(self) | {"worst": self.worst, "words": str(self)}

    def __str__(self) -> str:
        """One line in words, the sample included."""
        if not self.documents:
            return f"edit stability: no document with {SENTENCES} sentences or more"
        edits = ((name, getattr(self, name)) for name in get_args(Edit))
        said = ", ".join(f"{name} {found.mean:.1f} (at most {found.worst})" for name, found in edits)
        sample = f"{self.documents} document{'s' * (self.documents > 1)} of at most {CHARACTERS:,} characters"
        return f"chunks changed by one sentence {said}, of {self.chunks:.1f}; {sample}"


def stability_of(documents: Sequence[Document], chunker: Chunker, models: Models) -> Stability:
    """Edit stability on a sample of the documents, with bounded cost: at most 20 short cuts, each text embedded once.

    Deterministic. Where no document has sentences enough, ``documents`` is 0 and so is all else.

    Raises:
        FaircutError: the chunker failed on a document, edited or not.
    """
    if models.embedder is not None:
        models = replace(models, embedder=RememberedEmbedder(models.embedder))
    with warnings.catch_warnings():  # what there is to warn of was said when the documents themselves were cut
        warnings.simplefilter("ignore", FaircutWarning)
        found = [edit_stability(chunker, document, models) for document in _sample(documents)]
    edits = {edit: [getattr(one, edit) for one in found] for edit in get_args(Edit)}
    changes = {edit: Changes(fmean(counts or [0]), max(counts, default=0)) for edit, counts in edits.items()}
    return Stability(len(found), fmean([one.chunks for one in found] or [0]), **changes)


def _sample(documents: Sequence[Document]) -> list[Document]:
    """The beginnings of some documents that are long enough, in the order of the corpus."""
    spread = sorted(range(len(documents)), key=lambda at: at * _GOLDEN % 1)[:_LOOKED_AT]
    chosen: dict[int, Document] = {}
    for at in spread:
        beginning = _beginning(documents[at])
        if len(_sentences(beginning)) >= SENTENCES:
            chosen[at] = beginning
        if len(chosen) == SAMPLE:
            break
    return [chosen[at] for at in sorted(chosen)]


def _beginning(document: Document) -> Document:
    """The document up to ``CHARACTERS``, cut at the last line end or space before."""
    if len(document.text) <= CHARACTERS:
        return document
    spaces = (document.text.rfind(white, CHARACTERS // 2, CHARACTERS) + 1 for white in ("\n", " "))
    end = next((space for space in spaces if space), CHARACTERS)
    kept = [b for b in document.blocks if b.span.start < end]
    blocks = [replace(b, span=Span(b.span.start, min(b.span.end, end))) for b in kept]
    return replace(document, text=document.text[:end], blocks=tuple(blocks))


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
