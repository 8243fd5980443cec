"""Errors that nobody foresaw, in words: what it was and where, and the whole of it for those who ask with ``--debug``.

Which exit code they give is left to ``app.py``, what is safe after one to the command.
"""

import os
import traceback
from contextlib import suppress

__all__ = ["DEBUG", "describe", "is_debugging", "show_traceback", "start_debugging"]

DEBUG = "FAIRCUT_DEBUG"
"""The environment variable that asks for tracebacks; ``faircut --debug`` sets it."""


def start_debugging() -> None:
    """Ask for tracebacks, in this process and in those that it starts."""
    os.environ[DEBUG] = "1"


def is_debugging() -> bool:
    """Whether tracebacks are asked for."""
    return os.environ.get(DEBUG, "") not in ("", "0")


def describe(error: Exception) -> str:
    """The kind of error, what it says, and the file and line that it comes from."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f", {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    said = f": {error}" if str(error) else ""
    return f"{type(error).__name__}{said}{place}"


def show_traceback(error: BaseException) -> None:
    """Print an error with what caused it on stderr, where that is asked for."""
    from faircut.cli.console import complain_lines

    if is_debugging():
        with suppress(RecursionError):  # so deep that not even this can be told
            complain_lines("".join(traceback.format_exception(error)).rstrip())
