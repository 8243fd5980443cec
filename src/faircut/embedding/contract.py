"""The seam of embedding: texts in, unit vectors out. Implementations are in the files beside this one."""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from faircut.text.contract import TokenCounter

__all__ = ["Embedder", "Progress", "Role", "Vectors"]

Role = Literal["query", "passage", "sentence"]
Vectors = NDArray[np.float32]
"""``(n, d)`` float32, each row of unit length."""

Progress = Callable[[int, int], None]
"""Called with (texts done, texts in all)."""


class Embedder(Protocol):
    """A model that turns texts into vectors. ``str(embedder)`` is its spec.

    The same text gives the same vector whatever its batch.
    """

    @property
    def dimensions(self) -> int:
        """The ``d`` of the vectors."""
        ...

    @property
    def fingerprint(self) -> str:
        """Model, hash of the weights and whatever else changes a vector, as it goes into cache keys."""
        ...

    @property
    def tokenizer(self) -> TokenCounter:
        """The model's own tokenizer, without truncation."""
        ...

    @property
    def max_tokens(self) -> int:
        """The longest input in tokens, special tokens and prefix included; what is beyond is not seen."""
        ...

    def prefix(self, role: Role) -> str:
        """What the model wants in front of a text of this role ("query: " for E5), or ""."""
        ...

    def overhead(self, role: Role) -> int:
        """Tokens of the special tokens and the prefix of this role."""
        ...

    def embed(self, texts: Sequence[str], role: Role, *, progress: Progress | None = None) -> Vectors:
        """Vectors ``(len(texts), d)``. Text beyond ``max_tokens`` is reported by a ``FaircutWarning`` with counts.

        Raises:
            EmbeddingError: the model failed or gave a vector that is not finite.
        """
        ...
