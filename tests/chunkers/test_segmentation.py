"""The searches over arrays: the exact one against brute force, the local one against what it promises."""

import time
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from faircut.chunkers.segmentation import (
    Limits,
    Scatter,
    SquaredLength,
    cheapest,
    cheapest_of_count,
    lowest_within,
    strongest_first,
)

SHORT = 1e6  # what a segment below the minimum costs, in the brute force


def unlimited(count):
    return Limits(np.ones(count), np.full(count, count), np.arange(1, count + 1))


def scatter(vectors):
    return float(((vectors - vectors.mean(axis=0)) ** 2).sum())


def total(starts, segment_cost, limits, penalty):
    cost = 0.0
    for first, last in pairwise([*starts, len(limits.weights)]):
        if last > limits.furthest[first]:
            return np.inf
        cost += segment_cost(first, last) + penalty * limits.weights[first]
        cost += SHORT * (1 + penalty) * (last < limits.nearest[first])
    return cost


def all_cuts(count):
    inner = range(1, count)
    return ([0, *some] for size in range(count) for some in combinations(inner, size))


@st.composite
def problems(draw):
    count = draw(st.integers(1, 9))
    weight = st.one_of(st.floats(0.1, 4), st.just(np.inf))
    weights = [1.0, *draw(st.lists(weight, min_size=count - 1, max_size=count - 1))]
    furthest = [draw(st.integers(at + 1, count)) for at in range(count)]
    nearest = [draw(st.integers(at + 1, min(at + 3, count + 1))) for at in range(count)]
    lengths = draw(st.lists(st.floats(0, 5), min_size=count, max_size=count))
    return Limits(np.array(weights), np.array(furthest), np.array(nearest)), np.cumsum([0.0, *lengths])


@settings(max_examples=300, deadline=None)
@given(problem=problems(), penalty=st.floats(0.01, 20), seed=st.integers(0, 100), by_vectors=st.booleans())
def test_no_way_to_cut_is_cheaper_than_the_one_found(problem, penalty, seed, by_vectors):
    limits, until = problem
    count = len(limits.weights)
    vectors = np.random.default_rng(seed).normal(size=(count, 3)).astype(np.float32)
    if by_vectors:
        cost, segment = Scatter(vectors), lambda first, last: scatter(vectors[first:last].astype(np.float64))
    else:
        cost, segment = SquaredLength(until), lambda first, last: (until[last] - until[first]) ** 2
    best = min(total(starts, segment, limits, penalty) for starts in all_cuts(count))
    if np.isinf(best):
        with pytest.raises(ValueError, match="no segmentation"):
            cheapest(cost, limits, penalty)
        return
    found = cheapest(cost, limits, penalty)
    assert found == cheapest(cost, limits, penalty), "deterministic"
    assert total(found, segment, limits, penalty) == pytest.approx(best, rel=1e-9, abs=1e-7)


def test_the_first_segment_obeys_its_cap_although_no_cut_is_rewarded():
    limits = Limits(np.ones(39), np.minimum(np.arange(39) + 8, 39), np.arange(1, 40))
    starts = cheapest(SquaredLength(np.zeros(40)), limits, 1.0)
    assert max(b - a for a, b in pairwise([*starts, 39])) <= 8
    assert len(starts) == 5


@pytest.mark.parametrize("count", [1, 15, 16, 17, 50])
def test_scatter_from_prefix_sums_is_the_scatter_of_each_segment(count):
    vectors = np.random.default_rng(1).normal(size=(count, 5)).astype(np.float32)
    furthest = np.minimum(np.arange(count) * 2 % 7 + np.arange(count) + 1, count)
    for start, row in enumerate(Scatter(vectors).rows(furthest)):
        wanted = [scatter(vectors[start:end].astype(np.float64)) for end in range(start + 1, furthest[start] + 1)]
        assert row == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("wanted", [1, 3, 10, 60, 200])
def test_the_penalty_is_found_that_makes_about_the_wanted_number_of_segments(wanted):
    lengths = np.random.default_rng(2).integers(5, 40, 200)
    until = np.concatenate([[0], np.cumsum(lengths)]) / 100
    starts, penalty = cheapest_of_count(SquaredLength(until), unlimited(200), wanted)
    assert abs(len(starts) - wanted) <= 0.04 * wanted
    assert starts == cheapest(SquaredLength(until), unlimited(200), penalty)


def test_a_larger_penalty_never_makes_more_segments():
    until = np.concatenate([[0], np.cumsum(np.random.default_rng(3).integers(5, 40, 100))]) / 100
    counts = [len(cheapest(SquaredLength(until), unlimited(100), penalty)) for penalty in np.geomspace(0.01, 100, 12)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > 10 * counts[-1]


def test_32_000_sentences_of_384_dimensions_take_less_than_4_cpu_seconds():
    count = 32_000
    vectors = np.random.default_rng(4).standard_normal((count, 384), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    limits = Limits(np.ones(count), np.minimum(np.arange(count) + 25, count), np.arange(1, count + 1))
    begin = time.process_time()
    starts, _ = cheapest_of_count(Scatter(vectors), limits, count / 7)
    assert time.process_time() - begin < 4
    assert max(b - a for a, b in pairwise([*starts, count])) <= 25


def test_limits_without_room_for_one_unit_are_refused():
    with pytest.raises(ValueError, match="at least one unit"):
        Limits(np.ones(3), np.array([1, 1, 3]), np.array([1, 2, 3]))
    with pytest.raises(ValueError, match="need as many limits"):
        Limits(np.ones(3), np.array([1, 2]), np.array([1, 2, 3]))
    with pytest.raises(ValueError, match="above 0"):
        cheapest(SquaredLength(np.arange(4.0)), unlimited(3), 0.0)


# ---------------------------------------------------------------- strongest boundary first


@settings(max_examples=200, deadline=None)
@given(
    ranks=arrays(np.float64, st.integers(1, 30), elements=st.integers(0, 5)), reach=st.integers(0, 12), data=st.data()
)
def test_the_lowest_within_reach_is_found_as_by_looking_at_each_pair(ranks, reach, data):
    steps = data.draw(st.lists(st.integers(0, 6), min_size=len(ranks), max_size=len(ranks)))
    places = np.cumsum(steps).astype(np.float64)
    near = np.abs(places[:, None] - places) <= reach
    wanted = [bool((ranks[near[at]] >= ranks[at]).all()) for at in range(len(ranks))]
    assert lowest_within(ranks, places, reach).tolist() == wanted


@settings(max_examples=300, deadline=None)
@given(lengths=st.lists(st.integers(1, 10), min_size=1, max_size=40), seed=st.integers(0, 999), wishes=st.booleans())
def test_strongest_first_fits_leaves_enough_and_cuts_no_more_than_is_needed(lengths, seed, wishes):
    until = np.cumsum([0, *lengths]).astype(np.float64)
    count, rng = len(lengths), np.random.default_rng(seed)
    furthest = np.searchsorted(until, until[:-1] + 24, side="right") - 1
    ranks, wanted = rng.random(count), rng.random(count) < 0.5
    starts = strongest_first(until, ranks, furthest, least=6, wanted=wanted if wishes else None)
    assert starts[0] == 0
    for first, last in pairwise([*starts, count]):
        assert first < last <= furthest[first]
    if until[-1] <= 24 and not wishes:
        assert starts == [0]
    if len(starts) == 2:
        at = starts[1]
        roomy = [r for r in range(1, count) if min(until[r], until[-1] - until[r]) >= 6]
        # A wish counts where no stronger boundary is near, also one that is not wished for.
        lowest = [r for r in roomy if all(ranks[r] <= ranks[s] for s in roomy if abs(until[r] - until[s]) <= 6)]
        rivals = [r for r in lowest if not wishes or wanted[r]]
        assert not rivals or ranks[at] <= min(ranks[rivals]) or until[-1] > 24


def test_a_wanted_cut_is_made_only_where_no_stronger_boundary_is_near():
    until = np.arange(13.0)
    ranks = np.array([9, 9, 9, 5, 4, 5, 9, 9, 9, 3, 9, 9.0])
    furthest = np.full(12, 12)
    assert strongest_first(until, ranks, furthest, least=3, wanted=ranks < 6) == [0, 4, 9]
    assert strongest_first(until, ranks, furthest, least=3) == [0]


@pytest.mark.parametrize("wishes", [None, np.ones(5, dtype=bool)])
def test_strongest_first_needs_no_least(wishes):
    until, furthest = np.array([0.0, 0, 2, 2, 3, 4]), np.arange(1, 6)  # the first of them has no length
    assert strongest_first(until, np.zeros(5), furthest, least=0, wanted=wishes) == [0, 1, 2, 3, 4]
