"""Run folders as a report needs them: folders in; runs, and the data sets that they share, out.

Runs on the same documents and questions are looked at side by side, so their rows stand in one data set. Everything
comes from the folder; what is shown of it is left to ``payload.py``, ``figures.py`` and ``tables.py``.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from faircut.errors import StoreError
from faircut.experiment.kept import kept_documents, kept_questions
from faircut.experiment.leaderboard import SCHEMA
from faircut.experiment.store import RunStore
from faircut.questions.document_level import count_document_level, why_no_places
from faircut.records import Document, Question

__all__ = ["DataSet", "RowData", "RunData", "data_sets", "load_run", "load_runs"]


_PATH = re.compile(r"^((?:corpus|questions)\s*=\s*)(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class RowData:
    """One row of one run: its line of the leaderboard and its tables.

    ``curves`` and ``diagnosis`` are None where the run has none.
    """

    run: str
    entry: Mapping[str, Any]
    chunks: pl.DataFrame
    hits: pl.DataFrame
    scores: pl.DataFrame
    delivered: pl.DataFrame
    curves: pl.DataFrame | None
    diagnosis: pl.DataFrame | None

    @property
    def name(self) -> str:
        """``embedder::chunker``."""
        return str(self.entry["row"])


@dataclass(frozen=True)
class RunData:
    """A finished run. ``rows`` are in the order of the leaderboard, the best first."""

    folder: Path
    name: str
    leaderboard: Mapping[str, Any]
    manifest: Mapping[str, Any]
    plan: str
    rows: tuple[RowData, ...]

    @property
    def shown_plan(self) -> str:
        """The plan as a page shows it: of paths the last name only, because a page is sent to others."""
        return _PATH.sub(lambda line: f"{line[1]}{_last_name(line[2])}", self.plan)

    @property
    def content(self) -> tuple[str, str]:
        """The hashes of documents and questions: runs with the same ones can be looked at side by side."""
        return self.manifest["corpus"]["hash"], self.manifest["questions"]["hash"]


def _last_name(value: str) -> str:
    """The last part of a path that a plan holds as a text, as such a text."""
    try:
        path = str(json.loads(value))
    except ValueError:  # a plan that was written by hand
        path = value.strip("'\"")
    return json.dumps(re.split(r"[\\/]", path.rstrip("\\/"))[-1], ensure_ascii=False)


@dataclass(frozen=True)
class DataSet:
    """Documents and questions with the rows of all runs on them."""

    runs: tuple[RunData, ...]
    documents: Mapping[str, Document]
    questions: tuple[Question, ...]
    rows: tuple[RowData, ...] = field(default=())

    @property
    def named_only(self) -> str:
        """Why nothing that needs a place was measured, where questions only name documents; else empty."""
        count = count_document_level(self.questions)
        return why_no_places(count, len(self.questions)) if count else ""

    @property
    def labels(self) -> tuple[str, ...]:
        """A name for each row that no other row of the set has; the embedder is left out where all have the same."""
        embedders = {row.entry["embedder"] for row in self.rows}
        short = [row.entry["chunker"] if len(embedders) == 1 else row.name for row in self.rows]
        return tuple(f"{r.run}: {s}" if len(self.runs) > 1 else s for r, s in zip(self.rows, short, strict=True))


def load_runs(folders: Sequence[Path]) -> list[RunData]:
    """Read several runs; those whose folders have one name are told apart by the folder above, or by their number.

    Raises:
        StoreError: as of ``load_run``, or the same folder twice.
    """
    real = [folder.resolve() for folder in folders]
    for place in real:
        if real.count(place) > 1:
            raise StoreError(f"{place}: named twice; name each run once.")
    names = [place.name for place in real]
    longer = [n if names.count(n) == 1 else f"{p.parent.name}/{n}" for n, p in zip(names, real, strict=True)]
    told = [n if longer.count(n) == 1 else f"{n} ({i})" for i, n in enumerate(longer, 1)]
    return [load_run(folder, name) for folder, name in zip(folders, told, strict=True)]


def load_run(folder: Path, name: str = "") -> RunData:
    """Read a finished run, under a name or under that of its folder.

    Raises:
        StoreError: the folder is missing, unfinished, damaged, or of a version that kept less.
    """
    if not folder.is_dir():
        raise StoreError(f"{folder}: no such run folder; name one that `faircut compare` made, such as runs/NAME.")
    name, store = name or folder.resolve().name, RunStore(folder)
    leaderboard, manifest = store.read_json("leaderboard.json"), store.read_json("manifest.json")
    if leaderboard.get("schema") != SCHEMA:
        raise StoreError(
            f"{folder}: leaderboard.json has schema {leaderboard.get('schema')!r}, this version reads {SCHEMA!r}; run "
            "the comparison again."
        )
    try:
        rows = _rows(store, name, leaderboard, manifest)
        plan = (folder / "plan.toml").read_text(encoding="utf-8")
    except (KeyError, TypeError) as error:
        raise StoreError(f"{folder}: damaged ({error!r} in its JSON files); run the comparison again.") from error
    except (OSError, ValueError) as error:
        raise StoreError(f"{folder / 'plan.toml'}: cannot be read ({error}); run the comparison again.") from error
    return RunData(folder, name, leaderboard, manifest, plan, rows)


def _rows(
    store: RunStore, run: str, leaderboard: Mapping[str, Any], manifest: Mapping[str, Any]
) -> tuple[RowData, ...]:
    keys = {entry["row"]: entry for entry in manifest["rows"]}
    return tuple(_row(store, run, entry, keys[entry["row"]]) for entry in leaderboard["rows"])


def _row(store: RunStore, run: str, entry: Mapping[str, Any], keys: Mapping[str, str]) -> RowData:
    return RowData(
        run=run,
        entry=entry,
        chunks=store.read("chunks", keys["chunks"])[0],
        hits=store.read("hits", keys["hits"])[0],
        scores=store.read("scores", keys["scores"])[0],
        delivered=store.read("delivered", keys["scores"])[0],
        curves=_optional(store, "curves", keys["chunks"]),
        diagnosis=_optional(store, "diagnosis", keys.get("diagnosis", keys["scores"])),
    )


def _optional(store: RunStore, stage: str, key: str) -> pl.DataFrame | None:
    """A table that only some runs have."""
    return store.read(stage, key)[0] if store.has(stage, key) else None


def data_sets(runs: Sequence[RunData]) -> list[DataSet]:
    """The data sets of the runs, in the order in which they first appear.

    Raises:
        StoreError: a run's documents or questions are missing or damaged.
    """
    groups: dict[tuple[str, str], list[RunData]] = {}
    for run in runs:
        groups.setdefault(run.content, []).append(run)
    return [_data_set(tuple(group)) for group in groups.values()]


def _data_set(runs: tuple[RunData, ...]) -> DataSet:
    store = RunStore(runs[0].folder)
    rows = tuple(row for run in runs for row in run.rows)
    return DataSet(runs, kept_documents(store), kept_questions(store), rows)
