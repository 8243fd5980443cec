"""The command line: one file a command, one place where errors become a sentence and an exit code.

Exit codes: 0 done, 1 bad input or an interrupted run, 2 usage. Heavy libraries are imported inside the commands, so
that help is fast.
"""

import os
import sys
import warnings
from typing import Annotated

import typer
from typer.exceptions import Abort, TyperException

from faircut import __version__
from faircut.cli.audit import audit
from faircut.cli.chunk import chunk
from faircut.cli.compare import compare
from faircut.cli.console import complain
from faircut.cli.listing import list_components
from faircut.cli.models import app as models_app
from faircut.errors import FaircutError
from faircut.report.safe import printable

__all__ = ["main"]

INTERRUPTED = 130  # what typer makes of Ctrl-C

app = typer.Typer(
    name="faircut",
    help="Cut documents into chunks, and compare the cuts so fairly that the verdict can be believed.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("compare")(compare)
app.command("chunk")(chunk)
app.command("audit")(audit)
app.command("list")(list_components)
app.add_typer(models_app, name="models")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"faircut {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Cut documents into chunks, and compare the cuts so fairly that the verdict can be believed."""


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    complain(f"warning: {message}")


def main() -> None:
    """Run the command line; every expected failure is one sentence on stderr and an exit code."""
    warnings.showwarning = _show_warning
    try:
        code = app(standalone_mode=False)
        if code == INTERRUPTED:
            raise KeyboardInterrupt
    except (FaircutError, OSError, KeyboardInterrupt, Abort, TyperException) as error:
        code = _report(error)
    sys.exit(code if isinstance(code, int) else 0)


def _report(error: BaseException) -> int:
    if isinstance(error, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    if isinstance(error, (KeyboardInterrupt, Abort)):
        complain("stopped; what was finished is kept, run the same command again to continue.")
        return 1
    if isinstance(error, TyperException):
        said = error.format_message() if hasattr(error, "format_message") else str(error)
        complain(f"{said} (faircut --help shows what is possible)")
        return 2
    complain(_sentence(error))
    return error.exit_code if isinstance(error, FaircutError) else 1


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        place = f"{printable(str(error.filename))}: " if error.filename else ""
        return f"{place}{error.strerror}."
    return str(error)
