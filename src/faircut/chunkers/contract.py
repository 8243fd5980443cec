"""The seam of cutting: a document in, chunks out. Each family of chunkers is a file beside this one."""

from dataclasses import dataclass
from typing import Protocol

from faircut.embedding.contract import Embedder
from faircut.records import Chunk, Document
from faircut.text.contract import TokenCounter

__all__ = ["Chunker", "Models"]


@dataclass(frozen=True)
class Models:
    """What a chunker may use: the tokenizer in which sizes are counted, and an embedder where meaning is needed.

    ``overhead`` is what the embedder adds to each chunk in tokens (special tokens, prefix); the ceiling in tokens
    includes it. ``embedder`` may be None for chunkers that need no vectors.
    """

    tokenizer: TokenCounter
    overhead: int = 0
    embedder: Embedder | None = None

    @classmethod
    def of(cls, embedder: Embedder) -> "Models":
        """The models that go with one embedder: its tokenizer, its overhead for passages, itself."""
        return cls(tokenizer=embedder.tokenizer, overhead=embedder.overhead("passage"), embedder=embedder)


class Chunker(Protocol):
    """Cuts documents. Implementations are frozen dataclasses whose fields are the parameters of their spec.

    ``str(chunker)`` is the spec; the class attribute ``name`` is its name.
    """

    def chunk(self, document: Document, models: Models) -> list[Chunk]:
        """The chunks of the document, in its order; none for an empty document.

        For every chunker that does not rewrite: verbatim spans, every non-blank character in at least one chunk, no
        blank chunk, deterministic, the ceiling held for context + text + overhead.

        Raises:
            TypeError: the document is not a ``Document``.
            EmbeddingError: the chunker needs an embedder and ``models`` has none.
        """
        ...
