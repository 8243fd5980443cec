"""The leaderboard as Markdown: verdicts with marks, and names that neither Markdown, HTML nor GitHub obeys."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from faircut.experiment.plan import Plan
from faircut.experiment.run import run
from faircut.report.data import results_of
from faircut.report.markdown import code, leaderboard_markdown, plain, table

ANY = st.text(st.characters(codec=None, exclude_categories=()))
HOSTILE = (
    "a|b`c``<script>alert(1)</script><img src=x onerror=y>[l](javascript:z)**b**\x1b[31m\u202e @team #1 http://x.y"
)


def rendered(text):
    return MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(text)


@pytest.fixture(scope="module")
def board(small, tmp_path_factory):
    chunkers = ("recursive(max=60t)", "sentence(max=40t)")
    plan = Plan(str(small / "corpus"), str(small / "questions.jsonl"), chunkers, controls=True, measures=("hit@1",))
    return run(plan, tmp_path_factory.mktemp("run") / "r")


def test_a_row_has_its_score_interval_verdict_and_costs(board):
    text = leaderboard_markdown(results_of(board))
    shown = rendered(text)
    assert shown.count("<table>") == 2
    assert shown.count("<tr>") == 1 + 4 + 1 + 2
    for row in board["rows"]:
        assert f"<code>{row['row']}</code>" in shown
        assert f"{row['score']['low']:.3f} to {row['score']['high']:.3f}" in shown
    assert "? no measured difference" in shown
    assert "<strong><code>minilm::recursive(max=60t)</code></strong>" in shown
    assert "hit@1" in shown
    assert "<li>Evidence in fewer than 20 documents" in shown


def test_hostile_names_do_nothing(board):
    rows = [row | {"row": HOSTILE, "integrity": row["integrity"] | {"ok": False}} for row in board["rows"]]
    text = leaderboard_markdown(results_of(board | {"rows": rows, "baseline": HOSTILE}))
    shown = rendered(text)
    for obeyed in ("<script", "<img", "<a ", "<strong>b", "\x1b", "\u202e"):
        assert obeyed not in shown
    assert " @team" not in text
    assert shown.count("<td") == 4 * 11 + 2 * 5


@given(ANY)
def test_text_is_shown_as_it_is_and_makes_no_markup(text):
    shown = rendered(f"x {plain(text)} x").replace("<!-- -->", "")
    assert shown.startswith("<p>x ")
    assert "<" not in shown.removeprefix("<p>").removesuffix("</p>\n")
    assert plain(text).isprintable() or not text.isprintable()


@given(ANY, ANY)
def test_a_cell_stays_a_cell(name, text):
    shown = rendered(table(["a", "b"], [[code(name), plain(text)]]))
    assert shown.count("<td") == 2
    for tag in ("<script", "<a ", "<img", "<em", "<strong", "<h"):
        assert tag not in shown.replace("<thead", "").replace("<th>", "")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("recall@1000t of a_b", "recall@1000t of a\\_b"),
        ("@team", "@<!-- -->team"),
        ("see http://x.y", "see http\\://x.y"),
        ("-0.1", "\\-0.1"),
        ("1 < 2 & 3", "1 &lt; 2 &amp; 3"),
    ],
)
def test_only_what_would_be_obeyed_is_escaped(text, shown):
    assert plain(text) == shown
