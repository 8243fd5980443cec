"""Errors that nobody foresaw: one sentence that says what is safe, the details for those who ask, never a lost run."""

import json
import os
import subprocess
import sys

import pytest

BROKEN = """
import importlib, sys
module, name = {place!r}.rsplit(".", 1)
def broken(*arguments, **options):
    raise {error}
setattr(importlib.import_module(module), name, broken)
from faircut.cli import main
main()
"""


def faircut(*arguments, place=None, error="", env=None):
    code = BROKEN.format(place=place, error=error) if place else "from faircut.cli import main; main()"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | (env or {}))


@pytest.fixture
def comparison(small, tmp_path):
    return [
        "compare",
        small / "corpus",
        small / "questions.jsonl",
        "-c",
        "fixed(6w)",
        "--runs",
        tmp_path,
        "--name",
        "x",
    ]


@pytest.mark.parametrize("error", ["RecursionError()", "ZeroDivisionError('x\\x1b[31m')"])
def test_a_page_that_fails_in_an_unforeseen_way_leaves_a_run_that_makes_its_page_later(comparison, tmp_path, error):
    done = faircut(*comparison, place="faircut.report.pages.render_report", error=error)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stderr
    kind = error.partition("(")[0]
    folder = tmp_path / "x"
    assert f"faircut: the run is done and safe in {folder}, but its page could not be made ({kind}" in done.stderr
    assert f"`faircut report {folder}` makes only the page." in done.stderr
    assert "Result:" in done.stdout
    assert json.loads((folder / "leaderboard.json").read_text())["run"] == "x"
    assert faircut("report", folder).returncode == 0
    assert (folder / "report.html").exists()


def test_a_result_that_cannot_be_shown_is_safe_too(comparison):
    done = faircut(*comparison, place="faircut.report.terminal.print_results", error="KeyError('row')")
    assert (done.returncode, done.stdout) == (1, "")
    assert "the run is done and safe in" in done.stderr
    assert "it could not be shown (KeyError: 'row', <string>:5)" in done.stderr


def test_a_stage_that_fails_in_an_unforeseen_way_says_what_is_kept_and_the_same_command_continues(comparison, tmp_path):
    done = faircut(*comparison, place="faircut.experiment.diagnose._table", error="TypeError('odd')")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert f"what was finished is kept in {tmp_path / 'x'}, and the same command continues" in done.stderr
    assert "TypeError: odd" in done.stderr
    assert list((tmp_path / "x" / "scores").glob("*.parquet"))
    assert faircut(*comparison).returncode == 0


def test_any_other_command_tells_the_kind_of_error_and_its_place(small):
    done = faircut(
        "audit", small / "corpus", "-c", "fixed(6w)", place="faircut.evaluation.audit.audit", error="IndexError('far')"
    )
    assert done.returncode == 1
    assert done.stderr.startswith("faircut: stopped by a fault in faircut (IndexError: far, <string>:5); please report")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("flags", "env"), [(["--debug"], {}), ([], {"FAIRCUT_DEBUG": "1"})])
def test_the_details_are_shown_to_who_asks(small, flags, env):
    broken = {"place": "faircut.evaluation.audit.audit", "error": "IndexError('far')", "env": env}
    done = faircut(*flags, "audit", small / "corpus", "-c", "fixed(6w)", **broken)
    assert done.returncode == 1
    assert "Traceback (most recent call last)" in done.stderr
    assert "cli/audit.py" in done.stderr
    done = faircut(*flags, "audit", small / "no-such-folder", "-c", "fixed(6w)", env=env)
    assert "Traceback" in done.stderr
    assert done.stderr.endswith("no such file or folder; check the path.\n")
