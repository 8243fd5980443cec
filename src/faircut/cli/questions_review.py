"""``faircut questions review``: a person accepts, edits or drops questions in the terminal, one by one.

Answers are read from stdin, a line each; its end is the same as ``q``. Every decision is written before the next
question.
"""

import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from faircut.cli.console import path_from
from faircut.report.safe import printable

if TYPE_CHECKING:
    from faircut.questions.review import Review
    from faircut.records import Document

__all__ = ["review"]

_AROUND = 200  # characters shown before and behind the evidence
_LONGEST = 1500  # characters of a piece of evidence that are shown
_ASKED = "[a]ccept, [e]dit, [d]rop, [s]kip, [q]uit: "


def review(
    file: Annotated[Path, typer.Argument(parser=path_from, metavar="FILE", help="questions.jsonl[.gz].")],
    corpus: Annotated[str, typer.Option("--corpus", "-c", help="The documents.")],
) -> None:
    """Accept, edit or drop questions one by one; go on later where you stopped."""
    from faircut.documents import read_documents
    from faircut.questions import read_questions
    from faircut.questions.review import open_review

    documents = read_documents(corpus)
    read_questions(file, documents)  # so that every question can be shown
    if sys.stdin is None:
        raise typer.BadParameter("there is no stdin to read answers from.")
    with suppress(AttributeError):  # a stream of another kind, as in tests
        sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    session = open_review(file)
    _go_through(session, documents)
    kinds = [str(record.get("review", "waiting")) for record in session.records]
    counts = ", ".join(f"{kinds.count(kind):,} {kind}" for kind in ("accepted", "edited", "waiting"))
    typer.echo(printable(f"{file}: {counts}, {len(session.dropped):,} dropped"))


def _go_through(session: "Review", documents: "Mapping[str, Document]") -> None:
    waiting = session.waiting
    for number, record in enumerate(waiting, start=1):
        _show(record, f"{number:,} of {len(waiting):,}", documents)
        if not _decided(session, record):
            return


def _decided(session: "Review", record: dict[str, Any]) -> bool:
    """Ask until there is a decision; False to stop."""
    while True:
        answer = _answer(_ASKED)
        choice = "q" if answer is None else answer.lower()[:1]
        if choice == "q":
            return False
        if choice == "a":
            session.accept(record)
        elif choice == "d":
            session.drop(record)
        elif choice != "s" and not (choice == "e" and _edited(session, record)):
            continue
        return True


def _edited(session: "Review", record: dict[str, Any]) -> bool:
    text = _answer("the question (nothing leaves it as it is): ")
    if not text:
        return False
    session.edit(record, text)
    return True


def _answer(prompt: str) -> str | None:
    """A line that was typed, trimmed; None at the end of stdin."""
    typer.echo(prompt, nl=False)
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not sys.stdin.isatty():
        typer.echo()
    return line.strip() if line else None


# ---------------------------------------------------------------- shown


def _show(record: Mapping[str, Any], count: str, documents: "Mapping[str, Document]") -> None:
    label = f" ({record['label']})" if record.get("label") else ""
    typer.echo(printable(f"--- {count}{label}: {record['question']}"))
    for piece in record["gold"]:
        document = documents[piece["document"]]
        typer.echo(printable(f"in {document.id}:"))
        for line in _around(document.text, piece).splitlines():
            typer.echo(f"  {printable(line)}")
    if len(record["gold"]) > 1:
        typer.echo("alternatives" if record.get("gold_is") == "any" else "needed together")


def _around(text: str, piece: Mapping[str, Any]) -> str:
    """The evidence in double brackets with what stands around it."""
    start, end = piece.get("start"), piece.get("end")
    if piece.get("whole"):
        start, end = 0, len(text)
    elif start is None or end is None:
        start = text.index(piece["quote"])  # it was checked to be there once
        end = start + len(piece["quote"])
    told = text[start:end]
    if len(told) > _LONGEST:
        told = f"{told[:_LONGEST]} ..."
    before, behind = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
    return f"{before}[[{told}]]{behind}"
