"""What commands share for talking to a person: one line of complaint, a progress display on stderr."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from faircut.report.safe import printable

__all__ = ["complain", "progress_display"]

Advance = Callable[[str, int, int], None]
"""Called with (what is being done, how much is done, how much there is)."""


def complain(sentence: str) -> None:
    """Say one sentence on stderr."""
    sys.stderr.write(f"faircut: {printable(sentence)}\n")
    sys.stderr.flush()


@contextmanager
def progress_display(*, quiet: bool = False) -> Iterator[Advance]:
    """A progress display on stderr with one line for each piece of work; silent when ``quiet`` or not a terminal."""
    if quiet or not sys.stderr.isatty():
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
