"""Windows of a fixed size: a document in, windows of tokens, words or characters out, whatever the text says.

The baseline that looks at nothing: windows cut sentences, tables and code. What a length is is left to ``packing``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

from faircut.chunkers.contract import Models
from faircut.chunkers.packing import Piece, Ruler, check_document, check_overlap, check_size, to_chunks, trim
from faircut.errors import SpecError
from faircut.records import Chunk, Document
from faircut.specs import Size, spec_text

__all__ = ["Fixed"]


@dataclass(frozen=True)
class Fixed:
    """Windows of a fixed size: `fixed(512w, overlap=64w)`, `fixed(500c, at=space)`.

    ``size`` is the window's, ``overlap`` what a window shares with the one before it, in the same unit; none is none.
    ``at`` is where a window may end: ``anywhere`` between graphemes (in tokens: between tokens, also inside a word), or
    after the last ``space`` that it has. A window in words has whole words however long they are. Where white space in
    front of what is new leaves no room for it behind the whole overlap, the overlap is as much smaller as that needs.

    Raises:
        SpecError: a size below 1, an overlap that is negative, in another unit, or not below the size.
    """

    name: ClassVar[str] = "fixed"
    cuts_at_sentences: ClassVar[bool] = False

    size: Size = Size(512, "w")
    overlap: Size | None = None
    at: Literal["anywhere", "space"] = "anywhere"

    def __post_init__(self) -> None:
        check_size(self.name, "size", self.size)
        check_overlap(self.name, self.overlap, self.size)
        if self.at not in ("anywhere", "space"):
            raise SpecError(f"{self.name}: at must be anywhere or space, found {self.at!r}.")

    __str__ = spec_text

    def chunk(self, document: Document, models: Models) -> list[Chunk]:
        """The chunks of the document; see ``Chunker``."""
        check_document(document)
        return to_chunks(document, self._windows(Ruler.of(document, self.size, models)))

    def _windows(self, ruler: Ruler) -> list[Piece]:
        windows: list[Piece] = []
        reached, length = 0, len(ruler.text)
        while (following := ruler.skip_blank(reached, length)) < length:
            window = self._overlapping(ruler, windows[-1], following) if windows else None
            window = window or Piece(following, self._end(ruler, following))
            windows.append(window)
            reached = window.end
        return windows

    def _overlapping(self, ruler: Ruler, before: Piece, following: int) -> Piece | None:
        """The next window with its overlap; None where there is none or it would leave no room for what is new."""
        asked = check_overlap(self.name, self.overlap, self.size)
        _, end = trim(ruler.document, before.start, before.end)
        for find in (self._end, _furthest):  # a word is cut only where no overlap leaves room for it
            if asked and (window := self._longest(ruler, before.start, end, following, asked, find)):
                return window
        return None

    def _longest(
        self, ruler: Ruler, begin: int, end: int, following: int, asked: int, find: Callable[[Ruler, int], int]
    ) -> Piece | None:
        """The window with the largest overlap before ``end``, up to ``asked``, that has room for what is following."""
        low, high, trial = 1, asked, asked  # most windows have room for all of it
        found = None
        while low <= high:
            start = ruler.overlap_start(end, trial, at="word" if self.at == "space" else "anywhere")
            if begin < start < end and (reached := find(ruler, start)) > following:
                low, found = trial + 1, Piece(start, reached)
            else:
                high = trial - 1
            trial = (low + high + 1) // 2
        return found

    def _end(self, ruler: Ruler, start: int) -> int:
        find = ruler.furthest_word if self.at == "space" else ruler.furthest
        return find(start, len(ruler.text))


def _furthest(ruler: Ruler, start: int) -> int:
    return ruler.furthest(start, len(ruler.text))
