"""Runs whose letters stand apart (S P A C E D) or carry accents drawn by themselves (Oguz + ˘) -> words as one reads.

Only runs that look so are touched; the places of their single characters, which the engine is asked for, decide.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from faircut.documents.pdf_glyphs import placing
from faircut.documents.pdf_page import Line

if TYPE_CHECKING:
    from pypdfium2 import PdfPage, PdfTextPage

__all__ = ["as_words"]

_ACCENTS = dict(zip("\u02d8\u00b4\u00a8\u02dc\u00af\u02d9\u00b8\u02c7\u02da\u02dd\u02db\u02c6", (
    "\u0306", "\u0301", "\u0308", "\u0303", "\u0304", "\u0307", "\u0327", "\u030c", "\u030a", "\u030b", "\u0328",
    "\u0302",
), strict=True))  # fmt: skip
_ACCENT = re.compile(f"[{''.join(_ACCENTS)}]")
_SINGLES = 4  # single letters in a run that may be spaced
_LETTER_GAP = 0.2  # of the size of type: less than a space is wide


class Letter(NamedTuple):
    """A visible character with its place on the page."""

    char: str
    left: float
    top: float
    right: float
    bottom: float


def as_words(runs: list[Line], page: "PdfPage", text: "PdfTextPage") -> list[Line]:
    """The runs, those that look spaced or accented mended."""
    chosen = [run for run in runs if not run.turn and (_looks_spaced(run.text) or _ACCENT.search(run.text))]
    if not chosen:
        return runs
    letters = _letters(page, text)
    solid = "".join(a.char for a in letters)
    mended = {id(run): _mended(run, letters, solid) for run in chosen}
    return [mended.get(id(run), run) for run in runs]


def _looks_spaced(text: str) -> bool:
    """Whether half of the words are single letters."""
    if text.count(" ") < _SINGLES:
        return False
    words = text.split()
    singles = sum(len(w) == 1 and w.isalpha() for w in words)
    return singles >= _SINGLES and 2 * singles >= len(words)


def _letters(page: "PdfPage", text: "PdfTextPage") -> list[Letter]:
    from pypdfium2 import raw

    place = placing(page)
    box = raw.FS_RECTF()
    letters = []
    for index in range(text.count_chars()):
        char = chr(raw.FPDFText_GetUnicode(text, index))
        if not char.isspace() and raw.FPDFText_GetLooseCharBox(text, index, box):
            letters.append(Letter(char, *place(box.left, box.bottom, box.right, box.top)))
    return letters


def _mended(run: Line, letters: Sequence[Letter], solid: str) -> Line:
    own = _own(run, letters, solid)
    if not own:
        return run
    if _ACCENT.search(run.text):
        return replace(run, text=_accented(own, run.size))
    gaps = sorted(b.left - a.right for a, b in pairwise(own))
    usual = max(gaps[len(gaps) // 2], 0.0)
    if usual > _LETTER_GAP * run.size:
        return run
    return replace(run, text=_spelt(own, max(2 * usual, _LETTER_GAP * run.size)))


def _own(run: Line, letters: Sequence[Letter], solid: str) -> list[Letter]:
    """The run's characters: those that spell it, at its place."""
    wanted = "".join(run.text.split())
    start = solid.find(wanted)
    while start >= 0:
        own = list(letters[start : start + len(wanted)])
        if abs(min(a.left for a in own) - run.left) < 3 and abs(own[0].bottom - run.bottom) < 0.6 * run.size:
            return own
        start = solid.find(wanted, start + 1)
    return []


def _spelt(own: Sequence[Letter], space: float) -> str:
    text = own[0].char
    for a, b in pairwise(own):
        text += " " * (b.left - a.right > space) + b.char
    return text


def _accented(own: Sequence[Letter], size: float) -> str:
    """Each accent on the letter whose middle is nearest to its own, where the two make one character."""
    plain = [a for a in own if a.char not in _ACCENTS]
    for accent in (a for a in own if a.char in _ACCENTS):
        near = [n for n, a in enumerate(plain) if _middle_distance(a, accent) < 0.25 * size]
        best = min(near, key=lambda n: _middle_distance(plain[n], accent), default=None)
        whole = "" if best is None else unicodedata.normalize("NFC", plain[best].char + _ACCENTS[accent.char])
        if best is None or len(whole) != 1:
            plain.insert(sum(a.left <= accent.left for a in plain), accent)
        else:
            plain[best] = plain[best]._replace(char=whole)
    return _spelt(plain, 0.15 * size)


def _middle_distance(a: Letter, b: Letter) -> float:
    return abs(a.left + a.right - b.left - b.right) / 2
