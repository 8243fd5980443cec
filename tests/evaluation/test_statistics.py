"""Verdicts: what they say of clear cases, what they do not depend on, and how often they are wrong."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faircut.errors import MetricError
from faircut.evaluation.confidence import mean_interval
from faircut.evaluation.statistics import compare, compare_pairs

# ---------------------------------------------------------------- data with documents that share their questions' fate


def documents_of(rng, documents, spread=0.8):
    """The document of each question: 1 to about 60 questions a document, 7 in the median."""
    sizes = np.maximum(1, np.round(np.exp(rng.normal(2, spread, documents)))).astype(int)
    return np.repeat(np.arange(documents), sizes)


def rivals_of_equal_quality(rng, kind, chunkers, documents, clustering=0.4):
    """Scores of chunkers that differ by luck alone, by question and (clustered) by document; and the documents."""
    cluster = documents_of(rng, documents)
    n = len(cluster)
    difficulty = rng.normal(size=n) + 0.7 * rng.normal(size=documents)[cluster]
    scores = []
    for _ in range(chunkers):
        luck = clustering * rng.normal(size=documents)[cluster] + 0.7 * rng.normal(size=n)
        if kind == "hits":
            scores.append((difficulty + luck > -0.3).astype(float))
        elif kind == "ties":
            partial = np.clip((difficulty + luck + 1) / 2, 0, 1)
            scores.append(np.where(rng.random(n) < 0.15, partial, difficulty > -0.3))
        else:
            scores.append(np.clip((difficulty + luck + 1.5) / 2.5, 0, 1))
    return scores, [f"d{c}" for c in cluster]


def winners(kind, chunkers, *, documents, runs, seed, clustering=0.4):
    """The share of comparisons that name a winner or loser among chunkers of equal quality."""
    rng = np.random.default_rng(seed)
    wrong = 0
    for _ in range(runs):
        (base, *others), clusters = rivals_of_equal_quality(rng, kind, chunkers, documents, clustering)
        contrasts = compare(base, {str(i): other for i, other in enumerate(others)}, clusters)
        wrong += any(c.verdict in ("better", "worse") for c in contrasts)
    return wrong / runs


def coverage(case, *, runs, seed):
    """The share of 95 % intervals that hold the truth; ``case(rng)`` gives an interval and the truth."""
    rng = np.random.default_rng(seed)
    cases = (case(rng) for _ in range(runs))
    return sum(interval.low <= truth <= interval.high for interval, truth in cases) / runs


def mean_case(documents, mean, correlation, spread=0.8):
    """Interval and truth of a mean of scores, a third of them partial, whose level varies between documents."""

    def draw(rng):
        cluster = documents_of(rng, documents, spread)
        strength = 1 / correlation - 1
        level = rng.beta(mean * strength, (1 - mean) * strength, documents)[cluster]
        partial = rng.beta(2 * level + 1e-9, 2 * (1 - level) + 1e-9)
        scores = np.where(rng.random(len(cluster)) < 0.3, partial, rng.random(len(cluster)) < level)
        return mean_interval(scores, [f"d{c}" for c in cluster]).interval, mean

    return draw


def difference_case(kind, documents):
    def draw(rng):
        (base, other), clusters = rivals_of_equal_quality(rng, kind, 2, documents)
        return compare(base, {"other": other}, clusters)[0].interval, 0.0

    return draw


# ---------------------------------------------------------------- clear cases


def spread_over(documents, n=400, seed=0):
    return [f"d{i % documents}" for i in range(n)], np.random.default_rng(seed)


def test_a_chunker_compared_with_itself_under_two_names_is_equivalent_with_p_1():
    clusters, rng = spread_over(40)
    for scores in (rng.random(400), (rng.random(400) < 0.5).astype(float), np.ones(400)):
        (contrast,) = compare(scores, {"twin": scores.copy()}, clusters, same=["twin"])
        assert (contrast.verdict, contrast.p, contrast.p_holm, contrast.difference) == ("equivalent", 1, 1, 0)
        assert (contrast.wins, contrast.losses, contrast.smallest_detectable) == (0, 0, None)


@pytest.mark.parametrize(
    ("questions", "verdict"), [(1, "no measured difference"), (30, "no measured difference"), (200, "equivalent")]
)
def test_equal_scores_of_different_chunks_are_equivalent_only_where_enough_questions_say_so(questions, verdict):
    scores = np.ones(questions)
    (contrast,) = compare(scores, {"other": scores}, [str(i) for i in range(questions)])
    assert contrast.verdict == verdict
    assert contrast.interval.low == -contrast.interval.high < 0


def test_a_real_difference_on_few_questions_is_seldom_called_equivalent():
    rng = np.random.default_rng(7)
    wrong = 0
    for _ in range(400):
        base = (rng.random(20) < 0.95).astype(float)
        rival = np.where(rng.random(20) < 0.1, 0.0, base)
        wrong += compare(base, {"r": rival}, [str(i) for i in range(20)])[0].verdict == "equivalent"
    assert wrong <= 0.05 * 400


def test_a_large_difference_is_better_and_its_reverse_worse():
    clusters, rng = spread_over(40)
    low = rng.random(400) * 0.6
    high = np.clip(low + 0.1 + rng.normal(0, 0.1, 400), 0, 1)
    (up,), (down,) = compare(low, {"high": high}, clusters), compare(high, {"low": low}, clusters)
    assert (up.verdict, down.verdict) == ("better", "worse")
    assert up.difference == pytest.approx(-down.difference)
    assert up.interval.low > 0.05
    assert up.p == down.p < 0.001
    assert up.wins == down.losses > up.losses


def test_a_certain_difference_too_small_to_matter_is_equivalent_and_p_is_shown_beside():
    clusters, rng = spread_over(40)
    low = 0.3 + rng.random(400) * 0.4
    (contrast,) = compare(low, {"high": low + 0.01 + rng.normal(0, 0.01, 400)}, clusters)
    assert contrast.verdict == "equivalent"
    assert contrast.p_holm < 0.001
    assert compare(low, {"high": low + 0.01 + rng.normal(0, 0.01, 400)}, clusters, band=0.005)[0].verdict == "better"


def test_too_few_questions_give_no_measured_difference_with_what_they_could_have_shown():
    clusters, rng = spread_over(25, n=50)
    a, b = (rng.random(50) < 0.5).astype(float), (rng.random(50) < 0.55).astype(float)
    (contrast,) = compare(a, {"b": b}, clusters)
    assert contrast.verdict == "no measured difference"
    assert contrast.smallest_detectable > 0.15
    assert contrast.questions_needed > 1000


def test_a_gain_that_one_document_makes_alone_is_no_winner():
    clusters = [f"d{i // 20}" for i in range(600)]
    base = np.full(600, 0.5)
    rival = np.where(np.arange(600) < 60, 1.0, 0.5)  # three documents of thirty, 60 wins and no loss
    (contrast,) = compare(base, {"rival": rival}, clusters)
    assert contrast.unit == "document"
    assert contrast.verdict == "no measured difference"
    (alone,) = compare(base, {"rival": rival}, [f"q{i}" for i in range(600)])
    assert alone.verdict == "better"


def test_the_test_fits_the_scores_and_names_itself():
    clusters, rng = spread_over(40)
    hits = (rng.random((2, 400)) < 0.5).astype(float)
    shares = rng.random((2, 400))
    assert compare(shares[0], {"b": shares[1]}, clusters)[0].test == "10,000 sign flips by document"
    assert compare(shares[0], {"b": shares[1]}, ["one"] * 400)[0].test == "10,000 sign flips by question"
    assert compare(hits[0], {"b": hits[1]}, ["one"] * 400)[0].test == "exact McNemar"
    assert "exact McNemar and 10,000 sign flips by document" in compare(hits[0], {"b": hits[1]}, clusters)[0].test


def test_hits_that_three_documents_make_alone_are_no_winner_though_mcnemar_is_sure():
    clusters = [f"d{i // 20}" for i in range(600)]
    base = np.zeros(600)
    rival = (np.arange(600) < 60).astype(float)
    (contrast,) = compare(base, {"rival": rival}, clusters)
    assert contrast.p > 0.2
    assert contrast.verdict == "no measured difference"
    assert compare(base, {"rival": rival}, [f"q{i}" for i in range(600)])[0].p < 1e-9


def test_below_20_documents_it_says_that_questions_are_the_units():
    clusters, rng = spread_over(19)
    (contrast,) = compare(rng.random(400), {"b": rng.random(400)}, clusters)
    assert (contrast.unit, contrast.units, contrast.questions) == ("question", 400, 400)


def test_p_is_corrected_for_all_contrasts():
    clusters, rng = spread_over(40)
    base = rng.random(400)
    rivals = {str(i): np.clip(base + rng.normal(0.01, 0.2, 400), 0, 1) for i in range(7)}
    contrasts = compare(base, rivals, clusters)
    smallest = min(contrasts, key=lambda c: c.p)
    assert smallest.p_holm == pytest.approx(min(1, 7 * smallest.p))
    (alone,) = compare(base, {smallest.name: rivals[smallest.name]}, clusters)
    assert (alone.p, alone.interval, alone.estimate) == (smallest.p, smallest.interval, smallest.estimate)
    assert alone.smallest_detectable < smallest.smallest_detectable


def test_each_chunker_can_have_a_baseline_of_its_own_and_all_pairs_share_the_correction():
    clusters, rng = spread_over(40)
    a, b, c = rng.random((3, 400))
    first, second = compare_pairs({"a": (b, a), "c": (a, c)}, clusters)
    (alone,) = compare(b, {"a": a}, clusters)
    assert (first.difference, first.p, first.interval) == (alone.difference, alone.p, alone.interval)
    assert min(first.p_holm, second.p_holm) == pytest.approx(min(1, 2 * min(first.p, second.p)))


def test_a_constant_gain_is_not_taken_for_certain():
    (contrast,) = compare([0.0] * 15, {"b": [1.0] * 15}, [f"d{i}" for i in range(15)])
    assert contrast.verdict == "better"
    assert contrast.interval.low == pytest.approx(2 * 0.796 - 1, abs=1e-3)
    assert contrast.interval.method == "Wilson, 15 questions"
    (tiny,) = compare([0.0] * 3, {"b": [1.0] * 3}, ["a", "b", "c"])
    assert tiny.verdict == "no measured difference"


def test_one_question_can_show_nothing():
    (contrast,) = compare([0.2], {"b": [0.9]}, ["a"])
    assert contrast.verdict == "no measured difference"
    assert (contrast.p, contrast.smallest_detectable, contrast.questions_needed) == (1, None, None)


# ---------------------------------------------------------------- what a verdict does not depend on

rows = st.lists(
    st.tuples(st.sampled_from([0, 0, 1, 1, 0.25, 0.5, 1 / 3]), st.floats(0, 1), st.integers(0, 30)),
    min_size=1,
    max_size=60,
)


@settings(max_examples=30, deadline=None)
@given(rows, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_changes_nothing(some, random):
    shuffled = some.copy()
    random.shuffle(shuffled)
    first, again = (
        compare([a for a, _, _ in r], {"b": [b for _, b, _ in r], "c": [1 - a for a, _, _ in r]}, [d for _, _, d in r])
        for r in (some, shuffled)
    )
    assert first == again


@settings(max_examples=30, deadline=None)
@given(rows)
def test_a_contrast_is_sound_whatever_the_scores(some):
    a, b, clusters = zip(*some, strict=True)
    (contrast,) = compare(a, {"b": b}, clusters)
    assert 0 < contrast.p <= contrast.p_holm <= 1
    assert -1 <= contrast.interval.low <= contrast.difference + 1e-9
    assert contrast.difference - 1e-9 <= contrast.interval.high <= 1
    assert contrast.interval.low <= contrast.interval_90.low
    assert contrast.interval_90.high <= contrast.interval.high
    if contrast.verdict in ("better", "worse"):
        assert contrast.p_holm < 0.05
        assert contrast.interval.excludes(0)


def test_the_same_seed_gives_the_same_result_and_another_nearly_the_same():
    clusters, rng = spread_over(40)
    a, b = rng.random(400), rng.random(400)
    (first,), (again,), (other,) = (compare(a, {"b": b}, clusters, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert other != first
    assert other.p == pytest.approx(first.p, abs=0.03)
    assert replace(other, p=0, p_holm=0, interval=0, interval_90=0, estimate=0) == replace(
        first, p=0, p_holm=0, interval=0, interval_90=0, estimate=0
    )


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("baseline", "rivals", "more", "said"),
    [
        ([0.5, 0.5], {}, {}, "nothing to compare"),
        ([0.5, float("nan")], {"b": [0.5, 0.5]}, {}, "baseline of b: the score at position 1 is nan"),
        ([0.5, 0.5], {"b": [float("nan"), 0.5]}, {}, "b: the score at position 0 is nan"),
        ([0.5, 0.5], {"b": [0.5, 1.1]}, {}, "b: the score at position 1 is 1.1"),
        ([0.5, 0.5], {"b": [0.5]}, {}, "score the same questions"),
        ([0.5], {"b": [0.5]}, {}, "1 scores but 2 documents"),
        ([0.5, 0.5], {"b": [0.5, 0.5]}, {"band": 0}, "band and alpha"),
        ([0.5, 0.5], {"b": [0.5, 0.5]}, {"alpha": 1}, "band and alpha"),
    ],
)
def test_what_cannot_be_compared_is_refused(baseline, rivals, more, said):
    with pytest.raises(MetricError, match=said):
        compare(baseline, rivals, ["a", "b"], **more)


# ---------------------------------------------------------------- how often it is wrong


@pytest.mark.parametrize("chunkers", [2, 5, 8])
def test_chunkers_of_equal_quality_get_a_winner_in_at_most_5_percent_of_400_comparisons(chunkers):
    assert winners("shares", chunkers, documents=40, runs=400, seed=chunkers) <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("chunkers", [2, 5, 8])
@pytest.mark.parametrize("kind", ["shares", "hits", "ties"])
@pytest.mark.parametrize(("documents", "clustering"), [(25, 0.4), (60, 0.8), (12, 0.0)])
def test_the_share_of_winners_by_luck_stays_within_5_percent_for_every_kind_of_score(
    chunkers, kind, documents, clustering
):
    runs = 600 if documents >= 20 else 300
    rate = winners(kind, chunkers, documents=documents, runs=runs, seed=7, clustering=clustering)
    assert rate <= 0.05 + (0.05 * 0.95 / runs) ** 0.5  # one standard error of so many runs


@pytest.mark.parametrize("case", [mean_case(30, 0.7, 0.15), difference_case("ties", 25)], ids=["mean", "difference"])
def test_95_percent_intervals_cover_the_truth_in_at_least_93_percent(case):
    assert coverage(case, runs=600, seed=11) >= 0.93


@pytest.mark.slow
@pytest.mark.parametrize("documents", [20, 40, 100])
@pytest.mark.parametrize("mean", [0.15, 0.5, 0.9])
@pytest.mark.parametrize(("correlation", "spread"), [(0.05, 0.8), (0.2, 0.8), (0.05, 1.2)])
def test_intervals_of_a_mean_cover_with_few_documents_of_very_unequal_size(documents, mean, correlation, spread):
    assert coverage(mean_case(documents, mean, correlation, spread), runs=1000, seed=3) >= 0.93


@pytest.mark.slow
@pytest.mark.parametrize("documents", [20, 40, 100])
@pytest.mark.parametrize("kind", ["shares", "hits", "ties"])
def test_intervals_of_a_difference_cover(documents, kind):
    assert coverage(difference_case(kind, documents), runs=1000, seed=4) >= 0.93


def found(contrasts, *, documents, runs, seed):
    """The share of runs in which a true difference of the stated smallest detectable size is found."""
    rng = np.random.default_rng(seed)

    def draw(difference):
        cluster = np.repeat(np.arange(documents), rng.integers(4, 13, documents))
        base = 0.3 + 0.3 * rng.random(len(cluster))
        noise = 0.05 * rng.normal(size=(contrasts, documents))[:, cluster] + 0.1 * rng.normal(
            size=(contrasts, len(cluster))
        )
        rivals = {str(i): np.clip(base + (i == 0) * difference + e, 0, 1) for i, e in enumerate(noise)}
        return compare(base, rivals, [str(c) for c in cluster], band=1e-6)[0]

    stated = float(np.mean([draw(0.0).smallest_detectable for _ in range(50)]))
    return float(np.mean([draw(stated).verdict == "better" for _ in range(runs)]))


def test_a_difference_of_the_smallest_detectable_size_is_found_in_about_80_percent():
    assert 0.72 <= found(1, documents=50, runs=400, seed=2) <= 0.88


@pytest.mark.slow
@pytest.mark.parametrize("contrasts", [1, 4, 7])
@pytest.mark.parametrize("documents", [25, 100])
def test_the_stated_power_holds_for_any_number_of_contrasts(contrasts, documents):
    assert 0.72 <= found(contrasts, documents=documents, runs=1000, seed=6) <= 0.88
