"""What a ranking repeats: ranked passages in, the same ranking with its repeated text taken out.

Text is repeated when an earlier passage delivered the same place, or nearly the same words from another place. Whether
the evidence would have been reached without it is asked in ``diagnosis.py``.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from faircut.evaluation.context import Passage, TokenIndexOf
from faircut.evaluation.intervals import Range, length, overlap, union

__all__ = ["REPEATED", "Repeat", "without_repeats"]

REPEATED = 0.8
"""The share of a passage that makes it a repetition: of its characters by place, or of its runs of five words."""

_RUN = 5
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Repeat:
    """A passage of which a part was delivered before.

    Attributes:
        rank: where it stands in the ranking, from 1.
        share: how much of it was delivered before, in characters by place or in runs of words, the larger.
        tokens: budget tokens that its repeated text cost.
    """

    rank: int
    share: float
    tokens: int


def without_repeats(
    passages: Sequence[Passage], token_index: TokenIndexOf, *, keep: Collection[int] = ()
) -> tuple[list[Passage], list[Repeat]]:
    """The ranking as it would be if nothing were delivered twice, and what was taken out.

    A passage of which ``REPEATED`` is repeated is dropped, from another one the places delivered before are taken out
    (not from a rewritten text, whose parts have no place).

    Args:
        passages: the ranking, best first.
        token_index: a document's exact token counts.
        keep: ranks from 0 that are never dropped for their words (those with the evidence); places are taken out still.
    """
    held: dict[str, list[Range]] = {}
    runs: set[int] = set()
    kept: list[Passage] = []
    repeats: list[Repeat] = []
    for rank, passage in enumerate(passages):
        own_runs = _runs(passage.text)
        by_words = len(own_runs & runs) / len(own_runs) if own_runs and rank not in keep else 0.0
        before = held.get(passage.document_id, [])
        left, by_place = _left(passage, before, token_index)
        if max(by_words, by_place) >= REPEATED:
            repeats.append(Repeat(rank + 1, max(by_words, by_place), passage.tokens))
            left = None
        elif left is not passage:
            repeats.append(Repeat(rank + 1, by_place, passage.tokens - left.tokens if left else passage.tokens))
        kept += [left] if left else []
        held[passage.document_id] = union([*before, *passage.ranges])
        runs |= own_runs
    return kept, repeats


def _left(passage: Passage, before: list[Range], token_index: TokenIndexOf) -> tuple[Passage | None, float]:
    """The passage without the places delivered before (None when nothing is left), and their share of it."""
    own = union(passage.ranges)
    repeated = overlap(own, before) / length(own)
    if not repeated or not passage.verbatim:
        return passage, repeated
    ranges = tuple(part for r in own for part in _outside(r, before))
    if not ranges:
        return None, repeated
    index = token_index(passage.document_id)
    tokens = passage.context_tokens + sum(index.count(start, end) for start, end in ranges)
    return replace(passage, ranges=ranges, tokens=tokens, characters=_characters(passage, ranges)), repeated


def _characters(passage: Passage, ranges: Sequence[Range]) -> int:
    return passage.context_characters + length(ranges)


def _outside(piece: Range, taken: Sequence[Range]) -> list[Range]:
    """The parts of a range that no range of a united list holds."""
    parts, start = [], piece[0]
    for a, b in taken:
        if b <= start:
            continue
        if a >= piece[1]:
            break
        parts += [(start, a)] if a > start else []
        start = b
    return [*parts, (start, piece[1])] if start < piece[1] else parts


@lru_cache(maxsize=4096)
def _runs(text: str) -> frozenset[int]:
    """Every run of five words by its hash, case aside; of a shorter text all its words. Kept: rankings share chunks."""
    words = _WORD.findall(text.casefold())
    last = max(len(words) - _RUN, 0)
    return frozenset(hash(tuple(words[at : at + _RUN])) for at in range(last + 1)) if words else frozenset()
