"""Results as GitHub-flavoured Markdown, for pull requests and notebooks: plain results in, text out.

Every name is untrusted: what Markdown, HTML or GitHub (mentions, issues, links) would obey is escaped.
"""

import re
from collections.abc import Sequence

from faircut.report.data import Line, Results
from faircut.report.money import money_columns
from faircut.report.safe import printable

__all__ = ["MARKS", "code", "leaderboard_markdown", "plain", "table"]

MARKS = {
    "better": "▲ better",
    "worse": "▼ worse",
    "equivalent": "= equivalent",
    "no measured difference": "? no measured difference",
}
"""Verdicts with a mark, for readers who skim."""

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;"}
_OBEYED = re.compile(r"[\\`*_{}\[\]~$#&<>|]|:(?=//)|(?<=www)\.|^[-+=]", re.IGNORECASE)
_MENTION = re.compile(r"(?<!\w)@(?=\w)")


def plain(text: str) -> str:
    """Text that reads as it is: one line, no markup, no link, no mention."""
    shown = _OBEYED.sub(lambda found: _ENTITIES.get(found[0], f"\\{found[0]}"), printable(text))
    return _MENTION.sub("@<!-- -->", shown)


def code(text: str) -> str:
    """A name set as code: in a fence longer than any run of backticks in it.

    A bar would end a table's cell, and whether a backslash saves it depends on who reads; then it is plain text.
    """
    shown = printable(text)
    if "|" in shown:
        return plain(text)
    fence = "`" * (max(map(len, re.findall("`+", shown)), default=0) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") or not shown.strip() else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """A table of cells that are Markdown already; the first ``left`` columns are set to the left."""
    rule = ["---" if place < left else "---:" for place in range(len(columns))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (columns, rule, *rows))


def leaderboard_markdown(results: Results) -> str:
    """The verdict in a sentence, the leaderboard, controls where there are any, and the notes."""
    tested = f", tested by {results.unit}" if results.unit else ""
    head = f"{results.measure}, {results.questions:,} questions on {results.documents:,} documents{tested}"
    label = [f"**{plain(results.label)}**"] if results.label else []
    parts = [*label, f"**{plain(results.sentence)}**", f"{plain(head)}:", _scores(results)]
    if results.controls:
        parts += ["Against its own size-matched control (same lengths, shuffled):", _controls(results)]
    notes = [*results.notes, *(f"Integrity of {x.row}: {x.integrity_note}." for x in results.lines if x.integrity_note)]
    if notes:
        parts.append("\n".join(f"- {plain(note)}" for note in notes))
    return "\n\n".join(parts) + "\n"


def _scores(results: Results) -> str:
    beside = [plain(name) for name, _, _ in results.lines[0].beside]
    columns = [
        "embedder::chunker", "verdict", "score", "95 % interval", "difference", "p (Holm)", *beside, "chunks", "median",
        "embedded/token", *(name for name, _ in money_columns(results.lines)), "integrity",
    ]  # fmt: skip
    money = [cell for _, cell in money_columns(results.lines)]
    return table(columns, [_score_row(line, [plain(cell(line)) for cell in money]) for line in results.lines], left=2)


def _score_row(line: Line, money: Sequence[str]) -> list[str]:
    name = code(line.row)
    return [
        f"**{name}**" if line.is_baseline else name,
        MARKS.get(line.verdict, plain(line.verdict)),
        f"{line.mean:.3f}",
        f"{line.low:.3f} to {line.high:.3f}",
        "" if line.difference is None else f"{line.difference:+.3f}",
        "" if line.p_holm is None else f"{line.p_holm:.4f}",
        *(f"{mean:.3f} {plain(verdict)}".rstrip() for _, mean, verdict in line.beside),
        f"{line.chunks:,}",
        f"{line.size_median:,.0f}t",
        f"{line.embedded_per_token:.2f}",
        *money,
        "see below" if line.integrity_note else "ok",
    ]


def _controls(results: Results) -> str:
    rows = [
        [code(c.row), MARKS.get(c.verdict, plain(c.verdict)), f"{c.difference:+.3f}", f"{c.low:+.3f} to {c.high:+.3f}",
         f"{c.p_holm:.4f}"]
        for c in results.controls
    ]  # fmt: skip
    return table(["embedder::chunker", "verdict", "difference", "95 % interval", "p (Holm)"], rows, left=2)
