"""The processes behind the server: requests in, their frames out; a crash, a hang or a user who left ends one request.

A user is served one request at a time, so one who asks much never takes all processes. What is worked out is left to
``worker.py``.
"""

import asyncio
import itertools
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from faircut.experiment.worker import Frame
from faircut.serve.limits import Limits

__all__ = ["BusyError", "Turn", "Workers"]

_START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from faircut.serve.worker import main; main()"
_START_SECONDS = 120.0
_GRACE_SECONDS = 8.0  # for a request that nobody waits for; then its process is ended
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class BusyError(Exception):
    """Too many requests wait already; ``is_own`` when they are all of the user who asks."""

    def __init__(self, *, is_own: bool) -> None:
        super().__init__("too many requests wait already.")
        self.is_own = is_own


@dataclass(eq=False)
class Turn:
    """A user's place in the line: one request at a time, and how many wait."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: int = 0


@dataclass(eq=False)
class _Worker:
    """A process, and which documents and whose requests it had last."""

    process: asyncio.subprocess.Process
    known: list[str] = field(default_factory=list)
    last: Turn | None = None

    async def send(self, header: dict[str, Any], payload: bytes = b"") -> None:
        assert self.process.stdin  # noqa: S101  # a pipe
        raw = json.dumps(header).encode("ascii")
        with suppress(OSError):  # it died; its output says so
            self.process.stdin.write(len(raw).to_bytes(4) + len(payload).to_bytes(8) + raw + payload)
            await self.process.stdin.drain()

    async def receive(self) -> Frame | None:
        assert self.process.stdout  # noqa: S101  # a pipe
        with suppress(asyncio.IncompleteReadError):
            sizes = await self.process.stdout.readexactly(12)
            raw = await self.process.stdout.readexactly(int.from_bytes(sizes[:4]))
            return json.loads(raw), await self.process.stdout.readexactly(int.from_bytes(sizes[4:]))
        return None

    async def kill(self) -> None:
        """End it with what it may have started."""
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()
        assert self.process.stdin  # noqa: S101  # both are pipes
        assert self.process.stdout  # noqa: S101
        self.process.stdin.close()
        with suppress(OSError):
            while await self.process.stdout.read(2**16):
                pass
        await self.process.wait()


@dataclass(eq=False)
class _Request:
    header: dict[str, Any]
    payload: bytes
    turn: Turn
    seconds: float
    frames: "asyncio.Queue[Frame | None]" = field(default_factory=asyncio.Queue)
    dropped: asyncio.Event = field(default_factory=asyncio.Event)


class Workers:
    """At most ``limits.workers`` processes, started as they are needed. Belongs to one event loop."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._free: list[_Worker] = []
        self._room = asyncio.Semaphore(limits.workers)
        self._numbers = itertools.count()
        self._attending: set[asyncio.Task[None]] = set()
        self._all: set[_Worker] = set()
        self._waiting = 0

    def check_room(self, turn: Turn) -> None:
        """Refuse early what ``run`` would refuse.

        Raises:
            BusyError: too many requests wait, of all users or of this one.
        """
        if turn.waiting >= self._limits.waiting_each:
            raise BusyError(is_own=True)
        if self._waiting >= self._limits.waiting:
            raise BusyError(is_own=False)

    def warm(self) -> None:
        """Start one process and let it load the model, so that the first user need not wait for it."""
        request = _Request({"do": "warm", "number": next(self._numbers)}, b"", Turn(), self._limits.seconds)
        self._begin(request)

    async def run(self, header: dict[str, Any], payload: bytes, turn: Turn) -> AsyncGenerator[Frame, None]:
        """The frames of one request as they come; the last one ``is`` done or failed.

        Leaving the loop early drops the request.

        Raises:
            BusyError: as ``check_room``.
        """
        self.check_room(turn)
        request = _Request(header | {"number": next(self._numbers)}, payload, turn, self._limits.seconds)
        self._begin(request)
        try:
            while (frame := await request.frames.get()) is not None:
                yield frame
        finally:
            request.dropped.set()

    def _begin(self, request: _Request) -> None:
        self._waiting, request.turn.waiting = self._waiting + 1, request.turn.waiting + 1
        task = asyncio.create_task(self._attend(request))
        self._attending.add(task)
        task.add_done_callback(self._attending.discard)

    async def close(self) -> None:
        """End all processes, whatever they are at."""
        for task in list(self._attending):
            task.cancel()
        await asyncio.gather(*self._attending, return_exceptions=True)
        await asyncio.gather(*(worker.kill() for worker in self._all))
        self._all.clear()

    async def _attend(self, request: _Request) -> None:
        """Wait for the user's turn and a process, and carry its frames over."""
        try:
            async with request.turn.lock, self._room:
                if not request.dropped.is_set():
                    await self._talk(request)
        finally:
            self._waiting, request.turn.waiting = self._waiting - 1, request.turn.waiting - 1
            request.frames.put_nowait(None)

    async def _talk(self, request: _Request) -> None:
        worker = self._chosen(request.turn) or await self._started(request)
        if worker is None:
            return
        worker.last = request.turn
        digest = request.header.get("digest", "")
        known = digest in worker.known
        await worker.send(request.header, b"" if known else request.payload)
        if digest and not known:
            worker.known = [*worker.known[-1:], digest]  # fewer than it keeps
        if await self._carry(worker, request):
            self._free.append(worker)
        else:
            self._all.discard(worker)
            await worker.kill()

    def _chosen(self, turn: Turn) -> _Worker | None:
        """A free process: the one that served this user last, else the one that waits longest."""
        if not self._free:
            return None
        place = next((i for i, worker in enumerate(self._free) if worker.last is turn), 0)
        return self._free.pop(place)

    async def _started(self, request: _Request) -> _Worker | None:
        starting = asyncio.create_task(self._process())
        try:
            worker = _Worker(await asyncio.shield(starting))
        except asyncio.CancelledError:  # the server ends; no process may be left behind
            await _Worker(await starting).kill()
            raise
        self._all.add(worker)
        await worker.send(asdict(self._limits))
        try:
            ready = await asyncio.wait_for(worker.receive(), _START_SECONDS)
        except TimeoutError:
            ready = None
        if ready is not None:
            return worker
        self._all.discard(worker)
        await worker.kill()
        request.frames.put_nowait(_failed("the process that cuts documents cannot be started here."))
        return None

    async def _process(self) -> asyncio.subprocess.Process:
        share = str(max(1, (os.cpu_count() or 1) // self._limits.workers))
        return await asyncio.create_subprocess_exec(
            sys.executable, "-c", _START, json.dumps(sys.path),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=dict.fromkeys(_THREADS, share) | os.environ,
            start_new_session=True,  # Ctrl-C is for the server, which then ends its processes
        )  # fmt: skip

    async def _carry(self, worker: _Worker, request: _Request) -> bool:
        """Hand over what the process says; whether it can serve again."""
        clock = asyncio.get_running_loop().time
        end = clock() + request.seconds
        frame_task = asyncio.create_task(worker.receive())
        drop_task = asyncio.create_task(request.dropped.wait())
        waited: set[asyncio.Task[Any]] = {frame_task, drop_task}
        try:
            while True:
                done, _ = await asyncio.wait(waited, timeout=end - clock(), return_when=asyncio.FIRST_COMPLETED)
                if drop_task in done:
                    waited.discard(drop_task)
                    end = min(end, clock() + _GRACE_SECONDS)
                    await worker.send({"do": "drop", "number": request.header["number"]})
                if frame_task in done:
                    frame = frame_task.result()
                    if frame is None:
                        request.frames.put_nowait(_failed("the process that worked on this document crashed."))
                        return False
                    request.frames.put_nowait(frame)
                    if frame[0]["is"] in ("done", "failed", "dropped"):
                        return True
                    frame_task = asyncio.create_task(worker.receive())
                    waited = {frame_task, *(waited & {drop_task})}
                if not done:
                    said = f"this took longer than {request.seconds:g} seconds and was stopped."
                    request.frames.put_nowait(_failed(said))
                    return False
        finally:
            for task in (frame_task, drop_task):
                task.cancel()
            await asyncio.gather(frame_task, drop_task, return_exceptions=True)  # two may not read one pipe


def _failed(reason: str) -> Frame:
    return {"is": "failed", "reason": reason, "warnings": []}, b""
