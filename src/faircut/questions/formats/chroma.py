"""The questions of Chroma's chunking evaluation: CSV with ``question``, ``references`` and ``corpus_id``.

``references`` is a JSON list of ``content``, ``start_index``, ``end_index`` (Smith and Troynikov 2024); together they
are the answer. ``corpus_id`` is the name of a document.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from faircut.questions.document_level import is_document_level
from faircut.questions.formats.contract import Contents, Format, Piece, Problems, Row
from faircut.questions.formats.table_rows import as_cell, table_rows, write_csv
from faircut.records import Document, Question

__all__ = ["CHROMA"]

_COLUMNS = ("question", "references", "corpus_id")


def _read(path: Path, problems: Problems) -> Contents:
    contents = Contents()
    for place, cells in table_rows(path):
        missing = [name for name in _COLUMNS if name not in cells]
        if missing:
            problems.add(place, f"no column {', '.join(missing)}; Chroma's questions have {', '.join(_COLUMNS)}.")
            return contents
        pieces = _pieces(cells["references"], cells["corpus_id"].strip())
        if pieces is None:
            problems.add(place, '"references" must be a JSON list of content, start_index and end_index; correct it.')
        else:
            contents.rows.append(Row(place, cells["question"], pieces))
    return contents


def _pieces(text: str, document: str) -> tuple[Piece, ...] | None:
    try:
        listed: Any = json.loads(text)
        return tuple(
            Piece(document, int(one["start_index"]), int(one["end_index"]), str(one["content"])) for one in listed
        )
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None


def _write(path: Path, questions: Sequence[Question], documents: Mapping[str, Document]) -> dict[str, int]:
    contents = Contents()
    rows = []
    for question in questions:
        homes = {piece.document_id for piece in question.evidence}
        if is_document_level(question) or len(homes) > 1:
            contents.leave_out("questions without a place, or with evidence in several documents")
        elif question.match == "any" and len(question.evidence) > 1:
            contents.leave_out("questions with alternatives: Chroma's references are needed together")
        else:
            name = homes.pop()
            references = [
                {
                    "content": documents[name].text[p.span.start : p.span.end],
                    "start_index": p.span.start,
                    "end_index": p.span.end,
                }
                for p in question.evidence
            ]
            rows.append((as_cell(question.text), json.dumps(references, ensure_ascii=False), as_cell(name)))
    write_csv(path, _COLUMNS, rows)
    return contents.left_out


CHROMA = Format(
    "chroma",
    "Chroma's CSV: question, references (content, start_index, end_index), corpus_id",
    lambda peek: peek.shape == "table" and peek.has("question", "references"),
    _read,
    _write,
    (".csv",),
    has_ids=False,
)
