"""The records that flow through all stages: spans, documents, chunks, questions, hits.

All are frozen, slotted and comparable. Offsets are Python code points into ``Document.text``, half-open. Ids of chunks
come from their content, so equal chunkings compare equal. Reading and writing of records is left to the stages.
"""

from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import pairwise
from typing import Literal

__all__ = ["Block", "BlockKind", "Chunk", "Document", "Evidence", "Hit", "Question", "Score", "Span"]

BlockKind = Literal["heading", "paragraph", "list", "table", "code", "quote", "other"]


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Half-open range ``[start, end)`` of code points, ``0 <= start < end``.

    Raises:
        ValueError: the range is empty or begins before 0.
    """

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise ValueError(f"a span needs 0 <= start < end, found [{self.start}, {self.end})")

    def __len__(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a document's structure. The blocks of a document tile its text in order.

    ``level`` is a heading's depth (1 is the highest) or a list's nesting; ``page`` counts from 1.
    """

    kind: BlockKind
    span: Span
    level: int | None = None
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its structure. ``text`` is never altered after reading.

    Raises:
        ValueError: the blocks do not tile the text.
    """

    id: str
    text: str
    blocks: tuple[Block, ...] = ()
    title: str = ""
    source: str = ""
    media_type: str = "text/plain"
    language: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise TypeError(f"document {self.id!r}: text must be str, found {type(self.text).__name__}")
        if self.blocks:
            self._check_tiling()

    def _check_tiling(self) -> None:
        edges = [self.blocks[0].span.start == 0, self.blocks[-1].span.end == len(self.text)]
        joints = (a.span.end == b.span.start for a, b in pairwise(self.blocks))
        if not (all(edges) and all(joints)):
            raise ValueError(f"document {self.id!r}: the blocks do not tile the text of {len(self.text)} characters")


def content_id(*parts: str) -> str:
    """A short id made of content: 16 hexadecimal digits of BLAKE2b over the length-prefixed parts."""
    digest = blake2b(digest_size=8)
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        digest.update(len(raw).to_bytes(8, "big"))
        digest.update(raw)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of one document, as spans of its text.

    Verbatim when ``text`` is the document's text at ``spans``, joined. Rewritten text (propositions) keeps the spans
    that it came from. ``context`` (heading path, repeated table header) is embedded in front of the text and counted
    in the ceiling, and is never part of the spans.
    """

    document_id: str
    spans: tuple[Span, ...]
    text: str
    context: str = ""
    id: str = field(init=False)

    def __post_init__(self) -> None:
        if not self.spans:
            raise ValueError(f"a chunk of document {self.document_id!r} has no spans")
        places = ",".join(f"{s.start}-{s.end}" for s in self.spans)
        object.__setattr__(self, "id", content_id(self.document_id, places, self.text, self.context))

    @property
    def embedded_text(self) -> str:
        """What the embedder sees: the context, a line end, the text."""
        return f"{self.context}\n{self.text}" if self.context else self.text

    def is_verbatim(self, document: Document) -> bool:
        """Whether the text is the document's own at the spans."""
        return self.text == "".join(document.text[s.start : s.end] for s in self.spans)


@dataclass(frozen=True, slots=True, order=True)
class Evidence:
    """A place in a document that answers a question or part of it."""

    document_id: str
    span: Span


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its evidence.

    ``match`` is ``all`` when the spans together are the answer, ``any`` when they are alternatives.
    ``within`` limits the search to one document.
    """

    id: str
    text: str
    evidence: tuple[Evidence, ...]
    match: Literal["all", "any"] = "all"
    within: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk retrieved for a question; ``rank`` counts from 1, ``score`` is the index's (larger is nearer)."""

    question_id: str
    chunk_id: str
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Score:
    """The value of one measure for one question, in ``[0, 1]``."""

    question_id: str
    measure: str
    value: float
