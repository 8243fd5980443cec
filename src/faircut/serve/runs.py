"""The finished runs below a folder: names and one line each; the report of some of them, made when it is asked for."""

import json
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

from faircut.errors import StoreError

__all__ = ["RunLine", "Runs"]

_KEPT = 3  # reports in memory
_LISTED = 500
_NAMED = 80  # characters of a wrong name that its error repeats
_LARGEST = 20_000_000  # bytes of a leaderboard
_UNREADABLE = "This run cannot be read: it is damaged, or of another version of faircut. Run the comparison again."


@dataclass(frozen=True)
class RunLine:
    """A run in the list: its headline is the verdict, or what is wrong with it."""

    name: str
    made: str
    rows: int
    questions: int
    headline: str
    is_sound: bool


@dataclass
class Runs:
    """The runs in ``folder``; None or a folder that does not exist has none."""

    folder: Path | None
    _made: "OrderedDict[tuple[Any, ...], str]" = field(default_factory=OrderedDict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def lines(self) -> list[RunLine]:
        """All finished runs, the latest first."""
        found = sorted(((_time(path), path) for path in self._folders()), key=lambda pair: (-pair[0], pair[1].name))
        return [_line(path, made) for made, path in found[:_LISTED]]

    def report(self, names: Sequence[str]) -> str:
        """The report of the named runs, side by side.

        Raises:
            StoreError: no such run in this folder, or a run is damaged.
        """
        known = {path.name: path for path in self._folders()}
        for name in names:
            if name not in known:
                raise StoreError(f"{name[:_NAMED] or 'the empty name'}: no such run here.")
        folders = [known[name] for name in dict.fromkeys(names)]
        if not folders:
            raise StoreError("no run was chosen; choose one or more in the list.")
        key = tuple((path.name, _time(path)) for path in folders)
        with self._lock:  # one is made at a time
            if key not in self._made:
                self._made[key] = _rendered(folders)
            self._made.move_to_end(key)
            while len(self._made) > _KEPT:
                self._made.popitem(last=False)
            return self._made[key]

    def _folders(self) -> list[Path]:
        with suppress(OSError):
            if self.folder is not None:
                return [p for p in self.folder.iterdir() if not p.name.startswith(".") and _board(p).is_file()]
        return []


def _rendered(folders: Sequence[Path]) -> str:
    from faircut.report.pages import render_report

    return render_report(folders)


def _board(folder: Path) -> Path:
    return folder / "leaderboard.json"


def _time(folder: Path) -> float:
    with suppress(OSError):
        return _board(folder).stat().st_mtime
    return 0.0


def _line(folder: Path, made: float) -> RunLine:
    day = datetime.fromtimestamp(made, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
    try:
        rows, questions, headline = _facts(folder)
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
        return RunLine(folder.name, day, 0, 0, _UNREADABLE, is_sound=False)
    return RunLine(folder.name, day, rows, questions, headline, is_sound=True)


def _facts(folder: Path) -> tuple[int, int, str]:
    from faircut.report.verdict import verdict_of

    board = _board(folder)
    if board.stat().st_size > _LARGEST:
        raise ValueError("too large")
    leaderboard = json.loads(board.read_text(encoding="utf-8"))
    verdict = verdict_of(leaderboard)
    headline = f"Smoke test, decides nothing: {verdict.headline}" if verdict.label else verdict.headline
    return len(leaderboard["rows"]), int(leaderboard["questions"]), headline
