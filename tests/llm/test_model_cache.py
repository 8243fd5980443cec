"""Paid answers are kept: runs repeat without a server, resume after SIGKILL, and share a file between processes."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter

import pytest
from fault_server import serving

from faircut.errors import FaircutWarning, LlmError, StoreError
from faircut.llm import Budget, BudgetReached, ChatModel, Endpoint, Price, ask
from faircut.llm.answer_store import AnswerStore, Reply
from faircut.llm.claims import Claims
from faircut.llm.contract import Usage

RUN = """
import sys, json
from pathlib import Path
from faircut.llm import ChatModel, Endpoint, ask
url, cache, *prompts = sys.argv[1:]
model = ChatModel(Endpoint(url, "tiny", concurrency=2), cache=Path(cache))
print(json.dumps([answer.text for answer in model.complete([ask(prompt) for prompt in prompts])]))
"""
PROMPTS = [f"prompt {n}" for n in range(14)]


def start(url, cache, prompts=PROMPTS):
    command = [sys.executable, "-c", RUN, url, str(cache), *prompts]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)


def test_a_finished_run_repeats_without_server_and_key(make_model, tmp_path, monkeypatch):
    requests = [ask(prompt) for prompt in PROMPTS]
    with serving() as server:
        first = make_model(url=server.url).complete(requests)
    monkeypatch.setitem(sys.modules, "openai", None)  # not even the package is needed
    gone = ChatModel(Endpoint("https://api.openai.com/v1", "tiny"), cache=tmp_path / "answers.sqlite")
    again = gone.complete(requests)
    assert [answer.text for answer in again] == [answer.text for answer in first]
    assert all(answer.from_cache for answer in again)
    assert not any(answer.from_cache for answer in first)
    assert gone.spent.requests == 0


def test_any_difference_in_a_request_is_another_question(server, make_model):
    model = make_model()
    variants = [
        ask("a"), ask("b"), ask("a", system="s"), ask("a", temperature=1.0), ask("a", seed=1), ask("a", max_tokens=9),
        ask("a", schema={"type": "string"}),
    ]  # fmt: skip
    server.text = lambda body: '"text"'
    model.complete(variants)
    make_model(name="small").complete(variants[:1])
    assert len(server.asked) == len(variants) + 1


def test_equal_requests_are_asked_once_and_each_has_its_answer(server, make_model):
    answers = make_model(cache=None).complete([ask("a"), ask("b"), ask("a"), ask("a")])
    assert [answer.text for answer in answers] == ["answer to a", "answer to b", "answer to a", "answer to a"]
    assert sorted(server.asked) == ["a", "b"]


def test_a_run_resumes_after_sigkill_without_paying_again(tmp_path):
    cache = tmp_path / "answers.sqlite"
    with serving() as server:
        server.seconds = 0.15
        process = start(server.url, cache)
        while sum(server.paid.values()) < 6 and process.poll() is None:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        connection = sqlite3.connect(cache)
        kept = connection.execute("SELECT count(*) FROM answers").fetchone()[0]
        connection.close()
        assert 3 <= kept < len(PROMPTS)
        before = len(server.asked)
        server.seconds = 0.0
        again = start(server.url, cache)
        assert json.loads(again.communicate(timeout=120)[0]) == [f"answer to {prompt}" for prompt in PROMPTS]
        assert len(server.asked) - before == len(PROMPTS) - kept
        assert before - kept <= 2  # what was under way


def test_two_processes_with_one_file_never_ask_the_same(tmp_path):
    with serving() as server:
        server.seconds = 0.05
        processes = [start(server.url, tmp_path / "answers.sqlite") for _ in range(2)]
        texts = [json.loads(process.communicate(timeout=120)[0]) for process in processes]
        assert texts[0] == texts[1] == [f"answer to {prompt}" for prompt in PROMPTS]
        assert Counter(server.asked) == Counter(PROMPTS)


def test_a_claim_of_a_killed_process_is_free_again(tmp_path):
    path, key = tmp_path / "x.claims", b"k" * 32
    code = f"from faircut.llm.claims import Claims; from pathlib import Path; c = Claims(Path({str(path)!r}))\n"
    code += f"assert c.take({key!r}); print('mine', flush=True); input()"
    holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "mine\n"
    claims = Claims(path)
    assert not claims.take(key)
    assert claims.take(b"other" * 7)
    holder.kill()
    holder.communicate()
    assert claims.take(key)
    assert not claims.take(key)
    claims.give_back(key)
    assert claims.take(key)
    claims.close()


# ---------------------------------------------------------------- the file


REPLY = Reply('text \ud800 "\x1b[31m\n', "stop", Usage(1, 2, True))


def test_a_reply_comes_back_as_it_was(tmp_path):
    store = AnswerStore(tmp_path / "new" / "a.sqlite")
    assert store.read([b"k"]) == {}
    assert not (tmp_path / "new").exists()  # nothing is made by looking
    store.write(b"k", REPLY)
    store.close()
    assert AnswerStore(tmp_path / "new" / "a.sqlite").read([b"k", b"other"] * 400) == {b"k": REPLY}


def test_a_reply_with_a_flipped_bit_is_not_believed(tmp_path):
    path = tmp_path / "a.sqlite"
    store = AnswerStore(path)
    store.write(b"k", REPLY)
    store.close()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE answers SET reply = CAST(replace(reply, 'text', 'lies') AS BLOB)")
    connection.commit()
    connection.close()
    assert AnswerStore(path).read([b"k"]) == {}


def test_a_damaged_file_is_kept_aside_and_begun_again(tmp_path):
    path = tmp_path / "a.sqlite"
    store = AnswerStore(path)
    store.write(b"k", REPLY)
    store.close()
    path.write_bytes(path.read_bytes()[:100] + b"\xff" * 8000)
    damaged = AnswerStore(path)
    with pytest.warns(FaircutWarning, match="damaged-1"):
        assert damaged.read([b"k"]) == {}
    damaged.write(b"k", REPLY)
    assert damaged.read([b"k"]) == {b"k": REPLY}
    damaged.close()
    assert (tmp_path / "a.sqlite.damaged-1").exists()


def test_files_that_are_not_ours_are_left_alone_before_anything_is_asked(server, make_model, tmp_path):
    foreign = tmp_path / "notes.txt"
    foreign.write_text("my notes")
    for path in (foreign, tmp_path):
        with pytest.raises(StoreError, match="name a"):
            make_model(cache=path).complete([ask("a")])
    assert foreign.read_text() == "my notes"
    assert server.asked == []


def test_a_cache_that_cannot_be_written_costs_no_call(server, make_model, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises((StoreError, NotADirectoryError)):
        make_model(cache=tmp_path / "file" / "answers.sqlite").complete([ask("a")])
    assert server.asked == []


# ---------------------------------------------------------------- budgets


def test_a_budget_of_requests_stops_cleanly_and_the_next_run_goes_on(server, make_model):
    requests = [ask(prompt) for prompt in PROMPTS]
    with pytest.raises(BudgetReached, match="5 of 14 requests are answered and kept") as reached:
        make_model(budget=Budget(requests=5)).complete(requests)
    assert len(server.asked) == 5
    assert [a.failure.kind for a in reached.value.answers if not a.ok] == ["not_asked"] * 9
    assert len(make_model(budget=Budget(requests=9)).complete(requests)) == 14
    assert Counter(server.asked) == Counter(PROMPTS)


@pytest.mark.parametrize("concurrency", [1, 16])
def test_a_budget_in_money_is_never_overshot_by_calls_at_the_same_time(concurrency, server, make_model):
    server.seconds = 0.02
    price = Price(input=1e6, output=1e6)  # one unit of money a token; each answer costs 15
    model = make_model(budget=Budget(money=400), price=price, concurrency=concurrency)
    with pytest.raises(BudgetReached, match=r"budget of \$400\.0000 is reached"):
        model.complete([ask(f"p{n}", max_tokens=5) for n in range(100)])
    assert model.spent.money <= 400
    assert model.spent.money == 15 * sum(server.paid.values())
    assert model.spent.money > 400 - 2 * 35  # and what is there is used


def test_a_budget_of_tokens_counts_both_sides(server, make_model):
    model = make_model(budget=Budget(tokens=100), concurrency=2)
    with pytest.raises(BudgetReached, match="100 tokens"):
        model.complete([ask(f"p{n}", max_tokens=5) for n in range(50)])
    assert 60 <= model.spent.prompt_tokens + model.spent.completion_tokens <= 100


def test_refused_calls_cost_nothing_and_unknown_ones_are_counted_at_their_most(server, make_model):
    from fault_server import half_an_answer, status

    server.faults.extend([status(429), status(500), half_an_answer])
    model = make_model(price=Price(1e6, 1e6))
    model.complete([ask("abc", max_tokens=5)])
    assert model.spent.requests == 2
    assert model.spent.unknown == 1
    assert model.spent.retries == 3
    assert model.spent.money == 15 + (3 + 24 + 5)


def test_a_budget_in_money_needs_a_price(make_model):
    with pytest.raises(LlmError, match="--price-in"):
        make_model(budget=Budget(money=1.0))
    make_model(budget=Budget(money=1.0), name="gpt-4o-mini-2024-07-18")  # in the table, without its date


def test_a_spent_budget_does_not_keep_cached_answers_back(server, make_model):
    make_model().complete([ask("a")])
    assert make_model(budget=Budget(requests=0)).complete([ask("a")])[0].from_cache


def test_a_dry_run_states_what_is_to_come_and_asks_nothing(server, make_model):
    make_model().complete([ask("known")])
    asked = len(server.asked)
    model = make_model(price=Price(1.0, 2.0))
    requests = [ask("known"), ask("word " * 100, max_tokens=50), ask("word " * 100, max_tokens=50)]
    found = model.estimate(requests)
    assert (found.requests, found.cached, found.to_ask, found.completion_tokens) == (3, 1, 1, 50)
    assert found.prompt_tokens == 500 / 4 + 4
    assert found.cost == pytest.approx((found.prompt_tokens * 1 + 50 * 2) / 1e6)
    assert any("at most 50 tokens" in line for line in found.lines())
    assert len(server.asked) == asked
    assert "unknown" in make_model().estimate(requests).lines()[-1]
