"""Documents that cannot be read: they stop a command, or are left out, named and counted where that is asked for."""

import json
import re
import shutil
import subprocess
import sys

import pytest

from faircut.documents import Unread, read_documents
from faircut.errors import CorpusError, DocumentError, FaircutWarning, QuestionError
from faircut.experiment.plan import Plan, load_plan
from faircut.experiment.run import run
from faircut.questions import read_questions
from faircut.report.data import results_of
from faircut.report.markdown import leaderboard_markdown

PROGRAM = [sys.executable, "-c", "from faircut.cli import main; main()"]


def faircut(*arguments, **options):
    return subprocess.run([*PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False, **options)


@pytest.fixture
def mixed(small, tmp_path):
    """The small comparison with two files that cannot be read, and two questions whose evidence is in one of them."""
    shutil.copytree(small / "corpus", tmp_path / "data" / "corpus")
    (tmp_path / "data" / "corpus" / "blank.txt").write_bytes(b"")
    (tmp_path / "data" / "corpus" / "old" / "x").mkdir(parents=True)
    (tmp_path / "data" / "corpus" / "old" / "scan.pdf").write_bytes(b"not a pdf")
    scanned = {"document": "old/scan.pdf", "quote": "Nobody knows."}
    receipts = {"document": "harbour.md", "quote": "Receipts are printed until midnight."}
    lost = [
        {"id": "lost1", "question": "What was scanned?", "gold": [scanned]},
        {"id": "lost2", "question": "What was blank?", "gold": [receipts, {"document": "blank.txt", "quote": "?"}]},
    ]
    lines = (small / "questions.jsonl").read_text() + "".join(json.dumps(one) + "\n" for one in lost)
    (tmp_path / "data" / "questions.jsonl").write_text(lines)
    return tmp_path / "data"


def test_what_cannot_be_read_is_named_by_its_id_without_the_folders_above_the_corpus(mixed):
    unread = []
    documents = read_documents(mixed / "corpus", on_unread=unread.append)
    assert list(documents) == ["harbour.md", "library.txt", "workshop.md"]
    assert [one.id for one in unread] == ["blank.txt", "old/scan.pdf"]
    assert all(one.reason and str(mixed) not in one.reason for one in unread)


def test_a_line_of_a_corpus_is_named_by_its_id_where_it_has_one_else_by_its_place(tmp_path):
    path = tmp_path / "c.jsonl"
    path.write_text('{"id": "a", "text": "Some."}\n{"id": "b", "text": ""}\n{"id": }\n{"id": "a", "text": "Other."}\n')
    unread: list[Unread] = []
    assert list(read_documents(path, on_unread=unread.append)) == ["a"]
    assert [one.id for one in unread] == ["b", "c.jsonl:3", "a"]
    assert unread[0].reason.startswith("c.jsonl:2: ")
    assert "taken by c.jsonl:1" in unread[2].reason
    assert not any(str(tmp_path) in one.reason for one in unread)


def test_a_corpus_that_ends_too_early_or_has_nothing_else_is_still_an_error(tmp_path):
    path = tmp_path / "c.jsonl.gz"
    path.write_bytes(b"\x1f\x8b damaged")
    with pytest.raises(DocumentError, match="gzip"):
        read_documents(path, on_unread=lambda _: None)
    for name in ("a.txt", "b.txt"):
        (tmp_path / "bad").mkdir(exist_ok=True)
        (tmp_path / "bad" / name).write_bytes(b"")
    with pytest.raises(CorpusError, match="2 documents cannot be read"):
        read_documents(tmp_path / "bad", on_unread=lambda _: None)


def test_questions_are_left_out_only_for_evidence_in_unread_documents(mixed):
    unread, left = [], []
    documents = read_documents(mixed / "corpus", on_unread=unread.append)
    names = [one.id for one in unread]
    kept = read_questions(mixed / "questions.jsonl", documents, unread=names, on_left_out=left.append)
    assert (len(kept), left) == (7, ["lost1", "lost2"])
    with pytest.raises(QuestionError, match="2 problems"):
        read_questions(mixed / "questions.jsonl", documents)
    with pytest.raises(QuestionError, match=r"no document 'old/scan\.pdf'"):
        read_questions(mixed / "questions.jsonl", documents, unread=["blank.txt"])
    lines = (mixed / "questions.jsonl").read_text().splitlines(keepends=True)[-2:]
    (mixed / "lost.jsonl").write_text("".join(lines))
    with pytest.raises(QuestionError, match="all 2 questions need documents that could not be read"):
        read_questions(mixed / "lost.jsonl", documents, unread=names)


def test_a_comparison_stops_at_unreadable_documents_unless_told_to_leave_them_out(mixed, tmp_path):
    done = faircut("compare", mixed / "corpus", mixed / "questions.jsonl", "-c", "fixed(6w)", "--runs", tmp_path / "r")
    assert done.returncode == 1
    assert re.search(r"2 documents cannot be read; nothing was run\.\n.*blank\.txt.*\n.*scan\.pdf", done.stderr)
    assert done.stderr.endswith(
        "--skip-unreadable leaves out what cannot be read, names it, and ends with exit code 3.\n"
    )
    assert not (tmp_path / "r").exists()


def test_a_comparison_without_unreadable_documents_names_them_everywhere_and_ends_with_3(mixed, tmp_path):
    command = ["compare", mixed / "corpus", mixed / "questions.jsonl", "-c", "fixed(6w)", "-c", "fixed(9w)"]
    done = faircut(*command, "--skip-unreadable", "--runs", tmp_path, "--name", "x")
    assert done.returncode == 3, done.stderr
    told = r"2 of 5 documents could not be read and are left out: blank\.txt \(.*empty.*\), old/scan\.pdf \(.*\)\."
    asked = r"2 of 9 questions are left out, their evidence is in those: lost1, lost2\."
    said = " ".join(done.stdout.split())  # lines are folded
    assert re.search(told, said)
    assert re.search(asked, said)
    assert "warning: 2 of 5 documents cannot be read and are left out" in done.stderr
    board = json.loads((tmp_path / "x" / "leaderboard.json").read_text())
    assert [one["document"] for one in board["left_out"]["documents"]] == ["blank.txt", "old/scan.pdf"]
    assert board["left_out"]["questions"] == ["lost1", "lost2"]
    assert json.loads((tmp_path / "x" / "manifest.json").read_text())["left_out"] == board["left_out"]
    assert (board["questions"], board["corpus"]["documents"]) == (7, 3)
    assert load_plan(tmp_path / "x" / "plan.toml").skip_unreadable
    shown = leaderboard_markdown(results_of(board))
    assert "2 of 5 documents could not be read" in shown
    assert "old/scan.pdf" in shown
    page = (tmp_path / "x" / "report.html").read_text()
    assert "<bdi>old/scan.pdf</bdi>" in page
    assert "<bdi>lost2</bdi>" in page
    assert str(mixed) not in page


def test_the_same_documents_and_questions_score_the_same_whether_others_were_left_out(mixed, small, tmp_path):
    both = []
    for name, folder, skip in (("mixed", mixed, True), ("small", small, False)):
        plan = Plan(
            str(folder / "corpus"), str(folder / "questions.jsonl"), ("fixed(6w)",), index="exact", skip_unreadable=skip
        )
        if skip:
            with pytest.warns(FaircutWarning, match="2 of 5 documents cannot be read"):
                board = run(plan, tmp_path / name, cache=tmp_path / "vectors.sqlite")
        else:
            board = run(plan, tmp_path / name, cache=tmp_path / "vectors.sqlite")
        both.append((board["rows"][0]["score"], board["corpus"]["hash"], board["questions"]))
        assert bool(board["left_out"]["documents"]) == skip
    assert both[0] == both[1]


@pytest.mark.parametrize("command", ["view", "audit", "questions"])
def test_other_commands_that_read_all_documents_leave_them_out_in_the_same_words(mixed, tmp_path, command):
    arguments = {
        "view": ["view", mixed / "corpus", "-c", "fixed(6w)", "--out", tmp_path / "v.html"],
        "audit": ["audit", mixed / "corpus", "-c", "fixed(6w)", "--no-stability"],
        "questions": ["questions", mixed / "corpus", "-n", "3", "--out", tmp_path / "q.jsonl"],
    }[command]
    stopped = faircut(*arguments)
    assert (stopped.returncode, stopped.stdout) == (1, "")
    assert "2 documents cannot be read" in stopped.stderr
    done = faircut(*arguments, "--skip-unreadable")
    assert done.returncode == 3, done.stderr
    assert done.stdout
    told = r"2 documents could not be read, the rest is done:\n  blank\.txt: .*empty.*\n  old/scan\.pdf: "
    assert re.search(told, done.stderr)


def test_leaving_out_is_suggested_for_one_document_of_many_but_not_for_a_wrong_path(mixed, tmp_path):
    (mixed / "corpus" / "blank.txt").unlink()
    command = ["-c", "fixed(6w)", "--runs", tmp_path]
    assert "--skip" in faircut("compare", mixed / "corpus", mixed / "questions.jsonl", *command).stderr
    assert "--skip" in faircut("compare", f"{mixed / 'corpus'}/", mixed / "questions.jsonl", *command).stderr
    (tmp_path / "empty").mkdir()
    for wrong in (tmp_path / "empty", tmp_path / "nowhere", mixed / "corpus" / "old" / "scan.pdf"):
        done = faircut("compare", wrong, mixed / "questions.jsonl", *command)
        assert (done.returncode, "--skip" in done.stderr) == (1, False), done.stderr
