"""The stages of one row: cut, embed and search, score. Each is kept in the run folder and taken from there when done.

Comes in: the shared inputs and one row. Goes out: tables and facts in the store. Verdicts over rows are left to
``leaderboard.py``.
"""

import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faircut.chunkers.ahead import asked_ahead, groups
from faircut.chunkers.asking import needs_language_model, rewrites
from faircut.chunkers.contract import Chunker, Models, Tally
from faircut.chunkers.shuffled import Shuffled
from faircut.embedding.contract import Embedder
from faircut.embedding.late import chunk_tokens
from faircut.errors import ChunkingError
from faircut.evaluation.audit import Integrity, audit, total
from faircut.evaluation.context import Passage
from faircut.evaluation.measures import Measure
from faircut.evaluation.metrics import score
from faircut.evaluation.stability import stability_of
from faircut.experiment.asking import MeteredModel
from faircut.experiment.identity import chunker_ids, embedder_id
from faircut.experiment.inputs import Inputs
from faircut.experiment.meter import Account, MeteredEmbedder
from faircut.experiment.notes import searched_chunks
from faircut.experiment.plan import Row
from faircut.experiment.retrieve import Ranking, retrieve
from faircut.experiment.searching import DEFAULT_RETRIEVAL, Retrieval, Searching
from faircut.experiment.store import RunStore
from faircut.experiment.tables import chunk_table, chunks_from, hit_table, rankings_from, score_facts, score_table
from faircut.experiment.units import Units
from faircut.index.contract import Engine
from faircut.llm.contract import LanguageModel
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
    retrieval: Retrieval = DEFAULT_RETRIEVAL
    language_model: LanguageModel | None = None

    @property
    def asks(self) -> bool:
        """Whether this row's chunker asks a language model, which costs money and is done no more than needed."""
        return needs_language_model(self.chunker)

    @property
    def keys(self) -> Keys:
        """The keys of this row's stages; each holds the one before it."""
        inputs = self.inputs
        parts = (embedder_id(self.embedder), inputs.budget.name, *chunker_ids(self.chunker))
        asked = (self.language_model.model,) if self.asks and self.language_model else ()
        chunks = content_id(self.code, inputs.corpus_id, *parts, *asked)
        hits = content_id(chunks, inputs.questions_id, str(self.engine), f"{self.budget} {self.k}", str(self.retrieval))
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
            chunks, sizes = self.cut(keys.chunks)
            passages = self.inputs.passages(chunks, sizes)
            rankings = self.search(keys, chunks, passages)
            self.score(keys.scores, chunks, passages, rankings)
        return keys

    # ------------------------------------------------------------ documents -> chunks

    def cut(self, key: str) -> tuple[list[Chunk], list[int]]:
        """The chunks of all documents, in document order, and their sizes in budget tokens."""
        if self.store.has("chunks", key):
            table = self.store.read("chunks", key)[0]
            return chunks_from(table, self.inputs.documents), table["tokens"].to_list()
        self._warm_up()
        account = Account()
        metered = MeteredModel(self.language_model) if self.asks and self.language_model else None
        models = Models.of(MeteredEmbedder(self.embedder, account), metered)
        tallies = [Tally() for _ in self.inputs.documents]
        by_document, seconds = self._cut_documents(models, tallies)
        waited = account.seconds + (metered.account.seconds if metered else 0.0)
        cutting: dict[str, Any] = {"seconds": max(seconds - waited, 0.0), "embedded": asdict(account)}
        if metered:
            cutting["asked"] = {"model": metered.model} | asdict(metered.account)
        chunks = [chunk for part in by_document for chunk in part]
        if not chunks:
            raise ChunkingError(f"{self.row}: no chunk came out of {len(self.inputs.documents)} documents.")
        integrity = total(
            audit(document, part, models, tally=tally, rewritten=rewrites(self.chunker))
            for document, part, tally in zip(self.inputs.documents.values(), by_document, tallies, strict=True)
        )
        sizes = self.inputs.budget.count_many([c.embedded_text for c in chunks])
        facts = self._chunk_facts(chunks, sizes, integrity) | {"cutting": cutting}
        is_cheap = not (self.asks or rewrites(self.chunker))  # with a model every edit would be paid for
        if not facts["is_control"] and is_cheap:  # a control is shuffled anew by every edit
            facts["stability"] = stability_of(list(self.inputs.documents.values()), self.chunker, models).as_json()
        facts["uncut"] = sum(len(part) == 1 for part in by_document)
        self.store.write("chunks", key, chunk_table(chunks, sizes, self.inputs), facts)
        return chunks, sizes

    def _warm_up(self) -> None:
        """Load what the chunker needs, so that the seconds of cutting do not depend on which row came first."""
        if self.asks:
            return
        document = Document("warm-up", "One sentence, Dr. No. Another one.\n\nA paragraph.")
        with warnings.catch_warnings(), suppress(ChunkingError):  # a user's splitter may not like this text
            warnings.simplefilter("ignore")
            self.chunker.chunk(document, Models.of(self.embedder))

    def _cut_documents(self, models: Models, tallies: Sequence[Tally]) -> tuple[list[list[Chunk]], float]:
        by_document = []
        started = perf_counter()
        tally_of = dict(zip(self.inputs.documents, tallies, strict=True))
        told, uncounted = partial(self.advance, f"ask for {self.row.chunker}"), Models.of(self.embedder)
        for group in groups(self.inputs.documents.values()):
            ready = asked_ahead(self.chunker, group, models, told, uncounted=uncounted)
            for document in group:
                by_document.append(self.chunker.chunk(document, replace(ready, tally=tally_of[document.id])))
                self.advance(f"cut {self.row.chunker}", len(by_document), len(self.inputs.documents))
        return by_document, perf_counter() - started

    def _chunk_facts(self, chunks: Sequence[Chunk], sizes: Sequence[int], integrity: Integrity) -> dict[str, Any]:
        low, median, high = (float(q) for q in np.quantile(sizes, (0.05, 0.5, 0.95)))
        lost_at = [[document, span.start, span.end] for document, span in integrity.lost_at]
        counts = {k: v for k, v in asdict(replace(integrity, lost_at=())).items() if k != "lost_at"}
        return {
            "spec": str(self.chunker),
            "is_control": isinstance(self.chunker, Shuffled),
            "content": content_id(*(chunk.id for chunk in chunks)),
            "chunks": len(chunks),
            "size": {"mean": float(np.mean(sizes)), "p5": low, "median": median, "p95": high},
            "embedded_tokens": chunk_tokens(self.embedder, self.inputs.documents, chunks),
            "integrity": counts | {"lost_at": lost_at, "ok": integrity.ok, "words": str(integrity)},
        }

    # ------------------------------------------------------------ chunks -> hits

    def search(self, keys: Keys, chunks: Sequence[Chunk], passages: Sequence[Passage]) -> list[Ranking]:
        """The ranked chunks of every question."""
        questions, store = self.inputs.questions, self.store
        if store.has("hits", keys.hits):
            return rankings_from(store.read("hits", keys.hits)[0], len(questions))
        searching = Searching(
            self.retrieval, self.embedder, self.engine, self.inputs.documents, questions,
            lambda done, all_: self.advance(f"embed {self.row.chunker}", done, all_),
        )  # fmt: skip
        units = self._units(chunks, passages)
        with searching.over(chunks, store.fresh_folder("index", keys.hits)) as searcher:
            started = perf_counter()
            rankings = retrieve(searcher, self.retrieval.delivery, units, len(questions), budget=self.budget, k=self.k)
            seconds = perf_counter() - started
        self.advance(f"search {self.row.chunker}", len(questions), len(questions))
        facts = asdict(searching.effort) | {
            "chunks_embedded": self.retrieval.uses_vectors,
            "searched_chunks": searched_chunks(questions, chunks),
            "search_seconds_per_question": seconds / len(questions),
        }
        store.write("hits", keys.hits, hit_table(rankings, chunks, self.inputs), facts)
        return rankings

    def delivered(
        self, chunks: Sequence[Chunk], passages: Sequence[Passage], rankings: Sequence[Ranking]
    ) -> list[list[Passage]]:
        """What each question is given for its ranked chunks, in order: the chunks themselves, or what the plan's
        ``deliver`` makes of them.
        """
        units, walk = self._units(chunks, passages), self.retrieval.delivery.walk
        return [[p for added in walk(units, r.positions.tolist()) for p in added] for r in rankings]

    def _units(self, chunks: Sequence[Chunk], passages: Sequence[Passage]) -> Units:
        return Units(chunks, passages, self.inputs.documents, self.inputs.budget, self.inputs.token_index)

    # ------------------------------------------------------------ hits -> scores

    def score(
        self, key: str, chunks: Sequence[Chunk], passages: Sequence[Passage], rankings: Sequence[Ranking]
    ) -> None:
        """Every measure for every question."""
        started = process_time()
        questions = self.inputs.questions
        delivered = self.delivered(chunks, passages, rankings)
        ranked = {q.id: given for q, given in zip(questions, delivered, strict=True)}
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
