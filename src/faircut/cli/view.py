"""``faircut view``: a page that shows where chunkers cut documents, side by side, without questions."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from faircut.cli.console import Advance, check_outside, path_from, progress_display
from faircut.report.safe import printable

__all__ = ["view"]


def view(
    path: Annotated[str, typer.Argument(help="A file, a folder, a glob or corpus.jsonl[.gz].")],
    chunker: Annotated[
        list[str] | None,
        typer.Option("--chunker", "-c", help="How to cut: a spec; give it for each [recursive]."),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", parser=path_from, metavar="FILE", help="The page [view.html].")
    ] = Path("view.html"),
    embedder: Annotated[
        str, typer.Option("--embedder", "-e", help="Whose tokens are counted, and whose vectors are used where needed.")
    ] = "minilm",
) -> None:
    """Show where chunkers cut documents, as one page with a lane for each."""
    from faircut.chunkers import build
    from faircut.cli.report import check_page
    from faircut.embedding import EMBEDDERS
    from faircut.files import write_atomically
    from faircut.report.pages import render_view

    check_page(out)
    check_outside(out, path, "--out")
    specs = list(dict.fromkeys(chunker or ["auto"]))
    cutters, model = [build(spec) for spec in specs], EMBEDDERS.build(embedder)
    with progress_display() as advance:
        documents, lanes = _cut(path, cutters, model, advance)
    page = render_view(documents, lanes, specs)
    write_atomically(out, lambda file: file.write(page.encode("utf-8", "replace")))
    typer.echo(f"View: {printable(str(out))}")


def _cut(path: str, cutters: Sequence[Any], model: Any, advance: Advance) -> tuple[list[Any], list[list[Any]]]:
    from faircut.chunkers.contract import Models
    from faircut.documents import read_corpus
    from faircut.embedding.cache import CachedEmbedder, default_cache
    from faircut.report.payload import chunk_lane

    models = Models.of(CachedEmbedder(model, default_cache()))
    documents, lanes = [], []
    for count, document in enumerate(read_corpus(path), 1):
        own = []
        for cutter in cutters:
            chunks = cutter.chunk(document, models)
            tokens = models.tokenizer.count_many([chunk.embedded_text for chunk in chunks])
            curve = cutter.curve(document, models) if hasattr(cutter, "curve") else None
            own.append(chunk_lane(chunks, tokens, document, curve))
        documents.append(document)
        lanes.append(own)
        advance("documents cut", count, count)
    return documents, lanes
