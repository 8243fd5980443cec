"""What a server does wrong: nothing is lost, nothing is paid for twice, and the error says what to do."""

import json
from collections import Counter
from email.utils import formatdate

import pytest
from fault_server import (
    changed,
    chosen,
    cut_off,
    drip,
    half_a_stream,
    half_an_answer,
    hang,
    huge,
    says,
    status,
)  # fmt: skip

from faircut.llm import LlmStopped, RetryPolicy, Timeouts, ask
from faircut.llm import exchange as exchange_module
from faircut.llm.faults import retry_after

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
PROMPTS = [f"prompt {n}" for n in range(6)]

PASSING = {
    "429 with Retry-After": status(429, Retry_After="0.05"),
    "429 with Retry-After in milliseconds": status(429, retry_after_ms="20"),
    "429 with a date": status(429, Retry_After=formatdate(0, usegmt=True)),
    "429 without": status(429),
    "429 with a wrong Retry-After": status(429, Retry_After="soon"),
    "408": status(408),
    "409": status(409),
    "500": status(500),
    "503 as a page": status(503, "<html>busy</html>", kind="text/html"),
    "half an answer": half_an_answer,
    "no answer at all": cut_off,
    "no JSON": says("{not json"),
    "JSON that is no object": says("[1, 2]"),
    "deep JSON": says("[" * 100_000),
    "empty body": says(""),
    "a page of HTML": says("<!doctype html><p>Log in", kind="text/html"),
    "no choices": changed(choices=[]),
    "null choices": changed(choices=None),
    "choices of a wrong kind": changed(choices=["a"]),
    "null content": chosen(None),
    "empty content": chosen(""),
    "content of a wrong kind": chosen(["text"]),
    "a tool call": chosen(None, "tool_calls", tool_calls=[{"id": "1"}]),
    "an error with status 200": says('{"error": {"message": "overloaded"}}'),
}


@pytest.mark.parametrize("name", PASSING)
def test_a_passing_fault_costs_another_try_and_no_answer(name, server, make_model):
    server.faults.extend([PASSING[name], None, PASSING[name]])
    answers = make_model().complete([ask(prompt) for prompt in PROMPTS])
    assert [answer.text for answer in answers] == [f"answer to {prompt}" for prompt in PROMPTS]
    assert len(server.asked) == len(PROMPTS) + 2


@pytest.mark.parametrize("stream", [False, True])
def test_a_timeout_costs_another_try(stream, server, make_model):
    server.faults.append(hang(0.6))
    model = make_model(timeouts=Timeouts(connect=5, read=0.2, total=5), stream=stream)
    assert model.complete([ask("a")])[0].text == "answer to a"
    assert model.spent.unknown == 1


def test_an_answer_that_drips_for_ever_ends_at_the_total_timeout(server, make_model):
    server.always = drip
    model = make_model(timeouts=Timeouts(connect=5, read=5, total=0.3), retry=RetryPolicy(attempts=1))
    [answer] = model.complete([ask("a")])
    assert answer.failure.kind == "timeout"
    assert "0.3 s" in answer.failure.message


def test_half_a_stream_is_not_taken_for_an_answer(server, make_model):
    server.faults.extend([half_a_stream, half_a_stream])
    [answer] = make_model(stream=True).complete([ask("a")])
    assert answer.text == "answer to a"
    assert len(server.asked) == 3


def test_pieces_are_put_together_and_shown_as_they_come(server, make_model):
    seen = []
    model = make_model(stream=True, on_text=lambda request, piece: seen.append(piece))
    [answer] = model.complete([ask("a long enough prompt")])
    assert answer.text == "answer to a long enough prompt" == "".join(seen)
    assert len(seen) > 3
    assert (answer.usage.prompt, answer.usage.completion, answer.usage.estimated) == (10, 5, False)


def test_a_server_that_only_streams_is_asked_so(server, make_model):
    def only_streams(handler, body):
        if body.get("stream"):
            handler.answer(body)
        else:
            handler.reply('{"error": "only stream=true is supported"}', status=400)

    server.always = only_streams
    model = make_model(concurrency=1)
    assert all(answer.ok for answer in model.complete([ask(p) for p in PROMPTS]))
    assert len(server.asked) == len(PROMPTS) + 1


def test_a_server_that_streams_unasked_is_understood(server, make_model):
    server.always = lambda handler, body: handler.answer(body | {"stream": True})
    assert make_model().complete([ask("a")])[0].text == "answer to a"


def test_one_hopeless_request_fails_alone_and_the_others_are_answered(server, make_model):
    def broken_for_one(handler, body):
        if body["messages"][0]["content"] == "prompt 2":
            handler.reply("no", status=500)
        else:
            handler.answer(body)

    server.always = broken_for_one
    answers = make_model().complete([ask(prompt) for prompt in PROMPTS])
    assert [answer.ok for answer in answers] == [True, True, False, True, True, True]
    assert answers[2].failure.kind == "server"
    assert "500" in answers[2].failure.message
    assert server.asked.count("prompt 2") == 4  # as many tries as allowed


def test_a_request_that_is_refused_is_not_asked_again(server, make_model):
    server.faults.append(status(400, '{"error": {"message": "context length exceeded"}}'))
    answers = make_model(concurrency=1).complete([ask("too long"), ask("b")])
    assert answers[0].failure.kind == "refused"
    assert "context length exceeded" in answers[0].failure.message
    assert answers[1].ok
    assert server.asked == ["too long", "b"]


def test_a_filtered_answer_is_refused_and_not_asked_again(server, make_model):
    server.faults.extend([chosen("", "content_filter"), chosen(None, refusal="I cannot.")])
    answers = make_model(concurrency=1).complete([ask("a"), ask("b")])
    assert [answer.failure.kind for answer in answers] == ["refused", "refused"]
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("code", "text", "told"),
    [
        (401, '{"error": {"message": "bad key"}}', "--api-key-env"),
        (403, "", "--api-key-env"),
        (402, "", "no credit left"),
        (404, '{"error": {"message": "no such model"}}', "the server has: tiny, small"),
        (429, '{"error": {"code": "insufficient_quota", "message": "pay"}}', "no credit left"),
    ],
)
def test_what_no_other_try_can_mend_stops_the_batch_and_says_what_to_do(code, text, told, server, make_model):
    server.faults.append(None)
    server.always = status(code, text)
    with pytest.raises(LlmStopped, match=told) as stopped:
        make_model(concurrency=1).complete([ask(prompt) for prompt in PROMPTS])
    assert len(server.asked) == 2
    kinds = [answer.failure and answer.failure.kind for answer in stopped.value.answers]
    assert kinds == [None, "refused", *["not_asked"] * 4]
    assert "1 of 6 requests are answered and kept" in str(stopped.value)


def test_an_unknown_model_is_told_also_where_the_server_lists_none(server, make_model):
    server.models = None
    server.always = status(404, "<html>nothing</html>", kind="text/html")
    with pytest.raises(LlmStopped, match="often ends in /v1"):
        make_model().complete([ask("a")])


def test_a_redirect_is_told_and_not_followed(server, make_model):
    server.always = status(307, "", Location=f"{server.url}/elsewhere")
    with pytest.raises(LlmStopped, match=r"redirects elsewhere.*elsewhere"):
        make_model().complete([ask("a")])
    assert server.paths == ["/v1/chat/completions"]


def test_a_server_that_is_not_there_is_told_and_ends_the_batch(make_model):
    model = make_model(url="http://127.0.0.1:9/v1")
    with pytest.raises(LlmStopped, match="is the server running"):
        model.complete([ask(prompt) for prompt in PROMPTS])
    assert model.spent.requests == 0


def test_a_server_that_breaks_down_is_not_asked_hundreds_of_times(server, make_model):
    server.always = status(503)
    with pytest.raises(LlmStopped, match="in a row failed"):
        make_model(concurrency=2).complete([ask(f"prompt {n}") for n in range(100)])
    assert len(server.asked) <= 6 * 4


def test_a_long_wait_is_not_sat_out(server, make_model):
    server.always = status(429, Retry_After="3600")
    with pytest.raises(LlmStopped, match="3,600 s"):
        make_model().complete([ask("a")])
    assert len(server.asked) == 1


def test_all_requests_wait_when_the_server_names_a_time(server, make_model):
    server.seconds = 0.01
    server.faults.extend([status(429, Retry_After="0.3")] * 2)
    model = make_model(concurrency=2)
    assert all(answer.ok for answer in model.complete([ask(f"prompt {n}") for n in range(20)]))
    assert len(server.asked) == 22


def test_a_huge_answer_is_not_read_to_its_end(server, make_model, monkeypatch):
    monkeypatch.setattr(exchange_module, "LARGEST_ANSWER", 3_000_000)
    server.always = huge(50_000_000)
    [answer] = make_model().complete([ask("a")])
    assert answer.failure.kind == "unusable"
    assert "3,000,000 bytes" in answer.failure.message
    assert len(server.asked) == 1


def test_a_huge_error_is_not_read_to_its_end(server, make_model, monkeypatch):
    monkeypatch.setattr(exchange_module, "LARGEST_ANSWER", 1000)
    server.always = status(400, "x" * 100_000)
    [answer] = make_model().complete([ask("a")])
    assert answer.failure.kind == "unusable"


def test_a_compressed_answer_is_refused_rather_than_expanded(server, make_model):
    server.always = status(200, "x", Content_Encoding="gzip")
    assert not make_model().complete([ask("a")])[0].ok


def test_an_answer_cut_at_max_tokens_says_so(server, make_model):
    server.faults.extend([chosen("half a sent", "length"), chosen('{"n": 1', "length"), chosen("", "length")])
    texts = make_model(concurrency=1).complete([ask("a"), ask("b", schema=NUMBER), ask("c")])
    assert texts[0].ok
    assert texts[0].truncated
    assert texts[1].failure.kind == "truncated"
    assert texts[2].ok
    assert len(server.asked) == 3


# ---------------------------------------------------------------- JSON


def test_json_that_breaks_the_schema_is_asked_for_once_more_with_the_reason(server, make_model):
    server.faults.extend([chosen('{"n": "one"}'), chosen('{"n": 1}')])
    model = make_model()
    [answer] = model.complete([ask("a", schema=NUMBER)])
    assert answer.parsed == {"n": 1}
    assert (answer.usage.prompt, answer.usage.completion) == (20, 10)
    assert 'the answer.n is "one", expected integer' in server.bodies[1]["messages"][-1]["content"]
    assert server.bodies[1]["messages"][-2] == {"role": "assistant", "content": '{"n": "one"}'}


def test_wrong_json_that_was_paid_for_is_not_asked_for_by_the_next_run(server, make_model):
    server.text = lambda body: "I would rather not."
    [answer] = make_model().complete([ask("a", schema=NUMBER)])
    assert answer.failure.kind == "invalid"
    assert answer.text == "I would rather not."
    assert len(server.asked) == 2
    [again] = make_model().complete([ask("a", schema=NUMBER)])
    assert (again.failure, again.text, again.from_cache) == (answer.failure, answer.text, True)
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    "text",
    [
        '{"n": 3}',
        ' ```json\n{"n": 3}\n``` ',
        'Here it is [1]:\n{"n": 3}\nHope it helps',
        '<think>{"n": 4}</think>{"n": 3}',
    ],
)
def test_json_is_found_in_what_is_around_it(text, server, make_model):
    server.text = lambda body: text
    assert make_model().complete([ask("a", schema=NUMBER)])[0].parsed == {"n": 3}


@pytest.mark.parametrize("taken", ["json_object", None])
def test_a_server_without_json_schemas_is_asked_in_a_way_it_takes_and_that_is_remembered(taken, server, make_model):
    def picky(handler, body):
        kind = body.get("response_format", {}).get("type")
        if kind in (None, taken):
            handler.answer(body)
        else:
            handler.reply(json.dumps({"error": {"message": f"response_format {kind} is not supported"}}), status=400)

    server.always, server.text = picky, lambda body: '{"n": 3}'
    model = make_model(concurrency=1)
    answers = model.complete([ask(prompt, schema=NUMBER) for prompt in PROMPTS])
    assert all(answer.parsed == {"n": 3} for answer in answers)
    refused = 1 if taken else 2
    assert len(server.asked) == len(PROMPTS) + refused
    assert '"additionalProperties":false' in server.bodies[-1]["messages"][-1]["content"]
    assert model.spent.requests == len(PROMPTS)


def test_a_model_that_wants_other_parameters_gets_them(server, make_model):
    def modern(handler, body):
        for name in ("max_tokens", "temperature", "seed"):
            if name in body:
                hint = "; use 'max_completion_tokens'" if name == "max_tokens" else ""
                handler.reply(json.dumps({"error": {"message": f"'{name}' is not supported{hint}"}}), status=400)
                return
        handler.answer(body)

    server.always = modern
    with pytest.warns(match=r"temperature|seed"):
        [answer] = make_model().complete([ask("a", max_tokens=77)])
    assert answer.ok
    assert server.bodies[-1]["max_completion_tokens"] == 77


# ---------------------------------------------------------------- all together


@pytest.mark.parametrize("stream", [False, True])
def test_nothing_is_lost_and_nothing_paid_twice_in_a_storm_of_faults(stream, server, make_model):
    storm = [PASSING["429 without"], None, PASSING["500"], half_an_answer, None, None, PASSING["no JSON"], None]
    server.faults.extend(storm * 4)
    prompts = [f"prompt {n % 40}" for n in range(60)]
    seen = []
    policy = RetryPolicy(attempts=30, billed_attempts=30, first=0.001, longest=0.002)
    model = make_model(concurrency=8, retry=policy, stream=stream)
    answers = model.complete([ask(p) for p in prompts], progress=lambda done, total: seen.append((done, total)))
    assert [answer.text for answer in answers] == [f"answer to {prompt}" for prompt in prompts]
    assert server.paid == Counter(set(prompts))
    assert seen[0] == (0, 60)
    assert seen[-1] == (60, 60)
    assert seen == sorted(seen)
    assert server.most_under_way <= 8


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("2", 2), ("0.5", 0.5), ("-3", 0), ("nan", None), ("", None), ("Thu, 01 Jan 1970 00:01:40 GMT", 90)],
)
def test_retry_after_is_read_as_seconds_or_a_date(value, seconds):
    assert retry_after({"retry-after": value}, now=10.0) == seconds
