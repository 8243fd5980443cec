"""The pipeline: documents -> chunks -> vectors -> hits -> scores -> verdict, for every row of a plan.

Comes in: a plan and a folder. Goes out: the folder with every table, and the leaderboard made from it. Killed at any
moment, the next run continues; what each stage does is in ``stages.py``.
"""

import json
import os
import platform
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from math import isfinite
from pathlib import Path
from typing import Any

import polars as pl

from faircut import __version__
from faircut.embedding import EMBEDDERS
from faircut.embedding.cache import CachedEmbedder, check_cache, default_cache
from faircut.embedding.checks import OverlongWarning
from faircut.errors import PlanError, StoreError
from faircut.evaluation.measures import parse_measure
from faircut.evaluation.power import PlannedPower, plan_power
from faircut.experiment.asking import check_language_model, opened_model
from faircut.experiment.curves import keep_curves
from faircut.experiment.delivered import keep_delivered
from faircut.experiment.diagnose import keep_diagnoses
from faircut.experiment.inputs import Inputs, load_inputs
from faircut.experiment.kept import keep_documents, keep_questions
from faircut.experiment.leaderboard import build_leaderboard
from faircut.experiment.notes import about_measures, searched_tokens
from faircut.experiment.paying import paid_embedder, price_of, prices_of, purse_of
from faircut.experiment.plan import Plan
from faircut.experiment.stages import Keys, RowRun
from faircut.experiment.store import RunStore, code_fingerprint, package_versions
from faircut.files import write_atomically
from faircut.index import INDEXES
from faircut.llm.budget import Budget, Purse
from faircut.llm.contract import LanguageModel
from faircut.llm.prices import PriceTable
from faircut.records import content_id

__all__ = ["default_name", "run"]

Advance = Callable[[str, int, int], None]
Announce = Callable[[PlannedPower], None]


def _silent(_what: str, _done: int, _total: int) -> None:
    return None


def _unsaid(_sentence: str) -> None:
    return None


def run(
    plan: Plan,
    folder: Path,
    *,
    cache: Path | None = None,
    advance: Advance = _silent,
    announce: Announce | None = None,
    language_model: LanguageModel | None = None,
    replacing: bool = False,
    budget: Budget | Purse | None = None,
    prices: PriceTable | None = None,
    tell: Callable[[str], None] = _unsaid,
) -> dict[str, Any]:
    """Run a comparison and return its leaderboard, which is also in ``folder/leaderboard.json``.

    Args:
        plan: what to compare.
        folder: the run folder; what it holds of this comparison is used, not done again.
        cache: the file of vectors, shared by all runs; the default lies in the user's cache folder.
        advance: called with progress.
        announce: called before anything is embedded with what the questions can be expected to show.
        language_model: for chunkers that ask one; the default is the plan's. Its name goes into the keys of what is
            cut, and what it answered stays in its own cache, so an interrupted run pays for nothing twice.
        replacing: whether the result of another comparison that the folder holds may be replaced.
        budget: the most that remote embedders and the plan's language model may cost together; what was paid for when
            it is reached is kept, and the next run goes on. A purse, where ``language_model`` shares it.
        prices: of models, before those of the table that comes with faircut.
        tell: called before anything is embedded with a sentence for each measure that can hardly show a difference.

    Raises:
        PlanError: the folder holds the result of another comparison, see ``replacing``.
        BudgetReached: the budget does not allow one more request.
        LlmError: the budget is in money and the price of a model is unknown.
        FaircutError: bad documents, questions, weights or disk; what was finished before is kept.
    """
    path, purse, table = cache or default_cache(), purse_of(budget), prices_of(prices)
    check_cache(path)
    built = {name: EMBEDDERS.build(name) for name in plan.embedders}
    paid = {name: paid_embedder(embedder, purse, table) for name, embedder in built.items()}
    check_language_model(plan.chunkers, is_named=bool(plan.llm) or language_model is not None)
    store = RunStore(folder)
    inputs = load_inputs(plan, advance)
    if not replacing:
        _check_continues(store, plan, inputs)
    power = _planned_power(plan, inputs)
    if power and announce:
        announce(power)
    for note in _measure_notes(plan, inputs):
        tell(note)
    with store.locked(), opened_model(plan, language_model, purse, table) as model:
        embedders = {name: CachedEmbedder(embedder, path) for name, (embedder, _) in paid.items()}
        rows = _row_runs(plan, inputs, embedders, store, advance, model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OverlongWarning)  # counted in each row's integrity and cost
            keys = {str(row.row): row.run() for row in rows}
            keep_documents(store, inputs.documents.values())
            keep_questions(store, inputs.questions)
            keep_curves(rows)
            keep_delivered(rows)
            keep_diagnoses(rows)
        before = store.read_json("manifest.json")["embedding_rates"] if (folder / "manifest.json").is_file() else {}
        embedding = {
            "embedding_rates": {name: _rate(embedder) or before.get(name) for name, embedder in embedders.items()},
            "embedding_prices": {name: price_of(embedder, table) for name, embedder in built.items()},
            "embedded_texts": {name: embedder.stats.embedded for name, embedder in embedders.items()},
            "embedding_paid": {name: asdict(ledger.spent) for name, (_, ledger) in paid.items() if ledger},
        }
        store.write_text("plan.toml", _resolved(plan).to_toml())
        store.write_json("manifest.json", _manifest(plan, inputs, keys, embedding, rows[0].code))
        leaderboard = build_leaderboard(store)
        store.write_table("timings.parquet", pl.DataFrame([{"row": r["row"]} | r["cost"] for r in leaderboard["rows"]]))
        store.write_json("leaderboard.json", leaderboard)
    return leaderboard


def _check_continues(store: RunStore, plan: Plan, inputs: Inputs) -> None:
    """Refuse a folder whose result would be lost: of other documents or questions, or with rows that the plan lacks."""
    if not all((store.folder / name).is_file() for name in ("manifest.json", "leaderboard.json")):
        return
    before = store.read_json("manifest.json")
    rows = {str(row) for row in plan.rows}
    gone = [entry["row"] for entry in before["rows"] if entry["row"] not in rows]
    differs = [
        *(["other documents"] if before["corpus"]["hash"] != inputs.corpus_id else []),
        *(["other questions"] if before["questions"]["hash"] != inputs.questions_id else []),
        *([f"{len(gone)} row{'s' * (len(gone) > 1)} that this plan lacks ({gone[0]})"] if gone else []),
    ]
    if differs:
        raise PlanError(
            f"{store.folder}: holds a finished run with {' and '.join(differs)}; give this one another name (--name), "
            "or replace that result with --replace (in Python, replacing=True)."
        )


def default_name(plan: Plan) -> str:
    """A name for a run without one: the corpus, and a hash of the plan, so that the same command continues its run."""
    path = Path(plan.corpus)
    stem = path.name.removesuffix(".gz").removesuffix(".jsonl")
    if stem == "corpus":
        stem = path.resolve().parent.name
    safe = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in stem).strip("-") or "run"
    return f"{safe}-{content_id(_resolved(plan).to_toml())[:6]}"


def _resolved(plan: Plan) -> Plan:
    """The plan with absolute paths, so that it can be run again from anywhere."""
    return replace(plan, corpus=os.path.abspath(plan.corpus), questions=os.path.abspath(plan.questions))


def _row_runs(
    plan: Plan,
    inputs: Inputs,
    embedders: dict[str, CachedEmbedder],
    store: RunStore,
    advance: Advance,
    model: LanguageModel | None,
) -> list[RowRun]:
    engine, code = INDEXES.build(plan.index), code_fingerprint()
    return [
        RowRun(
            row,
            row.build_chunker(),
            embedders[row.embedder],
            engine,
            inputs,
            plan.measures_for(document_level=inputs.document_level > 0),
            store,
            code,
            advance,
            plan.retrieval,
            model,
        )
        for row in plan.rows
    ]


def _planned_power(plan: Plan, inputs: Inputs) -> PlannedPower | None:
    contrasts = len(plan.rows) - 1
    if not contrasts:
        return None
    return plan_power(inputs.clusters, contrasts=contrasts, difference=plan.band, alpha=plan.alpha)


def _measure_notes(plan: Plan, inputs: Inputs) -> list[str]:
    return about_measures((plan.all_measures[0], *map(parse_measure, plan.measures)), _searched(inputs))


def _searched(inputs: Inputs) -> float:
    return searched_tokens(inputs.questions, {d: inputs.token_index(d).total for d in inputs.documents})


def _rate(embedder: CachedEmbedder) -> float | None:
    """Tokens embedded per second, over all runs that used this cache; None when that was never measured."""
    path = embedder.path.with_name(f"{embedder.path.name}.rates.json")
    known = _known_rates(path)
    tokens, seconds = known.get(embedder.fingerprint, (0.0, 0.0))
    if embedder.stats.tokens_embedded:
        tokens, seconds = tokens + embedder.stats.tokens_embedded, seconds + embedder.stats.seconds
        raw = json.dumps(known | {embedder.fingerprint: (tokens, seconds)}).encode()
        with suppress(StoreError):  # as the cache itself: it may cost time, never a result
            write_atomically(path, lambda file: file.write(raw))
    return tokens / seconds if seconds else None


def _known_rates(path: Path) -> dict[str, tuple[float, float]]:
    """Tokens and seconds by embedder; what is damaged counts as unknown."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        pairs = {str(name): (float(tokens), float(seconds)) for name, (tokens, seconds) in found.items()}
    except (OSError, ValueError, AttributeError, TypeError, OverflowError, RecursionError):
        return {}
    return {name: pair for name, pair in pairs.items() if all(isfinite(x) and x >= 0 for x in pair)}


def _manifest(
    plan: Plan,
    inputs: Inputs,
    keys: dict[str, Keys],
    embedding: dict[str, Any],
    code: str,
) -> dict[str, Any]:
    return {
        "schema": "faircut.manifest/1",
        "faircut": __version__,
        "code": code,
        "python": sys.version.split()[0],
        "packages": package_versions(),
        "machine": {"system": platform.system(), "architecture": platform.machine(), "processors": os.cpu_count()},
        "corpus": {
            "hash": inputs.corpus_id,
            "documents": len(inputs.documents),
            "characters": sum(len(d.text) for d in inputs.documents.values()),
            "tokens": inputs.document_tokens(),
        },
        "questions": {
            "hash": inputs.questions_id,
            "questions": len(inputs.questions),
            "document_level": inputs.document_level,
            "smoke_tests": inputs.smoke_tests,
            "searched_tokens": _searched(inputs),
        },
        "left_out": {
            "documents": [{"document": one.id, "reason": one.reason} for one in inputs.unread],
            "questions": list(inputs.left_out),
        },
        "budget_tokenizer": inputs.budget.name,
        "seed": plan.seed,
        "baseline": str(plan.baseline_row),
        **embedding,
        "rows": [
            {
                "row": str(row),
                "embedder": row.embedder,
                "chunker": row.chunker,
                "chunks": keys[str(row)].chunks,
                "hits": keys[str(row)].hits,
                "scores": keys[str(row)].scores,
            }
            for row in plan.rows
        ],
    }
