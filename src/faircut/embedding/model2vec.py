"""Static models of the model2vec library (an extra): a text's vector is the mean of its tokens' fixed vectors.

Comes in: texts. Goes out: unit vectors ``(n, d)``. Remembering vectors is left to ``cache.py``; the library fetches a
model by name on first use, and reads a folder as it is.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from faircut.embedding.checks import checked_texts, checked_vectors, encodable, report_overlong, unit_rows
from faircut.embedding.contract import Progress, Role, Vectors
from faircut.embedding.own_tokenizer import counter_of, untruncated
from faircut.errors import EmbeddingError, FaircutWarning, SpecError
from faircut.specs import spec_text
from faircut.text.contract import TokenCounter

__all__ = ["Model2Vec"]

_BATCH_TEXTS = 1024
_NO_LIMIT = 1_000_000  # tokens, for a model that says it has none


@dataclass(frozen=True)
class Model2Vec:
    """Any model2vec model by its name or folder (extra model2vec): static token vectors, fast, without context.

    Tulkens and van Dongen 2024 (Model2Vec). No special tokens, no prefixes.

    Args:
        model: a name such as ``minishlab/potion-base-8M`` (fetched by that library on first use) or a folder.
        max_length: the longest text that is seen, in tokens (that library's own word); the model's own by default.
    """

    model: str
    max_length: int | None = None

    name: ClassVar[str] = "model2vec"
    __str__ = spec_text

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise SpecError("embedder 'model2vec' needs a model, for example model2vec(\"minishlab/potion-base-8M\").")
        if self.max_length is not None and self.max_length < 1:
            raise SpecError(f"embedder 'model2vec': max_length is at least 1, found {self.max_length}.")

    @property
    def dimensions(self) -> int:
        """The ``d`` of the vectors. Loads the model."""
        return int(self._loaded.model.dim)

    @property
    def fingerprint(self) -> str:
        """The model's name, a hash of its vectors and tokenizer as loaded, and the limit."""
        return f"model2vec-{self.model}-{self._loaded.hash}-max{self.max_tokens}"

    @property
    def tokenizer(self) -> TokenCounter:
        """The model's own tokenizer, untruncated."""
        return counter_of(self._loaded.tokenizer.to_str(), self.model)

    @property
    def max_tokens(self) -> int:
        """The longest input in tokens. Loads the model."""
        return self.max_length or self._loaded.model.max_length or _NO_LIMIT

    def prefix(self, role: Role) -> str:  # noqa: ARG002  # the contract asks by role; these models have none
        """Always ""."""
        return ""

    def overhead(self, role: Role) -> int:  # noqa: ARG002  # the same for every role
        """Always 0: there are no special tokens."""
        return 0

    def embed(self, texts: Sequence[str], role: Role, *, progress: Progress | None = None) -> Vectors:  # noqa: ARG002
        """Vectors ``(len(texts), d)``; the role makes no difference. Equal texts are computed once.

        A text without a token that the model knows has no direction: it gets one and the same vector, with a warning.

        Raises:
            TypeError: ``texts`` is not a sequence of strings.
            EmbeddingError: the extra or the model is missing, or a vector is not finite.
        """
        listed = checked_texts(texts)
        places = {text: place for place, text in enumerate(dict.fromkeys(listed))}
        rows = np.array([places[text] for text in listed], dtype=np.intp)
        prepared = [encodable(text) for text in places]
        lengths = np.zeros(len(prepared), dtype=np.int64)
        vectors = np.empty((len(prepared), self.dimensions), dtype=np.float32)
        done, shares, empty = 0, np.bincount(rows, minlength=len(prepared)), 0
        for start in range(0, len(prepared), _BATCH_TEXTS):
            batch = slice(start, start + _BATCH_TEXTS)
            part, lengths[batch] = self._loaded.encode(prepared[batch], self.max_tokens)
            empty += _given_a_direction(part)
            vectors[batch] = checked_vectors(unit_rows(part), len(part), self.dimensions, str(self))
            done += int(shares[batch].sum())
            if progress:
                progress(done, len(listed))
        report_overlong(lengths[rows].tolist(), self.max_tokens, str(self))
        if empty:
            _warn_of_unknown(str(self), empty, len(prepared))
        return vectors.take(rows, axis=0)

    @property
    def _loaded(self) -> "_Loaded":
        return _load(self.model)


def _given_a_direction(vectors: NDArray[np.float64]) -> int:
    """How many rows are all zeros; they become the diagonal."""
    empty = ~vectors.any(axis=1)
    vectors[empty] = 1.0
    return int(empty.sum())


def _warn_of_unknown(name: str, empty: int, count: int) -> None:
    warnings.warn(
        f"{name} knows no token of {empty} of {count} texts; they all have one and the same vector.",
        FaircutWarning,
        stacklevel=3,
    )


@dataclass(frozen=True, eq=False)
class _Loaded:
    """A model in memory with its tokenizer untruncated."""

    model: Any
    tokenizer: Any
    hash: str

    def encode(self, texts: list[str], max_tokens: int) -> tuple[NDArray[np.float64], list[int]]:
        """A vector of each text, seen up to ``max_tokens``, not of unit length; and the tokens of the whole text.

        The library cuts long texts by characters first, which may lose tokens that are within the limit; so they are
        cut here, where the last token that is seen ends, and the library is told of no limit.
        """
        encodings = self.tokenizer.encode_batch(texts, add_special_tokens=False)
        seen = [
            text if len(e.ids) <= max_tokens else text[: e.offsets[max_tokens - 1][1]]
            for text, e in zip(texts, encodings, strict=True)
        ]
        raw = self.model.encode(seen, max_length=None, use_multiprocessing=False)
        return np.asarray(raw, dtype=np.float64), [len(e.ids) for e in encodings]


@cache
def _load(name: str) -> _Loaded:
    try:
        from model2vec import StaticModel
    except ImportError as error:
        raise EmbeddingError('this embedder needs an extra; run: pip install "faircut[model2vec]"') from error
    folder = Path(name).expanduser()
    try:
        model = StaticModel.from_pretrained(str(folder) if folder.is_dir() else name, force_download=False)
    except Exception as error:  # the hub, the file system and the library raise classes of many kinds here
        reason = str(error).strip().split("\n")[0]
        raise EmbeddingError(f"model2vec cannot load {name!r}: {reason}") from error
    return _Loaded(model, untruncated(model.tokenizer), _hash(model))


def _hash(model: Any) -> str:
    """Of everything that makes a vector, as loaded, wherever it came from."""
    digest = sha256(untruncated(model.tokenizer).to_str().encode())
    for part in (model.embedding, getattr(model, "weights", None), getattr(model, "token_mapping", None)):
        if part is not None:
            array = np.ascontiguousarray(part)
            digest.update(f"{array.dtype} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()[:16]
