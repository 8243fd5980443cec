"""Models of the fastembed library (ONNX, an extra). Texts in, unit vectors ``(n, d)`` out.

The prefixes of known models are left to ``prefixes.py``, remembering vectors to ``cache.py``. The library fetches a
model when it is first used, and not at all where a folder is named.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from faircut.embedding.batches import BATCH_TOKENS, embed_in_batches
from faircut.embedding.checks import checked_texts, unit_rows
from faircut.embedding.contract import Progress, Role, Vectors
from faircut.embedding.own_tokenizer import counter_of, untruncated
from faircut.embedding.prefixes import stated_prefix
from faircut.embedding.weights import file_hash
from faircut.errors import EmbeddingError, SpecError
from faircut.specs import spec_text
from faircut.text.contract import TokenCounter

__all__ = ["FastEmbed"]

_PROBE = ("one two three four five", "six seven eight nine ten", "red green blue black white")


@dataclass(frozen=True)
class FastEmbed:
    """Any text model of fastembed by its name (extra fastembed), on onnxruntime, with its own prefixes.

    Args:
        model: a name that the library knows, such as ``BAAI/bge-small-en-v1.5``; it is fetched on first use.
        folder: where the model's files are; then nothing is fetched.
        query_prefix: in front of questions; by default the known prefix of the model's family, else none.
        passage_prefix: the same for chunks.
        sentence_prefix: the same for sentences that are compared with each other.
    """

    model: str
    folder: str | None = None
    query_prefix: str | None = None
    passage_prefix: str | None = None
    sentence_prefix: str | None = None

    name: ClassVar[str] = "fastembed"
    __str__ = spec_text

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise SpecError("embedder 'fastembed' needs a model, for example fastembed(\"BAAI/bge-small-en-v1.5\").")

    @property
    def dimensions(self) -> int:
        """The ``d`` of the vectors. Loads the model."""
        return self._loaded.dimensions

    @property
    def fingerprint(self) -> str:
        """The model's name, a hash of its files, and the limit."""
        return f"fastembed-{self.model}-{self._loaded.hash}-max{self.max_tokens}"

    @property
    def tokenizer(self) -> TokenCounter:
        """The model's own tokenizer, untruncated."""
        return counter_of(self._loaded.tokenizer.to_str(), self.model)

    @property
    def max_tokens(self) -> int:
        """The longest input in tokens, special tokens and prefix included. Loads the model."""
        return self._loaded.max_tokens

    def prefix(self, role: Role) -> str:
        """As given, else as known for the model's family, else ""."""
        return stated_prefix(self, role) or ""

    def overhead(self, role: Role) -> int:
        """Special tokens and the tokens of the prefix."""
        special = int(self._loaded.tokenizer.num_special_tokens_to_add(False))
        return special + self.tokenizer.count(self.prefix(role))

    def embed(self, texts: Sequence[str], role: Role, *, progress: Progress | None = None) -> Vectors:
        """Vectors ``(len(texts), d)``, in batches of equal token length, so that nothing is padded.

        Raises:
            TypeError: ``texts`` is not a sequence of strings.
            EmbeddingError: the extra or the model is missing, the model failed or gave a vector that is not finite.
        """
        listed = checked_texts(texts)  # before a model is loaded
        return embed_in_batches(listed, self._loaded, self.prefix(role), name=str(self), progress=progress)

    @property
    def _loaded(self) -> "_Loaded":
        return _load(self.model, self.folder)


@dataclass(frozen=True, eq=False)
class _Loaded:
    """A model in memory with what has to be known of it."""

    model: Any
    tokenizer: Any
    max_tokens: int
    hash: str
    batch_tokens: int

    @property
    def dimensions(self) -> int:
        return int(self.model.embedding_size)

    def encode(self, texts: list[str]) -> Vectors:
        """Unit vectors of texts of equal length."""
        return _encode(self.model, texts)


def _encode(model: Any, texts: Sequence[str]) -> Vectors:
    try:
        raw = np.stack(list(model.embed(list(texts), batch_size=len(texts))))
    except (RuntimeError, ValueError) as error:
        raise EmbeddingError(f"fastembed failed on {len(texts)} texts: {error}.") from error
    return unit_rows(np.asarray(raw, dtype=np.float64))


@cache
def _load(name: str, folder: str | None) -> _Loaded:
    try:
        from fastembed import TextEmbedding
    except ImportError as error:
        raise EmbeddingError('this embedder needs an extra; run: pip install "faircut[fastembed]"') from error
    if folder is not None and not Path(folder).expanduser().is_dir():
        raise EmbeddingError(f"fastembed: {folder!r} is no folder with the files of a model.")
    where = {} if folder is None else {"specific_model_path": str(Path(folder).expanduser())}
    try:
        model = TextEmbedding(name, threads=1, providers=["CPUExecutionProvider"], **where)
        own = model.model.tokenizer
        files = sorted(path for path in Path(model.model._model_dir).rglob("*") if path.is_file())
        limit = int(own.truncation["max_length"])
    except Exception as error:  # the hub, the file system and onnxruntime raise classes of many libraries here
        reason = str(error).strip().split("\n")[0]
        raise EmbeddingError(f"fastembed cannot load {name!r}: {reason}") from error
    digest = sha256(own.to_str().encode() + "".join(map(file_hash, files)).encode()).hexdigest()[:16]
    return _Loaded(model, untruncated(own), limit, digest, BATCH_TOKENS if _rows_are_independent(model) else 0)


def _rows_are_independent(model: Any) -> bool:
    """Whether texts have the same bits alone and together; dynamic int8 makes them depend on each other."""
    alone = np.concatenate([_encode(model, [text]) for text in _PROBE])
    return np.array_equal(alone, _encode(model, _PROBE))
