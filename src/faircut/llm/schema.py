"""JSON out of what a model wrote, and whether it fits a schema: text in, a value or one sentence of complaint out.

Only the part of JSON Schema that we use is checked, and a schema with any other keyword is refused when a request is
made, so that nothing passes unchecked. A library for all of JSON Schema would be one more requirement for no gain.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from faircut.errors import LlmError

__all__ = ["check_schema", "problem_of", "read_json"]

_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "null": lambda v: v is None,
}
_BOUNDS: dict[str, Callable[[Any, Any], bool]] = {
    "minimum": lambda v, bound: not _TYPES["number"](v) or v >= bound,
    "maximum": lambda v, bound: not _TYPES["number"](v) or v <= bound,
    "minLength": lambda v, bound: not isinstance(v, str) or len(v) >= bound,
    "maxLength": lambda v, bound: not isinstance(v, str) or len(v) <= bound,
    "minItems": lambda v, bound: not isinstance(v, list) or len(v) >= bound,
    "maxItems": lambda v, bound: not isinstance(v, list) or len(v) <= bound,
    "enum": lambda v, choices: any(_same(v, choice) for choice in choices),
    "const": lambda v, choice: _same(v, choice),
}
_STRUCTURE = ("type", "properties", "required", "additionalProperties", "items", "anyOf")
_NOTES = ("title", "description")
_FENCE, _FENCES, _LONGEST_LABEL = "```", 16, 20
_SHOWN = 60


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: ``true`` is not ``1``."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


# ---------------------------------------------------------------- text -> value


def read_json(text: str, schema: Mapping[str, Any]) -> tuple[Any, str | None]:
    """The JSON value in an answer that fits the schema: the whole text, else what is fenced, else from a bracket on.

    Returns:
        The value and None; or the first value found (None where there is none) and what is wrong with it.
    """
    first: tuple[Any, str | None] | None = None
    reason = "the answer is empty"
    for candidate in _candidates(_spoken(text)):
        try:
            value = _loads(candidate)
            problem = problem_of(value, schema)
        except (ValueError, RecursionError) as error:
            reason = f"it is not JSON ({error})" if isinstance(error, ValueError) else "it is nested too deeply"
            continue
        if problem is None:
            return value, None
        first = first or (value, problem)
    return first or (None, reason)


def _loads(text: str) -> Any:
    value, end = json.JSONDecoder(parse_constant=_no_constant, strict=False).raw_decode(text)
    if text[end:].strip() and text[:1] not in ("{", "["):
        raise ValueError("text follows the value")
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _candidates(text: str) -> Iterator[str]:
    if text:
        yield text
    yield from _fenced(text)
    yield from (text[place:] for mark in "{[" if (place := text.find(mark)) > 0)


def _spoken(text: str) -> str:
    """A text without the thoughts that it begins with. No pattern: on white space without end they take for ever."""
    text = text.strip()
    if text.startswith("<think>"):
        _, _, spoken = text.partition("</think>")
        text = spoken.strip() or text
    return text


def _fenced(text: str) -> Iterator[str]:
    """What stands in fences, at most the first few."""
    at = text.find(_FENCE)
    for _ in range(_FENCES):
        line = text.find("\n", at)
        if at < 0 or line < 0:
            return
        if text[at + len(_FENCE) : min(line, at + _LONGEST_LABEL)].strip().lower() in ("", "json"):
            end = text.find(_FENCE, line)
            if end < 0:
                return
            yield text[line:end].strip()
            at = end
        at = text.find(_FENCE, at + len(_FENCE))


# ---------------------------------------------------------------- value against schema


def check_schema(schema: Mapping[str, Any]) -> None:
    """Refuse a schema that would not be checked in full.

    Raises:
        LlmError: an unknown keyword or type.
    """
    unknown = set(schema) - {*_STRUCTURE, *_NOTES, *_BOUNDS}
    types = {schema["type"]} if isinstance(schema.get("type"), str) else set(schema.get("type", ()))
    if unknown or types - set(_TYPES):
        raise LlmError(f"the schema has {sorted(unknown | (types - set(_TYPES)))}, which is not checked; leave it out.")
    for inner in _inner_schemas(schema):
        check_schema(inner)


def _inner_schemas(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from schema.get("properties", {}).values()
    yield from schema.get("anyOf", ())
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), Mapping):
            yield schema[key]


def problem_of(value: Any, schema: Mapping[str, Any], place: str = "the answer") -> str | None:
    """What is wrong with a value, in a few words that name the place; None when it fits the schema."""
    return next(_problems(value, schema, place), None)


def _problems(value: Any, schema: Mapping[str, Any], place: str) -> Iterator[str]:
    types = schema.get("type", ())
    types = (types,) if isinstance(types, str) else tuple(types)
    if types and not any(_TYPES[name](value) for name in types):
        yield f"{place} is {_shown(value)}, expected {' or '.join(types)}"
        return
    for name, holds in _BOUNDS.items():
        if name in schema and not holds(value, schema[name]):
            yield f"{place} is {_shown(value)}, expected {name} {_shown(schema[name])}"
    if "anyOf" in schema and all(problem_of(value, option, place) for option in schema["anyOf"]):
        yield f"{place} is {_shown(value)}, which is none of what is possible"
    if isinstance(value, dict):
        yield from _object_problems(value, schema, place)
    if isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value):
            yield from _problems(item, schema["items"], f"{place}[{number}]")


def _object_problems(value: dict[str, Any], schema: Mapping[str, Any], place: str) -> Iterator[str]:
    known, rest = schema.get("properties", {}), schema.get("additionalProperties", True)
    yield from (f"{place} has no {name!r}" for name in schema.get("required", ()) if name not in value)
    for name, item in value.items():
        inner = known.get(name, rest)
        if inner is False:
            yield f"{place} has {_shown(name)}, which is not asked for"
        elif isinstance(inner, Mapping):
            yield from _problems(item, inner, f"{place}.{name[:_SHOWN]}")


def _shown(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
