"""The plans of published comparisons, run: a plan and a set in, a finished comparison and what its rule does out."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from faircut import run
from faircut.experiment.plan import load_plan
from faircut.records import content_id
from published_sets import LabelledSet, written

__all__ = ["Finished", "ran", "rule_part", "rule_parts"]

PLANS = Path(__file__).resolve().parent / "plans"


@dataclass(frozen=True)
class Finished:
    """A comparison that was run: its leaderboard; for each chunker its scores and its chunks."""

    board: dict
    scores: Mapping[str, pl.DataFrame]
    chunks: Mapping[str, pl.DataFrame]

    @property
    def chunkers(self) -> list[str]:
        """In the order of the plan, the baseline first."""
        return list(self.scores)

    def row(self, chunker: str) -> dict:
        return next(row for row in self.board["rows"] if row["chunker"] == chunker)

    def mean(self, chunker: str, measure: str) -> float:
        return float(self.scores[chunker][measure].mean())  # type: ignore[arg-type]  # numbers only

    def gap(self, chunker: str, measure: str) -> float:
        """The chunker's mean minus the baseline's."""
        return self.mean(chunker, measure) - self.mean(self.chunkers[0], measure)

    def verdict(self, chunker: str, measure: str) -> str:
        return self.row(chunker)["beside"][measure].get("verdict", "-")

    def against(self, chunker: str, measure: str) -> str:
        """The distance from the baseline, and what the test says of it."""
        is_baseline = chunker == self.chunkers[0]
        return "-" if is_baseline else f"{self.gap(chunker, measure):+.3f}, {self.verdict(chunker, measure)}"

    def tokens(self, chunker: str, k: int) -> float:
        return self.row(chunker)["tokens_at"][str(k)]


def ran(plan: str, given: LabelledSet, work: Path, **changes: Any) -> Finished:
    """The comparison of ``bench/plans`` on a set, kept in ``work``; ``changes`` replace entries of the plan."""
    corpus, questions = written(given, work / "sets")
    planned = load_plan(PLANS / f"{plan}.toml", {"corpus": str(corpus), "questions": str(questions)} | changes)
    folder = work / f"{plan}-{given.name}-{content_id(planned.to_toml())[:8]}"
    board = run(planned, folder)
    rows = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["rows"]
    tables = [
        {row["chunker"]: pl.read_parquet(folder / kind / f"{row[kind]}.parquet") for row in rows}
        for kind in ("scores", "chunks")
    ]
    return Finished(board, *tables)


def rule_part(found: Finished, chunker: str, published: str, fair: str) -> str:
    """How much of a chunker's distance from the baseline is the rule: one point of a list."""
    there, here = (round(found.gap(chunker, m), 3) for m in (published, fair))  # so that what is shown adds up
    share = f" ({(there - here) / there:.0%} of it)" if there and 0 <= here / there < 1 else ""
    return (
        f"- `{chunker}` against `{found.chunkers[0]}`: {there:+.3f} at {published.rpartition('@')[2]} chunks "
        f"({found.verdict(chunker, published)}), {here:+.3f} at {fair.rpartition('@')[2].rstrip('t')} tokens "
        f"({found.verdict(chunker, fair)}); {there - here:+.3f} is the rule{share}."
    )


def rule_parts(found: Finished, published: str, fair: str) -> list[str]:
    return [rule_part(found, chunker, published, fair) for chunker in found.chunkers[1:]]
