"""What a set of questions can show: against the normal approximation, and at its edges."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from faircut.errors import MetricError
from faircut.evaluation.power import design_effect, plan_power, questions_for, smallest_difference


def test_the_smallest_difference_of_one_contrast_is_2_8_standard_errors():
    assert smallest_difference(0.01, 10_000) == pytest.approx(0.01 * (1.96 + 0.8416), rel=0.05)


def test_more_contrasts_are_paid_for_by_the_stricter_level():
    expected = 0.01 * (stats.norm.ppf(1 - 0.05 / 14) + stats.norm.ppf(0.8))
    assert smallest_difference(0.01, 10_000, contrasts=7) == pytest.approx(expected, rel=0.05)
    assert smallest_difference(0.01, 10_000, contrasts=7) > smallest_difference(0.01, 10_000, contrasts=1)


def test_fewer_units_show_less_and_too_few_show_nothing():
    assert smallest_difference(0.01, 20) > smallest_difference(0.01, 200)
    assert smallest_difference(0.01, 5) is None
    assert smallest_difference(0.01, 7) is not None
    assert smallest_difference(0.01, 7, contrasts=7) is None


def test_half_the_difference_needs_four_times_the_questions():
    assert questions_for(0.02, questions=300, detectable=0.04) == 1200
    assert questions_for(0.03, questions=300, detectable=None) is None


def test_the_design_effect_is_1_without_clustering_and_the_cluster_size_at_full_correlation():
    assert design_effect([f"d{i}" for i in range(50)], 0.3) == 1
    assert design_effect([f"d{i % 10}" for i in range(50)], 1.0) == 5
    assert design_effect([f"d{i % 10}" for i in range(50)], 0.0) == 1


def test_a_plan_says_what_it_assumes_and_what_it_can_show():
    plan = plan_power([f"d{i % 98}" for i in range(1380)], contrasts=3)
    assert plan.unit == "document"
    assert plan.units == 98
    assert 0.03 < plan.smallest_difference < 0.05
    assert plan.questions_needed > 1380
    assert "standard deviation of 0.35" in plan.assumption
    assert "correlation of 0.03" in plan.assumption


def test_a_plan_below_20_documents_takes_questions_for_independent_and_says_so():
    plan = plan_power([f"d{i % 5}" for i in range(472)], contrasts=1)
    assert (plan.unit, plan.units, plan.design_effect) == ("question", 472, 1)
    assert "correlation of 0 " in plan.assumption


def test_a_plan_for_a_handful_of_questions_says_that_nothing_can_be_shown():
    plan = plan_power(["a", "b", "c", "d"], contrasts=1)
    assert plan.smallest_difference is None
    assert plan.questions_needed is None


@given(st.integers(20, 200), st.integers(1, 20), st.integers(1, 7))
def test_the_questions_that_a_plan_asks_for_suffice(documents, each, contrasts):
    plan = plan_power([f"d{i}" for i in range(documents) for _ in range(each)], contrasts=contrasts, difference=0.05)
    more = -(-plan.questions_needed // (documents * each))
    larger = plan_power(
        [f"d{i}" for i in range(documents * max(more, 1)) for _ in range(each)], contrasts=contrasts, difference=0.05
    )
    assert larger.smallest_difference <= 0.05 + 1e-9


@pytest.mark.parametrize(
    ("clusters", "more"),
    [([], {}), (["a"], {"contrasts": 0}), (["a"], {"spread": 0}), (["a"], {"difference": 0}), (["a"], {"alpha": 1}),
     (["a"], {"correlation": 2})],
)  # fmt: skip
def test_a_plan_without_sense_is_refused(clusters, more):
    with pytest.raises(MetricError, match="power needs"):
        plan_power(clusters, **({"contrasts": 1} | more))
