"""Files that appear whole or not at all: written beside their place, then renamed. What is in them is others' work.

A process that was killed while writing leaves a temporary file; it is removed when the same file is written again, or
by ``remove_leftovers``.
"""

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedIOBase
from pathlib import Path
from typing import IO, cast
from uuid import uuid4

from faircut.errors import StoreError

__all__ = ["is_utf8", "remove_leftovers", "store_errors", "write_atomically"]

ADVICE = "free some space, make the folder writable or name another one; earlier results are kept"
_TEMPORARY = re.compile(r"\.(?P<name>.*)\.faircut-[0-9a-f]{8}\.tmp", re.DOTALL)
_NAME_KEPT = 50  # characters: the temporary name stays within 255 bytes, whatever the script
_OLD_SECONDS = 86_400  # where the system has no file locks, a temporary file of yesterday is taken as left over


def is_utf8(text: str) -> bool:
    """Whether a text can be stored. A lone surrogate (half a character, or a byte of a file name) cannot."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


@contextmanager
def store_errors(path: Path, doing: str, advice: str = ADVICE) -> Iterator[None]:
    """Turn what the system says of a full or read-only disk into a ``StoreError`` that names the place."""
    try:
        yield
    except OSError as error:
        raise _refused(path, doing, advice, error) from error


def _refused(path: Path, doing: str, advice: str, error: OSError) -> StoreError:
    return StoreError(f"{path}: cannot {doing}: {error.strerror or error}; {advice}.")


class _Output(BufferedIOBase):
    """An open file that remembers when the disk refused, whatever the library that writes makes of it.

    Not a plain file on purpose: libraries would write to its descriptor directly, and report a full disk as an error
    of their own.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.refusal: OSError | None = None

    @contextmanager
    def noting(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.refusal = error
            raise

    def writable(self) -> bool:
        return True

    def write(self, data: "bytes | bytearray | memoryview") -> int:  # type: ignore[override]  # any buffer will do
        with self.noting():
            return self.file.write(data)

    def flush(self) -> None:
        with self.noting():
            self.file.flush()

    def tell(self) -> int:
        return self.file.tell()

    def close(self) -> None:
        """The file is closed by who opened it."""


def write_atomically(path: Path, write: Callable[[IO[bytes]], object], *, advice: str = ADVICE) -> None:
    """Let ``write`` fill a temporary file beside ``path``, then rename it: a reader sees all of it or none.

    What ``write`` raises for other reasons than this file (it may read others on its way) passes unchanged.

    Args:
        path: where the file will be; its folder is made if need be.
        write: called with the open binary file.
        advice: what to do when the disk refuses.

    Raises:
        StoreError: the disk is full or read-only; nothing half-written is left.
    """
    with store_errors(path, "write", advice):
        path.parent.mkdir(parents=True, exist_ok=True)
    _remove(_leftovers(path.parent, path.name[:_NAME_KEPT]))
    with store_errors(path, "write", advice):
        temporary, file = _open_temporary(path)
    try:
        with _closing(file):
            _fill(file, write, path, advice)
            if os.name == "posix":  # renamed while still locked, so that nobody takes it as left over
                _rename(temporary, path, advice)
        if os.name != "posix":
            _rename(temporary, path, advice)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)  # still there only after an error or Ctrl-C


def _fill(file: IO[bytes], write: Callable[[IO[bytes]], object], path: Path, advice: str) -> None:
    output = _Output(file)
    try:
        write(cast("IO[bytes]", output))
        with output.noting():
            file.flush()
            os.fsync(file.fileno())
    finally:
        if output.refusal is not None:  # said so even where the writer made another error of it, or none
            raise _refused(path, "write", advice, output.refusal) from output.refusal


def _rename(temporary: Path, path: Path, advice: str) -> None:
    with store_errors(path, "write", advice):
        temporary.replace(path)


@contextmanager
def _closing(file: IO[bytes]) -> Iterator[None]:
    """Close the file at the end; after a refused write, closing tries the rest again and is refused again."""
    try:
        yield
    finally:
        with suppress(OSError):
            file.close()


def _open_temporary(path: Path) -> tuple[Path, IO[bytes]]:
    """A new file beside ``path``, locked for as long as it is open."""
    while True:
        temporary = path.with_name(f".{path.name[:_NAME_KEPT]}.faircut-{uuid4().hex[:8]}.tmp")
        file = temporary.open("xb")
        _lock(file)
        if os.fstat(file.fileno()).st_nlink or os.name != "posix":
            return temporary, file
        file.close()  # another process removed it between opening and locking


def _lock(file: IO[bytes]) -> bool | None:
    """Lock an open file without waiting; False where another process holds it, None where there are no such locks."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return None
    return True


# ---------------------------------------------------------------- what killed processes left


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files that killed processes left in a folder and in all folders below it.

    A file that another process is writing at this moment is locked and stays. Nothing is raised: they only take space.
    """
    for place, _, _ in os.walk(folder):
        _remove(_leftovers(Path(place)))


def _leftovers(folder: Path, name: str | None = None) -> Iterator[Path]:
    """Temporary files in a folder, of one target or of all."""
    with suppress(OSError):
        for entry in os.scandir(folder):
            found = _TEMPORARY.fullmatch(entry.name)
            if found and name in (None, found["name"]) and entry.is_file(follow_symlinks=False):
                yield Path(entry.path)


def _remove(paths: Iterable[Path]) -> None:
    for path in list(paths):
        with suppress(OSError), path.open("r+b") as file:
            locked = _lock(file)
            if locked or (locked is None and time.time() - os.fstat(file.fileno()).st_mtime > _OLD_SECONDS):
                path.unlink(missing_ok=True)
