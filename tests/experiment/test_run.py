"""A comparison from documents to verdict: what it leaves in its folder, and that it continues and never goes stale."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace

import polars as pl
import pytest

from faircut.embedding.minilm import Minilm
from faircut.errors import PlanError, StoreError
from faircut.experiment.inputs import load_inputs
from faircut.experiment.leaderboard import build_leaderboard
from faircut.experiment.plan import Plan, load_plan
from faircut.experiment.run import default_name, run
from faircut.experiment.stages import RowRun
from faircut.experiment.store import RunStore
from faircut.index import INDEXES
from faircut.report.data import results_of

CHUNKERS = ("recursive(max=60t)", "sentence(max=40t)", "semantic(max=60t)")


@pytest.fixture(scope="module")
def plan(small):
    return Plan(str(small / "corpus"), str(small / "questions.jsonl"), CHUNKERS)


@pytest.fixture(scope="module")
def finished(plan, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    board = run(plan, folder / "first", cache=folder / "vectors.sqlite")
    return folder, board


def score_bytes(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    return {row["row"]: (folder / "scores" / f"{row['scores']}.parquet").read_bytes() for row in manifest["rows"]}


def test_the_leaderboard_has_every_row_with_score_cost_and_integrity(finished):
    _, board = finished
    assert [r["row"] for r in board["rows"]] == [
        r["row"] for r in sorted(board["rows"], key=lambda r: (-r["score"]["mean"], r["row"]))
    ]
    assert {r["chunker"] for r in board["rows"]} == set(CHUNKERS)
    for row in board["rows"]:
        assert 0 < row["score"]["mean"] <= 1
        assert row["integrity"]["ok"]
        assert row["cost"]["embedded_tokens"] > 0
        assert row["is_baseline"] == (row["contrast"] is None)
    semantic = next(r for r in board["rows"] if "semantic" in r["row"])
    assert semantic["cost"]["embedded_tokens_for_cutting"] > 0


def test_the_tables_hold_what_the_leaderboard_says(finished):
    folder, board = finished
    manifest = json.loads((folder / "first" / "manifest.json").read_text())
    for entry in manifest["rows"]:
        scores = pl.read_parquet(folder / "first" / "scores" / f"{entry['scores']}.parquet")
        row = next(r for r in board["rows"] if r["row"] == entry["row"])
        assert scores["recall@1000t"].mean() == pytest.approx(row["score"]["mean"])
        chunks = pl.read_parquet(folder / "first" / "chunks" / f"{entry['chunks']}.parquet")
        hits = pl.read_parquet(folder / "first" / "hits" / f"{entry['hits']}.parquet")
        assert len(chunks) == row["chunks"]
        assert set(hits["chunk_id"]) <= set(chunks["id"])


def test_the_timings_are_a_table_with_a_line_for_each_row(finished):
    folder, board = finished
    timings = pl.read_parquet(folder / "first" / "timings.parquet")
    assert timings["row"].to_list() == [r["row"] for r in board["rows"]]
    assert (timings["cutting_seconds"] >= 0).all()


def test_the_leaderboard_is_made_again_from_the_folder_alone(finished):
    folder, board = finished
    assert build_leaderboard(RunStore(folder / "first")) == board


def test_the_plan_in_the_folder_runs_the_same_comparison(finished, plan):
    folder, _ = finished
    again = load_plan(folder / "first" / "plan.toml")
    assert replace(again, corpus="", questions="") == replace(plan, corpus="", questions="")


def test_a_second_run_embeds_nothing_and_gives_the_same_scores(finished, plan):
    folder, _ = finished
    run(plan, folder / "second", cache=folder / "vectors.sqlite")
    assert score_bytes(folder / "second") == score_bytes(folder / "first")
    first, second = (json.loads((folder / name / "manifest.json").read_text()) for name in ("first", "second"))
    assert first["embedded_texts"]["minilm"] > 0
    assert second["embedded_texts"]["minilm"] == 0


def changed_corpus(small, tmp_path, name, old, new):
    folder = tmp_path / "changed"
    shutil.copytree(small / "corpus", folder)
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new))
    return str(folder)


def changed_questions(small, tmp_path, change):
    lines = [json.loads(line) for line in (small / "questions.jsonl").read_text().splitlines()]
    path = tmp_path / "changed.jsonl"
    path.write_text("".join(json.dumps(change(line)) + "\n" for line in lines if change(line)))
    return str(path)


CHANGES = {
    "text": lambda s, t: {"corpus": changed_corpus(s, t, "library.txt", "Keys are", "All the keys are")},
    "structure": lambda s, t: {"corpus": changed_corpus(s, t, "harbour.md", "## Fees", "Fees: ")},
    "fewer questions": lambda s, t: {"questions": changed_questions(s, t, lambda q: q if q["id"] != "q1" else None)},
    "words of questions": lambda s, t: {
        "questions": changed_questions(s, t, lambda q: q | {"question": q["question"] + " Maps?"})
    },
    "within": lambda s, t: {"questions": changed_questions(s, t, lambda q: q | {"within": q["gold"][0]["document"]})},
    "measure": lambda s, t: {"measure": "recall@15t"},
    "embedder": lambda s, t: {"embedders": ("minilm(max_tokens=12)",)},
    "chunkers": lambda s, t: {"chunkers": ("recursive(max=20t)", "sentence(max=15t)"), "baseline": ""},
    "seed": lambda s, t: {"seed": 3},
    "controls": lambda s, t: {"controls": True},
    "retrieval": lambda s, t: {"search": "zscore", "deliver": "parent(30t)", "best_sentence": True},
}


@pytest.mark.parametrize("what", CHANGES)
def test_nothing_is_taken_from_a_run_of_something_else(finished, plan, small, tmp_path, what):
    folder, _ = finished
    shutil.copytree(folder / "first", tmp_path / "used")
    changed = replace(plan, **CHANGES[what](small, tmp_path))
    fresh = run(changed, tmp_path / "fresh", cache=folder / "vectors.sqlite")
    used = run(changed, tmp_path / "used", cache=folder / "vectors.sqlite", replacing=True)
    assert scores_of(used) == scores_of(fresh)
    assert score_bytes(tmp_path / "used") == score_bytes(tmp_path / "fresh")


def scores_of(board):
    return [(r["row"], r["score"], r["contrast"], r["chunks"], r["size"]) for r in board["rows"]]


@dataclass(frozen=True)
class Prefixed:
    """An embedder whose fingerprint does not know its prefix."""

    inner: Minilm
    said: str

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def prefix(self, role):
        return self.said

    def overhead(self, role):
        return 2 + self.inner.tokenizer.count(self.said)

    def embed(self, texts, role, *, progress=None):
        return self.inner.embed([self.said + t for t in texts], role, progress=progress)


def test_another_prefix_is_another_embedder(finished, plan, small, tmp_path):
    keys = []
    for said in ("", "query: ", "passage: "):
        inputs = load_inputs(plan, lambda *_: None)
        row = RowRun(
            plan.rows[0], plan.rows[0].build_chunker(), Prefixed(Minilm(), said), INDEXES.build("exact"), inputs,
            plan.all_measures, RunStore(tmp_path), "code", lambda *_: None,
        )  # fmt: skip
        keys.append(row.run())
    for stage in ("chunks", "hits", "scores"):
        assert len({getattr(k, stage) for k in keys}) == 3


def test_a_run_that_lost_its_hits_ends_with_the_same_bytes_whatever_the_text(tmp_path):
    rows = "".join(f"| v{n} \ud800 | {n} |\n" for n in range(60))
    text = f"| head \ud800 | b |\n|---|---|\n{rows}\n\nThe last one is here."
    corpus = tmp_path / "c.jsonl"
    corpus.write_text(json.dumps({"id": "d", "text": text, "media_type": "text/markdown"}) + "\n")
    asked = {"id": "q", "question": "Where is v7?", "gold": [{"document": "d", "quote": "| v7 \ud800 |"}]}
    (tmp_path / "q.jsonl").write_text(json.dumps(asked) + "\n")
    plan = Plan(str(corpus), str(tmp_path / "q.jsonl"), ("recursive(60t)",))
    run(plan, tmp_path / "run")
    before = score_bytes(tmp_path / "run"), [p.read_bytes() for p in (tmp_path / "run" / "hits").glob("*.parquet")]
    for stage in ("hits", "scores"):
        shutil.rmtree(tmp_path / "run" / stage)
    run(plan, tmp_path / "run")
    again = score_bytes(tmp_path / "run"), [p.read_bytes() for p in (tmp_path / "run" / "hits").glob("*.parquet")]
    assert again == before


@pytest.mark.parametrize("stage", ["chunks", "hits", "scores"])
def test_what_was_damaged_is_named_and_made_again_once_deleted(finished, plan, tmp_path, stage):
    folder, board = finished
    shutil.copytree(folder / "first", tmp_path / "run")
    for damage in ("[]", "{"):
        for path in (tmp_path / "run" / stage).glob("*.json"):
            path.write_text(damage)
        with pytest.raises(StoreError, match="delete it and run again"):
            build_leaderboard(RunStore(tmp_path / "run"))
    for path in (tmp_path / "run" / stage).glob("*.json"):
        path.unlink()
    assert scores_of(run(plan, tmp_path / "run", cache=folder / "vectors.sqlite")) == scores_of(board)


def test_a_folder_with_wildcards_in_its_name_is_a_folder(plan, finished, tmp_path):
    folder, board = finished
    found = run(plan, tmp_path / "a[1]*" / "run", cache=folder / "vectors.sqlite")
    assert scores_of(found) == scores_of(board)


def test_an_interrupted_change_leaves_the_earlier_result_whole(finished, plan, tmp_path):
    folder, board = finished
    shutil.copytree(folder / "first", tmp_path / "run")
    changed = replace(plan, measure="hit@7", chunkers=("sentence(max=10t)",), baseline="")

    def interrupted(what, *_):
        if what.startswith("cut"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(changed, tmp_path / "run", cache=folder / "vectors.sqlite", advance=interrupted, replacing=True)
    assert scores_of(build_leaderboard(RunStore(tmp_path / "run"))) == scores_of(board)


def test_the_result_of_another_comparison_is_not_replaced_unasked(finished, plan, small, tmp_path):
    folder, _ = finished
    shutil.copytree(folder / "first", tmp_path / "run")
    before = (tmp_path / "run" / "leaderboard.json").read_bytes()
    asked = changed_questions(small, tmp_path, lambda q: q | {"question": "Other?"})
    for change, said in (
        ({"chunkers": CHUNKERS[:1], "baseline": ""}, r"rows? that this plan lacks .*--name.*--replace"),
        ({"questions": asked}, "other questions; "),
    ):
        with pytest.raises(PlanError, match=said):
            run(replace(plan, **change), tmp_path / "run", cache=folder / "vectors.sqlite")
    assert (tmp_path / "run" / "leaderboard.json").read_bytes() == before


def test_a_run_is_continued_with_more_rows_and_measures(finished, plan, tmp_path):
    folder, board = finished
    shutil.copytree(folder / "first", tmp_path / "run")
    more = replace(plan, chunkers=(*plan.chunkers, "sentence(max=12t)"), measures=("recall@15t",))
    names = [r["row"] for r in run(more, tmp_path / "run", cache=folder / "vectors.sqlite")["rows"]]
    assert {r["row"] for r in board["rows"]} < set(names)


def test_documents_too_short_to_cut_and_chunkers_that_cut_alike_are_said(small, tmp_path):
    whole = Plan(str(small / "corpus"), str(small / "questions.jsonl"), ("recursive", "fixed(512t)"))
    notes = " ".join(results_of(run(whole, tmp_path / "run")).notes)
    assert "minilm::recursive left 3 of 3 documents in one chunk" in notes
    assert "made the same chunks as minilm::recursive" in notes
    assert "fewer than 20 documents" in notes


def test_the_advice_never_names_a_control(small, tmp_path):
    plan = Plan(str(small / "corpus"), str(small / "questions.jsonl"), ("sentence(max=30t)",), controls=True)
    board = run(plan, tmp_path / "run")
    for verdict in ("better", "equivalent"):
        rows = [r | {"contrast": r["contrast"] and r["contrast"] | {"verdict": verdict}} for r in board["rows"]]
        advice = results_of(board | {"rows": rows}).sentence.partition(". ")[2]
        assert "sentence(max=30t)" in advice
        assert "shuffled" not in advice


def test_a_chunker_with_itself_under_two_names_is_equivalent(small, tmp_path):
    two = Plan(str(small / "corpus"), str(small / "questions.jsonl"), ("recursive(max=60t)", "recursive(60t)"))
    board = run(two, tmp_path / "run")
    assert [r["contrast"]["verdict"] for r in board["rows"] if r["contrast"]] == ["equivalent"]


def test_the_exact_index_gives_the_scores_of_the_default_one(finished, plan):
    folder, board = finished
    exact = run(replace(plan, index="exact"), folder / "exact", cache=folder / "vectors.sqlite")
    assert [r["score"] for r in exact["rows"]] == [r["score"] for r in board["rows"]]


RETRIEVALS = [
    {"search": "bm25", "deliver": "window"},
    {"search": "rrf", "deliver": "merge(size=60t)"},
    {"search": "zscore", "deliver": "parent(size=60t)", "best_sentence": True},
]


@pytest.mark.parametrize("retrieval", RETRIEVALS, ids=lambda r: r["search"])
def test_every_way_to_search_and_deliver_gives_the_same_by_both_engines_and_says_what_it_was(finished, plan, retrieval):
    folder, dense = finished
    asked = replace(plan, chunkers=CHUNKERS[:2], **retrieval)
    boards = [
        run(replace(asked, index=index), folder / f"{index} {retrieval}", cache=folder / "vectors.sqlite")
        for index in ("qdrant", "exact")
    ]
    assert scores_of(boards[0]) == scores_of(boards[1])
    for key in ("search", "deliver", "best_sentence"):
        assert boards[0][key] == retrieval.get(key, dense[key])
        shown = f"{key}={str(retrieval[key]).lower()}" if key in retrieval else ""
        assert shown in " ".join(results_of(boards[0]).notes)
    for row in boards[0]["rows"]:
        assert all(spent <= int(cut[:-1]) for cut, spent in row["tokens_at"].items() if cut.endswith("t"))


def test_what_was_found_another_way_has_another_key_and_the_same_chunks(plan, tmp_path):
    inputs = load_inputs(plan, lambda *_: None)
    ways = [
        {}, {"search": "zscore"}, {"search": "zscore(lexical=bm25(b=0))"}, {"search": "rrf"}, {"search": "rrf(k=0)"},
        {"search": "bm25"}, {"deliver": "window"}, {"deliver": "window(2)"}, {"best_sentence": True},
    ]  # fmt: skip
    first = RowRun(
        plan.rows[0], plan.rows[0].build_chunker(), Minilm(), INDEXES.build("exact"), inputs, plan.all_measures,
        RunStore(tmp_path), "code", lambda *_: None,
    )  # fmt: skip
    keys = [replace(first, retrieval=replace(plan, **way).retrieval).keys for way in ways]
    assert keys[0] == first.keys
    assert len({k.chunks for k in keys}) == 1
    assert len({k.hits for k in keys}) == len({k.scores for k in keys}) == len(ways)


def test_the_cost_is_that_of_what_is_embedded_for_the_search(finished, plan):
    folder, dense = finished

    def tokens(**retrieval):
        path = folder / f"cost {retrieval}"
        asked = replace(plan, chunkers=CHUNKERS[1:], **retrieval)
        board = run(asked, path, cache=folder / "vectors.sqlite")
        return {r["row"]: r["cost"] for r in board["rows"]}

    words, sentences = tokens(search="bm25"), tokens(best_sentence=True)
    for cost, name in [(r["cost"], r["row"]) for r in dense["rows"] if r["row"] in words]:
        assert words[name]["embedded_tokens"] == cost["embedded_tokens_for_cutting"]
        extra = sentences[name]["embedded_tokens_for_sentences"]
        assert extra > 0 == cost["embedded_tokens_for_sentences"]
        assert sentences[name]["embedded_tokens"] == cost["embedded_tokens"] + extra


def test_words_alone_find_nothing_for_a_question_without_a_common_word(plan, small, tmp_path):
    asked = changed_questions(small, tmp_path, lambda q: q | {"question": "Qwertz?"} if q["id"] == "q1" else q)
    board = run(replace(plan, chunkers=CHUNKERS[:1], questions=asked, search="bm25"), tmp_path / "run")
    assert [r["unanswered"] for r in board["rows"]] == [1] * len(board["rows"])


def test_controls_are_compared_with_their_own_chunker(small, tmp_path):
    plan = Plan(str(small / "corpus"), str(small / "questions.jsonl"), ("sentence(max=30t)",), controls=True)
    board = run(plan, tmp_path / "run")
    assert [r["chunker"] for r in board["rows"] if "shuffled" in r["chunker"]] == ["shuffled(sentence(max=30t))"]
    assert [c["name"] for c in board["controls"]] == ["minilm::sentence(max=30t)"]


def test_a_user_splitter_that_was_edited_is_cut_again(small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = tmp_path / "home_made_splitter.py"
    program = [
        sys.executable, "-c", "from faircut.cli import main; main()", "compare", str(small / "corpus"),
        str(small / "questions.jsonl"), "--chunker", "python:home_made_splitter:split", "--name", "mine", "--json",
        "--cache", str(tmp_path / "vectors.sqlite"),
    ]  # fmt: skip
    counts = []
    for separator in ("\\n\\n", " "):
        module.write_text(f"def split(text):\n    return text.split('{separator}')\n")
        done = subprocess.run(program, capture_output=True, text=True, check=True)
        counts.append(json.loads(done.stdout)["rows"][0]["chunks"])
    assert counts[0] != counts[1]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"chunkers": ()}, "at least one chunker"),
        ({"baseline": "recursiv"}, "is not among the rows; did you mean"),
        ({"chunkers": ("recursive", "recursive")}, "stands twice"),
        ({"band": 0.0}, "band and alpha lie between"),
        ({"search": "bm25", "best_sentence": True}, "best_sentence needs vectors"),
        ({"deliver": "window", "measures": ("semantic_hit(0.7)@5",)}, "semantic_hit judges whole chunks"),
    ],
)
def test_a_plan_that_cannot_work_is_refused_with_a_reason(plan, change, said):
    with pytest.raises(PlanError, match=said):
        replace(plan, **change)


def test_a_plan_file_with_a_wrong_key_names_the_nearest(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text('corpus = "c"\nquestions = "q"\nchunker = ["recursive"]\n')
    with pytest.raises(PlanError, match="did you mean 'chunkers'"):
        load_plan(path)


def test_the_default_name_changes_with_the_plan_and_not_with_the_working_directory(plan, monkeypatch, tmp_path):
    name = default_name(plan)
    monkeypatch.chdir(tmp_path)
    assert default_name(plan) == name
    assert default_name(replace(plan, seed=1)) != name


def test_two_runs_cannot_write_to_one_folder_at_once(tmp_path):
    store = RunStore(tmp_path / "run")
    with store.locked(), pytest.raises(StoreError, match="another run is writing"), RunStore(tmp_path / "run").locked():
        pass


def test_a_damaged_table_is_named_with_what_to_do(tmp_path):
    store = RunStore(tmp_path)
    store.write("scores", "k", pl.DataFrame({"a": [1]}), {})
    store.table_path("scores", "k").write_bytes(b"PAR1")
    with pytest.raises(StoreError, match="delete it and run again"):
        store.read("scores", "k")


def kill_at_random_moments(small, folder, moments, seed):
    """Start the comparison again and again, killed after a random time each, until one may finish."""
    program = [
        sys.executable, "-c", "from faircut.cli import main; main()", "compare", str(small / "corpus"),
        str(small / "questions.jsonl"), *(a for c in CHUNKERS for a in ("--chunker", c)), "--name", "run",
        "--runs", str(folder), "--cache", str(folder / "vectors.sqlite"),
    ]  # fmt: skip
    random_source = random.Random(seed)
    killed = 0
    for _ in range(moments):
        with subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(random_source.uniform(0.4, 3.0))
            os.kill(process.pid, signal.SIGKILL)
        killed += process.returncode == -signal.SIGKILL
    subprocess.run(program, check=True, capture_output=True)
    return killed


@pytest.mark.parametrize("moments", [3, pytest.param(10, marks=pytest.mark.slow)])
def test_a_comparison_killed_at_random_moments_ends_with_the_same_bytes(small, plan, tmp_path, moments):
    run(plan, tmp_path / "whole", cache=tmp_path / "other.sqlite")
    killed = kill_at_random_moments(small, tmp_path / "killed", moments, seed=moments)
    assert killed > 0
    assert score_bytes(tmp_path / "killed" / "run") == score_bytes(tmp_path / "whole")
    assert not list((tmp_path / "killed" / "run").rglob("*.tmp"))
