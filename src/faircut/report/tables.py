"""The tables of a report as plain values: runs in; captions, columns and cells out, each with the value behind it.

Cells sort and export by ``value``, people read ``text``. Markup is left to the templates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from faircut.evaluation.stability import SENTENCES
from faircut.llm.prices import dollars
from faircut.report.money import MEANING, is_paid
from faircut.report.of_a_model import is_asked, is_idle
from faircut.report.run_data import DataSet, RunData
from faircut.text.percent import percent

__all__ = [
    "Cell", "Column", "Table", "integrity_table", "leaderboard_table", "left_out_tables", "money", "number",
    "run_tables", "signed", "stability_table",
]  # fmt: skip


_T = TypeVar("_T")


@dataclass(frozen=True)
class Cell:
    """What is read, and what is sorted and exported. ``row`` is the number of a row whose colour and letter it bears;
    ``bar`` a mean with its interval, drawn on [0, 1]; ``tag`` a word behind the text that is not part of the value;
    ``below`` a second, smaller line that is none either.
    """

    text: str
    value: float | str | None
    tone: str = ""
    row: int | None = None
    bar: tuple[float, float, float] | None = None
    tag: str = ""
    below: str = ""


@dataclass(frozen=True)
class Column:
    """A column's name, whether it holds numbers, and what it means where the name does not say it."""

    name: str
    is_number: bool = False
    help: str = ""


@dataclass(frozen=True)
class Table:
    """A table; ``id`` is the stem of the files that it is saved as."""

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


def number(value: float | None, digits: int = 3) -> Cell:
    """A number as a cell; nothing where there is none."""
    return Cell("", None) if value is None else Cell(f"{value:,.{digits}f}", value)


def money(value: float | None) -> Cell:
    """Money as a cell; ``unknown`` where a price is."""
    return Cell(dollars(value), value)


def signed(value: float | None) -> Cell:
    """A difference as a cell, its sign always shown."""
    return Cell("", None) if value is None else Cell(f"{value:+.3f}".replace("-", "−"), value)


# ------------------------------------------------------------ the leaderboard


def leaderboard_table(data: DataSet) -> Table:
    """One line for every row of every run on these documents and questions."""
    measures = list(dict.fromkeys(run.leaderboard["measure"] for run in data.runs))
    shown = list(dict.fromkeys(m for run in data.runs for m in run.leaderboard["shown_beside"]))
    has_places = any("recall@5" in row.entry["beside"] for row in data.rows)
    paid = any(is_paid(row.entry["cost"]) for row in data.rows)
    columns = (
        Column("chunker", help="controls have a chunker's own chunk lengths in shuffled order, and never win"),
        Column(" / ".join(measures), True, "the measure that decides, from 0 to 1: more is better"),
        Column("95 % interval", help="of the measure, drawn from 0 to 1; overlap does not mean that nothing differs"),
        Column("difference", True, "paired, to the baseline of the run; below it, its own 95 % interval"),
        Column("p (Holm)", True, "of the difference, corrected for the number of rows compared"),
        Column("verdict", help="against the baseline, by a paired test"),
        *(Column(m, True) for m in shown),
        *_if(has_places, Column("recall@5", True, "at equal k, which favours large chunks: it decides nothing")),
        Column("tokens@5", True, "tokens that the first 5 chunks cost"),
        Column("chunks", True, "in the whole corpus"),
        Column("median tokens", True, "median size of the chunks"),
        Column("embedded/token", True, "tokens embedded per token of the documents, those for cutting included"),
        *([Column("cost", True, MEANING)] if paid else []),
        Column("integrity", help="too long: chunks of which the embedder reads only the beginning; see Integrity"),
    )
    rows = []
    for i, (label, row) in enumerate(zip(data.labels, data.rows, strict=True)):
        rows.append(_leaderboard_row(i, label, row.entry, shown, has_places=has_places, paid=paid))
    return Table("leaderboard", "Leaderboard: embedder and chunker, best first", columns, tuple(rows))


def _if(shown: bool, cell: _T) -> tuple[_T, ...]:
    """The column or cell of a column that only some tables have."""
    return (cell,) if shown else ()


def _leaderboard_row(
    i: int, label: str, entry: Mapping[str, Any], shown: Sequence[str], *, has_places: bool, paid: bool
) -> tuple[Cell, ...]:
    score, found = entry["score"], entry["contrast"] or {}
    verdict = "baseline" if entry["is_baseline"] else found.get("verdict", "")
    at_5 = entry["beside"].get("recall@5", {}).get("mean")
    mean = (score["mean"], score["low"], score["high"])
    return (
        Cell(label, entry["row"], row=i, tag="control" if entry["is_control"] else ""),
        number(score["mean"]),
        Cell(f"{score['low']:.3f} to {score['high']:.3f}", score["low"], bar=mean),
        _difference(found),
        number(found.get("p_holm"), 4),
        Cell(verdict, verdict, tone=verdict),
        *(number(entry["beside"].get(m, {}).get("mean")) for m in shown),
        *_if(has_places, number(at_5)),
        number(entry["tokens_at"].get("5"), 0),
        number(entry["chunks"], 0),
        number(entry["size"]["median"], 0),
        number(entry["cost"]["embedded_per_document_token"], 2),
        *([money(entry["cost"].get("money"))] if paid else []),
        _integrity(entry["integrity"]),
    )


def _difference(found: Mapping[str, Any]) -> Cell:
    """The difference to the baseline with its own interval; nothing for the baseline itself."""
    if not found:
        return number(None)
    low, high = (signed(found["interval"][end]).text for end in ("low", "high"))
    return replace(signed(found["difference"]), below=f"{low} to {high}")


def _integrity(found: Mapping[str, Any]) -> Cell:
    if found["ok"] and is_idle(found):
        left = (found.get("model_fallbacks") or 0) + (found.get("uncited") or 0)
        return Cell(f"model: {percent(1 - left / found['model_asked'])} used", found["words"], "defect")
    if found["ok"]:
        return Cell("ok", found["words"], "ok")
    too_long, others = found.get("beyond_limit"), ("lost", "offsets_wrong", "out_of_order", "blank", "over_ceiling")
    only = too_long and not any(found.get(name) for name in others)
    return Cell(f"{too_long:,} too long" if only else "defects", found["words"], "defect")


# ------------------------------------------------------------ integrity

_COUNTS = (
    ("lost", "characters in no chunk"),
    ("duplicated", "characters in a further chunk, as overlap is meant to do"),
    ("out_of_order", "chunks that begin before the one before them"),
    ("offsets_wrong", "chunks whose text is not the document's at their spans"),
    ("blank", "chunks of white space only"),
    ("over_ceiling", "chunks larger than their chunker promises"),
    ("beyond_limit", "chunks longer than the embedder reads"),
    ("unseen_tokens", "tokens of them that it does not read"),
    ("tables_cut", "tables that no chunk holds whole"),
    ("code_cut", "code blocks that no chunk holds whole"),
    ("begin_inside_sentence", "chunks that begin inside a sentence"),
    ("headings_orphaned", "chunks that end with a heading whose text comes after"),
)
_OF_A_MODEL = (
    ("model_asked", "sentences, windows or chunks that a language model was asked about"),
    ("model_fallbacks", "of them, those without a usable answer, cut or kept by rule"),
    ("statements", "that the model wrote"),
    ("unfaithful", "statements with a word or number that is not in their sources, which stand instead"),
    ("uncited", "sentences that are in no statement and stand for themselves"),
    ("rewritten", "chunks with text of the model"),
)


def integrity_table(data: DataSet) -> Table:
    """What the cutting lost, repeated, broke or made too long, and what became of a language model's answers."""
    asked = any(is_asked(row.entry["integrity"]) for row in data.rows)
    counted = (*_COUNTS, *(_OF_A_MODEL if asked else ()))
    columns = (
        Column("chunker"), Column("result", help="ok, or what is wrong in one phrase"),
        Column("characters", True, "of the documents that are not white space"),
        *(Column(name.replace("_", " "), True, meaning) for name, meaning in counted),
    )  # fmt: skip
    rows = []
    for i, (label, row) in enumerate(zip(data.labels, data.rows, strict=True)):
        found = row.entry["integrity"]
        counts = [number(found.get(name), 0) for name, _ in counted]
        rows.append((Cell(label, row.name, row=i), _integrity(found), number(found["characters"], 0), *counts))
    return Table("integrity", "Integrity of the cuts", columns, tuple(rows))


def left_out_tables(data: DataSet) -> list[Table]:
    """The documents that could not be read with the reason of each, and the questions that are left out for it."""
    left = [found for run in data.runs if (found := run.leaderboard.get("left_out"))]
    documents = dict.fromkeys((one["document"], one["reason"]) for found in left for one in found["documents"])
    questions = dict.fromkeys(question for found in left for question in found["questions"])
    tables = []
    if documents:
        rows = tuple((Cell(name, name), Cell(reason, reason)) for name, reason in documents)
        caption = "Documents that could not be read and are left out"
        tables.append(Table("left-out-documents", caption, (Column("document left out"), Column("reason")), rows))
    if questions:
        caption = "Questions that are left out because their evidence is in those documents"
        cells = tuple((Cell(question, question),) for question in questions)
        tables.append(Table("left-out-questions", caption, (Column("question left out"),), cells))
    return tables


_EDITS = ("replaced", "inserted", "removed")


def stability_table(data: DataSet) -> Table | None:
    """How many chunks change when one sentence is edited, where the runs have measured it."""
    found = [row.entry.get("stability") for row in data.rows]
    if not any(found):
        return None
    columns = (
        Column("chunker"), Column("documents", True, "the sample, beginnings of documents"),
        Column("chunks", True, "of a document, on average"),
        *(
            Column(f"{edit}{how}", True, f"chunks that change when a sentence is {edit}{words}")
            for edit in _EDITS
            for how, words in ((", mean", ", on average"), (", most", ", at worst"))
        ),
        Column("worst", True, "most chunks that one edit changed"),
    )  # fmt: skip
    rows = []
    for i, (label, row, one) in enumerate(zip(data.labels, data.rows, found, strict=True)):
        if one:
            rows.append((Cell(label, row.name, row=i), *_edits(one)))
    if not any(one["documents"] for one in found if one):
        columns, rows = (columns[0], Column("result")), [row[:2] for row in rows]
    caption = "Edit stability: chunks that change, and need new vectors, when one sentence is edited"
    return Table("edit-stability", caption, columns, tuple(rows))


def _edits(found: Mapping[str, Any]) -> tuple[Cell, ...]:
    """The numbers of one row; where no document was long enough no zeros, which would look perfect."""
    if not found["documents"]:
        unmeasured = Cell(f"not measured: no document with {SENTENCES} sentences or more", 0)
        return unmeasured, *[number(None)] * (2 + 2 * len(_EDITS))
    changes = [number(found[edit][what], n) for edit in _EDITS for what, n in (("mean", 1), ("worst", 0))]
    return number(found["documents"], 0), number(found["chunks"], 1), *changes, number(found["worst"], 0)


def _plain_cell(value: Any) -> Cell:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return Cell("" if value is None else str(value), None if value is None else str(value))
    return number(value, 0 if isinstance(value, int) else 3)


# ------------------------------------------------------------ the run


def run_tables(run: RunData) -> list[Table]:
    """What the run was made of: data and hashes, versions, and where its rows' tables lie."""
    m = run.manifest
    facts = {
        "faircut": m["faircut"], "code": m["code"], "python": m["python"], "system": " ".join(
            str(m["machine"][k]) for k in ("system", "architecture")), "processors": m["machine"]["processors"],
        "documents": m["corpus"]["documents"], "documents' hash": m["corpus"]["hash"],
        "characters": m["corpus"].get("characters"), "tokens": m["corpus"]["tokens"],
        "questions": m["questions"]["questions"], "questions' hash": m["questions"]["hash"],
        "budget counted by": m["budget_tokenizer"], "seed": m["seed"], "baseline": m["baseline"],
    }  # fmt: skip
    rates = {f"embedding rate of {k}, tokens a second": v for k, v in m["embedding_rates"].items() if v}
    packages = {name: v or "not installed" for name, v in m["packages"].items()}
    keys = [tuple(Cell(str(row[k]), str(row[k])) for k in ("row", "chunks", "hits", "scores")) for row in m["rows"]]
    return [
        _pairs("run", "What was compared", facts | rates),
        _pairs("versions", "Versions of the libraries", packages),
        Table("keys", "Keys of the tables in the run folder", tuple(map(Column, ("row", "chunks", "hits", "scores"))),
              tuple(keys)),
    ]  # fmt: skip


def _pairs(name: str, caption: str, pairs: Mapping[str, Any]) -> Table:
    rows = tuple((Cell(str(k), str(k)), _plain_cell(v)) for k, v in pairs.items())
    return Table(name, caption, (Column("what"), Column("value")), rows)
