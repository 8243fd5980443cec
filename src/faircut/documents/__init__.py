"""Files -> documents: ``read`` for one file, ``read_corpus`` for a folder, a glob or a native corpus.

What other tools have read already comes in by ``from_unstructured`` and ``from_docling``.
"""

from faircut.documents.contract import Reader
from faircut.documents.docling import from_docling
from faircut.documents.reading import READERS, Unread, read, read_corpus, read_documents
from faircut.documents.unstructured import from_unstructured

__all__ = ["READERS", "Reader", "Unread", "from_docling", "from_unstructured", "read", "read_corpus", "read_documents"]
