"""Measures print as they parse, and a wrong one is answered with what is possible."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faircut.errors import MetricError
from faircut.evaluation.measures import KINDS, MEASURES, Cut, Measure, parse_measure


@st.composite
def measures(draw):
    kind = draw(st.sampled_from(list(KINDS.values())))
    units = ["chunks", "tokens"] if kind.takes_tokens else ["chunks"]
    cut = Cut(draw(st.integers(1, 10**9)), draw(st.sampled_from(units)))
    threshold = draw(st.floats(0, 1, exclude_min=True)) if kind.takes_threshold else None
    return Measure(kind.name, cut, threshold)


@given(measures())
def test_a_measure_prints_as_it_parses(measure):
    assert parse_measure(str(measure)) == measure


@pytest.mark.parametrize(
    "text",
    [
        "recall@5", "recall@1000t", "precision@5", "precision@250t", "iou@5", "iou@500t", "f1@3", "f1@4000t", "hit@1",
        "hit@1000t", "full@5", "full@1000t", "mrr@10", "context_precision@5", "document_recall@5", "document_mrr@10",
        "literal_hit@5", "semantic_hit(0.7)@5",
    ],
)  # fmt: skip
def test_the_text_of_every_documented_form_is_its_own_printed_form(text):
    assert str(parse_measure(text)) == text


@given(st.text(max_size=30))
def test_any_text_is_a_measure_or_a_metric_error(text):
    try:
        parse_measure(text)
    except MetricError as error:
        assert str(error)  # noqa: PT017  # any other exception fails the test


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("recal@5", "did you mean 'recall'"),
        ("recall", "recall@k, recall@Bt"),
        ("recall@0", "at least, found @0"),
        ("recall@0t", "at least, found @0t"),
        ("recall@-1", "write recall@k"),
        ("recall@5w", "write recall@k"),
        ("recall@5T", "write recall@k"),
        ("recall@٥", "write recall@k"),
        ("mrr@1000t", "mrr counts ranks, not tokens"),
        ("document_recall@100t", "counts ranks, not tokens"),
        ("semantic_hit@5", "needs threshold"),
        ("semantic_hit(high)@5", "a number such as 0.7"),
        ("semantic_hit(nan)@5", "above 0 and up to 1"),
        ("recall(0.5)@5", "takes no threshold"),
        ("ndcg@10", "Possible: context_precision"),
        ("", "Possible: context_precision"),
        ("recall@" + "9" * 5000, "cannot read"),
    ],
)
def test_a_wrong_measure_is_answered_with_what_is_possible(text, said):
    with pytest.raises(MetricError) as caught:
        parse_measure(text)
    assert said in str(caught.value)


def test_every_measure_has_one_line_and_its_published_rules_say_what_they_reward():
    assert set(MEASURES) == set(KINDS)
    assert all("\n" not in line and 20 < len(line) < 120 for line in MEASURES.values())
    for name in ("context_precision", "document_recall", "document_mrr"):
        assert "rewards fragments" in MEASURES[name]
