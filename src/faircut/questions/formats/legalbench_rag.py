"""LegalBench-RAG: ``tests``, each a ``query`` with ``snippets`` of ``file_path`` and ``span`` (Pipitone, Alami 2024).

The snippets of a query are needed together. An ``answer`` beside a span is checked against the document.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from faircut.questions.document_level import is_document_level
from faircut.questions.formats.contract import Contents, Format, Piece, Problems, Row
from faircut.questions.formats.json_text import Object, as_text, lists_of, records_in, write_json
from faircut.records import Document, Question

__all__ = ["LEGALBENCH_RAG"]


def _read(path: Path, problems: Problems) -> Contents:
    contents = Contents()
    for number, (place, test) in enumerate(records_in(path, "tests")):
        where = f"{place}: tests[{number}]"
        pieces = [_piece(one) for one in lists_of(test, "snippets")] if isinstance(test, dict) else [None]
        if None in pieces or not as_text(test, "query"):
            problems.add(where, 'needs a "query" and "snippets" with "file_path" and "span" [start, end]; complete it.')
        else:
            kept = tuple(piece for piece in pieces if piece is not None)
            contents.rows.append(Row(where, as_text(test, "query"), kept))
    return contents


def _piece(snippet: Object) -> Piece | None:
    span = snippet.get("span")
    if not as_text(snippet, "file_path") or not isinstance(span, list) or len(span) != 2:
        return None
    if not all(isinstance(value, int) and not isinstance(value, bool) for value in span):
        return None
    answer = snippet.get("answer")
    return Piece(snippet["file_path"], span[0], span[1], answer if isinstance(answer, str) and answer else None)


def _write(path: Path, questions: Sequence[Question], documents: Mapping[str, Document]) -> dict[str, int]:
    contents = Contents()
    tests = []
    for question in questions:
        if is_document_level(question):
            contents.leave_out("questions without a place")
        elif question.match == "any" and len(question.evidence) > 1:
            contents.leave_out("questions with alternatives: snippets are needed together")
        else:
            snippets = [
                {
                    "file_path": p.document_id,
                    "span": [p.span.start, p.span.end],
                    "answer": documents[p.document_id].text[p.span.start : p.span.end],
                }
                for p in question.evidence
            ]
            tests.append({"query": question.text, "snippets": snippets})
    write_json(path, {"tests": tests})
    return contents.left_out


LEGALBENCH_RAG = Format(
    "legalbench-rag",
    "LegalBench-RAG: tests of query and snippets (file_path, span)",
    lambda peek: peek.shape == "object" and peek.has("tests"),
    _read,
    _write,
    has_ids=False,
)
