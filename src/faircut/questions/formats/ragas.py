"""Data sets of ragas: ``user_input`` with ``reference_contexts`` (before version 0.2 ``question`` with ``contexts``).

JSON lines, a JSON list, or CSV whose lists are written as JSON or as Python does. The contexts are looked for in the
documents: those of the reference, else those that were retrieved before 0.2; together they are the answer.
"""

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from faircut.documents.jsonl import LineError, numbered_lines, parse_object, write_lines
from faircut.questions.document_level import is_document_level
from faircut.questions.formats.contract import Contents, Format, Peek, Piece, Problems, Row
from faircut.questions.formats.json_text import as_id, as_text, records_in
from faircut.questions.formats.table_rows import DELIMITED, SPREADSHEETS, table_rows
from faircut.records import Document, Question

__all__ = ["RAGAS"]

_ASKED = ("user_input", "question")
_CONTEXTS = ("reference_contexts", "ground_truth_contexts", "contexts", "context")
_LONGEST_LIST = 1_000_000  # characters of a cell that is read as a list


def _read(path: Path, problems: Problems) -> Contents:
    contents = Contents()
    for place, value in _records(path, problems):
        asked = as_text(value, *_ASKED)
        contexts = next((found for key in _CONTEXTS if (found := _texts(value.get(key)))), [])
        if not asked or not contexts:
            problems.add(
                place, f"needs {' or '.join(_ASKED)}, and {' or '.join(_CONTEXTS[:3])} with texts; complete it."
            )
        else:
            contents.rows.append(Row(place, asked, tuple(Piece(quote=one) for one in contexts), as_id(value)))
    return contents


def _records(path: Path, problems: Problems) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if path.suffix.lower() in (*DELIMITED, *SPREADSHEETS):
        yield from table_rows(path)
    elif path.name.lower().endswith((".jsonl", ".jsonl.gz")):
        yield from _lines(path, problems)
    else:
        for place, value in records_in(path):
            if isinstance(value, dict):
                yield place, value
            else:
                problems.add(place, "expected an object; drop it.")


def _lines(path: Path, problems: Problems) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        for number, raw in numbered_lines(path):
            try:
                yield f"{path}:{number}", parse_object(raw)
            except ValueError as error:
                problems.add(f"{path}:{number}", f"{error}; mend the line.")
    except LineError as error:
        problems.add(error.place(path), f"{error}.")


def _texts(value: Any) -> list[str]:
    """The texts of a list, of a list written as text, or a text alone."""
    if isinstance(value, str):
        value = _listed(value)
    listed = value if isinstance(value, list) else []
    return [one for one in listed if isinstance(one, str) and one.strip()]


def _listed(text: str) -> Any:
    if not text.lstrip().startswith("[") or len(text) > _LONGEST_LIST:
        return [text]
    for read in (json.loads, ast.literal_eval):  # the latter takes literals only; nothing is run
        try:
            return read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return [text]


def _write(path: Path, questions: Sequence[Question], documents: Mapping[str, Document]) -> dict[str, int]:
    contents = Contents()
    records = []
    for question in questions:
        if is_document_level(question):
            contents.leave_out("questions without a place")
            continue
        pieces = question.evidence[:1] if question.match == "any" else question.evidence
        if len(pieces) < len(question.evidence):
            contents.leave_out("questions whose alternatives were left out: ragas has none")
        texts = [documents[p.document_id].text[p.span.start : p.span.end] for p in pieces]
        records.append({"user_input": question.text, "reference_contexts": texts})
    write_lines(path, records)
    return contents.left_out


def _suits(peek: Peek) -> bool:
    return peek.shape in ("lines", "list", "table") and bool(peek.keys & {*_ASKED}) and bool(peek.keys & {*_CONTEXTS})


RAGAS = Format(
    "ragas",
    "ragas: user_input and reference_contexts (or question and contexts), found in the documents",
    _suits,
    _read,
    _write,
    (".jsonl",),
    has_ids=False,
)
