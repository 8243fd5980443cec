"""Every measure against a slow reference over sets of positions, and by hand where a published tool went wrong."""

import re
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faircut.errors import MetricError
from faircut.evaluation.context import Passage, passage
from faircut.evaluation.measures import Cut, parse_measure
from faircut.evaluation.metrics import score
from faircut.records import Chunk, Evidence, Question, Span

# ---------------------------------------------------------------- a small exact tokenizer: three characters of a word


@dataclass(frozen=True)
class Triples:
    """Token counts of one text whose tokens are pieces of at most three characters of its words."""

    text: str

    @property
    def total(self):
        return self.count(0, len(self.text))

    def ends(self, start, end):
        words = re.finditer(r"\S+", self.text[start:end])
        return [start + i for w in words for i in (*range(w.start() + 3, w.end(), 3), w.end())]

    def count(self, start, end):
        return len(self.ends(start, end))

    def furthest(self, start, limit, end=None):
        ends = self.ends(start, len(self.text) if end is None else end)
        return ends[min(limit, len(ends)) - 1] if limit and ends else start


DOCUMENTS = {"a": "alpha beta gamma delta epsilon zeta", "b": "one two  three four\n\nfive six seven eight nine"}


def index_of(document_id):
    return Triples(DOCUMENTS[document_id])


def made(document_id, *ranges, context="", rewritten=None):
    text = DOCUMENTS[document_id]
    body = "".join(text[s:e] for s, e in ranges) if rewritten is None else rewritten
    chunk = Chunk(document_id, tuple(Span(s, e) for s, e in ranges), body, context)
    tokens = sum(index_of(document_id).count(s, e) for s, e in ranges) if rewritten is None else Triples(body).total
    return passage(chunk, tokens=tokens, context_tokens=Triples(context).total, verbatim=rewritten is None)


def asked(*places, match="all", name="q"):
    return Question(name, "?", tuple(Evidence(d, Span(s, e)) for d, s, e in places), match)


def value(text, question, passages, **more):
    return score([question], {question.id: passages}, [parse_measure(text)], token_index=index_of, **more).values[0, 0]


# ---------------------------------------------------------------- the reference


def delivered_by_reference(passages, cut):
    """Positions, characters and tokens that a reader has in hand, counted token by token."""
    held, characters, tokens = set(), 0, 0
    for rank, p in enumerate(passages):
        if cut.unit == "chunks" and rank == cut.amount:
            break
        left = cut.amount - tokens if cut.unit == "tokens" else p.tokens
        if p.tokens <= left:
            held |= {(p.document_id, i) for s, e in p.ranges for i in range(s, e)}
            characters, tokens = characters + p.characters, tokens + p.tokens
            continue
        if left == 0:
            break
        if left <= p.context_tokens:
            return held, characters + p.context_characters * left // p.context_tokens, tokens + left
        if not p.verbatim:
            return held, characters + p.characters * left // p.tokens, tokens + left
        tokens, characters, left = tokens + p.context_tokens, characters + p.context_characters, left - p.context_tokens
        for s, e in p.ranges:
            ends = index_of(p.document_id).ends(s, e)
            stop = e if len(ends) <= left else ends[left - 1] if left else s
            held |= {(p.document_id, i) for i in range(s, stop)}
            characters, tokens, left = characters + stop - s, tokens + min(left, len(ends)), left - len(ends)
            if left < 0:
                break
        break
    return held, characters, tokens


def reference(name, question, passages, cut):
    held, characters, _ = delivered_by_reference(passages, cut)
    pieces = [{(e.document_id, i) for i in range(e.span.start, e.span.end)} for e in question.evidence]
    golds = [set().union(*pieces)] if question.match == "all" else pieces
    if name == "hit":
        return float(any(len(p & held) >= 0.95 * len(p) for p in pieces))
    if name == "mrr":
        cuts = range(1, min(cut.amount, len(passages)) + 1)
        return next((1 / r for r in cuts if reference("hit", question, passages, Cut(r))), 0.0)
    return max(share(name, len(g & held), len(g), characters) for g in golds)


def share(name, covered, gold, characters):
    recall, precision = covered / gold, covered / characters if characters else 0.0
    return {
        "recall": recall,
        "precision": precision,
        "iou": covered / (characters + gold - covered),
        "f1": 2 * recall * precision / (recall + precision) if covered else 0.0,
        "full": float(covered == gold),
    }[name]


# ---------------------------------------------------------------- small random cases


@st.composite
def places(draw):
    document_id = draw(st.sampled_from(sorted(DOCUMENTS)))
    start = draw(st.integers(0, len(DOCUMENTS[document_id]) - 1))
    return document_id, start, draw(st.integers(start + 1, len(DOCUMENTS[document_id])))


@st.composite
def passages_of(draw):
    document_id, start, end = draw(places())
    ranges = [(start, end)]
    if draw(st.booleans()) and end < len(DOCUMENTS[document_id]) - 1:
        second = draw(st.integers(end, len(DOCUMENTS[document_id]) - 1))
        ranges.append((second, draw(st.integers(second + 1, len(DOCUMENTS[document_id])))))
    rewritten = draw(st.sampled_from([None, None, None, "short", "a much longer way to say the same thing again"]))
    return made(document_id, *ranges, context=draw(st.sampled_from(["", "", "Head > Line"])), rewritten=rewritten)


questions = st.builds(
    lambda some, match: asked(*some, match=match),
    st.lists(places(), min_size=1, max_size=3),
    st.sampled_from(["all", "any"]),
)
rankings = st.lists(passages_of(), max_size=5)
cuts = st.one_of(st.builds(Cut, st.integers(1, 6)), st.builds(lambda n: Cut(n, "tokens"), st.integers(1, 40)))


@settings(max_examples=500)
@given(questions, rankings, cuts)
def test_every_measure_equals_the_count_of_positions(question, passages, cut):
    names = ["recall", "precision", "iou", "f1", "hit", "full"] + ["mrr"] * (cut.unit == "chunks")
    table = score([question], {"q": passages}, [parse_measure(f"{name}@{cut}") for name in names], token_index=index_of)
    expected = [reference(name, question, passages, cut) for name in names]
    assert table.values[0].tolist() == pytest.approx(expected, abs=1e-12)
    _, characters, tokens = delivered_by_reference(passages, cut)
    assert table.totals[cut].characters.tolist() == [characters]
    assert table.totals[cut].tokens.tolist() == [tokens]
    assert cut.unit == "chunks" or tokens <= cut.amount


@given(st.lists(st.tuples(questions, rankings), min_size=1, max_size=4), cuts)
def test_questions_scored_together_get_what_they_get_alone(cases, cut):
    named = [Question(f"q{i}", "?", q.evidence, q.match) for i, (q, _) in enumerate(cases)]
    ranked = {q.id: passages for q, (_, passages) in zip(named, cases, strict=True)}
    measures = [parse_measure(f"{name}@{cut}") for name in ("recall", "precision", "iou", "f1", "hit", "full")]
    together = score(named, ranked, measures, token_index=index_of)
    alone = [score([q], {q.id: ranked[q.id]}, measures, token_index=index_of).values[0] for q in named]
    assert np.array_equal(together.values, np.stack(alone))
    assert together.unanswered == sum(not passages for passages in ranked.values())


@given(questions, rankings, st.integers(1, 40), st.integers(1, 40))
def test_recall_never_falls_when_the_budget_grows(question, passages, a, b):
    low, high = sorted((a, b))
    assert value(f"recall@{low}t", question, passages) <= value(f"recall@{high}t", question, passages)


# ---------------------------------------------------------------- by hand


def test_overlap_is_delivered_twice_and_covered_once():
    question = asked(("a", 0, 10))
    twice = [made("a", (0, 10)), made("a", (0, 10))]
    assert value("recall@2", question, twice) == 1
    assert value("precision@2", question, twice) == 0.5
    assert value("iou@2", question, twice) == 0.5
    assert value("f1@2", question, twice) == pytest.approx(2 / 3)


def test_a_perfect_chunk_keeps_iou_1_beside_evidence_that_only_touches_it():
    assert value("iou@1", asked(("a", 5, 10)), [made("a", (5, 10))]) == 1
    assert value("recall@1", asked(("a", 5, 10)), [made("a", (0, 5)), made("a", (5, 10))]) == 0


def test_pieces_of_evidence_that_overlap_are_counted_once():
    assert value("recall@1", asked(("a", 0, 10), ("a", 5, 20)), [made("a", (0, 10))]) == 0.5


def test_of_alternatives_the_best_one_counts():
    question = asked(("a", 0, 10), ("b", 0, 20), match="any")
    assert value("recall@1", question, [made("b", (0, 19))]) == 0.95
    assert value("full@1", question, [made("a", (0, 12))]) == 1
    assert value("full@1", asked(("a", 0, 10), ("b", 0, 20)), [made("a", (0, 12))]) == 0


def test_two_chunks_together_make_a_hit_of_at_least_95_percent():
    question = asked(("b", 0, 20))
    halves = [made("b", (0, 10)), made("b", (30, 40)), made("b", (10, 19))]
    assert value("hit@2", question, halves) == 0
    assert value("hit@3", question, halves) == 1
    assert value("full@3", question, halves) == 0
    assert value("mrr@10", question, halves) == pytest.approx(1 / 3)
    assert value("mrr@2", question, halves) == 0
    assert value("hit@3", asked(("b", 0, 21)), halves) == 0


def test_the_last_chunk_is_cut_where_the_budget_ends():
    chunk = made("a", (0, 35))  # alp ha | bet a | gam ma | ...
    assert value("recall@3t", asked(("a", 0, 9)), [chunk]) == pytest.approx(9 / 9)
    assert value("recall@2t", asked(("a", 0, 10)), [chunk]) == 0.5
    assert value("precision@2t", asked(("a", 0, 10)), [chunk]) == 1


def test_a_context_is_paid_first_and_covers_nothing():
    plain, headed = made("a", (0, 5)), made("a", (0, 5), context="Head")  # two tokens each
    question = asked(("a", 0, 5))
    assert value("recall@2t", question, [plain]) == 1
    assert value("recall@2t", question, [headed]) == 0
    assert value("recall@4t", question, [headed]) == 1
    assert value("precision@1", question, [headed]) == 0.5  # four letters of context and a line end


def test_a_rewritten_chunk_covers_its_sources_whole_and_nothing_when_cut():
    told = made("b", (0, 19), rewritten="1 to 4")
    question = asked(("b", 0, 19))
    assert value("recall@1", question, [told]) == 1
    assert value("precision@1", question, [told]) == 1
    assert value("recall@3t", question, [told]) == 1
    assert value("recall@2t", question, [told]) == 0


def test_a_question_without_a_result_scores_0_and_is_counted():
    answered, unanswered = asked(("a", 0, 5), name="q1"), asked(("a", 0, 5), name="q2")
    measures = [
        parse_measure(m)
        for m in ("recall@5", "precision@9t", "iou@5", "f1@5", "hit@5", "full@5", "mrr@5", "document_recall@5",
                  "document_mrr@5", "context_precision@5", "literal_hit@5", "semantic_hit(0.5)@5")
    ]  # fmt: skip
    table = score(
        [answered, unanswered],
        {"q1": [made("a", (0, 5))]},
        measures,
        token_index=index_of,
        evidence_texts={"q1": ["alpha"], "q2": ["alpha"]},
        cosines={"q1": np.ones((1, 1))},
    )
    assert table.values[0].tolist() == [1.0] * 12
    assert table.values[1].tolist() == [0.0] * 12
    assert table.unanswered == 1
    assert table.mean(measures[0]) == 0.5


def test_a_ranking_that_ends_before_the_budget_is_counted():
    table = score([asked(("a", 0, 5))], {"q": [made("a", (0, 5))]}, [parse_measure("recall@9t")], token_index=index_of)
    assert table.totals[Cut(9, "tokens")].underfilled == 1
    table = score([asked(("a", 0, 5))], {"q": [made("a", (0, 5))]}, [parse_measure("recall@2t")], token_index=index_of)
    assert table.totals[Cut(2, "tokens")].underfilled == 0


def test_the_corpus_measure_divides_sums_over_all_questions():
    short, long = asked(("a", 0, 5), name="q1"), asked(("a", 0, 35), name="q2")
    recall, precision = parse_measure("recall@1"), parse_measure("precision@1")
    table = score(
        [short, long],
        {"q1": [made("a", (0, 10))], "q2": [made("a", (0, 5))]},
        [recall, precision],
        token_index=index_of,
    )
    assert table.mean(recall) == pytest.approx((1 + 5 / 35) / 2)
    assert table.pooled(recall) == pytest.approx(10 / 40)
    assert table.pooled(precision) == pytest.approx(10 / 15)


def test_document_measures_reward_fragments_that_hold_nothing_of_the_answer():
    question = asked(("a", 0, 10))
    fragments = [made("b", (0, 3)), made("a", (30, 32)), made("a", (32, 35)), made("a", (28, 30))]
    assert value("context_precision@4", question, fragments) == 0.75
    assert value("context_precision@9", question, fragments) == 0.75
    assert value("document_recall@4", question, fragments) == 1
    assert value("document_recall@1", question, fragments) == 0
    assert value("document_mrr@4", question, fragments) == 0.5
    assert value("recall@4", question, fragments) == 0
    assert value("document_recall@1", asked(("a", 0, 9), ("b", 0, 9)), fragments) == 0.5
    assert value("document_recall@1", asked(("a", 0, 9), ("b", 0, 9), match="any"), fragments) == 1


def test_a_literal_hit_wants_the_whole_evidence_in_one_chunk_with_white_space_alike():
    question = asked(("b", 4, 13))
    texts = {"q": ["two three"]}
    assert value("literal_hit@1", question, [made("b", (0, 19))], evidence_texts=texts) == 1
    halves = [made("b", (0, 9)), made("b", (9, 19))]
    assert value("literal_hit@2", question, halves, evidence_texts=texts) == 0
    assert value("hit@2", question, halves) == 1
    assert value("literal_hit@1", question, [made("b", (4, 7))], evidence_texts=texts) == 0


def test_a_semantic_hit_looks_at_the_cosines_of_the_first_k_only():
    cosines = {"q": np.array([[0.2], [0.71]], dtype=np.float32)}
    ranked = [made("b", (0, 5)), made("b", (5, 9))]
    assert value("semantic_hit(0.7)@1", asked(("a", 0, 5)), ranked, cosines=cosines) == 0
    assert value("semantic_hit(0.7)@2", asked(("a", 0, 5)), ranked, cosines=cosines) == 1
    assert value("semantic_hit(0.72)@2", asked(("a", 0, 5)), ranked, cosines=cosines) == 0


def test_scores_come_out_as_records_too():
    table = score([asked(("a", 0, 5))], {"q": [made("a", (0, 5))]}, [parse_measure("recall@2t")], token_index=index_of)
    (record,) = table.records()
    assert (record.question_id, record.measure, record.value) == ("q", "recall@2t", 1.0)


# ---------------------------------------------------------------- what is refused


def test_a_value_outside_0_to_1_is_an_error():
    lying = Passage("a", ((0, 30),), characters=10, tokens=3)  # holds 30 characters, charges 10
    with pytest.raises(MetricError, match=r"precision@1 of question 'q' is 3\.0, outside \[0, 1\]"):
        value("precision@1", asked(("a", 0, 30)), [lying])
    with pytest.raises(MetricError, match="outside"):
        value("precision@1", asked(("a", 0, 30)), [Passage("a", ((0, 30),), characters=0, tokens=0)])


@pytest.mark.parametrize(
    ("questions", "rankings", "measures", "said"),
    [
        ([], {}, ["recall@5"], "nothing to score"),
        ([asked(("a", 0, 5))], {}, [], "nothing to score"),
        ([asked(("a", 0, 5))] * 2, {}, ["recall@5"], "twice"),
        ([asked(("a", 0, 5))], {}, ["recall@5", "recall@5"], "twice"),
        ([asked(("a", 0, 5))], {"other": []}, ["recall@5"], "unknown questions, the first is 'other'"),
        ([Question("q", "?", ())], {}, ["recall@5"], "has no evidence"),
        ([asked(("a", 0, 5))], {"q": [made("a", (0, 5))]}, ["literal_hit@5"], "needs evidence_texts"),
        ([asked(("a", 0, 5))], {"q": [made("a", (0, 5))]}, ["semantic_hit(0.7)@5"], "needs cosines"),
    ],
)
def test_what_cannot_be_scored_is_refused_with_the_reason(questions, rankings, measures, said):
    with pytest.raises(MetricError, match=said):
        score(questions, rankings, [parse_measure(m) for m in measures], token_index=index_of)


def test_cosines_of_the_wrong_shape_are_refused():
    with pytest.raises(MetricError, match=r"shape \(1, 1\) are wanted, found \(2, 1\)"):
        value("semantic_hit(0.7)@5", asked(("a", 0, 5)), [made("a", (0, 5))], cosines={"q": np.zeros((2, 1))})
