"""Files -> documents: ``read`` for one file, ``read_corpus`` for a folder, a glob or a native corpus."""

from faircut.documents.contract import Reader
from faircut.documents.reading import READERS, read, read_corpus

__all__ = ["READERS", "Reader", "read", "read_corpus"]
