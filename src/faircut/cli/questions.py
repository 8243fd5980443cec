"""``faircut questions``: make questions with a model (or a smoke test without), check, review and convert them.

``faircut questions CORPUS ...`` is short for ``faircut questions make CORPUS ...``.
"""

import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer
from typer.core import TyperGroup

from faircut.cli.console import (
    SOME_FAILED,
    SkipUnreadable,
    check_outside,
    complain,
    path_from,
    progress_display,
    suggesting_to_skip,
    tell_unread,
)
from faircut.cli.llm_options import LlmOptions, with_llm_options
from faircut.cli.questions_files import check, convert, show_report
from faircut.cli.questions_review import review
from faircut.report.safe import printable

if TYPE_CHECKING:
    from faircut.embedding.contract import Embedder
    from faircut.llm import ChatModel, Purse
    from faircut.questions.generate import Generated, Settings
    from faircut.questions.made import MadeQuestion
    from faircut.records import Document

__all__ = ["app"]

_DEFAULT = "make"
_EXAMPLE = 300  # characters of an answer that are shown


class _MakeByDefault(TyperGroup):
    """A group whose command is ``make`` where none is named, so that the corpus can come first."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_MakeByDefault,
    help="Make questions over documents, check them, review them, convert them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def _group() -> None:
    """Make questions over documents (`faircut questions CORPUS` is `make`), check them, review them, convert them."""


@app.command(_DEFAULT)
@with_llm_options
def make(
    corpus: Annotated[str, typer.Argument(help="A file, a folder, a glob or corpus.jsonl[.gz].")],
    llm: LlmOptions,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="Questions wanted.")] = 200,
    out: Annotated[
        Path, typer.Option("--out", "-o", parser=path_from, metavar="FILE", help="Where they are written.")
    ] = Path("questions.jsonl"),
    style: Annotated[
        list[str] | None,
        typer.Option("--style", help="plain, short, colloquial or technical; give it for each, they take turns."),
    ] = None,
    multi: Annotated[
        float, typer.Option("--multi", min=0, max=1, help="The share of questions that need several places together.")
    ] = 0.0,
    language: Annotated[
        str | None, typer.Option("--language", metavar="CODE", help="Of all questions [that of each document].")
    ] = None,
    window: Annotated[int, typer.Option("--window", min=200, help="Characters that a question is asked about.")] = 1600,
    max_overlap: Annotated[
        float, typer.Option("--max-overlap", help="The share of a question's words that may stand in its evidence.")
    ] = 0.7,
    several: Annotated[
        str, typer.Option("--several", help="Where other places answer too: list them as alternatives, or drop.")
    ] = "list",
    judge_embedder: Annotated[
        str | None,
        typer.Option("--judge-embedder", metavar="SPEC", help="Finds other places; one not under test [by words]."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of what is drawn.")] = 0,
    skip_unreadable: SkipUnreadable = None,
) -> None:
    """Make questions with a language model; without --llm, a smoke test of blanked words and headings."""
    from faircut.documents import Unread, read_documents
    from faircut.questions.generate import Settings

    if several not in ("list", "drop"):
        raise typer.BadParameter(f"--several is list or drop, found {several!r}.")
    settings = Settings(
        count=count, window=window, seed=seed, styles=tuple(style or ("plain",)), multi=multi, language=language,
        max_overlap=max_overlap, several=cast('Literal["list", "drop"]', several),
    )  # fmt: skip
    check_outside(out, corpus, "--out")
    purse = llm.purse()
    model = llm.build(purse) if llm.url or llm.model else None
    unread: list[Unread] = []
    fewer = False
    with suggesting_to_skip(corpus):
        documents = read_documents(corpus, on_unread=unread.append if skip_unreadable else None)
    if model is None:
        _smoke_test(documents, settings, out, dry_run=llm.dry_run)
    else:
        with model:
            if llm.dry_run:
                _dry_run(llm, model, documents, settings)
            else:
                _check_unreviewed(out)
                fewer = _make(model, documents, settings, out, _embedder(judge_embedder, purse, llm))
    tell_unread(unread)
    if fewer:
        raise typer.Exit(SOME_FAILED)


def _embedder(spec: str | None, purse: "Purse", llm: LlmOptions) -> "Embedder | None":
    from faircut.embedding import EMBEDDERS
    from faircut.experiment.paying import kept_embedder

    return kept_embedder(EMBEDDERS.build(spec), purse, llm.price_table()) if spec else None


def _check_unreviewed(out: Path) -> None:
    """Refuse to write over questions that a person has decided on."""
    from faircut.errors import PlanError, QuestionError
    from faircut.questions.review import open_review

    if not out.is_file():
        return
    try:
        reviewed = [record for record in open_review(out).records if record.get("review")]
    except QuestionError:
        return  # not questions; it is replaced
    if reviewed:
        raise PlanError(f"{out} has reviewed questions ({len(reviewed):,}); name another file with --out.")


# ---------------------------------------------------------------- with a model


def _dry_run(llm: LlmOptions, model: "ChatModel", documents: "Mapping[str, Document]", settings: "Settings") -> None:
    from faircut.questions.counting import counted
    from faircut.questions.generate import WINDOWS_EACH, planned_requests

    requests = planned_requests(documents, settings)
    llm.show_estimate(model, requests)
    most, *budget = llm.most_lines(planned_requests(documents, settings, reworded=True), WINDOWS_EACH, model.price)
    typer.echo(
        f"That is if every window works: about {counted(len(requests), 'requests')}, one request about the window and "
        f"two that judge. Windows that give no question are replaced, up to {WINDOWS_EACH} for a question, and some "
        f"questions are worded anew; in all at most {most}."
    )
    for line in budget:
        typer.echo(line)


def _make(
    model: "ChatModel", documents: "Mapping[str, Document]", settings: "Settings", out: Path, judge: "Embedder | None"
) -> bool:
    """Make and write questions; gives whether they are fewer than were asked for."""
    from faircut.errors import QuestionError
    from faircut.questions.generate import generate
    from faircut.questions.places import Places

    with progress_display() as advance:
        found = generate(model, documents, settings, places=Places(documents, judge), advance=advance)
    if found.made:
        _write(out, found.made, documents)
    for line in _told(found, settings, model):
        typer.echo(printable(line))
    if found.stopped is not None:
        raise found.stopped
    if not found.made:
        raise QuestionError(
            "no window gave a question, so nothing was written; see above what was refused. Try another model, or "
            "other windows with --window."
        )
    fewer = len(found.made) < settings.count
    if fewer:
        complain(
            f"{len(found.made):,} of {settings.count:,} questions: too many windows gave none; see what was refused. "
            f"Another model or --window may give more (exit code {SOME_FAILED})."
        )
    return fewer


def _told(found: "Generated", settings: "Settings", model: "ChatModel") -> list[str]:
    from faircut.questions.generate import REASONS

    refused = ", ".join(f"{reason} {found.refused[reason]:,}" for reason in REASONS if found.refused[reason]) or "none"
    begun = f"; begun, and gone on with at the next run: {found.begun:,}" if found.begun else ""
    lines = [
        f"windows asked about: {found.windows:,}; refused: {refused}{begun}",
        f"kept: {len(found.made):,} of {settings.count:,}, {found.reworded:,} of them reworded, "
        f"{found.with_alternatives:,} with alternatives",
    ]
    if not found.made and found.example:
        lines.append(f"an answer of the model, for example: {_shortened(found.example)}")
    return [*lines, *_paid(model, stopped=found.stopped is not None)]


def _shortened(answer: str) -> str:
    text = " ".join(answer[: 2 * _EXAMPLE].split())
    return text if len(text) <= _EXAMPLE else f"{text[:_EXAMPLE]} ..."


def _paid(model: "ChatModel", *, stopped: bool) -> list[str]:
    """What was paid; where no server answered, only what may have been billed."""
    from faircut.llm import dollars
    from faircut.questions.counting import counted

    spent = model.spent
    if spent.requests == spent.unknown and (stopped or spent.requests):
        cut = counted(spent.requests, "requests")
        return [f"nothing was answered; {cut} cut off may have been billed"] if spent.requests else []
    price = "at an unknown price" if spent.money is None else dollars(spent.money)
    return [
        f"paid now: {counted(spent.requests, 'requests')}, {spent.prompt_tokens:,} prompt and "
        f"{spent.completion_tokens:,} completion tokens, {price}"
    ]


# ---------------------------------------------------------------- without one


def _smoke_test(documents: "Mapping[str, Document]", settings: "Settings", out: Path, *, dry_run: bool) -> None:
    from faircut.questions.cloze import smoke_test
    from faircut.questions.counting import counted

    if dry_run:
        typer.echo("no model is named, so nothing is asked: it would be a smoke test of blanked words and headings.")
        return
    _check_unreviewed(out)
    made = smoke_test(documents, settings.count, settings.seed)
    kinds = Counter(str(one.about["made_by"]) for one in made)
    complain(
        "a smoke test, made without a model: it shows that everything runs, not which chunker is better. Name a model "
        "with --llm URL and --model NAME for questions that can decide."
    )
    _write(out, made, documents)
    cloze, headings = counted(kinds["cloze"], "sentences with a blanked word"), counted(kinds["heading"], "headings")
    typer.echo(f"SMOKE TEST: {cloze}, {headings}")


def _write(out: Path, made: "list[MadeQuestion]", documents: "Mapping[str, Document]") -> None:
    from faircut.questions.made import write_made

    write_made(out, made)
    if sys.stdout is None:
        return
    from faircut.questions.counting import counted

    typer.echo(printable(counted(len(made), f"questions in {out}")))
    show_report([one.question for one in made], documents)


app.command("check")(check)
app.command("review")(review)
app.command("convert")(convert)
