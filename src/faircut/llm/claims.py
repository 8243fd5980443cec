"""Who asks what: two processes with one file of answers never ask the same at the same time.

Comes in: a key. Goes out: whether this process may ask it now. The system forgets the claims of a process that is
killed. Where there are no such locks (Windows), every claim is granted and the same may be asked twice.
"""

import os
import threading
from contextlib import suppress
from pathlib import Path

__all__ = ["Claims"]

_PLACES = 1 << 40  # one byte for each claim; two keys on one byte only wait for each other


class Claims:
    """Locks of single bytes, one for each key, in a file that stays empty."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None
        self._mine: set[int] = set()
        self._lock = threading.Lock()

    def take(self, key: bytes) -> bool:
        """Claim a key; False while it is claimed elsewhere, in another thread too."""
        place = _place(key)
        with self._lock:
            if place in self._mine:
                return False
            if self._locked(place):
                self._mine.add(place)
                return True
            return False

    def give_back(self, key: bytes) -> None:
        """End a claim."""
        place = _place(key)
        with self._lock:
            self._mine.discard(place)
            if self._file is not None:
                with suppress(ImportError, OSError):
                    import fcntl

                    fcntl.lockf(self._file, fcntl.LOCK_UN, 1, place)

    def close(self) -> None:
        """End all claims."""
        with self._lock:
            if self._file is not None:
                os.close(self._file)
            self._file = None
            self._mine.clear()

    def _locked(self, place: int) -> bool:
        try:
            import fcntl

            if self._file is None:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except BlockingIOError:
            return False
        except (ImportError, OSError):
            return True  # a system without such locks: better asked twice than never
        return True


def _place(key: bytes) -> int:
    return int.from_bytes(key[:8]) % _PLACES
