"""``faircut questions check`` and ``convert``: files of questions in any format, told about or written anew."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from faircut.cli.console import SkipUnreadable, check_outside, complain, path_from, suggesting_to_skip, tell_unread
from faircut.report.safe import printable

if TYPE_CHECKING:
    from faircut.documents import Unread
    from faircut.questions.check import Finding
    from faircut.questions.formats import Reading
    from faircut.questions.formats.contract import Format
    from faircut.records import Document, Question

__all__ = ["check", "convert", "show_report"]

_File = Annotated[Path, typer.Argument(parser=path_from, metavar="FILE", help="The questions: a file or a folder.")]
_Corpus = Annotated[
    str | None, typer.Option("--corpus", "-c", help="The documents; without it, those that the file brings along.")
]
_From = Annotated[str | None, typer.Option("--from", metavar="FORMAT", help="The file's format [found by a look].")]
_Shown = Annotated[int, typer.Option("--shown", min=1, help="Problems that are shown; the others are counted.")]


def check(
    file: _File,
    corpus: _Corpus = None,
    form: _From = None,
    max_overlap: Annotated[
        float, typer.Option("--max-overlap", help="The share of a question's words that may stand in its evidence.")
    ] = 0.7,
    shown: _Shown = 20,
    strict: Annotated[bool, typer.Option("--strict", help="Exit code 1 also for what is only advice.")] = False,
    skip_unreadable: SkipUnreadable = None,
) -> None:
    """Check a file of questions: what cannot be used, with line and fix, and what weakens the set."""
    from faircut.errors import QuestionError
    from faircut.questions.check import find_problems

    reading, unread = _read(file, corpus, form, shown, skip=bool(skip_unreadable))
    findings = find_problems(reading.placed, reading.documents, max_overlap=max_overlap)
    _show_findings(findings, shown)
    if reading.questions:
        show_report(reading.questions, reading.documents)
    for line in _left_out(reading.left_out):
        typer.echo(printable(line))
    try:
        _raise_problems(reading, corpus, [one.id for one in unread])
    except QuestionError:
        _tell_beside(unread)
        raise
    if strict and findings:
        _tell_beside(unread)
        raise typer.Exit(1)
    tell_unread(unread)


def _tell_beside(unread: "Sequence[Unread]") -> None:
    """Name what could not be read, where another exit code follows."""
    with suppress(typer.Exit):
        tell_unread(unread)


def _raise_problems(reading: "Reading", corpus: str | None, unread: Sequence[str]) -> None:
    """The problems as one error; of a native file exactly those that stop a comparison."""
    from faircut.questions import read_questions
    from faircut.questions.formats.native import NATIVE

    if reading.format is NATIVE and corpus is not None:
        read_questions(reading.problems.path, reading.documents, shown=reading.problems.shown, unread=unread)
    elif reading.problems.total:
        raise reading.problems.error("these questions cannot be used")


def _show_findings(findings: "Sequence[Finding]", shown: int) -> None:
    from faircut.questions.check import KINDS

    for kind in KINDS:
        lines = [finding.line for finding in findings if finding.kind == kind]
        typer.echo(f"{kind}: {len(lines):,}")
        for line in lines[:shown]:
            typer.echo(printable(f"  {line}"))
        if len(lines) > shown:
            typer.echo(f"  ... and {len(lines) - shown:,} more.")


def convert(
    file: _File,
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help="The format to write.")],
    out: Annotated[Path, typer.Option("--out", "-o", parser=path_from, metavar="FILE", help="Where it is written.")],
    corpus: _Corpus = None,
    form: _From = None,
    corpus_out: Annotated[
        Path | None,
        typer.Option(
            "--corpus-out",
            parser=path_from,
            metavar="FILE",
            help="Where the texts that the file brings along are written [beside --out, as NAME.corpus.jsonl].",
        ),
    ] = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out questions with a problem instead of writing nothing.")
    ] = False,
    shown: _Shown = 20,
    skip_unreadable: SkipUnreadable = None,
) -> None:
    """Convert questions from one format to another; evidence is found in the documents."""
    from faircut.questions.formats import format_named, write_foreign

    target = format_named(to)
    if corpus:
        check_outside(out, corpus, "--out")
    reading, unread = _read(file, corpus, form, shown, skip=bool(skip_unreadable))
    if reading.problems.total and not (skip_bad and reading.questions):
        raise reading.problems.error("nothing was written")
    for line in reading.problems.lines:
        complain(line)
    left = dict(reading.left_out)
    for reason, count in write_foreign(
        out, target, reading.questions, reading.documents, labels=reading.labels, about=reading.about
    ).items():
        left[reason] = left.get(reason, 0) + count
    _told(reading, target, out, left)
    if reading.own_documents and target.name != "beir":
        _write_documents(corpus_out or _beside(out), reading.documents.values())
    tell_unread(unread)


def _told(reading: "Reading", target: "Format", out: Path, left_out: Mapping[str, int]) -> None:
    from faircut.questions.counting import counted

    read = counted(len(reading.questions), f"questions read as {reading.format.name}")
    typer.echo(printable(f"{read}; {target.name} in {out}"))
    for line in _left_out({**left_out, "questions with a problem": reading.problems.total}):
        typer.echo(printable(line))


def _left_out(counts: Mapping[str, int]) -> list[str]:
    from faircut.questions.counting import counted

    return [f"left out: {counted(count, reason)}" for reason, count in counts.items() if count]


def _beside(out: Path) -> Path:
    stem = out.name.removesuffix(".gz").rsplit(".", 1)[0]
    return out.with_name(f"{stem}.corpus.jsonl")


def _write_documents(path: Path, documents: "Iterable[Document]") -> None:
    from faircut.documents.jsonl import write_lines
    from faircut.questions.counting import counted

    listed = list(documents)
    write_lines(path, map(_object, listed))
    typer.echo(printable(counted(len(listed), f"documents in {path}")))


def _object(document: "Document") -> dict[str, Any]:
    about = {"title": document.title, "language": document.language, "media_type": document.media_type}
    kept = {key: value for key, value in about.items() if value and value != "text/plain"}
    return {"id": document.id, "text": document.text, **kept}


# ---------------------------------------------------------------- shared


def _read(
    file: Path, corpus: str | None, form: str | None, shown: int, *, skip: bool
) -> "tuple[Reading, list[Unread]]":
    """The questions of a file, and the documents that could not be read; says what it was taken for, and mended."""
    from faircut.documents import read_documents
    from faircut.errors import QuestionError
    from faircut.questions.counting import counted
    from faircut.questions.formats import format_named, read_foreign

    if not file.exists():
        raise QuestionError(f"{file}: no such file or folder.")
    named = format_named(form) if form else None
    unread: list[Unread] = []
    documents = None
    if corpus:
        with suggesting_to_skip(corpus):
            documents = read_documents(corpus, on_unread=unread.append if skip else None)
    reading = read_foreign(file, documents, form=named, shown=shown, unread=[one.id for one in unread])
    complain(f"{file}: read as {reading.format.name}{'' if named else ' (found by a look; --from names another)'}.")
    for note, count in reading.notes.items():
        complain(f"{file}: {counted(count, note)}.")
    return reading, unread


def show_report(questions: "Sequence[Question]", documents: "Mapping[str, Document]") -> None:
    """Print what is to be known of a set of questions, and what differences it can show."""
    from faircut.questions.report import report_lines, report_set

    if not questions or sys.stdout is None:
        return
    for line in [*report_lines(report_set(questions, documents), blocks=_has_blocks()), _power(questions)]:
        typer.echo(printable(line))


def _has_blocks() -> bool:
    try:
        "▁█".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _power(questions: "Sequence[Question]") -> str:
    from faircut.evaluation.power import plan_power
    from faircut.evaluation.sampling import document_of

    power = plan_power([document_of(question) for question in questions], contrasts=1)
    if power.smallest_difference is None or power.questions_needed is None:
        return "power: too few questions for any difference between two chunkers to be shown"
    return (
        f"power: differences between two chunkers from about {power.smallest_difference:.3f} can be shown with 80 % "
        f"power; for {power.difference:g} about {power.questions_needed:,} questions are needed ({power.assumption})"
    )
