"""A real server with a real small model: plain answers, pieces and JSON schemas over real HTTP."""

import pytest
from real_server import real_server as real_server

from faircut.llm import ChatModel, Endpoint, ask

pytestmark = pytest.mark.slow
CITY = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 20}, "large": {"type": "boolean"}},
    "required": ["city", "large"],
    "additionalProperties": False,
}


@pytest.fixture
def model(real_server, tmp_path):
    with ChatModel(Endpoint(real_server.url, real_server.model, concurrency=2), cache=tmp_path / "a.sqlite") as made:
        yield made


def test_a_real_model_answers_and_its_tokens_are_counted(model):
    requests = [ask(f"Say the number {n}.", max_tokens=12) for n in range(4)]
    answers = model.complete(requests)
    assert all(answer.text and answer.ok for answer in answers)
    assert all(0 < answer.usage.completion <= 12 and answer.usage.prompt > 5 for answer in answers)
    assert model.spent.requests == 4
    assert [a.text for a in model.complete(requests)] == [a.text for a in answers]
    assert model.spent.requests == 4


def test_a_real_answer_in_pieces_is_the_same_as_in_one(real_server, model):
    request = ask("Name a city.", max_tokens=16)
    pieces = []
    endpoint = Endpoint(real_server.url, real_server.model, stream=True)
    with ChatModel(endpoint, on_text=lambda _, piece: pieces.append(piece)) as streaming:
        [streamed] = streaming.complete([request])
    [whole] = model.complete([request])
    assert "".join(pieces) == streamed.text == whole.text
    assert len(pieces) > 1
    assert streamed.usage == whole.usage


@pytest.mark.parametrize("stream", [False, True])
def test_a_real_model_gives_json_of_the_schema(stream, real_server):
    with ChatModel(Endpoint(real_server.url, real_server.model, stream=stream)) as asked:
        [answer] = asked.complete([ask("Which city is the capital of France?", schema=CITY, max_tokens=120)])
    assert asked.dialect.json == "schema"
    assert answer.ok, answer
    assert set(answer.parsed) == {"city", "large"}


def test_the_real_model_never_takes_more_tokens_than_are_reserved(model):
    from faircut.llm.wire import most_usage

    for text in ("word " * 50, "日本語の文章です。" * 10, "\x00\u202e🙂" * 20, "a"):
        request = ask(text, system="Be short.", max_tokens=2)
        [answer] = model.complete([request])
        assert answer.usage.prompt <= most_usage(request).prompt
