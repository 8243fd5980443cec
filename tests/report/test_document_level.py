"""Questions that only name documents are judged by documents, and everything else says why it is not there."""

import json
import warnings
from io import StringIO
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

from faircut.errors import FaircutWarning, PlanError
from faircut.experiment.gate import gate
from faircut.experiment.kept import kept_questions
from faircut.experiment.plan import Plan
from faircut.experiment.run import run
from faircut.experiment.store import RunStore
from faircut.questions import read_questions
from faircut.questions.document_level import is_document_level, needs_places
from faircut.report.data import results_of
from faircut.report.figures import figures
from faircut.report.markdown import leaderboard_markdown
from faircut.report.notebook import Leaderboard
from faircut.report.pages import render_report
from faircut.report.payload import data_set_values, hits_of
from faircut.report.run_data import data_sets, load_run
from faircut.report.show import view_question
from faircut.report.show_terminal import print_question
from faircut.report.tables import leaderboard_table
from faircut.report.terminal import print_results

CHUNKERS = ("recursive(max=60t)", "sentence(max=40t)")
WHY = "nothing that needs the place of the answer is measured"


def whole(line):
    gold = [{"document": d, "whole": True} for d in dict.fromkeys(e["document"] for e in line["gold"])]
    return line | {"gold": gold}


def compared(small, folder, change, **plan):
    """A finished run on the small corpus, its questions changed."""
    lines = [json.loads(line) for line in (small / "questions.jsonl").read_text().splitlines()]
    asked = folder / "questions.jsonl"
    asked.write_text("".join(json.dumps(change(n, line)) + "\n" for n, line in enumerate(lines)))
    given = Plan(str(small / "corpus"), str(asked), CHUNKERS, index="exact", **plan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FaircutWarning)
        board = run(given, folder / "run", cache=folder / "vectors.sqlite")
    return folder / "run", board


@pytest.fixture(scope="module")
def named(small, tmp_path_factory) -> tuple[Path, dict]:
    """A run on questions that only name documents, with a budget of one chunk so that some are missed."""
    return compared(small, tmp_path_factory.mktemp("named"), lambda _n, q: whole(q), measure="document_recall@1")


def test_the_leaderboard_holds_only_what_documents_can_be_judged_by(named):
    folder, board = named
    assert (board["document_level"], board["questions"]) == (7, 7)
    for row in board["rows"]:
        assert next(iter(row["beside"])) == "document_recall@1"
        assert not [measure for measure in row["beside"] if needs_places(measure)]
        assert (row["curve"], row["causes"]) == ({}, {})
        assert row["tokens_per_question"] > 0
    assert not (folder / "diagnosis").exists()
    columns = pl.read_parquet(next((folder / "scores").glob("*.parquet"))).columns
    assert not [c for c in columns if "@" in c and not c.startswith("tokens@") and needs_places(c)]
    assert all(map(is_document_level, kept_questions(RunStore(folder))))


def test_a_measure_that_needs_places_is_refused_before_anything_is_cut(small, tmp_path):
    with pytest.raises(PlanError, match=r"hit@5: needs to know where .* document_recall@k, document_mrr@k"):
        compared(small, tmp_path, lambda _n, q: whole(q), measure="document_recall@5", measures=("hit@5",))
    assert not (tmp_path / "run").exists()


def test_with_one_such_question_all_are_judged_by_documents_and_it_is_said(small, tmp_path):
    _, board = compared(small, tmp_path, lambda n, q: q if n else whole(q), measure="document_mrr@5")
    assert board["document_level"] == 1
    assert set(board["rows"][0]["beside"]) == {
        "document_mrr@5", "document_recall@5", "document_mrr@10", "context_precision@5"
    }  # fmt: skip
    assert "1 of 7 questions only name a document, and all are judged alike" in results_of(board).notes[0]


def test_terminal_markdown_and_notebook_say_why_and_show_no_recall(named):
    _, board = named
    out = StringIO()
    print_results(results_of(board), Console(file=out, width=300))
    shown = [out.getvalue(), leaderboard_markdown(results_of(board)), Leaderboard(board)._repr_html_()]
    for text in shown:
        assert WHY in text
        assert "recall@5" not in text.replace("document_recall@5", "")
        assert "recall by budget" not in text


def test_the_report_puts_a_sentence_where_the_figures_would_be(named):
    folder, _ = named
    (data,) = data_sets([load_run(folder)])
    empty = {f.id for f in figures(data) if f.kind == "none" and WHY in f.note}
    assert empty == {"budget", "hits", "causes"}
    assert "recall@5" not in [column.name for column in leaderboard_table(data).columns]
    assert WHY in render_report([folder])


def test_the_explorer_gets_documents_without_places_and_hits_by_document(named):
    folder, board = named
    (data,) = data_sets([load_run(folder)])
    values = data_set_values(data, {"documents": [0] * 3, "questions": [0] * 7})
    assert WHY in values["namedOnly"]
    assert all(start == end for q in values["questions"] for _, start, end in q["evidence"])
    for row in data.rows:
        mean = next(r["score"]["mean"] for r in board["rows"] if r["row"] == row.name)
        assert sum(hits_of(data, row)) == pytest.approx(7 * mean)
        assert row.delivered["covered"].list.len().sum() == 0
        assert row.diagnosis is None


def test_show_names_the_document_and_marks_nothing(named):
    folder, _ = named
    (data,) = data_sets([load_run(folder)])
    out = StringIO()
    print_question(view_question(data, 0), Console(file=out, width=200))
    shown = out.getvalue()
    assert "Evidence: harbour.md, without a place in it" in shown
    assert "of a right document; harbour.md" in shown
    assert WHY in shown
    assert "[[" not in shown
    assert "holds" not in shown


def test_a_gate_by_a_measure_that_was_not_taken_says_why(named):
    folder, _ = named
    row = f"minilm::{CHUNKERS[0]}"
    assert gate(folder, folder, rows=[row]).passed
    with pytest.raises(PlanError, match=r"its questions only name documents.* Possible: document_recall@1"):
        gate(folder, folder, rows=[row], measure="recall@1000t")


def test_questions_with_places_keep_their_curves_and_causes(small_run):
    (data,) = data_sets([load_run(small_run)])
    assert data.named_only == ""
    assert {f.id for f in figures(data)} >= {"budget", "hits"}
    assert [f for f in figures(data) if f.kind == "none" and WHY in f.note] == []


# ---------------------------------------------------------------- smoke tests


@pytest.fixture(scope="module")
def smoke(small, tmp_path_factory) -> tuple[Path, dict]:
    """A run of which two questions have the label of a smoke test."""
    return compared(
        small, tmp_path_factory.mktemp("smoke"), lambda n, q: q | ({"label": "smoke test"} if n < 2 else {})
    )


def test_a_smoke_test_is_labelled_at_the_top_of_every_display(smoke):
    folder, board = smoke
    assert board["smoke_tests"] == 2
    label = "SMOKE TEST: 2 of 7 questions are a smoke test"
    assert leaderboard_markdown(results_of(board)).startswith(f"**{label}")
    html = Leaderboard(board)._repr_html_()
    assert 0 < html.index(label) < html.index("Against minilm::")
    page = render_report([folder])
    assert 0 < page.index(label) < page.index('class="headline"')
    out = StringIO()
    print_results(results_of(board), Console(file=out, width=300))
    assert label in out.getvalue().splitlines()[1]


def test_a_gate_on_a_smoke_test_says_so(smoke):
    from faircut.report.gate import gate_markdown, gate_sentence

    folder, _ = smoke
    result = gate(folder, folder, rows=[f"minilm::{CHUNKERS[0]}"])
    assert gate_sentence(result).startswith("gate passed on a smoke test: ")
    assert "SMOKE TEST" in gate_markdown(result)


def test_the_label_reaches_those_who_ask_for_it(small, tmp_path):
    from faircut.documents import read_documents

    lines = [json.loads(line) for line in (small / "questions.jsonl").read_text().splitlines()]
    path = tmp_path / "q.jsonl"
    path.write_text("".join(json.dumps(q | ({"label": "smoke test"} if q["id"] == "q3" else {})) + "\n" for q in lines))
    heard: list[str] = []
    with pytest.warns(FaircutWarning, match="1 of 7 questions are a smoke test"):
        read_questions(path, read_documents(str(small / "corpus")), on_smoke_test=heard.append)
    assert heard == ["q3"]
