"""Two real runs go through the gate: which rows and questions are compared, and what is refused."""

import json
import shutil

import pytest

from faircut.errors import PlanError, StoreError
from faircut.experiment.gate import gate
from faircut.experiment.plan import Plan
from faircut.experiment.run import run


def made(source, folder, *chunkers, **options):
    plan = Plan(str(source / "corpus"), str(source / "questions.jsonl"), chunkers, **({"measure": "hit@1"} | options))
    run(plan, folder)
    return folder


@pytest.fixture(scope="module")
def runs(small, tmp_path_factory):
    """A run whose first chunk answers, and one of fragments that answer nothing."""
    folder = tmp_path_factory.mktemp("runs")
    made(small, folder / "good", "recursive(max=60t)")
    made(small, folder / "poor", "fixed(2w)", "sentence(max=40t)", controls=True)
    made(small, folder / "same", "recursive(max=60t)", "sentence(max=40t)")
    return folder


def changed(small, tmp_path, *, documents=None, questions=None):
    """A copy of the small corpus with some of it changed."""
    copy = tmp_path / "copy"
    shutil.copytree(small, copy)
    for name, change in (documents or {}).items():
        path = copy / "corpus" / name
        path.write_text(change(path.read_text()))
    lines = [json.loads(line) for line in (copy / "questions.jsonl").read_text().splitlines()]
    (copy / "questions.jsonl").write_text("".join(json.dumps(x) + "\n" for x in (questions or list)(lines)))
    return copy


def test_a_run_that_lost_fails_and_the_other_way_round_passes(runs):
    lost = gate(runs / "poor", runs / "good", rows=["fixed(2w)"], base_row="recursive(max=60t)")
    (row,) = lost.rows
    assert not lost.passed
    assert row.loss.outcome == "loss above the margin"
    assert row.loss.base_mean > 0.8
    assert lost.questions == 7
    assert gate(runs / "good", runs / "poor", base_row="fixed(2w)").passed


def test_a_run_passes_against_itself(runs):
    result = gate(runs / "same", runs / "same" / "leaderboard.json")
    assert result.passed
    assert [row.loss.contrast.difference for row in result.rows] == [0.0, 0.0]


def test_without_a_row_the_rows_that_both_have_are_taken_and_controls_are_not(runs):
    result = gate(runs / "same", runs / "poor")
    assert [(row.row, row.base_row) for row in result.rows] == [("minilm::sentence(max=40t)",) * 2]


def test_the_only_rows_are_compared_whatever_their_names(small, runs, tmp_path):
    other = made(small, tmp_path / "other", "sentence(max=30t)")
    (row,) = gate(other, runs / "good").rows
    assert (row.row, row.base_row) == ("minilm::sentence(max=30t)", "minilm::recursive(max=60t)")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rows": ["fixed(3w)"]}, "has no row 'fixed.3w.'.*Possible: .*fixed.2w."),
        ({"rows": ["fixed(2w)"]}, "name its counterpart with --base-row: minilm::recursive"),
        ({}, "name one with --row"),
        ({"rows": ["fixed(2w)", "sentence(max=40t)"], "base_row": "x"}, "one --row"),
        ({"rows": ["fixed(2w)"], "base_row": "recursive(max=60t)", "measure": "recal@5"}, "did you mean 'recall'"),
        ({"rows": ["fixed(2w)"], "base_row": "recursive(max=60t)", "measure": "hit@7"}, "no scores by hit@7"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_what_is_possible(runs, options, said):
    with pytest.raises(PlanError, match=said):
        gate(runs / "poor", runs / "good", **options)


def test_runs_that_decide_by_different_measures_need_one_named(small, runs, tmp_path):
    other = made(small, tmp_path / "other", "recursive(max=60t)", measure="recall@250t")
    with pytest.raises(PlanError, match=r"recall@250t.*hit@1; name one with --measure"):
        gate(other, runs / "good")
    assert gate(other, runs / "good", measure="recall@250t").measure == "recall@250t"


def test_other_documents_or_questions_are_refused_unless_the_common_ones_are_asked_for(small, runs, tmp_path):
    source = changed(small, tmp_path, documents={"harbour.md": lambda text: f"{text}\nA line more.\n"})
    other = made(source, tmp_path / "other", "recursive(max=60t)")
    with pytest.raises(PlanError, match="different documents; run the base"):
        gate(other, runs / "good")
    result = gate(other, runs / "good", common=True)
    assert (result.questions, result.left_out, result.same_corpus) == (4, 3, False)


def test_a_question_that_changed_is_left_out(small, runs, tmp_path):
    source = changed(small, tmp_path, questions=lambda lines: [lines[0] | {"question": "Where?"}, *lines[2:]])
    other = made(source, tmp_path / "other", "recursive(max=60t)")
    with pytest.raises(PlanError, match="different questions; run the base"):
        gate(other, runs / "good")
    result = gate(other, runs / "good", common=True)
    assert (result.questions, result.left_out, result.same_corpus) == (5, 2, True)


def test_nothing_in_common_is_refused(small, runs, tmp_path):
    source = changed(small, tmp_path, questions=lambda lines: [x | {"question": f"{x['question']}?"} for x in lines])
    other = made(source, tmp_path / "other", "recursive(max=60t)")
    with pytest.raises(PlanError, match="no unchanged question in common"):
        gate(other, runs / "good", common=True)


def with_defects(run, target, **counts):
    """A copy of a run whose only row has these defects."""
    shutil.copytree(run, target)
    board = json.loads((target / "leaderboard.json").read_text())
    board["rows"][0]["integrity"] |= counts
    (target / "leaderboard.json").write_text(json.dumps(board))
    return target


def test_a_new_defect_fails_and_an_old_one_only_when_strict(runs, tmp_path):
    lossy = with_defects(runs / "good", tmp_path / "lossy", lost=12)
    result = gate(lossy, runs / "good")
    assert not result.passed
    assert result.rows[0].defects == ("12 characters lost (base 0)",)
    assert gate(lossy, lossy).passed
    assert not gate(lossy, lossy, strict=True).passed
    assert gate(runs / "good", lossy, strict=True).passed


def test_a_base_may_be_kept_as_its_leaderboard_manifest_and_scores(runs, tmp_path):
    kept = tmp_path / "kept"
    shutil.copytree(runs / "good", kept, ignore=lambda *_: ["chunks", "hits", "index", "documents.parquet"])
    for facts in (kept / "scores").glob("*.json"):
        facts.unlink()
    assert gate(runs / "good", kept).passed


def test_a_base_without_its_scores_or_without_anything_is_refused(runs, tmp_path):
    shutil.copytree(runs / "good", tmp_path / "x", ignore=lambda *_: ["scores"])
    with pytest.raises(StoreError, match=r"scores of minilm::recursive.*cannot be read.*keep manifest.json"):
        gate(runs / "good", tmp_path / "x")
    with pytest.raises(StoreError, match=r"not found; is .* a finished run"):
        gate(runs / "good", tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("leaderboard.json", '{"schema": "faircut.leaderboard/1"}', "damaged"),
        ("leaderboard.json", '{"schema": "other/9"}', "schema is 'other/9'"),
        ("manifest.json", "{}", "damaged"),
        ("manifest.json", "[", "damaged"),
    ],
)
def test_a_damaged_run_is_refused(runs, tmp_path, name, content, said):
    shutil.copytree(runs / "good", tmp_path / "x")
    (tmp_path / "x" / name).write_text(content)
    with pytest.raises(StoreError, match=said):
        gate(runs / "good", tmp_path / "x")
