"""The figures of a report as plain values: a data set in; for each figure its points, and the same as a table, out.

Intervals are those of the leaderboard or made by the same function. How a figure is drawn is left to ``plots.js``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from faircut.evaluation.confidence import mean_interval
from faircut.evaluation.measures import parse_measure
from faircut.evaluation.misses import CAUSES
from faircut.llm.prices import dollars
from faircut.report.clusters import clustered_order
from faircut.report.money import is_paid
from faircut.report.payload import hits_of
from faircut.report.run_data import DataSet, RowData
from faircut.report.tables import Cell, Column, Table, money, number, signed

__all__ = ["Figure", "figures"]

_BINS = 36
_NO_CONTROLS = (
    "Not asked in this run. With controls (--controls, or controls = true in the plan) each chunker meets its own "
    "chunk lengths in shuffled order, and the answer stands here."
)


@dataclass(frozen=True)
class Figure:
    """One figure: what it asks, what it shows, its points (``kind`` says how they are drawn), and its table."""

    id: str
    kind: str
    title: str
    note: str
    values: Mapping[str, Any]
    table: Table | None


def figures(data: DataSet) -> list[Figure]:
    """All figures that the data set has numbers for, in the order in which they are read."""
    made: list[Callable[[DataSet], Figure | None]] = [
        _forest, _controls, _budget, _sizes, _hits_at, _causes, _heat, _times, _quality_cost,
    ]  # fmt: skip
    return [figure for make in made if (figure := make(data)) is not None]


def _not_measured(data: DataSet, name: str, title: str) -> Figure | None:
    """Why this figure has no numbers, where that is because questions only name documents."""
    return Figure(name, "none", title, data.named_only, {}, None) if data.named_only else None


def _named(data: DataSet) -> list[tuple[int, str, RowData]]:
    return [(i, label, row) for i, (label, row) in enumerate(zip(data.labels, data.rows, strict=True))]


def _table(name: str, caption: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]], words: int = 1) -> Table:
    """A table whose first ``words`` columns are words and the others numbers."""
    heads = tuple(Column(column, is_number=i >= words) for i, column in enumerate(columns))
    return Table(name, caption, heads, tuple(tuple(row) for row in rows))


def _word(text: str) -> Cell:
    return Cell(text, text)


# ------------------------------------------------------------ verdicts


def _forest(data: DataSet) -> Figure | None:
    points, rows = [], []
    for i, label, row in _named(data):
        found = row.entry["contrast"]
        if not found:
            continue
        outer, inner = found["interval"], found["interval_90"]
        points.append(
            {
                "row": i, "mean": found["difference"], "low": outer["low"], "high": outer["high"],
                "low90": inner["low"], "high90": inner["high"], "verdict": found["verdict"],
            }
        )  # fmt: skip
        numbers = (found["difference"], outer["low"], outer["high"], inner["low"], inner["high"])
        rows.append([_word(label), *map(signed, numbers), number(found["p_holm"], 4), _word(found["verdict"])])
    if not points:
        return None
    run = data.runs[0].leaderboard
    columns = ("chunker", "difference", "95 % from", "to", "90 % from", "to (90 %)", "p (Holm)", "verdict")
    bases = ", ".join(dict.fromkeys(r.leaderboard["baseline"] for r in data.runs))
    note = (
        f"Paired difference to {bases} in {run['measure']}. Thick line: 90 % interval, thin: 95 %. Shaded: "
        f"±{run['band']:g}, differences that do not matter. Equivalent: the thick line lies inside the shade. "
        "Marks at the right are the verdicts: ▲ better, ▼ worse, = equivalent, ○ no measured difference."
    )
    return Figure(
        "forest", "forest", "Does it differ from the baseline?", note,
        {"band": run["band"], "points": points, "measure": run["measure"]},
        _table("differences", "Paired differences to the baseline", columns, rows),
    )  # fmt: skip


def _controls(data: DataSet) -> Figure:
    labels = {(row.run, row.name): (i, label) for i, label, row in _named(data)}
    points, rows = [], []
    for run in data.runs:
        for found in run.leaderboard["controls"]:
            i, label = labels[run.name, found["name"]]
            own, low, high = found["estimate"]["mean"], found["interval"]["low"], found["interval"]["high"]
            points.append({"row": i, "score": own, "control": own - found["difference"], "verdict": found["verdict"]})
            scores = number(own), number(own - found["difference"])
            differences = map(signed, (found["difference"], low, high))
            rows.append([_word(label), *scores, *differences, number(found["p_holm"], 4), _word(found["verdict"])])
    if not points:
        return Figure("controls", "none", "Is it the boundaries or the sizes?", _NO_CONTROLS, {}, None)
    note = (
        "Filled: the chunker's own boundaries. Open: its control, the same chunk lengths in shuffled order. Only "
        "where the chunker is better (▲) do the places of its boundaries count; else (○) sizes may explain the score."
    )
    columns = ("chunker", "score", "control", "difference", "95 % from", "to", "p (Holm)", "verdict")
    return Figure(
        "controls", "controls", "Is it the boundaries or the sizes?", note,
        {"points": points, "measure": data.runs[0].leaderboard["measure"]},
        _table("controls", "Each chunker against its size-matched control", columns, rows),
    )  # fmt: skip


# ------------------------------------------------------------ curves


def _curve(data: DataSet, measures: Sequence[tuple[int, str]]) -> list[dict[str, Any]]:
    """For every row the means and intervals of the measures that its run has, by their position on the axis."""
    curves = []
    for i, label, row in _named(data):
        seed, clusters = data.runs[0].leaderboard["seed"], row.scores["document"].to_list()
        points = []
        for x, measure in measures:
            if measure in row.scores.columns:
                found = mean_interval(row.scores[measure].to_numpy(), clusters, seed=seed)
                points.append({"x": x, "mean": found.mean, "low": found.interval.low, "high": found.interval.high})
        curves.append({"row": i, "label": label, "points": points})
    return [curve for curve in curves if curve["points"]]


def _curve_rows(curves: Sequence[Mapping[str, Any]]) -> list[list[Cell]]:
    return [
        [_word(c["label"]), number(p["x"], 0), number(p["mean"]), number(p["low"]), number(p["high"])]
        for c in curves
        for p in c["points"]
    ]


def _budget(data: DataSet) -> Figure | None:
    cuts = {parse_measure(m).cut for row in data.rows for m in row.scores.columns if m.startswith("recall@")}
    curves = _curve(data, sorted((c.amount, f"recall@{c}") for c in cuts if c.unit == "tokens"))
    if not curves:
        return _not_measured(data, "budget", "What does a budget of tokens buy?")
    note = (
        "Share of the evidence that a reader gets for so many tokens of context: all at the same price, which is fair. "
        "Bands: 95 % intervals, of the first row and the baseline where more than four are shown. Dashed: controls."
    )
    columns = ("chunker", "tokens", "recall", "95 % from", "to")
    return Figure(
        "budget", "curves", "What does a budget of tokens buy?", note,
        {"curves": curves, "x": "tokens of context (log scale)", "y": "recall", "log": True, "bands": True},
        _table("recall-by-budget", "Recall by token budget", columns, _curve_rows(curves)),
    )  # fmt: skip


def _hits_at(data: DataSet) -> Figure | None:
    ranks = {parse_measure(m).cut for row in data.rows for m in row.scores.columns if m.startswith("hit@")}
    curves = _curve(data, sorted((c.amount, f"hit@{c}") for c in ranks if c.unit == "chunks"))
    if not curves:
        return _not_measured(data, "hits", "How often is the answer among the first k?")
    last = max(p["x"] for c in curves for p in c["points"])
    tokens = {
        c["row"]: data.rows[c["row"]].entry["tokens_at"].get(str(last)) for c in curves
    }  # what the same k costs differs by a factor
    note = (
        f"Share of questions with a piece of evidence found among the first k chunks; bars at k = {last} with "
        "95 % intervals and the tokens spent. Equal k favours large chunks: it does not decide."
    )
    columns = ("chunker", "k", "hit rate", "95 % from", "to")
    return Figure(
        "hits", "hits", "How often is the answer among the first k?", note,
        {"curves": curves, "last": last, "tokens": tokens},
        _table("hit-rate-at-k", "Hit rate at k", columns, _curve_rows(curves)),
    )  # fmt: skip


# ------------------------------------------------------------ sizes and costs


def _sizes(data: DataSet) -> Figure | None:
    top = max(float(np.quantile(row.chunks["tokens"].to_numpy(), 0.995)) for row in data.rows)
    edges = np.linspace(0, max(top, 1.0), _BINS + 1)
    ridges, rows = [], []
    for i, label, row in _named(data):
        sizes = row.chunks["tokens"].to_numpy()
        counts = np.histogram(np.minimum(sizes, edges[-1]), bins=edges)[0]
        ridges.append({"row": i, "shares": (counts / len(sizes)).round(5).tolist(), "median": float(np.median(sizes))})
        quantiles = [number(float(q), 0) for q in np.quantile(sizes, (0, 0.05, 0.25, 0.5, 0.75, 0.95, 1))]
        rows.append([_word(label), number(len(sizes), 0), *quantiles])
    columns = ("chunker", "chunks", "smallest", "5 %", "25 %", "median", "75 %", "95 %", "largest")
    return Figure(
        "sizes", "sizes", "How large are the chunks?", "Share of chunks by size in tokens; line and number are the "
        "median. The last bin holds all that are larger.", {"edges": edges.round(2).tolist(), "ridges": ridges},
        _table("chunk-sizes", "Chunk sizes in tokens", columns, rows),
    )  # fmt: skip


_MONEY = ("embedding_money", "llm_money", "money")
_COSTS = {
    "cutting_seconds", "llm_seconds", "embedding_seconds", "embedded_tokens", "embedded_per_document_token",
    "embedding_price", *_MONEY,
}  # fmt: skip


def _times(data: DataSet) -> Figure | None:
    costs = [row.entry["cost"] for row in data.rows]
    more = list(dict.fromkeys(name for c in costs for name, v in c.items() if _is_number(v) and name not in _COSTS))
    asked, paid = any("llm_requests" in cost for cost in costs), any(map(is_paid, costs))
    bars, rows = [], []
    for i, label, row in _named(data):
        cost = row.entry["cost"]
        waits = {"answers": cost.get("llm_seconds"), "asks": "llm_requests" in cost}
        bars.append({"row": i, "cutting": cost["cutting_seconds"], "embedding": cost["embedding_seconds"], **waits})
        answers = [_waited(cost)] if asked else []
        seconds = number(cost["cutting_seconds"]), *answers, number(cost["embedding_seconds"], 1)
        tokens = number(cost["embedded_tokens"], 0), number(cost["embedded_per_document_token"], 2)
        others = [number(cost.get(name), 0 if isinstance(cost.get(name), int) else 3) for name in more]
        rows.append([_word(label), *seconds, *tokens, *(_paid(cost, asked=asked) if paid else ()), *others])
    note = (
        "Seconds for the whole corpus on the machine of the run, as if nothing had been cached: embedding is its "
        "tokens over the measured rate, those embedded for cutting included."
    )
    note += _ANSWERS if asked else ""
    note += " What it costs in money is in the table." if paid else ""
    spent = ("embedding cost", *(["llm cost"] if asked else []), "cost") if paid else ()
    names = [name.replace("_", " ") for name in more]
    timed = ("cutting s", *(["llm s"] if asked else []), "embedding s")
    columns = ("chunker", *timed, "tokens embedded", "embedded/token", *spent, *names)
    return Figure(
        "times", "times", "How long does it take?", note, {"bars": bars, "asked": asked},
        _table("costs", "Cutting, embedding and search", columns, rows),
    )  # fmt: skip


_ANSWERS = (
    " Seconds of a language model are those waited for its answers by the run that asked. Where a cache gave answers "
    "they are not known, and the row takes longer than is drawn (≥)."
)


def _waited(cost: Mapping[str, Any]) -> Cell:
    """The seconds waited for a language model; nothing where none was asked."""
    if "llm_requests" in cost and cost.get("llm_seconds") is None:
        return Cell("cached", None)
    return number(cost.get("llm_seconds"), 1)


def _paid(cost: Mapping[str, Any], *, asked: bool) -> list[Cell]:
    """Money for embedding, for a language model's answers where one was asked, and for all of it."""
    answers = money(cost.get("llm_money")) if "llm_requests" in cost else _word("")
    return [money(cost.get("embedding_money")), *([answers] if asked else []), money(cost.get("money"))]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_DOLLARS = "Score against what embedding and a language model's answers cost in money, as if nothing had been cached."
_TOKENS = "Score against the tokens embedded per token of the documents, which is what money and time go into."
_UNKNOWN = "What rows cost in money is not all known, as a price is missing: that of a language model is not in here."
_LINE = "Top left is best. The line joins those that no other beats at their cost or below (large, outlined)."


def _quality_cost(data: DataSet) -> Figure | None:
    costs = [row.entry["cost"] for row in data.rows]
    is_known = all(cost.get("money") is not None for cost in costs if is_paid(cost))
    in_money = is_known and any((cost.get("money") or 0) > 0 for cost in costs)
    points: list[dict[str, Any]] = []
    for i, label, row in _named(data):
        spent = row.entry["cost"]
        cost = (spent.get("money") or 0.0) if in_money else spent["embedded_per_document_token"]
        said = dollars(cost) if in_money else f"{cost:.2f} tokens embedded per token"
        points.append({"row": i, "label": label, "cost": cost, "said": said, "score": row.entry["score"]["mean"]})
    own = [p for p in points if not data.rows[p["row"]].entry["is_control"]]
    best = _frontier([(p["cost"], p["score"]) for p in own])
    efficient = {own[at]["row"] for at in best}
    for point in points:
        point["efficient"] = point["row"] in efficient
    rows = [
        [
            _word(p["label"]),
            money(p["cost"]) if in_money else number(p["cost"], 3),
            number(p["score"]),
            _word("yes" if p["efficient"] else "no"),
        ]
        for p in points
    ]
    against = _TOKENS if is_known else f"{_TOKENS} {_UNKNOWN}"
    note = f"{_DOLLARS if in_money else against} {_LINE}"
    columns = ("chunker", "cost" if in_money else "embedded/token", "score", "efficient")
    axis = {"x": "cost in US dollars" if in_money else "tokens embedded per token of the documents", "money": in_money}
    return Figure(
        "frontier", "frontier", "What does quality cost?", note,
        {"points": points, "measure": data.runs[0].leaderboard["measure"]} | axis,
        _table("quality-and-cost", "Score and cost", columns, rows),
    )  # fmt: skip


def _frontier(points: Sequence[tuple[float, float]]) -> set[int]:
    """Positions of the points (cost, score) that no other beats: higher at the same cost or below."""
    best, found = float("-inf"), set()
    for at in sorted(range(len(points)), key=lambda at: (points[at][0], -points[at][1])):
        if points[at][1] > best:
            best = points[at][1]
            found.add(at)
    return found


# ------------------------------------------------------------ questions


def _causes(data: DataSet) -> Figure | None:
    """How many questions each row missed, by cause; none where no run has diagnoses."""
    bars, rows = [], []
    found = {i: row.diagnosis["cause"].to_list() for i, _, row in _named(data) if row.diagnosis is not None}
    names = [cause for cause in CAUSES if any(cause in causes for causes in found.values())]
    for i, label, _ in _named(data):
        if i in found:
            counts = [found[i].count(cause) for cause in names]
            bars.append({"row": i, "counts": counts})
            rows.append([_word(label), *(number(n, 0) for n in counts), number(sum(counts), 0)])
    if not names:
        return _not_measured(data, "causes", "Why are questions missed?")
    note = (
        "Each miss under the first cause that holds. Of these, cut is the work of a boundary, truncated and too long "
        "that of the size, and outranked, wrong passage and wrong document that of the search."
    )
    heads = (Column("chunker"), *(Column(name, True, CAUSES[name]) for name in names), Column("all misses", True))
    return Figure(
        "causes", "causes", "Why are questions missed?", note, {"causes": names, "bars": bars},
        Table("causes-of-misses", "Questions missed, by cause", heads, tuple(map(tuple, rows))),
    )  # fmt: skip


def _heat(data: DataSet) -> Figure | None:
    if not data.questions:
        return None
    hits = np.array([hits_of(data, row) for row in data.rows], dtype=np.int8)
    questions, rows = clustered_order(hits.T), clustered_order(hits)
    own = hits[[not row.entry["is_control"] for row in data.rows]]
    always, never = int((own.min(axis=0) == 1).sum()), int((own.max(axis=0) == 0).sum())
    meant = " Hit: a chunk of a right document is among those delivered." if data.named_only else ""
    note = (
        f"Each column is a question, alike ones side by side: {always:,} of {len(data.questions):,} are hit by every "
        f"chunker, {never:,} by none; the others tell chunkers apart. A click opens a question. At the right: hits."
        f"{meant}"
    )
    return Figure(
        "heat", "heat", "Which questions are hit, by whom?", note, {"questions": questions, "rows": rows}, None
    )
