"""A program of its own: reads a spreadsheet and writes its sheets as lines of JSON to standard output.

It is run by ``spreadsheet_engine.py``, which says why. It imports nothing of faircut, so that it starts at once.
Arguments: the import path as JSON, the file, the bytes of memory and the seconds that it may take. A line is an object
for each sheet, then a list for each row and ``null`` after the last; at the end ``{"end": true}``, or an error.
"""

import json
import sys
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any


def main(path: str, memory: int, seconds: int) -> None:
    """Limit this process, read the file, write the lines."""
    _limit(memory, seconds)
    from python_calamine import CalamineError, PasswordError

    try:
        _send_sheets(path)
        _send({"end": True})
    except PasswordError:
        _send({"error": "encrypted; save it without a password"})
    except (CalamineError, OverflowError, ValueError) as error:  # the others: dates that are none
        _send({"error": f"damaged, or no spreadsheet of this kind ({error})"})


def _limit(memory: int, seconds: int) -> None:
    try:
        import resource
    except ImportError:  # not on this system
        return
    for what, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0)):
        try:
            resource.setrlimit(what, (most, most))
        except (ValueError, OSError):  # a stricter limit is set already
            continue


def _send_sheets(path: str) -> None:
    from python_calamine import SheetVisibleEnum, load_workbook

    with Path(path).open("rb") as file, load_workbook(file) as workbook:
        for place, about in enumerate(workbook.sheets_metadata):
            cells = workbook.get_sheet_by_index(place)
            if cells.start is None:
                continue
            sheet = {"name": about.name, "visible": about.visible == SheetVisibleEnum.Visible}
            _send(sheet | {"column": cells.start[1], "merged": cells.merged_cell_ranges or []})
            for row in cells.iter_rows():
                _send([_plain(value) for value in row])
            _send(None)


def _plain(value: Any) -> Any:
    if isinstance(value, timedelta):
        return {"timedelta": value.total_seconds()}
    if isinstance(value, (datetime, date, time)):
        return {type(value).__name__: value.isoformat()}
    return value


def _send(message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")


if __name__ == "__main__":
    sys.path[:] = json.loads(sys.argv[1])
    main(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
