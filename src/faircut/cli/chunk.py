"""``faircut chunk``: cut a file, a folder or a corpus and write the chunks as JSON lines or Parquet.

Documents that cannot be cut are told at the end; all others are written. The work is left to ``experiment/job.py``.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from faircut.cli.console import (
    SOME_FAILED,
    check_outside,
    complain,
    complain_lines,
    job_display,
    path_from,
    telling_paid,
)
from faircut.cli.llm_options import LlmOptions, with_llm_options
from faircut.report.safe import printable

if TYPE_CHECKING:
    from faircut.experiment.job import ChunkJob, Outcome
    from faircut.llm import ChatModel

__all__ = ["chunk"]


@with_llm_options
def chunk(
    llm: LlmOptions,
    path: Annotated[str, typer.Argument(help="A file, a folder, a glob or corpus.jsonl[.gz].")],
    chunkers: Annotated[
        list[str] | None,
        typer.Option("--chunker", "-c", help="How to cut: a spec, see `faircut list` [recursive]."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            parser=path_from,
            metavar="FILE",
            help="chunks.jsonl or chunks.parquet; without it, JSON lines on stdout.",
        ),
    ] = None,
    embedder: Annotated[
        str, typer.Option("--embedder", "-e", help="Whose tokens are counted, and whose vectors are used where needed.")
    ] = "minilm",
    workers: Annotated[
        int | None, typer.Option("--workers", "-w", help="Processes that read and cut [as many as cores].")
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", help="Seconds that one document may take; then it has failed.")
    ] = 300.0,
    fresh: Annotated[bool, typer.Option("--fresh", help="Cut all anew, also what is unchanged since the last run.")] = (
        False
    ),
) -> None:
    """Cut documents and write one record a chunk."""
    from faircut.experiment.job import open_job

    chunker = _one(chunkers or ["auto"])
    _check_out(out, path)
    settings: dict[str, Any] = {"chunker": chunker, "embedder": embedder, "workers": workers, "timeout": timeout}
    purse, prices = llm.purse(), llm.price_table()
    with llm.build(purse) if llm.url or llm.model else nullcontext() as model:
        if llm.dry_run:
            _estimate(llm, path, embedder, chunker, model)
            return
        settings |= {"language_model": model, "budget": purse, "prices": prices}
        with telling_paid(purse), open_job(path, parts=_parts(out, path), fresh=fresh, **settings) as job:
            failed = _to_stdout(job) if out is None else _to_file(job, out)
    if failed:
        raise typer.Exit(SOME_FAILED)


def _one(chunkers: list[str]) -> str:
    """A list is taken so that a second chunker is seen: of a single value the command line would keep the last."""
    if len(chunkers) > 1:
        raise typer.BadParameter(f"one chunker at a time; found {len(chunkers)}.", param_hint="--chunker")
    return chunkers[0]


def _estimate(llm: LlmOptions, source: str, embedder: str, chunker: str, model: "ChatModel | None") -> None:
    """Say what a remote embedder and the language model would be asked, and ask nothing."""
    from faircut.documents import read_corpus
    from faircut.experiment.asking import check_language_model
    from faircut.experiment.rehearsal import rehearse_cuts

    check_language_model([chunker], is_named=model is not None)
    documents = read_corpus(source, on_error=lambda error: complain(f"warning: {error}"))  # as when it cuts
    embedding, requests = rehearse_cuts(embedder, [chunker], documents, llm.price_table())
    llm.show_estimate(model, requests, embedding)


def _check_out(out: Path | None, source: str) -> None:
    from faircut.errors import PlanError, StoreError

    if out is None:
        if sys.stdout is None:
            raise StoreError("the standard output is closed, there is nowhere to write; name a file with --out.")
        return
    if out.suffix not in (".jsonl", ".parquet"):
        raise PlanError(f"--out must end in .jsonl or .parquet, found {out}.")
    if out.is_dir():
        raise PlanError(f"--out is a file, found the folder {out}.")
    check_outside(out, source, "--out")


def _parts(out: Path | None, source: str) -> Path | None:
    """Where finished documents are kept: nowhere for one file, which has nothing to continue."""
    from faircut.experiment.job import parts_folder

    if out is None or (Path(source).is_file() and not source.lower().endswith((".jsonl", ".jsonl.gz"))):
        return None
    folder = parts_folder(out)
    check_outside(folder, source, "the folder of finished documents")
    return folder


# ---------------------------------------------------------------- writing


def _to_stdout(job: "ChunkJob") -> int:
    """Write the records as they come, and return how many documents failed."""
    good, failed = [], []
    seen = _Overlong(job)
    for outcome in _watched(job):
        if outcome.state == "failed":
            failed.append(outcome)
            continue
        for lines in seen.counted(job.lines([outcome])):
            sys.stdout.buffer.write(lines)
        sys.stdout.buffer.flush()
        job.forget(outcome)
        good.append(outcome)
    _tell(good, failed, "", seen)
    return len(failed)


def _to_file(job: "ChunkJob", out: Path) -> int:
    """Cut all, then write the file; return how many documents failed. Nothing is written when all did."""
    from faircut.files import write_atomically

    outcomes = list(_watched(job))
    good = [o for o in outcomes if o.state != "failed"]
    seen = _Overlong(job)
    job.forget_others(good)
    if good:
        write_atomically(out, lambda file: _fill(file, out, seen.counted(job.lines(good))))
    _tell(good, [o for o in outcomes if o.state == "failed"], f" in {out}", seen)
    return len(outcomes) - len(good)


def _fill(file: IO[bytes], out: Path, lines: Iterable[bytes]) -> None:
    from faircut.chunkers.output import write_parquet

    if out.suffix == ".jsonl":
        file.writelines(lines)
    else:
        write_parquet(_records(lines), file)


def _records(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for some in lines for line in some.split(b"\n") if line)


# ---------------------------------------------------------------- telling


def _watched(job: "ChunkJob") -> Iterator["Outcome"]:
    """The outcomes, with the progress and the warnings of each on stderr."""
    done = chunks = failed = 0
    with job_display("documents") as advance:
        for outcome in job.outcomes():
            done += 1
            chunks += outcome.chunks
            failed += outcome.state == "failed"
            advance(done, job.total, f"{chunks:,} chunks, {failed:,} failed")
            for warning in outcome.warnings:
                complain(f"warning: {_placed(outcome, warning)}")
            yield outcome


@dataclass
class _Overlong:
    """Counts the records with more tokens than the embedder reads, as they are written: new or kept ones."""

    job: "ChunkJob"
    count: int = 0

    def counted(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """The same lines. In JSON a quote inside a text is escaped, so the key is found without parsing."""
        for some in lines:
            room = self.job.room  # asked for late: it loads the tokenizer
            self.count += sum(int(tokens) > room for tokens in re.findall(rb'"tokens":\s*(\d+)', some))
            yield some


def _warn_of_overlong(chunks: int, seen: _Overlong) -> None:
    job = seen.job
    key = next((name for name in ("max", "size") if hasattr(job.chunker, name)), "")
    advice = f"{key}={job.embedder.max_tokens}t" if key else "smaller chunks"
    are = "is" if seen.count == 1 else "are"
    complain(
        f"warning: {seen.count:,} of {_counted(chunks, 'chunk')} {are} longer than {job.embedder} reads "
        f"({job.embedder.max_tokens:,} tokens); choose {advice} or another embedder."
    )


def _tell(good: list["Outcome"], failed: list["Outcome"], where: str, seen: _Overlong) -> None:
    chunks = sum(outcome.chunks for outcome in good)
    kept = sum(outcome.state == "kept" for outcome in good)
    unchanged = f" ({kept:,} unchanged since the last run)" if kept else ""
    if seen.count:
        _warn_of_overlong(chunks, seen)
    if good:
        made = f"{_counted(chunks, 'chunk')} of {_counted(len(good), 'document')}"
        complain(f"{made}{where}{unchanged}, cut by {seen.job.chunker}.")
    if failed:
        rest = "the rest is written" if good else "nothing is written"
        lines = (printable(_placed(outcome, outcome.reason)) for outcome in failed)
        whole = _counted(len(good) + len(failed), "document")
        complain_lines("\n".join([f"{len(failed)} of {whole} failed, {rest}:", *(f"  {line}" for line in lines)]))


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _placed(outcome: "Outcome", said: str) -> str:
    """What was said, with the name of the document where it is not in it."""
    return said if outcome.place in said else f"{outcome.place}: {said}"
