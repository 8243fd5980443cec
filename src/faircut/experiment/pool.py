"""Worker processes for a job: sources of documents in, events out (a piece of records, a document done or failed).

A worker that crashes or takes too long is a failed document, and another worker takes its place. The order of the
documents and what is kept of them is left to ``job.py``.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any, Literal

from faircut import errors
from faircut.documents.sources import Source
from faircut.errors import ChunkingError, FaircutError
from faircut.experiment.worker import Frame, read_frame, source_frame, write_frame

__all__ = ["Event", "Pool", "cores"]

_START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from faircut.experiment.worker import main; main()"
_START_SECONDS = 600.0  # loading a large model from a slow disk
_LONGEST_WAIT = 60.0  # then it looks at the clock again: a limit may be larger than a lock can wait
_TAIL_BYTES = 2000  # of what a worker said on stderr before it died
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS", "POLARS_MAX_THREADS")


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to the document ``number``: a ``piece`` of its records, all ``done``, ``failed`` for a reason."""

    kind: Literal["piece", "done", "failed"]
    number: int
    piece: bytes = b""
    document: str = ""
    chunks: int = 0
    reason: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(eq=False)
class _Worker:
    """A process, the document that it is at, and when its time is over."""

    process: "subprocess.Popen[bytes]"
    number: int | None = None
    is_ready: bool = False
    deadline: float = 0.0
    tail: bytes = b""
    threads: list[threading.Thread] = field(default_factory=list)

    def listen(self, frames: "queue.Queue[tuple[_Worker, Frame | None]]") -> None:
        assert self.process.stdout  # noqa: S101  # both are pipes
        assert self.process.stderr  # noqa: S101
        for target, *arguments in ((self._receive, self.process.stdout, frames), (self._note, self.process.stderr)):
            thread = threading.Thread(target=target, args=arguments, daemon=True)
            thread.start()
            self.threads.append(thread)

    def _receive(self, file: IO[bytes], frames: "queue.Queue[tuple[_Worker, Frame | None]]") -> None:
        with suppress(OSError, ValueError):  # closed under our hands
            while frame := read_frame(file):
                frames.put((self, frame))
            file.close()
        frames.put((self, None))

    def _note(self, file: IO[bytes]) -> None:
        with suppress(OSError, ValueError):
            while block := file.read1(4096):  # type: ignore[attr-defined]  # a buffered pipe has it
                self.tail = (self.tail + block)[-_TAIL_BYTES:]
            file.close()

    def kill(self) -> None:
        """End it with what it may have started, and wait until it is gone."""
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        if self.process.stdin:
            with suppress(OSError):  # what it did not read any more
                self.process.stdin.close()

    def last_words(self) -> str:
        """How it ended, in words; to be called when its output is at an end."""
        code = self.process.wait()
        self.threads[-1].join(1.0)
        said = self.tail.decode("utf-8", "replace").strip().splitlines()
        detail = f": {said[-1][:200]}" if said else ""
        if code >= 0:
            return f"ended with code {code}{detail}"
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        return f"was killed ({name}), perhaps for want of memory" if name == "SIGKILL" else f"crashed ({name}){detail}"


class Pool:
    """At most ``size`` workers, started as they are needed, each busy with one document at a time.

    Args:
        hello: the specs of ``chunker`` and ``embedder``.
        size: the largest number of processes; the cores are shared out among them.
        timeout: seconds that one document may take.
    """

    def __init__(self, hello: dict[str, str], *, size: int, timeout: float) -> None:
        self._hello = hello
        self._size = size
        self._timeout = timeout
        self._workers: list[_Worker] = []
        self._frames: queue.Queue[tuple[_Worker, Frame | None]] = queue.Queue(maxsize=2 * size)

    @property
    def busy(self) -> int:
        """Documents that are being cut."""
        return sum(worker.number is not None for worker in self._workers)

    @property
    def has_room(self) -> bool:
        """Whether another document can be given."""
        return self.busy < self._size

    def give(self, number: int, source: Source, digest: str) -> None:
        """Let a free worker cut this document. Call only with ``has_room``."""
        worker = next((w for w in self._workers if w.number is None), None) or self._started()
        worker.number = number
        worker.deadline = time.monotonic() + (self._timeout if worker.is_ready else _START_SECONDS)
        self._send(worker, source_frame(source, digest))

    def next(self) -> Event:
        """Wait for the next event. Call only with ``busy``.

        Raises:
            FaircutError: what a worker said of the specs (an extra or weights not installed).
            ChunkingError: workers cannot be started here.
        """
        while True:
            first = min((w for w in self._workers if w.number is not None), key=lambda w: w.deadline)
            wait = first.deadline - _now()
            if wait <= 0:
                return self._late(first)
            with suppress(queue.Empty):
                worker, frame = self._frames.get(timeout=min(wait, _LONGEST_WAIT))
                if worker in self._workers and (event := self._event(worker, frame)):
                    return event

    def close(self) -> None:
        """End all workers, whatever they are at."""
        for worker in self._workers:
            worker.kill()
        self._workers.clear()

    def _started(self) -> _Worker:
        share = str(max(1, cores() // self._size))
        process = subprocess.Popen(  # noqa: S603  # this interpreter with our own module
            [sys.executable, "-c", _START, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict.fromkeys(_THREADS, share) | os.environ,
            start_new_session=True,  # Ctrl-C is for the job, which then ends its workers
        )
        worker = _Worker(process)
        self._workers.append(worker)
        worker.listen(self._frames)
        self._send(worker, (dict(self._hello), b""))
        return worker

    def _send(self, worker: _Worker, frame: Frame) -> None:
        assert worker.process.stdin  # noqa: S101  # a pipe
        with suppress(OSError):  # it died; its output says so
            write_frame(worker.process.stdin, *frame)

    def _event(self, worker: _Worker, frame: Frame | None) -> Event | None:
        """What a frame means; None for a frame about the worker alone."""
        if frame is None:
            return self._dead(worker)
        header, payload = frame
        if header["is"] == "ready":
            worker.is_ready = True
            worker.deadline = _now() + self._timeout
            return None
        if header["is"] == "refused":
            raise _error(header["error"], header["said"])
        number = worker.number
        assert number is not None  # noqa: S101  # frames come only while it is busy
        if header["is"] == "piece":
            return Event("piece", number, payload)
        worker.number = None
        facts = {key: header[key] for key in ("document", "chunks", "reason") if key in header}
        return Event(header["is"], number, warnings=tuple(header["warnings"]), **facts)

    def _dead(self, worker: _Worker) -> Event | None:
        number, words = worker.number, worker.last_words()
        self._workers.remove(worker)
        worker.kill()
        if not worker.is_ready:
            raise ChunkingError(f"a worker process cannot be started: it {words}.")
        return None if number is None else Event("failed", number, reason=f"the process that read it {words}.")

    def _late(self, worker: _Worker) -> Event:
        number = worker.number
        assert number is not None  # noqa: S101  # only busy workers are late
        self._workers.remove(worker)
        worker.kill()
        if not worker.is_ready:
            raise ChunkingError(f"a worker process was not ready after {_START_SECONDS:g} seconds.")
        reason = f"took longer than {self._timeout:g} seconds and was stopped; --timeout sets the limit."
        return Event("failed", number, reason=reason)


def _now() -> float:
    return time.monotonic()


def _error(name: str, said: str) -> FaircutError:
    """The error that a worker raised, as its own class where a sentence is all that it takes."""
    kind: Any = getattr(errors, name, FaircutError) if name in errors.__all__ else FaircutError
    return kind(said) if issubclass(kind, FaircutError) and kind is not errors.CorpusError else FaircutError(said)
