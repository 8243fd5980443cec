"""A measure that looks at much of what may be searched is told, with one that would show more."""

from faircut.evaluation.measures import parse_measure
from faircut.experiment.notes import about_measures, searched_chunks, searched_tokens
from faircut.records import Chunk, Question, Span


def about(measure, tokens, chunks=None):
    return about_measures([parse_measure(measure)], tokens, chunks)


def test_a_budget_of_a_quarter_or_more_is_told_with_a_smaller_one():
    assert about("recall@1000t", 1666) == [
        "recall@1000t: 1,000 tokens are 60 % of what may be searched; differences can hardly show; "
        "try --measure recall@250t."
    ]
    assert about("recall@1000t", 4001) == []
    assert len(about("recall@1000t", 4000)) == 1
    assert "more documents" in about("recall@1000t", 150)[0]


def test_chunks_typed_for_tokens_are_asked_about():
    assert "did you mean recall@250t?" in about("recall@250", 20_000)[0]
    assert "250 chunks are more than all of what may be searched" in about("recall@250", 20_000, 100)[0]
    assert about("recall@5", 20_000, 100) == []
    assert "take a smaller k" in about("mrr@50", 20_000, 100)[0]


def test_a_search_within_a_document_counts_that_document():
    questions = [Question("a", "?", (), within="one"), Question("b", "?", (), within="one"), Question("c", "?", ())]
    assert [q.within for q in questions] == ["one", "one", None]
    assert searched_tokens(questions, {"one": 10, "two": 90}) == 10
    chunks = [Chunk(name, (Span(0, 1),), "x") for name in ("one", "two", "two")]
    assert searched_chunks(questions, chunks) == 1
