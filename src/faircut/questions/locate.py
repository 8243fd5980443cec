"""A quote -> where it is in a text: exactly, or as a hint when only white space differs. Nothing is guessed."""

import re

from faircut.records import Span

__all__ = ["find_loosely", "find_quote"]


def find_quote(text: str, quote: str, limit: int = 6) -> list[Span]:
    """The first ``limit`` places of ``quote`` in ``text``, character for character, overlapping ones included."""
    places: list[Span] = []
    start = text.find(quote) if quote else -1
    while start >= 0 and len(places) < limit:
        places.append(Span(start, start + len(quote)))
        start = text.find(quote, start + 1)
    return places


def find_loosely(text: str, quote: str) -> Span | None:
    """The first place of ``quote`` when every run of white space counts as one space; for hints in error messages."""
    words = quote.split()
    match = re.search(r"\s+".join(map(re.escape, words)), text) if words else None
    return Span(*match.span()) if match else None
