"""Pairs of a question and the text that answers it: a JSON list, or a table (CSV, TSV, spreadsheet).

JSON: ``question``, ``ground_truth_chunk``, ``source_file``. Table: a column of questions, one of quotes, and one of
documents where there is one; further columns are those of ``_ABOUT``. The quotes are looked for in the documents.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from faircut.questions.document_level import is_document_level
from faircut.questions.formats.contract import Contents, Format, Peek, Piece, Problems, Row
from faircut.questions.formats.json_text import as_id, as_text, records_in, write_json
from faircut.questions.formats.table_rows import DELIMITED, SPREADSHEETS, as_cell, table_rows, write_csv
from faircut.questions.native import SMOKE_TEST
from faircut.records import Document, Question

__all__ = ["PAIRS", "TABLE", "write_table"]

_ASKED = ("question", "query", "frage")
_QUOTES = ("quote", "ground_truth_chunk", "evidence", "reference", "passage", "answer_text", "zitat")
_DOCUMENTS = ("document", "source_file", "source", "file", "file_name", "document_id", "dokument")

_ABOUT = ("review", "before_review", "style", "made_by", "model")
"""Columns of a table that say how a question was made and what a review decided, where any question has them."""


def _read_list(path: Path, problems: Problems) -> Contents:
    contents = Contents()
    for place, value in records_in(path):
        if not isinstance(value, dict):
            problems.add(place, "expected an object with question, ground_truth_chunk and source_file; drop it.")
        else:
            _add(contents, problems, place, value)
    return contents


def _read_table(path: Path, problems: Problems) -> Contents:
    contents = Contents()
    for place, cells in table_rows(path):
        if not set(cells) & {*_ASKED} or not set(cells) & {*_QUOTES}:
            found = ", ".join(repr(name) for name in list(cells)[:8])
            problems.add(
                place, f"the columns are {found}; name one of them question and one quote (and one document, if any)."
            )
            return contents
        label = SMOKE_TEST if cells.get("label", "").strip() == SMOKE_TEST else ""
        _add(contents, problems, place, cells, label, _about(cells))
    return contents


def _about(cells: Mapping[str, str]) -> dict[str, str]:
    """What a row says of its question; a column ``review`` of somebody else's does not count as a decision."""
    said = {name: cells[name] for name in _ABOUT if cells.get(name, "").strip()}
    if said.get("review") not in (None, "accepted", "edited"):
        del said["review"]
    return said


def _add(
    contents: Contents,
    problems: Problems,
    place: str,
    value: Mapping[str, Any],
    label: str = "",
    about: Mapping[str, str] = MappingProxyType({}),
) -> None:
    asked, quote = as_text(value, *_ASKED), as_text(value, *_QUOTES)
    if not asked or not quote:
        lacking = f"{'question' if not asked else 'quote'}"
        problems.add(place, f"the {lacking} is missing or blank; write one or drop the row.")
        return
    piece = Piece(as_text(value, *_DOCUMENTS).strip() or None, quote=quote)
    contents.rows.append(Row(place, asked, (piece,), as_id(value), label=label, about=about))


def _single(questions: Sequence[Question], contents: Contents) -> list[Question]:
    """The questions with one piece of evidence, or with alternatives; the others are counted."""
    kept = []
    for question in questions:
        if is_document_level(question) or (question.match == "all" and len(question.evidence) > 1):
            contents.leave_out("questions without a place, or needing several places together")
        else:
            kept.append(question)
    return kept


def _write_list(path: Path, questions: Sequence[Question], documents: Mapping[str, Document]) -> dict[str, int]:
    contents = Contents()
    keys = ("question", "ground_truth_chunk", "source_file")
    rows = (row for _, *row in _rows(questions, documents, contents))
    write_json(path, [dict(zip(keys, row, strict=True)) for row in rows])
    return contents.left_out


def _write_table(path: Path, questions: Sequence[Question], documents: Mapping[str, Document]) -> dict[str, int]:
    return write_table(path, questions, documents, {})


def write_table(
    path: Path,
    questions: Sequence[Question],
    documents: Mapping[str, Document],
    about: Mapping[str, Mapping[str, Any]],
) -> dict[str, int]:
    """Write a table whose columns hold what is known of the questions (by id), where any question has it.

    Gives what could not be said, by reason.

    Raises:
        StoreError: it cannot be written.
    """
    contents = Contents()
    listed = _rows(questions, documents, contents)
    known = [about.get(identity, {}) for identity, *_ in listed]
    columns = [name for name in ("label", *_ABOUT) if any(isinstance(one.get(name), str) for one in known)]
    for key in (key for one in known for key, value in one.items() if key not in columns or not isinstance(value, str)):
        contents.leave_out(f"values of {key}: a table has no column for them")
    further = [[one[name] if isinstance(one.get(name), str) else "" for name in columns] for one in known]
    rows = ([*row, identity, *more] for (identity, *row), more in zip(listed, further, strict=True))
    write_csv(path, ("question", "quote", "document", "id", *columns), (tuple(map(as_cell, row)) for row in rows))
    return contents.left_out


def _rows(
    questions: Sequence[Question], documents: Mapping[str, Document], contents: Contents
) -> list[tuple[str, str, str, str]]:
    """Id, question, quote and document; of alternatives the first."""
    rows = []
    for question in _single(questions, contents):
        piece = question.evidence[0]
        if len(question.evidence) > 1:
            contents.leave_out("questions whose further alternatives were left out")
        quote = documents[piece.document_id].text[piece.span.start : piece.span.end]
        rows.append((question.id, question.text, quote, piece.document_id))
    return rows


def _has_pairs(peek: Peek) -> bool:
    return bool(peek.keys & {*_ASKED}) and bool(peek.keys & {*_QUOTES})


PAIRS = Format(
    "pairs",
    "a JSON list of question, ground_truth_chunk, source_file",
    lambda peek: peek.shape == "list" and _has_pairs(peek),
    _read_list,
    _write_list,
    has_ids=False,
)
TABLE = Format(
    "table",
    "CSV, TSV or a spreadsheet with the columns question and quote, and document where there is one",
    lambda peek: peek.shape == "table",
    _read_table,
    _write_table,
    DELIMITED,
)
TABLE_EXTENSIONS = (*DELIMITED, *SPREADSHEETS)
