"""The leaderboard: a run folder's tables in, one plain dictionary of scores, verdicts and costs out.

Everything is computed from the per-question scores and the facts of the stages; nothing is run. Showing it is left to
the report. The schema is versioned: fields are added, never changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import polars as pl

from faircut.evaluation.confidence import mean_interval
from faircut.evaluation.measures import Measure, parse_measure
from faircut.evaluation.power import plan_power
from faircut.evaluation.statistics import Contrast, compare, compare_pairs
from faircut.experiment.notes import about_measures
from faircut.experiment.plan import BUDGETS, Plan, load_plan
from faircut.experiment.store import RunStore

__all__ = ["SCHEMA", "build_leaderboard"]

SCHEMA = "faircut.leaderboard/1"

Table = tuple[pl.DataFrame, dict[str, Any]]


def build_leaderboard(store: RunStore) -> dict[str, Any]:
    """The leaderboard of a finished run, best row first.

    Raises:
        StoreError: the folder is not a finished run.
    """
    manifest = store.read_json("manifest.json")
    plan = load_plan(store.folder / "plan.toml")
    asked = manifest["questions"]
    measures = plan.measures_for(document_level=asked.get("document_level", 0) > 0)
    scores = {row["row"]: store.read("scores", row["scores"]) for row in manifest["rows"]}
    clusters = next(iter(scores.values()))[0]["document"].to_list()
    content = {e["row"]: f"{_facts_of(store, e)['content']} {e['embedder']}" for e in manifest["rows"]}
    contrasts = _contrasts(plan, measures, manifest["baseline"], scores, clusters, content)
    rows = [_row(plan, store, manifest, e, scores[e["row"]], contrasts, clusters, content) for e in manifest["rows"]]
    return {
        "schema": SCHEMA,
        "run": store.folder.name,
        "measure": str(plan.all_measures[0]),
        "shown_beside": [str(parse_measure(m)) for m in plan.measures],
        "baseline": manifest["baseline"],
        "band": plan.band,
        "alpha": plan.alpha,
        "seed": plan.seed,
        "corpus": manifest["corpus"],
        "questions": asked["questions"],
        "document_level": asked.get("document_level", 0),
        "smoke_tests": asked.get("smoke_tests", 0),
        "left_out": manifest["left_out"],
        "budget_tokenizer": manifest["budget_tokenizer"],
        "search": str(plan.retrieval.search),
        "deliver": str(plan.retrieval.delivery),
        "best_sentence": plan.best_sentence,
        "measure_notes": _measure_notes(plan, asked, rows),
        "planned": _planned(plan, clusters, len(rows) - 1),
        "rows": sorted(rows, key=lambda r: (-r["score"]["mean"], r["row"])),
        "controls": _controls(plan, scores, clusters),
    }


def _measure_notes(plan: Plan, asked: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What is said of the measures that decide or were asked for; nothing for a run that did not count."""
    chunks = [row["searched_chunks"] for row in rows if row["searched_chunks"]]
    if not asked.get("searched_tokens") or not chunks:
        return []
    measures = (plan.all_measures[0], *map(parse_measure, plan.measures))
    return about_measures(measures, asked["searched_tokens"], min(chunks))


def _planned(plan: Plan, clusters: list[str], contrasts: int) -> dict[str, Any] | None:
    if not contrasts:
        return None
    return asdict(plan_power(clusters, contrasts=contrasts, difference=plan.band, alpha=plan.alpha))


def _contrasts(
    plan: Plan,
    measures: Sequence[Measure],
    baseline: str,
    scores: Mapping[str, Table],
    clusters: list[str],
    content: Mapping[str, str],
) -> dict[str, dict[str, Contrast]]:
    """For the deciding measure and for each beside it, the contrasts of all rows with the baseline."""
    if len(scores) < 2:
        return {}
    same = _same_as(baseline, content)
    decided = {}
    for measure in map(str, measures):
        values = {name: table[measure].to_numpy() for name, (table, _) in scores.items()}
        base = values.pop(baseline)
        found = compare(base, values, clusters, band=plan.band, alpha=plan.alpha, seed=plan.seed, same=same)
        decided[measure] = {contrast.name: contrast for contrast in found}
    return decided


def _same_as(row: str, content: Mapping[str, str]) -> set[str]:
    """The other rows with the same embedder and exactly the same chunks."""
    return {name for name, made in content.items() if made == content[row]} - {row}


def _facts_of(store: RunStore, entry: Mapping[str, Any]) -> dict[str, Any]:
    """What is known of a row's chunks."""
    return store.read_json(f"chunks/{entry['chunks']}.json")


def _controls(plan: Plan, scores: Mapping[str, Table], clusters: list[str]) -> list[dict[str, Any]]:
    """Each chunker against its own size-matched control where both are rows; corrected over these contrasts."""
    measure = str(plan.all_measures[0])
    pairs = {
        str(row): (scores[str(control)][0][measure].to_numpy(), scores[str(row)][0][measure].to_numpy())
        for row, control in plan.control_pairs
    }
    if not pairs:
        return []
    return [asdict(c) for c in compare_pairs(pairs, clusters, band=plan.band, alpha=plan.alpha, seed=plan.seed)]


def _row(
    plan: Plan,
    store: RunStore,
    manifest: Mapping[str, Any],
    entry: Mapping[str, Any],
    scored: Table,
    contrasts: Mapping[str, Mapping[str, Contrast]],
    clusters: list[str],
    content: Mapping[str, str],
) -> dict[str, Any]:
    table, facts = scored
    measure = plan.all_measures[0]
    cut = _facts_of(store, entry)
    found = store.read_json(f"hits/{entry['hits']}.json")
    name = entry["row"]
    return {
        "row": name,
        "embedder": entry["embedder"],
        "chunker": entry["chunker"],
        "spec": cut["spec"],
        "is_baseline": name == manifest["baseline"],
        "is_control": cut["is_control"],
        "same_chunks_as": sorted(_same_as(name, content)),
        "uncut_documents": cut["uncut"],
        "searched_chunks": found.get("searched_chunks"),
        "score": _score(plan, table, measure, clusters),
        "contrast": _contrast(contrasts, str(measure), name),
        "beside": {str(m): _beside(facts, contrasts, m, name) for m in plan.all_measures if str(m) in facts["means"]},
        "curve": {str(b): facts["means"][f"recall@{b}t"] for b in BUDGETS if f"recall@{b}t" in facts["means"]},
        "tokens_per_question": facts["tokens"].get(str(measure.cut)),
        "tokens_at": facts["tokens"],
        "unanswered": facts["unanswered"],
        "underfilled": facts["underfilled"],
        "causes": _causes(store, manifest, entry["scores"]),
        "chunks": cut["chunks"],
        "size": cut["size"],
        "integrity": cut["integrity"],
        "stability": cut.get("stability"),
        "cost": _cost(manifest, entry, cut, found, facts),
    }


def _causes(store: RunStore, manifest: Mapping[str, Any], key: str) -> dict[str, int]:
    """The misses by cause; nothing where questions only name documents, for then no cause can be found."""
    if manifest["questions"].get("document_level"):
        return {}
    found: dict[str, int] = store.read_json(f"diagnosis/{key}.json")["causes"]
    return found


def _score(plan: Plan, table: pl.DataFrame, measure: Measure, clusters: list[str]) -> dict[str, Any]:
    estimate = mean_interval(table[str(measure)].to_numpy(), clusters, seed=plan.seed)
    return {
        "mean": estimate.mean,
        "low": estimate.interval.low,
        "high": estimate.interval.high,
        "method": estimate.interval.method,
    }


def _contrast(contrasts: Mapping[str, Mapping[str, Contrast]], measure: str, name: str) -> dict[str, Any] | None:
    contrast = contrasts.get(measure, {}).get(name)
    return asdict(contrast) if contrast else None


def _beside(
    facts: Mapping[str, Any], contrasts: Mapping[str, Mapping[str, Contrast]], measure: Measure, name: str
) -> dict[str, Any]:
    contrast = contrasts.get(str(measure), {}).get(name)
    shown = {"mean": facts["means"][str(measure)], "pooled": facts["pooled"][str(measure)]}
    if contrast:
        shown |= {"difference": contrast.difference, "p_holm": contrast.p_holm, "verdict": contrast.verdict}
    return shown


def _cost(
    manifest: Mapping[str, Any],
    entry: Mapping[str, Any],
    cut: Mapping[str, Any],
    found: Mapping[str, Any],
    scored: Mapping[str, Any],
) -> dict[str, Any]:
    """What the row costs, as if nothing had been cached: seconds of embedding are tokens over the measured rate.

    Money is in US dollars, None where a price is unknown. What all rows share (questions) and what the diagnoses and
    the stability take is in none of them.
    """
    chunks = cut["embedded_tokens"] if found["chunks_embedded"] else 0
    tokens = cut["cutting"]["embedded"]["tokens"] + chunks + found["sentence_tokens"]
    rate = manifest["embedding_rates"].get(entry["embedder"])
    price, asked = manifest["embedding_prices"][entry["embedder"]], cut["cutting"].get("asked")
    money = None if price is None else tokens * price / 1e6
    return {
        "cutting_seconds": cut["cutting"]["seconds"],
        "embedding_seconds": tokens / rate if rate else None,
        "embedded_tokens": tokens,
        "embedded_tokens_for_cutting": cut["cutting"]["embedded"]["tokens"],
        "embedded_tokens_for_sentences": found["sentence_tokens"],
        "overlong_for_cutting": cut["cutting"]["embedded"]["overlong"],
        "embedded_per_document_token": tokens / max(manifest["corpus"]["tokens"], 1),
        "indexing_seconds": found["indexing_seconds"],
        "scoring_seconds": scored["scoring_seconds"],
        "search_milliseconds_per_question": 1000 * found["search_seconds_per_question"],
        "embedding_price": price,
        "embedding_money": money,
        **_asked(asked),
        "money": _sum(money, asked["money"] if asked else 0.0),
    }


def _sum(*amounts: float | None) -> float | None:
    """All amounts together; unknown where one is."""
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) else None


def _asked(asked: Mapping[str, Any] | None) -> dict[str, Any]:
    """What a language model took for cutting; nothing for chunkers that ask none.

    The seconds are those waited by the run that asked, None where the cache gave some of the answers.
    """
    if asked is None:
        return {}
    tokens = {name: asked[name] for name in ("requests", "prompt_tokens", "completion_tokens", "money", "failures")}
    waited = None if asked.get("cached") else asked["seconds"]  # a cache answers at once: that is not what it takes
    return {f"llm_{name}": value for name, value in (tokens | {"seconds": waited}).items()}
