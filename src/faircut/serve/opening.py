"""Documents that come in: an upload, a pasted text or a file named at the start in; a document held for its user out.

An uploaded file lies in a private folder only while it is read. Reading itself is done by a worker.
"""

import json
import re
import secrets
import shutil
from contextlib import aclosing
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from anyio import to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request

from faircut.documents import READERS
from faircut.documents.native import NATIVE_EXTENSIONS
from faircut.documents.sources import Source
from faircut.experiment.worker import source_frame
from faircut.files import write_atomically
from faircut.report.html import visible
from faircut.report.payload import plain
from faircut.serve.bodies import check_keys, read_into
from faircut.serve.limits import Limits
from faircut.serve.sessions import Held, Session, Sessions
from faircut.serve.workers import Workers

__all__ = ["Opening", "extensions"]

_KINDS = "PDF, Word, PowerPoint, spreadsheets, HTML, Markdown, EPUB, e-mail, text and code"  # 80 endings help nobody
_NAME_LENGTH = 80
_UNFIT = re.compile(r'[\\/:*?"<>|\s]+')


def extensions() -> list[str]:
    """What file names may end in."""
    return [ending for reader in READERS for ending in reader.extensions]


@dataclass(frozen=True)
class Opening:
    """How documents are opened. ``scratch`` is a private folder, ``keep`` where a user asked to keep what comes in."""

    limits: Limits
    workers: Workers
    sessions: Sessions
    scratch: Path
    keep: Path | None

    async def upload(self, request: Request, session: Session) -> Held:
        """The document in the body of a request, under the name that its address gives."""
        name = _fit_name(request.query_params.get("name", ""))
        _check_kind(name)
        folder = self.scratch / secrets.token_hex(8)
        folder.mkdir(mode=0o700)
        try:
            path = folder / name
            with path.open("wb") as file:
                await read_into(file, request, self.limits.upload_bytes)
            if self.keep:
                await to_thread.run_sync(_kept, self.keep, path)
            return await self._read(Source(name, path, name), session, hide=str(folder))
        finally:
            await to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))

    async def paste(self, asked: dict[str, Any], session: Session) -> Held:
        """The document that is a pasted text, as Markdown or as plain text."""
        check_keys(asked, "text", "kind")
        text, kind = asked.get("text"), asked.get("kind", "text/markdown")
        if not isinstance(text, str) or kind not in ("text/plain", "text/markdown"):
            raise HTTPException(400, "the request needs a text, plain or Markdown.")
        if not text.strip():
            raise HTTPException(400, "the text is empty; paste some, or drop a file.")
        record = {"id": _first_words(text), "text": text, "media_type": kind}
        try:
            line = json.dumps(record, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise HTTPException(400, "the text has half characters (lone surrogates); paste it again.") from None
        source = Source("the pasted text", Path("pasted.txt"), "", line)
        if self.keep:
            ending = ".md" if kind == "text/markdown" else ".txt"
            await to_thread.run_sync(_kept_bytes, self.keep, f"pasted{ending}", text.encode())
        return await self._read(source, session)

    async def shared(self, source: Source, session: Session) -> Held:
        """A document of those that were named when the explorer was started."""
        return await self._read(source, session)

    async def _read(self, source: Source, session: Session, *, hide: str = "") -> Held:
        header, payload = source_frame(source, "")
        header = header | {"do": "read", "hide": hide}
        del header["digest"]
        found: tuple[dict[str, Any], bytes] | None = None
        async with aclosing(self.workers.run(header, payload, session.turn)) as frames:
            async for said, raw in frames:
                if said["is"] == "document":
                    found = said, raw
                elif said["is"] == "done" and found:
                    facts, content = found
                    return self.sessions.hold(
                        session, content, title=plain(facts["title"]), characters=facts["characters"],
                        warnings=tuple(said["warnings"]),
                    )  # fmt: skip
                elif said["is"] == "failed":
                    raise HTTPException(422, said["reason"])
        raise HTTPException(503, "the document could not be read; try again.")


def _fit_name(name: str) -> str:
    """A file name that any system can hold: the last part of what was given, without what could mean a place."""
    last = _UNFIT.sub(" ", visible(re.split(r"[\\/]", name)[-1])).strip(" .")
    stem, dot, ending = last.rpartition(".")
    short = f"{stem[:_NAME_LENGTH]}{dot}{ending[:12]}" if dot else last[:_NAME_LENGTH]
    kept = short.encode("utf-8", "replace").decode()
    return kept if kept.strip(". ") else "document.txt"


def _check_kind(name: str) -> None:
    lower = name.lower()
    if lower.endswith(NATIVE_EXTENSIONS):
        raise HTTPException(
            422, f"{name}: a corpus of many documents; start with `faircut serve {name}` and choose one of them."
        )
    if not lower.endswith(tuple(extensions())):
        raise HTTPException(422, f"{name}: files of this kind are not read. Possible: {_KINDS}.")


def _first_words(text: str) -> str:
    """A name for a pasted text: the first words of its first line."""
    first = next(line for line in text.splitlines() if line.strip())
    words = " ".join(visible(first[:400]).split()).lstrip("#>*- ")
    return (words[:60].rsplit(" ", 1)[0] if len(words) > 60 else words) or "pasted text"


def _kept(folder: Path, path: Path) -> None:
    _kept_bytes(folder, path.name, path.read_bytes())


def _kept_bytes(folder: Path, name: str, content: bytes) -> None:
    """Keep what came in under its name and a hash of it, so that nothing is written over."""
    stem, dot, ending = name.rpartition(".")
    digest = blake2b(content, digest_size=4).hexdigest()
    write_atomically(folder / f"{stem}-{digest}{dot}{ending}", lambda file: file.write(content))
