"""``faircut gate`` as a build runs it: one sentence, an exit code of its own, files for the server."""

import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest

from faircut.experiment.plan import Plan
from faircut.experiment.run import run

PROGRAM = [sys.executable, "-c", "from faircut.cli import main; main()"]


def faircut(*arguments):
    return subprocess.run([*PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def runs(small, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for name, chunker in (("good", "recursive(max=60t)"), ("poor", "fixed(2w)")):
        run(Plan(str(small / "corpus"), str(small / "questions.jsonl"), (chunker,), measure="hit@1"), folder / name)
    return folder


def test_a_loss_is_exit_code_4_with_files_for_the_build_server(runs, tmp_path):
    done = faircut(
        "gate", runs / "poor", "--against", runs / "good", "--junit", tmp_path / "made" / "j.xml", "--markdown",
        tmp_path / "m.md",
    )  # fmt: skip
    assert done.returncode == 4, done.stderr
    assert done.stdout.startswith("gate failed: minilm::fixed(2w) against minilm::recursive(max=60t) by hit@1 on 7")
    assert done.stderr == ""
    assert ET.parse(tmp_path / "made" / "j.xml").getroot().get("failures") == "1"  # noqa: S314  # our own
    assert "❌ **failed**" in (tmp_path / "m.md").read_text()


def test_no_loss_is_exit_code_0(runs):
    done = faircut("gate", runs / "good" / "leaderboard.json", "--against", runs / "poor" / "leaderboard.json")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("gate passed: ")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--against", "nowhere"], 1, "not found"),
        ([], 2, "--against"),
        (["--against", "", "--margin", "0.1"], 2, "the path is empty"),
        (["--against", "good", "--row", "x"], 2, "has no row 'x'"),
    ],
)
def test_what_cannot_be_judged_is_never_exit_code_4(runs, arguments, code, said):
    places = [str(runs / a) if a in ("good", "nowhere") else a for a in arguments]
    done = faircut("gate", runs / "poor", *places)
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
