"""The stages of one row: cut, embed and search, score. Each is kept in the run folder and taken from there when done.

Comes in: the shared inputs and one row. Goes out: tables and facts in the store. Verdicts over rows are left to
``leaderboard.py``.
"""

import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faircut.chunkers.contract import Chunker, Models
from faircut.chunkers.shuffled import Shuffled
from faircut.embedding.contract import Embedder, Role, Vectors
from faircut.errors import ChunkingError
from faircut.evaluation.audit import Integrity, audit, total
from faircut.evaluation.context import Passage
from faircut.evaluation.measures import Measure
from faircut.evaluation.metrics import score
from faircut.experiment.inputs import Inputs
from faircut.experiment.meter import Account, MeteredEmbedder
from faircut.experiment.plan import Row
from faircut.experiment.retrieve import Ranking, retrieve
from faircut.experiment.store import RunStore
from faircut.experiment.tables import chunk_table, chunks_from, hit_table, rankings_from, score_facts, score_table
from faircut.index.contract import Engine
from faircut.records import Chunk, Document, content_id

__all__ = ["Keys", "RowRun"]

Advance = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Keys:
    """Where the stages of one row lie: a hash of all that their content depends on."""

    chunks: str
    hits: str
    scores: str


@dataclass(frozen=True)
class RowRun:
    """One row of the comparison with everything that it needs."""

    row: Row
    chunker: Chunker
    embedder: Embedder
    engine: Engine
    inputs: Inputs
    measures: tuple[Measure, ...]
    store: RunStore
    code: str
    advance: Advance

    @property
    def keys(self) -> Keys:
        """The keys of this row's stages; each holds the one before it."""
        inputs = self.inputs
        parts = (_embedder_id(self.embedder), inputs.budget.name, *_chunker_ids(self.chunker))
        chunks = content_id(self.code, inputs.corpus_id, *parts)
        hits = content_id(chunks, inputs.questions_id, str(self.engine), f"{self.budget} {self.k}")
        return Keys(chunks, hits, content_id(hits, *map(str, self.measures)))

    @property
    def budget(self) -> int:
        """The largest token budget of the measures."""
        return max((m.cut.amount for m in self.measures if m.cut.unit == "tokens"), default=0)

    @property
    def k(self) -> int:
        """The largest number of chunks that a measure looks at."""
        return max((m.cut.amount for m in self.measures if m.cut.unit == "chunks"), default=1)

    def run(self) -> Keys:
        """Do what is not done yet and return where it lies."""
        keys = self.keys
        stages = (("chunks", keys.chunks), ("hits", keys.hits), ("scores", keys.scores))
        if not all(self.store.has(*stage) for stage in stages):
            chunks = self.cut(keys.chunks)
            passages = self.inputs.passages(chunks)
            rankings = self.search(keys, chunks, passages)
            self.score(keys.scores, chunks, passages, rankings)
        return keys

    # ------------------------------------------------------------ documents -> chunks

    def cut(self, key: str) -> list[Chunk]:
        """The chunks of all documents, in document order."""
        if self.store.has("chunks", key):
            return chunks_from(self.store.read("chunks", key)[0], self.inputs.documents)
        self._warm_up()
        account = Account()
        models = Models.of(MeteredEmbedder(self.embedder, account))
        by_document, seconds = self._cut_documents(models)
        chunks = [chunk for part in by_document for chunk in part]
        if not chunks:
            raise ChunkingError(f"{self.row}: no chunk came out of {len(self.inputs.documents)} documents.")
        integrity = total(map(audit, self.inputs.documents.values(), by_document, (models,) * len(by_document)))
        sizes = self.inputs.budget.count_many([c.embedded_text for c in chunks])
        facts = self._chunk_facts(chunks, sizes, models, integrity)
        facts["uncut"] = sum(len(part) == 1 for part in by_document)
        facts["cutting"] = {"seconds": max(seconds - account.seconds, 0.0), "embedded": asdict(account)}
        self.store.write("chunks", key, chunk_table(chunks, sizes, self.inputs), facts)
        return chunks

    def _warm_up(self) -> None:
        """Load what the chunker needs, so that the seconds of cutting do not depend on which row came first."""
        document = Document("warm-up", "One sentence, Dr. No. Another one.\n\nA paragraph.")
        with warnings.catch_warnings(), suppress(ChunkingError):  # a user's splitter may not like this text
            warnings.simplefilter("ignore")
            self.chunker.chunk(document, Models.of(self.embedder))

    def _cut_documents(self, models: Models) -> tuple[list[list[Chunk]], float]:
        by_document = []
        started = perf_counter()
        for count, document in enumerate(self.inputs.documents.values(), 1):
            by_document.append(self.chunker.chunk(document, models))
            self.advance(f"cut {self.row.chunker}", count, len(self.inputs.documents))
        return by_document, perf_counter() - started

    def _chunk_facts(
        self, chunks: Sequence[Chunk], sizes: Sequence[int], models: Models, integrity: Integrity
    ) -> dict[str, Any]:
        own = np.array(models.tokenizer.count_many([c.embedded_text for c in chunks])) + models.overhead
        low, median, high = (float(q) for q in np.quantile(sizes, (0.05, 0.5, 0.95)))
        lost_at = [[document, span.start, span.end] for document, span in integrity.lost_at]
        counts = {k: v for k, v in asdict(replace(integrity, lost_at=())).items() if k != "lost_at"}
        return {
            "spec": str(self.chunker),
            "is_control": isinstance(self.chunker, Shuffled),
            "content": content_id(*(chunk.id for chunk in chunks)),
            "chunks": len(chunks),
            "size": {"mean": float(np.mean(sizes)), "p5": low, "median": median, "p95": high},
            "embedded_tokens": int(np.minimum(own, self.embedder.max_tokens).sum()),
            "integrity": counts | {"lost_at": lost_at, "ok": integrity.ok, "words": str(integrity)},
        }

    # ------------------------------------------------------------ chunks -> hits

    def search(self, keys: Keys, chunks: Sequence[Chunk], passages: Sequence[Passage]) -> list[Ranking]:
        """The ranked chunks of every question."""
        if self.store.has("hits", keys.hits):
            return rankings_from(self.store.read("hits", keys.hits)[0], len(self.inputs.questions))
        started = perf_counter()
        vectors = self._embed_chunks(chunks)
        embedding = perf_counter() - started
        questions = self.inputs.questions
        queries = self.embedder.embed([q.text for q in questions], "query")
        tokens = np.array([p.tokens for p in passages], dtype=np.int64)
        started = perf_counter()
        with self._index(keys.hits, chunks, vectors) as index:
            indexed = perf_counter()
            within = [q.within for q in questions]
            rankings = retrieve(index, queries, within, tokens, budget=self.budget, k=self.k)
            searching = perf_counter() - indexed
        self.advance(f"search {self.row.chunker}", len(questions), len(questions))
        facts = {
            "embedding_seconds": embedding,
            "indexing_seconds": indexed - started,
            "search_seconds_per_question": searching / len(questions),
        }
        self.store.write("hits", keys.hits, hit_table(rankings, chunks, self.inputs), facts)
        return rankings

    def _embed_chunks(self, chunks: Sequence[Chunk]) -> Vectors:
        texts = [c.embedded_text for c in chunks]
        return self.embedder.embed(
            texts, "passage", progress=lambda done, all_: self.advance(f"embed {self.row.chunker}", done, all_)
        )

    def _index(self, key: str, chunks: Sequence[Chunk], vectors: Vectors) -> Any:
        index = self.engine.create(self.store.fresh_folder("index", key))
        index.add(chunks, vectors)
        return index

    # ------------------------------------------------------------ hits -> scores

    def score(
        self, key: str, chunks: Sequence[Chunk], passages: Sequence[Passage], rankings: Sequence[Ranking]
    ) -> None:
        """Every measure for every question."""
        started = process_time()
        questions = self.inputs.questions
        ranked = {q.id: [passages[p] for p in r.positions] for q, r in zip(questions, rankings, strict=True)}
        names = {m.name for m in self.measures}
        table = score(
            questions,
            ranked,
            self.measures,
            token_index=self.inputs.token_index,
            evidence_texts=self.inputs.evidence_texts() if "literal_hit" in names else None,
            cosines=self._cosines(chunks, rankings) if "semantic_hit" in names else None,
        )
        facts = score_facts(table) | {"scoring_seconds": process_time() - started}
        self.store.write("scores", key, score_table(table, self.inputs), facts)

    def _cosines(self, chunks: Sequence[Chunk], rankings: Sequence[Ranking]) -> dict[str, NDArray[np.floating]]:
        """Cosines of each question's first chunks with its pieces of evidence."""
        texts = self.inputs.evidence_texts()
        first = {q.id: r.positions for q, r in zip(self.inputs.questions, rankings, strict=True)}
        needed = sorted({int(p) for positions in first.values() for p in positions})
        place = {position: at for at, position in enumerate(needed)}
        vectors = self.embedder.embed([chunks[p].embedded_text for p in needed], "passage")
        flat = [text for pieces in texts.values() for text in pieces]
        row = dict(zip(flat, self.embedder.embed(flat, "passage"), strict=True))
        return {
            name: vectors[[place[int(p)] for p in positions]] @ np.stack([row[t] for t in texts[name]]).T
            for name, positions in first.items()
        }


def _embedder_id(embedder: Embedder) -> str:
    """The model, and what it puts in front of texts: the same weights with another prefix are another embedder."""
    roles: tuple[Role, ...] = ("query", "passage", "sentence")
    prefixes = (f"{role}:{embedder.prefix(role)}:{embedder.overhead(role)}" for role in roles)
    return content_id(embedder.fingerprint, *prefixes)


def _chunker_ids(chunker: Any) -> list[str]:
    """The spec, and the ``fingerprint`` of every part that has one: the code behind a user's splitter may change."""
    ids, waiting = [str(chunker)], [chunker]
    while waiting:
        part = waiting.pop()
        ids += [part.fingerprint] if hasattr(part, "fingerprint") else []
        waiting += [getattr(part, f.name) for f in fields(part)] if is_dataclass(part) else []
    return ids
