"""Pages that are pictures -> their text by OCR, where RapidOCR is installed (extra ``ocr``, models in its wheel).

What becomes of a page without text when it is not installed is decided by the reader.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from statistics import median
from typing import TYPE_CHECKING, Any

from faircut.documents.pdf_page import Line

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

__all__ = ["ocr_available", "ocr_runs"]

_SCALE = 2.0  # 144 dots an inch
_MAX_PIXELS = 25_000_000


def ocr_available() -> bool:
    """Whether RapidOCR can be imported."""
    return find_spec("rapidocr") is not None or find_spec("rapidocr_onnxruntime") is not None


@cache
def _engine() -> Callable[[Any], Any]:
    if find_spec("rapidocr") is not None:
        from rapidocr import RapidOCR
    else:
        from rapidocr_onnxruntime import RapidOCR
    logging.getLogger("RapidOCR").setLevel(logging.ERROR)  # it tells its progress on the terminal
    engine: Callable[[Any], Any] = RapidOCR()
    logging.getLogger("RapidOCR").setLevel(logging.ERROR)
    return engine


def ocr_runs(page: "PdfPage") -> list[Line]:
    """The lines that OCR finds on the rendered page, in points."""
    width, height = page.get_size()
    scale = min(_SCALE, (_MAX_PIXELS / max(width * height, 1.0)) ** 0.5)
    found = _engine()(page.render(scale=scale).to_numpy())
    lines = [_line(box, text, scale) for box, text in _pairs(found) if text.strip()]
    usual = median(a.size for a in lines) if lines else 0.0
    # The height of a box depends on its letters: what is not clearly larger or smaller is of one size.
    return [replace(a, size=usual) if 0.7 < a.size / usual < 1.45 else a for a in lines]


def _pairs(found: Any) -> list[tuple[Any, str]]:
    """Boxes of four corners with their text, from either generation of the library."""
    if isinstance(found, tuple):
        return [(item[0], item[1]) for item in found[0] or ()]
    if found.boxes is None:
        return []
    return list(zip(found.boxes, found.txts, strict=True))


def _line(box: Any, text: str, scale: float) -> Line:
    xs, ys = [float(p[0]) / scale for p in box], [float(p[1]) / scale for p in box]
    # OCR boxes have a margin; the size is estimated from their height.
    return Line(text.strip(), min(xs), min(ys), max(xs), max(ys), 0.75 * (max(ys) - min(ys)))
