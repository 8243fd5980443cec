import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
from embedding_server import at_most, changed, half_an_answer, hang, says, serving, status, unit_vector

from faircut import Plan, run
from faircut.embedding import EMBEDDERS, remote_calls
from faircut.embedding.cache import CachedEmbedder
from faircut.embedding.checks import OverlongWarning
from faircut.embedding.remote import KNOWN_MODELS
from faircut.errors import EmbeddingError, FaircutWarning, SpecError
from faircut.llm import BudgetReached, Price, load_prices
from faircut.llm.attempts import RetryPolicy
from faircut.llm.budget import Budget, Ledger

KEY = "sk-a-key-that-nobody-may-see"


@pytest.fixture
def server():
    with serving() as running:
        yield running


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(remote_calls, "RETRY", RetryPolicy(first=0.01, longest=0.02))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def build(server, minilm):
    """Embedders on the server; ``minilm`` counts their tokens."""
    return lambda more="": EMBEDDERS.build(f'openai("tiny", dimensions=8, url="{server.url}"{more})')


def expected(texts):
    return np.stack([unit_vector(text) for text in texts])


TEXTS = [f"text number {n}" for n in range(10)]

# ---------------------------------------------------------------- specs


@pytest.mark.parametrize(
    "spec",
    [
        'openai("text-embedding-3-small", dimensions=512)',
        'openai("bge-m3", dimensions=1024, url="http://127.0.0.1:11434/v1", key_env="MY_KEY", max_tokens=8192)',
        'openai("m", dimensions=3, batch=4, counted_by="a/tokenizer.json", query_prefix="q: ", timeout=2.5)',
    ],
)
def test_specs_print_as_they_parse(spec):
    assert str(EMBEDDERS.build(spec)) == spec


def test_dimensions_of_known_models_are_stated_and_their_limit_is_known():
    embedder = EMBEDDERS.build('openai("text-embedding-3-large")')
    assert str(embedder) == 'openai("text-embedding-3-large", dimensions=3072)'
    assert EMBEDDERS.build(str(embedder)) == embedder
    assert embedder.max_tokens == 8191


@pytest.mark.parametrize("model", KNOWN_MODELS)
def test_models_whose_limits_are_known_have_a_price(model):
    assert load_prices().find(model).input > 0


@pytest.mark.parametrize(
    ("inside", "says"),
    [
        ('"unknown-model"', "state the length of the vectors"),
        ('"text-embedding-3-small", dimensions=4000', "up to 1,536"),
        ('"m", dimensions=8, batch=3000', "batch lies between 1 and 2,048"),
        ('"m", dimensions=8, max_tokens=1', "at least 3"),
        ('"m", dimensions=8, url="ftp://host"', "no URL of a server"),
        ('"m", dimensions=8, url="http://user:secret@host/v1"', "without"),
        ('"m", dimensions=8, key_env="sk-12345678"', "give its name, never the key"),
        ('"m", dimensions=8, timeout=0', "timeout"),
        ('" ", dimensions=8', "no name"),
    ],
)
def test_a_wrong_spec_says_what_is_possible_and_repeats_no_secret(inside, says):
    with pytest.raises(SpecError, match=says) as caught:
        EMBEDDERS.build(f"openai({inside})")
    assert "secret" not in str(caught.value)
    assert "12345678" not in str(caught.value)


def test_what_changes_a_vector_changes_the_fingerprint(build):
    variants = ["", ", max_tokens=100", ", batch=3", ', key_env="OTHER"']
    prints = [build(more).fingerprint for more in variants]
    assert len(set(prints)) == 2
    assert prints[0] == prints[2] == prints[3]
    assert EMBEDDERS.build('openai("tiny", dimensions=8, url="http://127.0.0.1:1/v1")').fingerprint != prints[0]


@pytest.mark.parametrize(
    ("model", "prefix"),
    [
        ("nomic-embed-text:latest", "search_query: "),
        ("snowflake-arctic-embed2", "query: "),
        ("snowflake-arctic-embed:22m", "Represent this sentence for searching relevant passages: "),
        ("embeddinggemma", "task: search result | query: "),
        ("text-embedding-3-small", ""),
    ],
)
def test_models_get_the_prefixes_of_their_family_by_the_names_that_servers_give_them(model, prefix):
    embedder = EMBEDDERS.build(f'openai("{model}", dimensions=8)')
    assert embedder.prefix("query") == prefix


def test_a_tokenizer_of_the_users_own_counts(build, model_folder, tmp_path):
    (tmp_path / "tokenizer.json").write_bytes((model_folder / "tokenizer.json").read_bytes())
    own = build(f', counted_by="{tmp_path.as_posix()}"')
    assert own.tokenizer.count("three short words") == 3
    assert own.fingerprint != build().fingerprint
    with pytest.raises(EmbeddingError, match="cannot read the tokenizer"):
        build(', counted_by="/no/such/tokenizer.json"').embed(["a"], "query")


# ---------------------------------------------------------------- vectors


def test_vectors_are_the_servers_at_unit_length_in_the_order_of_the_texts_and_equal_texts_are_sent_once(build, server):
    seen = []
    asked = [*TEXTS, TEXTS[3], "", "naïve \ud800 日本"]
    vectors = build(", batch=4").embed(asked, "passage", progress=lambda *at: seen.append(at))
    sent = [*TEXTS, TEXTS[3], " ", "naïve \ufffd 日本"]
    np.testing.assert_allclose(vectors, expected(sent), atol=1e-6)
    assert vectors.dtype == np.float32
    assert server.sizes == [4, 4, 4]
    assert seen[-1] == (13, 13)
    assert max(server.paid.values()) == 1


def test_prefixes_are_sent_by_role(build, server):
    embedder = build(', query_prefix="query: "')
    embedder.embed(["what?"], "query")
    embedder.embed(["that."], "passage")
    assert [body["input"] for body in server.bodies] == [["query: what?"], ["that."]]
    assert (embedder.overhead("query"), embedder.overhead("passage")) == (4, 2)


def test_nothing_is_asked_for_no_texts_and_one_string_is_refused(build, server):
    assert build().embed([], "query").shape == (0, 8)
    with pytest.raises(TypeError, match="put it in a list"):
        build().embed("text", "query")
    assert not server.bodies


def test_rows_in_another_order_are_put_back(build, server):
    server.always = changed(lambda rows: rows[::-1])
    np.testing.assert_allclose(build().embed(TEXTS, "passage"), expected(TEXTS), atol=1e-6)


def test_a_server_without_base64_is_asked_for_numbers(build, server):
    server.faults.append(status(400, "encoding_format base64 is not supported"))
    np.testing.assert_allclose(build().embed(TEXTS, "passage"), expected(TEXTS), atol=1e-6)
    assert [body["encoding_format"] for body in server.bodies] == ["base64", "float"]


def test_fewer_dimensions_are_asked_where_the_model_gives_more(server, minilm):
    server.size = 12
    embedder = EMBEDDERS.build(f'openai("tiny", dimensions=8, url="{server.url}")')
    np.testing.assert_allclose(embedder.embed(["a", "b"], "query"), expected(["a", "b"]), atol=1e-6)
    assert [body.get("dimensions") for body in server.bodies] == [None, 8]
    known = EMBEDDERS.build(f'openai("text-embedding-3-small", dimensions=8, url="{server.url}")')
    known.embed(["a"], "query")
    assert server.bodies[-1]["dimensions"] == 8


# ---------------------------------------------------------------- limits


def test_texts_beyond_the_limit_are_cut_there_and_reported(build, server):
    with pytest.warns(OverlongWarning, match="1 of 2 texts"):
        build(", max_tokens=12").embed(["word " * 30, "short"], "passage")
    assert server.bodies[0]["input"][0].split() == ["word"] * 10


def test_a_request_holds_no_more_tokens_than_servers_take(build, server, monkeypatch):
    monkeypatch.setattr("faircut.embedding.remote._REQUEST_TOKENS", 30)
    build().embed(["word " * 10 + str(n) for n in range(5)], "passage")
    assert server.sizes == [2, 2, 1]


@pytest.mark.parametrize("code", [413, 422, 400, 500])
def test_batches_become_smaller_where_the_server_takes_fewer_texts_and_stay_so(code, build, server):
    server.always = at_most(3, code)
    np.testing.assert_allclose(build().embed(TEXTS, "passage"), expected(TEXTS), atol=1e-6)
    assert server.sizes == [10, 5, 2, 2, 2, 2, 2]
    assert max(server.paid.values()) == 1


def test_a_text_that_the_server_finds_too_long_is_cut_further_and_that_is_said(build, server):
    def answer(handler, body):
        if any(len(text.split()) > 20 for text in body["input"]):
            status(400, "the input length exceeds the context length")(handler, body)
        else:
            handler.answer(body)

    server.always = answer
    with pytest.warns(FaircutWarning, match="takes less than max_tokens of 1 texts"):
        vectors = build(", max_tokens=60").embed([*TEXTS, "word " * 40], "passage")
    np.testing.assert_allclose(vectors[:10], expected(TEXTS), atol=1e-6)
    assert len(server.bodies[-1]["input"][-1].split()) <= 20


def test_a_text_that_is_refused_for_another_reason_is_named(build, server):
    def answer(handler, body):
        if "text number 6" in body["input"]:
            status(400, "input 3 is not allowed")(handler, body)
        else:
            handler.answer(body)

    server.always = answer
    with pytest.raises(EmbeddingError, match=r"is not allowed.*'text number 6'"):
        build().embed(TEXTS, "passage")


# ---------------------------------------------------------------- faults


def test_a_text_is_not_cut_to_pieces_where_its_length_cannot_be_the_reason(build, server):
    server.always = status(400, "maximum")
    with pytest.raises(EmbeddingError, match="maximum"):
        build(", max_tokens=8000").embed(["word " * 2000], "passage")
    assert len(server.bodies[-1]["input"][0].split()) > 700


@pytest.mark.parametrize(
    "fault",
    [
        status(429),
        status(429, retry_after="0"),
        status(500),
        status(500, "maximum recursion depth exceeded"),
        status(503),
        half_an_answer,
        hang(1.5),
        says("<html>", "text/html"),
        says("not json"),
        says('{"data": []}'),
        says('{"data": [1, 2]}'),
        says('{"object": "list"}'),
        changed(lambda rows: rows[:-1]),
        changed(lambda rows: [*rows, rows[0]]),
        changed(lambda rows: [row | {"index": 0} for row in rows]),
        changed(lambda rows: [row | {"index": "one"} for row in rows]),
    ],
)
def test_what_passes_is_tried_again(fault, build, server):
    server.faults.append(fault)
    np.testing.assert_allclose(build(", timeout=0.5").embed(TEXTS[:3], "passage"), expected(TEXTS[:3]), atol=1e-6)
    assert len(server.bodies) == 2


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 0.0, "text", None, [1.0]])
def test_only_the_vector_that_is_none_is_asked_again(bad, build, server):
    server.faults.append(changed(lambda rows: [rows[0], rows[1] | {"embedding": [bad] * 8}, *rows[2:]]))
    np.testing.assert_allclose(build().embed(TEXTS, "passage"), expected(TEXTS), atol=1e-6)
    assert [body["input"] for body in server.bodies] == [TEXTS, [TEXTS[1]]]


def test_the_time_that_a_server_names_is_waited(build, server):
    server.faults.append(status(429, retry_after="0.6"))
    started = time.monotonic()
    build().embed(["a"], "query")
    assert time.monotonic() - started >= 0.6


@pytest.mark.parametrize(
    ("fault", "tries", "says"),
    [
        (status(500), 6, "answers 500"),
        (changed(lambda rows: rows[:-1]), 3, "9 vectors for 10 texts"),
        (changed(lambda rows: [row | {"embedding": [float("nan")] * 8} for row in rows]), 3, "not finite"),
        (changed(lambda rows: [row | {"embedding": [1.0] * 5} for row in rows]), 1, "5 numbers, the spec says 8"),
        (status(401, f"wrong key {KEY}"), 1, "refuses the key"),
        (status(404), 1, "the server has: tiny"),
        (status(429, retry_after="3000"), 1, "asks to wait 3,000 s"),
        (status(307, location="http://127.0.0.1:1/"), 1, "redirects"),
    ],
)
def test_what_stays_is_one_clear_error_without_the_key(fault, tries, says, build, server):
    server.always = fault
    with pytest.raises(EmbeddingError, match=says) as caught:
        build().embed(TEXTS, "passage")
    assert len(server.bodies) == tries
    assert KEY not in f"{caught.value!r} {caught.value.__cause__!r} {caught.value.__context__!r}"
    assert "--api-key-env" not in str(caught.value)


def test_a_server_that_is_not_there_is_named(minilm):
    with pytest.raises(EmbeddingError, match=r"127\.0\.0\.1:1/v1.*cannot be reached"):
        EMBEDDERS.build('openai("tiny", dimensions=8, url="http://127.0.0.1:1/v1")').embed(["a"], "query")


def test_the_key_is_sent_as_named_and_a_missing_one_is_said_before_anything_is_sent(build, server, monkeypatch):
    build().embed(["a"], "query")
    assert server.headers[-1]["authorization"] == f"Bearer {KEY}"
    with pytest.raises(EmbeddingError, match="NO_SUCH_KEY"):
        build(', key_env="NO_SUCH_KEY"').embed(["a"], "query")
    assert len(server.bodies) == 1
    assert KEY not in f"{build()} {build()!r} {build().fingerprint}"


# ---------------------------------------------------------------- what it costs


@pytest.mark.parametrize(
    ("fault", "requests", "unknown"),
    [
        (status(429), 1, 0),
        (half_an_answer, 2, 1),
        (changed(lambda rows: rows[:-1]), 2, 0),
        (changed(lambda rows: [row | {"embedding": [float("nan")] * 8} for row in rows]), 2, 0),
    ],
)
def test_what_was_billed_is_counted_also_where_the_answer_cannot_be_used(fault, requests, unknown, build, server):
    ledger = Ledger(Budget(), Price(1e6, 0))
    server.faults.append(fault)
    build().paid_by(ledger).embed(TEXTS[:3], "passage")
    spent = ledger.spent
    assert (spent.requests, spent.unknown) == (requests, unknown)
    assert spent.money == spent.prompt_tokens
    if not unknown:
        assert spent.prompt_tokens == server.tokens
    else:  # at the most that it can have cost
        assert spent.prompt_tokens == server.tokens + sum(len(text) + 2 for text in TEXTS[:3])


def test_where_the_budget_has_room_for_some_of_a_batch_these_are_asked(build, server):
    embedder = build().paid_by(Ledger(Budget(tokens=20), None))
    with pytest.raises(BudgetReached, match="budget of 20 tokens is reached"):
        embedder.embed(TEXTS, "passage")
    assert server.sizes[0] < 10
    assert 0 < server.tokens <= 20
    assert len(server.paid) < 10


def test_a_budget_changes_neither_the_spec_nor_the_vectors(build):
    bounded = build().paid_by(Ledger(Budget(requests=9), None))
    assert (str(bounded), bounded) == (str(build()), build())
    np.testing.assert_array_equal(bounded.embed(TEXTS, "query"), build().embed(TEXTS, "query"))


# ---------------------------------------------------------------- with a cache


def test_what_was_paid_for_before_a_failure_is_kept_and_not_asked_again(build, server, tmp_path):
    server.faults.extend([None, None])
    server.always = status(401)
    cached = CachedEmbedder(build(", batch=3"), tmp_path / "vectors.sqlite")
    with pytest.raises(EmbeddingError, match="refuses the key"):
        cached.embed(TEXTS, "passage")
    assert sum(server.paid.values()) == 6
    server.always = None
    again = CachedEmbedder(build(), tmp_path / "vectors.sqlite")
    np.testing.assert_allclose(again.embed(TEXTS, "passage"), expected(TEXTS), atol=1e-6)
    assert max(server.paid.values()) == 1
    assert (again.stats.hits, again.stats.embedded) == (6, 4)
    for embedder in (cached, again):
        embedder.close()


def test_no_key_is_in_the_cache(build, server, tmp_path):
    server.always = changed(lambda rows: [row | {"note": KEY} for row in rows])
    cached = CachedEmbedder(build(), tmp_path / "vectors.sqlite")
    cached.embed(TEXTS, "passage")
    cached.close()
    assert all(KEY.encode() not in file.read_bytes() for file in tmp_path.iterdir())


def test_the_key_is_in_no_file_of_a_run(server, small, minilm, tmp_path):
    spec = f'openai("tiny", dimensions=8, url="{server.url}")'
    plan = Plan(str(small / "corpus"), str(small / "questions.jsonl"), ("recursive(40)", "semantic"), embedders=(spec,))
    run(plan, tmp_path / "run", cache=tmp_path / "v.sqlite")
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(files) > 5
    assert all(KEY.encode() not in file.read_bytes() for file in files)


def test_texts_that_were_cut_are_reported_through_the_cache(build, tmp_path):
    cached = CachedEmbedder(build(", max_tokens=12"), tmp_path / "vectors.sqlite")
    for _ in range(2):
        with pytest.warns(OverlongWarning, match="1 of 1 texts"):
            cached.embed(["word " * 30], "passage")
    cached.close()


def test_a_killed_process_loses_only_the_request_under_way(server, minilm, tmp_path):
    """The third request never ends; by then the first two are in the file."""
    server.faults.extend([None, None])
    server.always = hang(20)
    program = (
        "import sys; from pathlib import Path; from faircut.embedding import EMBEDDERS\n"
        "from faircut.embedding.cache import CachedEmbedder\n"
        f'embedder = EMBEDDERS.build(\'openai("tiny", dimensions=8, url="{server.url}", batch=3)\')\n'
        f"CachedEmbedder(embedder, Path(sys.argv[1])).embed({TEXTS!r}, 'passage')\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "v.sqlite")], env=dict(os.environ))
    deadline = time.monotonic() + 60
    while len(server.bodies) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    connection = sqlite3.connect(tmp_path / "v.sqlite")
    assert connection.execute("SELECT count(*) FROM vectors").fetchone() == (6,)
    connection.close()


def test_describing_a_remote_model_opens_nothing():
    program = (
        "import sys; from faircut.embedding import EMBEDDERS; EMBEDDERS.build('openai(\"text-embedding-3-small\")')\n"
        "print({'openai', 'httpx', 'httpx2', 'tokenizers', 'onnxruntime', 'fastembed', 'openvino'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_answers_are_read_without_warnings(build, server):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build().embed(TEXTS, "passage")
    assert json.dumps(server.bodies[0]["model"]) == '"tiny"'
