"""The two pages that are files: a report from run folders, and the cuts of documents without questions.

Runs or chunkers in, one HTML file out. How pages are put together is left to ``html.py``.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from faircut.errors import StoreError
from faircut.files import write_atomically
from faircut.records import Document
from faircut.report.figures import Figure, figures
from faircut.report.html import Part, packed, render
from faircut.report.payload import Lane, data_set_values, document_values, plain, question_values, row_lanes
from faircut.report.run_data import DataSet, data_sets, load_runs
from faircut.report.tables import (
    Table,
    integrity_table,
    leaderboard_table,
    left_out_tables,
    run_tables,
    stability_table,
)
from faircut.report.verdict import verdict_of

__all__ = ["render_report", "render_view", "write_report"]

_PACK = 200_000  # characters of text that lie in one part
_QUESTIONS = 50  # questions in one part


def write_report(folders: Sequence[Path], out: Path) -> Path:
    """Write the report of one or several runs.

    Raises:
        StoreError: a folder is no finished run or is damaged, or the file cannot be written.
    """
    page = render_report(folders)
    write_atomically(out, lambda file: file.write(page.encode("utf-8", "replace")))
    return out


def render_report(folders: Sequence[Path]) -> str:
    """The report as HTML; runs on the same documents and questions share their tables and figures."""
    sets = [_controls_last(data) for data in data_sets(load_runs(folders))]
    parts: list[Part] = []
    shown: list[dict[str, Any]] = []
    for number, data in enumerate(sets):
        with _fitting(data):
            drawn = figures(data)
            parts += _parts(number, data, drawn)
            shown.append(_shown(number, data, drawn))
    names = [plain(run.name) for data in sets for run in data.runs]
    return render(
        "report.html",
        {"title": f"{', '.join(names)} · faircut", "sets": shown, "names": names},
        parts,
        ("table.js", "lanes.js", "documents.js", "plots.js", "questions.js", "report.js"),
        plots=True,
    )


def _controls_last(data: DataSet) -> DataSet:
    """The same rows, chunkers first: their letters and colours come first too, and controls stand apart."""
    return replace(data, rows=tuple(sorted(data.rows, key=lambda row: bool(row.entry["is_control"]))))


@contextmanager
def _fitting(data: DataSet) -> Iterator[None]:
    """Tables that do not fit together (a folder that was edited, or of another version) as one sentence."""
    from polars.exceptions import PolarsError

    try:
        yield
    except (LookupError, TypeError, ValueError, PolarsError) as error:
        folders = ", ".join(str(run.folder) for run in data.runs)
        raise StoreError(f"{folders}: the tables do not fit together ({error!r}); run the comparison again.") from error


def _shown(number: int, data: DataSet, drawn: Sequence[Figure]) -> dict[str, Any]:
    """What the template of the report shows of a data set."""
    tables: list[Table] = [integrity_table(data)]
    stability = stability_table(data)
    return {
        "number": number,
        "runs": data.runs,
        "verdicts": [verdict_of(run.leaderboard) for run in data.runs],
        "documents": len(data.documents),
        "characters": sum(len(d.text) for d in data.documents.values()),
        "questions": len(data.questions),
        "labels": [plain(label) for label in data.labels],
        "controls": [bool(row.entry["is_control"]) for row in data.rows],
        "leaderboard": leaderboard_table(data),
        "figures": drawn,
        "integrity": [*tables, *([stability] if stability else []), *left_out_tables(data)],
        "lost": _lost(data),
        "about": [run_tables(run) for run in data.runs],
    }


def _lost(data: DataSet) -> list[dict[str, Any]]:
    """The first places of the text that a row lost."""
    return [
        {"label": label, "document": plain(document), "start": start, "end": end}
        for label, row in zip(data.labels, data.rows, strict=True)
        for document, start, end in row.entry["integrity"]["lost_at"]
    ]


# ------------------------------------------------------------ parts


def _parts(number: int, data: DataSet, drawn: Sequence[Figure]) -> Iterator[Part]:
    documents = list(data.documents.values())
    packs = _packs([len(d.text) for d in documents])
    questions = [at // _QUESTIONS for at in range(len(data.questions))]
    yield packed(f"set-{number}", data_set_values(data, {"documents": packs, "questions": questions}))
    yield packed(f"figures-{number}", {f.id: {"kind": f.kind, "title": f.title} | dict(f.values) for f in drawn})
    lanes = [row_lanes(row, data.documents) for row in data.rows]
    values = (document_values(d, [lane[d.id] for lane in lanes]) for d in documents)
    yield from _grouped(f"documents-{number}", values, packs)
    yield from _grouped(f"questions-{number}", question_values(data), questions)


def _packs(sizes: Iterable[int]) -> list[int]:
    """For each document the number of its part: small ones together, so that there are few parts."""
    packs, pack, filled = [], 0, 0
    for size in sizes:
        if filled and filled + size > _PACK:
            pack, filled = pack + 1, 0
        packs.append(pack)
        filled += size
    return packs


def _grouped(name: str, values: Iterable[Any], packs: Sequence[int]) -> Iterator[Part]:
    """Values that lie in one part, under their positions."""
    held: dict[int, Any] = {}
    for at, (value, pack, following) in enumerate(zip_longest(values, packs, packs[1:])):
        held[at] = value
        if pack != following:
            yield packed(f"{name}-{pack}", held)
            held = {}


# ------------------------------------------------------------ documents without questions


def render_view(documents: Sequence[Document], lanes: Sequence[Sequence[Lane]], labels: Sequence[str]) -> str:
    """The cuts of documents, side by side.

    Args:
        documents: what was cut.
        lanes: for each document the lane of every chunker.
        labels: the names of the chunkers.
    """
    packs = _packs([len(d.text) for d in documents])
    overview = {
        "rows": [{"label": plain(label)} for label in labels],
        "documents": [
            {"id": plain(d.id), "title": plain(d.title), "characters": len(d.text), "pack": pack,
             "chunks": [len(lane.chunks) for lane in own]}
            for d, own, pack in zip(documents, lanes, packs, strict=True)
        ],
    }  # fmt: skip
    values = (document_values(d, own) for d, own in zip(documents, lanes, strict=True))
    parts = [packed("set-0", overview), *_grouped("documents-0", values, packs)]
    title = plain(documents[0].title or documents[0].id) if len(documents) == 1 else f"{len(documents)} documents"
    return render(
        "view.html",
        {"title": f"{title} · faircut"},
        parts,
        ("table.js", "lanes.js", "documents.js", "view.js"),
        plots=False,
    )
