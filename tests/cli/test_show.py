"""``faircut show`` as a person meets it: a question with its hits on stdout, one clear sentence on stderr."""

import os
import subprocess
import sys

import pytest

from faircut.experiment.plan import Plan
from faircut.experiment.run import run

PROGRAM = [sys.executable, "-c", "from faircut.cli import main; main()"]


def faircut(*arguments, **environment):
    command = [*PROGRAM, *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", check=False, env=os.environ | environment
    )


@pytest.fixture(scope="module")
def folder(small, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "r"
    run(Plan(str(small / "corpus"), str(small / "questions.jsonl"), ("recursive(max=60t)", "fixed(6w)")), folder)
    return folder


def test_a_question_is_shown_with_its_evidence_and_every_row(folder):
    done = faircut("show", folder, "q7")
    assert done.returncode == 0, done.stderr
    assert "Question 7 of 7, q7: Who may use the lathe" in done.stdout
    assert "[[1: members who took the safety course]]" in done.stdout
    assert "minilm::recursive(max=60t): recall@1000t 1.000" in done.stdout
    assert "minilm::fixed(6w): recall@1000t" in done.stdout
    assert "\x1b" not in done.stdout


def test_without_a_question_all_are_listed_with_the_score_of_every_row(folder):
    done = faircut("show", folder / "leaderboard.json")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("column 1: recall@1000t of minilm::")
    assert lines[2].split()[:2] == ["1.", "q1"]
    assert len(lines) == 2 + 7


def test_a_terminal_that_cannot_say_it_gets_escapes(folder):
    done = faircut("show", folder, "3", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert " ... ## Fees" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["r", "zzz"], 1, "no question 'zzz'"),
        (["nowhere", "q1"], 1, "nowhere"),
        (["r", "q1", "--row", "x"], 2, "no row 'x'"),
        ([], 2, "RUN"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_one_sentence(folder, arguments, code, said):
    places = [str(folder.parent / a) if a in ("r", "nowhere") else a for a in arguments]
    done = faircut("show", *places)
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_compare_prints_markdown_for_a_pull_request(small, folder):
    arguments = [small / "corpus", small / "questions.jsonl", "-c", "recursive(max=60t)", "--runs", folder.parent]
    done = faircut("compare", *arguments, "--markdown")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("**minilm::recursive(max=60t) scores 1.000; there is nothing to compare it with.**")
    assert "| `minilm::recursive(max=60t)` |" in done.stdout.replace("**`", "`").replace("`**", "`")
    both = faircut("compare", *arguments, "--markdown", "--json")
    assert both.returncode == 2
    assert "exclude each other" in both.stderr
