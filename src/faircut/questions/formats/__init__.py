"""Foreign question files: which format a file has, its questions with checked evidence, and writing them back.

A new format is one file and one name in ``FORMATS``.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any

from faircut.documents.jsonl import LineError, numbered_lines, parse_object
from faircut.errors import PlanError, QuestionError, nearest
from faircut.questions.check import Placed
from faircut.questions.counting import counted
from faircut.questions.document_level import is_document_level
from faircut.questions.formats.beir import BEIR
from faircut.questions.formats.chroma import CHROMA
from faircut.questions.formats.contract import Contents, Format, Peek, Problems
from faircut.questions.formats.json_text import json_value
from faircut.questions.formats.legalbench_rag import LEGALBENCH_RAG
from faircut.questions.formats.llamaindex import LLAMAINDEX
from faircut.questions.formats.native import NATIVE
from faircut.questions.formats.pairs import PAIRS, TABLE, TABLE_EXTENSIONS, write_table
from faircut.questions.formats.ragas import RAGAS
from faircut.questions.formats.resolve import resolve
from faircut.questions.formats.squad import SQUAD
from faircut.questions.formats.table_rows import SPREADSHEETS, table_rows
from faircut.questions.made import question_id
from faircut.questions.native import write_questions
from faircut.records import Document, Question

__all__ = ["FORMATS", "Reading", "find_format", "format_named", "read_foreign", "write_foreign"]

FORMATS: tuple[Format, ...] = (NATIVE, SQUAD, BEIR, CHROMA, LEGALBENCH_RAG, RAGAS, LLAMAINDEX, PAIRS, TABLE)
"""Of several that suit a file, the first is taken."""

_ALIASES = {"csv": "table", "tsv": "table"}


LABELS = "labels of questions that are a smoke test: only the native form and tables have them"
WITHIN = "limits of the search to one document (within): only the native form has them"
IDS = "ids of questions: this format has none"
"""What other formats leave out of a question."""


@dataclass
class Reading:
    """A file that was read.

    Attributes:
        format: what it was taken for.
        placed: its questions with their places in the file.
        documents: those that the evidence is in: the corpus, or the texts that the file brought along.
        own_documents: whether they came with the file.
        left_out: what the file has and faircut's records cannot say, by reason.
        notes: what was mended, by what it was.
        problems: what is wrong; questions with a problem are not in ``placed``.
        labels: such as that of a smoke test, by the question's id.
        about: what else is said of the questions (how they were made, what a review decided), by the question's id.
    """

    format: Format
    placed: list[Placed]
    documents: Mapping[str, Document]
    own_documents: bool
    left_out: Mapping[str, int]
    notes: Mapping[str, int]
    problems: Problems
    labels: Mapping[str, str] = field(default_factory=dict)
    about: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    questions: list[Question] = field(init=False)

    def __post_init__(self) -> None:
        self.questions = [one.question for one in self.placed]


def read_foreign(
    path: Path,
    documents: Mapping[str, Document] | None,
    *,
    form: Format | None = None,
    shown: int = 20,
    unread: Collection[str] = (),
) -> Reading:
    """Read questions of any format.

    Args:
        path: the file or folder.
        documents: the corpus by id; None takes the texts that the file brings along (SQuAD, BEIR, LlamaIndex).
        form: the format; None finds it by a look at the file.
        shown: problems that are kept in words; the others are counted.
        unread: ids of documents that could not be read: questions that name them are left out, and counted.

    Raises:
        QuestionError: the file cannot be read at all, its format is not known, or it needs a corpus.
    """
    form = form or find_format(path)
    problems = Problems(path, shown)
    contents = form.reads(path, problems)
    if documents is None and contents.rows and not contents.documents:
        raise QuestionError(f"{path}: no documents came with these questions ({form.name}); name them with --corpus.")
    known = documents if documents is not None else _unique(contents.documents, path, problems)
    if unread:
        _leave_out_unread(contents, known, unread)
    resolved = resolve(contents.rows, known, problems)
    if not contents.rows and not problems.total:
        problems.add(str(path), _no_questions(form, contents.left_out))
    own, notes, labels = documents is None, dict(resolved.notes), resolved.labels
    return Reading(form, resolved.placed, known, own, contents.left_out, notes, problems, labels, resolved.about)


def _leave_out_unread(contents: Contents, known: Mapping[str, Document], unread: Collection[str]) -> None:
    """Take out the rows that name a document that could not be read, by its id or the name of its file."""
    names = {name for one in unread for name in (one, PurePath(one).name)}
    kept = []
    for row in contents.rows:
        named = {piece.document for piece in row.pieces} | {row.within}
        if any(one and one not in known and (one in names or PurePath(one).name in names) for one in named):
            contents.leave_out("questions with evidence in a document that could not be read")
        else:
            kept.append(row)
    contents.rows[:] = kept


def _no_questions(form: Format, left_out: Mapping[str, int]) -> str:
    said = ", ".join(counted(count, reason) for reason, count in left_out.items())
    if said:
        return f"none of its questions can be used (read as {form.name}); left out are {said}."
    return f"there are no questions in this file (read as {form.name}); write some, or name its format with --from."


def _unique(documents: Sequence[Document], path: Path, problems: Problems) -> dict[str, Document]:
    known: dict[str, Document] = {}
    for document in documents:
        if known.setdefault(document.id, document) is not document:
            problems.add(str(path), f"two documents have the id {document.id!r}; rename one.")
    return known


def write_foreign(
    path: Path,
    form: Format,
    questions: Sequence[Question],
    documents: Mapping[str, Document],
    *,
    labels: Mapping[str, str] = MappingProxyType({}),
    about: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> dict[str, int]:
    """Write questions in a format; gives what could not be said in it, by reason.

    Args:
        path: where.
        form: in what format.
        questions: what is asked.
        documents: those of the evidence, by id.
        labels: such as that of a smoke test, by the question's id.
        about: further keys of the questions, by the question's id.

    Raises:
        QuestionError: the questions only name documents, and the format needs places.
        PlanError: the format is only read, or the file's name has another ending.
        StoreError: it cannot be written.
    """
    if form.writes is None:
        raise PlanError(f"the format {form.name} is only read; possible: {', '.join(_written())}.")
    if form.extensions and not path.name.lower().endswith(form.extensions):
        endings = " or ".join(form.extensions)
        raise PlanError(f"{path}: a file of the format {form.name} ends in {endings}; {_instead(path)}.")
    if form not in (NATIVE, BEIR) and questions and all(map(is_document_level, questions)):
        raise QuestionError(
            f"these questions only name documents, and the format {form.name} needs places in them; nothing was "
            "written. Possible: native, beir."
        )
    if form is NATIVE:
        write_questions(path, questions, labels=labels, about=about)
        return {}
    limited = {WITHIN: sum(question.within is not None for question in questions)}
    if form is TABLE:
        labelled = {q.id: {"label": labels[q.id]} if q.id in labels else {} for q in questions}
        left_out = write_table(path, questions, documents, {q: labelled[q] | dict(about.get(q, {})) for q in labelled})
    else:
        left_out = form.writes(path, questions, documents)
        limited |= {LABELS: len(labels)} | _unsaid(questions, about)
        limited[IDS] = 0 if form.has_ids else sum(q.id != question_id(q.text, q.evidence) for q in questions)
    return left_out | {reason: count for reason, count in limited.items() if count}


def _unsaid(questions: Sequence[Question], about: Mapping[str, Mapping[str, Any]]) -> Counter[str]:
    """What is known of the questions beyond their text and evidence, by reason."""
    keys = Counter(key for question in questions for key in about.get(question.id, {}))
    return Counter({f"values of {key}: only the native form and tables have them": n for key, n in keys.items()})


def _instead(path: Path) -> str:
    """What to call the file: spreadsheets are read here, not written."""
    is_sheet = path.name.lower().endswith(SPREADSHEETS)
    return "write CSV, which every spreadsheet opens" if is_sheet else "rename it"


def _written() -> list[str]:
    return [form.name for form in FORMATS if form.writes is not None]


# ---------------------------------------------------------------- which format


def format_named(name: str) -> Format:
    """The format of this name; ``csv`` and ``tsv`` are names of ``table``.

    Raises:
        PlanError: there is none.
    """
    wanted = _ALIASES.get(name, name)
    found = next((form for form in FORMATS if form.name == wanted), None)
    if found is None:
        raise PlanError(f"no format {name!r}{nearest(name, [form.name for form in FORMATS])}")
    return found


def find_format(path: Path) -> Format:
    """The format of a file, by its name and the names in it.

    Raises:
        QuestionError: it cannot be read, or is none of them.
    """
    peek = _peek(path)
    found = next((form for form in FORMATS if form.suits(peek)), None)
    if found is None:
        keys = ", ".join(map(repr, sorted(peek.keys)[:8])) or "nothing"
        known = "; ".join(f"{form.name}: {form.about}" for form in FORMATS)
        raise QuestionError(f"{path}: not a known form of questions: found {keys}. Known are {known}.")
    return found


def _peek(path: Path) -> Peek:
    if path.is_dir():
        return Peek("folder", frozenset(one.name for one in path.iterdir()))
    name = path.name.lower()
    if name.endswith((".jsonl", ".jsonl.gz")):
        return Peek("lines", _first_line(path))
    if name.endswith(TABLE_EXTENSIONS):
        return Peek("table", frozenset(next((set(cells) for _, cells in table_rows(path)), set())))
    value = json_value(path)
    if isinstance(value, list):
        return Peek("list", _keys(value[0] if value else None))
    return Peek("object", _keys(value))


def _first_line(path: Path) -> frozenset[str]:
    try:
        return _keys(parse_object(next(numbered_lines(path))[1]))
    except StopIteration:
        raise QuestionError(f"{path}: the file is empty; write one question a line.") from None
    except LineError as error:
        raise QuestionError(f"{error.place(path)}: {error}.") from error
    except ValueError as error:
        raise QuestionError(f"{path}:1: {error}; mend the line.") from None


def _keys(value: Any) -> frozenset[str]:
    return frozenset(value) if isinstance(value, dict) else frozenset()
