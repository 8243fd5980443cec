"""A spreadsheet file -> its sheets with their cells as values, by ``python-calamine``, here or in a process beside.

The engine's code for the old binary formats (XLS, XLSB) can be led astray by a damaged file so far that the process
ends. These are read in a process of their own, with limits on its memory and time; its end is an error like any other.
What the values mean is left to ``spreadsheet.py``.
"""

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

from faircut.documents.ole import OLE_MAGIC
from faircut.documents.spreadsheet_cells import Value
from faircut.errors import DocumentError

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook

__all__ = ["MAX_MEMORY", "MAX_SECONDS", "Range", "Sheet", "sheets"]

MAX_MEMORY = 2 * 2**30
"""Bytes of address space of the process beside this one, where the system can limit it."""
MAX_SECONDS = 60
"""Seconds of computing that it may take."""

Range = tuple[tuple[int, int], tuple[int, int]]  # first and last row and column, counted from 0


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet with at least one cell; ``rows`` can be gone through once, before the next sheet."""

    name: str
    is_visible: bool
    first_column: int
    merged: list[Range]
    rows: Iterable[Sequence[Value]]


def sheets(path: Path) -> Iterator[Sheet]:
    """The sheets of a file in their order, without those that have no cells.

    Raises:
        DocumentError: encrypted, damaged, or too much for the limits.
    """
    return _sheets_apart(path) if _is_binary(path) else _sheets_here(path)


def _is_binary(path: Path) -> bool:
    with path.open("rb") as file:
        if file.read(len(OLE_MAGIC)) == OLE_MAGIC:
            return True
    try:
        with ZipFile(path) as archive:
            return any(
                name.casefold().endswith(".bin") and "workbook" in name.casefold() for name in archive.namelist()
            )
    except (BadZipFile, ValueError, NotImplementedError):
        return True  # what the engine makes of it is not known


# ---------------------------------------------------------------- in this process


def _sheets_here(path: Path) -> Iterator[Sheet]:
    from python_calamine import SheetVisibleEnum

    with _workbook(path) as workbook:
        for place, about in enumerate(workbook.sheets_metadata):
            cells = workbook.get_sheet_by_index(place)
            if cells.start is None:  # no cells, or a sheet that is a chart
                continue
            is_visible = about.visible == SheetVisibleEnum.Visible
            yield Sheet(about.name, is_visible, cells.start[1], cells.merged_cell_ranges or [], cells.iter_rows())


@contextmanager
def _workbook(path: Path) -> "Iterator[CalamineWorkbook]":
    from python_calamine import CalamineError, PasswordError, load_workbook

    try:
        with _Panics(path), path.open("rb") as file, load_workbook(file) as workbook:
            yield workbook
    except PasswordError as error:
        raise DocumentError(f"{path}: encrypted; save it without a password.") from error
    except (CalamineError, OverflowError, ValueError) as error:  # the others: dates that are none
        raise DocumentError(f"{path}: damaged, or no spreadsheet of this kind ({error}); save it anew.") from error


@dataclass
class _Panics:
    """Turns a panic of the engine into an error. Its class is no ``Exception``, and cannot be imported."""

    path: Path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if kind is not None and kind.__name__ == "PanicException":
            raise DocumentError(f"{self.path}: damaged: its cells cannot be read ({error}); save it anew.") from error


# ---------------------------------------------------------------- in a process beside this one

_PROGRAM = Path(__file__).with_name("spreadsheet_child.py")


def _sheets_apart(path: Path) -> Iterator[Sheet]:
    """The same sheets, read by ``spreadsheet_child.py`` in another process."""
    import_path = json.dumps(sys.path)
    options = ["-I", "-S", str(_PROGRAM), import_path, str(path.absolute()), str(MAX_MEMORY), str(MAX_SECONDS)]
    with subprocess.Popen(  # noqa: S603  # our own program
        [sys.executable, *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as child:
        try:
            yield from _received(path, child.stdout or ())
        finally:
            child.kill()


def _received(path: Path, lines: Iterable[bytes]) -> Iterator[Sheet]:
    messages = _messages(path, lines)
    while "end" not in (about := next(messages)):
        rows = iter(lambda: _row(next(messages)), None)
        yield Sheet(about["name"], about["visible"], about["column"], _ranges(about["merged"]), rows)
        for _ in rows:
            pass  # of a sheet that the reader left out


def _messages(path: Path, lines: Iterable[bytes]) -> Iterator[Any]:
    """What the other process says; it is an error when it stops before the end."""
    for line in lines:
        if not line.endswith(b"\n"):
            break
        message = json.loads(line)
        if isinstance(message, dict) and "error" in message:
            raise DocumentError(f"{path}: {message['error']}.")
        yield message
    raise DocumentError(
        f"{path}: damaged: reading its cells ended the reading program, or took more than {MAX_MEMORY:,} bytes or "
        f"{MAX_SECONDS} seconds; open it in a spreadsheet program and save it as .xlsx."
    )


def _row(message: list[Any] | None) -> list[Value] | None:
    return None if message is None else [_value(value) for value in message]


def _value(value: Any) -> Value:
    """A cell's value as the engine gives it."""
    if not isinstance(value, dict):
        plain: Value = value
        return plain
    ((kind, text),) = value.items()
    if kind == "timedelta":
        return timedelta(seconds=text)
    made: Value = _MOMENTS[kind].fromisoformat(text)
    return made


_MOMENTS: dict[str, type[datetime] | type[date] | type[time]] = {"datetime": datetime, "date": date, "time": time}


def _ranges(found: list[list[list[int]]]) -> list[Range]:
    return [((top, left), (bottom, right)) for (top, left), (bottom, right) in found]
