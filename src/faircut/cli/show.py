"""``faircut show``: one question of a run, its evidence and what each chunker retrieved."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from faircut.cli.console import output_console, path_from
from faircut.report.safe import printable

if TYPE_CHECKING:
    from faircut.report.run_data import DataSet

__all__ = ["show"]


def show(
    run: Annotated[Path, typer.Argument(parser=path_from, metavar="RUN", help="A run's folder.")],
    question: Annotated[
        str | None, typer.Argument(help="Its id, the beginning of one id, or its number; without it all are listed.")
    ] = None,
    row: Annotated[
        list[str] | None, typer.Option("--row", "-r", help="A row or chunker; give it for each [all].")
    ] = None,
    top: Annotated[int, typer.Option("--top", "-k", min=1, max=1000, help="Hits of each row.")] = 5,
    full: Annotated[bool, typer.Option("--full", help="Whole texts, not only around the evidence.")] = False,
) -> None:
    """Show a question, its evidence in the document, and what each chunker retrieved for it."""
    from faircut.report.run_data import data_sets, load_run

    (data,) = data_sets([load_run(run.parent if run.name == "leaderboard.json" else run)])
    if sys.stdout is None:
        return  # closed by the caller
    if question is None:
        _list(data)
        return
    from faircut.report.show import find_question, view_question
    from faircut.report.show_terminal import print_question

    view = view_question(data, find_question(data.questions, question), rows=row or (), top=top, full=full)
    print_question(view, output_console())


def _list(data: "DataSet") -> None:
    """A line for each question: its number and id, the score of every row, its text."""
    measure = str(data.runs[0].leaderboard["measure"])
    console = output_console()
    for number, row in enumerate(data.rows, 1):
        console.print(printable(f"column {number}: {measure} of {row.name}"), markup=False, highlight=False)
    columns = [row.scores[measure].to_list() for row in data.rows]
    for at, asked in enumerate(data.questions):
        scores = " ".join(f"{column[at]:.2f}" for column in columns)
        line = printable(f"{at + 1:>4}. {asked.id}  {scores}  {asked.text}")
        console.print(line, markup=False, highlight=False, soft_wrap=True)
