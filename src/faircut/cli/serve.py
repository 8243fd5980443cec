"""``faircut serve``: a local explorer of documents, chunkers and runs, in the browser. Its work is in ``serve/``."""

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from faircut.cli.console import complain, path_from
from faircut.report.safe import printable

if TYPE_CHECKING:
    from faircut.documents.sources import Source

__all__ = ["serve"]

INTERRUPTED = 130
"""The exit code after Ctrl-C, as of every command."""

_UNITS = {"kb": 10**3, "mb": 10**6, "gb": 10**9}
_LARGEST = 10**9


def _size_from(text: str) -> int:
    """Bytes of a size such as 20MB."""
    value = str(text).strip().lower()
    number, unit = value.rstrip("kmgb"), value[len(value.rstrip("kmgb")) :]
    if not (number.isascii() and number.isdigit()) or len(number) > 12 or unit not in ("", *_UNITS):
        raise typer.BadParameter(f"expected a size such as 20MB, found {text!r}.")
    size = int(number) * _UNITS.get(unit, 1)
    if not 1 <= size <= _LARGEST:
        raise typer.BadParameter(f"the size lies between 1 and 1GB, found {text!r}.")
    return size


def serve(
    path: Annotated[
        str,
        typer.Argument(
            metavar="[PATH]", help="Documents to choose from: a file, a folder, a glob or corpus.jsonl[.gz]."
        ),
    ] = "",
    runs: Annotated[
        Path, typer.Option("--runs", parser=path_from, metavar="FOLDER", help="Where finished runs are [runs].")
    ] = Path("runs"),
    port: Annotated[int, typer.Option("--port", "-p", min=0, max=65535, help="0 takes any that is free.")] = 8765,
    host: Annotated[
        str, typer.Option("--host", help="Where to listen; anything but 127.0.0.1 lets others in, without a password.")
    ] = "127.0.0.1",
    max_size: Annotated[
        int, typer.Option("--max-size", parser=_size_from, metavar="SIZE", help="The largest upload [20MB].")
    ] = 20_000_000,
    timeout: Annotated[
        float, typer.Option("--timeout", min=1, max=3600, help="Seconds that reading, cutting or asking may take.")
    ] = 120.0,
    workers: Annotated[int, typer.Option("--workers", "-w", min=1, max=16, help="Processes that read and cut.")] = 2,
    keep: Annotated[
        Path | None,
        typer.Option(
            "--keep", parser=path_from, metavar="FOLDER", help="Keep what is uploaded or pasted; else nothing is."
        ),
    ] = None,
    browser: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Explore documents, cuts and runs in the browser."""
    shared, kept = _shared(path), _kept(keep, path)
    from faircut.serve.app import Settings
    from faircut.serve.limits import Limits
    from faircut.serve.running import address_of, bound

    limits = Limits(upload_bytes=max_size, seconds=timeout, workers=workers)
    settings = Settings(host, port, shared, runs, kept, limits)
    listening, settings = bound(settings)
    address = address_of(settings)
    _warn_open(host)
    with listening:
        _run(settings, listening, lambda: _say(address, browser))


def _shared(path: str) -> "Sequence[Source]":
    """The documents of a path, found but not yet read."""
    if not path:
        return ()
    from faircut.documents.reading import empty_corpus, list_sources

    found = list(list_sources(path))
    if not found:
        raise empty_corpus(path)
    return found


def _kept(keep: Path | None, path: str) -> Path | None:
    """The folder in which uploads are kept, made if need be."""
    if keep is None:
        return None
    from faircut.cli.console import check_outside
    from faircut.errors import PlanError
    from faircut.files import store_errors

    if keep.exists() and not keep.is_dir():
        raise PlanError(f"--keep is a folder, found the file {keep}.")
    check_outside(keep, path, "--keep")
    with store_errors(keep, "make the folder"):
        keep.mkdir(parents=True, exist_ok=True)
    return keep


def _warn_open(host: str) -> None:
    if host not in ("127.0.0.1", "localhost", "::1"):
        complain(
            f"warning: listening at {host}: whoever reaches this computer over the network can use the explorer, "
            "without a password; see --host."
        )


def _run(settings: Any, listening: Any, started: Callable[[], None]) -> None:
    from faircut.errors import FaircutError
    from faircut.serve.running import server_of

    server = server_of(settings, started)
    with suppress(KeyboardInterrupt):  # sent again by the server when it has closed what it had open
        server.run(sockets=[listening])
    if not server.started:
        raise FaircutError("the explorer could not start here.")
    complain("stopped." if settings.keep else "stopped; nothing was kept.")
    raise typer.Exit(INTERRUPTED)


def _say(address: str, browser: bool) -> None:
    typer.echo(f"Explorer: {printable(address)}  (Ctrl-C stops it)")
    if sys.stdout is not None:
        sys.stdout.flush()
    if browser:
        import webbrowser

        webbrowser.open(address)
