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
                _make(model, documents, settings, out, _embedder(judge_embedder, purse, llm))
    tell_unread(unread)


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
        raise PlanError(f"{out} has {len(reviewed):,} questions that were reviewed; name another file with --out.")


# ---------------------------------------------------------------- with a model


def _dry_run(llm: LlmOptions, model: "ChatModel", documents: "Mapping[str, Document]", settings: "Settings") -> None:
    from faircut.questions.generate import planned_requests

    llm.show_estimate(model, planned_requests(documents, settings))
    typer.echo(
        f"That is for {settings.count:,} windows of which each gives a question: one request about the window and two "
        "that judge. Windows that give none are replaced by others, up to eight for a question; --budget bounds it."
    )


def _make(
    model: "ChatModel", documents: "Mapping[str, Document]", settings: "Settings", out: Path, judge: "Embedder | None"
) -> None:
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
        raise QuestionError("no window gave a question, so nothing was written; see above what was refused.")
    if len(found.made) < settings.count:
        complain(
            f"{len(found.made):,} of {settings.count:,} questions: too many windows gave none; see what was refused."
        )


def _told(found: "Generated", settings: "Settings", model: "ChatModel") -> list[str]:
    from faircut.llm import dollars
    from faircut.questions.generate import REASONS

    refused = ", ".join(f"{reason} {found.refused[reason]:,}" for reason in REASONS)
    spent = model.spent
    begun = f"; begun, and gone on with at the next run: {found.begun:,}" if found.begun else ""
    return [
        f"windows asked about: {found.windows:,}; refused: {refused}{begun}",
        f"kept: {len(found.made):,} of {settings.count:,}, {found.reworded:,} of them reworded, "
        f"{found.with_alternatives:,} with alternatives",
        f"paid now: {spent.requests:,} requests, {spent.prompt_tokens:,} prompt and {spent.completion_tokens:,} "
        f"completion tokens, {dollars(spent.money)}",
    ]


# ---------------------------------------------------------------- without one


def _smoke_test(documents: "Mapping[str, Document]", settings: "Settings", out: Path, *, dry_run: bool) -> None:
    from faircut.questions.cloze import smoke_test

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
    typer.echo(f"SMOKE TEST: {kinds['cloze']:,} sentences with a blanked word, {kinds['heading']:,} headings")


def _write(out: Path, made: "list[MadeQuestion]", documents: "Mapping[str, Document]") -> None:
    from faircut.questions.made import write_made

    write_made(out, made)
    if sys.stdout is None:
        return
    typer.echo(printable(f"{len(made):,} questions in {out}"))
    show_report([one.question for one in made], documents)


app.command("check")(check)
app.command("review")(review)
app.command("convert")(convert)
