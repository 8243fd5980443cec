"""The explorer's pages: what they show in, HTML out. Templates and styles lie beside the report's.

Everything from outside is escaped by the templates; scripts and styles are files of their own (``asset``).
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from faircut import __version__
from faircut.report.html import asset, filled

__all__ = ["asset_response", "page"]

_KINDS = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8", "md": "text/plain; charset=utf-8"}
_ASSETS = (
    "core.js",
    "table.js",
    "lanes.js",
    "start.js",
    "explorer.js",
    "forms.js",
    "page.css",
    "explorer.css",
    "sample.md",
)


def page(template: str, context: Mapping[str, Any], status: int = 200) -> HTMLResponse:
    """A page from a template of ``report/templates``."""
    values = {"version": __version__, "parts": [], "place": ""} | dict(context)
    return HTMLResponse(filled(template, values), status)


def asset_response(request: Request) -> Response:
    """One of the known files; any other name is nothing here."""
    name = request.path_params["name"]
    if name not in _ASSETS:
        raise HTTPException(404, "no such file.")
    content = asset(name).encode()
    tag = f'"{sha256(content).hexdigest()[:16]}"'
    headers = {"cache-control": "no-cache", "etag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(None, 304, headers)
    return Response(content, 200, headers, media_type=_KINDS[name.rpartition(".")[2]])
