"""A question of a run is shown with its evidence and hits, with colour or without, and hostile text does nothing."""

import json
from io import BytesIO, StringIO, TextIOWrapper
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from faircut.errors import PlanError, QuestionError
from faircut.experiment.plan import Plan
from faircut.experiment.run import run
from faircut.records import Question
from faircut.report.run_data import data_sets, load_run
from faircut.report.show import Piece, _pieces, _whole_words, _windows, find_question, view_question
from faircut.report.show_terminal import print_question

HOSTILE = "[red]x[/red] \x1b[31m\x1b]0;pwn\x07 \u202e <script>alert(1)</script>"


def data_of(folder, corpus, questions, *chunkers, **options):
    run(Plan(str(corpus), str(questions), chunkers, **options), folder)
    (data,) = data_sets([load_run(folder)])
    return data


@pytest.fixture(scope="module")
def data(small, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "r"
    chunkers = ("recursive(max=60t)", "fixed(6w)")
    return data_of(folder, small / "corpus", small / "questions.jsonl", *chunkers, measure="hit@2")


def printed(view, **options):
    console = Console(file=StringIO(), **({"width": 140} | options))
    print_question(view, console)
    return console.file.getvalue()


# ---------------------------------------------------------------- which question


def questions(*ids):
    return [Question(i, "?", ()) for i in ids]


@pytest.mark.parametrize(
    ("ids", "name", "position"),
    [
        (("a", "ab"), "a", 0),
        (("alpha", "beta"), "be", 1),
        (("alpha", "beta"), "2", 1),
        (("7", "3", "2"), "2", 2),
        (("7", "3", "2"), "#2", 1),
        (("31", "4"), "3", 0),
    ],
)
def test_a_question_is_found_by_id_then_by_a_beginning_then_by_number(ids, name, position):
    assert find_question(questions(*ids), name) == position


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("alpa", r"Did you mean 'alpha\d'\?"),
        ("alpha", r"3 questions begin with 'alpha' \(alpha1, alpha2, alpha3\)"),
        ("9", "from 1 to 3"),
        ("", "no question ''"),
        ("9" * 5000, "from 1 to 3"),
    ],
)
def test_an_unknown_or_ambiguous_question_is_refused_with_what_is_possible(name, said):
    with pytest.raises(QuestionError, match=said):
        find_question(questions("alpha1", "alpha2", "alpha3"), name)


# ---------------------------------------------------------------- what is shown


def test_evidence_and_hits_are_marked_without_any_colour(data):
    shown = printed(view_question(data, 6))
    assert "\x1b" not in shown
    assert "Question 7 of 7, q7: Who may use the lathe, and when is the course?" in shown
    assert "all of these together are the answer" in shown
    assert "The lathe may be used by [[1: members who took the safety course]]. The course is held" in shown
    assert "holds all of evidence 1 and all of evidence 2; workshop.md 0-194" in shown


def test_colour_is_added_to_the_marks_where_there_is_some(data):
    shown = printed(view_question(data, 6), force_terminal=True, color_system="standard")
    assert "\x1b[30;43m[[1: members who took the safety course]]\x1b[0m" in shown
    assert "\x1b[30;46m[[2: " in shown


def test_each_hit_says_what_it_holds_and_what_was_delivered(data):
    whole, fragments = view_question(data, 6, top=4).rows
    assert [hit.delivered for hit in whole.hits] == ["whole", "whole", "no", "no"]
    assert whole.score == 1.0
    assert whole.hits[0].shares == ((1, 1.0), (2, 1.0))
    held = [hit for hit in fragments.hits if hit.shares]
    assert all(b.so_far >= a.so_far for a, b in pairwise(held))
    assert any(hit.so_far > hit.alone for hit in held)


def test_hits_further_down_that_hold_evidence_are_shown_too(data):
    fragments = view_question(data, 6, top=1).rows[1]
    ranks = [hit.rank for hit in fragments.hits]
    assert ranks[0] == 1
    assert len(ranks) == 4
    assert all(hit.shares for hit in fragments.hits[1:])
    assert "not shown: no evidence)" in printed(view_question(data, 6, top=1))


def test_a_miss_says_why(data):
    row = view_question(data, 2, rows=["fixed(6w)"]).rows[0]
    assert row.cause == "cut"
    assert "a boundary lies inside it" in row.explanation[0]
    shown = printed(view_question(data, 2, rows=["fixed(6w)"]))
    assert "minilm::fixed(6w): hit@2 0.000; missed, cut" in shown
    assert "it would have been a hit" in shown
    assert "moving the boundary by one sentence" in shown


def test_rows_are_chosen_by_row_or_chunker_and_unknown_ones_refused(data):
    assert [r.name for r in view_question(data, 0, rows=["minilm::fixed(6w)"]).rows] == ["minilm::fixed(6w)"]
    with pytest.raises(PlanError, match=r"no row 'fixed\(7w\)'.*Possible: .*fixed\(6w\)"):
        view_question(data, 0, rows=["fixed(7w)"])


@pytest.mark.parametrize("width", [10, 24, 40, 80])
def test_nothing_is_cut_off_however_narrow_the_terminal(data, width):
    shown = printed(view_question(data, 6, rows=["recursive(max=60t)"], top=1), width=width)
    assert max(map(len, shown.splitlines())) <= width
    assert "members who took the safety course" in " ".join(shown.split())
    assert "on the first Monday of a month" in " ".join(shown.split())


def test_a_terminal_without_unicode_gets_dots(data):
    file = TextIOWrapper(BytesIO(), encoding="ascii")
    print_question(view_question(data, 2), Console(file=file, width=140))
    file.flush()
    assert b" ... ## Fees" in file.buffer.getvalue()


def test_alternatives_and_a_search_in_one_document_are_said(small, tmp_path):
    gold = [{"document": "harbour.md", "quote": "outer quay."}, {"document": "harbour.md", "quote": "Dogs are welcome"}]
    line = {"id": "x", "question": "What?", "gold": gold, "gold_is": "any", "within": "harbour.md"}
    (tmp_path / "q.jsonl").write_text(json.dumps(line) + "\n")
    shown = printed(view_question(data_of(tmp_path / "r", small / "corpus", tmp_path / "q.jsonl", "fixed(9w)"), 0))
    assert "any one of these is an answer" in shown
    assert "searched in harbour.md only" in shown
    assert "library.txt" not in shown


def test_hostile_documents_and_questions_do_nothing(tmp_path):
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "a\x1b[31m.md").write_text(f"# {HOSTILE}\n\nThe key is under the mat. {HOSTILE}\n" * 30)
    name = "a\x1b[31m.md"
    line = {"id": f"1{HOSTILE}", "question": HOSTILE, "gold": [{"document": name, "start": 60, "end": 90}]}
    (tmp_path / "q.jsonl").write_text(json.dumps(line) + "\n")
    found = data_of(tmp_path / "r", tmp_path / "corpus", tmp_path / "q.jsonl", "recursive(max=60t)")
    shown = printed(view_question(found, 0, full=True))
    assert not {"\x1b", "\u202e", "\x07"} & set(shown)
    assert "[red]x[/red]" in shown
    assert "\\x1b[31m" in shown


# ---------------------------------------------------------------- excerpts

MARKS = st.lists(st.tuples(st.integers(0, 900), st.integers(1, 700)), max_size=4).map(
    lambda pairs: sorted((a, min(a + n, 1000), i) for i, (a, n) in enumerate(pairs, 1))
)


@given(MARKS, st.sampled_from([None, 0, 7, 120]))
def test_pieces_are_the_text_in_order_with_every_mark_begun(marks, around):
    text = "".join(chr(0x4E00 + i) for i in range(1000))
    pieces = list(_pieces(text, (0, 1000), marks, _windows(0, 1000, marks, around)))
    at = 0
    for piece in pieces:
        if not piece.gap:
            assert text.find(piece.text) >= at
            at = text.find(piece.text) + len(piece.text)
    if around is None:
        assert "".join(piece.text for piece in pieces) == text
    marked = "".join(piece.text for piece in pieces if piece.evidence)
    assert {text[a] for a, _, _ in marks} <= set(marked)
    assert not any(a.gap and b.gap for a, b in pairwise(pieces))


def test_what_is_left_out_of_a_long_mark_is_its_middle():
    text = "x" * 2000
    pieces = list(_pieces(text, (0, 2000), [(500, 1500, 1)], _windows(0, 2000, [(500, 1500, 1)], 50)))
    assert [len(p.text) for p in pieces if p.evidence] == [250, 250]
    assert pieces[0] == Piece("", gap=True)


def test_words_are_not_broken_beside_what_is_left_out():
    text = "alpha beta " * 50
    mark = [(220, 224, 1)]
    pieces = _whole_words(_pieces(text, (0, len(text)), mark, _windows(0, len(text), mark, 9)))
    assert [p.text for p in pieces if not p.gap] == ["beta ", "alph", "a beta"]
