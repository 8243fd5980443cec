"""The seam of foreign question files: what a format is, and the rows that its reader gives.

A row says what stands in the file, in the file's own names; finding it in the documents is left to ``resolve.py``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from faircut.errors import QuestionError
from faircut.records import Document, Question

__all__ = ["Contents", "Format", "Peek", "Piece", "Problems", "Row", "Shape"]

Shape = Literal["folder", "lines", "object", "list", "table"]


@dataclass(frozen=True, slots=True)
class Peek:
    """What a file looks like from outside.

    ``keys`` are the names at the top of a JSON object, of the first record of a list or of JSON lines, of a table's
    columns, or of a folder's files.
    """

    shape: Shape
    keys: frozenset[str]

    def has(self, *keys: str) -> bool:
        """Whether all of these names are there."""
        return self.keys.issuperset(keys)


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of evidence as the file gives it: a range, a quote, both (they must agree), or a whole document."""

    document: str | None = None
    start: int | None = None
    end: int | None = None
    quote: str | None = None
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One question of a file; ``place`` is its line, and its item where a line is not enough.

    ``about`` is what else the file says of it: how it was made, and what a review decided.
    """

    place: str
    text: str
    pieces: tuple[Piece, ...]
    id: str = ""
    match: Literal["all", "any"] = "all"
    within: str | None = None
    label: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)


class Problems:
    """What is wrong with a file: all of it counted, the first ones kept, told at once."""

    def __init__(self, path: Path, shown: int = 20) -> None:
        self.path, self.shown = path, shown
        self.total = 0
        self._kept: list[str] = []

    @property
    def has_room(self) -> bool:
        """Whether a further problem will be shown; costly hints are looked for only then."""
        return len(self._kept) < self.shown

    def add(self, place: str, what: str) -> None:
        """Note a problem; ``what`` says what was found and what to do."""
        self.total += 1
        if self.has_room:
            self._kept.append(f"{place}: {what}")

    @property
    def lines(self) -> list[str]:
        """The problems kept, and how many more there are."""
        more = [f"... and {self.total - len(self._kept):,} more."] if self.total > len(self._kept) else []
        # A file's name may hold a line end: each problem is one line.
        return [line.replace("\n", "\\n") for line in [*self._kept, *more]]

    def error(self, so: str) -> QuestionError:
        """All of it as one error; ``so`` says what follows from it."""
        head = [f"{self.path}: {self.total:,} problems; {so}."] if self.total > 1 else []
        return QuestionError("\n".join([*(line.replace("\n", "\\n") for line in head), *self.lines]))


@dataclass
class Contents:
    """What a reader found: rows, texts that the file brings along, and what was left out, by reason."""

    rows: list[Row] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)

    def leave_out(self, reason: str) -> None:
        """Count something that cannot be said in faircut's records."""
        self.left_out[reason] = self.left_out.get(reason, 0) + 1


Read = Callable[[Path, Problems], Contents]
Write = Callable[[Path, Sequence[Question], Mapping[str, Document]], dict[str, int]]
"""Writes questions; gives how many were left out, by reason."""


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file.

    ``suits`` decides by a look at the file; of several that suit, the first in the registry is taken. ``writes`` is
    None for what is only read; ``extensions`` are what a file to be written may be called; ``has_ids`` says whether a
    written question has its id.
    """

    name: str
    about: str
    suits: Callable[[Peek], bool]
    reads: Read
    writes: Write | None = None
    extensions: tuple[str, ...] = (".json",)
    has_ids: bool = True
