"""A review is on the disk after every decision, and goes on where it was left."""

import json

import pytest

from faircut.errors import QuestionError
from faircut.questions.review import is_too_short, open_review


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_text(
        "".join(json.dumps({"id": str(n), "question": f"Q{n}?", "gold": [], "style": "x"}) + "\n" for n in range(4))
    )
    return path


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_each_decision_is_written_at_once_and_other_keys_stay(path):
    session = open_review(path)
    first, second, third, _ = session.waiting
    session.accept(first)
    assert lines(path)[0] == {"id": "0", "question": "Q0?", "gold": [], "style": "x", "review": "accepted"}
    session.edit(second, " Better? ")
    assert (lines(path)[1]["question"], lines(path)[1]["before_review"]) == ("Better?", "Q1?")
    session.drop(third)
    assert [line["id"] for line in lines(path)] == ["0", "1", "3"]
    assert [line["id"] for line in lines(path.with_name("q.dropped.jsonl"))] == ["2"]
    assert [record["id"] for record in open_review(path).waiting] == ["3"]


def test_a_question_that_was_being_dropped_when_the_process_was_killed_is_in_one_place(path):
    session = open_review(path)
    path.with_name("q.dropped.jsonl").write_text(json.dumps(session.waiting[1]) + "\n")
    again = open_review(path)
    assert [record["id"] for record in again.waiting] == ["0", "2", "3"]
    assert len(again.dropped) == 1


def test_a_gzipped_file_is_reviewed_too(path, tmp_path):
    import gzip

    packed = tmp_path / "p.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    session = open_review(packed)
    session.drop(session.waiting[0])
    assert session.dropped_path.name == "p.dropped.jsonl.gz"
    assert len(open_review(packed).waiting) == 3


def test_a_blank_edit_is_refused(path):
    session = open_review(path)
    with pytest.raises(QuestionError, match="drop it instead"):
        session.edit(session.waiting[0], " ")


@pytest.mark.parametrize(
    ("text", "short"),
    [("v", True), ("Accepted", True), ("a b", True), ("Who came?", False), ("何時閉まる？", False), ("何", True)],
)
def test_a_slip_of_the_keyboard_is_no_question(text, short):
    assert is_too_short(text) is short


@pytest.mark.parametrize("most", range(1, 12))
def test_an_excerpt_is_cut_between_words(most):
    from faircut.cli.questions_review import _words_until

    cut = _words_until("Owls see well by night", most)
    assert len(cut) <= most
    assert cut in ("Owls", "Owls see", "Owls ") or most < 4
    assert _words_until("長い文章です", 3) == "長い文"
