"""Where one document of a corpus is: a file, or a line of ``corpus.jsonl``; small enough to be sent to another process.

Listing the sources and reading them is left to ``reading.py``.
"""

from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from faircut.errors import DocumentError

__all__ = ["Source", "content_digest"]


@dataclass(frozen=True, slots=True)
class Source:
    """A file with the ``id`` that its document will have, or a ``line`` of a corpus with its own id in it.

    ``place`` names it in errors (``folder/a.pdf``, ``corpus.jsonl:7``). ``problem`` says why there is nothing to read.
    """

    place: str
    path: Path
    id: str = ""
    line: bytes | None = None
    problem: str = ""


def content_digest(source: Source) -> str:
    """32 hexadecimal digits of the bytes of the file or line; two sources with the same bytes have the same digits.

    Raises:
        DocumentError: the file cannot be read.
    """
    if source.line is not None:
        return blake2b(source.line, digest_size=16).hexdigest()
    digest = blake2b(digest_size=16)
    try:
        with source.path.open("rb") as file:
            while block := file.read(2**20):
                digest.update(block)
    except OSError as error:
        raise DocumentError(
            f"{source.place}: cannot be read: {error.strerror or error}; check that it is there and may be read."
        ) from error
    return digest.hexdigest()
