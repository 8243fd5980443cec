"""What commands share: one line of complaint, a progress display on stderr, paths that are checked before work."""

import glob
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import typer

from faircut.report.safe import printable, printable_lines

__all__ = ["Advance", "check_outside", "complain", "complain_lines", "path_from", "progress_display"]

Advance = Callable[[str, int, int], None]
"""Called with (what is being done, how much is done, how much there is)."""


def complain(sentence: str) -> None:
    """Say one sentence on stderr, in one line whatever names are in it."""
    _say(printable(sentence))


def complain_lines(text: str) -> None:
    """Say on stderr what we composed of several lines; what came from outside must have none of its own."""
    _say(printable_lines(text))


def _say(text: str) -> None:
    with suppress(OSError, AttributeError):  # stderr is closed, or its reader left: nobody listens
        sys.stderr.write(f"faircut: {text}\n")
        sys.stderr.flush()


def path_from(text: str) -> Path:
    """A path on the command line, as the ``parser`` of an option; an empty one would be the current folder."""
    if not str(text).strip():
        raise typer.BadParameter("the path is empty; name a file or a folder.")
    return Path(text)


def check_outside(target: Path, source: str, option: str) -> None:
    """Refuse to write over the documents or among them, where the next run would read it as one.

    Raises:
        PlanError: ``target`` is the source, one of the files of a pattern, or lies inside the folder.
    """
    from faircut.errors import PlanError

    if not source.strip() or "\0" in source:
        return  # refused where it is read
    real = Path(os.path.realpath(target))
    sources = [source] if os.path.exists(source) else glob.glob(source, recursive=True)
    for one in map(os.path.realpath, sources):
        if real == Path(one) or (os.path.isdir(one) and real.is_relative_to(one)):
            where = "is" if real == Path(one) else "lies inside"
            raise PlanError(f"{option} {target} {where} {source}, which is read; name a place outside of it.")


@contextmanager
def progress_display() -> Iterator[Advance]:
    """A progress display on stderr with one line for each piece of work; silent when that is not a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _what, _done, _total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    tasks = {}
    with Progress(*columns, console=Console(stderr=True)) as display:

        def advance(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = display.add_task(printable(what), total=total)
            display.update(tasks[what], completed=done, total=total)

        yield advance
