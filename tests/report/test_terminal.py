"""The leaderboard in the terminal: every verdict in words, and untrusted names that do nothing."""

from io import BytesIO, StringIO, TextIOWrapper

import pytest
from rich.console import Console

from faircut.experiment.plan import Plan
from faircut.experiment.run import run
from faircut.report.data import results_of
from faircut.report.terminal import print_results

HOSTILE = "[red]x[/red]\x1b[31m\u202e"


@pytest.fixture(scope="module")
def board(small, tmp_path_factory):
    chunkers = ("recursive(max=60t)", "sentence(max=40t)")
    plan = Plan(str(small / "corpus"), str(small / "questions.jsonl"), chunkers, controls=True)
    return run(plan, tmp_path_factory.mktemp("run") / "r")


def printed(board, sizes=None):
    console = Console(file=StringIO(), width=160)
    print_results(results_of(board), console, sizes)
    return console.file.getvalue()


def with_verdict(board, verdict):
    rows = [row | {"contrast": row["contrast"] and row["contrast"] | {"verdict": verdict}} for row in board["rows"]]
    return board | {"rows": rows}


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        ("better", "are better. The highest of those that are better is"),
        ("worse", "are worse. None is better than the baseline; the cheapest of those not shown to be worse is"),
        ("equivalent", "are equivalent. None is better"),
        ("no measured difference", "no difference was measured. None is better"),
    ],
)
def test_each_verdict_is_a_sentence(board, verdict, said):
    assert said in results_of(with_verdict(board, verdict)).sentence


def test_the_tables_show_every_row_with_its_costs(board):
    shown = printed(board)
    for row in board["rows"]:
        assert shown.count(row["row"]) >= 2
        assert f"{row['score']['mean']:.3f}" in shown
    assert "Against its own size-matched control" in shown


def test_no_measured_difference_comes_with_the_smallest_that_could_be_shown(board):
    rows = [
        row
        | {"contrast": row["contrast"] and row["contrast"] | {"smallest_detectable": 0.123, "questions_needed": 4567}}
        for row in with_verdict(board, "no measured difference")["rows"]
    ]
    assert "0.123" in printed(board | {"rows": rows})
    assert "4,567 questions" in printed(board | {"rows": rows})


@pytest.mark.parametrize("width", [40, 80, 100, 160])
def test_nothing_is_cut_off_however_narrow_the_terminal(board, width):
    console = Console(file=StringIO(), width=width)
    print_results(results_of(board), console, {row["row"]: [20, 40_000] for row in board["rows"]})
    shown = console.file.getvalue()
    assert "sizes 16-46,341t" in shown
    for row in board["rows"]:
        assert row["row"] in shown
        assert f"{row['score']['mean']:.3f}" in shown
        assert f"{row['score']['low']:.3f} {row['score']['high']:.3f}" in shown


def test_the_measures_that_were_asked_for_are_shown(board):
    asked = board | {"shown_beside": ["hit@1000t", "mrr@10"]}
    shown = printed(asked)
    assert "hit@1000t" in shown
    assert f"{board['rows'][0]['beside']['mrr@10']['mean']:.3f}" in shown


def test_each_row_has_its_curve_and_its_chunk_sizes(board):
    names = [row["row"] for row in board["rows"]]
    shown = printed(board, {name: [60] * 9 + [20] for name in names})
    assert "sizes 16-64t" in shown
    assert shown.count("▁  █") == len(names)
    assert "@4000t" in shown
    assert shown.count("█████") == len(names)


def test_a_terminal_without_block_characters_gets_digits(board):
    file = TextIOWrapper(BytesIO(), encoding="ascii")
    print_results(results_of(board), Console(file=file, width=160), {board["rows"][0]["row"]: [60, 60, 20]})
    file.flush()
    shown = file.buffer.getvalue()
    assert b"99999" in shown
    assert b"5..9" in shown


def test_hostile_names_are_shown_and_do_nothing(board):
    rows = [row | {"row": HOSTILE, "chunker": HOSTILE} for row in board["rows"]]
    shown = printed(board | {"rows": rows, "baseline": HOSTILE})
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "[red]x[/red]" in shown


def test_one_row_alone_has_nothing_to_compare_with(small, tmp_path):
    plan = Plan(str(small / "corpus"), str(small / "questions.jsonl"), ("recursive(max=60t)",))
    assert "nothing to compare it with" in printed(run(plan, tmp_path / "r"))
