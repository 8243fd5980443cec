"""What each hit brought where that is more than its chunk: a row and its plan in, the places that a page draws out.

The same walk that the scores are made of, over the chunks of the run folder, without its tokens. How the places are
drawn is left to ``questions.js``.
"""

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from faircut.evaluation.context import Passage
from faircut.evaluation.intervals import Range, union
from faircut.experiment.tables import chunks_from
from faircut.experiment.units import DELIVERIES, Units, WholeChunk, Window
from faircut.records import Document
from faircut.report.run_data import RowData
from faircut.text.contract import TokenCounter
from faircut.text.units import CharacterCounter

__all__ = ["Brought", "asked_delivery", "brought_by"]

Brought = Callable[[Sequence[int], int], list[list[Range]]]
"""The positions of a ranking, and how many of its hits were delivered; for each of those its places."""

_BUNDLED = "minilm"  # the one tokenizer that is always here; no other is fetched to draw a page


def asked_delivery(plan: str) -> str:
    """What a hit brings, as the plan names it, where that is not the chunk alone; else empty."""
    asked = str(tomllib.loads(plan).get("deliver", "chunk"))
    return "" if isinstance(DELIVERIES.build(asked), WholeChunk) else asked


def brought_by(row: RowData, plan: str, documents: Mapping[str, Document]) -> Brought | None:
    """How to find what a row's hits brought; None where it is the chunk, or the sections need a tokenizer elsewhere.

    Args:
        row: the row, its chunks in document order.
        plan: the plan of its run, as TOML.
        documents: by the ids that the row's tables have.
    """
    delivery, counter = DELIVERIES.build(asked_delivery(plan) or "chunk"), CharacterCounter()
    if isinstance(delivery, WholeChunk):
        return None
    budget = counter if isinstance(delivery, Window) else _budget(plan)
    if budget is None:
        return None
    chunks = chunks_from(row.chunks, dict(documents))
    passages = [Passage(c.document_id, tuple((s.start, s.end) for s in c.spans), 0, 0) for c in chunks]
    units = Units(chunks, passages, documents, budget, lambda document: counter.index(documents[document].text))
    return lambda positions, count: list(_places(delivery.walk(units, positions), count))


def _places(walk: Iterator[list[Passage]], count: int) -> Iterator[list[Range]]:
    for passages in islice(walk, count):
        yield union(place for passage in passages for place in passage.ranges)


def _budget(plan: str) -> TokenCounter | None:
    """The tokenizer that the run's sections were counted with, where it is the bundled one."""
    from faircut.embedding import EMBEDDERS

    if tomllib.loads(plan).get("budget_tokenizer", _BUNDLED) != _BUNDLED:
        return None
    counter: TokenCounter = EMBEDDERS.build(_BUNDLED).tokenizer
    return counter
