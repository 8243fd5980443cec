"""The verdict in sentences that need no glossary: a leaderboard in, a headline and a few sentences out.

What is said follows from the verdicts and intervals of the leaderboard; nothing is decided here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from faircut.report.data import results_of
from faircut.report.money import cheapness
from faircut.text.percent import percent, points

__all__ = ["Verdict", "verdict_of"]


@dataclass(frozen=True)
class Verdict:
    """``headline``: one sentence to remember. ``sentences``: why, how sure, what to do. ``notes``: what limits it.
    ``label`` must stand above them: that it is a smoke test.
    """

    headline: str
    sentences: tuple[str, ...]
    notes: tuple[str, ...]
    label: str = ""


def verdict_of(leaderboard: Mapping[str, Any]) -> Verdict:
    """The verdict on one run."""
    results = results_of(leaderboard)
    notes, label = results.notes, results.label
    rows = leaderboard["rows"]
    if len(rows) < 2:
        return Verdict(f"{rows[0]['row']} was measured alone.", (_score(leaderboard, rows[0]),), notes, label)
    own = [r for r in rows if not r["is_control"]]
    better = [r for r in own if _verdict(r) == "better"]
    headline, why = _won(leaderboard, better) if better else _level(leaderboard, own)
    said = *why, *_unread(leaderboard, own), *_others(own, better), *_places(leaderboard), _detectable(leaderboard)
    return Verdict(headline, said, notes, label)


def _verdict(row: Mapping[str, Any]) -> str:
    return "baseline" if row["is_baseline"] else str(row["contrast"]["verdict"])


def _name(row: Mapping[str, Any]) -> str:
    return str(row["row"]).removeprefix("minilm::")


def _score(leaderboard: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    mean, low, high = (percent(row["score"][name]) for name in ("mean", "low", "high"))
    return f"The {_subject(leaderboard)} is {mean} (95 % interval {low} to {high})."


def _subject(leaderboard: Mapping[str, Any]) -> str:
    """What the deciding measure measures, in words."""
    kind, _, cut = str(leaderboard["measure"]).partition("@")
    place = f"{int(cut[:-1]):,} tokens of context" if cut.endswith("t") else f"the first {cut} chunks"
    words = {
        "recall": f"share of the evidence found within {place}",
        "hit": f"share of questions answered within {place}",
        "full": f"share of questions with all their evidence within {place}",
        "precision": f"share of {place} that is evidence",
        "document_recall": f"share of the right documents with a chunk among {place}",
        "context_precision": f"share of {place} that come from a right document",
    }
    return words.get(kind, f"score by {leaderboard['measure']}")


def _points(difference: float) -> str:
    size = points(abs(difference), 0 if abs(difference) >= 0.0095 else 1).removeprefix("+")
    return f"{size} point{'' if size == '1' else 's'}"


def _won(leaderboard: Mapping[str, Any], better: Sequence[Mapping[str, Any]]) -> tuple[str, list[str]]:
    best, base = better[0], next(r for r in leaderboard["rows"] if r["is_baseline"])
    found = best["contrast"]
    headline = f"How you cut matters here: {_name(best)} beats {_name(base)}."
    why = (
        f"The {_subject(leaderboard)} is {percent(best['score']['mean'])} with {_name(best)} and "
        f"{percent(base['score']['mean'])} with the baseline {_name(base)}: {_points(found['difference'])} more, and "
        f"that is beyond chance (95 % interval {points(found['interval']['low'])} to "
        f"{points(found['interval']['high'])} points)."
    )
    return headline, [why]


def _level(leaderboard: Mapping[str, Any], own: Sequence[Mapping[str, Any]]) -> tuple[str, list[str]]:
    base = next(r for r in leaderboard["rows"] if r["is_baseline"])
    usable = [r for r in own if _verdict(r) in ("equivalent", "baseline", "no measured difference")]
    sound = [r for r in usable if r["integrity"]["ok"]] or usable  # what the embedder never read costs nothing
    cheapest = min(sound, key=lambda r: cheapness(r["cost"], r["chunks"]))
    if all(_verdict(r) in ("equivalent", "baseline") for r in usable):
        headline = f"It makes no difference that matters: take the cheapest, {_name(cheapest)}."
    else:
        headline = f"Nothing is shown to beat {_name(base)}; the cheapest not shown to be worse is {_name(cheapest)}."
    means = [r["score"]["mean"] for r in own]
    own_mean, low, high = map(percent, (base["score"]["mean"], min(means), max(means)))
    others = f"between {low} and {high} over all" if low != high else f"{high} with every other, rounded"
    return headline, [f"The {_subject(leaderboard)} is {own_mean} with the baseline {_name(base)} and {others}."]


def _others(rows: Sequence[Mapping[str, Any]], better: Sequence[Mapping[str, Any]]) -> list[str]:
    groups = {
        "Also better than the baseline": [_name(r) for r in better[1:]],
        "Worse than the baseline": [_name(r) for r in rows if _verdict(r) == "worse"],
        "Equivalent to it": [_name(r) for r in rows if _verdict(r) == "equivalent"],
        "No difference was measured for": [_name(r) for r in rows if _verdict(r) == "no measured difference"],
    }
    return [f"{words}: {', '.join(names)}." for words, names in groups.items() if names]


def _places(leaderboard: Mapping[str, Any]) -> list[str]:
    """Whether the places of the boundaries count or only the sizes, where the run has controls."""
    found = leaderboard["controls"]
    shown = [_name({"row": c["name"]}) for c in found if c["verdict"] == "better"]
    open_ones = [_name({"row": c["name"]}) for c in found if c["verdict"] != "better"]
    said = [f"The places of the boundaries count for {_listed(shown)}: better than the same sizes cut elsewhere."]
    rest = [
        f"For {_listed(open_ones)} it is not shown that the places of the boundaries count: "
        "the sizes alone may explain the score."
    ]
    return (said if shown else []) + (rest if open_ones else [])


def _unread(leaderboard: Mapping[str, Any], own: Sequence[Mapping[str, Any]]) -> list[str]:
    """Chunkers that are judged by the beginnings of their chunks, because the embedder reads no further."""
    total = leaderboard["corpus"].get("tokens") or 0
    unseen = [(_name(r), r["integrity"].get("unseen_tokens") or 0) for r in own]
    names = [f"{name} ({_share(tokens, total)})" if total else name for name, tokens in unseen if tokens]
    if not names:
        return []
    return [f"Some chunks are longer than the embedder reads. Text that it never saw: {', '.join(names)}."]


def _share(part: int, total: int) -> str:
    return percent(part / total) if 200 * part >= total else "under 1 %"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""


def _detectable(leaderboard: Mapping[str, Any]) -> str:
    """The smallest difference that these questions could have shown: of the rows where it matters, else as planned."""
    open_rows = [r["contrast"] for r in leaderboard["rows"] if r["contrast"]]
    unseen = [c for c in open_rows if c["verdict"] == "no measured difference" and c["smallest_detectable"]]
    size = max((c["smallest_detectable"] for c in unseen), default=None)
    if size is None and leaderboard["planned"]:
        size = leaderboard["planned"]["smallest_difference"]
    questions = f"these {leaderboard['questions']:,} questions"
    if size is None:
        return f"With {questions}, no difference could have been shown; ask more of them."
    return f"With {questions}, a difference below {_points(size)} would most likely have gone unseen (80 % power)."
