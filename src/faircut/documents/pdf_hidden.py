"""Text objects that the engine passes over because it takes them to have no width -> text that it reads.

Vertical writing in a font that is not embedded has no width in the engine's eyes, and most of such a page would be
lost without a word. Each such object is slanted by a fiftieth, in memory only; what is read then is left to others.
"""

import ctypes
from typing import TYPE_CHECKING

from faircut.documents.pdf_glyphs import is_vertical_script

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

__all__ = ["may_hide", "reveal"]

MAX_OBJECTS = 20_000
_SLANT = 0.02
_SHORT = 200  # characters; a page with fewer is looked at in any case
_NO_WIDTH = 0.011  # points; what the engine leaves out


def may_hide(text: str) -> bool:
    """Whether a page with this text may have more of it: hardly any is found, or its script is written vertically."""
    return len(text) < _SHORT or (not text.isascii() and any(map(is_vertical_script, text)))


def reveal(page: "PdfPage") -> int:
    """How many text objects without width there are; afterwards a new text page of ``page`` has their text."""
    from pypdfium2 import raw

    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    count = raw.FPDFPage_CountObjects(page.raw)
    found = 0
    for index in range(count if count <= MAX_OBJECTS else 0):
        handle = raw.FPDFPage_GetObject(page.raw, index)
        if raw.FPDFPageObj_GetType(handle) != raw.FPDF_PAGEOBJ_TEXT:
            continue
        raw.FPDFPageObj_GetBounds(handle, left, bottom, right, top)
        if right.value - left.value < _NO_WIDTH and top.value - bottom.value > 1.0:
            raw.FPDFPageObj_Transform(handle, 1, 0, _SLANT, 1, -_SLANT * bottom.value, 0)
            found += 1
    return found
