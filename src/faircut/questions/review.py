"""A person goes through questions one by one: accept, edit, drop. Lines of the file in, the file with decisions out.

Every decision is on the disk before the next question is shown, so a review can be left at any moment. How a question
is shown and how an answer is typed is left to the command line.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from faircut.documents.jsonl import LineError, numbered_lines, parse_object, write_lines
from faircut.errors import QuestionError

__all__ = ["Review", "is_too_short", "open_review"]

_SHORTEST = 8  # characters of a question
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]"
)  # words without spaces between

Decision = Literal["accepted", "edited"]


@dataclass
class Review:
    """The lines of a file, and those that were dropped.

    Attributes:
        path: the file that is reviewed, in place.
        records: its lines; a decided one has the key ``review``.
        dropped: the lines that were dropped, kept in the file beside (``dropped_path``).
    """

    path: Path
    records: list[dict[str, Any]]
    dropped: list[dict[str, Any]]

    @property
    def dropped_path(self) -> Path:
        """Where dropped questions are kept."""
        return _dropped_path(self.path)

    @property
    def waiting(self) -> list[dict[str, Any]]:
        """The questions that nobody has decided on, in the order of the file."""
        return [record for record in self.records if not record.get("review")]

    def accept(self, record: dict[str, Any]) -> None:
        """Keep a question as it is."""
        self._decide(record, {"review": "accepted"})

    def edit(self, record: dict[str, Any], text: str) -> None:
        """Keep a question with another text.

        Raises:
            QuestionError: the text is blank.
        """
        if not text.strip():
            raise QuestionError("a question has a text; drop it instead.")
        before = record.get("before_review", record["question"])
        self._decide(record, {"question": text.strip(), "review": "edited", "before_review": before})

    def drop(self, record: dict[str, Any]) -> None:
        """Move a question to the file of dropped ones; that one is written first, so that nothing is lost."""
        self.dropped.append(record)
        write_lines(self.dropped_path, self.dropped)
        self.records = [other for other in self.records if other is not record]
        self._write()

    def _decide(self, record: dict[str, Any], changes: Mapping[str, Any]) -> None:
        record.update(changes)
        self._write()

    def _write(self) -> None:
        write_lines(self.path, self.records)


def is_too_short(text: str) -> bool:
    """Whether a text is a slip of the keyboard rather than a question: under eight characters, or one word."""
    if _UNSPACED.search(text):
        return len(text.strip()) < _SHORTEST // 2
    return len(text.strip()) < _SHORTEST or len(text.split()) < 2


def open_review(path: Path) -> Review:
    """The review of a file, as far as it came.

    Raises:
        QuestionError: it cannot be read.
    """
    beside = _dropped_path(path)
    dropped = _records(beside) if beside.exists() else []
    gone = {_content(record) for record in dropped}
    records = [record for record in _records(path) if _content(record) not in gone]
    return Review(path, records, dropped)


def _dropped_path(path: Path) -> Path:
    packed = ".gz" if path.name.lower().endswith(".gz") else ""
    stem = path.name.removesuffix(packed) if packed else path.name
    return path.with_name(f"{stem.removesuffix('.jsonl')}.dropped.jsonl{packed}")


def _content(record: Mapping[str, Any]) -> str:
    return json.dumps(record, sort_keys=True)


def _records(path: Path) -> list[dict[str, Any]]:
    try:
        return [parse_object(raw) for _, raw in numbered_lines(path)]
    except LineError as error:
        raise QuestionError(f"{error.place(path)}: {error}.") from error
    except ValueError as error:
        raise QuestionError(f"{path}: {error}; check it with `faircut questions check`.") from error
