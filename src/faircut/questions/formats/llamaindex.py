"""Data sets of LlamaIndex: for retrieval ``queries``, ``corpus``, ``relevant_docs`` by id; for answers ``examples``.

The texts of the relevant nodes (``reference_contexts`` of an example) are looked for in the documents. Without
documents the nodes themselves become documents, and the evidence is a whole node. Relevant nodes are alternatives.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from faircut.documents.plain import plain_blocks
from faircut.questions.document_level import is_document_level
from faircut.questions.formats.contract import Contents, Format, Peek, Piece, Problems, Row
from faircut.questions.formats.json_text import as_text, json_value, name_lines, records_in, write_json
from faircut.records import Document, Question, content_id

__all__ = ["LLAMAINDEX"]


def _read(path: Path, problems: Problems) -> Contents:
    value = json_value(path)
    if isinstance(value, dict) and "examples" in value:
        return _examples(path, problems)
    contents = Contents()
    parts = [value.get(key) if isinstance(value, dict) else None for key in ("queries", "corpus", "relevant_docs")]
    queries, corpus, relevant = parts
    if not isinstance(queries, dict) or not isinstance(corpus, dict) or not isinstance(relevant, dict):
        problems.add(str(path), 'needs the objects "queries", "corpus" and "relevant_docs"; is this LlamaIndex?')
        return contents
    lines = name_lines(path, "queries")
    for identity, asked in queries.items():
        place = f"{path}:{lines.get(identity, 1)}: queries[{identity!r}]"
        names = relevant.get(identity)
        if not isinstance(asked, str) or not isinstance(names, list) or not names:
            problems.add(place, 'needs a text, and a list of nodes in "relevant_docs"; complete it.')
        elif missing := [name for name in names if not isinstance(corpus.get(str(name)), str)]:
            problems.add(place, f'the node {missing[0]!r} is not in "corpus"; add it or drop it from "relevant_docs".')
        else:
            pieces = tuple(Piece(quote=corpus[str(name)]) for name in names)
            contents.rows.append(Row(place, asked, pieces, identity, "any"))
    nodes = {name: text for name, text in corpus.items() if isinstance(text, str) and text.strip()}
    contents.documents = [Document(name, text, plain_blocks(text)) for name, text in nodes.items()]
    return contents


def _examples(path: Path, problems: Problems) -> Contents:
    contents = Contents()
    for number, (place, value) in enumerate(records_in(path, "examples")):
        where = f"{place}: examples[{number}]"
        contexts = value.get("reference_contexts") if isinstance(value, dict) else None
        if (
            not isinstance(contexts, list)
            or not all(isinstance(c, str) for c in contexts)
            or not as_text(value, "query")
        ):
            problems.add(where, 'needs a "query" and a list of texts "reference_contexts"; complete it.')
        else:
            contents.rows.append(Row(where, as_text(value, "query"), tuple(Piece(quote=c) for c in contexts)))
    return contents


def _write(path: Path, questions: Sequence[Question], documents: Mapping[str, Document]) -> dict[str, int]:
    contents = Contents()
    value: dict[str, Any] = {"queries": {}, "corpus": {}, "relevant_docs": {}, "mode": "text"}
    for question in questions:
        if is_document_level(question):
            contents.leave_out("questions without a place")
            continue
        if question.match == "all" and len(question.evidence) > 1:
            contents.leave_out("questions needing several places together: relevant nodes are alternatives")
            continue
        texts = [documents[p.document_id].text[p.span.start : p.span.end] for p in question.evidence]
        nodes = {content_id(text): text for text in texts}
        value["queries"][question.id] = question.text
        value["corpus"] |= nodes
        value["relevant_docs"][question.id] = list(nodes)
    write_json(path, value)
    return contents.left_out


def _suits(peek: Peek) -> bool:
    return peek.shape == "object" and (peek.has("queries", "relevant_docs") or peek.has("examples"))


LLAMAINDEX = Format(
    "llamaindex",
    "LlamaIndex: queries, corpus, relevant_docs, or examples with reference_contexts",
    _suits,
    _read,
    _write,
)
