"""``faircut chunk``: cut a file, a folder or a corpus and write the chunks as JSON lines or Parquet."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from faircut.cli.console import Advance, check_outside, complain, path_from, progress_display

__all__ = ["chunk"]


def chunk(
    path: Annotated[str, typer.Argument(help="A file, a folder, a glob or corpus.jsonl[.gz].")],
    chunker: Annotated[
        str, typer.Option("--chunker", "-c", help="How to cut: a spec, see `faircut list`.")
    ] = "recursive",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            parser=path_from,
            metavar="FILE",
            help="chunks.jsonl or chunks.parquet; without it, JSON lines on stdout.",
        ),
    ] = None,
    embedder: Annotated[
        str, typer.Option("--embedder", "-e", help="Whose tokens are counted, and whose vectors are used where needed.")
    ] = "minilm",
) -> None:
    """Cut documents and write one record a chunk."""
    from faircut.chunkers import build
    from faircut.chunkers.output import write_jsonl, write_parquet
    from faircut.embedding import EMBEDDERS
    from faircut.files import write_atomically

    _check_out(out, path)
    cutter, model = build(chunker), EMBEDDERS.build(embedder)
    counts = {"documents": 0}
    with progress_display() as advance:
        records = _records(path, cutter, model, counts, advance)
        if out is None:
            written = write_jsonl(records, sys.stdout.buffer)
        else:
            written = 0

            def fill(file: Any) -> None:
                nonlocal written
                written = (write_jsonl if out.suffix == ".jsonl" else write_parquet)(records, file)

            write_atomically(out, fill)
    documents = "document" if counts["documents"] == 1 else "documents"
    complain(f"{written} chunks of {counts['documents']} {documents}{f' in {out}' if out else ''}.")


def _check_out(out: Path | None, source: str) -> None:
    from faircut.errors import PlanError, StoreError

    if out is None:
        if sys.stdout is None:
            raise StoreError("the standard output is closed, there is nowhere to write; name a file with --out.")
        return
    if out.suffix not in (".jsonl", ".parquet"):
        raise PlanError(f"--out must end in .jsonl or .parquet, found {out}.")
    if out.is_dir():
        raise PlanError(f"--out is a file, found the folder {out}.")
    check_outside(out, source, "--out")


def _records(path: str, cutter: Any, model: Any, counts: dict[str, int], advance: Advance) -> Iterator[dict[str, Any]]:
    from faircut.chunkers.contract import Models
    from faircut.chunkers.output import chunk_records
    from faircut.documents import read_corpus

    models = Models.of(model)
    for document in read_corpus(path):
        counts["documents"] += 1
        advance("documents cut", counts["documents"], counts["documents"])
        yield from chunk_records(document, cutter.chunk(document, models), models.tokenizer)
