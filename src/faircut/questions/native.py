"""``questions.jsonl[.gz]`` -> questions whose evidence was checked against the documents.

A line has ``id``, ``question``, ``gold`` (a list of ``{document, start, end}``, ``{document, quote}`` or ``{document,
whole: true}``) and optional ``gold_is`` (``all``, ``any``), ``within`` and ``label``. All problems are found before one
error tells them. Nothing is searched.
"""

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeGuard, cast

from faircut.documents.jsonl import LineError, numbered_lines, parse_object, write_lines
from faircut.errors import FaircutWarning, QuestionError
from faircut.files import is_utf8
from faircut.questions.document_level import WholeDocument
from faircut.questions.locate import find_loosely, find_quote
from faircut.records import Document, Evidence, Question, Span

__all__ = ["SMOKE_TEST", "about_smoke_tests", "question_object", "read_questions", "write_questions"]

SMOKE_TEST = "smoke test"
"""The ``label`` of questions that were made without a model or a person."""

_MAX_HINT = 2000  # characters of a quote for which other white space is tried


def read_questions(
    path: str | Path,
    documents: Mapping[str, Document],
    *,
    shown: int = 20,
    unread: Collection[str] = (),
    on_left_out: Callable[[str], None] | None = None,
    on_smoke_test: Callable[[str], None] | None = None,
) -> list[Question]:
    """All questions of a file, in its order.

    Args:
        path: ``.jsonl`` or ``.jsonl.gz``.
        documents: the corpus by document id.
        shown: problems that the error lists; the others are counted.
        unread: ids of documents that could not be read: questions with evidence in them are left out.
        on_left_out: called with the id of each question that is left out for that.
        on_smoke_test: called with the id of each question that has the label of a smoke test.

    Warns:
        FaircutWarning: blank evidence beside other evidence of the same question was left out; says where. Questions
            have the label of a smoke test; says how many.

    Raises:
        QuestionError: the file is of another format, cannot be read, has no questions, or some do not fit the
            documents: each problem with its line, what was found and what to do.
    """
    _check_is_json_lines(Path(path))
    check = _Check(Path(path), documents, shown, frozenset(unread), on_left_out or _unheard)
    questions = list(check.questions())
    check.raise_if_any()
    if check.blank:
        warnings.warn(_about_blank(check.blank), FaircutWarning, stacklevel=2)
    if check.smoke_tests:
        warnings.warn(about_smoke_tests(len(check.smoke_tests), len(questions)), FaircutWarning, stacklevel=2)
    for identity in check.smoke_tests:
        (on_smoke_test or _unheard)(identity)
    return questions


def _check_is_json_lines(path: Path) -> None:
    """Say of a table or a text what it is once, not of each of its lines. What cannot be read is told later."""
    if path.is_dir():
        raise QuestionError(
            f"{path!s}: is a folder, not questions.jsonl; `faircut questions convert FOLDER --to native --out "
            "questions.jsonl` makes questions of a folder in BEIR's form.".replace("\n", "\\n")
        )
    if path.name.lower().endswith((".jsonl", ".jsonl.gz", ".ndjson")) or not path.is_file():
        return
    try:
        with path.open("rb") as file:
            begin = file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
    except OSError:
        return
    if begin and not begin.startswith((b"{", b"\x1f\x8b")):
        raise QuestionError(
            f"{path!s}: is not JSON lines; `faircut questions convert FILE --corpus CORPUS --to native --out "
            "questions.jsonl` makes them of CSV, TSV, XLSX, ODS and other formats.".replace("\n", "\\n")
        )


def write_questions(
    path: str | Path,
    questions: Sequence[Question],
    *,
    labels: Mapping[str, str] = MappingProxyType({}),
    about: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> None:
    """Write questions in the native form, gzipped when the name ends in ``.gz``. The file appears whole or not at all.

    Args:
        path: where.
        questions: what.
        labels: ``label`` of the questions that have one, by id.
        about: further keys of the questions that have some, by id.

    Raises:
        StoreError: it cannot be written.
    """
    further = ({"label": labels[q.id]} if q.id in labels else {} for q in questions)
    lines = zip(questions, further, strict=True)
    write_lines(Path(path), ({**question_object(q), **about.get(q.id, {}), **more} for q, more in lines))


def question_object(question: Question) -> dict[str, Any]:
    """The JSON object of one question."""
    gold = [_gold_object(piece) for piece in question.evidence]
    value: dict[str, Any] = {"id": question.id, "question": question.text, "gold": gold}
    if len(gold) > 1 or question.match != "all":
        value["gold_is"] = question.match
    if question.within is not None:
        value["within"] = question.within
    return value


def _gold_object(piece: Evidence) -> dict[str, Any]:
    if isinstance(piece, WholeDocument):
        return {"document": piece.document_id, "whole": True}
    return {"document": piece.document_id, "start": piece.span.start, "end": piece.span.end}


@dataclass
class _Check:
    """One pass over a file that collects problems; ``place`` is the line in hand."""

    path: Path
    documents: Mapping[str, Document]
    shown: int
    unread: frozenset[str]
    on_left_out: Callable[[str], None]
    left_out: int = 0
    problems: list[str] = field(default_factory=list)
    unshown: int = 0
    blank: list[str] = field(default_factory=list)
    smoke_tests: list[str] = field(default_factory=list)
    place: str = ""

    def questions(self) -> Iterable[Question]:
        lines: dict[str, int] = {}
        try:
            for number, raw in numbered_lines(self.path):
                self.place = f"{self.path}:{number}"
                if (question := self._question(raw)) is not None:
                    first = lines.setdefault(question.id, number)
                    if first != number:
                        self.problem(f"the id {question.id!r} is taken by line {first}; give each question its own id.")
                    yield question
        except LineError as error:
            self.place = error.place(self.path)
            self.problem(f"{error}.")
        if not lines and not self.problems:
            self.place = str(self.path)
            self.problem(
                f"all {self.left_out:,} questions need documents that could not be read."
                if self.left_out
                else "there are no questions in this file; write one JSON object a line."
            )

    def raise_if_any(self) -> None:
        if not self.problems:
            return
        total = len(self.problems) + self.unshown
        head = [f"{self.path}: {total} problems in the questions; nothing was run."] if total > 1 else []
        tail = [f"... and {self.unshown} more."] if self.unshown else []
        # A file's name may hold a line end: each problem is one line.
        raise QuestionError("\n".join(line.replace("\n", "\\n") for line in [*head, *self.problems, *tail]))

    @property
    def has_room(self) -> bool:
        """Whether a further problem will be shown; costly hints are looked for only then."""
        return len(self.problems) < self.shown

    def problem(self, what: str) -> None:
        if self.has_room:
            self.problems.append(f"{self.place}: {what}")
        else:
            self.unshown += 1

    # ------------------------------------------------------------ one question

    def _question(self, raw: bytes) -> Question | None:
        """The question of a line, or None when its problems were noted."""
        before = len(self.problems) + self.unshown
        try:
            value = parse_object(raw)
        except ValueError as error:
            self.problem(f"{error}.")
            return None
        identity, text = self._id(value), self._text(value, "question")
        if identity and not self.unread.isdisjoint(_named_documents(value)):
            self.left_out += 1
            self.on_left_out(identity)
            return None
        within = self._within(value.get("within"))
        match = self._match(value.get("gold_is"))
        evidence = self._gold(value.get("gold"), within)
        self.smoke_tests += [identity] * (value.get("label") == SMOKE_TEST)
        if len(self.problems) + self.unshown > before:
            return None
        return Question(identity, text, tuple(evidence), match, within)

    def _id(self, value: Mapping[str, Any]) -> str:
        identity = self._text(value, "id")
        if not is_utf8(identity):
            self.problem(f"the id {identity!r} has half a character (a lone surrogate); give the question another id.")
        return identity

    def _text(self, value: Mapping[str, Any], key: str) -> str:
        found = value.get(key)
        if isinstance(found, str) and found.strip():
            return found
        self.problem(f'"{key}" must be a text that is not blank, found {_shown(found)}.')
        return ""

    def _match(self, found: Any) -> Literal["all", "any"]:
        if found not in (None, "all", "any"):
            self.problem(f'"gold_is" must be "all" or "any", found {_shown(found)}.')
            return "all"
        return cast('Literal["all", "any"]', found or "all")

    def _within(self, found: Any) -> str | None:
        if found is None:
            return None
        return found if self._document(found, '"within"') else None

    def _document(self, found: Any, what: str) -> Document | None:
        if isinstance(found, str) and (document := self.documents.get(found)) is not None:
            return document
        if not isinstance(found, str):
            self.problem(f"{what} must be the id of a document, found {_shown(found)}.")
        elif self.has_room:
            close = get_close_matches(found, list(self.documents), n=1, cutoff=0.5)
            hint = f"did you mean {close[0]!r}?" if close else f"the corpus has {len(self.documents)} documents."
            self.problem(f"{what}: no document {found!r}; {hint}")
        else:
            self.problem(what)
        return None

    # ------------------------------------------------------------ evidence

    def _gold(self, gold: Any, within: str | None) -> list[Evidence]:
        if not isinstance(gold, list) or not gold:
            self.problem(f'"gold" must be a list with at least one piece of evidence, found {_shown(gold)}.')
            return []
        found = [self._evidence(f"evidence {n}", one, within) for n, one in enumerate(gold, start=1)]
        pieces = [piece for piece in found if piece is not None]
        blank = [piece for piece in pieces if self._is_blank(piece)]
        places = ", ".join(f"{b.document_id!r} [{b.span.start}, {b.span.end})" for b in blank)
        if blank and len(blank) == len(found):
            self.problem(f"the evidence is blank: {places} is only white space; correct start and end.")
        elif blank:
            self.blank.append(f"{self.place}: {places}")
        return [piece for piece in pieces if piece not in blank]

    def _is_blank(self, piece: Evidence) -> bool:
        return not self.documents[piece.document_id].text[piece.span.start : piece.span.end].strip()

    def _evidence(self, what: str, one: Any, within: str | None) -> Evidence | None:
        if not isinstance(one, dict):
            self.problem(f"{what} must be an object with document, start and end, found {_shown(one)}.")
            return None
        document = self._document(one.get("document"), f'{what}, "document"')
        if document is None:
            return None
        if within is not None and document.id != within:
            self.problem(
                f'{what} is in {document.id!r}, but "within" limits the search to {within!r}; change one of them.'
            )
            return None
        if one.get("whole") is True:
            return WholeDocument(document.id, Span(0, len(document.text)))
        span = self._span(what, one, document)
        return Evidence(document.id, span) if span else None

    def _span(self, what: str, one: Mapping[str, Any], document: Document) -> Span | None:
        quote, start, end = one.get("quote"), one.get("start"), one.get("end")
        if start is None and end is None:
            return self._quoted(what, quote, document)
        if not _is_offset(start) or not _is_offset(end):
            self.problem(f"{what} needs whole numbers start and end, found {_shown(start)} and {_shown(end)}.")
            return None
        size = len(document.text)
        if not 0 <= start < end <= size:
            self.problem(f"{what}: [{start}, {end}) {_why_outside(start, end, document)}.")
            return None
        if quote is not None and document.text[start:end] != quote:
            found = document.text[start:end]
            self.problem(f"{what}: [{start}, {end}) is {_shown(found)}, not the quote {_shown(quote)}; leave one out.")
            return None
        return Span(start, end)

    def _quoted(self, what: str, quote: Any, document: Document) -> Span | None:
        if not isinstance(quote, str) or not quote.strip():
            self.problem(f"{what} needs start and end, or a quote that is not blank, found {_shown(quote)}.")
            return None
        places = find_quote(document.text, quote)
        if len(places) == 1:
            return places[0]
        if places:
            spots = ", ".join(f"[{s.start}, {s.end})" for s in places[:5]) + (", ..." if len(places) > 5 else "")
            self.problem(
                f"{what}: the quote {_shown(quote)} is in {document.id!r} more than once: {spots}; give start and end."
            )
        else:
            self.problem(f"{what}: the quote {_shown(quote)} is not in {document.id!r}; {self._hint(quote, document)}")
        return None

    def _hint(self, quote: str, document: Document) -> str:
        wanted = self.has_room and len(quote) <= _MAX_HINT
        near = find_loosely(document.text, quote) if wanted else None
        if near is None:
            return "copy it from the document."
        return f"with other white space it is at [{near.start}, {near.end}): give start and end."


def _named_documents(value: Mapping[str, Any]) -> Iterable[str]:
    """The documents that a question names, as far as it has the form of one."""
    gold = value.get("gold")
    named = [one.get("document") for one in gold if isinstance(one, dict)] if isinstance(gold, list) else []
    return (name for name in (*named, value.get("within")) if isinstance(name, str))


def _about_blank(places: list[str]) -> str:
    more = f" and {len(places) - 3} more" if len(places) > 3 else ""
    questions = f"{len(places)} question{'s' if len(places) > 1 else ''}"
    return f"evidence that is only white space was left out of {questions}: {'; '.join(places[:3])}{more}."


def _unheard(_id: str) -> None:
    return None


def about_smoke_tests(count: int, total: int) -> str:
    """What such questions show and what not, as it is said when they are read and above every verdict."""
    return (
        f"{count:,} of {total:,} questions are a smoke test, made by blanking words and naming headings: they show "
        "that everything runs, not which chunker is better."
    )


def _is_offset(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _why_outside(start: int, end: int, document: Document) -> str:
    size = len(document.text)
    if start >= end:
        return "is empty; start must be before end"
    hint = ""
    if start >= 0 and end <= len(document.text.encode("utf-8", "surrogatepass")):
        hint = "; offsets count characters (code points), these may be bytes"
    return f"lies outside of {document.id!r}, which has {size} characters{hint}"


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
