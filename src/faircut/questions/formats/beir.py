"""BEIR: a folder with corpus.jsonl, queries.jsonl and qrels/*.tsv. Judgements name documents, not places in them.

``corpus: _id, title, text``; ``queries: _id, text``; ``qrels: query-id, corpus-id, score`` (Thakur et al. 2021). A
question's evidence is each document with a score above 0, as alternatives, marked as a whole document.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path

from faircut.documents.jsonl import LineError, numbered_lines, parse_object, write_lines
from faircut.documents.plain import plain_blocks
from faircut.errors import QuestionError
from faircut.questions.document_level import is_document_level
from faircut.questions.formats.contract import Contents, Format, Piece, Problems, Row
from faircut.questions.formats.json_text import Object, as_id, as_text, json_text
from faircut.questions.formats.table_rows import write_csv
from faircut.records import Document, Question

__all__ = ["BEIR"]

_SPLITS = ("test", "dev", "train")


def _read(path: Path, problems: Problems) -> Contents:
    contents = Contents()
    qrels = _qrels_file(path)
    judged = _judged(qrels, problems)
    asked = set()
    for place, value in _lines(_either(path, "queries.jsonl"), problems):
        identity = as_id(value, "_id")
        asked.add(identity)
        if not identity or not as_text(value, "text"):
            problems.add(place, 'a query needs "_id" and "text"; complete it.')
        elif not judged.get(identity):
            contents.leave_out(f"queries without a document in {qrels.name}")
        else:
            pieces = tuple(Piece(name, whole=True) for name in judged[identity])
            contents.rows.append(Row(place, as_text(value, "text"), pieces, identity, "any"))
    for _ in judged.keys() - asked:
        contents.leave_out(f"queries of {qrels.name} missing in queries.jsonl")
    corpus = _either(path, "corpus.jsonl")
    if corpus.exists():  # the documents may be named beside
        contents.documents = _documents(corpus, contents, problems)
    return contents


def _documents(path: Path, contents: Contents, problems: Problems) -> list[Document]:
    found: dict[str, Document] = {}
    for place, value in _lines(path, problems):
        identity, text = as_id(value, "_id"), as_text(value, "text")
        if not identity or not isinstance(value.get("text"), str):
            problems.add(place, 'a document needs "_id" and "text"; complete it.')
        elif not text:
            contents.leave_out("documents without a text")
        elif identity in found:
            problems.add(place, f"the document {identity!r} is there twice; give each its own id, or drop one.")
        else:
            found[identity] = Document(identity, text, plain_blocks(text), title=as_text(value, "title"))
    return list(found.values())


def _either(folder: Path, name: str) -> Path:
    packed = folder / f"{name}.gz"
    return packed if packed.exists() and not (folder / name).exists() else folder / name


def _lines(path: Path, problems: Problems) -> Iterator[tuple[str, Object]]:
    try:
        for number, raw in numbered_lines(path):
            try:
                yield f"{path}:{number}", parse_object(raw)
            except ValueError as error:
                problems.add(f"{path}:{number}", f"{error}; mend the line.")
    except LineError as error:
        problems.add(error.place(path), f"{error}.")


def _qrels_file(folder: Path) -> Path:
    """The judgements of the test split, else of another."""
    found = {path.stem: path for path in sorted((folder / "qrels").glob("*.tsv"))}
    chosen = next((found[split] for split in _SPLITS if split in found), next(iter(found.values()), None))
    if chosen is None:
        raise QuestionError(f"{folder / 'qrels'}: no .tsv file with judgements; put test.tsv there.")
    return chosen


def _judged(path: Path, problems: Problems) -> dict[str, list[str]]:
    """For each query that is judged the documents with a score above 0."""
    judged: dict[str, dict[str, float]] = {}
    for number, line in enumerate(json_text(path).split("\n"), start=1):
        cells = line.rstrip("\r").split("\t")
        if not line.strip() or (number == 1 and cells[0].strip().lower() in ("query-id", "query_id", "qid")):
            continue
        if len(cells) != 3 or not _is_number(cells[2]):
            problems.add(
                f"{path}:{number}",
                f"expected query-id, corpus-id and score (a number), parted by tabs, found {len(cells)} cells; correct "
                "the line (of TREC's four columns, drop the second).",
            )
        else:
            query, document, value = cells[0].strip(), cells[1].strip(), float(cells[2])
            before = judged.setdefault(query, {}).setdefault(document, value)
            if (before > 0) != (value > 0):
                problems.add(f"{path}:{number}", f"{document!r} answers {query!r} and does not; drop one of the lines.")
    return {query: [name for name, value in scores.items() if value > 0] for query, scores in judged.items()}


def _is_number(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False


def _write(path: Path, questions: Sequence[Question], documents: Mapping[str, Document]) -> dict[str, int]:
    """The documents of the evidence are the judgements: the places in them cannot be said, and are counted."""
    contents = Contents()
    for question in questions:
        if not is_document_level(question):
            contents.leave_out("places of the evidence: BEIR names documents only")
        if question.match == "all" and len({piece.document_id for piece in question.evidence}) > 1:
            contents.leave_out("marks that several documents are needed together: BEIR's are alternatives")
    rows = [
        (question.id, name, "1")
        for question in questions
        for name in dict.fromkeys(piece.document_id for piece in question.evidence)
    ]
    write_lines(path / "corpus.jsonl", ({"_id": d.id, "title": d.title, "text": d.text} for d in documents.values()))
    write_lines(path / "queries.jsonl", ({"_id": q.id, "text": q.text} for q in questions))
    write_csv(path / "qrels" / "test.tsv", ("query-id", "corpus-id", "score"), rows)
    return contents.left_out


BEIR = Format(
    "beir",
    "a folder with corpus.jsonl, queries.jsonl and qrels/*.tsv: judgements of whole documents",
    lambda peek: peek.shape == "folder" and bool(peek.keys & {"queries.jsonl", "queries.jsonl.gz"}),
    _read,
    _write,
    (),
)
