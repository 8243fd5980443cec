"""The tokenizer of a model that another library has in memory.

Comes in: a ``tokenizers.Tokenizer`` as that library set it up. Goes out: a copy that neither cuts nor pads, a
``TokenCounter`` of it. Counting itself is left to ``faircut.text``.
"""

from functools import cache
from hashlib import sha256
from typing import Any

from faircut.embedding.weights import cache_directory, write_to_cache
from faircut.text.contract import TokenCounter

__all__ = ["counter_of", "untruncated"]


def untruncated(tokenizer: Any) -> Any:
    """A copy of a tokenizer that neither cuts nor pads."""
    from tokenizers import Tokenizer

    copy = Tokenizer.from_str(tokenizer.to_str())
    copy.no_truncation()
    copy.no_padding()
    return copy


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
