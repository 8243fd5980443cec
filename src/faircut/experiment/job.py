"""Cutting as a job: a folder in; for each document how it went, and the records of all that were cut, in order, out.

What an earlier job finished is taken from the parts folder under a key made of content, specs, models and code. The
processes are left to ``pool.py``, what is on disk to ``parts.py``, writing the result to the caller.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from re import match
from typing import Literal

from faircut.chunkers import build
from faircut.chunkers.asking import loads_model, needs_language_model
from faircut.chunkers.contract import Chunker, Models
from faircut.documents.reading import empty_corpus, id_taken, list_sources
from faircut.documents.sources import Source, content_digest
from faircut.embedding import EMBEDDERS
from faircut.embedding.contract import Embedder
from faircut.errors import DocumentError, PlanError
from faircut.experiment.asking import check_language_model
from faircut.experiment.here import Here
from faircut.experiment.identity import chunker_ids, embedder_id
from faircut.experiment.parts import Part, PartStore, open_parts
from faircut.experiment.paying import is_remote, kept_embedder, prices_of, purse_of
from faircut.experiment.pool import Event, Pool, cores
from faircut.experiment.store import code_fingerprint
from faircut.llm.budget import Budget, Purse
from faircut.llm.contract import LanguageModel
from faircut.llm.prices import PriceTable
from faircut.records import content_id

__all__ = ["ChunkJob", "Outcome", "open_job", "parts_folder"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it went with one document: ``cut`` now, ``kept`` from an earlier job, or ``failed`` for a reason.

    ``repeated`` is told to nobody: the same bytes as a document before it. ``key`` is where its records are.
    """

    place: str
    state: Literal["cut", "kept", "failed", "repeated"]
    key: str = ""
    document: str = ""
    chunks: int = 0
    reason: str = ""
    warnings: tuple[str, ...] = ()


@dataclass
class _Task:
    """A document that a worker is at."""

    place: str
    key: str
    pieces: int = 0


def parts_folder(out: Path) -> Path:
    """Where the finished documents of a job are kept: ``chunks.parquet.parts`` beside ``chunks.parquet``."""
    return out.with_name(f"{out.name}.parts")


@contextmanager
def open_job(
    source: str,
    *,
    chunker: str,
    embedder: str = "minilm",
    parts: Path | None = None,
    fresh: bool = False,
    workers: int | None = None,
    timeout: float = 300.0,
    language_model: LanguageModel | None = None,
    budget: Budget | Purse | None = None,
    prices: PriceTable | None = None,
) -> Iterator["ChunkJob"]:
    """A job over the documents of a file, folder, pattern or corpus; its workers end with the block.

    Args:
        source: as ``read_corpus`` takes it.
        chunker: how to cut, a spec.
        embedder: whose tokens and vectors, a spec.
        parts: the folder where finished documents are kept for the next job; None for nowhere.
        fresh: forget what is kept there.
        workers: processes, as many as cores by default.
        timeout: seconds that one document may take.
        language_model: for chunkers that ask one; they cut in this process, without ``workers`` and ``timeout``, as
            do those that run a large model here.
        budget: the most that a remote embedder may cost. It is asked in this process as well, and its vectors are kept
            in the user's cache. A purse, where ``language_model`` shares it.
        prices: of models, before those of the table that comes with faircut.

    Raises:
        SpecError, PlanError: a wrong spec, number of workers or limit, or a chunker that needs a model and has none.
        DocumentError: nothing is there, or a folder cannot be read.
        StoreError: the parts folder cannot be used, or another job is writing there.
    """
    if workers is not None and workers < 1:
        raise PlanError(f"--workers is at least 1, found {workers}.")
    if not timeout > 0:
        raise PlanError(f"--timeout is a number of seconds above 0, found {timeout:g}.")
    check_language_model([chunker], is_named=language_model is not None)
    cutter, model = build(chunker), EMBEDDERS.build(embedder)
    asked, purse = language_model if needs_language_model(cutter) else None, purse_of(budget)
    sources = list_sources(source)
    if Path(source).is_dir():
        sources = list(sources)  # names only; so it is known how many there are
    parts_of_identity = (embedder_id(model), *chunker_ids(cutter), *((asked.model,) if asked else ()))
    identity = content_id(code_fingerprint(), *_versions(), *parts_of_identity)
    with open_parts(parts, fresh=fresh) as store:
        pool: Pool | Here
        if asked or loads_model(cutter) or is_remote(model):
            pool = Here(cutter, Models.of(kept_embedder(model, purse, prices_of(prices)), asked))
        else:
            pool = Pool({"chunker": chunker, "embedder": embedder}, size=workers or cores(), timeout=timeout)
        try:
            yield ChunkJob(source, sources, store, pool, identity, cutter, model)
        finally:
            pool.close()


@dataclass(frozen=True)
class ChunkJob:
    """The documents, what is finished of them, and the workers."""

    source: str
    sources: Iterable[Source]
    store: PartStore
    pool: Pool | Here
    identity: str
    chunker: Chunker
    embedder: Embedder

    @property
    def room(self) -> int:
        """The tokens of a chunk, context included, that the embedder reads."""
        return self.embedder.max_tokens - self.embedder.overhead("passage")

    @property
    def total(self) -> int | None:
        """How many documents there are, None where that is seen only at the end."""
        return len(self.sources) if isinstance(self.sources, list) else None

    def outcomes(self) -> Iterator[Outcome]:
        """Cut what is not finished and tell how it went with each document, in order. To be gone through once.

        Raises:
            DocumentError: there is no document at all.
            StoreError: the disk is full.
            FaircutError: the specs cannot be used here.
        """
        ready: dict[int, Outcome] = {}
        by_id: dict[str, str] = {}
        by_key: dict[str, Outcome] = {}
        at = 0
        for number, outcome in self._finished():
            ready[number] = outcome
            while at in ready:
                yield _told(ready.pop(at), by_id, by_key)
                at += 1
        if not at:
            raise empty_corpus(self.source)

    def lines(self, outcomes: Iterable[Outcome]) -> Iterator[bytes]:
        """The records of documents that did not fail, as JSON lines, some whole lines at a time."""
        for outcome in outcomes:
            yield from self.store.lines(outcome.key)

    def forget_others(self, outcomes: Iterable[Outcome]) -> None:
        """Keep these documents alone for the next job: what was deleted or changed since is not wanted again."""
        self.store.keep_only(outcome.key for outcome in outcomes)

    def forget(self, outcome: Outcome) -> None:
        """Keep the records of this document no longer."""
        self.store.drop(outcome.key)

    # ------------------------------------------------------------ in the order in which documents are done

    def _finished(self) -> Iterator[tuple[int, Outcome]]:
        seen: set[str] = set()
        tasks: dict[int, _Task] = {}
        for number, source in enumerate(self.sources):
            try:
                digest = _digest(source)
            except DocumentError as error:
                yield number, Outcome(source.place, "failed", reason=str(error))
                continue
            key = content_id(self.identity, str(source.path), source.id, digest)
            if known := self._known(source, key, seen):
                yield number, known
                continue
            seen.add(key)
            while not self.pool.has_room:
                yield from self._step(tasks)
            tasks[number] = _Task(source.place, key)
            self.pool.give(number, source, digest)
        while tasks:
            yield from self._step(tasks)

    def _known(self, source: Source, key: str, seen: set[str]) -> Outcome | None:
        """The outcome of a document that needs no work."""
        if key in seen:
            return Outcome(source.place, "repeated", key)
        part = self.store.find(key)
        if part is None:
            return None
        seen.add(key)
        return Outcome(source.place, "kept", key, part.document, part.chunks, warnings=part.warnings)

    def _step(self, tasks: dict[int, _Task]) -> Iterator[tuple[int, Outcome]]:
        """Wait for the next event; one outcome when it ends a document."""
        event = self.pool.next()
        task = tasks[event.number]
        if event.kind == "piece":
            self.store.add_piece(task.key, task.pieces, event.piece)
            task.pieces += 1
            return
        del tasks[event.number]
        yield event.number, self._done(task, event)

    def _done(self, task: _Task, event: Event) -> Outcome:
        if event.kind == "failed":
            self.store.drop(task.key)
            return Outcome(task.place, "failed", task.key, reason=event.reason, warnings=event.warnings)
        self.store.finish(task.key, Part(event.document, event.chunks, event.warnings))
        return Outcome(task.place, "cut", task.key, event.document, event.chunks, warnings=event.warnings)


def _told(outcome: Outcome, by_id: dict[str, str], by_key: dict[str, Outcome]) -> Outcome:
    """The outcome as the caller sees it: an id that another document has is a failure."""
    if outcome.state == "repeated":
        first = by_key[outcome.key]
        same = f"{outcome.place}: the same as {first.place}, which failed."
        outcome = replace(first, place=outcome.place, reason=same if first.state == "failed" else "")
    else:
        by_key[outcome.key] = replace(outcome, reason="", warnings=())
    if outcome.state == "failed":
        return replace(outcome, key="")
    if outcome.document in by_id:
        reason = str(id_taken(outcome.place, outcome.document, by_id[outcome.document]))
        return Outcome(outcome.place, "failed", reason=reason)
    by_id[outcome.document] = outcome.place
    return outcome


def _digest(source: Source) -> str:
    """The hash of the content.

    Raises:
        DocumentError: it cannot be read, or the listing said already that there is nothing.
    """
    if source.problem:
        raise DocumentError(source.problem)
    return content_digest(source)


def _versions() -> list[str]:
    """The versions of everything that this package may use, readers and extras included."""
    names = sorted({found[0] for line in requires("faircut") or () if (found := match(r"[\w.-]+", line))})
    return [f"{name} {_version(name)}" for name in names]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
