"""Files that appear whole or not at all: written beside their place, then renamed. What is in them is others' work."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from uuid import uuid4

from faircut.errors import StoreError

__all__ = ["store_errors", "write_atomically"]

ADVICE = "free some space, make the folder writable or name another one; earlier results are kept"


@contextmanager
def store_errors(path: Path, doing: str, advice: str = ADVICE) -> Iterator[None]:
    """Turn what the system says of a full or read-only disk into a ``StoreError`` that names the place."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"{path}: cannot {doing}: {error.strerror or error}; {advice}.") from error


def write_atomically(path: Path, write: Callable[[IO[bytes]], object], *, advice: str = ADVICE) -> None:
    """Let ``write`` fill a temporary file beside ``path``, then rename it: a reader sees all of it or none.

    Args:
        path: where the file will be; its folder is made if need be.
        write: called with the open binary file.
        advice: what to do when the disk refuses.

    Raises:
        StoreError: the disk is full or read-only; nothing half-written is left.
    """
    temporary = path.with_name(f".{path.name}.{uuid4().hex[:8]}.tmp")
    with store_errors(path, "write", advice):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)  # still there only after an error or Ctrl-C
