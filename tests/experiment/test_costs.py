"""What a comparison costs: said before the first call, bounded by a budget, paid for once, and shown as it was."""

import json
import signal
import subprocess
import sys
import time
from contextlib import suppress
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

import faircut
from faircut.chunkers import build
from faircut.chunkers.contract import Models
from faircut.cli.app import app
from faircut.embedding import EMBEDDERS
from faircut.errors import LlmError
from faircut.experiment.inputs import load_inputs
from faircut.experiment.plan import Plan
from faircut.experiment.rehearsal import rehearse
from faircut.experiment.run import run
from faircut.llm import Budget, BudgetReached, Price, PriceTable, Purse, Usage, dollars
from faircut.llm.budget import Ledger
from faircut.report.data import results_of
from faircut.report.markdown import leaderboard_markdown
from faircut.report.pages import write_report
from faircut.report.terminal import print_results

sys.path += [str(Path(__file__).parent.parent / folder) for folder in ("embedding", "chunkers")]
from embedding_server import hang, serving
from scripted_model import ScriptedModel

A_TOKEN = 1e-5
PRICES = PriceTable({"tiny": Price(A_TOKEN * 1e6, 0)})
CHUNKERS = ("recursive(max=40t)", "recursive(max=60t)")


@pytest.fixture
def server():
    with serving() as running:
        yield running


@pytest.fixture
def plan(server, small):
    """Builds plans with an embedder on the server."""

    def make(*chunkers, others=(), **options):
        embedder = f'openai("tiny", dimensions=8, url="{server.url}", batch=3)'
        corpus, questions = str(small / "corpus"), str(small / "questions.jsonl")
        given = {"embedders": (embedder, *others), "index": "exact"} | options
        return Plan(corpus, questions, chunkers or CHUNKERS, **given)

    return make


@pytest.fixture(scope="module")
def minilm_models():
    return Models.of(EMBEDDERS.build("minilm"))


def printed(board):
    console = Console(file=StringIO(), width=200)
    print_results(results_of(board), console)
    return console.file.getvalue()


# ---------------------------------------------------------------- what is shown


def test_a_remote_row_has_its_tokens_and_its_money_in_every_report_and_a_local_one_costs_nothing(plan, tmp_path):
    board = faircut.run(
        plan("recursive(max=40t)", others=("minilm",)), tmp_path / "r", cache=tmp_path / "v", prices=PRICES
    )
    costs = {row["embedder"].partition("(")[0]: row["cost"] for row in board["rows"]}
    money = costs["openai"]["embedded_tokens"] * A_TOKEN
    assert costs["openai"]["embedding_money"] == costs["openai"]["money"] == pytest.approx(money)
    assert costs["minilm"]["embedding_money"] == costs["minilm"]["money"] == 0
    page = write_report([tmp_path / "r"], tmp_path / "report.html").read_text(encoding="utf-8")
    for shown in (printed(board), board._repr_markdown_(), board._repr_html_(), page):
        assert dollars(money) in shown.replace("\\$", "$")
        assert "$0" in shown
    for shown in (printed(board), board._repr_html_(), leaderboard_markdown(results_of(board)), page):
        assert "tokens embedded" in shown
    assert f"{costs['openai']['embedded_tokens']:,}" in printed(board)


def test_an_unknown_price_is_said_and_is_not_nothing(plan, tmp_path):
    board = faircut.run(plan("recursive(max=40t)", others=("minilm",)), tmp_path / "r", cache=tmp_path / "v")
    cost = next(row["cost"] for row in board["rows"] if row["embedder"] != "minilm")
    assert (cost["embedding_price"], cost["embedding_money"], cost["money"]) == (None, None, None)
    for shown in (printed(board), board._repr_markdown_(), board._repr_html_()):
        assert "unknown" in shown
    assert "cheapest of those not shown to be worse is minilm::" in printed(board)


def test_without_anything_to_pay_there_is_no_money_in_the_tables(small, tmp_path):
    corpus, questions = str(small / "corpus"), str(small / "questions.jsonl")
    board = faircut.run(Plan(corpus, questions, CHUNKERS, index="exact"), tmp_path / "r")
    for shown in (printed(board), board._repr_markdown_(), board._repr_html_()):
        assert "$" not in shown.replace("\\$", "$")
        assert "tokens embedded" not in shown


def test_a_language_model_and_a_remote_embedder_are_one_picture(plan, tmp_path):
    asking = "llm(max=60t)"
    board = run(
        plan("recursive(max=40t)", asking), tmp_path / "r", cache=tmp_path / "v", prices=PRICES,
        language_model=ScriptedModel(),
    )  # fmt: skip
    rows = {row["chunker"]: row["cost"] for row in board["rows"]}
    assert rows[asking]["embedding_money"] > 0
    assert (rows[asking]["llm_money"], rows[asking]["money"]) == (None, None)
    assert rows["recursive(max=40t)"]["money"] == rows["recursive(max=40t)"]["embedding_money"] > 0
    shown = printed(board)
    for column in ("tokens embedded", "embedding cost", "llm tokens", "llm cost"):
        assert column in shown


@pytest.mark.parametrize(
    ("amount", "shown"),
    [(0.0, "$0"), (0.0123, "$0.0123"), (0.00001, "<$0.0001"), (1234.5, "$1,234.5000"), (None, "unknown")],
)
def test_money_is_written_in_one_way(amount, shown):
    assert dollars(amount) == shown


# ---------------------------------------------------------------- what is counted


@pytest.mark.parametrize("says_usage", [True, False])
def test_what_is_paid_is_what_the_server_counted_or_an_estimate_where_it_says_nothing(
    says_usage, plan, server, tmp_path
):
    server.says_usage = says_usage
    purse = Purse()
    run(plan(), tmp_path / "r", cache=tmp_path / "v", budget=purse, prices=PRICES)
    (paid,) = json.loads((tmp_path / "r" / "manifest.json").read_text())["embedding_paid"].values()
    assert (paid["requests"], paid["prompt_tokens"]) == (purse.spent.requests, purse.spent.tokens)
    assert paid["requests"] == len(server.bodies)
    assert paid["money"] == pytest.approx(paid["prompt_tokens"] * A_TOKEN)
    if says_usage:
        assert paid["prompt_tokens"] == server.tokens
    else:
        assert paid["prompt_tokens"] > server.tokens


@pytest.mark.parametrize("chunker", ["recursive(max=30t)", "structure(max=40t)"])
def test_passages_are_the_same_whether_their_sizes_are_known_or_counted(chunker, small, minilm_models):
    plan = Plan(str(small / "corpus"), str(small / "questions.jsonl"), (chunker,))
    inputs = load_inputs(plan, lambda *_: None)
    chunks = [c for document in inputs.documents.values() for c in build(chunker).chunk(document, minilm_models)]
    sizes = inputs.budget.count_many([c.embedded_text for c in chunks])
    passages = inputs.passages(chunks)
    assert inputs.passages(chunks, sizes) == passages
    assert [p.tokens for p in passages] == sizes
    assert any(p.context_tokens for p in passages) == (chunker == "structure(max=40t)")


def test_late_pooling_is_charged_for_its_windows_and_not_for_the_chunks(small, tmp_path):
    corpus, questions = str(small / "corpus"), str(small / "questions.jsonl")
    plan = Plan(corpus, questions, ("recursive(max=20t)", "recursive(max=60t)"), embedders=("late(minilm)",))
    board = run(plan, tmp_path / "r", cache=tmp_path / "v")
    tokens = {row["cost"]["embedded_tokens"] for row in board["rows"]}
    assert tokens == {board["corpus"]["tokens"] + 2 * board["corpus"]["documents"]}


# ---------------------------------------------------------------- the budget


@pytest.mark.parametrize(
    "budget", [Budget(money=300 * A_TOKEN), Budget(requests=2), Budget(tokens=250)], ids=["money", "requests", "tokens"]
)
def test_a_budget_stops_embedding_before_it_is_overspent_and_the_next_runs_go_on(budget, plan, server, tmp_path):
    spent, board = [], None
    while board is None and len(spent) < 30:
        purse = Purse(budget)
        with suppress(BudgetReached):
            board = run(plan(), tmp_path / "r", cache=tmp_path / "v", budget=purse, prices=PRICES)
        spent.append(purse.spent)
    assert board is not None
    assert len(spent) > 1
    assert all(one.tokens > 0 for one in spent[:-1])
    assert max(one.money for one in spent) <= (budget.money or 1)
    assert max(one.requests for one in spent) <= (budget.requests or 1000)
    assert max(one.tokens for one in spent) <= (budget.tokens or 10**6)
    assert max(server.paid.values()) == 1
    assert sum(one.requests for one in spent) == len(server.bodies)
    free = len(server.bodies)
    assert run(plan(), tmp_path / "r", cache=tmp_path / "v", budget=Budget(requests=0), prices=PRICES) == board
    assert len(server.bodies) == free


def test_a_budget_in_money_needs_the_price_of_the_embedder_before_anything_is_sent(plan, server, tmp_path):
    with pytest.raises(LlmError, match=r"price of 'tiny'.*--prices FILE"):
        run(plan(), tmp_path / "r", cache=tmp_path / "v", budget=Budget(money=1.0))
    assert server.bodies == []


def test_models_that_share_a_purse_are_bounded_together_each_at_its_price():
    purse = Purse(Budget(money=1.0))
    dear, cheap = Ledger(purse, Price(6e5, 0)), Ledger(purse, Price(1e5, 0))
    assert dear.reserve(Usage(1), lambda: False)
    assert not cheap.fits(Usage(5))
    assert cheap.fits(Usage(4))
    dear.settle(Usage(1), Usage(1))
    assert cheap.reserve(Usage(4), lambda: False)
    cheap.settle(Usage(4), None)
    assert not dear.reserve(Usage(1), lambda: False)
    assert cheap.reached == dear.reached == "$1.0000"
    assert (purse.spent.requests, purse.spent.money) == (1, 0.6)


def test_a_killed_run_pays_again_for_nothing_that_it_was_given(plan, server, small, tmp_path):
    """The third request never ends; what the first two brought is in the cache."""
    server.faults.extend([None, None])
    server.always = hang(30)
    program = (
        "import sys; from pathlib import Path; from faircut.experiment.plan import load_plan\n"
        "from faircut.experiment.run import run\n"
        "run(load_plan(Path(sys.argv[1])), Path(sys.argv[2]), cache=Path(sys.argv[3]))\n"
    )
    (tmp_path / "plan.toml").write_text(plan().to_toml(), encoding="utf-8")
    process = subprocess.Popen([sys.executable, "-c", program, *(str(tmp_path / n) for n in ("plan.toml", "r", "v"))])
    deadline = time.monotonic() + 120
    while len(server.bodies) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert sum(server.paid.values()) == 6
    server.always = None
    run(plan(), tmp_path / "r", cache=tmp_path / "v")
    assert max(server.paid.values()) == 1


# ---------------------------------------------------------------- the dry run


def test_a_rehearsal_counts_what_the_run_then_embeds_and_sends_nothing(plan, server, tmp_path):
    asked = plan(*CHUNKERS, best_sentence=True)
    inputs = load_inputs(asked, lambda *_: None)
    (before,), requests = rehearse(asked, inputs, PRICES, cache=tmp_path / "v")
    assert server.bodies == [] == requests
    assert not (tmp_path / "v").exists()
    assert before.money == pytest.approx(before.tokens * A_TOKEN)
    run(asked, tmp_path / "r", cache=tmp_path / "v", prices=PRICES)
    assert (before.texts, before.cached) == (sum(server.paid.values()), 0)
    (after,), _ = rehearse(asked, inputs, PRICES, cache=tmp_path / "v")
    assert (after.texts, after.cached, after.tokens, after.money) == (before.texts, before.texts, 0, 0)


@pytest.mark.parametrize("chunker", ["semantic(max=60t)", "semantic_p85", "proposition_semantic", "shuffled(hybrid)"])
def test_chunkers_that_look_at_vectors_are_rehearsed_without_any_and_about_right(chunker, plan, server, tmp_path):
    asked = plan(chunker)
    inputs = load_inputs(asked, lambda *_: None)
    (found,), requests = rehearse(asked, inputs, PRICES, cache=tmp_path / "v")
    assert server.bodies == []
    assert bool(requests) == (chunker == "proposition_semantic")
    run(asked, tmp_path / "r", cache=tmp_path / "v", language_model=ScriptedModel())
    embedded = json.loads((tmp_path / "r" / "manifest.json").read_text())["embedded_texts"]
    assert 0.5 < found.texts / sum(embedded.values()) < 2


def test_the_command_line_says_tokens_and_cost_first_then_stops_at_the_budget_and_goes_on(server, small, tmp_path):
    (tmp_path / "prices.toml").write_text('[models]\n"tiny" = { input = 10, output = 0 }\n', encoding="utf-8")
    call = [
        "compare", small / "corpus", small / "questions.jsonl", "-c", "recursive(max=40t)", "--index", "exact",
        "-e", f'openai("tiny", dimensions=8, url="{server.url}", batch=3)', "--runs", tmp_path / "runs", "--name", "r",
        "--cache", tmp_path / "v", "--prices", tmp_path / "prices.toml",
    ]  # fmt: skip

    def invoke(*more):
        return CliRunner().invoke(app, [str(argument) for argument in (*call, *more)])

    said = invoke("--dry-run")
    assert said.exit_code == 0, said.output
    assert "tokens embedded: about" in said.stdout
    assert "cost: about $0.0" in said.stdout
    assert server.bodies == []
    stopped = invoke("--budget", "0.002")
    assert isinstance(stopped.exception, BudgetReached)
    assert "the budget of $0.0020 is reached; what was embedded is kept" in str(stopped.exception)
    assert "paid now: " in stopped.stderr
    done = invoke()
    assert done.exit_code == 0, done.output
    assert "embedding cost" in done.stdout
    assert max(server.paid.values()) == 1


@pytest.mark.parametrize("command", ["audit", "chunk"])
def test_other_commands_are_rehearsed_and_bounded_too(command, server, small, tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRCUT_CACHE", str(tmp_path / "cache"))
    spec = f'openai("tiny", dimensions=8, url="{server.url}", batch=3)'
    call = [
        command,
        small / "corpus",
        "-c",
        "semantic(max=60t)",
        "-e",
        spec,
        *(["--no-stability"] if command == "audit" else []),
    ]

    def invoke(*more):
        return CliRunner().invoke(app, [str(argument) for argument in (*call, *more)])

    said = invoke("--dry-run")
    assert "tokens embedded: about" in said.output
    assert "cost: unknown" in said.output
    assert server.bodies == []
    stopped = invoke("--max-requests", 1)
    assert isinstance(stopped.exception, BudgetReached)
    assert len(server.bodies) == 1
    done = invoke()  # without a budget nothing is paid for twice either
    assert done.exit_code == 0, done.output
    assert "paid now: " in done.stderr
    assert max(server.paid.values()) == 1
