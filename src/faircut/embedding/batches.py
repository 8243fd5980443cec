"""Texts through a model of another library that is in memory: each text once, in batches of one length, in any order.

Comes in: texts and the model. Goes out: unit vectors ``(n, d)`` in the order of the texts. The model itself is left to
its adapter (``sentence_transformers.py``, ``fastembed.py``).
"""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from faircut.embedding.checks import checked_vectors, encodable, report_overlong
from faircut.embedding.contract import Progress, Vectors

__all__ = ["BATCH_TOKENS", "InMemory", "embed_in_batches"]

BATCH_TOKENS = 4096
_TOKENIZED_TOGETHER = 1024  # a tokenizer's own objects are large


class InMemory(Protocol):
    """A model in memory."""

    @property
    def tokenizer(self) -> Any:
        """A ``tokenizers.Tokenizer`` that neither cuts nor pads."""
        ...

    @property
    def max_tokens(self) -> int:
        """What the model sees of a text, special tokens included; it cuts the rest itself."""
        ...

    @property
    def dimensions(self) -> int:
        """The ``d`` of the vectors."""
        ...

    @property
    def batch_tokens(self) -> int:
        """The most tokens of a batch of several texts; 0 where a text's vector depends on its batch."""
        ...

    def encode(self, texts: list[str]) -> Vectors:
        """Unit vectors of the texts of one batch."""
        ...


def embed_in_batches(
    texts: Sequence[str], model: InMemory, prefix: str, *, name: str, progress: Progress | None
) -> Vectors:
    """Vectors ``(len(texts), d)`` of the texts with the prefix in front. Text that the model does not see is reported.

    Raises:
        EmbeddingError: the model failed or gave a vector that is not finite.
    """
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    rows = np.array([places[text] for text in texts], dtype=np.intp)
    prepared = [encodable(prefix + text) for text in places]
    lengths = _lengths(model.tokenizer, prepared)
    report_overlong([lengths[row] for row in rows], model.max_tokens, name)
    vectors = np.empty((len(prepared), model.dimensions), dtype=np.float32)
    done, shares = 0, np.bincount(rows, minlength=len(prepared))
    for batch in _batches(lengths, model.max_tokens, model.batch_tokens):
        part = model.encode([prepared[place] for place in batch])
        vectors[batch] = checked_vectors(part, len(batch), model.dimensions, name)
        done += int(shares[batch].sum())
        if progress:
            progress(done, len(texts))
    return vectors.take(rows, axis=0)


def _lengths(tokenizer: Any, texts: Sequence[str]) -> list[int]:
    """Tokens of each text, special tokens included."""
    found: list[int] = []
    for start in range(0, len(texts), _TOKENIZED_TOGETHER):
        some = tokenizer.encode_batch_fast(texts[start : start + _TOKENIZED_TOGETHER])
        found += [len(encoding.ids) for encoding in some]
    return found


def _batches(lengths: Sequence[int], max_tokens: int, batch_tokens: int) -> Iterator[list[int]]:
    """Places of texts of one length as the model sees them, the longest first: none is padded."""
    groups: dict[int, list[int]] = {}
    for place, length in enumerate(lengths):
        groups.setdefault(min(length, max_tokens), []).append(place)
    for length in sorted(groups, reverse=True):
        places, size = groups[length], max(1, batch_tokens // max(1, length))
        yield from (places[start : start + size] for start in range(0, len(places), size))
