"""The order in which a heat map is read: patterns in, positions with alike patterns side by side out."""

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

__all__ = ["clustered_order"]

_LARGEST = 2000  # patterns that are compared pair by pair; beyond, they are sorted by how much they hold


def clustered_order(patterns: NDArray[np.int8]) -> list[int]:
    """Positions of the rows of ``patterns`` ``(n, m)``, those with the most ones first, alike ones side by side.

    Average linkage on the Hamming distance of the different patterns (scipy), each pattern weighing once.
    """
    places: dict[bytes, list[int]] = defaultdict(list)
    for place, pattern in enumerate(patterns):
        places[pattern.tobytes()].append(place)
    groups = sorted(places.values(), key=lambda group: (-int(patterns[group[0]].sum()), group[0]))
    if 2 < len(groups) <= _LARGEST:
        groups = [groups[at] for at in _leaves(patterns[[group[0] for group in groups]])]
    if int(patterns[groups[0][0]].sum()) < int(patterns[groups[-1][0]].sum()):
        groups.reverse()
    return [place for group in groups for place in group]


def _leaves(patterns: NDArray[np.int8]) -> list[int]:
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import pdist

    # Distances are made here: scipy warns of square patterns that look as if they were distances already.
    apart = pdist(patterns.astype(np.float64), "hamming")
    tree = linkage(apart, "average", optimal_ordering=len(patterns) <= 300)
    return [int(leaf) for leaf in leaves_list(tree)]
