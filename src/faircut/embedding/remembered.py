"""Vectors remembered in memory only: an embedder in front of another one, so that nothing is embedded twice.

Unlike ``cache.py`` it leaves nothing behind; what is oldest is forgotten. It tells of its progress to whoever waits for
the vectors, and that may stop it.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from faircut.embedding.contract import Embedder, Progress, Role, Vectors
from faircut.text.contract import TokenCounter

__all__ = ["RememberedEmbedder"]

_TEXTS = 60_000  # of 384 dimensions: 90 MB
_SLICE = 64  # texts between two looks at whether the answer is still wanted


def _silent(_done: int, _total: int) -> None:
    return None


@dataclass(frozen=True)
class RememberedEmbedder:
    """The vectors of ``inner``, kept for as long as the process lives. ``tell`` is called as texts are done."""

    inner: Embedder
    tell: Progress = _silent
    _known: "OrderedDict[tuple[Role, str], Vectors]" = field(default_factory=OrderedDict, compare=False, repr=False)

    def __str__(self) -> str:
        return str(self.inner)

    @property
    def dimensions(self) -> int:
        """As of ``inner``."""
        return self.inner.dimensions

    @property
    def fingerprint(self) -> str:
        """As of ``inner``."""
        return self.inner.fingerprint

    @property
    def tokenizer(self) -> TokenCounter:
        """As of ``inner``."""
        return self.inner.tokenizer

    @property
    def max_tokens(self) -> int:
        """As of ``inner``."""
        return self.inner.max_tokens

    def prefix(self, role: Role) -> str:
        """As of ``inner``."""
        return self.inner.prefix(role)

    def overhead(self, role: Role) -> int:
        """As of ``inner``."""
        return self.inner.overhead(role)

    def embed(self, texts: Sequence[str], role: Role, *, progress: Progress | None = None) -> Vectors:  # noqa: ARG002
        """As ``Embedder.embed``; what is done stays known also when ``tell`` stops it."""
        fresh: dict[str, Vectors] = {}
        unknown = sorted({text for text in texts if (role, text) not in self._known}, key=len)
        for start in range(0, len(unknown), _SLICE):
            self.tell(start, len(unknown))
            part = unknown[start : start + _SLICE]
            for text, vector in zip(part, self.inner.embed(part, role), strict=True):
                fresh[text] = self._known[role, text] = vector.copy()  # not a view of its whole batch
        found = [fresh[text] if text in fresh else self._recalled(role, text) for text in texts]
        while len(self._known) > _TEXTS:
            self._known.popitem(last=False)
        return np.stack(found) if found else np.zeros((0, self.dimensions), dtype=np.float32)

    def _recalled(self, role: Role, text: str) -> Vectors:
        self._known.move_to_end((role, text))
        return self._known[role, text]
