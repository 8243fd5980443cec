"""Two run folders in, what a gate says of them out: which rows lost more than a margin, and which cut worse.

The same questions are taken from both runs, so a loss is the change's and not the questions'. The statistics are in
``evaluation/gate.py``; saying the result is left to the report.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from faircut.errors import MetricError, PlanError, StoreError, nearest
from faircut.evaluation.gate import MARGIN, LossTest, judge_losses
from faircut.evaluation.measures import parse_measure
from faircut.experiment.kept import kept_documents, kept_questions
from faircut.experiment.leaderboard import SCHEMA
from faircut.experiment.store import RunStore
from faircut.questions.document_level import needs_places

__all__ = ["DEFECTS", "GateResult", "GateRow", "gate"]

DEFECTS = {
    "lost": "characters lost",
    "offsets_wrong": "chunks with wrong offsets",
    "out_of_order": "chunks out of order",
    "blank": "blank chunks",
    "over_ceiling": "chunks over the ceiling",
    "beyond_limit": "chunks beyond the embedder's limit",
}
"""The counts of the audit that fail a gate, in words."""


@dataclass(frozen=True, slots=True)
class GateRow:
    """One row of the run against its counterpart in the base; ``defects`` are those that fail it, in words."""

    row: str
    base_row: str
    loss: LossTest
    defects: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether neither a loss above the margin nor a defect was found."""
        return not (self.loss.failed or self.defects)


@dataclass(frozen=True, slots=True)
class GateResult:
    """What a gate says.

    Attributes:
        run, base: names of the two runs.
        measure: what decided.
        margin: the loss that passes.
        questions: how many were compared.
        left_out: questions of the larger of the two sets that were not, because they or their documents differ.
        same_corpus: whether both runs searched exactly the same documents.
        strict: whether every defect fails, or only more of it than in the base.
        rows: the rows that were compared, as in the run's leaderboard.
        smoke_tests: of the run's questions, how many were made without a model or a person.
    """

    run: str
    base: str
    measure: str
    margin: float
    questions: int
    left_out: int
    same_corpus: bool
    strict: bool
    rows: tuple[GateRow, ...]
    smoke_tests: int = 0

    @property
    def passed(self) -> bool:
        """Whether every row passed."""
        return all(row.passed for row in self.rows)


def gate(
    run: Path,
    base: Path,
    *,
    rows: Sequence[str] = (),
    base_row: str = "",
    measure: str = "",
    margin: float = MARGIN,
    alpha: float = 0.05,
    common: bool = False,
    strict: bool = False,
) -> GateResult:
    """Whether a run lost against a base on the same questions.

    Args:
        run: a run folder, or the ``leaderboard.json`` in it.
        base: the same, of what it is compared with.
        rows: rows or chunkers of the run; without any, the only row of each run, else the rows that both have.
        base_row: the counterpart in the base of the one row named; else the row of the same name.
        measure: what decides; without it the measure that decides in both runs.
        margin: the loss that passes.
        alpha: the level of all tests together.
        common: compare two runs with different documents or questions on those questions that are the same in both
            and whose documents (those of the evidence, and the one searched) have the same text.
        strict: fail on every defect, not only on more of it than in the base.

    Raises:
        PlanError: the runs cannot be compared: other documents, questions, budget tokenizer or measures, no common row.
        MetricError: a wrong measure, margin or alpha.
        StoreError: a folder is not a finished run.
    """
    new, old = _Run.of(run), _Run.of(base)
    _check_tokenizers(new, old)
    chosen = _pairs_of_rows(new, old, rows, base_row)
    decides = _measure(new, old, measure)
    ids = _questions(new, old, common=common)
    scores = {n["row"]: (old.scores(o["row"], decides, ids), new.scores(n["row"], decides, ids)) for n, o in chosen}
    losses = judge_losses(scores, new.clusters(ids), margin=margin, alpha=alpha, seed=new.board["seed"])
    same = new.corpus == old.corpus
    judged = [
        GateRow(n["row"], o["row"], loss, tuple(_defects(n, o, strict=strict, same=same)))
        for (n, o), loss in zip(chosen, losses, strict=True)
    ]
    left_out = max(new.board["questions"], old.board["questions"]) - len(ids)
    said = decides, margin, len(ids), left_out, same, strict, tuple(judged), new.board.get("smoke_tests", 0)
    return GateResult(new.name, old.name, *said)


# ---------------------------------------------------------------- a run


_BOARD = {"run", "rows", "measure", "seed", "budget_tokenizer", "questions"}
_MANIFEST = {"corpus", "questions", "rows"}


@dataclass(frozen=True, slots=True)
class _Run:
    """What a gate reads of one run."""

    given: str
    store: RunStore
    board: Mapping[str, Any]
    manifest: Mapping[str, Any]

    @property
    def rows(self) -> list["Row"]:
        return list(self.board["rows"])

    @classmethod
    def of(cls, path: Path) -> "_Run":
        store = RunStore(path.parent if path.name == "leaderboard.json" else path)
        board = store.read_json("leaderboard.json")
        if board.get("schema") != SCHEMA:
            raise StoreError(
                f"{path}: the leaderboard's schema is {board.get('schema')!r}, not {SCHEMA}; run it again."
            )
        manifest = store.read_json("manifest.json")
        if not (board.keys() >= _BOARD and manifest.keys() >= _MANIFEST and board["rows"]):
            raise StoreError(f"{path}: leaderboard.json or manifest.json is damaged; run the comparison again.")
        return cls(str(path), store, board, manifest)

    @property
    def name(self) -> str:
        return str(self.board["run"])

    @property
    def corpus(self) -> str:
        return str(self.manifest["corpus"]["hash"])

    @property
    def questions(self) -> str:
        return str(self.manifest["questions"]["hash"])

    def table(self, row: str) -> pl.DataFrame:
        """The per-question scores of a row. Its facts are not needed: a base may be kept without them."""
        key = next(e["scores"] for e in self.manifest["rows"] if e["row"] == row)
        path = self.store.table_path("scores", key)
        try:
            return pl.read_parquet(path, glob=False)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise StoreError(
                f"{path}: the scores of {row} cannot be read ({error}); keep manifest.json and scores/ beside "
                "leaderboard.json, or run the comparison again."
            ) from error

    def measures(self) -> list[str]:
        return list(self.board["rows"][0]["beside"])

    def scores(self, row: str, measure: str, ids: Sequence[str]) -> list[float]:
        """The scores of these questions, in this order."""
        table = self.table(row)
        if measure not in table.columns:
            named = self.board.get("document_level") and needs_places(measure)
            why = " (its questions only name documents, and the measure needs places in them)" if named else ""
            raise PlanError(f"{self.given}: {row} has no scores by {measure}{why}{nearest(measure, self.measures())}")
        found = dict(zip(table["question"], table[measure], strict=True))
        return [found[i] for i in ids]

    def clusters(self, ids: Sequence[str]) -> list[str]:
        """The document of each of these questions."""
        table = self.table(self.board["rows"][0]["row"])
        found = dict(zip(table["question"], table["document"], strict=True))
        return [found[i] for i in ids]

    def question_ids(self) -> list[str]:
        return self.table(self.board["rows"][0]["row"])["question"].to_list()

    def contents(self) -> dict[str, tuple[Any, ...]]:
        """For each question all that must be the same: itself, and the text of the documents that it is about."""
        documents = kept_documents(self.store)
        return {
            q.id: (q, *(documents[d].text for d in sorted({e.document_id for e in q.evidence} | {q.within or ""}) if d))
            for q in kept_questions(self.store)
        }


def _check_tokenizers(new: _Run, old: _Run) -> None:
    first, second = new.board["budget_tokenizer"], old.board["budget_tokenizer"]
    if first != second:
        raise PlanError(f"budgets are counted by {first} in {new.given} and by {second} in {old.given}; use one plan.")


def _measure(new: _Run, old: _Run, measure: str) -> str:
    """The deciding measure, in its printed form."""
    if measure:
        try:
            return str(parse_measure(measure))
        except MetricError as error:  # on the command line it is a matter of usage
            raise PlanError(str(error)) from error
    first, second = new.board["measure"], old.board["measure"]
    if first != second:
        raise PlanError(f"{new.given} decides by {first}, {old.given} by {second}; name one with --measure.")
    return str(first)


# ---------------------------------------------------------------- which questions


def _questions(new: _Run, old: _Run, *, common: bool) -> list[str]:
    """The ids of the questions to compare, in the run's order."""
    if new.questions == old.questions and new.corpus == old.corpus:
        return new.question_ids()
    what = _what_differs(new, old)
    if not common:
        raise PlanError(
            f"{new.given} and {old.given} have different {what}; run the base on the same ones, or compare with "
            "--common on those questions that are the same and whose documents are unchanged."
        )
    mine, theirs = new.contents(), old.contents()
    ids = [i for i, content in mine.items() if theirs.get(i) == content]
    if not ids:
        raise PlanError(f"{new.given} and {old.given} have different {what} and no unchanged question in common.")
    return ids


def _what_differs(new: _Run, old: _Run) -> str:
    parts = ["documents"] * (new.corpus != old.corpus) + ["questions"] * (new.questions != old.questions)
    return " and ".join(parts)


# ---------------------------------------------------------------- which rows

Row = Mapping[str, Any]


def _pairs_of_rows(new: _Run, old: _Run, rows: Sequence[str], base_row: str) -> list[tuple[Row, Row]]:
    if base_row and len(rows) > 1:
        raise PlanError(f"--base-row is the counterpart of one --row, found {len(rows)} rows.")
    if rows:
        mine = [_pick(new, name) for name in dict.fromkeys(rows)]
        return [(row, _pick(old, base_row) if base_row else _counterpart(old, row)) for row in mine]
    first, second = _own(new), _own(old)
    if len(first) == 1 and (len(second) == 1 or base_row):
        return [(first[0], _pick(old, base_row) if base_row else second[0])]
    shared = [(a, b) for a in first for b in second if a["row"] == b["row"]]
    if not shared or base_row:
        raise PlanError(
            f"which row is to be gated? {new.given} has {_listed(first)}; {old.given} has {_listed(second)}; "
            "name one with --row, and with --base-row where its name has changed."
        )
    return shared


def _own(run: _Run) -> list[Row]:
    """The rows without size-matched controls: nobody uses those."""
    return [row for row in run.rows if not row["is_control"]] or run.rows


def _pick(run: _Run, name: str) -> Row:
    found = [row for row in run.rows if name in (row["row"], row["chunker"])]
    if len(found) == 1:
        return found[0]
    choices = [row["row"] for row in run.rows]
    if found:
        raise PlanError(
            f"{run.given}: {name!r} names {len(found)} rows, one for each embedder; name one of them whole."
        )
    raise PlanError(f"{run.given} has no row {name!r}{nearest(name, choices)}")


def _counterpart(old: _Run, row: Row) -> Row:
    for other in old.rows:
        if other["row"] == row["row"]:
            return other
    raise PlanError(
        f"{old.given} has no row {row['row']!r}; name its counterpart with --base-row: {_listed(old.rows)}."
    )


def _listed(rows: Iterable[Row]) -> str:
    return ", ".join(row["row"] for row in rows)


# ---------------------------------------------------------------- integrity


def _defects(new: Row, old: Row, *, strict: bool, same: bool) -> Iterable[str]:
    """What fails a row: more of a defect than in the base (as a share, where the documents differ), or any at all."""
    for key, words in DEFECTS.items():
        count, before = new["integrity"].get(key, 0), old["integrity"].get(key, 0)
        whole = "characters" if key == "lost" else "chunks"
        shares = [n / max(row["integrity"].get(whole, 0), 1) for n, row in ((count, new), (before, old))]
        if count and (strict or (count > before if same else shares[0] > shares[1])):
            yield f"{count:,} {words} (base {before:,})"
