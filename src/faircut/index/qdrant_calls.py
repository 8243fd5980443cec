"""What all uses of Qdrant's engine share: its errors, its strict thresholds, the text that it can store.

The indexes are in ``qdrant.py`` (vectors) and ``qdrant_lexical.py`` (words).
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from faircut.errors import SearchError

if TYPE_CHECKING:
    import qdrant_edge

__all__ = ["as_search_error", "below", "only_in", "restored", "storable"]


@contextmanager
def as_search_error(folder: Path) -> Iterator[None]:
    """The engine raises bare ``Exception`` for whatever goes wrong inside it."""
    try:
        yield
    except SearchError:
        raise
    except Exception as error:
        raise SearchError(f"{folder}: the vector engine failed: {error}") from error


def below(score: float) -> float:
    """The next smaller float32: the engine returns what is above its threshold, not what equals it."""
    return float(np.nextafter(np.float32(score), np.float32(-np.inf)))


def only_in(document: str | None) -> "qdrant_edge.Filter | None":
    """The condition that a point belongs to a document; none for None."""
    from qdrant_edge import FieldCondition, Filter, MatchValue

    if document is None:
        return None
    return Filter(must=[FieldCondition("document", match=MatchValue(storable(document)))])


_ESCAPED = "\x00json:"


def storable(text: str) -> str:
    """The engine stores UTF-8 only: text with lone surrogates is stored as its JSON escape."""
    if text.isascii() and not text.startswith(_ESCAPED):
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return _ESCAPED + json.dumps(text)
    return _ESCAPED + json.dumps(text) if text.startswith(_ESCAPED) else text


def restored(stored: str) -> str:
    """The text that ``storable`` was given."""
    return str(json.loads(stored.removeprefix(_ESCAPED))) if stored.startswith(_ESCAPED) else stored
