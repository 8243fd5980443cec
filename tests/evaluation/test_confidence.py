"""Intervals of a mean: against scipy, against a slow bootstrap, and where a bootstrap alone would lie."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from faircut.errors import MetricError
from faircut.evaluation.confidence import DRAWS, _studentised, mean_interval, wilson
from faircut.evaluation.sampling import Sample, document_of, resamples, sample
from faircut.records import Evidence, Question, Span


def clustered(seed, documents=30, questions=8):
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(documents), rng.integers(1, 2 * questions, documents))
    level = rng.normal(size=documents)[cluster]
    scores = np.clip(0.6 + 0.2 * level + rng.normal(0, 0.3, len(cluster)), 0, 1)
    return scores, [f"d{c}" for c in cluster]


@given(st.integers(1, 2000), st.data(), st.floats(0.5, 0.999))
def test_wilson_equals_scipys(trials, data, level):
    hits = data.draw(st.integers(0, trials))
    expected = stats.binomtest(hits, trials).proportion_ci(level, method="wilson")
    assert wilson(hits / trials, trials, level) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_fifteen_of_fifteen_is_not_certainty():
    estimate = mean_interval([1.0] * 15, [f"d{i}" for i in range(15)])
    assert estimate.mean == 1
    assert estimate.interval.low == pytest.approx(0.796, abs=5e-4)
    assert estimate.interval.high == pytest.approx(1)
    assert estimate.interval.method == "Wilson, 15 questions"


def test_scores_that_do_not_vary_are_judged_by_the_number_of_documents():
    estimate = mean_interval([1.0] * 240, [f"d{i % 24}" for i in range(240)])
    assert (estimate.interval.low, estimate.interval.high) == pytest.approx(wilson(1, 24))
    assert estimate.interval.method == "Wilson, 24 documents"
    half = mean_interval([0.5] * 240, [f"d{i % 24}" for i in range(240)]).interval
    assert half.low < 0.35
    assert half.high > 0.65


def test_one_miss_among_many_hits_gives_neither_certainty_nor_an_endless_interval():
    interval = mean_interval([0.0] + [1.0] * 199, [f"d{i % 25}" for i in range(200)]).interval
    assert 0.95 < interval.low < 0.985
    assert interval.high > 0.995


def test_hits_of_independent_questions_get_wilsons_interval():
    hits = [1.0] * 30 + [0.0] * 10
    estimate = mean_interval(hits, [f"d{i}" for i in range(40)])
    assert (estimate.interval.low, estimate.interval.high) == pytest.approx(wilson(0.75, 40))
    assert mean_interval(hits, ["one document"] * 40).interval.method == "Wilson, 40 questions"


def test_below_20_documents_the_questions_are_the_units_and_it_says_so():
    scores, _ = clustered(1)
    few = mean_interval(scores, [f"d{i % 19}" for i in range(len(scores))])
    enough = mean_interval(scores, [f"d{i % 20}" for i in range(len(scores))])
    assert (few.unit, few.units) == ("question", len(scores))
    assert (enough.unit, enough.units) == ("document", 20)
    assert "questions" in few.interval.method
    assert "20 documents" in enough.interval.method


def test_clustered_scores_get_a_wider_interval_than_the_same_scores_alone():
    scores, documents = clustered(2)
    together = mean_interval(scores, documents).interval
    alone = mean_interval(scores, [f"q{i}" for i in range(len(scores))]).interval
    assert together.high - together.low > 1.2 * (alone.high - alone.low)


def test_the_studentised_draws_equal_a_slow_bootstrap():
    scores, documents = clustered(3)
    s = sample(scores, documents)
    counts = resamples(s.units, DRAWS, 0)
    for draw in (0, 1, 17, DRAWS - 1):
        drawn = np.repeat(np.arange(s.units), counts[draw])
        again = Sample("document", s.sums[drawn], s.sizes[drawn])
        t = (again.mean - s.mean) / again.standard_error
        assert _studentised(s, 0)[draw] == pytest.approx(t)


def test_the_draws_spread_as_scipys_bootstrap_does():
    scores, documents = clustered(4)
    s = sample(scores, documents)
    counts = resamples(s.units, DRAWS, 0).astype(float)
    assert counts.sum(axis=1) == pytest.approx(s.units)
    ours = ((counts @ s.sums) / (counts @ s.sizes)).std(ddof=1)
    theirs = stats.bootstrap(
        (s.sums, s.sizes),
        lambda sums, sizes, axis: sums.sum(axis=axis) / sizes.sum(axis=axis),
        paired=True,
        n_resamples=4000,
        method="percentile",
        rng=np.random.default_rng(0),
    ).standard_error
    assert ours == pytest.approx(theirs, rel=0.05)
    assert s.standard_error == pytest.approx(theirs, rel=0.1)


def test_many_independent_scores_agree_with_students_interval():
    scores = np.random.default_rng(5).beta(4, 3, 500)
    interval = mean_interval(scores, [f"d{i}" for i in range(500)]).interval
    low, high = stats.t.interval(0.95, 499, scores.mean(), stats.sem(scores))
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=0.002)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 30)), min_size=1, max_size=60),
    st.randoms(use_true_random=False),
    st.sampled_from([0.8, 0.95, 0.99]),
)
def test_an_interval_holds_its_mean_inside_0_to_1_in_any_order_of_rows(rows, random, level):
    shuffled = rows.copy()
    random.shuffle(shuffled)
    estimate, again = (mean_interval([v for v, _ in r], [f"d{d}" for _, d in r], level=level) for r in (rows, shuffled))
    assert estimate == again
    assert 0 <= estimate.interval.low <= estimate.mean + 1e-12
    assert estimate.mean - 1e-12 <= estimate.interval.high <= 1
    assert estimate.interval.low < estimate.interval.high


@pytest.mark.parametrize(
    ("scores", "clusters", "said"),
    [
        ([], [], "one score for each question"),
        ([0.5, float("nan")], ["a", "b"], "position 1 is nan"),
        ([0.5, float("inf")], ["a", "b"], "position 1 is inf"),
        ([1.5], ["a"], "not a number in"),
        ([-0.1], ["a"], "not a number in"),
        ([0.5], ["a", "b"], "1 scores but 2 documents"),
        ([[0.5]], ["a"], r"shape \(1, 1\)"),
    ],
)
def test_what_is_not_a_score_is_refused(scores, clusters, said):
    with pytest.raises(MetricError, match=said):
        mean_interval(scores, clusters)


def test_a_level_outside_of_0_to_1_is_refused():
    with pytest.raises(MetricError, match="found 95"):
        mean_interval([0.5], ["a"], level=95)


def test_a_question_belongs_to_the_document_that_it_is_asked_of():
    evidence = (Evidence("a", Span(0, 1)), Evidence("b", Span(0, 1)))
    assert document_of(Question("q", "?", evidence)) == "a"
    assert document_of(Question("q", "?", evidence, within="b")) == "b"
    with pytest.raises(MetricError, match="has no evidence"):
        document_of(Question("q", "?", ()))
