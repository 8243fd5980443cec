"""Questions with what is known of how they were made: the records that generators write and a review reads.

A line of the file is a native question with further keys: ``made_by``, ``model``, ``style``, ``label``, ``review``.
Comparisons leave them alone, but for the label.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from faircut.documents.jsonl import write_lines
from faircut.questions.native import question_object
from faircut.records import Evidence, Question, content_id

__all__ = ["MadeQuestion", "question_id", "write_made"]


@dataclass(frozen=True, slots=True)
class MadeQuestion:
    """A question and the further keys of its line."""

    question: Question
    about: Mapping[str, Any] = field(default_factory=dict)


def question_id(text: str, evidence: Iterable[Evidence]) -> str:
    """An id made of the question and its evidence."""
    places = [f"{piece.document_id}:{piece.span.start}-{piece.span.end}" for piece in evidence]
    return f"q-{content_id(text, *places)}"


def write_made(path: Path, made: Iterable[MadeQuestion]) -> None:
    """Write one line a question; the file appears whole or not at all.

    Raises:
        StoreError: it cannot be written.
    """
    write_lines(path, ({**question_object(one.question), **one.about} for one in made))
