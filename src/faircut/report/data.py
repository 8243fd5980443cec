"""What a report shows, as plain dataclasses: a leaderboard's dictionary in, rows with verdicts in words out.

Numbers stay numbers here; how they are laid out is left to ``terminal.py`` and the pages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from faircut.questions.document_level import why_no_places
from faircut.questions.native import about_smoke_tests
from faircut.report.money import cheapness, is_paid
from faircut.report.of_a_model import is_idle

__all__ = ["ControlLine", "Line", "Results", "label_of", "results_of"]


@dataclass(frozen=True)
class Line:
    """One row of the leaderboard. Sizes and budgets are in budget tokens, times in seconds, money in US dollars.

    Money is None where a price is unknown; ``is_paid`` says whether there is any in the row. ``cheapness`` orders rows.
    ``llm_seconds`` is None where a cache gave answers. ``integrity_note`` is what must be read of ``integrity``:
    defects, or a language model that gave little that is used; else empty.
    """

    row: str
    mean: float
    low: float
    high: float
    is_baseline: bool
    is_control: bool
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    p_holm: float | None
    verdict: str
    tokens: float | None
    recall_at_5: float | None
    tokens_at_5: float | None
    chunks: int
    size_p5: float
    size_median: float
    size_p95: float
    cutting_seconds: float
    embedding_seconds: float | None
    embedded_per_token: float
    integrity_ok: bool
    integrity: str
    integrity_note: str
    curve: tuple[tuple[int, float], ...]
    beside: tuple[tuple[str, float, str], ...]
    smallest_detectable: float | None
    questions_needed: int | None
    embedded_tokens: int
    embedding_money: float | None
    llm_tokens: int | None
    llm_seconds: float | None
    llm_money: float | None
    money: float | None
    is_paid: bool
    cheapness: tuple[float, ...]


@dataclass(frozen=True)
class ControlLine:
    """A chunker against its own size-matched control."""

    row: str
    difference: float
    low: float
    high: float
    p_holm: float
    verdict: str


@dataclass(frozen=True)
class Results:
    """A comparison as it is shown. ``label`` is what must stand above the verdict: that it is a smoke test."""

    run: str
    measure: str
    baseline: str
    questions: int
    documents: int
    unit: str
    lines: tuple[Line, ...]
    controls: tuple[ControlLine, ...]
    sentence: str
    notes: tuple[str, ...]
    label: str = ""


def results_of(leaderboard: Mapping[str, Any]) -> Results:
    """The results in a leaderboard (``leaderboard.json``)."""
    lines = tuple(_line(row, leaderboard["shown_beside"]) for row in leaderboard["rows"])
    unit = _unit(leaderboard)
    return Results(
        run=leaderboard["run"],
        measure=leaderboard["measure"],
        baseline=leaderboard["baseline"],
        questions=leaderboard["questions"],
        documents=leaderboard["corpus"]["documents"],
        unit=unit,
        lines=lines,
        controls=tuple(_control(c) for c in leaderboard["controls"]),
        sentence=_sentence(leaderboard, lines),
        notes=tuple(_notes(leaderboard, lines)),
        label=label_of(leaderboard.get("smoke_tests", 0), leaderboard["questions"]),
    )


_COUNTS_CHUNKS = (
    "What is measured instead counts chunks of any size and rewards small pieces: look at the tokens beside it."
)


def label_of(smoke_tests: int, questions: int) -> str:
    """What stands above a verdict on questions of which some were made without a model or a person; else empty."""
    return f"SMOKE TEST: {about_smoke_tests(smoke_tests, questions)}" if smoke_tests else ""


def _beside(found: Mapping[str, Any], name: str) -> tuple[str, float, str]:
    """A measure's name, its mean, and the verdict by it where there is one."""
    return name, found["mean"], found.get("verdict", "")


def _line(row: Mapping[str, Any], shown: Sequence[str]) -> Line:
    contrast, cost, at_5 = row["contrast"] or {}, row["cost"], row["beside"].get("recall@5")
    return Line(
        row=row["row"],
        mean=row["score"]["mean"],
        low=row["score"]["low"],
        high=row["score"]["high"],
        is_baseline=row["is_baseline"],
        is_control=row["is_control"],
        difference=contrast.get("difference"),
        difference_low=contrast["interval"]["low"] if contrast else None,
        difference_high=contrast["interval"]["high"] if contrast else None,
        p_holm=contrast.get("p_holm"),
        verdict="baseline" if row["is_baseline"] else contrast["verdict"],
        tokens=row["tokens_per_question"],
        recall_at_5=at_5["mean"] if at_5 else None,
        tokens_at_5=row["tokens_at"].get("5"),
        chunks=row["chunks"],
        size_p5=row["size"]["p5"],
        size_median=row["size"]["median"],
        size_p95=row["size"]["p95"],
        cutting_seconds=cost["cutting_seconds"],
        embedding_seconds=cost["embedding_seconds"],
        embedded_per_token=cost["embedded_per_document_token"],
        integrity_ok=row["integrity"]["ok"],
        integrity=row["integrity"]["words"],
        integrity_note=integrity_note(row["integrity"]),
        curve=tuple((int(budget), value) for budget, value in row["curve"].items()),
        beside=tuple(_beside(row["beside"][name], name) for name in shown),
        smallest_detectable=contrast.get("smallest_detectable"),
        questions_needed=contrast.get("questions_needed"),
        embedded_tokens=cost["embedded_tokens"],
        embedding_money=cost.get("embedding_money"),
        llm_tokens=cost["llm_prompt_tokens"] + cost["llm_completion_tokens"] if "llm_requests" in cost else None,
        llm_seconds=cost.get("llm_seconds"),
        llm_money=cost.get("llm_money"),
        money=cost.get("money"),
        is_paid=is_paid(cost),
        cheapness=cheapness(cost, row["chunks"]),
    )


def integrity_note(found: Mapping[str, Any]) -> str:
    """The words of an integrity that somebody must read; empty where all is well."""
    return "" if found["ok"] and not is_idle(found) else str(found["words"])


def _control(control: Mapping[str, Any]) -> ControlLine:
    interval = control["interval"]
    return ControlLine(
        control["name"],
        control["difference"],
        interval["low"],
        interval["high"],
        control["p_holm"],
        control["verdict"],
    )


def _unit(leaderboard: Mapping[str, Any]) -> str:
    """What the tests flip and the intervals resample; empty when there is nothing to compare."""
    return str(leaderboard["planned"]["unit"]) if leaderboard["planned"] else ""


def _sentence(leaderboard: Mapping[str, Any], lines: tuple[Line, ...]) -> str:
    """The verdict in a sentence."""
    if len(lines) < 2:
        return f"{lines[0].row} scores {lines[0].mean:.3f}; there is nothing to compare it with."
    groups = {kind: [x.row for x in lines if x.verdict == kind] for kind in ("better", "worse", "equivalent")}
    unseen = [x.row for x in lines if x.verdict == "no measured difference"]
    parts = [f"{_names(rows)} {_is(rows)} {kind}" for kind, rows in groups.items() if rows]
    if unseen:
        parts.append(f"for {_names(unseen)} no difference was measured")
    said = f"Against {leaderboard['baseline']} by {leaderboard['measure']}: {'; '.join(parts)}."
    return f"{said} {_advice(lines)}"


def _names(rows: list[str]) -> str:
    return rows[0] if len(rows) == 1 else f"{', '.join(rows[:-1])} and {rows[-1]}"


def _is(rows: list[str]) -> str:
    return "is" if len(rows) == 1 else "are"


def _advice(lines: tuple[Line, ...]) -> str:
    """What follows: the best of those that are better, else the cheapest of those that are not worse.

    Text that the embedder never read costs nothing, so rows with defects count only where there are no others.
    """
    own = [x for x in lines if not x.is_control]
    better = [x for x in own if x.verdict == "better"]
    if better:
        return f"The highest of those that are better is {better[0].row}."
    equals = [x for x in own if x.verdict in ("equivalent", "baseline", "no measured difference")]
    cheapest = min([x for x in equals if x.integrity_ok] or equals, key=lambda x: x.cheapness)
    return f"None is better than the baseline; the cheapest of those not shown to be worse is {cheapest.row}."


def _notes(leaderboard: Mapping[str, Any], lines: tuple[Line, ...]) -> list[str]:
    named = leaderboard.get("document_level", 0)
    notes = [why_no_places(named, leaderboard["questions"]), _COUNTS_CHUNKS] if named else []
    notes += leaderboard.get("measure_notes", [])
    notes += _left_out(leaderboard)
    if any(x.verdict == "no measured difference" for x in lines):
        sizes = [x for x in lines if x.verdict == "no measured difference" and x.smallest_detectable]
        if sizes:
            worst = max(sizes, key=lambda x: x.smallest_detectable or 0)
            notes.append(
                f"Smallest difference that these questions could show (80 % power): {worst.smallest_detectable:.3f}; "
                f"for {leaderboard['band']:g} about {worst.questions_needed:,} questions would be needed."
            )
    unanswered = [f"{r['row']} {r['unanswered']}" for r in leaderboard["rows"] if r["unanswered"]]
    if unanswered:
        notes.append(f"Questions without any result, scored 0: {', '.join(unanswered)}.")
    notes += _underfilled(leaderboard)
    overlong = [f"{r['row']} {n:,}" for r in leaderboard["rows"] if (n := r["cost"]["overlong_for_cutting"])]
    if overlong:
        notes.append(f"Sentences whose end the embedder did not see while cutting: {', '.join(overlong)}.")
    if leaderboard["planned"] and leaderboard["planned"]["unit"] == "question":
        notes.append("Evidence in fewer than 20 documents: questions are taken as independent, which is optimistic.")
    notes += _alike(leaderboard)
    notes += _retrieval(leaderboard)
    unsure = [x.row for x in lines if x.verdict == "no measured difference" and (x.p_holm or 1) < leaderboard["alpha"]]
    if unsure:
        notes.append(
            f"p of {_names(unsure)} is below {leaderboard['alpha']:g}, but too near to it for the number of flips, or "
            "the 95 % interval holds 0: no winner is named."
        )
    return notes


_NAMED = 20
"""What is left out is named up to here; ``leaderboard.json`` and the report name all."""


def _left_out(leaderboard: Mapping[str, Any]) -> list[str]:
    """The documents that could not be read, each with the reason, and the questions that went with them."""
    left = leaderboard.get("left_out") or {"documents": [], "questions": []}
    documents, questions = left["documents"], left["questions"]
    notes = []
    if documents:
        total = leaderboard["corpus"]["documents"] + len(documents)
        told = [f"{one['document']} ({one['reason'].removesuffix('.')})" for one in documents]
        notes.append(f"{len(documents):,} of {total:,} documents could not be read and are left out: {_first(told)}.")
    if questions:
        total = leaderboard["questions"] + len(questions)
        notes.append(
            f"{len(questions):,} of {total:,} questions are left out, their evidence is in those: {_first(questions)}."
        )
    return notes


def _first(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more (leaderboard.json names all)" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def _alike(leaderboard: Mapping[str, Any]) -> list[str]:
    """Where nothing can differ because the documents are too short to be cut, or two chunkers cut alike."""
    notes, documents = [], leaderboard["corpus"]["documents"]
    own = [row for row in leaderboard["rows"] if not row["is_control"]]
    whole = [row for row in leaderboard["rows"] if 2 * row["uncut_documents"] > documents]
    is_short = len(own) > 1 and all(row in whole for row in own)
    for row in leaderboard["rows"]:
        if row in whole:
            shown = f"{row['uncut_documents']:,} of {documents:,} documents"
            why = "they are too short to tell chunkers apart" if is_short else "it did not cut them"
            notes.append(f"{row['row']} left {shown} in one chunk: {why}.")
        if row["same_chunks_as"]:
            notes.append(f"{row['row']} made the same chunks as {', '.join(row['same_chunks_as'])}.")
    return notes


def _retrieval(leaderboard: Mapping[str, Any]) -> list[str]:
    """How chunks were found and what was delivered, where that is not the default."""
    defaults = {"search": "dense", "deliver": "chunk", "best_sentence": False}
    found = {key: leaderboard.get(key, default) for key, default in defaults.items()}
    shown = [f"{key}={str(value).lower()}" for key, value in found.items() if value != defaults[key]]
    return [f"For all rows: {', '.join(shown)}."] if shown else []


def _underfilled(leaderboard: Mapping[str, Any]) -> list[str]:
    """Where a corpus (or the one document searched) holds less than the budget, the score says little."""
    cut = leaderboard["measure"].partition("@")[2]
    short = max((r["underfilled"].get(cut, 0) for r in leaderboard["rows"]), default=0)
    if not short:
        return []
    total = leaderboard["questions"]
    return [f"For up to {short:,} of {total:,} questions all that may be searched is less than @{cut}; they tell less."]
