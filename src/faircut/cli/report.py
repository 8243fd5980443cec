"""``faircut report``: one page that opens anywhere, made from run folders alone."""

from pathlib import Path
from typing import Annotated

import typer

from faircut.cli.console import path_from
from faircut.report.safe import printable

__all__ = ["check_page", "report"]


def report(
    runs: Annotated[list[Path], typer.Argument(parser=path_from, metavar="RUN...", help="Folders of finished runs.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", parser=path_from, metavar="FILE", help="The page [report.html in the first run]."),
    ] = None,
) -> None:
    """Make report.html of one run, or of several side by side."""
    from faircut.report.pages import write_report

    target = out or runs[0] / "report.html"
    check_page(target)
    typer.echo(f"Report: {printable(str(write_report(runs, target)))}")


def check_page(out: Path) -> None:
    """Refuse a page that is no HTML file by its name.

    Raises:
        PlanError: the name ends otherwise, or is a folder.
    """
    from faircut.errors import PlanError

    if out.suffix not in (".html", ".htm"):
        raise PlanError(f"--out must end in .html, found {out}.")
    if out.is_dir():
        raise PlanError(f"--out is a file, found the folder {out}.")
