"""``faircut view``: a page that shows where chunkers cut documents, side by side, without questions."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from faircut.cli.console import (
    Advance,
    SkipUnreadable,
    check_outside,
    path_from,
    progress_display,
    suggesting_to_skip,
    tell_unread,
)
from faircut.report.safe import printable

if TYPE_CHECKING:
    from faircut.records import Document
    from faircut.report.payload import Lane

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
    skip_unreadable: SkipUnreadable = None,
) -> None:
    """Show where chunkers cut documents, as one page with a lane for each."""
    from faircut.chunkers import build
    from faircut.cli.report import check_page
    from faircut.documents import Unread, read_documents
    from faircut.embedding import EMBEDDERS
    from faircut.files import write_atomically
    from faircut.report.pages import render_view

    check_page(out)
    check_outside(out, path, "--out")
    specs = list(dict.fromkeys(chunker or ["auto"]))
    cutters, model = [build(spec) for spec in specs], EMBEDDERS.build(embedder)
    unread: list[Unread] = []
    with progress_display() as advance:
        told = partial(_advance_reading, advance)
        with suggesting_to_skip(path):
            documents = list(read_documents(path, told, on_unread=unread.append if skip_unreadable else None).values())
        lanes = _cut(documents, cutters, model, advance)
    page = render_view(documents, lanes, specs)
    write_atomically(out, lambda file: file.write(page.encode("utf-8", "replace")))
    typer.echo(f"View: {printable(str(out))}")
    tell_unread(unread)


def _advance_reading(advance: Advance, count: int) -> None:
    advance("documents read", count, count)


def _cut(documents: "Sequence[Document]", cutters: Sequence[Any], model: Any, advance: Advance) -> "list[list[Lane]]":
    from faircut.chunkers.contract import Models
    from faircut.embedding.cache import CachedEmbedder, default_cache
    from faircut.report.payload import chunk_lane

    models = Models.of(CachedEmbedder(model, default_cache()))
    lanes = []
    for count, document in enumerate(documents, 1):
        own = []
        for cutter in cutters:
            chunks = cutter.chunk(document, models)
            tokens = models.tokenizer.count_many([chunk.embedded_text for chunk in chunks])
            curve = cutter.curve(document, models) if hasattr(cutter, "curve") else None
            own.append(chunk_lane(chunks, tokens, document, curve))
        lanes.append(own)
        advance("documents cut", count, len(documents))
    return lanes
