"""JSON is found in answers and checked against the schema, and a schema that would not be checked is refused."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faircut.errors import LlmError
from faircut.llm import Price, ask, load_prices
from faircut.llm.schema import problem_of, read_json

PLAIN = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3)
VALUES = st.recursive(PLAIN, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=3), v, max_size=3))
QUOTES = {
    "type": "object",
    "properties": {
        "question": {"type": "string", "minLength": 1},
        "quotes": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2},
        "kind": {"enum": ["short", 1]},
    },
    "required": ["question", "quotes"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"question": "q", "quotes": ["a"]}, None),
        ({"question": "q", "quotes": ["a"], "kind": "short"}, None),
        ({"question": "q"}, "the answer has no 'quotes'"),
        ({"question": "", "quotes": ["a"]}, 'the answer.question is "", expected minLength 1'),
        ({"question": "q", "quotes": []}, "the answer.quotes is [], expected minItems 1"),
        ({"question": "q", "quotes": ["a", 2]}, "the answer.quotes[1] is 2, expected string"),
        ({"question": "q", "quotes": ["a"], "kind": True}, 'the answer.kind is true, expected enum ["short", 1]'),
        ({"question": "q", "quotes": ["a"], "x": 1}, 'the answer has "x", which is not asked for'),
        ([], "the answer is [], expected object"),
    ],
)
def test_what_breaks_a_schema_is_named_with_its_place(value, problem):
    assert problem_of(value, QUOTES) == problem


@pytest.mark.parametrize(("value", "fits"), [(1, True), (True, False), (1.5, False), (None, True), ("1", False)])
def test_booleans_are_no_numbers_and_types_can_be_alternatives(value, fits):
    assert (problem_of(value, {"type": ["integer", "null"]}) is None) == fits
    assert (problem_of(value, {"anyOf": [{"type": "integer"}, {"type": "null"}]}) is None) == fits


def test_a_schema_with_a_keyword_that_is_not_checked_is_refused_when_the_request_is_made():
    for schema in ({"pattern": "a"}, {"type": "text"}, {"items": {"oneOf": []}}, {"properties": {"a": {"$ref": "#"}}}):
        with pytest.raises(LlmError, match="not checked"):
            ask("a", schema=schema)


@given(VALUES)
def test_any_json_is_read_as_it_was_written_bare_or_fenced(value):
    import json

    text = json.dumps(value)
    assert read_json(text, {}) == (value, None)
    assert read_json(f"Sure:\n```json\n{text}\n```\n", {}) == (value, None)


@given(st.text())
def test_no_text_makes_reading_fail(text):
    _, problem = read_json(text, {"type": "object", "required": ["never there"]})
    assert problem


@pytest.mark.parametrize("text", ["", "NaN", '{"n": Infinity}', "{" * 100_000, "9" * 10_000, "[" * 100_000])
def test_what_is_no_json_is_said_to_be_none(text):
    assert read_json(text, {"type": "object"})[1]


@pytest.mark.parametrize("wrong", [{"max_tokens": 0}, {"temperature": 3}, {"temperature": float("nan")}])
def test_requests_out_of_range_are_refused(wrong):
    with pytest.raises(LlmError):
        ask("a", **wrong)


def test_prices_are_found_by_name_and_can_be_the_users_own(tmp_path):
    table = load_prices()
    assert table.source.startswith("https://")
    assert table.find("gpt-4o-2024-08-06") == table.find("gpt-4o") is not None
    assert table.find("my-model") is None
    own = tmp_path / "prices.toml"
    own.write_text('[models]\n"my-model" = { input = 1, output = 2.5 }\n')
    assert load_prices(own).find("my-model") == Price(1.0, 2.5)
    for wrong in ("", "[models]\na = 1", '[models]\na = { input = "x", output = 1 }', "models = 3", "\x00"):
        own.write_text(wrong)
        with pytest.raises(LlmError, match="no table of prices"):
            load_prices(own)


@pytest.mark.parametrize(
    "text",
    [
        "```" + " " * 400_000,
        "```json" + "\n" * 400_000 + "x",
        '{"question":' + "\n" * 400_000,
        "a" + "\n" * 400_000 + "b",
        "<think>" * 60_000,
        "``` " * 100_000,
    ],
    ids=["fence", "lines", "half", "blank", "thoughts", "fences"],
)
def test_white_space_without_end_takes_no_time_without_end(text):
    started = time.process_time()
    assert read_json(text, QUOTES)[1] is not None
    assert time.process_time() - started < 2


def test_json_after_thoughts_and_in_a_later_fence_is_found():
    answer = json.dumps({"question": "q", "quotes": ["a"]})
    for text in (
        f"<think>well, {{}}</think>\n{answer}",
        f"Here: ```python\nprint()\n``` and\n``` JSON\n{answer}\n```",
        f"```\n{answer}\n```",
    ):
        assert read_json(text, QUOTES) == ({"question": "q", "quotes": ["a"]}, None), text
