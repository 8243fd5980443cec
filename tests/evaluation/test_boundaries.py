"""Pk and WindowDiff against their definitions, counted pair by pair."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faircut.errors import MetricError
from faircut.evaluation.boundaries import half_mean_length, nearest_units, pk, window_diff


@st.composite
def segmentations(draw: st.DrawFn) -> tuple[set[int], set[int], int, int]:
    units = draw(st.integers(2, 30))
    places = st.sets(st.integers(0, units - 1))
    return draw(places), draw(places), units, draw(st.integers(1, units - 1))


@given(segmentations())
def test_both_measures_equal_their_definitions_counted_pair_by_pair(case: tuple[set[int], set[int], int, int]) -> None:
    truth, found, units, window = case
    pairs = [(i, i + window) for i in range(units - window)]

    def between(boundaries: set[int], i: int, j: int) -> int:
        return sum(i < b <= j for b in boundaries)

    disagree = sum((between(truth, i, j) == 0) != (between(found, i, j) == 0) for i, j in pairs)
    differ = sum(between(truth, i, j) != between(found, i, j) for i, j in pairs)
    assert pk(truth, found, units, window) == pytest.approx(disagree / len(pairs))
    assert window_diff(truth, found, units, window) == pytest.approx(differ / len(pairs))


@given(segmentations())
def test_the_truth_itself_has_no_error_and_window_diff_is_never_below_pk(
    case: tuple[set[int], set[int], int, int],
) -> None:
    truth, found, units, window = case
    assert pk(truth, truth, units, window) == window_diff(truth, truth, units, window) == 0
    assert pk(truth, found, units, window) <= window_diff(truth, found, units, window) <= 1


def test_the_usual_window_is_half_the_mean_true_segment() -> None:
    assert half_mean_length({5, 10}, 15) == 2  # three segments of 5
    assert half_mean_length(set(), 40) == 20
    assert half_mean_length({1, 2, 3}, 4) == 1


def test_a_near_miss_costs_less_than_a_far_one_and_no_boundary_at_all_less_than_everywhere() -> None:
    near, far = window_diff({50}, {51}, 100), window_diff({50}, {90}, 100)
    assert 0 < near < far
    assert pk({50}, set(), 100) < window_diff({50}, set(range(100)), 100) == 1


def test_places_go_to_the_nearest_unit() -> None:
    edges = [0, 10, 20, 30]
    assert nearest_units([0, 4, 6, 15, 29, 99], edges) == {0, 1, 3}
    assert nearest_units([7], [0]) == {0}


@pytest.mark.parametrize(
    ("found", "units", "window"), [({9}, 5, 2), ({-1}, 5, 2), ({1}, 5, 5), ({1}, 5, 0), ({0}, 1, 1)]
)
def test_boundaries_and_windows_outside_of_the_units_are_told(found: set[int], units: int, window: int) -> None:
    with pytest.raises(MetricError, match=r"found"):
        pk(found, found, units, window)
