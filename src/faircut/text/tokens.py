"""Exact token counts of a model's tokenizer: a ``tokenizer.json`` comes in, counts of texts and of their spans go out.

Truncation and padding are off, special tokens and prefixes are left to the embedder. ``[UNK]`` counts by its
characters. Tokenizers of the BERT family get the fast path of ``wordpiece.py``; all others are asked, span by
span (``encoding.py``).
"""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from faircut.errors import EmbeddingError
from faircut.text.contract import TokenCounter
from faircut.text.encoding import EncodingCounter
from faircut.text.units import CharacterCounter, WordCounter, cumulative
from faircut.text.wordpiece import WordPieceCounter, is_bert

__all__ = ["CharacterCounter", "WordCounter", "cumulative", "load_tokenizer"]


def load_tokenizer(path: Path, *, name: str = "") -> TokenCounter:
    """The counter of a Hugging Face ``tokenizer.json``, without the truncation and padding it was saved with.

    Args:
        path: the file.
        name: how the tokenizer is called in cache keys, before the hash of its file; its kind when empty.

    Raises:
        EmbeddingError: the file is missing or is not a tokenizer.
    """
    try:
        raw = Path(path).read_bytes()
        described = json.loads(raw)
        described["truncation"] = described["padding"] = None
        tokenizer = Tokenizer.from_str(json.dumps(described))
    except OSError as error:
        raise EmbeddingError(f"cannot read the tokenizer {path}: {error.strerror}.") from error
    except Exception as error:  # the tokenizers library raises a bare Exception for what it cannot parse
        raise EmbeddingError(f"{path} is not a tokenizer.json: {error}.") from error
    full_name = f"{name or described['model']['type'].lower()}-{sha256(raw).hexdigest()[:12]}"
    encoding = EncodingCounter(full_name, tokenizer, _unknown_id(described, tokenizer))
    return WordPieceCounter(encoding, described) if is_bert(described) else encoding


def _unknown_id(described: dict[str, Any], tokenizer: Tokenizer) -> int | None:
    model = described["model"]
    if model["type"] == "Unigram":
        found: int | None = model.get("unk_id")
        return found
    return tokenizer.token_to_id(model["unk_token"]) if model.get("unk_token") else None
