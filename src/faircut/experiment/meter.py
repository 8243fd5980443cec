"""An embedder that keeps account: what was asked of it and how long that took. Wraps any embedder, is one itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from faircut.embedding.contract import Embedder, Progress, Role, Vectors
from faircut.embedding.late import chunk_tokens, embed_chunks
from faircut.records import Chunk, Document
from faircut.text.contract import TokenCounter

__all__ = ["Account", "MeteredEmbedder"]


@dataclass
class Account:
    """Distinct texts asked for, tokens that the model computes for them, and seconds waited for the vectors.

    ``overlong`` are the texts of which the model did not see the end; of chunks, the audit counts them.
    """

    texts: int = 0
    overlong: int = 0
    tokens: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class MeteredEmbedder:
    """Passes everything to ``inner`` and writes the account. Tokens beyond the model's limit are not counted."""

    inner: Embedder
    account: Account = field(default_factory=Account, compare=False)

    def __str__(self) -> str:
        return str(self.inner)

    @property
    def dimensions(self) -> int:
        """As the inner embedder."""
        return self.inner.dimensions

    @property
    def fingerprint(self) -> str:
        """As the inner embedder."""
        return self.inner.fingerprint

    @property
    def tokenizer(self) -> TokenCounter:
        """As the inner embedder."""
        return self.inner.tokenizer

    @property
    def max_tokens(self) -> int:
        """As the inner embedder."""
        return self.inner.max_tokens

    def prefix(self, role: Role) -> str:
        """As the inner embedder."""
        return self.inner.prefix(role)

    def overhead(self, role: Role) -> int:
        """As the inner embedder."""
        return self.inner.overhead(role)

    def embed(self, texts: Sequence[str], role: Role, *, progress: Progress | None = None) -> Vectors:
        """The inner embedder's vectors."""
        started = perf_counter()
        vectors = self.inner.embed(texts, role, progress=progress)
        self._note(texts, role, perf_counter() - started)
        return vectors

    def embed_chunks(
        self, documents: Mapping[str, Document], chunks: Sequence[Chunk], *, progress: Progress | None = None
    ) -> Vectors:
        """The inner embedder's vectors of chunks."""
        started = perf_counter()
        vectors = embed_chunks(self.inner, documents, chunks, progress=progress)
        self.account.seconds += perf_counter() - started
        self.account.texts += len({chunk.embedded_text for chunk in chunks})
        self.account.tokens += self.chunk_tokens(documents, chunks)
        return vectors

    def chunk_tokens(self, documents: Mapping[str, Document], chunks: Sequence[Chunk]) -> int:
        """As the inner embedder."""
        return chunk_tokens(self.inner, documents, chunks)

    def _note(self, texts: Sequence[str], role: Role, seconds: float) -> None:
        self.account.seconds += seconds
        distinct = list(dict.fromkeys(texts))
        overhead = self.inner.overhead(role)
        counts = [c + overhead for c in self.inner.tokenizer.count_many(distinct)]
        self.account.texts += len(distinct)
        self.account.overlong += sum(c > self.inner.max_tokens for c in counts)
        self.account.tokens += sum(min(c, self.inner.max_tokens) for c in counts)
