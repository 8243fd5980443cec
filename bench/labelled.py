"""The labelled corpora beside the repository, whole or as two halves of their documents that no search has both seen.

A half holds the documents at even or at odd places when ordered by a hash of their ids, and the questions whose evidence
lies in them. Nothing is copied into the repository: halves are written to the folder that the caller names.
"""

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from faircut import Plan, run
from faircut.records import content_id

__all__ = ["DATA", "SETS", "Compared", "Half", "compared", "corpus_and_questions", "read_lines", "write_lines"]

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
SETS = ("chroma", "covidqa", "contractnli_dev", "cuad_open", "qasper_dev")
"""Sets to search and judge on; qmsum_val and the xquad sets stay out of every search."""

Half = Literal["search", "judge", "whole"]


def corpus_and_questions(name: str, half: Half, folder: Path) -> tuple[Path, Path]:
    """Where the corpus and the questions of a set (or of half of it) lie."""
    corpus, questions = DATA / name / "corpus.jsonl.gz", DATA / name / "questions.jsonl.gz"
    if half == "whole":
        return corpus, questions
    ordered = sorted(read_lines(corpus), key=lambda document: content_id(str(document["id"])))
    kept = ordered[0 if half == "search" else 1 :: 2]
    ids = {document["id"] for document in kept}
    asked = [q for q in read_lines(questions) if _documents_of(q) <= ids]
    target = folder / f"{name}-{half}"
    target.mkdir(parents=True, exist_ok=True)
    return write_lines(target / "corpus.jsonl.gz", kept), write_lines(target / "questions.jsonl.gz", asked)


def _documents_of(question: dict) -> set[str]:
    within = {question["within"]} if question.get("within") else set()
    return {gold["document"] for gold in question["gold"]} | within


def read_lines(path: Path) -> list[dict]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write_lines(path: Path, records: list[dict]) -> Path:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    return path


@dataclass(frozen=True)
class Compared:
    """A finished comparison: its leaderboard, and what it is made of."""

    board: dict
    table: dict[str, pl.DataFrame]

    def scores(self, chunker: str, measure: str = "recall@1000t") -> np.ndarray:
        """One value for each question."""
        return self.table[chunker][measure].to_numpy()

    @property
    def clusters(self) -> list[str]:
        """The document of each question."""
        return next(iter(self.table.values()))["document"].to_list()

    def row(self, chunker: str) -> dict:
        """The chunker's row of the leaderboard."""
        return next(row for row in self.board["rows"] if row["chunker"] == chunker)


def compared(name: str, half: Half, chunkers: Sequence[str], work: Path, **options: Any) -> Compared:
    """Run a comparison of chunkers on a set with MiniLM; ``options`` are those of ``Plan``. Continues in ``work``."""
    corpus, questions = corpus_and_questions(name, half, work / "halves")
    plan = Plan(corpus=str(corpus), questions=str(questions), chunkers=tuple(chunkers), **options)
    folder = work / f"{name}-{half}-{content_id(plan.to_toml())[:8]}"
    board = run(plan, folder)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    table = {
        row["chunker"]: pl.read_parquet(folder / "scores" / f"{row['scores']}.parquet") for row in manifest["rows"]
    }
    return Compared(board, table)
