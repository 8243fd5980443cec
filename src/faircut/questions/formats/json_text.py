"""JSON files -> records with the line on which each begins; what they mean is left to the formats.

A list may stand at the top or under one key of an object. Errors name the line.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from faircut.documents.decoding import read_text
from faircut.errors import DocumentError, QuestionError
from faircut.files import write_atomically

__all__ = [
    "Object", "as_id", "as_text", "json_text", "json_value", "lists_of", "name_lines", "records_in", "write_json",
]  # fmt: skip

Object = dict[str, Any]
_WHITE = re.compile(r"[ \t\r\n]*")


def json_text(path: Path) -> str:
    """The text of a file, without a byte order mark.

    Raises:
        QuestionError: it cannot be read, or is not text.
    """
    try:
        return read_text(path)
    except (DocumentError, OSError) as error:
        raise QuestionError(str(error)) from error


def json_value(path: Path) -> Any:
    """The value in a file.

    Raises:
        QuestionError: not JSON; names line and column.
    """
    text = json_text(path)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise _broken(path, error.lineno, f"column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise _broken(path, 1, "nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits
        raise _broken(path, 1, str(error)) from None


def records_in(path: Path, key: str | None = None) -> Iterator[tuple[str, Any]]:
    """The items of the list at the top of a file, or under a key of the object there, each with ``file:line``.

    Nothing when there is no such list.

    Raises:
        QuestionError: not JSON; names line and column.
    """
    json_value(path)  # so that what follows can be read as it is
    text = json_text(path)
    at = _WHITE.match(text).end()  # type: ignore[union-attr]  # the empty string matches too
    if key is not None:
        at = _value_of(text, at, key)
    if at < 0 or not text.startswith("[", at):
        return
    line, counted = 1, 0
    for start, value in _items(text, at + 1):
        line, counted = line + text.count("\n", counted, start), start
        yield f"{path}:{line}", value


def name_lines(path: Path, key: str) -> dict[str, int]:
    """The line of each name in the object under a key of the object at the top; nothing when there is none."""
    text = json_text(path)
    at = _value_of(text, _skip(text, 0), key)
    lines: dict[str, int] = {}
    line, counted = 1, 0
    for name, start, _ in _members(text, at) if at >= 0 else ():
        line, counted = line + text.count("\n", counted, start), start
        lines[name] = line
    return lines


def _items(text: str, at: int) -> Iterator[tuple[int, Any]]:
    """The values from behind an opening bracket on, with their places."""
    decoder = json.JSONDecoder()
    while not text.startswith("]", at := _skip(text, at)):
        value, end = decoder.raw_decode(text, at)
        yield at, value
        at = _skip(text, end)
        at += text.startswith(",", at)


def _value_of(text: str, at: int, key: str) -> int:
    """Where the value of a key of the object begins; -1 where there is none."""
    return next((value for name, _, value in _members(text, at) if name == key), -1)


def _members(text: str, at: int) -> Iterator[tuple[str, int, int]]:
    """The names in the object that begins here, each with its own place and that of its value."""
    decoder = json.JSONDecoder()
    if not text.startswith("{", at):
        return
    at = _skip(text, at + 1)
    while not text.startswith("}", at):
        begin = at
        name, at = decoder.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)  # behind the colon
        yield name, begin, at
        _, at = decoder.raw_decode(text, at)
        at = _skip(text, at)
        at = _skip(text, at + 1) if text.startswith(",", at) else at


def _skip(text: str, at: int) -> int:
    return _WHITE.match(text, at).end()  # type: ignore[union-attr]  # the empty string matches too


def _broken(path: Path, line: int, what: str) -> QuestionError:
    return QuestionError(f"{path}:{line}: broken JSON at {what}; mend the file.")


# ---------------------------------------------------------------- values


def as_text(value: Mapping[str, Any], *keys: str) -> str:
    """The first text that is not blank under one of the keys, else an empty one."""
    return next((found for key in keys if isinstance(found := value.get(key), str) and found.strip()), "")


def as_id(value: Mapping[str, Any], key: str = "id") -> str:
    """The id under a key, which may be a whole number; else an empty text."""
    found = value.get(key)
    return str(found) if isinstance(found, int) and not isinstance(found, bool) else as_text(value, key)


def lists_of(value: Mapping[str, Any], key: str) -> list[Object]:
    """The objects in the list under a key; what is no object is left alone."""
    found = value.get(key)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def write_json(path: Path, value: Any) -> None:
    """Write a value, two spaces a level; the file appears whole or not at all.

    Raises:
        StoreError: it cannot be written.
    """
    text = json.dumps(value, ensure_ascii=False, indent=2)
    try:
        raw = text.encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate can only be written as an escape
        raw = json.dumps(value, indent=2).encode("ascii")
    write_atomically(path, lambda file: file.write(raw + b"\n"))
