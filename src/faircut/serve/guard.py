"""Who may ask: requests in, those from other pages and other hosts refused; the headers that every answer carries.

A page of another origin must not use the explorer (origin check), not be it under a name of its own (DNS rebinding: the
host check), not frame it and not read it. How much may be sent is left to ``bodies.py``.
"""

import ipaddress
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["PAGE_POLICY", "REPORT_POLICY", "Guard", "allowed_hosts"]

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""Own scripts and styles as files; nothing inline, nothing from elsewhere."""

REPORT_POLICY = "sandbox allow-scripts allow-downloads allow-modals; base-uri 'none'; frame-ancestors 'none'"
"""A report has its own policy inside; as a sandbox it has no part in the explorer's origin."""

_SAFE = ("GET", "HEAD")
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}


@dataclass(frozen=True)
class Hosts:
    """The names in the Host header that are us: some by name, or any address where all are listened at."""

    names: frozenset[str]
    port: int
    any_address: bool = False

    def fits(self, host: str) -> bool:
        """Whether a Host header is ours. A name that only resolves to us is not: it may be anybody's."""
        name, separator, port = host.rpartition(":")
        if not separator or port != str(self.port):
            name, port = (host, "80") if self.port == 80 else ("", "")
        name = name.lower()
        return name in self.names or (self.any_address and _is_address(name))


def allowed_hosts(host: str, port: int) -> Hosts:
    """The Host headers to answer to when listening on a host."""
    names = {"127.0.0.1", "localhost", "[::1]"}
    if not _is_address(host):
        return Hosts(frozenset(names | {host.lower()}), port)
    address = ipaddress.ip_address(host)
    own = f"[{host.lower()}]" if address.version == 6 else host
    everywhere = address.is_unspecified
    return Hosts(frozenset(names | ({socket.gethostname().lower()} if everywhere else {own})), port, everywhere)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Guard:
    """In front of the application: refuses, and adds the headers."""

    app: ASGIApp
    hosts: Hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As of every ASGI application."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                _add_headers(message)
            await send(message)

        refusal = self._refusal(scope, Headers(scope=scope))
        await (refusal or self.app)(scope, receive, sending)

    def _refusal(self, scope: Mapping[str, Any], headers: Headers) -> JSONResponse | None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self.hosts.fits(hosts[0]):
            return _refused(421, "this server does not answer to that host name; open the address that it printed.")
        site = headers.get("sec-fetch-site", "same-origin")
        if scope["method"] in _SAFE:
            opened = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")
            inside = site in ("same-origin", "none") or opened
            return None if inside else _refused(403, "what other pages ask for inside of them is refused.")
        if site != "same-origin":
            return _refused(403, "requests from other sites are refused.")
        if headers.getlist("origin") != [f"http://{hosts[0]}"]:
            return _refused(403, "requests from other origins, or without one, are refused.")
        return None


def _refused(status: int, said: str) -> JSONResponse:
    return JSONResponse({"error": said}, status, {"connection": "close"})  # whatever body follows is not read


def _add_headers(message: Message) -> None:
    headers = MutableHeaders(scope=message)
    for name, value in _HEADERS.items():
        headers.setdefault(name, value)
    headers.setdefault("content-security-policy", PAGE_POLICY)
