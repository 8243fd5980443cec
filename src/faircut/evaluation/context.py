"""What a reader gets: ranked passages and a cut in, the delivered pieces with their cost in characters and tokens out.

A passage is a chunk as the scores see it. Whether what is delivered answers the question is left to ``metrics.py``.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from faircut.evaluation.intervals import Range, length, union
from faircut.evaluation.measures import Cut
from faircut.records import Chunk
from faircut.text.contract import TokenIndex

__all__ = ["Context", "Delivery", "Passage", "TokenIndexOf", "passage"]

TokenIndexOf = Callable[[str], TokenIndex]
"""From a document's id to the exact token counts of its text, in the comparison's one tokenizer."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk as the scores see it. Made once for each chunk and shared by all questions that retrieve it.

    Attributes:
        document_id: the document that it comes from.
        ranges: its spans as ``(start, end)`` pairs in that document, in the order of its text.
        characters: what its delivery costs in characters, the context included.
        tokens: the same in budget tokens, the context included.
        context_characters: how many of the characters are context (delivered first, covering nothing).
        context_tokens: how many of the tokens are context.
        verbatim: whether its text is the document's own at the ranges.
        text: its text, needed by ``literal_hit`` only.
    """

    document_id: str
    ranges: tuple[Range, ...]
    characters: int
    tokens: int
    context_characters: int = 0
    context_tokens: int = 0
    verbatim: bool = True
    text: str = ""


def passage(chunk: Chunk, *, tokens: int, context_tokens: int = 0, verbatim: bool = True) -> Passage:
    """The passage of a chunk.

    A rewritten text is charged at least the characters of the places that it stands for: else a summary would cover
    more than it delivers and its precision could exceed 1.

    Args:
        chunk: the chunk.
        tokens: budget tokens of its text, without the context.
        context_tokens: budget tokens of its context.
        verbatim: whether its text is the document's own at its spans.
    """
    ranges = tuple((s.start, s.end) for s in chunk.spans)
    context_characters = len(chunk.embedded_text) - len(chunk.text)
    characters = len(chunk.text) if verbatim else max(len(chunk.text), length(union(ranges)))
    return Passage(
        document_id=chunk.document_id,
        ranges=ranges,
        characters=context_characters + characters,
        tokens=context_tokens + tokens,
        context_characters=context_characters,
        context_tokens=context_tokens,
        verbatim=verbatim,
        text=chunk.text,
    )


@dataclass(frozen=True, slots=True)
class Delivery:
    """What is delivered up to a cut: the first ``whole`` passages, then ``part`` of the next one.

    ``characters`` and ``tokens`` count everything that is handed over, repeated text each time. ``filled`` says
    whether the ranking was long enough for the cut.
    """

    whole: int
    part: tuple[Range, ...]
    characters: int
    tokens: int
    filled: bool


class Context:
    """The ranked passages of one question with their running costs, ready to be cut anywhere."""

    __slots__ = ("_characters", "_tokens", "passages")

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = passages
        self._characters = list(accumulate((p.characters for p in passages), initial=0))
        self._tokens = list(accumulate((p.tokens for p in passages), initial=0))

    def at(self, cut: Cut, token_index: TokenIndexOf) -> Delivery:
        """What is delivered up to the cut.

        At a budget of B tokens, passages are delivered in rank order until B tokens are, and the last one is cut
        there: at the end of a word, or inside a word at the end of a token, so that a few tokens fewer are possible.
        """
        if cut.unit == "chunks":
            whole = min(cut.amount, len(self.passages))
            return self._whole(whole, filled=whole == cut.amount)
        whole = bisect_right(self._tokens, cut.amount) - 1
        if whole == len(self.passages) or self._tokens[whole] == cut.amount:
            return self._whole(whole, filled=self._tokens[whole] == cut.amount)
        return self._cut_inside(whole, cut.amount - self._tokens[whole], token_index)

    def _whole(self, whole: int, *, filled: bool) -> Delivery:
        return Delivery(whole, (), self._characters[whole], self._tokens[whole], filled)

    def _cut_inside(self, whole: int, tokens: int, token_index: TokenIndexOf) -> Delivery:
        """Deliver ``tokens`` of the passage after the first ``whole``: its context first, then its spans in order."""
        last = self.passages[whole]
        part: tuple[Range, ...] = ()
        if tokens <= last.context_tokens:
            characters = last.context_characters * tokens // last.context_tokens
        elif last.verbatim:
            part, used = _first_tokens(last, tokens - last.context_tokens, token_index(last.document_id))
            characters, tokens = last.context_characters + length(part), last.context_tokens + used
        else:  # which of its sources a half-delivered rewriting has told is unknown, so it covers nothing
            characters = last.characters * tokens // last.tokens
        return Delivery(whole, part, self._characters[whole] + characters, self._tokens[whole] + tokens, filled=True)


def _first_tokens(last: Passage, tokens: int, index: TokenIndex) -> tuple[tuple[Range, ...], int]:
    """The first ``tokens`` tokens of a verbatim passage's text, as ranges, and how many tokens they are."""
    part: list[Range] = []
    used = 0
    for start, end in last.ranges:
        whole = index.count(start, end)
        if used + whole > tokens:
            stop = index.furthest(start, tokens - used, end)
            return (*part, *((start, stop),) * (stop > start)), used + index.count(start, stop)
        part.append((start, end))
        used += whole
    return tuple(part), used
