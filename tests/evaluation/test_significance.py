"""P values against scipy and against full enumeration."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from faircut.evaluation.sampling import signs
from faircut.evaluation.significance import FLIPS, holm, mcnemar, sign_flips


def one(differences, seed=0):
    return float(sign_flips(np.asarray(differences, dtype=float)[:, None], seed=seed)[0])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_sign_flips_approach_the_p_value_of_every_sign_pattern_ties_included(differences):
    d = np.array(differences) / 10
    sums = np.array([abs(np.dot(pattern, d)) for pattern in product((-1, 1), repeat=len(d))])
    exact = float((sums >= abs(d.sum()) - 1e-12).mean())
    assert one(d) == pytest.approx(exact, abs=5 * (0.25 / FLIPS) ** 0.5)


def test_sign_flips_agree_with_scipys_paired_permutation_test():
    rng = np.random.default_rng(0)
    d = rng.normal(0.25, 1, (60, 3))
    theirs = [
        stats.permutation_test((x,), np.sum, permutation_type="samples", n_resamples=20_000, rng=rng).pvalue
        for x in d.T
    ]
    assert sign_flips(d) == pytest.approx(theirs, abs=0.02)


def test_a_p_value_of_flips_is_never_0_and_counts_the_observed_pattern():
    assert one(np.ones(200)) == 1 / (FLIPS + 1)


def test_no_difference_at_all_gives_1():
    assert one(np.zeros(30)) == 1


def test_flips_are_repeatable_balanced_and_other_with_another_seed():
    assert np.array_equal(signs(30, FLIPS, 1), signs(30, FLIPS, 1))
    assert not np.array_equal(signs(30, FLIPS, 1), signs(30, FLIPS, 2))
    assert set(np.unique(signs(30, FLIPS, 1))) == {-1, 1}
    assert np.abs(signs(30, FLIPS, 1).mean(axis=0, dtype=float)).max() < 0.05


def test_rounding_in_the_order_of_adding_does_not_change_a_p_value():
    rng = np.random.default_rng(1)
    d = rng.integers(-3, 4, 40) * 0.1
    assert one(d) == one(d * 3) == one(-d)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=80))
def test_mcnemar_is_the_binomial_test_of_the_questions_that_differ(pairs):
    baseline, candidate = np.array(pairs, dtype=float).T
    won, lost = int((candidate > baseline).sum()), int((candidate < baseline).sum())
    expected = stats.binomtest(won, won + lost).pvalue if won + lost else 1
    assert mcnemar(baseline, candidate) == pytest.approx(expected)


def test_mcnemar_of_ten_against_two_is_the_textbooks_value():
    baseline, candidate = np.array([0.0] * 10 + [1.0] * 2 + [1.0] * 88), np.array([1.0] * 10 + [0.0] * 2 + [1.0] * 88)
    assert mcnemar(baseline, candidate) == pytest.approx(0.03857, abs=1e-5)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.5]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0.001, 0.5))
def test_holm_rejects_what_the_step_down_rule_rejects(p_values, alpha):
    rejected, left = set(), sorted(range(len(p_values)), key=lambda i: p_values[i])
    while left and p_values[left[0]] * len(left) <= alpha:
        rejected.add(left.pop(0))
    assert {i for i, p in enumerate(holm(p_values)) if p <= alpha} == rejected
    assert all(p <= adjusted <= min(1, len(p_values) * p) for p, adjusted in zip(p_values, holm(p_values), strict=True))
