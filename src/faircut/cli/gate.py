"""``faircut gate``: compare a run with a base and fail on a loss that matters."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from faircut.cli.console import path_from

if TYPE_CHECKING:
    from faircut.experiment.gate import GateResult

__all__ = ["GATE_FAILED", "gate"]

GATE_FAILED = 4
"""The exit code of a gate that found a loss or a defect; 1 and 2 mean that it could not judge."""


def gate(
    run: Annotated[Path, typer.Argument(help="A run's folder, or the leaderboard.json in it.")],
    against: Annotated[
        Path, typer.Option("--against", parser=path_from, metavar="BASE", help="The run to compare with, likewise.")
    ],
    row: Annotated[
        list[str] | None,
        typer.Option("--row", "-r", help="A row or chunker of RUN; give it for each [those in both runs]."),
    ] = None,
    base_row: Annotated[
        str, typer.Option("--base-row", help="The counterpart of --row in BASE [the row of the same name].")
    ] = "",
    measure: Annotated[str, typer.Option("--measure", "-m", help="What decides [as in the runs].")] = "",
    margin: Annotated[float, typer.Option("--margin", min=0, max=0.5, help="A loss up to this size passes.")] = 0.02,
    alpha: Annotated[
        float, typer.Option("--alpha", min=0.0001, max=0.5, help="The level of all tests together.")
    ] = 0.05,
    common: Annotated[
        bool, typer.Option("--common", help="Where documents or questions differ, compare on what is unchanged.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Fail on every defect, not only on new ones.")] = False,
    junit: Annotated[
        Path | None, typer.Option("--junit", parser=path_from, metavar="FILE", help="Write JUnit XML.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", parser=path_from, metavar="FILE", help="Write a Markdown summary.")
    ] = None,
) -> None:
    """Fail (exit code 4) when a run lost against a base, by a paired test on the same questions."""
    from faircut.experiment.gate import gate as judge

    result = judge(
        run, against, rows=row or (), base_row=base_row, measure=measure, margin=margin, alpha=alpha, common=common,
        strict=strict,
    )  # fmt: skip
    _write(result, junit, markdown)
    _print(result)
    if not result.passed:
        raise typer.Exit(GATE_FAILED)


def _write(result: "GateResult", junit: Path | None, markdown: Path | None) -> None:
    from faircut.files import write_atomically
    from faircut.report.gate import gate_junit, gate_markdown

    for path, made in ((junit, gate_junit), (markdown, gate_markdown)):
        if path is not None:
            raw = made(result).encode()
            write_atomically(path, lambda file, raw=raw: file.write(raw))  # type: ignore[misc]


def _print(result: "GateResult") -> None:
    from faircut.report.gate import gate_lines, gate_sentence
    from faircut.report.safe import printable

    if sys.stdout is None:
        return  # closed by the caller; the exit code says it
    for line in (gate_sentence(result), *gate_lines(result)):
        typer.echo(printable(line))
