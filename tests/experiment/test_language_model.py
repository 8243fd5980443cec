"""A comparison with chunkers that ask a language model: what it costs is told, and nothing is paid for twice."""

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from faircut.cli.app import app
from faircut.errors import PlanError
from faircut.experiment.asking import MeteredModel
from faircut.experiment.leaderboard import _asked
from faircut.experiment.plan import Plan, load_plan
from faircut.experiment.run import run
from faircut.llm.contract import Answer, ask

sys.path += [str(Path(__file__).parent.parent / folder) for folder in ("llm", "chunkers")]
from fault_server import hang, prompt_of, serving, status
from scripted_model import ScriptedModel

CHUNKERS = ("recursive(max=60t)", "llm(max=60t)", "propositions", "proposition_paragraph", "contextual(recursive)")


class Priced(ScriptedModel):
    """Writes one statement of five that is not in its sources."""

    def statements(self, prompt):
        found = super().statements(prompt)
        for at in range(0, len(found), 5):
            found[at]["text"] += " Martians said so."
        return found


@pytest.fixture(scope="module")
def compared(small, tmp_path_factory):
    plan = Plan(str(small / "corpus"), str(small / "questions.jsonl"), CHUNKERS, controls=True, index="exact")
    model, folder = Priced(), tmp_path_factory.mktemp("runs") / "run"
    return plan, folder, model, run(plan, folder, language_model=model)


def rows_of(leaderboard):
    return {row["chunker"]: row for row in leaderboard["rows"]}


def test_chunkers_that_ask_a_model_are_compared_and_lose_nothing(compared):
    rows = rows_of(compared[3])
    assert set(CHUNKERS) < set(rows)
    assert all(row["integrity"]["ok"] and row["integrity"]["lost"] == 0 for row in rows.values())
    assert "shuffled(llm(max=60t))" in rows


def test_the_audit_tells_how_many_statements_were_unfaithful(compared):
    found = rows_of(compared[3])["propositions"]["integrity"]
    assert 0.1 < found["unfaithful"] / found["statements"] < 0.6
    assert found["rewritten"] >= 0 == found["offsets_wrong"]
    assert f"{found['unfaithful']} of {found['statements']} statements unfaithful" in found["words"]
    assert rows_of(compared[3])["recursive(max=60t)"]["integrity"]["statements"] == 0


def test_tokens_and_requests_of_cutting_are_a_cost_of_the_rows_that_ask(compared):
    rows = rows_of(compared[3])
    assert "llm_requests" not in rows["recursive(max=60t)"]["cost"]
    cost = rows["llm(max=60t)"]["cost"]
    assert cost["llm_requests"] == 3
    assert (cost["llm_prompt_tokens"], cost["llm_completion_tokens"], cost["llm_money"]) == (30, 15, None)
    assert rows["shuffled(llm(max=60t))"]["cost"]["llm_requests"] == 3


def test_a_finished_run_repeats_without_asking_and_another_model_is_cut_anew(compared):
    plan, folder, model, leaderboard = compared
    before = len(model.asked)
    assert run(plan, folder, language_model=model) == leaderboard
    assert len(model.asked) == before
    other = Priced()
    other.model = "other"
    run(plan, folder, language_model=other)
    assert len(other.asked) == before


def test_without_a_model_the_plan_is_refused_before_anything_is_read(tmp_path):
    plan = Plan("nowhere", "nothing.jsonl", ("recursive", "shuffled(llm)"))
    with pytest.raises(PlanError, match=r"shuffled\(llm\) needs a language model.*--llm URL"):
        run(plan, tmp_path / "run")
    with pytest.raises(PlanError, match="give both llm and llm_model"):
        Plan("c", "q", ("llm",), llm="http://127.0.0.1:1/v1")


# ---------------------------------------------------------------- the command line


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("A_SECRET", "sk-secret-0123456789")

    def text(body):
        lines = len(prompt_of(body).splitlines())
        return json.dumps({"starts": list(range(1, lines + 1, 4))})

    with serving() as running:
        running.text = text
        yield running


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_command_line_compares_with_a_model_of_a_server_and_keeps_no_key(server, small, tmp_path):
    options = ["--llm", server.url, "--model", "tiny", "--api-key-env", "A_SECRET", "--answers", tmp_path / "a.sqlite"]
    prices = ["--price-in", 1, "--price-out", 2]
    call = [
        "compare", small / "corpus", small / "questions.jsonl", "-c", "recursive", "-c", "llm", "--index", "exact",
        "--runs", tmp_path / "runs", "--name", "r", *options, *prices,
    ]  # fmt: skip
    said = invoke(*call, "--dry-run")
    assert "3 to ask" in said.output
    assert server.bodies == []
    done = invoke(*call)
    assert done.exit_code == 0, done.output
    assert "llm tokens" in done.output
    assert server.headers[0]["authorization"] == "Bearer sk-secret-0123456789"
    cost = rows_of(json.loads((tmp_path / "runs" / "r" / "leaderboard.json").read_text()))["llm"]["cost"]
    assert cost["llm_money"] == pytest.approx((3 * 10 * 1 + 3 * 5 * 2) / 1e6)
    kept = load_plan(tmp_path / "runs" / "r" / "plan.toml")
    assert (kept.llm, kept.llm_model, kept.llm_key_env) == (server.url, "tiny", "A_SECRET")
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or b"sk-secret" not in path.read_bytes(), path


def test_a_job_asks_once_for_each_document_goes_on_where_it_stopped_and_needs_a_model(server, small, tmp_path):
    assert "--llm URL" in str(invoke("chunk", small / "corpus", "-c", "llm").exception)
    options = ["--llm", server.url, "--model", "tiny", "--answers", tmp_path / "a.sqlite", "--concurrency", 1]
    call = ["chunk", small / "corpus", "-c", "llm(max=60t)", "--out", tmp_path / "c.jsonl", *options]
    assert "3 to ask" in invoke(*call, "--dry-run").output
    server.faults.extend([None, status(401)])
    stopped = invoke(*call)
    assert "refuses the key" in str(stopped.exception)
    assert not (tmp_path / "c.jsonl").exists()
    done = invoke(*call)
    assert done.exit_code == 0, done.output
    assert len((tmp_path / "c.jsonl").read_text().splitlines()) > 5
    assert sum(server.paid.values()) == 3


@pytest.mark.parametrize("command", ["chunk", "audit"])
def test_short_documents_are_asked_about_at_the_same_time(command, server, small, tmp_path):
    out = ["--out", tmp_path / "c.jsonl"] if command == "chunk" else []
    options = ["--llm", server.url, "--model", "tiny", "--answers", tmp_path / "a.sqlite", "--concurrency", 3]
    held = threading.Barrier(3)

    def together(handler, body):
        held.wait(timeout=20)  # nobody is answered until all three documents were asked about
        handler.answer(body)

    server.faults.extend([together] * 3)
    done = invoke(command, small / "corpus", "-c", "llm(max=60t)", *out, *options)
    assert done.exit_code == 0, done.output
    assert not held.broken


def test_the_audit_command_asks_the_model_and_counts_what_it_gave(server, small, tmp_path):
    assert "--llm URL" in str(invoke("audit", small / "corpus", "-c", "propositions").exception)
    server.text = lambda body: json.dumps({"statements": [{"text": "Martians came.", "sentences": [1]}]})
    options = ["--llm", server.url, "--model", "tiny", "--answers", tmp_path / "a.sqlite"]
    call = ["audit", small / "corpus", "-c", "propositions", *options]
    assert "to ask" in invoke(*call, "--dry-run").output
    assert server.bodies == []
    done = invoke(*call, "--json", "--strict")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)["propositions"]
    assert found["unfaithful"] == found["statements"] > 0 == found["lost"]
    assert found["stability"] is None


# ---------------------------------------------------------------- a server that fails, and Ctrl-C


@pytest.mark.parametrize("chunker", ["llm(max=60t)", "propositions", "contextual(recursive)"])
@pytest.mark.parametrize("code", [500, 400])
def test_a_server_that_fails_at_everything_leaves_nothing_done_and_the_next_run_repairs_it(
    chunker, code, server, small, tmp_path, monkeypatch
):
    monkeypatch.setattr("faircut.llm.attempts.RetryPolicy.pause", lambda *_: 0.0)
    options = ["--llm", server.url, "--model", "tiny", "--answers", tmp_path / "a.sqlite", "--concurrency", 2]
    call = ["chunk", small / "corpus", "-c", chunker, "--out", tmp_path / "c.jsonl", *options]
    server.always = status(code)
    failed = invoke(*call)
    assert failed.exit_code != 0
    assert not (tmp_path / "c.jsonl").exists()
    server.always = None
    done = invoke(*call)
    assert done.exit_code == 0, done.output
    assert sum(server.paid.values()) >= 3


@pytest.mark.parametrize("chunker", ["llm(max=60t)", "propositions"])
def test_a_comparison_gives_no_verdict_on_a_chunker_whose_server_failed(chunker, server, small, tmp_path, monkeypatch):
    monkeypatch.setattr("faircut.llm.attempts.RetryPolicy.pause", lambda *_: 0.0)
    call = [
        "compare", small / "corpus", small / "questions.jsonl", "-c", "recursive", "-c", chunker, "--index", "exact",
        "--runs", tmp_path / "runs", "--name", "r", "--llm", server.url, "--model", "tiny",
        "--answers", tmp_path / "a.sqlite", "--concurrency", 64,
    ]  # fmt: skip
    server.always = status(500)
    failed = invoke(*call)
    assert failed.exit_code != 0
    assert not (tmp_path / "runs" / "r" / "leaderboard.json").exists()
    server.always = None
    assert invoke(*call).exit_code == 0
    assert sum(server.paid.values()) >= 3


@pytest.mark.slow
def test_ctrl_c_ends_a_job_whose_server_does_not_answer(server, small, tmp_path):
    server.always = hang(120)
    call = ["chunk", small / "corpus", "-c", "llm(max=60t)", "--llm", server.url, "--model", "tiny"]
    program = [sys.executable, "-c", "from faircut.cli import main; main()", *map(str, call)]
    process = subprocess.Popen(
        [*program, "--answers", str(tmp_path / "a.sqlite"), "--out", str(tmp_path / "c.jsonl")],
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 60
    while not server.bodies and time.monotonic() < until:
        time.sleep(0.1)
    asked = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "stopped; what was finished is kept" in said
    assert time.monotonic() - asked < 40  # calls under way have ten seconds


def test_the_seconds_waited_for_a_model_are_a_cost_and_unknown_where_a_cache_answered():
    asked = {"requests": 2, "prompt_tokens": 1, "completion_tokens": 1, "money": 0.0, "failures": 0, "seconds": 3.5}
    assert _asked(asked | {"cached": 0})["llm_seconds"] == 3.5
    assert _asked(asked | {"cached": 1})["llm_seconds"] is None
    metered = MeteredModel(FromCache())
    metered.complete([ask("Why?")])
    assert metered.account.cached == 1


class FromCache:
    model = "kept"

    def complete(self, requests, *, progress=None):
        return [Answer("Because.", from_cache=True) for _ in requests]


def test_finding_out_what_is_asked_is_not_charged_as_embedding(small, tmp_path):
    chunkers = ("semantic(max=60t)", "contextual(semantic(max=60t), context=10t)")
    plan = Plan(str(small / "corpus"), str(small / "questions.jsonl"), chunkers, index="exact")
    rows = rows_of(run(plan, tmp_path / "r", language_model=ScriptedModel()))
    alone, inside = (row["cost"]["embedded_tokens_for_cutting"] for row in rows.values())
    assert 0 < inside == alone
