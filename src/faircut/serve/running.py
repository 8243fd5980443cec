"""A server that runs: settings in; it listens until Ctrl-C. What it answers is left to ``app.py``."""

import os
import socket
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from faircut.errors import FaircutError
from faircut.serve.app import Settings, application
from faircut.serve.limits import Limits

if TYPE_CHECKING:
    import asyncio

    import uvicorn

__all__ = ["address_of", "bound", "server_of"]

_LAST_SECONDS = 2  # for answers that are under way when it is stopped, or when a connection is closed


def bound(settings: Settings) -> tuple[socket.socket, Settings]:
    """A socket at the host and port of the settings, and the settings with the port that it got (0 asks for any).

    Raises:
        FaircutError: the port is taken, or the host is none of this machine; says what to do.
    """
    try:
        found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise FaircutError(f"--host {settings.host}: no such host; 127.0.0.1 is this computer alone.") from error
    family, kind, protocol, _, place = found[0]
    server = socket.socket(family, kind, protocol)
    try:
        if os.name != "nt":  # there it would share a port that is taken
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(place)
        server.listen(128)
    except OSError as error:
        server.close()
        raise FaircutError(
            f"cannot listen at {settings.host}:{settings.port}: {error.strerror or error}; "
            "is another faircut running? --port takes another one, 0 any that is free."
        ) from error
    return server, replace(settings, port=server.getsockname()[1])


def address_of(settings: Settings) -> str:
    """What to type into a browser on this computer."""
    host = settings.host
    if host in ("0.0.0.0", "::", ""):  # noqa: S104  # only compared with
        host = "127.0.0.1"
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.port}/"


def server_of(settings: Settings, started: Callable[[], None] | None = None) -> "uvicorn.Server":
    """The server of an application; ``run(sockets=[...])`` serves until it is stopped."""
    import uvicorn

    config = uvicorn.Config(
        application(settings),
        http=_patient(settings.limits),
        ws="none",
        lifespan="on",
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=settings.limits.connections,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=_LAST_SECONDS,
    )
    server = uvicorn.Server(config)
    if started:
        begin = server.startup

        async def startup(sockets: "list[socket.socket] | None" = None) -> None:
            await begin(sockets)
            started()

        server.startup = startup  # type: ignore[method-assign]
    return server


_TOO_MANY = (
    b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 2\r\nconnection: close\r\ncontent-length: 0\r\n"
    b"x-content-type-options: nosniff\r\n\r\n"
)


def _patient(limits: Limits) -> "type[asyncio.Protocol]":
    """HTTP over h11, where connections that ask nothing are closed: after a while, and when others need the room.

    The first one to go is the one that asked nothing for the longest time. Where all of one address are being answered
    a further one from there is refused.
    """
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Patient(H11Protocol):
        silent_since = 0.0

        @property
        def is_silent(self) -> bool:
            """Whether nothing is being asked or answered."""
            return not self.transport.is_closing() and (not self.cycle or self.cycle.response_complete)

        def connection_made(self, transport: "asyncio.Transport") -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._fall_silent()
            every = [other for other in self.connections if isinstance(other, Patient) and other is not self]
            here = [other for other in every if other.client and self.client and other.client[0] == self.client[0]]
            if len(here) >= limits.connections_each and not _close_one(here):
                transport.write(_TOO_MANY)
                transport.close()
            elif len(every) >= limits.connections - 1:  # with this one the limit, from which on nobody is answered
                _close_one(every)

        def on_response_complete(self) -> None:
            self._fall_silent()
            super().on_response_complete()

        def _fall_silent(self) -> None:
            """Also behind an answer: the beginning of a next request would else hold the connection for ever."""
            now = self.silent_since = self.loop.time()
            self.loop.call_later(limits.silent_seconds, self._close_if_silent, now)

        def _close_if_silent(self, since: float) -> None:
            if self.is_silent and self.silent_since == since:
                self.end()

        def end(self) -> None:
            """Close it when the last answer is sent, and at any rate soon."""
            self.transport.close()
            self.loop.call_later(_LAST_SECONDS, self.transport.abort)

    def _close_one(connections: list[Patient]) -> bool:
        silent = [one for one in connections if one.is_silent]
        if silent:
            min(silent, key=lambda one: one.silent_since).end()
        return bool(silent)

    return Patient
