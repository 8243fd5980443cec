"""What a result depends on besides its documents: the embedder and the chunker as parts of a key.

The documents' own hashes and the version of the code are left to whoever makes the key.
"""

from dataclasses import fields, is_dataclass
from typing import Any

from faircut.embedding.contract import Embedder, Role
from faircut.records import content_id

__all__ = ["chunker_ids", "embedder_id"]


def embedder_id(embedder: Embedder) -> str:
    """The model, and what it puts in front of texts: the same weights with another prefix are another embedder."""
    roles: tuple[Role, ...] = ("query", "passage", "sentence")
    prefixes = (f"{role}:{embedder.prefix(role)}:{embedder.overhead(role)}" for role in roles)
    return content_id(embedder.fingerprint, *prefixes)


def chunker_ids(chunker: Any) -> list[str]:
    """The spec, and the ``fingerprint`` of every part that has one: the code behind a user's splitter may change."""
    ids, waiting = [str(chunker)], [chunker]
    while waiting:
        part = waiting.pop()
        ids += [part.fingerprint] if hasattr(part, "fingerprint") else []
        waiting += [getattr(part, f.name) for f in fields(part)] if is_dataclass(part) else []
    return ids
