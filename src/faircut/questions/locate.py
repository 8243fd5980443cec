"""A quote -> where it is in a text: exactly, or with other spacing and quotation marks. Nothing is guessed.

Letters, digits and all other marks must be the same and in the same order: a place is forgiven its form, never its
meaning. Whether one of several places is meant is left to the callers.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any
from unicodedata import normalize

from faircut.records import Document, Evidence, Span
from faircut.text.sentences import sentence_spans

__all__ = [
    "LooseText", "find_chunks_everywhere", "find_everywhere", "find_loosely", "find_quote", "is_telling",
    "locate_quotes", "merged",
]  # fmt: skip


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


# ---------------------------------------------------------------- spacing and quotation marks forgiven

_MARKS = "\"'`\u00b4\u00ab\u00bb\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u2039\u203a"
_MARKS += "\u300c\u300d\u300e\u300f\uff02\uff07"
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\u30fc\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_BETWEEN = "\x00"


class LooseText:
    """A text as its words and marks: white space, invisible characters and quotation marks only part them.

    "now here" is not "nowhere": white space may be of another kind and may stand beside any mark or not, but not inside
    a word. Only letters of scripts that put no spaces between words stand alone. Linear in time and memory.

    Args:
        text: the whole text.
        start: where to begin in it.
        end: where to end in it; spans are those of the whole text.
    """

    def __init__(self, text: str, start: int = 0, end: int | None = None) -> None:
        found = [m.span() for m in _tokens().finditer(text, start, len(text) if end is None else end)]
        self.spans = found
        self.tokens = [_plain(text[a:b]) for a, b in found]
        self._joined = _BETWEEN + _BETWEEN.join(self.tokens) + _BETWEEN
        self._offsets: list[int] = []
        at = 0
        for token in self.tokens:
            self._offsets.append(at)
            at += len(token) + 1

    def find(self, quote: str, limit: int = 6) -> list[Span]:
        """The first ``limit`` places of a quote; none when it has no letter or digit."""
        wanted = loose_tokens(quote)
        if not any(map(_has_word, wanted)):
            return []
        needle = _BETWEEN + _BETWEEN.join(wanted) + _BETWEEN
        places: list[Span] = []
        at = self._joined.find(needle)
        while at >= 0 and len(places) < limit:
            first = bisect_left(self._offsets, at)
            places.append(self.span(first, len(wanted)))
            at = self._joined.find(needle, at + 1)
        return places

    def is_plain(self, at: int) -> bool:
        """Whether a token is as long as in the text, so that a part of it can be placed."""
        start, end = self.spans[at]
        return int(end - start) == len(self.tokens[at])

    def span(self, first: int, count: int) -> Span:
        """Where ``count`` tokens from the given one on are."""
        return Span(self.spans[first][0], self.spans[first + count - 1][1])


def loose_tokens(text: str) -> list[str]:
    """The words and marks of a text, as ``LooseText`` compares them."""
    return [_plain(word) for word in _tokens().findall(text)]


@cache
def _tokens() -> Any:
    import regex  # type: ignore[import-untyped]  # no stubs in the package

    letters = r"[\p{L}\p{M}\p{N}]"
    return regex.compile(rf"(?V1)[{_UNSPACED}]\p{{M}}*|[{letters}--[{_UNSPACED}]]+|[^\s\p{{Cf}}\p{{Cc}}{_MARKS}]")


def _plain(token: str) -> str:
    return token if token.isascii() else normalize("NFC", token)


def _has_word(token: str) -> bool:
    return any(map(str.isalnum, token))


# ---------------------------------------------------------------- several quotes in one window

_ELLIPSIS = re.compile(r"\s*(?:\[\s*(?:\.\.\.|\u2026)\s*\]|\(\s*(?:\.\.\.|\u2026)\s*\)|\.\.\.|\u2026)\s*")
_FEWEST = 3  # tokens of a part of a quote: shorter ones are anywhere


def locate_quotes(text: str, window: Span, quotes: Sequence[str]) -> tuple[Span, ...] | None:
    """The places of quotes inside a window, in the order of the text, those that touch or overlap made one.

    A quote that is not there as a whole may be there in parts: what stands between ellipses, or its sentences in
    another order. Every part must be there.

    Returns:
        None when a quote is not in the window, or there is none.
    """
    loose: LooseText | None = None
    spans: list[Span] = []
    for quote in quotes:
        exact = find_quote(text[window.start : window.end], quote.strip(), 1)
        if exact:
            spans.append(Span(exact[0].start + window.start, exact[0].end + window.start))
            continue
        loose = loose or LooseText(text, window.start, window.end)
        found = _parts_of(loose, quote)
        if found is None:
            return None
        spans += found
    return tuple(merged(spans, text)) or None


def _parts_of(loose: LooseText, quote: str) -> list[Span] | None:
    if whole := loose.find(quote, 1):
        return whole
    for parts in (_ELLIPSIS.split(quote), [quote[a:b] for a, b in sentence_spans(quote)]):
        parts = [part for part in parts if part.strip()]
        if len(parts) > 1 and all(len(loose_tokens(part)) >= _FEWEST for part in parts):
            found = [loose.find(part, 1) for part in parts]
            if all(found):
                return [places[0] for places in found]
    return None


def merged(spans: Iterable[Span], text: str) -> list[Span]:
    """Spans in order, made one where they overlap or only white space is between them."""
    joined: list[Span] = []
    for span in sorted(spans):
        if joined and (span.start <= joined[-1].end or not text[joined[-1].end : span.start].strip()):
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return joined


# ---------------------------------------------------------------- many quotes in all documents

_KEY = 5  # tokens by which the beginning of a quote is recognised
_TELLING_TOKENS, _TELLING_CHARACTERS = 5, 15


def is_telling(quote: str) -> bool:
    """Whether a quote is long enough that another place with its words says the same, and is none by chance."""
    return len(quote.strip()) >= _TELLING_CHARACTERS and len(loose_tokens(quote)) >= _TELLING_TOKENS


_Place = Callable[[int, LooseText, int, int], Span | None]
"""The span of what is sought under a number, from its tokens' position and count; None where it does not fit there."""

_Wanted = dict[tuple[str, ...], dict[int, dict[tuple[str, ...], list[int]]]]


def find_everywhere(
    documents: Mapping[str, Document], quotes: Sequence[str], *, limit: int = 6
) -> list[list[Evidence]]:
    """For each quote its first ``limit`` places in all documents, in one pass over them.

    Args:
        documents: by id.
        quotes: looked for with spacing and quotation marks forgiven.
        limit: places of each.
    """
    sought = [tuple(loose_tokens(quote)) for quote in quotes]
    return _scanned(documents, sought, limit, lambda _number, loose, at, length: loose.span(at, length))


def find_chunks_everywhere(
    documents: Mapping[str, Document], quotes: Sequence[str], *, limit: int = 6
) -> list[list[Evidence]]:
    """As ``find_everywhere``, and quotes that are nowhere so may begin or end inside a word, as other tools' chunks do.

    All between their first and last word must be there and be long enough to mean one place; of those two, the end of
    the word before and the beginning of the word after.
    """
    whole = [tuple(loose_tokens(quote)) for quote in quotes]
    inner = [tokens[1:-1] if len(tokens) >= _KEY + 2 else () for tokens in whole]

    def place(number: int, loose: LooseText, at: int, length: int) -> Span | None:
        if number < len(whole):
            return loose.span(at, length)
        first, last, end = whole[number - len(whole)][0], whole[number - len(whole)][-1], at + length
        if not (at and end < len(loose.tokens) and loose.is_plain(at - 1) and loose.is_plain(end)):
            return None
        if not (loose.tokens[at - 1].endswith(first) and loose.tokens[end].startswith(last)):
            return None
        return Span(loose.spans[at - 1][1] - len(first), loose.spans[end][0] + len(last))

    found = _scanned(documents, [*whole, *inner], limit, place)
    return [own or cut for own, cut in zip(found[: len(whole)], found[len(whole) :], strict=True)]


def _scanned(
    documents: Mapping[str, Document], sought: Sequence[tuple[str, ...]], limit: int, place: _Place
) -> list[list[Evidence]]:
    """One pass over the documents for all runs of tokens."""
    found: list[list[Evidence]] = [[] for _ in sought]
    wanted, lengths = _wanted(sought)
    for document in documents.values() if wanted else ():
        loose = LooseText(document.text)
        for at, token in enumerate(loose.tokens):
            for length in lengths.get(token, ()):
                candidates = wanted.get(tuple(loose.tokens[at : at + length]))
                for number, span in _spans(candidates, loose, at, place):
                    if len(found[number]) < limit:
                        found[number].append(Evidence(document.id, span))
    return found


def _wanted(sought: Sequence[tuple[str, ...]]) -> tuple[_Wanted, dict[str, set[int]]]:
    """Runs of tokens by their beginning, then by length; and the lengths of those beginnings by first token."""
    wanted: _Wanted = {}
    lengths: dict[str, set[int]] = {}
    for number, tokens in enumerate(sought):
        if any(map(_has_word, tokens)):
            key = tokens[:_KEY]
            lengths.setdefault(key[0], set()).add(len(key))
            wanted.setdefault(key, {}).setdefault(len(tokens), {}).setdefault(tokens, []).append(number)
    return wanted, lengths


def _spans(
    candidates: dict[int, dict[tuple[str, ...], list[int]]] | None, loose: LooseText, at: int, place: _Place
) -> Iterator[tuple[int, Span]]:
    for length, quotes in (candidates or {}).items():
        for number in quotes.get(tuple(loose.tokens[at : at + length]), ()):
            if (span := place(number, loose, at, length)) is not None:
                yield number, span
