"""Plots of one line: heights follow the numbers, with block characters or without."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faircut.report.plots import histograms, sparkline


@pytest.mark.parametrize(
    ("values", "blocks", "digits"),
    [([0, 0.01, 0.5, 0.99, 1.0], " ▁▅██", ".0599"), ([], "", ""), ([0.0, 0.0], "  ", "..")],
)
def test_heights_follow_the_numbers(values, blocks, digits):
    assert sparkline(values) == blocks
    assert sparkline(values, unicode=False) == digits


@given(st.lists(st.floats(0, 1)))
def test_a_larger_value_is_never_lower(values):
    order = " ▁▂▃▄▅▆▇█"
    heights = [order.index(c) for c in sparkline(sorted(values))]
    assert heights == sorted(heights)
    assert sparkline(values, unicode=False).isascii()


@given(st.dictionaries(st.text(min_size=1), st.lists(st.integers(1, 100_000)), min_size=1))
def test_all_rows_share_the_bins_and_every_chunk_is_in_one(sizes):
    found = histograms(sizes)
    every = [size for row in sizes.values() for size in row]
    if not every:
        assert found is None
        return
    assert found.low <= min(every)
    assert found.high >= max(every)
    assert len({len(shares) for shares in found.shares.values()}) == 1
    for row, chunks in sizes.items():
        assert sum(found.shares[row]) == pytest.approx(1 if chunks else 0)


def test_the_commonest_size_is_the_full_height():
    found = histograms({"a": [100] * 10 + [400], "b": [100]})
    assert (found.low, found.high) == (91, 512)
    assert found.line("a") == "█   ▁"
    assert found.line("b", unicode=False) == "9...."
    assert found.line("unknown") == ""
