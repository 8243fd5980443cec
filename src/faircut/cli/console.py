"""What commands share: one line of complaint, a progress display on stderr, paths that are checked before work."""

import glob
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from faircut.report.safe import printable, printable_lines

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from faircut.documents import Unread
    from faircut.llm import Purse

__all__ = [
    "SOME_FAILED", "Advance", "SkipUnreadable", "check_outside", "complain", "complain_lines", "job_display",
    "output_console", "path_from", "progress_display", "suggesting_to_skip", "tell_unread",
    "telling_paid",
]  # fmt: skip

SOME_FAILED = 3
"""The exit code when documents failed and the rest is done."""

Advance = Callable[[str, int, int], None]
"""Called with (what is being done, how much is done, how much there is)."""


@contextmanager
def telling_paid(purse: "Purse") -> Iterator[None]:
    """At the end, also after an error, what was paid for meanwhile; nothing where nothing was."""
    from faircut.llm import dollars
    from faircut.questions.counting import counted

    try:
        yield
    finally:
        spent = purse.spent
        if spent.requests:
            price = ", at an unknown price" if spent.money is None else f", {dollars(spent.money)}"
            complain(f"paid now: {counted(spent.requests, 'requests')}, {counted(spent.tokens, 'tokens')}{price}.")


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


def output_console() -> "Console":
    """Where results are printed: stdout, 140 columns wide when it is not a terminal.

    What the terminal's encoding cannot say is written as an escape, not as a traceback.
    """
    from rich.console import Console

    with suppress(AttributeError):  # a stream of another kind, as in notebooks and tests
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    console = Console()
    return console if console.is_terminal else Console(width=140)


SkipUnreadable = Annotated[
    bool | None,
    typer.Option(
        "--skip-unreadable/--stop-at-unreadable",
        help="Leave out documents that cannot be read, name them, and end with exit code 3 [stop].",
    ),
]
"""An option of commands that read all documents at once."""


@contextmanager
def suggesting_to_skip(source: str) -> Iterator[None]:
    """Say beside an error about documents inside of a folder or corpus that they can be left out."""
    from faircut.errors import CorpusError, DocumentError

    try:
        yield
    except DocumentError as error:
        inside = re.match(rf"{re.escape(source.rstrip(os.sep))}({re.escape(os.sep)}|:\d+: )", str(error))
        if inside or isinstance(error, CorpusError):
            error.add_note("--skip-unreadable leaves out what cannot be read, names it, and ends with exit code 3.")
        raise


def tell_unread(unread: "Sequence[Unread]") -> None:
    """Name the documents that could not be read on stderr, where there are any, and end with the exit code for it.

    Raises:
        Exit: with ``SOME_FAILED``.
    """
    if not unread:
        return
    lines = (printable(f"  {one.id}: {one.reason}") for one in unread)
    documents = "1 document" if len(unread) == 1 else f"{len(unread):,} documents"
    complain_lines("\n".join([f"{documents} could not be read, the rest is done:", *lines]))
    raise typer.Exit(SOME_FAILED)


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
    tasks = {}
    with _progress() as display:

        def advance(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = display.add_task(printable(what), total=total, note="")
            display.update(tasks[what], completed=done, total=total)

        yield advance


Job = Callable[[int, int | None, str], None]
"""Called with (how much is done, how much there is where that is known, what to say beside it)."""


@contextmanager
def job_display(what: str) -> Iterator[Job]:
    """One line on stderr for a job of many pieces, with counts beside the bar; silent when that is not a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _done, _total, _note: None
        return
    with _progress() as display:
        task = display.add_task(printable(what), total=None, note="")

        def advance(done: int, total: int | None, note: str) -> None:
            display.update(task, completed=done, total=total, note=printable(note))

        yield advance


def _progress() -> "Progress":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )
    return Progress(*columns, console=Console(stderr=True))
