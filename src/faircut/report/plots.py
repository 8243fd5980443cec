"""Plots of one line, for a terminal and for a notebook's table: numbers in, a few block characters out.

Where the terminal has no such characters, digits stand for them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path
from typing import Any

__all__ = ["Histograms", "chunk_sizes", "histograms", "sparkline"]

_BLOCKS = "▁▂▃▄▅▆▇█"
_STEPS = 2
"""Bins of a histogram for each doubling of the size."""


def sparkline(values: Iterable[float], *, top: float = 1.0, unicode: bool = True) -> str:
    """A character for each value between 0 and ``top``: blocks of eight heights, or digits where there are none.

    A value of exactly 0 is a blank (or a dot), so that a little can be told from nothing.
    """
    return "".join(_bar(value / top if top else 0.0, unicode=unicode) for value in values)


def _bar(share: float, *, unicode: bool) -> str:
    if share <= 0:
        return " " if unicode else "."
    return _BLOCKS[min(int(share * 8), 7)] if unicode else str(min(int(share * 10), 9))


@dataclass(frozen=True)
class Histograms:
    """The chunk sizes of all rows over the same bins, two for each doubling, from ``low`` to ``high`` tokens.

    ``shares``: for each row the share of its chunks in each bin.
    """

    low: int
    high: int
    shares: Mapping[str, tuple[float, ...]]

    def line(self, row: str, *, unicode: bool = True) -> str:
        """The histogram of a row; its highest bin is the full height."""
        shares = self.shares.get(row, ())
        return sparkline(shares, top=max(shares, default=0.0), unicode=unicode)


def histograms(sizes: Mapping[str, Sequence[int]]) -> Histograms | None:
    """Histograms over the bins that any row has chunks in; None where there are no chunks at all."""
    binned = {row: [_bin(size) for size in found] for row, found in sizes.items()}
    every = [at for row in binned.values() for at in row]
    if not every:
        return None
    first, last = min(every), max(every)
    shares = {row: tuple(_shares(found, first, last)) for row, found in binned.items()}
    return Histograms(round(2 ** (first / _STEPS)), round(2 ** ((last + 1) / _STEPS)), shares)


def _bin(size: int) -> int:
    return int(_STEPS * log2(max(size, 1)))


def _shares(found: Sequence[int], first: int, last: int) -> Iterable[float]:
    counts = [0] * (last - first + 1)
    for at in found:
        counts[at - first] += 1
    return (count / max(len(found), 1) for count in counts)


def chunk_sizes(folder: Path) -> dict[str, list[int]]:
    """The chunk sizes of every row of a run folder, in budget tokens.

    Raises:
        StoreError: the folder is not a finished run.
    """
    from faircut.experiment.store import RunStore

    store = RunStore(folder)
    rows: list[dict[str, Any]] = store.read_json("manifest.json")["rows"]
    return {row["row"]: store.read("chunks", row["chunks"])[0]["tokens"].to_list() for row in rows}
