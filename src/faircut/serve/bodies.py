"""What comes with a request: bytes in, up to a limit; values of the right kind out. Too much is refused, never held."""

import json
from collections.abc import AsyncIterator
from typing import IO, Any

from anyio import fail_after
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

__all__ = ["check_keys", "json_object", "read_into", "size_words"]

_PAUSE_SECONDS = 20.0  # between two pieces of a body


async def json_object(request: Request, limit: int) -> dict[str, Any]:
    """The JSON object in the body.

    Raises:
        HTTPException: 415 not JSON by its type, 413 larger than ``limit`` bytes, 400 not an object.
    """
    _check_type(request, "application/json")
    raw = b"".join([part async for part in _bounded(request, limit)])
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise HTTPException(400, "the request is not a JSON object.")
    return value


def check_keys(asked: dict[str, Any], *known: str) -> None:
    """Refuse what is not understood: what is ignored may have been meant.

    Raises:
        HTTPException: 400 another key is in the request.
    """
    unknown = sorted(set(asked) - set(known))
    if unknown:
        raise HTTPException(400, f"the request holds {unknown[0]!r}. Possible: {', '.join(known)}.")


async def read_into(file: IO[bytes], request: Request, limit: int) -> None:
    """Write the body to a file, piece by piece.

    Raises:
        HTTPException: 415 not plain bytes by its type, 413 larger than ``limit`` bytes, 400 empty.
    """
    _check_type(request, "application/octet-stream")
    size = 0
    async for part in _bounded(request, limit):
        size += file.write(part)
    if not size:
        raise HTTPException(400, "the file is empty.")


def _check_type(request: Request, wanted: str) -> None:
    found = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if found != wanted:
        raise HTTPException(415, f"the request must be {wanted}.")


async def _bounded(request: Request, limit: int) -> AsyncIterator[bytes]:
    """The body in pieces. What it says of its size is believed only when that is too large."""
    said = request.headers.get("content-length", "0")
    if not said.isascii() or not said.isdigit() or int(said[:20]) > limit:
        raise _too_large(limit)
    size, pieces = 0, aiter(request.stream())
    while (part := await _next(pieces)) is not None:
        size += len(part)
        if size > limit:
            raise _too_large(limit)
        yield part


async def _next(pieces: AsyncIterator[bytes]) -> bytes | None:
    """The next piece, None after the last. Who stops in the middle does not hold a connection for ever."""
    try:
        with fail_after(_PAUSE_SECONDS):
            return await anext(pieces, None)
    except ClientDisconnect:
        raise HTTPException(400, "the connection ended before all had come.") from None
    except TimeoutError:
        said = f"nothing more of this came for {_PAUSE_SECONDS:g} seconds; send it again."
        raise HTTPException(408, said, {"connection": "close"}) from None


def _too_large(limit: int) -> HTTPException:
    return HTTPException(
        413, f"this is larger than {size_words(limit)}, the most that is taken here.", {"connection": "close"}
    )


def size_words(size: int) -> str:
    """A size for people: 20 MB."""
    for unit, scale in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= scale:
            return f"{size / scale:g} {unit}"
    return f"{size} bytes"
