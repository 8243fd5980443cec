"""A dry run: a plan and its inputs in; what remote embedders and a language model would be asked, and the price, out.

Documents are cut for real, with the cache's vectors, or made-up ones where it has none: then the cuts, and with them
the counts, are about those of the run. Nothing is sent. What requests to a language model take is left to ``llm``.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

import numpy as np

from faircut.chunkers import build
from faircut.chunkers.asking import needs_language_model, rewrites
from faircut.chunkers.contract import Chunker, Models
from faircut.chunkers.sentence import sentence_places
from faircut.chunkers.shuffled import Shuffled
from faircut.embedding import EMBEDDERS
from faircut.embedding.cache import CachedEmbedder, default_cache
from faircut.embedding.contract import Embedder, Progress, Role, Vectors
from faircut.embedding.late import text_tokens
from faircut.evaluation.stability import stability_of
from faircut.experiment.inputs import Inputs
from faircut.experiment.paying import is_remote, price_of
from faircut.experiment.plan import Plan
from faircut.experiment.searching import sentences_of
from faircut.llm.contract import Answer, Failure, Request
from faircut.llm.prices import PriceTable, dollars
from faircut.records import Chunk, Document
from faircut.text.contract import TokenCounter

__all__ = ["EmbeddingEstimate", "Rehearsed", "RehearsedEmbedder", "rehearse", "rehearse_cuts"]

Advance = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class EmbeddingEstimate:
    """What a remote embedder would be sent: distinct texts, and the tokens of those that are not in the cache.

    ``price`` is in US dollars for a million tokens, None where it is unknown; ``tokenizer`` counted, and is not the
    model's own unless the spec names it.
    """

    embedder: str
    texts: int
    cached: int
    tokens: int
    price: float | None
    tokenizer: str

    @property
    def money(self) -> float | None:
        """US dollars for the tokens."""
        return None if self.price is None else self.tokens * self.price / 1e6

    def lines(self) -> list[str]:
        """Four lines for a person."""
        unknown = "unknown (name the price in a table, --prices FILE)"
        cost = unknown if self.money is None else f"about {dollars(self.money)}"
        return [
            f"embedder: {self.embedder}",
            f"texts: {self.texts - self.cached:,} to embed; {self.texts:,} in all, {self.cached:,} in the cache",
            f"tokens embedded: about {self.tokens:,} (estimated with the tokenizer {self.tokenizer})",
            f"cost: {cost}; chunks with moved boundaries, for the diagnosis of misses, come on top",
        ]


@dataclass(frozen=True)
class RehearsedEmbedder:
    """In the place of a remote embedder: takes down what would be embedded, and sends nothing.

    Vectors ``(n, d)`` are those of the cache; where it has none, a direction made of the text's hash.
    """

    inner: CachedEmbedder
    missing: dict[tuple[Role, str], int] = field(default_factory=dict, compare=False, repr=False)
    known: set[tuple[Role, str]] = field(default_factory=set, compare=False, repr=False)

    def __str__(self) -> str:
        return str(self.inner)

    @property
    def dimensions(self) -> int:
        """As the inner embedder."""
        return self.inner.dimensions

    @property
    def fingerprint(self) -> str:
        """Never that of the inner embedder: some vectors are made up."""
        return f"rehearsed-{self.inner.fingerprint}"

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

    def embed(self, texts: Sequence[str], role: Role, *, progress: Progress | None = None) -> Vectors:  # noqa: ARG002
        """The vectors; what is not in the cache is taken down with its tokens."""
        listed = list(texts)
        vectors, known = self.inner.recall(listed, role)
        self.known.update((role, text) for text, is_known in zip(listed, known, strict=True) if is_known)
        unknown = np.flatnonzero(~known)
        for place in unknown:
            vectors[place] = _direction(listed[place], self.dimensions)
        new = [text for text in dict.fromkeys(listed[at] for at in unknown) if (role, text) not in self.missing]
        self.missing.update(((role, t), n) for t, n in zip(new, text_tokens(self, new, role), strict=True))
        return vectors

    def estimate(self, prices: PriceTable) -> EmbeddingEstimate:
        """What was taken down so far."""
        cached, tokens = len(self.known), sum(self.missing.values())
        price = price_of(self.inner.inner, prices)
        return EmbeddingEstimate(str(self), cached + len(self.missing), cached, tokens, price, self.tokenizer.name)


Rehearsed = tuple[list[EmbeddingEstimate], list[Request]]
"""What is to be embedded, and what is to be asked."""


def _direction(text: str, dimensions: int) -> Vectors:
    """A unit vector ``(d,)`` that depends on the text alone."""
    seed = int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())
    drawn = np.random.default_rng(seed).normal(size=dimensions).astype(np.float32)
    found: Vectors = drawn / np.linalg.norm(drawn)
    return found


@dataclass(frozen=True)
class _Listener:
    """Takes requests down and answers none."""

    heard: list[Request] = field(default_factory=list)
    model: str = "nobody"

    def complete(self, requests: Sequence[Request], *, progress: Progress | None = None) -> list[Answer]:  # noqa: ARG002
        self.heard.extend(requests)
        return [Answer(failure=Failure("not_asked", "nothing is asked in a dry run.")) for _ in requests]


class _Stage:
    """The embedders of a rehearsal by their specs, remote ones replaced, and who listens to what chunkers ask."""

    def __init__(self, embedders: Iterable[str], cache: Path | None) -> None:
        built: dict[str, Embedder] = {name: EMBEDDERS.build(name) for name in embedders}
        path = cache or default_cache()
        self.remote = {n: RehearsedEmbedder(CachedEmbedder(e, path)) for n, e in built.items() if is_remote(e)}
        self.embedders = built | self.remote
        self.listener = _Listener()

    def cut(self, embedder: str, chunker: Chunker, document: Document) -> list[Chunk]:
        """The chunks of a document; none where nothing is asked for them."""
        if embedder not in self.remote and not needs_language_model(chunker):
            return []
        return chunker.chunk(document, Models.of(self.embedders[embedder], self.listener))

    def heard(self, prices: PriceTable) -> Rehearsed:
        """What each remote embedder was asked to embed, and what a language model would be asked."""
        for embedder in self.remote.values():
            embedder.inner.close()
        return [embedder.estimate(prices) for embedder in self.remote.values()], self.listener.heard


def rehearse_cuts(
    embedder: str, chunkers: Sequence[str], documents: Iterable[Document], prices: PriceTable
) -> Rehearsed:
    """What cutting alone would embed, and what chunkers would ask a language model first.

    What follows a wrong answer is not known before.

    Args:
        embedder: a spec.
        chunkers: specs.
        documents: to be cut.
        prices: of models.
    """
    stage, built = _Stage([embedder], None), [build(chunker) for chunker in chunkers]
    if stage.remote or any(map(needs_language_model, built)):
        for document in documents:
            for chunker in built:
                stage.cut(embedder, chunker, document)
    return stage.heard(prices)


def rehearse(
    plan: Plan, inputs: Inputs, prices: PriceTable, *, cache: Path | None = None, advance: Advance | None = None
) -> Rehearsed:
    """What each remote embedder of the plan would be sent, and what its chunkers would ask a language model first.

    What follows a wrong answer is not known before, nor are the texts that a language model would write: its sources
    are counted in their place.

    Args:
        plan: what would be run.
        inputs: its documents and questions.
        prices: of models.
        cache: the file of vectors; the default lies in the user's cache folder. It is read, never written.
        advance: called with progress.
    """
    stage = _Stage(plan.embedders, cache)
    for count, row in enumerate(plan.rows, 1):
        chunker = row.build_chunker()
        chunks = [c for document in inputs.documents.values() for c in stage.cut(row.embedder, chunker, document)]
        if (embedder := stage.remote.get(row.embedder)) is not None:
            _search(plan, inputs, embedder, chunker, chunks)
        if advance:
            advance("rehearse", count, len(plan.rows))
    return stage.heard(prices)


def _search(plan: Plan, inputs: Inputs, embedder: RehearsedEmbedder, chunker: Chunker, chunks: Sequence[Chunk]) -> None:
    """Everything that a run embeds for a row once it is cut, but for what only its hits can tell."""
    if not (needs_language_model(chunker) or rewrites(chunker) or isinstance(chunker, Shuffled)):
        stability_of(list(inputs.documents.values()), chunker, Models.of(embedder))
    if plan.retrieval.uses_vectors:
        embedder.embed([chunk.embedded_text for chunk in chunks], "passage")
        embedder.embed([question.text for question in inputs.questions], "query")
    if plan.retrieval.best_sentence:
        embedder.embed(_sentences(chunks, inputs), "passage")
    if any(measure.name == "semantic_hit" for measure in plan.all_measures):
        embedder.embed([text for texts in inputs.evidence_texts().values() for text in texts], "passage")


def _sentences(chunks: Sequence[Chunk], inputs: Inputs) -> list[str]:
    """The sentences of each chunk, as they are embedded to be searched."""
    places = {id_: sentence_places(inputs.documents[id_]) for id_ in {chunk.document_id for chunk in chunks}}
    return [
        sentence.embedded_text
        for chunk in chunks
        for sentence in sentences_of(chunk, inputs.documents[chunk.document_id], places[chunk.document_id])
    ]
