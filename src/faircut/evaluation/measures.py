"""Measures as values: ``recall@1000t`` in, a ``Measure`` out, and the same text back from ``str``.

The text is the command line's argument, the plan's entry, the table's header and the dictionary's key.
What a measure computes is in ``metrics.py``.
"""

import re
from dataclasses import dataclass
from typing import Literal

from faircut.errors import MetricError, nearest

__all__ = ["KINDS", "MEASURES", "Cut", "Measure", "MeasureKind", "parse_measure"]


@dataclass(frozen=True, slots=True, order=True)
class Cut:
    """Where a reader's context ends: after ``amount`` chunks (``5``) or after ``amount`` tokens (``1000t``)."""

    amount: int
    unit: Literal["chunks", "tokens"] = "chunks"

    def __post_init__(self) -> None:
        if self.amount < 1:
            raise MetricError(f"a measure is taken at 1 chunk or 1 token at least, found @{self}.")

    def __str__(self) -> str:
        return f"{self.amount}t" if self.unit == "tokens" else str(self.amount)


@dataclass(frozen=True, slots=True)
class MeasureKind:
    """What ``faircut list`` says of a measure, and what may stand after its name."""

    name: str
    summary: str
    takes_tokens: bool = False
    takes_threshold: bool = False
    published_only: bool = False

    @property
    def form(self) -> str:
        """How the measure is written, for example ``recall@k, recall@Bt``."""
        name = f"{self.name}(threshold)" if self.takes_threshold else self.name
        return f"{name}@k, {name}@Bt" if self.takes_tokens else f"{name}@k"


_KINDS = (
    MeasureKind("recall", "share of the evidence's characters that the context holds", takes_tokens=True),
    MeasureKind("precision", "share of the delivered characters that are evidence", takes_tokens=True),
    MeasureKind("iou", "covered evidence over delivered characters plus evidence missed", takes_tokens=True),
    MeasureKind("f1", "harmonic mean of recall and precision, per question", takes_tokens=True),
    MeasureKind("hit", "1 when one piece of evidence is covered by at least 95 %", takes_tokens=True),
    MeasureKind("full", "1 when all of the evidence is covered", takes_tokens=True),
    MeasureKind("mrr", "1 / the smallest rank r at which hit@r is 1, 0 beyond k"),
    MeasureKind(
        "context_precision",
        "share of the chunks that come from a right document; rewards fragments",
        published_only=True,
    ),
    MeasureKind(
        "document_recall",
        "share of the right documents with a chunk among the first k; rewards fragments",
        published_only=True,
    ),
    MeasureKind(
        "document_mrr",
        "1 / the rank of the first chunk from a right document; rewards fragments",
        published_only=True,
    ),
    MeasureKind(
        "literal_hit",
        "1 when one chunk contains the text of one piece of evidence; rewards large chunks",
        published_only=True,
    ),
    MeasureKind(
        "semantic_hit",
        "1 when a chunk's cosine with the evidence's text reaches the threshold; accepts look-alikes",
        takes_threshold=True,
        published_only=True,
    ),
)

KINDS: dict[str, MeasureKind] = {kind.name: kind for kind in _KINDS}
"""Every measure by name. ``published_only``: for reproducing published comparisons."""

MEASURES: dict[str, str] = {kind.name: f"{kind.summary} ({kind.form})" for kind in _KINDS}
"""One line for each measure, as ``faircut list`` prints it."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure at one cut. ``parse_measure(str(m)) == m``.

    Raises:
        MetricError: the name is unknown, a budget in tokens or a threshold does not belong to this measure.
    """

    name: str
    cut: Cut
    threshold: float | None = None

    def __post_init__(self) -> None:
        if self.name not in MEASURES:
            raise MetricError(f"unknown measure {self.name!r}{nearest(self.name, sorted(MEASURES))}")
        kind = KINDS[self.name]
        if self.cut.unit == "tokens" and not kind.takes_tokens:
            raise MetricError(f"{self.name} counts ranks, not tokens: write {kind.form}, found @{self.cut}.")
        if kind.takes_threshold != (self.threshold is not None):
            problem = "needs" if kind.takes_threshold else "takes no"
            raise MetricError(f"{self.name} {problem} threshold: write {kind.form}.")
        if self.threshold is not None and not 0 < self.threshold <= 1:
            raise MetricError(f"{self.name}: the threshold is a cosine above 0 and up to 1, found {self.threshold:g}.")

    def __str__(self) -> str:
        return f"{self.name}@{self.cut}" if self.threshold is None else f"{self.name}({self.threshold!r})@{self.cut}"


_FORM = re.compile(r"(?P<name>[A-Za-z_]\w*)(?:\((?P<threshold>[^()]*)\))?@(?P<amount>\d{1,12})(?P<tokens>t?)", re.ASCII)
_NAME = re.compile(r"\w*", re.ASCII)


def parse_measure(text: str) -> Measure:
    """The measure that a text names: ``recall@5``, ``recall@1000t``, ``semantic_hit(0.7)@5``.

    Raises:
        MetricError: says what was found, the nearest name, and how measures are written.
    """
    match = _FORM.fullmatch(text.strip())
    if match is None:
        raise MetricError(_how_to_write(text.strip()))
    unit: Literal["chunks", "tokens"] = "tokens" if match["tokens"] else "chunks"
    return Measure(match["name"], Cut(int(match["amount"]), unit), _threshold(match["threshold"], text))


def _threshold(text: str | None, whole: str) -> float | None:
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        raise MetricError(f"cannot read the threshold {text!r} in {whole!r}: a number such as 0.7 is wanted.") from None


def _how_to_write(text: str) -> str:
    name = _NAME.match(text).group()  # type: ignore[union-attr]  # the empty string matches too
    if name not in MEASURES:
        return f"cannot read the measure {text[:60]!r}{nearest(name, sorted(MEASURES))}"
    return (
        f"cannot read the measure {text[:60]!r}: write {KINDS[name].form}, with k chunks or B tokens, such as {name}@5."
    )
