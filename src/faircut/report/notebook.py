"""The leaderboard as notebooks show it: the plain dictionary that a run returns, with HTML and Markdown of its own.

The HTML has no script, takes its colours from the page (light or dark), and escapes every name.
"""

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faircut.report.safe import printable

if TYPE_CHECKING:
    from faircut.evaluation.power import PlannedPower
    from faircut.experiment.plan import Plan
    from faircut.llm.budget import Budget
    from faircut.llm.contract import LanguageModel
    from faircut.llm.prices import PriceTable
    from faircut.report.data import Line, Results

__all__ = ["Leaderboard", "run"]


class Leaderboard(dict[str, Any]):
    """A leaderboard: the dictionary of ``leaderboard.json``, shown as a table where a notebook displays it."""

    @classmethod
    def read(cls, folder: str | Path) -> "Leaderboard":
        """The leaderboard of a finished run.

        Raises:
            StoreError: the folder is not a finished run.
        """
        from faircut.experiment.store import RunStore

        return cls(RunStore(Path(folder)).read_json("leaderboard.json"))

    def _repr_html_(self) -> str:
        from faircut.report.data import results_of

        return _html(results_of(self))

    def _repr_markdown_(self) -> str:
        from faircut.report.data import results_of
        from faircut.report.markdown import leaderboard_markdown

        return leaderboard_markdown(results_of(self))


def run(
    plan: "Plan",
    folder: Path,
    *,
    cache: Path | None = None,
    advance: Callable[[str, int, int], None] | None = None,
    announce: "Callable[[PlannedPower], None] | None" = None,
    language_model: "LanguageModel | None" = None,
    replacing: bool = False,
    budget: "Budget | None" = None,
    prices: "PriceTable | None" = None,
    tell: Callable[[str], None] | None = None,
) -> Leaderboard:
    """Run a comparison and return its leaderboard, which is also in ``folder/leaderboard.json``.

    Args:
        plan: what to compare.
        folder: the run folder; what it holds of this comparison is used, not done again.
        cache: the file of vectors, shared by all runs; the default lies in the user's cache folder.
        advance: called with progress: what is being done, how much is done, how much there is.
        announce: called before anything is embedded with what the questions can be expected to show.
        language_model: for chunkers that ask one, instead of the plan's.
        replacing: whether the result of another comparison that the folder holds may be replaced.
        budget: the most that remote embedders and the plan's language model may cost together, for this run.
        prices: of models, before those of the table that comes with faircut.
        tell: called before anything is embedded with a sentence for each measure that can hardly show a difference.

    Raises:
        FaircutError: bad documents, questions, weights or disk, or the budget is reached; what was finished or paid
            for before is kept.
    """
    from faircut.experiment.run import run as experiment

    options: dict[str, Any] = {
        "language_model": language_model, "replacing": replacing, "budget": budget, "prices": prices,
    }  # fmt: skip
    options |= {} if advance is None else {"advance": advance}
    options |= {} if tell is None else {"tell": tell}
    board = experiment(plan, folder, cache=cache, announce=announce, **options)
    return Leaderboard(board)


# ---------------------------------------------------------------- HTML

_LINE = "border-bottom:1px solid rgba(128,128,128,0.4);padding:0.3em 0.7em;color:inherit;background:none"


def _html(results: "Results") -> str:
    """A sentence, the table, the notes."""
    tested = f", tested by {results.unit}" if results.unit else ""
    head = f"{results.measure}, {results.questions:,} questions on {results.documents:,} documents{tested}"
    notes = [*results.notes, *(f"Integrity of {x.row}: {x.integrity_note}." for x in results.lines if x.integrity_note)]
    listed = "".join(f"<li>{_text(note)}</li>" for note in notes)
    label = f"<p><strong>{_text(results.label)}</strong></p>" if results.label else ""
    return (
        '<div style="color:inherit;background:none">'
        f"{label}<p><strong>{_text(results.sentence)}</strong></p>{_table(results, head)}"
        f"{f'<ul>{listed}</ul>' if listed else ''}</div>"
    )


def _text(text: str) -> str:
    return escape(printable(text))


def _table(results: "Results", caption: str) -> str:
    from faircut.report.money import money_columns

    columns = [
        "embedder::chunker", "verdict", "score", "95 % interval", "difference", "p (Holm)",
        *(name for name, _, _ in results.lines[0].beside), *_curve_name(results.lines[0]), "chunks", "median",
        "embedded/token",
        *(name for name, _ in money_columns(results.lines)), "integrity",
    ]  # fmt: skip
    money = [cell for _, cell in money_columns(results.lines)]
    head = "".join(f'<th scope="col" style="{_LINE};text-align:left">{_text(column)}</th>' for column in columns)
    body = "".join(_row(line, [cell(line) for cell in money]) for line in results.lines)
    return (
        '<table style="border-collapse:collapse;color:inherit;background:none">'
        f'<caption style="text-align:left;color:inherit">{_text(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _curve_name(line: "Line") -> list[str]:
    return ["recall by budget"] if line.curve else []


def _row(line: "Line", money: "Sequence[str]") -> str:
    from faircut.report.markdown import MARKS

    cells = [
        MARKS.get(line.verdict, line.verdict),
        f"{line.mean:.3f}",
        f"{line.low:.3f} to {line.high:.3f}",
        "" if line.difference is None else f"{line.difference:+.3f}",
        "" if line.p_holm is None else f"{line.p_holm:.4f}",
        *(f"{mean:.3f} {verdict}".rstrip() for _, mean, verdict in line.beside),
    ]
    after = [
        f"{line.chunks:,}",
        f"{line.size_median:,.0f}t",
        f"{line.embedded_per_token:.2f}",
        *money,
        "see below" if line.integrity_note else "ok",
    ]
    weight = "bold" if line.is_baseline else "normal"
    name = f'<th scope="row" style="{_LINE};text-align:left;font-weight:{weight}"><code>{_text(line.row)}</code></th>'
    return f"<tr>{name}{''.join(map(_cell, cells))}{_curve(line)}{''.join(map(_cell, after))}</tr>"


def _cell(text: str) -> str:
    return f'<td style="{_LINE};text-align:left">{_text(text)}</td>'


def _curve(line: "Line") -> str:
    """A line of blocks, with its numbers for those who point at it or cannot see it; no cell where it has none."""
    from faircut.report.plots import sparkline

    if not line.curve:
        return ""
    said = ", ".join(f"{value:.3f} at {budget} tokens" for budget, value in line.curve)
    bars = escape(sparkline(value for _, value in line.curve))
    return f'<td style="{_LINE}"><span role="img" title="{said}" aria-label="{said}">{bars}</span></td>'
