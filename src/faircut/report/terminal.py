"""The leaderboard in a terminal: results in, rich tables, plots of one line and a few sentences out."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from faircut.report.data import ControlLine, Line, Results
from faircut.report.money import money_columns, waited
from faircut.report.plots import Histograms, histograms, sparkline
from faircut.report.safe import printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

__all__ = ["print_results"]

_STYLES = {"better": "green", "worse": "red", "equivalent": "cyan", "baseline": "bold"}


def print_results(results: Results, console: "Console", sizes: Mapping[str, Sequence[int]] | None = None) -> None:
    """Print the leaderboard with its plots, the controls where there are any, the verdict and the notes.

    Args:
        results: what is shown.
        console: where; its width is kept, and its encoding: without block characters, plots are made of digits.
        sizes: the chunk sizes of each row in budget tokens, for histograms.
    """
    tested = f", tested by {results.unit}" if results.unit else ""
    head = f"{results.measure}, {results.questions:,} questions on {results.documents:,} documents{tested}"
    console.print(head, style="bold", markup=False, highlight=False)
    if results.label:
        console.print(results.label, style="bold yellow", markup=False, highlight=False)
    _print_table(console, *_scores(results))
    if results.lines[0].beside:
        _print_table(console, *_beside(results))
    _print_table(console, *_costs(results))
    if (money := _money(results)) is not None:
        _print_table(console, *money)
    _print_table(console, *_plots(results, histograms(sizes or {}), unicode=console.encoding.lower().startswith("utf")))
    if results.controls:
        console.print("Against its own size-matched control (same lengths, shuffled):", style="bold")
        _print_table(console, *_controls(results.controls))
    for sentence in (results.sentence, *results.notes, *_defects(results)):
        console.print(printable(sentence), markup=False, highlight=False)


Table = tuple[tuple[str, ...], list[tuple["str | RenderableType", ...]]]


def _print_table(console: "Console", columns: tuple[str, ...], rows: list[tuple["str | RenderableType", ...]]) -> None:
    """A table where it fits the width; else each row as its name with one line for every value. Nothing is cut off."""
    from rich.measure import Measurement

    table = _table(columns, rows)
    if Measurement.get(console, console.options, table).maximum <= console.width and _widest(rows) <= console.width:
        console.print(table)
        return
    console.print()
    for name, *values in rows:
        console.print(name, highlight=False, soft_wrap=True)
        for column, value in zip(columns[1:], values, strict=True):
            if str(value):
                console.print(f"  {column:<17}{value}", markup=False, highlight=False, soft_wrap=True)
    console.print()


def _widest(rows: list[tuple["str | RenderableType", ...]]) -> int:
    """What the widest row needs: its cells and two columns of space for each."""
    return max((sum(len(str(cell)) + 2 for cell in row) for row in rows), default=0)


def _table(columns: tuple[str, ...], rows: list[tuple["str | RenderableType", ...]]) -> "RenderableType":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for place, column in enumerate(columns):
        last = column in ("verdict", "integrity") or column.startswith("sizes")
        table.add_column(column, justify="left" if place == 0 or last else "right", overflow="fold", no_wrap=place > 0)
    for row in rows:
        table.add_row(*row)
    return table


def _plain(text: str, style: str = "") -> "RenderableType":
    from rich.text import Text

    return Text(printable(text), style=style)


def _beside(results: Results) -> Table:
    columns = ("embedder::chunker", *(name for name, _, _ in results.lines[0].beside))
    rows: list[tuple[str | RenderableType, ...]] = [
        (_plain(line.row), *(f"{mean:.3f} {verdict}".rstrip() for _, mean, verdict in line.beside))
        for line in results.lines
    ]
    return columns, rows


def _scores(results: Results) -> Table:
    at_5 = any(line.recall_at_5 is not None for line in results.lines)
    columns = ("embedder::chunker", "score", "95 % interval", "difference", "p (Holm)", "tokens")
    return (*columns, *(["recall@5"] if at_5 else []), "verdict"), [_score_row(x, at_5=at_5) for x in results.lines]


def _score_row(line: Line, *, at_5: bool) -> tuple["str | RenderableType", ...]:
    difference = "" if line.difference is None else f"{line.difference:+.3f}"
    found = "" if line.recall_at_5 is None else f"{line.recall_at_5:.3f} ({line.tokens_at_5 or 0:,.0f}t)"
    return (
        _plain(line.row),
        f"{line.mean:.3f}",
        f"{line.low:.3f} {line.high:.3f}",
        difference,
        "" if line.p_holm is None else _p(line.p_holm),
        "" if line.tokens is None else f"{line.tokens:,.0f}",
        *([found] if at_5 else []),
        _plain(line.verdict, _STYLES.get(line.verdict, "")),
    )


def _p(value: float) -> str:
    return f"{value:.4f}" if value < 0.1 else f"{value:.2f}"


def _costs(results: Results) -> Table:
    asked = any(line.llm_tokens is not None for line in results.lines)
    seconds = ("cut s", *(["llm s"] if asked else []), "embed s")
    columns = ("embedder::chunker", "chunks", "median", "5-95 %", *seconds, "embedded/token", "integrity")
    return columns, [_cost_row(line, asked=asked) for line in results.lines]


def _cost_row(line: Line, *, asked: bool) -> tuple["str | RenderableType", ...]:
    embedding = "cached" if line.embedding_seconds is None else f"{line.embedding_seconds:,.1f}"
    return (
        _plain(line.row),
        f"{line.chunks:,}",
        f"{line.size_median:,.0f}t",
        f"{line.size_p5:,.0f}-{line.size_p95:,.0f}",
        f"{line.cutting_seconds:,.2f}",
        *([waited(line)] if asked else []),
        embedding,
        f"{line.embedded_per_token:.2f}",
        _plain("see below" if line.integrity_note else "ok", "yellow" if line.integrity_note else ""),
    )


def _money(results: Results) -> Table | None:
    """What rows cost in money; None where nothing is paid for."""
    columns = money_columns(results.lines, seconds=False)
    if not columns:
        return None
    rows: list[tuple[str | RenderableType, ...]] = [
        (_plain(line.row), *(cell(line) for _, cell in columns)) for line in results.lines
    ]
    return ("embedder::chunker", *(name for name, _ in columns)), rows


def _plots(results: Results, sizes: Histograms | None, *, unicode: bool) -> Table:
    """Recall against the budget, from 0 to 1, and the chunk sizes, two bins for each doubling."""
    budgets = [budget for budget, _ in results.lines[0].curve]
    titles = ["recall", *(f"@{budget}t" for budget in budgets)] if budgets else []
    columns = ["embedder::chunker", *titles, *([f"sizes {sizes.low:,}-{sizes.high:,}t"] if sizes else [])]
    return tuple(columns), [_plot_row(line, sizes, unicode=unicode) for line in results.lines]


def _plot_row(line: Line, sizes: Histograms | None, *, unicode: bool) -> tuple["str | RenderableType", ...]:
    recall = [value for _, value in line.curve]
    curve = [sparkline(recall, unicode=unicode), *(f"{value:.3f}" for value in recall)] if recall else []
    return (_plain(line.row), *curve, *([sizes.line(line.row, unicode=unicode)] if sizes else []))


def _controls(controls: tuple[ControlLine, ...]) -> Table:
    rows: list[tuple[str | RenderableType, ...]] = [
        (_plain(c.row), f"{c.difference:+.3f}", f"{c.low:+.3f} {c.high:+.3f}", _p(c.p_holm), _plain(c.verdict))
        for c in controls
    ]
    return ("embedder::chunker", "difference", "95 % interval", "p (Holm)", "verdict"), rows


def _defects(results: Results) -> list[str]:
    return [f"Integrity of {line.row}: {line.integrity_note}." for line in results.lines if line.integrity_note]
