"""Any model of the sentence-transformers library, an extra. Texts in, unit vectors ``(n, d)`` out.

The prefixes of known models are left to ``prefixes.py``, remembering vectors to ``cache.py``. Torch is imported only
when a model is used; code that comes with a model is never run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Any, ClassVar

import numpy as np

from faircut.embedding.batches import BATCH_TOKENS, embed_in_batches
from faircut.embedding.checks import checked_texts, unit_rows
from faircut.embedding.contract import Progress, Role, Vectors
from faircut.embedding.own_tokenizer import counter_of, untruncated
from faircut.embedding.prefixes import PRESETS, stated_prefix
from faircut.errors import EmbeddingError, SpecError
from faircut.specs import spec_text
from faircut.text.contract import TokenCounter

__all__ = ["PRESETS", "SentenceTransformers"]

_OWN_PROMPTS: dict[Role, tuple[str, ...]] = {
    "query": ("query",),
    "passage": ("document", "passage", "corpus"),
    "sentence": ("STS", "sentence"),
}
"""Under which names a model's own configuration may keep the prefix of a role (sentence-transformers' convention)."""


@dataclass(frozen=True)
class SentenceTransformers:
    """Any model by its id or folder (extra sentence-transformers), with the prefixes that it was trained with.

    Args:
        model: an id such as ``intfloat/e5-small-v2`` (fetched by that library on first use) or a folder.
        query_prefix: in front of questions; by default the known prefix of the model's family, else the one in the
            model's own configuration, else none.
        passage_prefix: the same for chunks.
        sentence_prefix: the same for sentences that are compared with each other.
        max_seq_length: the longest input in tokens (that library's own word); the model's own limit by default.
    """

    model: str
    query_prefix: str | None = None
    passage_prefix: str | None = None
    sentence_prefix: str | None = None
    max_seq_length: int | None = None

    name: ClassVar[str] = "st"
    __str__ = spec_text

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise SpecError("embedder 'st' needs a model, for example st(\"intfloat/e5-small-v2\").")
        if self.max_seq_length is not None and self.max_seq_length < 3:
            raise SpecError(f"embedder 'st': max_seq_length is at least 3, found {self.max_seq_length}.")

    @property
    def dimensions(self) -> int:
        """The ``d`` of the vectors. Loads the model."""
        return self._loaded.dimensions

    @property
    def fingerprint(self) -> str:
        """The model's id, a hash of its weights, structure and tokenizer as loaded, and the limit."""
        return f"st-{self.model}-{self._loaded.hash}-max{self.max_tokens}"

    @property
    def tokenizer(self) -> TokenCounter:
        """The model's own tokenizer, untruncated."""
        return counter_of(self._loaded.tokenizer.to_str(), self.model)

    @property
    def max_tokens(self) -> int:
        """The longest input in tokens, special tokens and prefix included. Loads the model."""
        return self._loaded.max_tokens

    def prefix(self, role: Role) -> str:
        """As given, else as known for the model's family, else as in the model's configuration, else ""."""
        stated = stated_prefix(self, role)
        if stated is not None:
            return stated
        prompts: dict[str, str] = getattr(self._loaded.model, "prompts", None) or {}
        return next((prompts[name] for name in _OWN_PROMPTS[role] if name in prompts), "")

    def overhead(self, role: Role) -> int:
        """Special tokens and the tokens of the prefix."""
        return self._loaded.special_tokens + self.tokenizer.count(self.prefix(role))

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
        return _load(self.model, self.max_seq_length)


@dataclass(frozen=True, eq=False)
class _Loaded:
    """A model in memory with what has to be known of it."""

    model: Any
    tokenizer: Any
    max_tokens: int
    dimensions: int
    hash: str

    @property
    def special_tokens(self) -> int:
        return int(self.tokenizer.num_special_tokens_to_add(False))

    @property
    def batch_tokens(self) -> int:
        return BATCH_TOKENS

    def encode(self, texts: list[str]) -> Vectors:
        """Unit vectors of texts of equal length. The empty prompt keeps the model's default prompt away."""
        how = {"batch_size": len(texts), "prompt": "", "convert_to_numpy": True, "show_progress_bar": False}
        try:
            raw = self.model.encode(texts, **how)
        except RuntimeError as error:  # torch's class for all that goes wrong while it runs: memory, devices, shapes
            raise EmbeddingError(f"sentence-transformers failed on {len(texts)} texts: {error}.") from error
        return unit_rows(np.asarray(raw))


@cache
def _load(model_id: str, max_seq_length: int | None) -> _Loaded:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise EmbeddingError(
            'this embedder needs an extra; run: pip install "faircut[sentence-transformers]"'
        ) from error
    try:
        # Weights are taken as safetensors where the model has them; of others torch reads only arrays (weights_only).
        model = SentenceTransformer(model_id, trust_remote_code=False)
    except Exception as error:  # the hub, the file system and torch raise classes of many libraries here
        reason = str(error).strip().split("\n")[0]
        raise EmbeddingError(f"sentence-transformers cannot load {model_id!r}: {reason}") from error
    model.float().eval()  # weights saved in half precision would give vectors that depend on the machine
    if max_seq_length is not None:
        model.max_seq_length = _within_positions(model, model_id, max_seq_length)
    tokenizer = _tokenizer(model, model_id)
    dimension = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
    return _Loaded(model, tokenizer, int(model.max_seq_length or 512), int(dimension()), _hash(model, tokenizer))


def _within_positions(model: Any, model_id: str, asked: int) -> int:
    config = getattr(getattr(model[0], "auto_model", None), "config", None)
    positions = getattr(config, "max_position_embeddings", None)
    if isinstance(positions, int) and 0 < positions < asked:
        raise EmbeddingError(f"{model_id!r} has {positions} positions; max_seq_length={asked} is more than it can see.")
    return asked


def _tokenizer(model: Any, model_id: str) -> Any:
    """A copy of the model's tokenizer that neither cuts nor pads."""
    from tokenizers import Tokenizer

    own = getattr(model.tokenizer, "backend_tokenizer", model.tokenizer)
    if not isinstance(own, Tokenizer):
        raise EmbeddingError(f"{model_id!r} has no fast tokenizer, so its tokens cannot be counted exactly.")
    return untruncated(own)


def _hash(model: Any, tokenizer: Any) -> str:
    """Of everything that makes a vector: weights, structure and tokenizer as loaded, wherever they came from."""
    digest = sha256(repr(model).encode())
    digest.update(repr(getattr(model[0], "auto_model", "")).encode())
    digest.update(tokenizer.to_str().encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).numpy().data)
    return digest.hexdigest()[:16]
