"""The commands put together, and the one place where errors become a sentence and an exit code.

Exit codes: 0 done, 1 bad input (or a fault of ours), 2 usage, 3 documents that failed while the rest is done, 4 a gate
that failed, 130 Ctrl-C, 141 a reader of stdout that left.
Heavy libraries are imported inside the commands, so that help is fast.
"""

import os
import sys
import warnings
from typing import Annotated

import typer
from typer.exceptions import Abort, Exit, TyperException

from faircut import __version__
from faircut.cli.audit import audit
from faircut.cli.chunk import chunk
from faircut.cli.compare import compare
from faircut.cli.console import complain, complain_lines
from faircut.cli.gate import gate
from faircut.cli.listing import list_components
from faircut.cli.models import app as models_app
from faircut.cli.questions import app as questions_app
from faircut.cli.report import report
from faircut.cli.serve import serve
from faircut.cli.show import show
from faircut.cli.unexpected import DEBUG, describe, show_traceback, start_debugging
from faircut.cli.view import view
from faircut.errors import CorpusError, FaircutError, QuestionError

__all__ = ["run"]

READER_LEFT = 141
"""The exit code when nobody reads stdout any more, as shells know it: 128 and the number of SIGPIPE."""

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
app.command("report")(report)
app.command("view")(view)
app.command("serve")(serve)
app.command("show")(show)
app.command("gate")(gate)
app.command("list")(list_components)
app.add_typer(questions_app, name="questions")
app.add_typer(models_app, name="models")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"faircut {__version__}")
        raise typer.Exit


def _start_debugging(wanted: bool) -> None:
    if wanted:
        start_debugging()


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", callback=_start_debugging, help=f"Show where an error comes from (or set {DEBUG}=1)."),
    ] = False,
) -> None:
    """Cut documents into chunks, and compare the cuts so fairly that the verdict can be believed."""


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    complain(f"warning: {message}")


def run() -> int:
    """Run the command of ``sys.argv`` and return its exit code.

    Raises:
        KeyboardInterrupt: Ctrl-C; told by the caller.
    """
    warnings.showwarning = _show_warning
    try:
        _invoke(sys.argv[1:])
        if sys.stdout is not None:
            sys.stdout.flush()  # a full disk or a reader that left is told here, not when the interpreter ends
    except Exit as asked:
        return asked.exit_code
    except (FaircutError, OSError, Abort, TyperException) as error:
        show_traceback(error)
        return _report(error)
    except Exception as error:  # the last line of defence: told, never swallowed
        show_traceback(error)
        return _report_unexpected(error)
    return 0


def _invoke(arguments: list[str]) -> None:
    """The command itself. Typer's own ``main`` is not used: it ends the process when a reader of stdout leaves."""
    command = typer.main.get_command(app)
    with command.make_context("faircut", arguments) as context:
        command.invoke(context)


def _report(error: Exception) -> int:
    if isinstance(error, Abort):
        raise KeyboardInterrupt
    if isinstance(error, OSError):
        return _report_system(error)
    if isinstance(error, TyperException):
        return _report_usage(error)
    if isinstance(error, (CorpusError, QuestionError)):
        complain_lines(str(error))  # one line a problem
    else:
        complain(str(error))
    for note in getattr(error, "__notes__", ()):
        complain(note)
    return error.exit_code if isinstance(error, FaircutError) else 1


def _report_unexpected(error: Exception) -> int:
    _settle_stdout()
    complain(f"stopped by a fault in faircut ({describe(error)}); please report it with what {DEBUG}=1 shows.")
    return 1


def _report_usage(error: TyperException) -> int:
    said = error.format_message()
    context = getattr(error, "ctx", None)
    if context is not None and said == context.get_help():  # no arguments at all
        complain_lines(said)
    else:
        complain(f"{said} (faircut --help shows what is possible)")
    return 2


def _report_system(error: OSError) -> int:
    """What the system said; a reader that left (``faircut chunk ... | head``) needs no sentence, and gets none."""
    _settle_stdout()
    if isinstance(error, BrokenPipeError):
        return READER_LEFT
    complain(f"{error.filename or 'reading or writing failed'}: {error.strerror or error}.")
    return 1


def _settle_stdout() -> None:
    """Write what is left; where that fails, it is not tried again (and told again) when the interpreter ends."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
