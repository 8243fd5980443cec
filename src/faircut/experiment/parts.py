"""The chunks of each document under a key, in one SQLite file: what a job has finished is there for the next one.

Comes in: pieces of compressed JSON lines as workers make them. Goes out: the lines of a finished document, in order. A
document counts as finished by one row that is written last, so a killed job leaves nothing half-done. What a key is
made of is left to ``job.py``.
"""

import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from faircut.errors import StoreError
from faircut.files import ADVICE, store_errors

__all__ = ["Part", "PartStore", "compressed", "open_parts"]

_FORMAT = 1
_FILE = "parts.sqlite"
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_TABLES = (
    "CREATE TABLE IF NOT EXISTS parts (key TEXT PRIMARY KEY, facts TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS pieces (key TEXT NOT NULL, number INTEGER NOT NULL, lines BLOB NOT NULL)",
    "CREATE INDEX IF NOT EXISTS by_key ON pieces (key, number)",
    "DELETE FROM pieces WHERE key NOT IN (SELECT key FROM parts)",  # of documents that a killed job was cutting
)


def compressed(lines: bytes) -> bytes:
    """A piece as it is kept. zlib's fastest level: a fifth of the size, faster than any chunker."""
    return zlib.compress(lines, 1)


@dataclass(frozen=True, slots=True)
class Part:
    """What is known of a finished document: its id, how many chunks, and the warnings that reading it gave."""

    document: str
    chunks: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class PartStore:
    """The finished documents of a job. ``place`` is named in errors."""

    connection: sqlite3.Connection
    place: str

    def find(self, key: str) -> Part | None:
        """What is known of a document, None where it is not finished."""
        with _errors(self.place, "read"):
            row = self.connection.execute("SELECT facts FROM parts WHERE key = ?", (key,)).fetchone()
        part = None if row is None else _part_of(row[0])
        if row is not None and part is None:
            self.drop(key)  # its pieces too: it is cut again under the same key
        return part

    def add_piece(self, key: str, number: int, piece: bytes) -> None:
        """Keep a piece of a document that is not finished; whole lines, see ``compressed``."""
        with _errors(self.place, "write"):
            self.connection.execute("INSERT INTO pieces VALUES (?, ?, ?)", (key, number, piece))

    def finish(self, key: str, part: Part) -> None:
        """The document is finished: from here on a killed process does not lose it."""
        facts = json.dumps([part.document, part.chunks, part.warnings])
        with _errors(self.place, "write"):
            self.connection.execute("INSERT OR REPLACE INTO parts VALUES (?, ?)", (key, facts))
            self.connection.commit()

    def drop(self, key: str) -> None:
        """Forget a document, finished or not."""
        with _errors(self.place, "write"):
            self.connection.execute("DELETE FROM parts WHERE key = ?", (key,))
            self.connection.execute("DELETE FROM pieces WHERE key = ?", (key,))
            self.connection.commit()

    def lines(self, key: str) -> Iterator[bytes]:
        """The records of a document as JSON lines, some whole lines at a time.

        Raises:
            StoreError: a disk fault changed or lost some of them.
        """
        with _errors(self.place, "read"):
            rows = self.connection.execute("SELECT rowid FROM pieces WHERE key = ? ORDER BY number", (key,)).fetchall()
        records = 0
        for (row,) in rows:
            with _errors(self.place, "read"):
                found = self.connection.execute("SELECT lines FROM pieces WHERE rowid = ?", (row,)).fetchone()
            try:
                lines = zlib.decompress(found[0])
            except (zlib.error, TypeError) as error:
                raise _damaged(self.place, "a piece cannot be unpacked") from error
            records += lines.count(b"\n")
            yield lines
        part = self.find(key)
        if part is None or part.chunks != records:
            raise _damaged(self.place, "records are missing")

    def keep_only(self, keys: Iterable[str]) -> None:
        """Forget all documents but these."""
        with _errors(self.place, "write"):
            self.connection.execute("CREATE TEMP TABLE kept (key TEXT PRIMARY KEY)")
            self.connection.executemany("INSERT OR IGNORE INTO kept VALUES (?)", ((key,) for key in keys))
            for table in ("pieces", "parts"):
                self.connection.execute(f"DELETE FROM {table} WHERE key NOT IN (SELECT key FROM kept)")  # noqa: S608
            self.connection.commit()

    def is_empty(self) -> bool:
        """Whether no document is finished."""
        with _errors(self.place, "read"):
            return self.connection.execute("SELECT 1 FROM parts LIMIT 1").fetchone() is None


@contextmanager
def open_parts(folder: Path | None, *, fresh: bool = False) -> Iterator[PartStore]:
    """The finished documents kept in a folder, or a store that is gone afterwards. Only one process may have it open.

    A folder in which nothing was finished is removed again. A damaged file of ours is begun anew.

    Args:
        folder: where they are kept, made if need be; None for nowhere.
        fresh: forget what an earlier job finished.

    Raises:
        StoreError: the disk is full or read-only, another job is writing there, the folder is not ours.
    """
    place = str(folder or "the temporary folder")
    store = PartStore(_opened(folder, place, fresh=fresh), place)
    try:
        yield store
    finally:
        unused = _is_unused(store)
        store.connection.close()
        if folder is not None and unused:
            _remove_folder(folder)


def _opened(folder: Path | None, place: str, *, fresh: bool) -> sqlite3.Connection:
    if folder is None:
        return _connected("", place)  # SQLite's own temporary file: on disk when it is large, gone when it is closed
    _check_is_ours(folder)
    with store_errors(folder, "create"):
        folder.mkdir(parents=True, exist_ok=True)
    if fresh:
        _remove_file(folder)
    is_new = not (folder / _FILE).exists()
    try:
        return _connected(str(folder / _FILE), place)
    except StoreError:
        if is_new:
            _remove_folder(folder)
        raise


def _check_is_ours(folder: Path) -> None:
    """Refuse a folder in which others keep their files."""
    if not os.path.lexists(folder):
        return
    if not folder.is_dir():
        raise StoreError(f"{folder}: a file, but finished documents are kept in a folder of this name; move it away.")
    with store_errors(folder, "read"):
        strangers = sorted(name for name in os.listdir(folder) if not name.startswith(_FILE))
    if strangers:
        raise StoreError(f"{folder}: not a folder of faircut, it holds {strangers[0]!r}; name another --out.")


def _connected(path: str, place: str) -> sqlite3.Connection:
    try:
        return _connect(path, place)
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _DAMAGED or not path:
            raise _refused(place, "write", error) from error
    _remove_file(Path(path).parent)
    with _errors(place, "write"):
        return _connect(path, place)


def _connect(path: str, place: str) -> sqlite3.Connection:
    # Not bound to this thread: the library that writes Parquet asks for records from one of its own.
    connection = sqlite3.connect(path, timeout=0.0, check_same_thread=False)
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")  # a killed process loses nothing that was committed
        found = connection.execute("PRAGMA user_version").fetchone()[0]
        if found not in (0, _FORMAT):
            raise StoreError(f"{place}: of another version of faircut; delete it or use --fresh.")
        for statement in (*_TABLES, f"PRAGMA user_version = {_FORMAT}"):
            connection.execute(statement)
        connection.commit()
    except (sqlite3.Error, StoreError):
        connection.close()
        raise
    return connection


def _is_unused(store: PartStore) -> bool:
    try:
        return store.is_empty()
    except StoreError:
        return False


def _remove_file(folder: Path) -> None:
    for ending in ("", "-wal", "-shm", "-journal"):
        with store_errors(folder, "remove its files"):
            (folder / f"{_FILE}{ending}").unlink(missing_ok=True)


def _remove_folder(folder: Path) -> None:
    """Remove a folder in which nothing was finished; it stays where the system does not let us."""
    with suppress(OSError, StoreError):
        _remove_file(folder)
        folder.rmdir()


@contextmanager
def _errors(place: str, doing: str) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise _refused(place, doing, error) from error


def _refused(place: str, doing: str, error: sqlite3.Error) -> StoreError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreError(f"{place}: another job is writing here; wait for it or name another --out.")
    if code in (*_DAMAGED, sqlite3.SQLITE_ERROR):  # the second: the tables are not ours
        return _damaged(place, error)
    return StoreError(f"{place}: cannot {doing}: {error}; {ADVICE}.")


def _damaged(place: str, how: object) -> StoreError:
    return StoreError(f"{place}: damaged ({how}); use --fresh to begin anew.")


def _part_of(facts: str) -> Part | None:
    """What was written of a finished document; None where a disk fault changed it, so that it is cut again."""
    try:
        document, chunks, warned = json.loads(facts)
        return Part(str(document), int(chunks), tuple(map(str, warned)))
    except (ValueError, TypeError):
        return None
