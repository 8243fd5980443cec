"""What a hit brings beside its chunk is drawn from the walk that the scores are made of."""

import pytest

from faircut.experiment.plan import Plan
from faircut.experiment.run import run
from faircut.report.brought import asked_delivery, brought_by
from faircut.report.run_data import data_sets, load_run


@pytest.mark.parametrize(
    ("plan", "asked"), [("", ""), ('deliver = "chunk"', ""), ('deliver = "window(2)"', "window(2)")]
)
def test_the_delivery_is_named_where_it_is_not_the_chunk(plan, asked):
    assert asked_delivery(plan) == asked


def test_sections_counted_by_a_tokenizer_that_is_not_here_are_not_drawn(small_run):
    row = load_run(small_run).rows[0]
    assert brought_by(row, 'deliver = "parent(60t)"\nbudget_tokenizer = "remote(model=x)"', {}) is None
    assert brought_by(row, "", {}) is None


@pytest.mark.parametrize("deliver", ["window(1)", "parent(60t)", "merge(0.3, size=60t)"])
def test_all_evidence_that_was_covered_lies_in_what_the_delivered_hits_brought(small, tmp_path, deliver):
    chunkers = ("sentence(max=30t)", "fixed(30t, overlap=8t)")
    plan = Plan(str(small / "corpus"), str(small / "questions.jsonl"), chunkers, index="exact", deliver=deliver,
                measure="recall@60t")  # fmt: skip
    run(plan, tmp_path / "run", cache=tmp_path / "vectors.sqlite")
    loaded = load_run(tmp_path / "run")
    data = data_sets([loaded])[0]
    wider = 0
    for row in loaded.rows:
        brought = brought_by(row, loaded.plan, data.documents)
        for line in row.delivered.iter_rows(named=True):
            positions = row.hits.filter(question=line["question"]).sort("rank")["position"].to_list()
            places = brought(positions, line["whole"] + bool(line["part"]))
            owners = [row.chunks["document"][p] for p in positions]
            own = [row.chunks["spans"][p].to_list() for p in positions]
            held = {(d, at) for d, ranges in zip(owners, places, strict=False) for a, b in ranges for at in range(a, b)}
            chunks = {(d, at) for d, spans in zip(owners[: len(places)], own, strict=False) for a, b in spans
                      for at in range(a, b)}  # fmt: skip
            wider += len(held - chunks)
            for piece, start, end in line["covered"]:
                document = data.questions[line["question"]].evidence[piece].document_id
                assert {(document, at) for at in range(start, end)} <= held
    assert wider > 0
