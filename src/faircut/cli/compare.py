"""``faircut compare``: run a comparison and print its leaderboard."""

import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from faircut.cli.console import (
    SOME_FAILED,
    SkipUnreadable,
    check_outside,
    complain,
    output_console,
    path_from,
    progress_display,
    suggesting_to_skip,
    telling_paid,
)
from faircut.cli.llm_options import LlmOptions, with_llm_options
from faircut.cli.unexpected import DEBUG, describe
from faircut.report.safe import printable

if TYPE_CHECKING:
    from faircut.evaluation.power import PlannedPower
    from faircut.experiment.plan import Plan
    from faircut.llm import ChatModel, Purse

__all__ = ["compare"]


@with_llm_options
def compare(
    llm: LlmOptions,
    corpus: Annotated[str | None, typer.Argument(help="A file, a folder, a glob or corpus.jsonl[.gz].")] = None,
    questions: Annotated[str | None, typer.Argument(help="questions.jsonl[.gz] with evidence.")] = None,
    plan: Annotated[
        Path | None,
        typer.Option("--plan", "-p", parser=path_from, metavar="FILE", help="A plan in TOML; flags beside it win."),
    ] = None,
    chunker: Annotated[
        list[str] | None,
        typer.Option("--chunker", "-c", help="A chunker's spec; give it for each, see `faircut list`."),
    ] = None,
    embedder: Annotated[list[str] | None, typer.Option("--embedder", "-e", help="An embedder's spec [minilm].")] = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", "-b", help="The chunker or row to compare with [the first].")
    ] = None,
    measure: Annotated[str | None, typer.Option("--measure", "-m", help="What decides [recall@1000t].")] = None,
    beside: Annotated[
        list[str] | None, typer.Option("--beside", help="A measure shown beside; give it for each.")
    ] = None,
    index: Annotated[str | None, typer.Option("--index", help="The vector index [qdrant].")] = None,
    search: Annotated[
        str | None, typer.Option("--search", help="How chunks are found: dense, bm25, rrf or zscore [dense].")
    ] = None,
    deliver: Annotated[
        str | None, typer.Option("--deliver", help="What is handed over: chunk, window, parent or merge [chunk].")
    ] = None,
    best_sentence: Annotated[
        bool | None,
        typer.Option("--best-sentence/--whole-chunk", help="A chunk's vector score is its best sentence's if higher."),
    ] = None,
    controls: Annotated[
        bool | None, typer.Option("--controls/--no-controls", help="Add each chunker's size-matched control.")
    ] = None,
    band: Annotated[float | None, typer.Option("--band", help="Differences below this do not matter [0.03].")] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Seed of the bootstrap and the flips [0].")] = None,
    skip_unreadable: SkipUnreadable = None,
    name: Annotated[
        str | None, typer.Option("--name", "-n", help="The run's name; the same name continues it.")
    ] = None,
    replacing: Annotated[
        bool, typer.Option("--replace", help="Replace the result of another comparison under this name.")
    ] = False,
    runs: Annotated[
        Path, typer.Option("--runs", parser=path_from, metavar="FOLDER", help="Where run folders are made.")
    ] = Path("runs"),
    cache: Annotated[
        Path | None,
        typer.Option("--cache", parser=path_from, metavar="FILE", help="The file of vectors [in the user's cache]."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print leaderboard.json instead of tables.")] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print Markdown, as for a pull request, instead of tables.")
    ] = False,
) -> None:
    """Compare chunkers end to end on your documents and questions."""
    if as_json and markdown:
        raise typer.BadParameter("--json and --markdown exclude each other; take one.")
    from faircut.embedding.cache import check_cache
    from faircut.experiment.run import default_name, run

    given = {
        "corpus": corpus, "questions": questions, "chunkers": chunker, "embedders": embedder, "baseline": baseline,
        "measure": measure, "measures": beside, "index": index, "search": search, "deliver": deliver,
        "best_sentence": best_sentence, "controls": controls, "band": band, "seed": seed,
        "skip_unreadable": skip_unreadable,
        "name": name, "llm": llm.url, "llm_model": llm.model, "llm_key_env": llm.api_key_env,
    }  # fmt: skip
    asked = _plan(plan, {key: value for key, value in given.items() if value not in (None, [])})
    folder = runs / (_safe_name(asked.name) if asked.name else default_name(asked))
    check_outside(folder, asked.corpus, "the run's folder")
    if cache is not None:
        check_cache(cache)
    purse, prices = llm.purse(), llm.price_table()
    with _model(llm, asked, purse) as model:
        if llm.dry_run:
            _estimate(llm, asked, model, cache)
            return
        with progress_display() as advance:
            options: dict[str, Any] = {
                "advance": advance,
                "announce": _announce,
                "tell": complain,
                "replacing": replacing or not asked.name,
                "budget": purse,
                "prices": prices,
            }
            with telling_paid(purse), _kept(folder), suggesting_to_skip(asked.corpus):
                leaderboard = run(asked, folder, cache=cache, language_model=model, **options)
    with _done(folder, "it could not be shown"):
        _show(leaderboard, folder, as_json=as_json, markdown=markdown)
    _write_page(folder, told=not (as_json or markdown))
    if left := leaderboard["left_out"]["documents"]:
        complain(f"done without {len(left):,} documents that could not be read; the result names them (exit code 3).")
        raise typer.Exit(SOME_FAILED)


@contextmanager
def _kept(folder: Path) -> Iterator[None]:
    """An error that nobody foresaw, as one that says what is kept."""
    from faircut.errors import FaircutError

    try:
        yield
    except (FaircutError, OSError):
        raise
    except Exception as error:
        raise FaircutError(
            f"the comparison was stopped by a fault in faircut ({describe(error)}); what was finished is kept in "
            f"{folder}, and the same command continues. Please report it with what {DEBUG}=1 shows."
        ) from error


@contextmanager
def _done(folder: Path, what: str) -> Iterator[None]:
    """Whatever goes wrong after the run, as an error that says that it is safe; but for what the system says."""
    from faircut.errors import StoreError

    try:
        yield
    except OSError:
        raise
    except Exception as error:
        raise StoreError(
            f"the run is done and safe in {folder}, but {what} ({describe(error)}); "
            f"`faircut report {shlex.quote(str(folder))}` makes only the page."
        ) from error


def _plan(path: Path | None, given: dict[str, Any]) -> "Plan":
    from faircut.errors import PlanError
    from faircut.experiment.plan import load_plan, plan_from

    if path is None and given.get("corpus") and given.get("questions") and "chunkers" not in given:
        raise PlanError("nothing to compare: name the chunkers with --chunker (-c), once for each; see `faircut list`.")
    return load_plan(path, given) if path else plan_from(given, "faircut compare")


def _model(llm: LlmOptions, plan: "Plan", purse: "Purse") -> AbstractContextManager["ChatModel | None"]:
    """The model that the plan names, flags included, with the budget and prices of the flags."""
    if not plan.llm:
        return nullcontext()
    return replace(llm, url=plan.llm, model=plan.llm_model, api_key_env=plan.llm_key_env or None).build(purse)


def _estimate(llm: LlmOptions, plan: "Plan", model: "ChatModel | None", cache: Path | None) -> None:
    """Say what remote embedders and the language model would be asked, and ask nothing."""
    from faircut.experiment.asking import check_language_model
    from faircut.experiment.inputs import load_inputs
    from faircut.experiment.rehearsal import rehearse

    check_language_model(plan.chunkers, is_named=model is not None)
    with progress_display() as advance:
        inputs = load_inputs(plan, advance)
        embedding, requests = rehearse(plan, inputs, llm.price_table(), cache=cache, advance=advance)
    llm.show_estimate(model, requests, embedding)


def _safe_name(name: str) -> str:
    from faircut.errors import PlanError

    if name in (".", "..") or any(c in name for c in "/\\\0") or name.startswith("."):
        raise PlanError(f"a run's name is the name of a folder, found {name!r}; use letters, digits, - and _.")
    return name


def _announce(power: "PlannedPower") -> None:
    units = f" on {power.units:,} documents" if power.unit == "document" else ""
    size = f"{power.questions:,} questions{units}"
    if power.smallest_difference is None or power.questions_needed is None:
        complain(f"{size}: too few for any difference to be shown; the scores will be, the verdicts will not.")
        return
    complain(
        f"{size}: differences from about {power.smallest_difference:.3f} can be shown with 80 % power; for "
        f"{power.difference:g} about {power.questions_needed:,} questions are needed ({power.assumption})."
    )


def _write_page(folder: Path, *, told: bool) -> None:
    """The report, last: what went before is there whatever becomes of the page.

    Raises:
        StoreError: the page could not be made or written; says that the run is safe.
    """
    from faircut.errors import StoreError

    try:
        from faircut.report.pages import write_report

        page = write_report([folder], folder / "report.html")
    except Exception as error:  # the run is worth more than its page, whatever is wrong with that
        raise StoreError(
            f"the run is done and safe in {folder}, but its page could not be made ({_said(error)}); "
            f"`faircut report {shlex.quote(str(folder))}` makes only the page."
        ) from error
    if told and sys.stdout is not None:
        typer.echo(f"Report: {printable(str(page))}")


def _said(error: Exception) -> str:
    """Our own errors and the system's say what is wrong; of others, the kind and the place do."""
    from faircut.errors import FaircutError

    return str(error) if isinstance(error, (FaircutError, OSError)) else describe(error)


def _show(leaderboard: dict[str, Any], folder: Path, *, as_json: bool, markdown: bool) -> None:
    if as_json:
        typer.echo(json.dumps(leaderboard, indent=1))
        return
    from faircut.report.data import results_of
    from faircut.report.markdown import leaderboard_markdown
    from faircut.report.plots import chunk_sizes
    from faircut.report.terminal import print_results

    if sys.stdout is None:
        return  # closed by the caller; all is in the folder
    if markdown:
        typer.echo(leaderboard_markdown(results_of(leaderboard)), nl=False)
        return
    print_results(results_of(leaderboard), output_console(), chunk_sizes(folder))
    typer.echo(f"Result: {printable(str(folder))} (leaderboard.json, plan.toml, tables in chunks/ hits/ scores/)")
