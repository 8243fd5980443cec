"""The seam of reading: a file in, a document out. Each kind of file is a reader in a file beside this one.

A new kind needs one file with a ``Reader`` in it, and its name in the tuple ``READERS`` of ``reading.py``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from faircut.records import Document

__all__ = ["Reader"]


@dataclass(frozen=True, slots=True)
class Reader:
    """How one kind of file becomes a document.

    ``read(path, document_id)`` gives the document with its blocks, and raises ``DocumentError`` (empty, damaged,
    encrypted, not text) or ``OSError``. ``extensions`` are lower case with their dot.
    """

    kind: str
    extensions: tuple[str, ...]
    read: Callable[[Path, str], Document]
