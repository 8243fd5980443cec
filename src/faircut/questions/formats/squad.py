"""SQuAD v1 and v2: articles of paragraphs with questions. The articles become documents, answers become evidence.

``data[].title, .paragraphs[].context, .qas[].id, .question, .answers[].text, .answer_start, .is_impossible``
(Rajpurkar et al. 2016, 2018). Several answers are alternatives. Questions without an answer are counted and left out.
"""

from collections.abc import Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any

from faircut.documents.plain import plain_blocks
from faircut.questions.document_level import is_document_level
from faircut.questions.formats.contract import Contents, Format, Piece, Problems, Row
from faircut.questions.formats.json_text import Object, as_id, as_text, lists_of, records_in, write_json
from faircut.records import Document, Question

__all__ = ["SQUAD"]

_BETWEEN = "\n\n"
_IMPOSSIBLE = "questions marked as impossible to answer: a question needs evidence here"


def _read(path: Path, problems: Problems) -> Contents:
    contents = Contents()
    titles: set[str] = set()
    for number, (place, article) in enumerate(records_in(path, "data")):
        where = f"{place}: data[{number}]"
        if not isinstance(article, dict) or not lists_of(article, "paragraphs"):
            problems.add(where, 'an article needs a list "paragraphs" of objects; is this SQuAD?')
            continue
        title = as_text(article, "title") or f"article-{number}"
        names = chain([title], (f"{title}-{n}" for n in count(2)))
        identity = next(name for name in names if name not in titles)
        titles.add(identity)
        _add_article(contents, problems, where, identity, lists_of(article, "paragraphs"))
    return contents


def _add_article(contents: Contents, problems: Problems, where: str, identity: str, paragraphs: list[Object]) -> None:
    """One document of all contexts, and the questions with their answers moved to it."""
    texts: list[str] = []
    start = 0
    for number, paragraph in enumerate(paragraphs):
        context = paragraph.get("context")
        if not isinstance(context, str) or not context.strip():
            problems.add(f"{where}.paragraphs[{number}]", '"context" must be a text that is not blank; complete it.')
            continue
        if not isinstance(paragraph.get("qas"), list):
            problems.add(f"{where}.paragraphs[{number}]", 'a paragraph needs a list "qas" of questions; complete it.')
        for q, asked in enumerate(lists_of(paragraph, "qas")):
            place = f"{where}.paragraphs[{number}].qas[{q}]"
            _add_question(contents, problems, place, asked, identity, start)
        texts.append(context)
        start += len(context) + len(_BETWEEN)
    text = _BETWEEN.join(texts)
    if text:
        contents.documents.append(Document(identity, text, plain_blocks(text), title=identity))


def _add_question(contents: Contents, problems: Problems, place: str, asked: Object, document: str, start: int) -> None:
    answers = lists_of(asked, "answers")
    if not isinstance(asked.get("answers", []), list):
        problems.add(place, '"answers" must be a list of objects with "text" and "answer_start"; correct it.')
        return
    if asked.get("is_impossible") is True or not answers:
        contents.leave_out(_IMPOSSIBLE if asked.get("is_impossible") is True else "questions without an answer")
        return
    pieces = [_piece(answer, document, start) for answer in answers]
    if None in pieces:
        problems.add(place, 'each answer needs "text" and a whole number "answer_start"; complete it.')
        return
    distinct = tuple(dict.fromkeys(piece for piece in pieces if piece is not None))
    contents.rows.append(Row(place, as_text(asked, "question"), distinct, as_id(asked), "any"))


def _piece(answer: Object, document: str, start: int) -> Piece | None:
    text, at = answer.get("text"), answer.get("answer_start")
    if not isinstance(text, str) or not text or not isinstance(at, int) or isinstance(at, bool):
        return None
    return Piece(document, start + at, start + at + len(text), text)


def _write(path: Path, questions: Sequence[Question], documents: Mapping[str, Document]) -> dict[str, int]:
    contents = Contents()
    asked: dict[str, list[dict[str, Any]]] = {}
    for question in questions:
        homes = {piece.document_id for piece in question.evidence}
        if is_document_level(question) or len(homes) > 1:
            contents.leave_out("questions without a place, or with evidence in several documents")
        elif question.match == "all" and len(question.evidence) > 1:
            contents.leave_out("questions needing several places together: SQuAD has alternatives only")
        else:
            text = documents[question.evidence[0].document_id].text
            answers = [
                {"text": text[p.span.start : p.span.end], "answer_start": p.span.start} for p in question.evidence
            ]
            asked.setdefault(homes.pop(), []).append({"id": question.id, "question": question.text, "answers": answers})
    articles = [
        {"title": identity, "paragraphs": [{"context": documents[identity].text, "qas": qas}]}
        for identity, qas in asked.items()
    ]
    write_json(path, {"version": "1.1", "data": articles})
    return contents.left_out


SQUAD = Format(
    "squad",
    "SQuAD v1 or v2: articles become documents, several answers are alternatives",
    lambda peek: peek.shape == "object" and peek.has("data"),
    _read,
    _write,
)
