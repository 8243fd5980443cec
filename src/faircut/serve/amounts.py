"""How much a request asks for, counted before anything is done: a document and chunkers in, refusals out."""

from typing import Any

from starlette.exceptions import HTTPException

from faircut.serve.limits import Limits
from faircut.specs import Size

__all__ = ["check_amount", "least_chunks"]


def check_amount(characters: int, chunkers: int, limits: Limits) -> None:
    """Refuse more cutting than one request may ask for.

    Raises:
        HTTPException: 413 the characters of the document times the chunkers are above the limit.
    """
    if characters * chunkers <= limits.cut_characters:
        return
    most = max(1, limits.cut_characters // characters)
    raise HTTPException(
        413,
        f"{chunkers} chunkers on {characters:,} characters are too much at once; take at most {most} side by side.",
    )


def least_chunks(chunker: Any, text: str) -> int:
    """A number of chunks below which the ceiling of a chunker does not let it stay; 0 where it has none.

    Takes time for one look at the text, not for cutting it.
    """
    while hasattr(chunker, "chunker"):  # a control cuts as often as what it is the control of
        chunker = chunker.chunker
    size, overlap = getattr(chunker, "max", getattr(chunker, "size", None)), getattr(chunker, "overlap", None)
    if not isinstance(size, Size):
        return 0
    again = overlap.amount if isinstance(overlap, Size) and overlap.unit == size.unit else 0
    words = text.split()
    amount = sum(map(len, words)) if size.unit == "c" else len(words)  # a word is one token at least
    return (amount - again) // max(1, size.amount - again)
