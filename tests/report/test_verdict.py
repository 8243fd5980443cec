"""The verdict says what the leaderboard decided, in words that need no glossary."""

import pytest

from faircut.report.data import results_of
from faircut.report.money import money_columns
from faircut.report.verdict import verdict_of


def contrast(difference, verdict, smallest=0.05):
    half = 0.02
    return {
        "difference": difference, "verdict": verdict, "p_holm": 0.01, "smallest_detectable": smallest,
        "questions_needed": 900, "interval": {"low": difference - half, "high": difference + half},
    }  # fmt: skip


def row(name, mean, cost, found=None, *, control=False):
    return {
        "row": f"minilm::{name}", "is_baseline": found is None, "is_control": control, "contrast": found, "chunks": 10,
        "score": {"mean": mean, "low": mean - 0.1, "high": mean + 0.1}, "unanswered": 0, "uncut_documents": 0,
        "same_chunks_as": [], "underfilled": {}, "tokens_per_question": 1000.0, "beside": {}, "tokens_at": {},
        "size": {"p5": 1, "median": 2, "p95": 3}, "integrity": {"ok": True, "words": "nothing lost, nothing wrong"},
        "curve": {}, "chunker": name, "embedder": "minilm", "spec": name,
        "cost": {"embedded_tokens": 1000, "embedded_per_document_token": cost, "cutting_seconds": 0.1,
                 "embedding_seconds": 1.0, "overlong_for_cutting": 0},
    }  # fmt: skip


def board(*rows, measure="recall@1000t"):
    return {
        "run": "r", "measure": measure, "shown_beside": [], "baseline": "minilm::base", "band": 0.03, "alpha": 0.05,
        "questions": 200, "corpus": {"documents": 30}, "controls": [],
        "planned": {"unit": "document", "smallest_difference": 0.08}, "rows": list(rows),
    }  # fmt: skip


def test_a_winner_is_named_with_its_lead_and_its_interval():
    verdict = verdict_of(board(row("best", 0.7, 1.0, contrast(0.2, "better")), row("base", 0.5, 1.0)))
    assert verdict.headline == "How you cut matters here: best beats base."
    assert "70 % with best and 50 % with the baseline base: 20 points more" in verdict.sentences[0]
    assert "+18 to +22 points" in verdict.sentences[0]


def test_equals_lead_to_the_cheapest():
    verdict = verdict_of(board(row("dear", 0.51, 2.0, contrast(0.01, "equivalent")), row("base", 0.5, 1.0)))
    assert verdict.headline == "It makes no difference that matters: take the cheapest, base."


@pytest.mark.parametrize("money", [0.5, None])
def test_what_a_language_model_was_paid_for_is_not_the_cheapest_however_little_is_embedded(money):
    asking, own = row("llm", 0.51, 0.5, contrast(0.01, "equivalent")), row("base", 0.5, 1.0)
    asking["cost"] |= {"llm_requests": 3, "llm_prompt_tokens": 30, "llm_completion_tokens": 9, "money": money}
    asking["cost"] |= {"llm_money": money, "embedding_money": 0.0, "embedding_price": 0.0}
    own["cost"] |= {"money": 0.0, "embedding_money": 0.0, "embedding_price": 0.0}
    assert verdict_of(board(asking, own)).headline.endswith("take the cheapest, base.")
    assert "the cheapest of those not shown to be worse is minilm::base." in results_of(board(asking, own)).sentence


def test_what_could_not_be_seen_is_said_with_the_smallest_difference_that_could():
    verdict = verdict_of(
        board(row("other", 0.53, 0.5, contrast(0.03, "no measured difference", 0.12)), row("base", 0.5, 1.0))
    )
    assert verdict.headline == "Nothing is shown to beat base; the cheapest not shown to be worse is other."
    assert any("a difference below 12 points would most likely have gone unseen" in s for s in verdict.sentences)
    assert "No difference was measured for: other." in verdict.sentences


def test_scores_that_read_alike_are_no_range():
    rows = row("other", 0.501, 1.0, contrast(-0.001, "equivalent")), row("base", 0.502, 1.0)
    assert (
        verdict_of(board(*rows))
        .sentences[0]
        .endswith("is 50 % with the baseline base and 50 % with every other, rounded.")
    )


def test_what_is_not_all_is_never_said_to_be_all_and_a_small_lead_is_not_none():
    found = contrast(0.003, "better") | {"interval": {"low": 0.0004, "high": 0.02}}
    verdict = verdict_of(board(row("best", 0.998, 1.0, found), row("base", 0.995, 1.0)))
    assert "is 99.8 % with best and 99.5 % with the baseline base: 0.3 points more" in verdict.sentences[0]
    assert "(95 % interval +0.04 to +2 points)" in verdict.sentences[0]


def test_a_smoke_test_is_labelled_above_the_verdict():
    rows = row("best", 0.7, 1.0, contrast(0.2, "better")), row("base", 0.5, 1.0)
    assert verdict_of(board(*rows) | {"smoke_tests": 20}).label.startswith("SMOKE TEST: 20 of 200 questions")
    assert verdict_of(board(*rows)).label == ""


def test_a_control_never_wins():
    rows = row("shuffled(base)", 0.9, 1.0, contrast(0.4, "better"), control=True), row("base", 0.5, 1.0)
    assert "shuffled" not in verdict_of(board(*rows)).headline


def test_controls_tell_for_whom_the_places_of_the_boundaries_count():
    rows = row("best", 0.7, 1.0, contrast(0.2, "better")), row("base", 0.5, 1.0)
    control = row("shuffled(base)", 0.5, 1.0, contrast(0.0, "no measured difference"), control=True)
    found = [
        contrast(0.2, "better") | {"name": "minilm::best"},
        contrast(0.0, "equivalent") | {"name": "minilm::base"},
    ]
    verdict = verdict_of(board(*rows, control) | {"controls": found})
    assert "The places of the boundaries count for best: better than the same sizes cut elsewhere." in verdict.sentences
    assert (
        "For base it is not shown that the places of the boundaries count: the sizes alone may explain the score."
        in verdict.sentences
    )
    assert not any("shuffled" in sentence for sentence in verdict.sentences)


def test_text_that_the_embedder_never_saw_is_said_with_its_share():
    short, long = row("short", 0.7, 1.0, contrast(0.2, "better")), row("base", 0.5, 1.0)
    long["integrity"] = {"ok": False, "words": "9 chunks beyond the embedder's limit", "unseen_tokens": 430}
    leaderboard = board(short, long) | {"corpus": {"documents": 30, "tokens": 1000}}
    assert "Text that it never saw: base (43 %)." in verdict_of(leaderboard).sentences[1]


def test_a_single_row_is_measured_not_compared():
    verdict = verdict_of(board(row("base", 0.5, 1.0)) | {"planned": None})
    assert verdict.headline == "minilm::base was measured alone."
    assert verdict.sentences == (
        "The share of the evidence found within 1,000 tokens of context is 50 % (95 % interval 40 % to 60 %).",
    )


@pytest.mark.parametrize(
    ("measure", "words"),
    [("hit@5", "share of questions answered within the first 5 chunks"), ("iou@500t", "score by iou@500t")],
)
def test_the_measure_is_told_in_words(measure, words):
    verdict = verdict_of(board(row("best", 0.7, 1.0, contrast(0.2, "better")), row("base", 0.5, 1.0), measure=measure))
    assert verdict.sentences[0].startswith(f"The {words} is 70 %")


def whole(name, count, found=None):
    return row(name, 0.5, 1.0, found) | {"uncut_documents": count}


def test_documents_are_too_short_only_where_every_chunker_leaves_them_whole():
    equal = contrast(0.0, "equivalent")
    notes = " ".join(results_of(board(whole("llm", 30, equal), whole("base", 0))).notes)
    assert "minilm::llm left 30 of 30 documents in one chunk: it did not cut them." in notes
    notes = " ".join(results_of(board(whole("llm", 30, equal), whole("base", 29))).notes)
    assert "minilm::base left 29 of 30 documents in one chunk: they are too short to tell chunkers apart." in notes


def test_what_a_model_gave_is_beside_the_verdict_when_little_of_it_is_used():
    idle = row("propositions", 0.5, 1.0, contrast(0.0, "equivalent"))
    idle["integrity"] |= {"model_asked": 81, "uncited": 81, "words": "the model wrote 0 statements for 81 sentences"}
    [line, base] = results_of(board(idle, row("base", 0.5, 1.0))).lines
    assert line.integrity_note == "the model wrote 0 statements for 81 sentences"
    assert base.integrity_note == ""


@pytest.mark.parametrize(("seconds", "shown"), [(12.34, "12.3"), (None, "cached")])
def test_the_seconds_of_a_model_are_a_column_and_never_0_where_a_cache_answered(seconds, shown):
    asking = row("llm", 0.51, 0.5, contrast(0.01, "equivalent"))
    asking["cost"] |= {"llm_requests": 3, "llm_prompt_tokens": 30, "llm_completion_tokens": 9, "llm_seconds": seconds}
    lines = results_of(board(asking, row("base", 0.5, 1.0))).lines
    assert [dict(money_columns(lines))["llm s"](line) for line in lines] == [shown, ""]
