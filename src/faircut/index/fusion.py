"""Hybrid search: chunks ranked by vectors and by words in, one order of both out.

The two lists come from the indexes; how questions and chunks become vectors and weights is not known here.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from faircut.errors import SpecError
from faircut.index.bm25 import DEFAULT_BM25, Bm25
from faircut.index.contract import Positions, Scores
from faircut.index.rankings import Ranked, Searcher
from faircut.index.rows import empty_result, first_of, tie_ranks
from faircut.specs import spec_text

__all__ = ["Rrf", "ZScore"]

_DEPTH = 256  # hits of each list that are looked at first

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Rrf:
    """Vectors and words, by reciprocal rank fusion: the sum of 1 / (k + rank) in both lists.

    The first ``depth`` chunks of each list count; a chunk that is missing in one gets nothing from it, and one that is
    missing in both is not found (Cormack, Clarke and Buettcher, Reciprocal Rank Fusion, SIGIR 2009, with their k of 60
    and depth of 1,000). Equal sums are ordered as in every index.

    Raises:
        SpecError: k is negative, the depth below 1, or ``lexical`` no BM25.
    """

    name: ClassVar[str] = "rrf"
    __str__ = spec_text

    k: int = 60
    depth: int = 1000
    lexical: Bm25 = DEFAULT_BM25

    def __post_init__(self) -> None:
        if self.k < 0 or self.depth < 1:
            raise SpecError(f"rrf needs k of 0 or more and depth of 1 or more, found k={self.k}, depth={self.depth}.")
        _check_lexical(self.name, self.lexical)

    def searcher(self, vectors: Ranked, words: Ranked) -> Searcher:
        """The fused order of two lists over the same chunks."""
        return _ByRanks(self, vectors, words, tie_ranks(vectors.chunks))


@dataclass(frozen=True)
class ZScore:
    """Vectors and words, by the sum of their z-scores.

    Each score minus its mean, over its deviation, both over all chunks that the question may see (all of its document
    when it is limited to one), so chunks without a common word count with their 0. A score that is the same for all
    chunks adds nothing. Every chunk is ranked. Also known as score fusion by standardisation (Fox and Shaw's CombSUM,
    1994, over z-scores: Montague and Aslam, Relevance Score Normalization for Metasearch, 2001).

    Raises:
        SpecError: ``lexical`` is no BM25.
    """

    name: ClassVar[str] = "zscore"
    __str__ = spec_text

    lexical: Bm25 = DEFAULT_BM25

    def __post_init__(self) -> None:
        _check_lexical(self.name, self.lexical)

    def searcher(self, vectors: Ranked, words: Ranked) -> Searcher:
        """The fused order of two lists over the same chunks."""
        return _ByZScores(vectors, words, tie_ranks(vectors.chunks))


def _check_lexical(name: str, lexical: object) -> None:
    if not isinstance(lexical, Bm25):
        raise SpecError(f"{name}: lexical must be a bm25 such as bm25(b=0.5), found {lexical}.")


@dataclass(frozen=True, eq=False)
class _ByRanks:
    spec: Rrf
    vectors: Ranked
    words: Ranked
    ranks: Positions

    def search(self, rows: Positions, k: int) -> tuple[Positions, Scores]:
        """As ``Searcher.search``."""
        positions, scores = empty_result(len(rows), k)
        depth = min(self.spec.depth, max(len(self.ranks), 1))  # a larger one would be padding only
        lists = [ranked.search(rows, depth)[0] for ranked in (self.vectors, self.words)]
        shares = 1 / (self.spec.k + np.arange(1, depth + 1))
        for at, both in enumerate(zip(*lists, strict=True)):
            candidates = np.unique(np.concatenate([one[one >= 0] for one in both]))
            total = np.zeros(len(candidates))
            for one in both:
                found = one[one >= 0]
                total[np.searchsorted(candidates, found)] += shares[: len(found)]
            chosen, best = first_of(candidates, total.astype(np.float32), self.ranks, k)
            positions[at, : len(chosen)], scores[at, : len(chosen)] = chosen, best
        return positions, scores


@dataclass(frozen=True, eq=False)
class _ByZScores:
    """Exact without scoring every chunk: both lists are read until no chunk below can reach the k-th sum (the threshold
    algorithm of Fagin, Lotem and Naor, 2001).
    """

    vectors: Ranked
    words: Ranked
    ranks: Positions

    def search(self, rows: Positions, k: int) -> tuple[Positions, Scores]:
        """As ``Searcher.search``."""
        positions, scores = empty_result(len(rows), k)
        waiting, depth = np.arange(len(rows)), min(max(_DEPTH, 2 * k), len(self.ranks))
        while len(waiting):
            near, dense = self.vectors.search(rows[waiting], depth)
            wordy, lexical = self.words.search(rows[waiting], depth)
            late = []
            for at, *lists in zip(waiting.tolist(), near, wordy, strict=True):
                candidates = np.unique(np.concatenate([one[one >= 0] for one in lists]))
                sums = self._sums(int(rows[at]), candidates)
                chosen, best = first_of(candidates, sums, self.ranks, k)
                positions[at, : len(chosen)], scores[at, : len(chosen)] = chosen, best
            for place, at in enumerate(waiting.tolist()):
                ended = depth >= len(self.ranks) or bool((near[place] < 0).any())
                if not ended and not self._is_settled(int(rows[at]), dense[place], lexical[place], scores[at]):
                    late.append(at)
            waiting, depth = np.array(late, dtype=np.int64), min(2 * depth, len(self.ranks))
        return positions, scores

    def _sums(self, row: int, candidates: Positions) -> Scores:
        """The sums of one question for these chunks."""
        return self._fused(row, self.vectors.scores(row, candidates), self.words.scores(row, candidates))

    def _fused(self, row: int, dense: Scores, lexical: Scores) -> Scores:
        total: Values = np.zeros(len(dense))
        for scores, (mean, deviation) in ((dense, self.vectors.spread(row)), (lexical, self.words.spread(row))):
            if deviation:
                total += (scores.astype(np.float64) - mean) / deviation
        return total.astype(np.float32)

    def _is_settled(self, row: int, dense: Scores, lexical: Scores, best: Scores) -> bool:
        """Whether the k-th sum lies above what a chunk that is in neither list can have."""
        last = np.maximum(lexical[-1:], np.float32(0))  # the padding of a list that ended: what is left scores 0
        return bool(best[-1] > self._fused(row, dense[-1:], last)[0])
