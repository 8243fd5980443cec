"""Values inside another tool's JSON -> the same, checked; an error names the place where something else stands.

What the values mean is left to the readers.
"""

from collections.abc import Iterable
from typing import Any

from faircut.errors import DocumentError

__all__ = ["lists", "mapping", "number", "text"]


def _wrong(place: str, key: str, wanted: str, found: Any) -> DocumentError:
    return DocumentError(
        f"{place}: {key!r} must be {wanted}, found {type(found).__name__} {found!r:.40}; export it again."
    )


def text(value: dict[str, Any], key: str, place: str) -> str:
    """The text under a key, empty where there is none."""
    found = value.get(key)
    if found is None or isinstance(found, str):
        return found or ""
    raise _wrong(place, key, "text", found)


def number(value: dict[str, Any], key: str, place: str) -> int | None:
    """The whole number from 0 under a key."""
    found = value.get(key)
    if found is None or (isinstance(found, int) and not isinstance(found, bool) and 0 <= found < 10**9):
        return found
    raise _wrong(place, key, "a whole number from 0", found)


def mapping(value: dict[str, Any], key: str, place: str) -> dict[str, Any]:
    """The object under a key, empty where there is none."""
    found = value.get(key)
    if found is None or isinstance(found, dict):
        return found or {}
    raise _wrong(place, key, "an object", found)


def lists(value: dict[str, Any], keys: Iterable[str], place: str) -> list[dict[str, Any]]:
    """The objects in the lists under these keys, one after the other."""
    objects: list[dict[str, Any]] = []
    for key in keys:
        found = value.get(key) or []
        if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
            raise _wrong(place, key, "a list of objects", found)
        objects += found
    return objects
