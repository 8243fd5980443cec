"""``faircut audit``: what cutting loses, repeats, breaks or makes too long, and what one edited sentence changes.

For chunkers, or (all but the last) for a file of chunks of any tool.
"""

import json
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from faircut.cli.console import complain, path_from, progress_display
from faircut.cli.llm_options import LlmOptions, with_llm_options
from faircut.report.safe import printable

if TYPE_CHECKING:
    from faircut.evaluation.audit import Integrity
    from faircut.evaluation.stability import Stability
    from faircut.llm import ChatModel

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
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Audit the integrity of cuts: loss, offsets, ceilings, tables and code cut, broken sentences, edit stability."""
    from faircut.errors import PlanError

    if not chunker and not chunks:
        raise PlanError("nothing to audit: name a --chunker, or a file of chunks with --chunks.")
    with llm.build() if llm.url or llm.model else nullcontext() as model:
        if llm.dry_run:
            _estimate(llm, path, embedder, chunker or [], model)
            return
        found = list(_audits(path, chunker or [], chunks, ceiling, embedder, model, stability=stability))
    if as_json:
        typer.echo(json.dumps({one.name: _json(one) for one in found}, indent=1))
    else:
        _print(found)
    if strict and not all(one.integrity.ok for one in found):
        complain("the audit found defects.")
        raise typer.Exit(1)


@dataclass(frozen=True)
class _Audited:
    """What was found of one chunker or file of chunks; ``stability`` where it was asked for and there is a chunker."""

    name: str
    integrity: "Integrity"
    stability: "Stability | None" = None


def _estimate(llm: LlmOptions, source: str, embedder: str, chunkers: list[str], model: "ChatModel | None") -> None:
    """Say what the language model would be asked first, and ask nothing."""
    from faircut.documents import read_corpus
    from faircut.experiment.asking import check_language_model, first_requests

    check_language_model(chunkers, is_named=model is not None)
    if model is None:
        typer.echo("no chunker asks a language model")
    else:
        llm.show_estimate(model, first_requests([(embedder, spec) for spec in chunkers], read_corpus(source)))


def _audits(
    path: str,
    chunkers: list[str],
    chunks: Path | None,
    ceiling: str | None,
    embedder: str,
    model: "ChatModel | None",
    *,
    stability: bool,
) -> Iterator[_Audited]:
    from faircut.chunkers import build
    from faircut.chunkers.asking import needs_language_model, rewrites
    from faircut.chunkers.contract import Models, Tally
    from faircut.documents import read_corpus
    from faircut.embedding import EMBEDDERS
    from faircut.evaluation.audit import audit as audited
    from faircut.evaluation.audit import total
    from faircut.evaluation.stability import stability_of
    from faircut.experiment.asking import check_language_model

    check_language_model(chunkers, is_named=model is not None)
    cutters = {spec: build(spec) for spec in chunkers}
    size = _size(ceiling)
    models = Models.of(EMBEDDERS.build(embedder), model)
    documents = list(read_corpus(path))
    with progress_display() as advance:
        for spec, cutter in cutters.items():
            parts = []
            for count, document in enumerate(documents, 1):
                tally = Tally()
                made = cutter.chunk(document, replace(models, tally=tally))
                most, rewritten = size or _own(cutter), rewrites(cutter)
                parts.append(audited(document, made, models, ceiling=most, tally=tally, rewritten=rewritten))
                advance(f"audit {spec}", count, len(documents))
            measured = stability and not (needs_language_model(cutter) or rewrites(cutter))  # edits would be paid for
            stable = stability_of(documents, cutter, models) if measured else None
            yield _Audited(spec, total(parts), stable)
    if chunks:
        by_document = _by_document(chunks, [d.id for d in documents])
        yield _Audited(str(chunks), total(audited(d, by_document[d.id], models, ceiling=size) for d in documents))


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


def _print(found: list[_Audited]) -> None:
    for one in found:
        typer.echo(f"{printable(one.name)}: {one.integrity}")
        for key, value in asdict(one.integrity).items():
            if key != "lost_at":
                typer.echo(f"  {key.replace('_', ' '):<24}{value:>12,}")
        for document, span in one.integrity.lost_at:
            typer.echo(f"  lost in {printable(document)} at [{span.start}, {span.end})")
        if one.stability:
            typer.echo(f"  {one.stability}")
