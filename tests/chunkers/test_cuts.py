"""Cut rules decide from similarities alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faircut.chunkers import build
from faircut.chunkers.cuts import (
    AbovePercentile,
    Absolute,
    Deviation,
    Gradient,
    Interquartile,
    cut_rule,
    gap_similarities,
)
from faircut.errors import SpecError
from faircut.specs import Percentile

P85 = Percentile(85)
RELATIVE = [AbovePercentile(P85), Deviation(1.0), Interquartile(1.5), Gradient(Percentile(95)), Deviation(0.0)]
SIMILARITIES = np.array([0.9, 0.8, 0.2, 0.85, 0.9, 0.1, 0.8, 0.9])


def cuts(rule, similarities=SIMILARITIES):
    return np.flatnonzero(rule.judge(np.array(similarities, dtype=np.float64)).cuts).tolist()


def test_an_absolute_rule_cuts_below_the_cosine_and_not_at_it():
    assert cuts(Absolute(0.65)) == [2, 5]
    assert cuts(Absolute(0.2)) == [5]


def test_a_percentile_cuts_where_the_distance_exceeds_the_documents_own():
    distances = 1 - SIMILARITIES
    assert cuts(AbovePercentile(P85)) == np.flatnonzero(distances > np.percentile(distances, 85)).tolist() == [2, 5]
    assert cuts(AbovePercentile(Percentile(0))) == [1, 2, 3, 5, 6]
    assert cuts(AbovePercentile(Percentile(100))) == []


def test_deviation_and_interquartile_cut_at_outliers():
    assert cuts(Deviation(1.0)) == [2, 5]
    assert cuts(Interquartile(1.5), [0.9, 0.88, 0.91, 0.9, 0.2, 0.89, 0.9]) == [4]
    assert cuts(Interquartile(1.5), [0.9, 0.88, 0.91, 0.9, 0.87, 0.89, 0.9]) == []


def test_the_gradient_cuts_where_the_distance_climbs():
    distances = 1 - SIMILARITIES
    gradient = np.gradient(distances)
    assert cuts(Gradient(Percentile(80))) == np.flatnonzero(gradient > np.percentile(gradient, 80)).tolist() == [1, 4]


@pytest.mark.parametrize("rule", RELATIVE)
@pytest.mark.parametrize("similarities", [[], [0.3], [0.3] * 2, [0.1] * 7, [-1.0] * 3])
def test_equal_similarities_are_cut_nowhere_by_a_relative_rule(rule, similarities):
    assert cuts(rule, similarities) == []


@given(st.lists(st.floats(-1, 1).map(lambda x: round(x, 5)), max_size=40))
def test_a_percentile_cuts_at_no_more_than_its_share_of_the_gaps(similarities):
    assert len(cuts(AbovePercentile(P85), similarities)) <= 0.15 * len(similarities) + 1


@pytest.mark.parametrize("rule", [Absolute(0.65), *RELATIVE])
def test_where_the_rule_looks_at_the_cosine_it_says_below_which_one_it_cuts(rule):
    gaps = rule.judge(SIMILARITIES)
    if isinstance(rule, Gradient):
        assert gaps.cosine is None
    else:
        assert np.array_equal(gaps.cuts, gaps.cosine > SIMILARITIES)


def test_windows_compare_so_many_sentences_before_a_gap_with_as_many_after_it():
    vectors = np.array([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=np.float32)
    assert gap_similarities(vectors).tolist() == [1, 0, 1]
    assert gap_similarities(vectors, 2).tolist() == [0.70711, 0, 0.70711]


def test_similarities_of_windows_are_those_of_the_plain_means():
    vectors = np.random.default_rng(3).normal(size=(30, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    for window in (1, 3, 50):
        expected = []
        for gap in range(1, 30):
            a, b = vectors[max(0, gap - window) : gap].mean(axis=0), vectors[gap : gap + window].mean(axis=0)
            expected.append(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
        assert gap_similarities(vectors, window) == pytest.approx(expected, abs=2e-5)


def test_a_mean_without_direction_is_similar_to_nothing():
    vectors = np.array([[1, 0], [-1, 0], [1, 0]], dtype=np.float32)
    assert gap_similarities(vectors, 2).tolist() == [0, 0]


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_sentences_have_no_gap(count):
    assert gap_similarities(np.ones((count, 4), dtype=np.float32)).shape == (0,)


@pytest.mark.parametrize(
    ("threshold", "printed"),
    [
        ("0.65", "semantic"),
        ("0.5", "semantic(threshold=0.5)"),
        ("p85", "semantic(threshold=p85)"),
        ("deviation(1.0)", "semantic(threshold=deviation(1))"),
        ("interquartile(1.5)", "semantic(threshold=interquartile(1.5))"),
        ("gradient(p95)", "semantic(threshold=gradient(p95))"),
    ],
)
def test_every_rule_is_written_in_the_spec_of_the_chunker(threshold, printed):
    chunker = build(f"semantic(threshold={threshold})")
    assert str(chunker) == printed
    assert build(printed) == chunker
    assert build(f"semantic_p85(threshold={threshold})").threshold == chunker.threshold


@pytest.mark.parametrize(
    ("spec", "what"),
    [
        ("semantic(threshold=85)", "between -1 and 1, found 85; for the percentile write p85"),
        ("semantic(threshold=recursive)", "must be a cosine such as 0.65, a percentile .* found recursive"),
        ("semantic(threshold=deviation)", "needs the parameter 'k'"),
        ("semantic(threshold=deviation(-1))", "must be 0 or more, found -1"),
        ("semantic(threshold=gradient(95))", "must be a percentile such as p85, found 95"),
        ("semantic(threshold=true)", "found true"),
        ("deviation(1.0)", "is no chunker but a part of one"),
    ],
)
def test_a_threshold_that_is_none_is_refused_with_the_fix(spec, what):
    with pytest.raises(SpecError, match=what):
        build(spec)


def test_a_number_is_a_cosine_and_a_percentile_a_percentile():
    assert cut_rule(0.65) == Absolute(0.65)
    assert cut_rule(P85) == AbovePercentile(P85)
    assert cut_rule(Deviation(2.0)) == Deviation(2.0)
