"""The application put together: addresses, the guard in front, one place where errors become answers.

An error is a sentence, as JSON or as a page; a traceback never leaves the process.
"""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from faircut.documents.sources import Source
from faircut.errors import FaircutError
from faircut.report.safe import printable
from faircut.serve.guard import Guard, allowed_hosts
from faircut.serve.handlers import Explorer
from faircut.serve.limits import Limits
from faircut.serve.opening import Opening
from faircut.serve.pages import asset_response, page
from faircut.serve.runs import Runs
from faircut.serve.sessions import Sessions
from faircut.serve.workers import BusyError, Workers

__all__ = ["Settings", "application"]


@dataclass(frozen=True)
class Settings:
    """What a server is started with.

    Attributes:
        host, port: where it listens, which says what Host headers it answers to.
        shared: documents that every user may open.
        runs: the folder of finished runs.
        keep: a folder in which uploads are kept; None keeps nothing.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    shared: Sequence[Source] = ()
    runs: Path | None = None
    keep: Path | None = None
    limits: Limits = field(default_factory=Limits)


def application(settings: Settings) -> Guard:
    """The explorer as an ASGI application; its processes and its private folder live as long as its lifespan."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        with TemporaryDirectory(prefix="faircut-serve-", ignore_cleanup_errors=True) as scratch:
            workers, sessions = Workers(settings.limits), Sessions(settings.limits)
            opening = Opening(settings.limits, workers, sessions, Path(scratch), settings.keep)
            app.state.explorer = Explorer(
                settings.limits, workers, sessions, opening, Runs(settings.runs), settings.shared,
                f"faircut-{settings.port}",
            )  # fmt: skip
            workers.warm()
            try:
                yield
            finally:
                await workers.close()

    inner = Starlette(
        routes=_routes(),
        exception_handlers={HTTPException: _told, BusyError: _busy, FaircutError: _said, Exception: _unexpected},  # type: ignore[dict-item]
        lifespan=lifespan,
    )
    return Guard(inner, allowed_hosts(settings.host, settings.port))


def _routes() -> list[Route]:
    table = (
        ("GET", "/", "start"),
        ("GET", "/runs", "run_list"),
        ("GET", "/report", "report"),
        ("POST", "/documents", "upload"),
        ("POST", "/texts", "paste"),
        ("POST", "/shared", "choose"),
        ("GET", "/documents/{key}", "document"),
        ("DELETE", "/documents/{key}", "forget"),
        ("GET", "/documents/{key}/text", "text"),
        ("POST", "/documents/{key}/cut", "cut"),
        ("POST", "/documents/{key}/ask", "ask"),
    )
    methods: dict[str, dict[str, str]] = {}
    for method, address, name in table:
        methods.setdefault(address, {})[method] = name
    routes = [Route(address, _handler(names), methods=list(names)) for address, names in methods.items()]
    return [*routes, Route("/static/{name}", asset_response, methods=["GET"])]


def _handler(names: Mapping[str, str]) -> Callable[[Request], Awaitable[Response]]:
    """Calls the method of the explorer that answers to the request's method."""

    async def handle(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        answer: Response = await getattr(request.app.state.explorer, names[method])(request)
        return answer

    return handle


# ---------------------------------------------------------------- errors


def _told(request: Request, error: HTTPException) -> Response:
    said = error.detail
    if said == HTTPStatus(error.status_code).phrase:  # no sentence of ours
        said = {404: "there is no such page here.", 405: f"this address does not take {request.method}."}.get(
            error.status_code, said
        )
    return _answer(request, error.status_code, said, dict(error.headers or {}))


def _said(request: Request, error: FaircutError) -> Response:
    return _answer(request, 422, str(error), {})


_LATER = {"retry-after": "2"}


def _busy(request: Request, error: BusyError) -> Response:
    if error.is_own:
        return _answer(request, 429, "you asked for much that is not done yet; try again in a moment.", _LATER)
    return _answer(request, 503, "too much is waiting to be done already; try again in a moment.", _LATER)


def _unexpected(request: Request, error: Exception) -> Response:
    with suppress(OSError, AttributeError):
        sys.stderr.write(f"faircut: {printable(f'unexpected {type(error).__name__}: {error}')[:300]}\n")
    return _answer(request, 500, "something went wrong here; the terminal of faircut says what.", {})


def _answer(request: Request, status: int, said: str, headers: dict[str, str]) -> Response:
    if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
        response: Response = page("serve_problem.html", {"title": "faircut", "said": said, "status": status}, status)
    else:
        response = JSONResponse({"error": said}, status)
    response.headers.update(headers)
    return response
