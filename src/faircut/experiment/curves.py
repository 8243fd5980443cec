"""The similarity curves of chunkers that look at meaning: rows of a finished run in, one table for each such row out.

The curve is what a reader of the report sees beside the text. Vectors come from the run's cache; cutting is left to the
chunkers.
"""

from collections.abc import Iterable
from typing import Any

import polars as pl

from faircut.chunkers.contract import Models
from faircut.chunkers.cuts import SimilarityCurve
from faircut.experiment.stages import RowRun

__all__ = ["keep_curves"]

_SCHEMA: dict[str, Any] = {
    "document": pl.String,
    "positions": pl.List(pl.Int64),
    "similarities": pl.List(pl.Float64),
    "threshold": pl.Float64,
}


def keep_curves(rows: Iterable[RowRun]) -> None:
    """Write ``curves/<key of the chunks>.parquet`` for every row whose chunker has a ``curve``, once.

    A line a document: the offsets at which sentences begin, the cosine of each with the one before, the threshold
    below which the rule cuts (null where it has none).
    """
    for row in rows:
        key = row.keys.chunks
        curve_of = getattr(row.chunker, "curve", None)
        if curve_of is not None and not row.store.has("curves", key):
            models = Models.of(row.embedder)
            curves = {d.id: curve_of(d, models) for d in row.inputs.documents.values()}
            lines = [_line(document, curve) for document, curve in curves.items()]
            row.store.write("curves", key, pl.DataFrame(lines, schema=_SCHEMA), {"spec": str(row.chunker)})


def _line(document: str, curve: SimilarityCurve) -> dict[str, object]:
    return {
        "document": document.encode("utf-8", "replace").decode(),
        "positions": curve.positions.tolist(),
        "similarities": curve.similarities.tolist(),
        "threshold": curve.threshold,
    }
