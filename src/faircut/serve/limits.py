"""How much of everything the explorer takes: a few plain numbers, in one place. Who keeps to them is elsewhere."""

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """What one server holds and does at most.

    Attributes:
        upload_bytes: of a file or a pasted text.
        characters: of a document, after reading.
        request_bytes: of a request that carries no document.
        chunkers: that cut side by side.
        cut_characters: of one request: the characters of its document times its chunkers.
        spec: characters of a spec.
        question: characters of a question.
        budget: tokens of context that a question may ask for.
        chunks: of one document by one chunker.
        seconds: that reading, cutting or asking may take.
        workers: processes that do this.
        waiting: requests that wait for one, of all users; ``waiting_each`` of one of them.
        connections: that are open; ``connections_each`` from one address.
        silent_seconds: that an open connection may ask nothing.
        sessions: users that are remembered.
        idle_seconds: after which a user is forgotten.
        documents: of one user; the oldest makes room.
        held_bytes: of all documents of all users; the users who were away longest make room.
    """

    upload_bytes: int = 20_000_000
    characters: int = 5_000_000
    request_bytes: int = 64_000
    chunkers: int = 8
    cut_characters: int = 20_000_000
    spec: int = 300
    question: int = 2_000
    budget: int = 20_000
    chunks: int = 100_000
    seconds: float = 120.0
    workers: int = 2
    waiting: int = 64
    waiting_each: int = 6
    connections: int = 200
    connections_each: int = 64
    silent_seconds: float = 20.0
    sessions: int = 64
    idle_seconds: float = 7_200.0
    documents: int = 12
    held_bytes: int = 512_000_000
