"""The gate lets equal runs pass, tolerates a loss up to the margin, and catches a real one."""

import numpy as np
import pytest

from faircut.errors import MetricError
from faircut.evaluation.gate import judge_losses
from faircut.evaluation.power import TYPICAL_SPREAD


def clusters_of(rng, documents, questions):
    """Documents of unequal size, each with a question at least."""
    sizes = rng.multinomial(questions - documents, rng.dirichlet(np.ones(documents))) + 1
    return np.repeat(np.arange(documents), sizes)


def equal_runs(rng, documents, questions, changed):
    document = clusters_of(rng, documents, questions)
    return *equal_pair(rng, document, documents, changed), [f"d{d}" for d in document]


def equal_pair(rng, document, documents, changed):
    """Two runs of one quality: a share of the questions is scored anew in each, with luck shared by document."""
    questions = len(document)
    ease = np.clip(rng.beta(2, 1, documents)[document] + rng.normal(0, 0.15, questions), 0, 1)

    def scored(chance):
        return (rng.random(questions) < chance) * np.clip(rng.normal(1.1, 0.4, questions), 0, 1)

    shared = scored(ease)
    runs = []
    for _ in range(2):
        luck = rng.normal(0, 0.08, documents)[document]
        runs.append(np.where(rng.random(questions) < changed, scored(np.clip(ease + luck, 0, 1)), shared))
    return runs


def lossy_runs(rng, documents, questions, loss):
    """Hits of two runs of which the second loses ``loss`` on average, with differences as spread as usual ones."""
    document = clusters_of(rng, documents, questions)
    moved = TYPICAL_SPREAD**2 + loss**2
    lost, won = (moved + loss) / 2, (moved - loss) / 2
    kind = rng.random(questions)
    stays = rng.random(questions) < 0.7
    base = np.where(kind < lost, 1.0, np.where(kind < lost + won, 0.0, stays))
    scores = np.where(kind < lost, 0.0, np.where(kind < lost + won, 1.0, stays))
    return base, scores, [f"d{d}" for d in document]


def failures(sets, runs, **rules):
    return sum(
        judge_losses({"x": (base, scores)}, clusters, **rules)[0].failed for base, scores, clusters in runs(sets)
    )


@pytest.mark.parametrize("margin", [0.0, 0.02])
def test_two_runs_of_one_chunker_rarely_fail(margin):
    rng = np.random.default_rng(7)
    assert failures(100, lambda n: (equal_runs(rng, 40, 200, 0.4) for _ in range(n)), margin=margin) <= 5


@pytest.mark.slow
@pytest.mark.parametrize(("documents", "questions"), [(60, 300), (30, 150), (25, 60), (8, 100), (3, 30)])
@pytest.mark.parametrize("changed", [0.05, 0.4, 1.0])
@pytest.mark.parametrize("margin", [0.0, 0.02])
def test_two_runs_of_one_chunker_fail_in_at_most_5_percent_of_400_question_sets(documents, questions, changed, margin):
    rng = np.random.default_rng(11)
    sets = (equal_runs(rng, documents, questions, changed) for _ in range(400))
    assert failures(400, lambda _: sets, margin=margin) <= 20


@pytest.mark.slow
def test_several_rows_of_one_quality_fail_together_in_at_most_5_percent():
    rng = np.random.default_rng(12)
    failed = 0
    for _ in range(400):
        document = clusters_of(rng, 40, 200)
        pairs = {name: equal_pair(rng, document, 40, 0.4) for name in "abcde"}
        failed += any(test.failed for test in judge_losses(pairs, [f"d{d}" for d in document], margin=0.0))
    assert failed <= 20


@pytest.mark.slow
def test_a_loss_of_exactly_the_margin_fails_in_at_most_5_percent():
    rng = np.random.default_rng(13)
    sets = (lossy_runs(rng, 60, 300, 0.05) for _ in range(400))
    assert failures(400, lambda _: sets, margin=0.05) <= 20


def test_a_loss_of_a_tenth_on_300_questions_is_caught():
    rng = np.random.default_rng(17)
    sets = [lossy_runs(rng, 60, 300, 0.1) for _ in range(60)]
    assert failures(60, lambda _: sets, margin=0.02) >= 54


def test_the_loss_said_to_be_caught_is_caught_with_about_that_power():
    rng = np.random.default_rng(19)
    base, scores, clusters = lossy_runs(rng, 100, 500, 0.06)
    (test,) = judge_losses({"x": (base, scores)}, clusters, margin=0.02)
    sets = [lossy_runs(rng, 100, 500, test.caught_from) for _ in range(60)]
    assert 40 <= failures(60, lambda _: sets, margin=0.02) <= 57


@pytest.mark.parametrize(
    ("shift", "margin", "outcome"),
    [
        (-0.10, 0.02, "loss above the margin"),
        (-0.10, 0.30, "no loss above the margin"),
        (-0.10, 0.10, "loss not shown to be above the margin"),
        (0.10, 0.02, "no loss above the margin"),
        (0.00, 0.00, "no measured loss"),
    ],
)
def test_the_outcome_says_where_the_interval_lies(shift, margin, outcome):
    rng = np.random.default_rng(23)
    base = rng.uniform(0.2, 0.8, 200)
    scores = base + np.tile([-0.15, 0.15], 100) + shift
    (test,) = judge_losses({"x": (base, np.clip(scores, 0, 1))}, [str(i % 50) for i in range(200)], margin=margin)
    assert test.outcome == outcome
    assert test.failed == (outcome == "loss above the margin")


def test_equal_scores_and_an_equal_loss_of_all_are_judged_too():
    clusters = [str(i) for i in range(30)]
    same, lost = judge_losses({"same": ([0.5] * 30, [0.5] * 30), "lost": ([1.0] * 30, [0.0] * 30)}, clusters)
    assert not same.failed
    assert lost.failed


def test_more_rows_ask_for_a_wider_interval():
    rng = np.random.default_rng(29)
    base, scores, clusters = lossy_runs(rng, 60, 300, 0.1)
    (alone,) = judge_losses({"x": (base, scores)}, clusters)
    among = judge_losses(dict.fromkeys("abcd", (base, scores)), clusters)[0]
    assert among.interval.level == pytest.approx(1 - 0.05 / 4)
    assert among.interval.low < alone.interval.low


@pytest.mark.parametrize("margin", [-0.01, 1.0, float("nan")])
def test_a_wrong_margin_is_refused(margin):
    with pytest.raises(MetricError, match="margin"):
        judge_losses({"x": ([0.5], [0.5])}, ["d"], margin=margin)
