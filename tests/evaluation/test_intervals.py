"""Interval algebra against plain sets of positions."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from faircut.evaluation.intervals import intersection, length, overlap, union

ranges = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=8)


def positions(some):
    return {p for start, end in some for p in range(start, end)}


@given(ranges)
def test_a_union_holds_the_same_positions_once_sorted_and_with_gaps(some):
    united = union(some)
    assert positions(united) == positions(some)
    assert length(united) == len(positions(some))
    assert all(a[1] < b[0] for a, b in pairwise(united))


@given(ranges, ranges)
def test_an_intersection_holds_the_shared_positions(a, b):
    shared = intersection(union(a), union(b))
    assert positions(shared) == positions(a) & positions(b)
    assert overlap(union(a), union(b)) == len(positions(a) & positions(b))
    assert shared == union(shared)


def test_ranges_that_only_touch_do_not_overlap():
    assert overlap([(0, 10)], [(10, 20)]) == 0
    assert union([(0, 10), (10, 20)]) == [(0, 20)]


def test_an_empty_or_reversed_range_holds_nothing():
    assert union([(5, 5), (7, 3)]) == []
