"""Items with the marks that a person sees (``-``, ``1.``, ``2.1``, ``(a)``) -> the text of a list, as one block."""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["BULLET", "MarkedItem", "letters", "list_text", "roman"]

BULLET = "-"


@dataclass(frozen=True, slots=True)
class MarkedItem:
    """An item: its mark, its text, its depth from 0. A ``building.ListItem`` is one with a bullet or a number."""

    mark: str
    text: str
    depth: int = 0


def list_text(items: Sequence[MarkedItem]) -> str:
    """A line an item, two spaces a level below the outermost; line ends inside an item become indented lines."""
    outer = min((item.depth for item in items), default=0)
    return "\n".join(_line(item, "  " * (item.depth - outer)) for item in items)


def _line(item: MarkedItem, indent: str) -> str:
    return f"{indent}{item.mark} {item.text}".replace("\n", f"\n{indent}{' ' * (len(item.mark) + 1)}")


def letters(count: int) -> str:
    """A number in letters as Office counts: from a to z, then aa to zz."""
    if count < 1:
        return str(count)
    return chr(ord("a") + (count - 1) % 26) * min((count - 1) // 26 + 1, 30)


_ROMAN = [
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
]  # fmt: skip


def roman(count: int) -> str:
    """A number in small Roman numerals; other numbers than 1 to 3999 as digits."""
    if not 0 < count < 4000:
        return str(count)
    text = ""
    for worth, signs in _ROMAN:
        times, count = divmod(count, worth)
        text += signs * times
    return text
