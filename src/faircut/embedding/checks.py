"""What every embedder checks: texts on their way in, vectors on their way out, and what to say of over-long text.

Comes in: what a caller or a model hands over. Goes out: the same, safe to use, or a typed error. No model is known
here.
"""

import re
import warnings
from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from faircut.errors import EmbeddingError, FaircutWarning
from faircut.text.percent import percent

__all__ = ["OverlongWarning", "checked_texts", "checked_vectors", "encodable", "report_overlong", "unit_rows"]

_SURROGATE = re.compile("[\ud800-\udfff]")


class OverlongWarning(FaircutWarning):
    """Some texts were longer than the model can see. One warning a call, with counts."""


def checked_texts(texts: Sequence[str]) -> list[str]:
    """The texts as a list.

    Raises:
        TypeError: it is one string, or something in it is not a string.
    """
    if isinstance(texts, (str, bytes)):
        raise TypeError(f"embed takes a list of texts, found one {type(texts).__name__}; put it in a list.")
    listed = list(texts)
    for place, text in enumerate(listed):
        if not isinstance(text, str):
            raise TypeError(f"embed takes texts, found {type(text).__name__} at place {place}.")
    return listed


def encodable(text: str) -> str:
    """The text with U+FFFD for each lone surrogate: tokenizers take UTF-8, which has none."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def unit_rows(vectors: NDArray[np.floating]) -> NDArray[np.float32]:
    """Each row of ``(n, d)`` divided by its length, in double precision; a row of zeros stays as it is."""
    wide = vectors.astype(np.float64)
    lengths = np.sqrt((wide * wide).sum(axis=1, keepdims=True))
    return cast("NDArray[np.float32]", (wide / np.maximum(lengths, 1e-30)).astype(np.float32))


def checked_vectors(vectors: NDArray[np.float32], count: int, dimensions: int, name: str) -> NDArray[np.float32]:
    """The vectors, known to be ``(count, dimensions)``, finite and of unit length.

    Raises:
        EmbeddingError: they are not; says what was found.
    """
    if vectors.shape != (count, dimensions):
        raise EmbeddingError(f"{name} gave vectors of shape {vectors.shape}, expected ({count}, {dimensions}).")
    squares = np.einsum("nd,nd->n", vectors, vectors)
    wrong = np.flatnonzero(~(np.abs(squares - 1) < 1e-3))  # nan compares false, so it counts as wrong
    if wrong.size:
        kind = "of unit length" if np.isfinite(squares[wrong[0]]) else "finite"
        raise EmbeddingError(f"{name} gave {wrong.size} of {count} vectors that are not {kind} (first: {wrong[0]}).")
    return vectors


def report_overlong(lengths: Sequence[int], max_tokens: int, name: str) -> None:
    """Warn once of the texts that are longer than ``max_tokens``.

    Args:
        lengths: tokens of each text as the model would see it uncut, special tokens and prefix included.
        max_tokens: what the model sees.
        name: the embedder.
    """
    over = [length for length in lengths if length > max_tokens]
    if not over:
        return
    lost, total = sum(over) - max_tokens * len(over), sum(lengths)
    warnings.warn(
        f"{name} sees {max_tokens} tokens of a text: {len(over)} of {len(lengths)} texts are longer (the longest "
        f"has {max(over)}), and {lost} of {total} tokens ({percent(lost / total, 1)}) were not seen.",
        OverlongWarning,
        stacklevel=3,
    )
