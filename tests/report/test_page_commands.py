"""``faircut report`` and ``faircut view`` from the command line: a page and its path, or one sentence."""

import subprocess
import sys

import pytest

from small_run import IMAGE


@pytest.fixture(scope="module")
def faircut():
    def call(*arguments, cwd=None):
        code = "from faircut.cli import main; main()"
        return subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)],
            capture_output=True, text=True, check=False, cwd=cwd,
        )  # fmt: skip

    return call


def test_report_writes_the_page_into_the_run_or_where_it_is_asked(faircut, small_run, tmp_path):
    done = faircut("report", small_run)
    assert (done.returncode, done.stdout) == (0, f"Report: {small_run}/report.html\n")
    assert (small_run / "report.html").stat().st_size > 1_000_000
    done = faircut("report", small_run, "--out", tmp_path / "page.html")
    assert done.stdout == f"Report: {tmp_path}/page.html\n"
    assert (tmp_path / "page.html").read_bytes() == (small_run / "report.html").read_bytes()


def test_report_of_no_run_is_one_sentence(faircut, tmp_path):
    done = faircut("report", tmp_path / "missing", tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "no such run folder" in done.stderr
    assert not (tmp_path / "missing").exists()


def test_a_page_that_cannot_be_made_after_a_comparison_leaves_the_run_and_says_how_to_make_it(faircut, small, tmp_path):
    arguments = ("compare", small / "corpus", small / "questions.jsonl", "-c", "fixed(40t)", "-c", "fixed(80t)")
    arguments += ("--index", "exact", "--name", "of two", "--runs", tmp_path, "--cache", tmp_path / "vectors.sqlite")
    folder = tmp_path / "of two"
    (folder / "report.html").mkdir(parents=True)
    done = faircut(*arguments)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert f"the run is done and safe in {folder}" in done.stderr
    assert f"`faircut report '{folder}'` makes only the page." in done.stderr
    (folder / "report.html").rmdir()
    assert faircut("report", folder).returncode == 0


def test_view_writes_a_page_of_several_documents_whatever_their_names(faircut, tmp_path):
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / f"a{IMAGE.replace('/', '')}.md").write_text(f"# Title\n\n{IMAGE} A sentence.", encoding="utf-8")
    (corpus / "b.txt").write_text("Some words here. " * 30, encoding="utf-8")
    done = faircut("view", corpus, "-c", "recursive(max=40t)", "-c", "sentence(max=40t)", "--out", tmp_path / "v.html")
    assert (done.returncode, done.stdout) == (0, f"View: {tmp_path}/v.html\n")
    assert "<img" not in (tmp_path / "v.html").read_text(encoding="utf-8")


def test_view_does_not_write_among_the_documents(faircut, tmp_path):
    (tmp_path / "a.txt").write_text("Some words.", encoding="utf-8")
    done = faircut("view", tmp_path, "--out", tmp_path / "view.html")
    assert done.returncode == 2
    assert "lies inside" in done.stderr
