"""The seam of cutting: a document in, chunks out. Each family of chunkers is a file beside this one."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from faircut.embedding.contract import Embedder
from faircut.records import Chunk, Document
from faircut.text.contract import TokenCounter

if TYPE_CHECKING:
    from faircut.llm.contract import LanguageModel

__all__ = ["Chunker", "Models", "Tally"]


@dataclass
class Tally:
    """What became of a language model's answers while documents were cut; chunkers that ask one add to it.

    ``asked`` are the parts of the text that the model was asked about (sentences of ``propositions``, windows of
    ``llm``, chunks of ``contextual``), ``fallbacks`` those of them without a usable answer. ``statements`` were written
    by the model; ``unfaithful`` of them say what is not in their sources and ``overlong`` are above the ceiling: their
    sources stand in for them. ``uncited`` sentences are in no statement and stand for themselves.
    """

    asked: int = 0
    fallbacks: int = 0
    statements: int = 0
    unfaithful: int = 0
    overlong: int = 0
    uncited: int = 0


@dataclass(frozen=True)
class Models:
    """What a chunker may use: the tokenizer in which sizes are counted, and an embedder where meaning is needed.

    ``overhead`` is what the embedder adds to each chunk in tokens (special tokens, prefix); the ceiling in tokens
    includes it. ``embedder`` may be None for chunkers that need no vectors, ``language_model`` for those that ask none.
    ``tally``, where there is one, is told how a language model's answers fared.
    """

    tokenizer: TokenCounter
    overhead: int = 0
    embedder: Embedder | None = None
    language_model: "LanguageModel | None" = None
    tally: Tally | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, embedder: Embedder, language_model: "LanguageModel | None" = None) -> "Models":
        """The models that go with one embedder: its tokenizer, its overhead for passages, itself."""
        return cls(
            tokenizer=embedder.tokenizer,
            overhead=embedder.overhead("passage"),
            embedder=embedder,
            language_model=language_model,
        )


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
            LlmError: the chunker needs a language model and ``models`` has none, or it cannot be asked any more.
        """
        ...
