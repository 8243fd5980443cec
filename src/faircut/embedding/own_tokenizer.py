"""The tokenizer of a model that another library has in memory: its counter, and texts by their length in tokens.

Comes in: a ``tokenizers.Tokenizer`` as that library set it up. Goes out: a copy that neither cuts nor pads, a
``TokenCounter`` of it, groups of equal length. Counting itself is left to ``faircut.text``.
"""

from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from typing import Any

from faircut.embedding.weights import cache_directory, write_to_cache
from faircut.text.contract import TokenCounter

__all__ = ["by_length", "counter_of", "lengths_of", "untruncated"]

_TOKENIZED_TOGETHER = 1024  # a tokenizer's own objects are large


def untruncated(tokenizer: Any) -> Any:
    """A copy of a tokenizer that neither cuts nor pads."""
    from tokenizers import Tokenizer

    copy = Tokenizer.from_str(tokenizer.to_str())
    copy.no_truncation()
    copy.no_padding()
    return copy


def lengths_of(tokenizer: Any, texts: Sequence[str]) -> list[int]:
    """Tokens of each text, special tokens included."""
    found: list[int] = []
    for start in range(0, len(texts), _TOKENIZED_TOGETHER):
        some = tokenizer.encode_batch_fast(texts[start : start + _TOKENIZED_TOGETHER])
        found += [len(encoding.ids) for encoding in some]
    return found


def by_length(lengths: Sequence[int], max_tokens: int) -> list[tuple[int, list[int]]]:
    """Places of texts by their length as the model sees it, the longest first: none of a group is padded."""
    groups: dict[int, list[int]] = {}
    for place, length in enumerate(lengths):
        groups.setdefault(min(length, max_tokens), []).append(place)
    return sorted(groups.items(), reverse=True)


@cache
def counter_of(tokenizer_json: str, name: str) -> TokenCounter:
    """The counter of a tokenizer in memory; it is read from a file, so the file goes to the cache first.

    Raises:
        StoreError: the cache cannot be written.
    """
    from faircut.text.tokens import load_tokenizer

    data = tokenizer_json.encode()
    path = cache_directory() / "tokenizers" / f"{sha256(data).hexdigest()[:16]}.json"
    if not path.is_file() or path.read_bytes() != data:
        write_to_cache(path, data)
    return load_tokenizer(path, name=name)
