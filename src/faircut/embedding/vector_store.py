"""A file of vectors under keys: SQLite in WAL mode, safe for two processes, mended or left aside when it is damaged.

Comes in: 16-byte keys, rows of (key, tokens, vector bytes). Goes out: the rows that are there. What a key is made of
and what to do without a vector is left to ``cache.py``. A file that is not recognised as ours is never touched.
"""

import sqlite3
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from faircut.errors import FaircutWarning, StoreError

__all__ = ["Row", "VectorStore", "check_is_ours"]

_FORMAT = 1
_APPLICATION_ID = int.from_bytes(b"fcut")  # in the header of every cache of ours
_MAGIC = b"SQLite format 3\0"
_COLUMNS = "(key BLOB NOT NULL UNIQUE, tokens INTEGER NOT NULL, vector BLOB NOT NULL)"
_PAGE_BYTES = 16_384  # ten vectors of 384 dimensions to a page
_KEYS_A_QUERY = 500  # SQLite's oldest limit on parameters is 999
_WAIT_SECONDS = 60.0
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

T = TypeVar("T")


class Row(NamedTuple):
    """One remembered vector; ``vector`` is little-endian float32."""

    key: bytes
    tokens: int
    vector: bytes


def check_is_ours(path: Path, *, owned: bool = False) -> None:
    """Look at the first bytes of what lies at ``path``; nothing is opened for writing or changed.

    What is not there, is empty or cannot be read passes: using it will show.

    Args:
        path: where the vectors are or will be.
        owned: the place is ours by its name, so that even a file damaged beyond recognition is.

    Raises:
        StoreError: a folder, a device, or a file that is no cache of vectors.
    """
    try:
        if not path.exists():
            return
        if not path.is_file():
            raise StoreError(f"{path}: a folder or device, not a file; name a file for the cache of vectors.")
        with path.open("rb") as file:
            head = file.read(_PAGE_BYTES)
    except OSError:
        return
    if head and not owned and not _is_ours(head):
        raise StoreError(f"{path}: not a cache of vectors of faircut; name another file, or delete this one.")


def _is_ours(head: bytes) -> bool:
    """By the application id in the header, or by the table, for files from before there was an id."""
    marked = head[68:72] == _APPLICATION_ID.to_bytes(4)
    return head.startswith(_MAGIC) and (marked or f"TABLE vectors {_COLUMNS}".encode() in head)


class VectorStore:
    """Rows under keys in one file, opened at the first use.

    A damaged file of ours is moved aside with a warning and begun again. When the file cannot be opened, read or
    written (no permission, full disk), one warning is given and it behaves as an empty one. ``owned``: see
    ``check_is_ours``.

    Raises:
        StoreError: at the first use, a folder or a file that is not ours; it is left as it is.
    """

    def __init__(self, path: Path, *, owned: bool = False) -> None:
        self._path = path
        self._owned = owned
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._inode = 0
        self._prepared = False
        self._reading = self._writing = True
        self._finalizer: Callable[[], object] = lambda: None

    def read(self, keys: Sequence[bytes]) -> Iterator[list[Row]]:
        """The rows that exist among the keys, in lists of at most 500, in no order."""
        for start in range(0, len(keys), _KEYS_A_QUERY):
            some = keys[start : start + _KEYS_A_QUERY]
            if not self._reading:
                return
            with self._lock:
                rows = self._try(lambda connection, some=some: _select(connection, some))  # type: ignore[misc]
            if rows:
                yield rows

    def write(self, rows: Sequence[tuple[bytes, int, bytes]]) -> None:
        """Store rows in one transaction: all of them or none."""
        if not (rows and self._writing):
            return
        with self._lock:
            self._try(lambda connection: _insert(connection, rows))

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            self._disconnect()

    def _try(self, action: Callable[[sqlite3.Connection], T]) -> T | None:
        for _ in range(2):
            try:
                return action(self._open())
            except (sqlite3.DatabaseError, OSError) as error:
                if isinstance(error, sqlite3.ProgrammingError):
                    raise  # a mistake of ours, not of the file
                code = getattr(error, "sqlite_errorcode", 0) & 0xFF
                if code not in _DAMAGED:
                    self._give_up(error, code)
                    return None
                if not self._move_aside(str(error)):
                    return None
        return None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            check_is_ours(self._path, owned=self._owned)
            self._path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(
                self._path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._connection = connection
            self._finalizer = weakref.finalize(self, connection.close)
            self._inode = self._path.stat().st_ino
            _prepare(connection)
            self._prepared = True
        return self._connection

    def _disconnect(self) -> None:
        self._finalizer()
        self._connection = None
        self._prepared = False

    def _give_up(self, error: Exception, code: int) -> None:
        """Go on without the file: without writing when it can still be read, else without it at all."""
        self._writing = False
        can_read = self._prepared and code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR)
        if not can_read:
            self._reading = False
            self._disconnect()
        _warn(
            f"the cache of vectors {self._path} cannot be {'written' if can_read else 'used'} ({error}); "
            "going on without it."
        )

    def _move_aside(self, reason: str) -> bool:
        """Rename a damaged file, unless another process has put a new one in its place meanwhile."""
        ours = self._inode
        self._disconnect()
        try:
            if self._path.stat().st_ino != ours:
                return True
            target = _unused(self._path)
            self._path.replace(target)
            for ending in ("-wal", "-shm"):
                Path(f"{self._path}{ending}").unlink(missing_ok=True)
        except OSError as error:
            self._give_up(error, 0)
            return False
        _warn(
            f"the cache of vectors {self._path} is damaged ({reason}); it was moved to {target.name} and begun again."
        )
        return True


def _prepare(connection: sqlite3.Connection) -> None:
    """Make the table in a new file; refuse one of another format as if it were damaged."""
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if found not in (0, _FORMAT):
        error = sqlite3.DatabaseError(f"format {found}, expected {_FORMAT}")
        error.sqlite_errorcode = sqlite3.SQLITE_NOTADB
        raise error
    connection.execute("PRAGMA synchronous = NORMAL")  # in WAL mode a killed process loses nothing that was committed
    if found == 0:
        connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
        # Before the log of WAL mode is used: a process that is killed leaves the mark in the file itself.
        connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"CREATE TABLE IF NOT EXISTS vectors {_COLUMNS}")
        connection.execute(f"PRAGMA user_version = {_FORMAT}")
        connection.execute("COMMIT")


def _select(connection: sqlite3.Connection, keys: Sequence[bytes]) -> list[Row]:
    marks = ",".join("?" * len(keys))
    query = f"SELECT key, tokens, vector FROM vectors WHERE key IN ({marks})"  # noqa: S608  # only question marks
    return [Row(*row) for row in connection.execute(query, keys)]


def _insert(connection: sqlite3.Connection, rows: Sequence[tuple[bytes, int, bytes]]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:  # only after an error or Ctrl-C: the lock must not stay
            connection.execute("ROLLBACK")


def _unused(path: Path) -> Path:
    number = 1
    while (target := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    return target


def _warn(message: str) -> None:
    warnings.warn(message, FaircutWarning, stacklevel=2)
