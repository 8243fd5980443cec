"""faircut's own questions.jsonl, as one format among the others. Reading is that of ``questions/native.py``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from faircut.documents.jsonl import LineError, numbered_lines, parse_object
from faircut.questions.formats.contract import Contents, Format, Piece, Problems, Row
from faircut.questions.native import write_questions
from faircut.records import Document, Question

__all__ = ["NATIVE"]

_SAID = {"id", "question", "gold", "gold_is", "within", "label"}


def _read(path: Path, problems: Problems) -> Contents:
    contents = Contents()
    try:
        for number, raw in numbered_lines(path):
            place = f"{path}:{number}"
            try:
                contents.rows += _rows(parse_object(raw), place, problems)
            except ValueError as error:
                problems.add(place, f"{error}; mend the line.")
    except LineError as error:
        problems.add(error.place(path), f"{error}.")
    return contents


def _rows(value: dict[str, Any], place: str, problems: Problems) -> list[Row]:
    gold = value.get("gold")
    if not isinstance(value.get("question"), str) or not isinstance(gold, list):
        problems.add(place, 'needs "question" (text) and "gold" (a list of evidence); write both.')
        return []
    pieces = [_piece(one) for one in gold]
    if None in pieces:
        problems.add(place, 'each piece of "gold" needs a document, and start and end or a quote; complete it.')
        return []
    match: Any = value.get("gold_is") or "all"
    within = value.get("within")
    if match not in ("all", "any") or not isinstance(within, str | None):
        problems.add(place, '"gold_is" must be "all" or "any", and "within" the id of a document; correct it.')
        return []
    identity, label = value.get("id"), value.get("label")
    kept = tuple(piece for piece in pieces if piece is not None)
    named = identity if isinstance(identity, str) else ""
    labelled = label if isinstance(label, str) else ""
    about = {key: one for key, one in value.items() if key not in _SAID}
    return [Row(place, value["question"], kept, named, match, within, labelled, about)]


def _piece(one: Any) -> Piece | None:
    if not isinstance(one, dict) or not isinstance(one.get("document"), str):
        return None
    start, end, quote = one.get("start"), one.get("end"), one.get("quote")
    if any(isinstance(value, bool) or not isinstance(value, int | None) for value in (start, end)):
        return None
    if not isinstance(quote, str | None) or (start is None) != (end is None):
        return None
    if start is None and quote is None and one.get("whole") is not True:
        return None
    return Piece(one["document"], start, end, quote, one.get("whole") is True)


def _write(path: Path, questions: Sequence[Question], documents: Mapping[str, Document]) -> dict[str, int]:  # noqa: ARG001
    write_questions(path, questions)
    return {}


NATIVE = Format(
    "native",
    "JSON lines: id, question, gold (document with start and end, or a quote), gold_is, within",
    lambda peek: peek.shape == "lines" and peek.has("question", "gold"),
    _read,
    _write,
    (".jsonl", ".jsonl.gz"),
)
