"""Marks of list items at the start of a line: bullets, numbers, letters. What belongs to an item is left to others."""

import re
from typing import NamedTuple

__all__ = ["Marker", "is_marker", "marker"]

_BULLETS = "•‣▪▫◦●○■□◆◇►▶➢➤✓✔·∙⁃*\uf0b7\uf0a7\uf0d8\uf0fc\uf02d–-"
_BULLET = re.compile(rf"([{re.escape(_BULLETS)}]|o(?=\s{{1,3}}[A-Z]))\s+(?=\S)")
_NUMBER = re.compile(r"(\d{1,3})[.)]\s+(?=\S)")
_LETTER = re.compile(r"(\((?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})\)|[a-zA-Z][.)]|[ivx]{2,5}[.)])\s+(?=\S)")


class Marker(NamedTuple):
    """The mark of an item: ``number`` where it is a plain number, and the characters that the builder writes itself."""

    kind: str
    number: int | None
    length: int


def marker(text: str) -> Marker | None:
    """The mark that a line begins with. A letter in brackets is part of the item's text and has length 0."""
    if match := _BULLET.match(text):
        return Marker(match[1], None, match.end())
    if match := _NUMBER.match(text):
        return Marker("number", int(match[1]), match.end())
    if match := _LETTER.match(text):
        return Marker("letter", None, 0)
    return None


def is_marker(text: str) -> bool:
    """Whether the text is a mark and nothing else."""
    return bool(marker(text + " x")) and len(text) <= 6
