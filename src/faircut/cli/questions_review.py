"""``faircut questions review``: a person accepts, edits or drops questions in the terminal, one by one.

Answers are read from stdin, a line each; its end is the same as ``q``. Every decision is written before the next
question.
"""

import re
import sys
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from faircut.cli.console import SkipUnreadable, complain, path_from, suggesting_to_skip, tell_unread
from faircut.report.safe import printable

if TYPE_CHECKING:
    from faircut.documents import Unread
    from faircut.questions.review import Review
    from faircut.records import Document

__all__ = ["review"]

_AROUND = 200  # characters shown before and behind the evidence
_LONGEST = 1500  # characters of a piece of evidence that are shown
_ASKED = "[a]ccept, [e]dit, [d]rop, [s]kip, [q]uit: "


def review(
    file: Annotated[Path, typer.Argument(parser=path_from, metavar="FILE", help="questions.jsonl[.gz].")],
    corpus: Annotated[str, typer.Option("--corpus", "-c", help="The documents.")],
    skip_unreadable: SkipUnreadable = None,
) -> None:
    """Accept, edit or drop questions one by one; go on later where you stopped."""
    from faircut.documents import read_documents
    from faircut.questions import read_questions
    from faircut.questions.counting import counted
    from faircut.questions.review import open_review

    unread: list[Unread] = []
    hidden: list[str] = []
    with suggesting_to_skip(corpus):
        documents = read_documents(corpus, on_unread=unread.append if skip_unreadable else None)
    # So that every question can be shown.
    read_questions(file, documents, unread=[one.id for one in unread], on_left_out=hidden.append)
    if sys.stdin is None:
        raise typer.BadParameter("there is no stdin to read answers from.")
    with suppress(AttributeError):  # a stream of another kind, as in tests
        sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    session = open_review(file)
    if hidden:
        passed = counted(len(hidden), "questions with evidence in documents that could not be read")
        complain(f"{file}: passed over {passed}.")
    _go_through(session, documents, frozenset(hidden))
    kinds = [str(record.get("review", "waiting")) for record in session.records]
    counts = ", ".join(f"{kinds.count(kind):,} {kind}" for kind in ("accepted", "edited", "waiting"))
    typer.echo(printable(f"{file}: {counts}, {len(session.dropped):,} dropped"))
    tell_unread(unread)


def _go_through(session: "Review", documents: "Mapping[str, Document]", hidden: Collection[str]) -> None:
    waiting = [record for record in session.waiting if record["id"] not in hidden]
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
    from faircut.questions.review import is_too_short

    prompt = "the question (nothing leaves it as it is): "
    while text := _answer(prompt):
        if not is_too_short(text):
            session.edit(record, text)
            return True
        typer.echo("that is no question yet: it needs two words and eight characters.")
    return False


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
        told = f"{_words_until(told, _LONGEST).rstrip()} ..."
    before = _words_until(text[max(0, start - _AROUND - 1) : start][::-1], _AROUND)[::-1]
    return f"{before}[[{told}]]{_words_until(text[end : end + _AROUND + 1], _AROUND)}"


def _words_until(text: str, most: int) -> str:
    """The beginning of a text, cut between words where it has any; at a character where it has no white space."""
    if len(text) <= most or text[most].isspace():
        return text[:most]
    cut = re.search(r"\s+\S*$", text[:most])
    return text[: cut.start()] if cut and cut.start() else text[:most]
