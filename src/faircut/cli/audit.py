"""``faircut audit``: what cutting loses, repeats, breaks or makes too long, and what one edited sentence changes.

For chunkers, or (all but the last) for a file of chunks of any tool.
"""

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from faircut.cli.console import (
    SkipUnreadable,
    complain,
    path_from,
    progress_display,
    suggesting_to_skip,
    tell_unread,
    telling_paid,
)
from faircut.cli.llm_options import LlmOptions, with_llm_options
from faircut.report.safe import printable

if TYPE_CHECKING:
    from faircut.chunkers.contract import Chunker, Models
    from faircut.embedding.contract import Embedder
    from faircut.evaluation.audit import Integrity
    from faircut.evaluation.stability import Stability
    from faircut.llm import ChatModel
    from faircut.records import Document

__all__ = ["audit"]


@with_llm_options
def audit(
    llm: LlmOptions,
    path: Annotated[str, typer.Argument(help="The documents: a file, a folder, a glob or corpus.jsonl[.gz].")],
    chunker: Annotated[
        list[str] | None, typer.Option("--chunker", "-c", help="A chunker's spec; give it for each.")
    ] = None,
    chunks: Annotated[
        Path | None,
        typer.Option(
            "--chunks",
            parser=path_from,
            metavar="FILE",
            help="A chunks.jsonl or .parquet of any tool, with document, spans and text.",
        ),
    ] = None,
    ceiling: Annotated[
        str | None, typer.Option("--ceiling", help="The largest size allowed, such as 512t or 500c.")
    ] = None,
    embedder: Annotated[str, typer.Option("--embedder", "-e", help="Whose tokens and limit count.")] = "minilm",
    stability: Annotated[
        bool,
        typer.Option(
            "--stability/--no-stability", help="Count the chunks that one edited sentence changes, on a sample."
        ),
    ] = True,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 when anything is wrong.")] = False,
    skip_unreadable: SkipUnreadable = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Audit the integrity of cuts: loss, offsets, ceilings, tables and code cut, broken sentences, edit stability."""
    from faircut.documents import Unread, read_documents
    from faircut.embedding import EMBEDDERS
    from faircut.errors import PlanError
    from faircut.experiment.paying import kept_embedder

    if not chunker and not chunks:
        raise PlanError("nothing to audit: name a --chunker, or a file of chunks with --chunks.")
    purse = llm.purse()
    with llm.build(purse) if llm.url or llm.model else nullcontext() as model:
        if llm.dry_run:
            _estimate(llm, path, embedder, chunker or [], model)
            return
        unread: list[Unread] = []
        told = unread.append if skip_unreadable else None
        read = partial(read_documents, path, on_unread=told)
        vectors = kept_embedder(EMBEDDERS.build(embedder), purse, llm.price_table())
        with suggesting_to_skip(path), telling_paid(purse):
            found = list(_audits(read, chunker or [], chunks, ceiling, vectors, model, stability=stability))
    if as_json:
        typer.echo(json.dumps({one.name: _json(one) for one in found}, indent=1))
    else:
        _print(found)
    if strict and not all(one.integrity.ok for one in found):
        complain("the audit found defects.")
        raise typer.Exit(1)
    tell_unread(unread)


@dataclass(frozen=True)
class _Audited:
    """What was found of one chunker or file of chunks; ``stability`` where it was asked for and there is a chunker."""

    name: str
    integrity: "Integrity"
    stability: "Stability | None" = None
    asks: bool = False
    """Whether a language model is asked or text is rewritten: only then are the counts of that printed."""


def _estimate(llm: LlmOptions, source: str, embedder: str, chunkers: list[str], model: "ChatModel | None") -> None:
    """Say what a remote embedder and the language model would be asked, and ask nothing."""
    from faircut.documents import read_corpus
    from faircut.experiment.asking import check_language_model
    from faircut.experiment.rehearsal import rehearse_cuts

    check_language_model(chunkers, is_named=model is not None)
    embedding, requests = rehearse_cuts(embedder, chunkers, read_corpus(source), llm.price_table())
    llm.show_estimate(model, requests, embedding)


def _audits(
    read: "Callable[[], dict[str, Document]]",
    chunkers: list[str],
    chunks: Path | None,
    ceiling: str | None,
    embedder: "Embedder",
    model: "ChatModel | None",
    *,
    stability: bool,
) -> Iterator[_Audited]:
    from faircut.chunkers import build
    from faircut.chunkers.contract import Models
    from faircut.evaluation.audit import audit as audited
    from faircut.evaluation.audit import total
    from faircut.experiment.asking import check_language_model

    check_language_model(chunkers, is_named=model is not None)
    cutters = {spec: build(spec) for spec in chunkers}
    size = _size(ceiling)
    models = Models.of(embedder, model)
    documents = list(read().values())
    with progress_display() as advance:
        for spec, cutter in cutters.items():
            told = partial(advance, f"audit {spec}")
            yield _audited(spec, cutter, documents, models, size, told, stability=stability)
    if chunks:
        by_document = _by_document(chunks, [d.id for d in documents])
        yield _Audited(str(chunks), total(audited(d, by_document[d.id], models, ceiling=size) for d in documents))


def _audited(
    spec: str,
    cutter: "Chunker",
    documents: "list[Document]",
    models: "Models",
    size: Any,
    advance: Callable[[int, int], None],
    *,
    stability: bool,
) -> _Audited:
    from faircut.chunkers.ahead import asked_ahead, groups
    from faircut.chunkers.asking import needs_language_model, rewrites
    from faircut.chunkers.contract import Tally
    from faircut.evaluation.audit import audit as audited
    from faircut.evaluation.audit import total
    from faircut.evaluation.stability import stability_of

    parts, overlong, rewritten = [], 0, rewrites(cutter)
    asks = needs_language_model(cutter) or rewritten
    with _overlong_caught() as caught:
        for group in groups(documents):
            ready = asked_ahead(cutter, group, models)
            for document in group:
                tally, before = Tally(), len(caught)
                made = cutter.chunk(document, replace(ready, tally=tally))
                overlong += len(caught) > before
                most = size or _own(cutter)
                parts.append(audited(document, made, models, ceiling=most, tally=tally, rewritten=rewritten))
                advance(len(parts), len(documents))
        stable = stability_of(documents, cutter, models) if stability and not asks else None  # edits would be paid for
    if overlong:
        complain(
            f"warning: {spec} gave {models.embedder} texts longer than it reads while cutting {overlong:,} of "
            f"{len(documents):,} documents; where they are cut rests on what was read."
        )
    return _Audited(spec, total(parts), stable, asks)


@contextmanager
def _overlong_caught() -> Iterator[list[Warning | str]]:
    """Collect what is said of texts that the embedder reads in part; other warnings are told as ever."""
    from faircut.embedding.checks import OverlongWarning

    told, caught = warnings.showwarning, list[Warning | str]()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if issubclass(category, OverlongWarning):
            caught.append(message)
        else:
            told(message, category, filename, lineno, file, line)

    with warnings.catch_warnings():
        warnings.simplefilter("always", OverlongWarning)
        warnings.showwarning = show
        yield caught


def _own(cutter: Any) -> Any:
    """The chunker's own ceiling where it declares one."""
    from faircut.specs import Size

    found = getattr(cutter, "max", getattr(cutter, "size", None))
    return found if isinstance(found, Size) else None


def _size(text: str | None) -> Any:
    from faircut.errors import SpecError
    from faircut.specs import Size, parse_spec

    if text is None:
        return None
    values = parse_spec(f"ceiling({text})").args
    if len(values) != 1 or not isinstance(values[0], (Size, int)) or isinstance(values[0], bool):
        raise SpecError(f"--ceiling is a size such as 512t, 512w or 500c, found {text!r}.")
    size = Size(values[0]) if isinstance(values[0], int) else values[0]
    if size.amount < 1:
        raise SpecError(f"--ceiling is at least 1, found {text!r}.")
    return size


def _by_document(path: Path, documents: list[str]) -> dict[str, list[Any]]:
    from faircut.chunkers.output import read_chunk_records
    from faircut.errors import DocumentError, nearest

    found: dict[str, list[Any]] = {identity: [] for identity in documents}
    for number, chunk in enumerate(read_chunk_records(str(path)), 1):
        if chunk.document_id not in found:
            hint = nearest(chunk.document_id, documents[:20])
            raise DocumentError(f"{path}: chunk {number} is of document {chunk.document_id!r}, not in the corpus{hint}")
        found[chunk.document_id].append(chunk)
    return found


def _json(one: _Audited) -> dict[str, Any]:
    facts = asdict(one.integrity) | {"ok": one.integrity.ok, "words": str(one.integrity)}
    return facts | {"stability": one.stability.as_json() if one.stability else None}


_OF_A_MODEL = ("rewritten", "statements", "unfaithful", "model_asked", "model_fallbacks", "uncited")


def _print(found: list[_Audited]) -> None:
    for one in found:
        typer.echo(f"{printable(one.name)}: {one.integrity}")
        counts = asdict(one.integrity)
        asked = one.asks or any(counts[key] for key in _OF_A_MODEL)
        for key, value in counts.items():
            if key != "lost_at" and (asked or key not in _OF_A_MODEL):
                typer.echo(f"  {key.replace('_', ' '):<24}{value:>12,}")
        for document, span in one.integrity.lost_at:
            typer.echo(f"  lost in {printable(document)} at [{span.start}, {span.end})")
        if one.stability:
            typer.echo(f"  {one.stability}")
