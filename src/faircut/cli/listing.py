"""``faircut list``: every chunker, preset, measure, embedder and index with one line each."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from faircut.embedding.prefixes import Family
    from faircut.embedding.remote import KnownModel

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
    from faircut.embedding.prefixes import FAMILIES
    from faircut.embedding.remote import KNOWN_MODELS
    from faircut.evaluation.measures import MEASURES
    from faircut.experiment.units import DELIVERIES
    from faircut.index import INDEXES, SEARCHES
    from faircut.specs import Registry

    return {
        "chunkers": CHUNKERS.summaries(),
        "cut rules of semantic": Registry("cut rule", CHUNKERS.parts).summaries(),
        "presets": {p.name: f"{p.summary} = {p.spec}" for p in CHUNKERS.presets},
        "embedders": EMBEDDERS.summaries() | {p.name: p.summary for p in EMBEDDERS.presets},
        "models of servers": {name: _of_server(model) for name, model in KNOWN_MODELS.items()},
        "prefixes by model": {family.pattern: _prefixes(family) for family in FAMILIES},
        "indexes": INDEXES.summaries(),
        "searches": SEARCHES.summaries(),
        "deliveries": DELIVERIES.summaries(),
        "measures": dict(MEASURES),
    }


def _of_server(model: "KnownModel") -> str:
    return f"openai: up to {model.dimensions} dimensions, {model.max_tokens} tokens"


def _prefixes(family: "Family") -> str:
    """What the models of a family want in front of texts, roles with nothing left out."""
    given = {"query": family.query, "passage": family.passage, "sentence": family.sentence}
    shown = [f"{role} {json.dumps(prefix, ensure_ascii=False)}" for role, prefix in given.items() if prefix]
    return ", ".join(shown) or "none"
