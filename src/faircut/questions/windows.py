"""Documents -> windows of text to ask about: drawn uniformly over all characters, whatever any chunker would cut.

Paragraphs and sections are not looked at, so that some windows run across their edges. What is asked about a window
is left to ``generate.py``.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from faircut.errors import QuestionError
from faircut.records import Document, Span

__all__ = ["FEWEST_LETTERS", "Window", "draw_windows"]

FEWEST_LETTERS = 80
"""Letters and digits that a window needs: there is nothing to ask about less."""

_EDGE = 40  # characters within which a window's end is moved to white space


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a document; ``span`` begins and ends between words where there is white space near."""

    document: Document
    span: Span

    @property
    def text(self) -> str:
        """The text in the window."""
        return self.document.text[self.span.start : self.span.end]


def draw_windows(documents: Sequence[Document], size: int, seed: int) -> Iterator[Window]:
    """An endless stream of windows; the same seed gives the same ones, however many are taken.

    The middle of a window is a character drawn uniformly from all documents. A window that would reach beyond its
    document is cut there, not moved: text at the ends is as likely to be asked about as any other.

    Args:
        documents: in the order of the corpus.
        size: characters of a window, at least 200.
        seed: of the draw.

    Raises:
        QuestionError: the size is too small, or no document has text to ask about.
    """
    if size < 200:
        raise QuestionError(f"a window has at least 200 characters, found {size}.")
    if not any(_is_enough(document.text) for document in documents):
        raise QuestionError(f"no document has {FEWEST_LETTERS} letters; there is nothing to ask about.")
    return _windows(documents, size, Random(seed))  # noqa: S311  # a draw, no secret


def _windows(documents: Sequence[Document], size: int, rng: Random) -> Iterator[Window]:
    ends = list(accumulate(len(document.text) for document in documents))
    while True:
        place = rng.randrange(ends[-1])
        number = bisect_right(ends, place)
        document = documents[number]
        middle = place - (ends[number] - len(document.text))
        span = _between_words(document.text, max(0, middle - size // 2), min(len(document.text), middle + size // 2))
        if span is not None and _is_enough(document.text[span.start : span.end]):
            yield Window(document, span)


def _between_words(text: str, start: int, end: int) -> Span | None:
    """The range without the halves of words at its ends, and without white space there."""
    if start and not text[start - 1].isspace():
        start = next((at for at in range(start, min(start + _EDGE, end)) if text[at].isspace()), start)
    if end < len(text) and not text[end].isspace():
        end = next((at for at in range(end, max(end - _EDGE, start), -1) if text[at - 1].isspace()), end)
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return Span(start, end) if start < end else None


def _is_enough(text: str) -> bool:
    count = 0
    for character in text:
        count += character.isalnum()
        if count >= FEWEST_LETTERS:
            return True
    return False
