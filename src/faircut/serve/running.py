"""A server that runs: settings in; it listens until Ctrl-C. What it answers is left to ``app.py``."""

import os
import socket
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from faircut.errors import FaircutError
from faircut.serve.app import Settings, application

if TYPE_CHECKING:
    import asyncio

    import uvicorn

__all__ = ["address_of", "bound", "server_of"]

_CONNECTIONS = 200
_HEAD_SECONDS = 20.0  # until a new connection has sent the head of its first request
_LAST_SECONDS = 2  # for answers that are under way when it is stopped


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
        http=_patient(),
        ws="none",
        lifespan="on",
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=_CONNECTIONS,
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


def _patient() -> "type[asyncio.Protocol]":
    """HTTP over h11, where a connection that asks nothing is closed: the server has a bounded number of them."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Patient(H11Protocol):
        def connection_made(self, transport: "asyncio.Transport") -> None:  # type: ignore[override]
            super().connection_made(transport)
            self.loop.call_later(_HEAD_SECONDS, self._close_if_silent)

        def _close_if_silent(self) -> None:
            if not self.cycle and not self.transport.is_closing():
                self.transport.close()

    return Patient
