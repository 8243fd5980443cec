"""A rounded share never says all of what is not all, nor nothing of what is something."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from faircut.text.percent import percent, points

SHARES = st.floats(0, 1)


@given(SHARES, st.integers(0, 3))
@example(0.996, 0)
@example(0.004, 0)
@example(1e-300, 1)
@example(1 - 1e-16, 2)
def test_nothing_and_all_are_said_of_nothing_and_all_only(share, digits):
    shown = percent(share, digits)
    if shown.startswith(("under", "over")):
        assert share not in (0.0, 1.0)
    else:
        number = float(shown.removesuffix(" %"))
        assert (number == 0) == (share == 0)
        assert (number == 100) == (share == 1)
        assert abs(number - 100 * share) <= 0.5


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0.5, "50 %"), (0.996, "99.6 %"), (0.9999, "99.99 %"), (0.004, "0.4 %"), (1.0, "100 %"), (0.0, "0 %"),
     (1e-9, "under 0.01 %"), (1 - 1e-9, "over 99.99 %"), (0.994, "99 %")],
)  # fmt: skip
def test_digits_are_added_only_where_they_are_needed(share, shown):
    assert percent(share) == shown


@pytest.mark.parametrize(
    ("difference", "shown"), [(0.2, "+20"), (-0.002, "-0.2"), (0.0, "+0"), (-0.0, "+0"), (1e-9, "+0.01"), (0.012, "+1")]
)
def test_a_difference_that_is_there_is_not_zero_points(difference, shown):
    assert points(difference) == shown
