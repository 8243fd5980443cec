"""Who has which documents: users known by a random id, held in memory, forgotten when they were away long enough.

Documents are bytes here (``documents.py``); what is done with them is left to ``workers.py``.
"""

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from faircut.serve.limits import Limits
from faircut.serve.workers import Turn

__all__ = ["Held", "Session", "Sessions"]


@dataclass(frozen=True)
class Held:
    """A document that a user opened: ``raw`` is its JSON, ``key`` is random and in its address."""

    key: str
    title: str
    characters: int
    raw: bytes = field(repr=False)
    warnings: tuple[str, ...] = ()


@dataclass(eq=False)
class Session:
    """One user: documents by their keys, the latest last, and a place in the line."""

    id: str
    seen: float
    documents: "OrderedDict[str, Held]" = field(default_factory=OrderedDict)
    turn: Turn = field(default_factory=Turn)

    @property
    def bytes(self) -> int:
        """Of all documents."""
        return sum(len(held.raw) for held in self.documents.values())


class Sessions:
    """All users of one server. ``now`` is a clock in seconds."""

    def __init__(self, limits: Limits, now: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._now = now
        self._known: OrderedDict[str, Session] = OrderedDict()

    def find(self, session_id: str | None) -> Session | None:
        """The user of an id, None when there is none (any more)."""
        self._forget_idle()
        session = self._known.get(session_id or "")
        if session:
            session.seen = self._now()
            self._known.move_to_end(session.id)
        return session

    def create(self) -> Session:
        """A new user; the one who was away longest makes room where there is none."""
        while len(self._known) >= self._limits.sessions:
            self._known.popitem(last=False)
        session = Session(secrets.token_urlsafe(24), self._now())
        self._known[session.id] = session
        return session

    def hold(self, session: Session, raw: bytes, *, title: str, characters: int, warnings: tuple[str, ...]) -> Held:
        """Remember a document of a user; the oldest ones make room."""
        held = Held(secrets.token_urlsafe(12), title, characters, raw, warnings)
        session.documents[held.key] = held
        while len(session.documents) > self._limits.documents or (
            session.bytes > self._limits.held_bytes and len(session.documents) > 1
        ):
            session.documents.popitem(last=False)
        while sum(s.bytes for s in self._known.values()) > self._limits.held_bytes and len(self._known) > 1:
            oldest = next(s for s in self._known.values() if s is not session)
            del self._known[oldest.id]
        return held

    def _forget_idle(self) -> None:
        while self._known and next(iter(self._known.values())).seen < self._now() - self._limits.idle_seconds:
            self._known.popitem(last=False)
