"""Figures hold the numbers of the run; alike questions lie side by side."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from faircut.report.clusters import clustered_order
from faircut.report.figures import _frontier, figures
from faircut.report.run_data import data_sets, load_run


@pytest.fixture(scope="module")
def drawn(small_run):
    return {figure.id: figure for figure in figures(data_sets([load_run(small_run)])[0])}


def test_the_forest_shows_the_contrasts_of_the_leaderboard(drawn, small_run):
    board = load_run(small_run).leaderboard
    contrasts = [(i, row["contrast"]) for i, row in enumerate(board["rows"]) if row["contrast"]]
    points = drawn["forest"].values["points"]
    assert [(p["row"], p["mean"], p["low"], p["high"]) for p in points] == [
        (i, c["difference"], c["interval"]["low"], c["interval"]["high"]) for i, c in contrasts
    ]
    assert drawn["forest"].values["band"] == board["band"]


def test_the_budget_curve_has_an_interval_around_every_mean(drawn, small_run):
    board = load_run(small_run).leaderboard
    for curve in drawn["budget"].values["curves"]:
        row = board["rows"][curve["row"]]
        assert {str(p["x"]): pytest.approx(p["mean"]) for p in curve["points"]} == row["curve"]
        assert all(p["low"] <= p["mean"] <= p["high"] for p in curve["points"])


def test_every_figure_but_the_map_of_questions_has_its_numbers_as_a_table(drawn):
    assert [f.id for f in drawn.values() if f.table is None] == ["heat"]
    for figure in drawn.values():
        assert all(len(row) == len(figure.table.columns) for row in figure.table.rows) if figure.table else True


def test_the_causes_are_those_of_the_diagnoses(tight_run):
    data = data_sets([load_run(tight_run)])[0]
    rows, figure = data.rows, {figure.id: figure for figure in figures(data)}["causes"].values
    for bar in figure["bars"]:
        causes = rows[bar["row"]].diagnosis["cause"].drop_nulls().to_list()
        assert {c: n for c, n in zip(figure["causes"], bar["counts"], strict=True) if n} == {
            c: causes.count(c) for c in causes
        }


def test_a_control_is_never_on_the_line_of_the_efficient(drawn, small_run):
    rows = load_run(small_run).rows
    efficient = [p["row"] for p in drawn["frontier"].values["points"] if p["efficient"]]
    assert efficient
    assert not any(rows[row].entry["is_control"] for row in efficient)


def test_the_histograms_hold_every_chunk(drawn):
    for ridge in drawn["sizes"].values["ridges"]:
        assert sum(ridge["shares"]) == pytest.approx(1, abs=1e-3)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
def test_the_frontier_is_what_no_other_beats(points):
    best = _frontier(points)
    for at, (cost, score) in enumerate(points):
        beaten = any(s >= score and c <= cost and (s, -c) > (score, -cost) for c, s in points)
        assert not (at in best and beaten)
        if not beaten:
            assert any(points[b] == (cost, score) for b in best)


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 1), min_size=3, max_size=3), min_size=1, max_size=40))
@example([[0, 0, 0], [0, 1, 0], [1, 0, 0]])  # scipy takes these for distances
def test_the_map_holds_every_question_once_with_equal_ones_side_by_side(rows):
    patterns = np.array(rows, dtype=np.int8)
    order = clustered_order(patterns)
    assert sorted(order) == list(range(len(rows)))
    changes = sum(rows[a] != rows[b] for a, b in pairwise(order))
    assert changes == len({tuple(r) for r in rows}) - 1
    assert sum(rows[order[0]]) >= sum(rows[order[-1]])


def paying(data, *amounts):
    """The data set with rows that cost so much money; None is unknown."""
    rows = []
    for row, money in zip(data.rows, [*amounts, *[amounts[-1]] * (len(data.rows) - len(amounts))], strict=True):
        cost = row.entry["cost"] | {"money": money, "embedding_price": None if money is None else 1.0}
        cost |= {"llm_requests": 1, "llm_seconds": 7.0, "llm_money": money}
        rows.append(replace(row, entry=row.entry | {"cost": cost}))
    return replace(data, rows=tuple(rows))


def test_quality_is_drawn_against_money_where_there_is_any_and_all_is_known(small_run):
    data = data_sets([load_run(small_run)])[0]
    figure = {f.id: f for f in figures(paying(data, 0.5, 0.25))}["frontier"]
    assert [point["cost"] for point in figure.values["points"]][:2] == [0.5, 0.25]
    assert figure.values["x"] == "cost in US dollars"
    unknown = {f.id: f for f in figures(paying(data, 0.5, None))}["frontier"]
    assert "tokens embedded" in unknown.values["x"]
    assert "a price is missing" in unknown.note


def test_the_seconds_of_a_language_model_are_in_the_figure_of_times(small_run):
    figure = {f.id: f for f in figures(paying(data_sets([load_run(small_run)])[0], 0.5, 0.25))}["times"]
    assert {bar["answers"] for bar in figure.values["bars"]} == {7.0}
    assert "llm s" in [column.name for column in figure.table.columns]
