"""``faircut list``: every chunker, preset, measure, embedder and index with one line each."""

import json
from typing import Annotated

import typer

__all__ = ["list_components"]

WIDEST_NAME = 34


def list_components(
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """List the chunkers, presets, measures, embedders and indexes that can be named."""
    tables = _tables()
    if as_json:
        typer.echo(json.dumps(tables, indent=1))
        return
    for title, rows in tables.items():
        typer.echo(f"\n{title}")
        width = min(max(map(len, rows)), WIDEST_NAME)
        for name, line in rows.items():
            gap = "  " if len(name) <= width else "\n" + " " * (width + 4)
            typer.echo(f"  {name.ljust(width)}{gap}{line}")


def _tables() -> dict[str, dict[str, str]]:
    from faircut.chunkers import CHUNKERS
    from faircut.embedding import EMBEDDERS
    from faircut.evaluation.measures import MEASURES
    from faircut.experiment.units import DELIVERIES
    from faircut.index import INDEXES, SEARCHES
    from faircut.specs import Registry

    return {
        "chunkers": CHUNKERS.summaries(),
        "cut rules of semantic": Registry("cut rule", CHUNKERS.parts).summaries(),
        "presets": {p.name: f"{p.summary} = {p.spec}" for p in CHUNKERS.presets},
        "embedders": EMBEDDERS.summaries() | {p.name: p.summary for p in EMBEDDERS.presets},
        "indexes": INDEXES.summaries(),
        "searches": SEARCHES.summaries(),
        "deliveries": DELIVERIES.summaries(),
        "measures": dict(MEASURES),
    }
