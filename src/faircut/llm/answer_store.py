"""Paid answers on disk: SQLite in WAL mode, one transaction for each answer, safe for two processes.

Comes in: 32-byte keys and what the server said. Goes out: the same, or nothing for what is not there or is damaged.
What a key is made of is left to ``wire.py``; prompts are not stored. A file that is not ours is never touched.
"""

import json
import sqlite3
import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

from faircut.errors import FaircutWarning, StoreError
from faircut.llm.contract import Usage

__all__ = ["AnswerStore", "Reply"]

_FORMAT = 1
_APPLICATION_ID = int.from_bytes(b"fcan")
_MAGIC = b"SQLite format 3\0"
_KEYS_A_QUERY = 500  # SQLite's oldest limit on parameters is 999
_WAIT_SECONDS = 60.0
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_READ_ONLY = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server said once, before anything is made of it; untrusted."""

    text: str
    finish: str
    usage: Usage


class AnswerStore:
    """Replies under keys in one file, opened at the first use.

    A damaged file of ours is kept under another name, with a warning, and begun again. What was paid for must not be
    lost, so a file that cannot be written is an error, not a warning; reading goes on where only writing is refused.

    Args:
        path: the file; its folder is made.
        owned: the place is ours by its name, so that even a file damaged beyond recognition is.

    Raises:
        StoreError: from every method: a folder, a file that is not ours, or the disk refuses.
    """

    def __init__(self, path: Path, *, owned: bool = False) -> None:
        self._path, self._owned = path, owned
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def read(self, keys: Sequence[bytes]) -> dict[bytes, Reply]:
        """The replies that are there; none, and no file, where nothing was ever written."""
        if not self._path.exists():
            return {}
        found: dict[bytes, Reply] = {}
        for start in range(0, len(keys), _KEYS_A_QUERY):
            some = keys[start : start + _KEYS_A_QUERY]
            rows = self._run(lambda connection, some=some: _select(connection, some))  # type: ignore[misc]
            for key, payload, check in rows:
                reply = _unpacked(payload) if isinstance(payload, bytes) and check == _check(payload) else None
                if reply is not None:
                    found[key] = reply
        return found

    def write(self, key: bytes, reply: Reply) -> None:
        """Keep a reply; on return it is on the disk."""
        payload = _packed(reply)
        self._run(lambda connection: _insert(connection, (key, payload, _check(payload))))

    def check_writable(self) -> None:
        """Fail now rather than after a paid call."""
        self._run(_touch)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            self._disconnect()

    def _run(self, action: Callable[[sqlite3.Connection], T]) -> T:
        with self._lock:
            try:
                return action(self._open())
            except sqlite3.DatabaseError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _DAMAGED:
                    raise self._refused(error) from error
                self._move_aside(str(error))
            except OSError as error:
                raise self._refused(error) from error
            try:
                return action(self._open())
            except (sqlite3.DatabaseError, OSError) as error:
                raise self._refused(error) from error

    def _refused(self, error: Exception) -> StoreError:
        return StoreError(
            f"the answers {self._path} cannot be read or written ({error}); free some space, make it writable or name "
            "another file: an answer that cannot be kept would have to be paid for again."
        )

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._check_is_ours()
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                self._path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False
            )
            try:
                _prepare(self._connection)
            except sqlite3.DatabaseError as error:
                self._disconnect()
                if error.sqlite_errorcode & 0xFF not in _READ_ONLY:
                    raise
                self._connection = _open_to_read(self._path)
        return self._connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _check_is_ours(self) -> None:
        if not self._path.exists():
            return
        if not self._path.is_file():
            raise StoreError(f"{self._path}: a folder or device, not a file; name a file for the answers.")
        with self._path.open("rb") as file:
            head = file.read(100)
        ours = head.startswith(_MAGIC) and head[68:72] == _APPLICATION_ID.to_bytes(4)
        if head and not self._owned and not ours:
            raise StoreError(f"{self._path}: not a file of answers of faircut; name another file, or delete this one.")

    def _move_aside(self, reason: str) -> None:
        self._disconnect()
        target = _unused(self._path)
        self._path.replace(target)
        for ending in ("-wal", "-shm"):
            Path(f"{self._path}{ending}").unlink(missing_ok=True)
        warnings.warn(
            f"the answers {self._path} are damaged ({reason}); the file was moved to {target.name} and begun again.",
            FaircutWarning,
            stacklevel=2,
        )


def _prepare(connection: sqlite3.Connection) -> None:
    """Make the table in a new file; a file of another format is treated as damaged, so that it is kept."""
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if found not in (0, _FORMAT):
        error = sqlite3.DatabaseError(f"format {found}, expected {_FORMAT}")
        error.sqlite_errorcode = sqlite3.SQLITE_NOTADB
        raise error
    connection.execute("PRAGMA synchronous = FULL")  # an answer was paid for: it survives a power cut as well
    if found == 0:
        connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, reply BLOB, hash BLOB)")
        connection.execute(f"PRAGMA user_version = {_FORMAT}")
        connection.execute("COMMIT")


def _open_to_read(path: Path) -> sqlite3.Connection:
    """A file in a folder that cannot be written, where the log of WAL mode cannot be made."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True, check_same_thread=False)


def _select(connection: sqlite3.Connection, keys: Sequence[bytes]) -> list[tuple[bytes, bytes, bytes]]:
    marks = ",".join("?" * len(keys))
    query = f"SELECT key, reply, hash FROM answers WHERE key IN ({marks})"  # noqa: S608  # only question marks
    return connection.execute(query, keys).fetchall()


def _insert(connection: sqlite3.Connection, row: tuple[bytes, bytes, bytes]) -> None:
    connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", row)


def _touch(connection: sqlite3.Connection) -> None:
    """Take the lock of a writer and write the format again."""
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA user_version = {_FORMAT}")
    connection.execute("COMMIT")


def _packed(reply: Reply) -> bytes:
    usage = reply.usage
    parts = [reply.text, reply.finish, usage.prompt, usage.completion, usage.estimated]
    return json.dumps(parts).encode("ascii")


def _unpacked(payload: bytes) -> Reply | None:
    try:
        text, finish, prompt, completion, estimated = json.loads(payload)
        return Reply(str(text), str(finish), Usage(int(prompt), int(completion), bool(estimated)))
    except (ValueError, TypeError):
        return None


def _check(payload: bytes) -> bytes:
    return blake2b(payload, digest_size=8).digest()


def _unused(path: Path) -> Path:
    number = 1
    while (target := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    return target
