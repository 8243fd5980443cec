"""What the explorer answers: requests that passed the guard in, pages, JSON and streams of JSON lines out.

Sessions hold the documents, workers do the work, ``pages.py`` makes HTML; here they are only put together.
"""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from itertools import islice
from typing import Any

from anyio import to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse

from faircut.documents.sources import Source
from faircut.errors import FaircutError
from faircut.report.payload import plain
from faircut.serve.allowed import served_chunker, served_search, served_specs
from faircut.serve.amounts import check_amount
from faircut.serve.bodies import check_keys, json_object, size_words
from faircut.serve.forms import offered
from faircut.serve.guard import REPORT_POLICY
from faircut.serve.limits import Limits
from faircut.serve.opening import Opening, extensions
from faircut.serve.pages import page
from faircut.serve.runs import Runs
from faircut.serve.sessions import Held, Session, Sessions
from faircut.serve.workers import Workers

__all__ = ["Explorer"]

_FIRST_CHUNKERS = ("recursive(max=256t)", "semantic(max=256t)")
_LONG = 200_000  # characters from which embedding is not begun unasked
_LISTED = 1_000


@dataclass(frozen=True)
class Explorer:
    """One server: what its handlers share. ``cookie`` is the name under which a browser keeps its user's id."""

    limits: Limits
    workers: Workers
    sessions: Sessions
    opening: Opening
    runs: Runs
    shared: Sequence[Source]
    cookie: str

    # ------------------------------------------------------------ pages

    async def start(self, request: Request) -> HTMLResponse:
        """Where a document comes in: dropped, pasted, or chosen."""
        session = self._session(request)
        return page(
            "serve_start.html",
            {
                "title": "faircut",
                "place": "start",
                "documents": list(reversed(session.documents.values())) if session else [],
                "shared": [(i, plain(s.id or s.place)) for i, s in enumerate(islice(self.shared, _LISTED))],
                "unlisted": max(0, len(self.shared) - _LISTED),
                "accept": ",".join(extensions()),
                "kinds": " ".join(extensions()),
                "limit": self.limits.upload_bytes,
                "limit_words": size_words(self.limits.upload_bytes),
                "keeps": self.opening.keep is not None,
            },
        )

    async def document(self, request: Request) -> HTMLResponse:
        """The cuts of one document, and questions to it."""
        held = self._held(request)[1]
        first = _FIRST_CHUNKERS if held.characters <= _LONG else _FIRST_CHUNKERS[:1]
        context = {
            "title": f"{held.title} · faircut",
            "held": held,
            "setup": {
                "offered": offered(), "first": list(first), "most": self.limits.chunkers,
                "question": self.limits.question, "spec": self.limits.spec,
            },
        }  # fmt: skip
        return page("serve_document.html", context)

    async def run_list(self, request: Request) -> HTMLResponse:  # noqa: ARG002  # as every handler
        """The finished runs."""
        lines = await to_thread.run_sync(self.runs.lines)
        folder = None if self.runs.folder is None else str(self.runs.folder)
        return page("serve_runs.html", {"title": "Runs · faircut", "place": "runs", "runs": lines, "folder": folder})

    async def report(self, request: Request) -> Response:
        """The report of runs, made from their folders; it is a page of its own, apart from the explorer."""
        names = request.query_params.getlist("run")
        if len(names) > self.limits.chunkers:
            raise HTTPException(400, f"at most {self.limits.chunkers} runs side by side.")
        try:
            made = await to_thread.run_sync(self.runs.report, names)
        except FaircutError as error:
            raise HTTPException(404, str(error)) from error
        return HTMLResponse(made.encode("utf-8", "replace"), headers={"content-security-policy": REPORT_POLICY})

    # ------------------------------------------------------------ documents

    async def upload(self, request: Request) -> Response:
        """Open an uploaded file."""
        return await self._opened(request, self.opening.upload(request, session := self._user(request)), session)

    async def paste(self, request: Request) -> Response:
        """Open a pasted text."""
        asked = await json_object(request, self.limits.upload_bytes)
        return await self._opened(request, self.opening.paste(asked, session := self._user(request)), session)

    async def choose(self, request: Request) -> Response:
        """Open one of the documents that were named at the start."""
        asked = await json_object(request, self.limits.request_bytes)
        check_keys(asked, "number")
        number = asked.get("number")
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(self.shared):
            raise HTTPException(404, "no such document.")
        session = self._user(request)
        return await self._opened(request, self.opening.shared(self.shared[number], session), session)

    async def forget(self, request: Request) -> Response:
        """Forget a document now."""
        session, held = self._held(request)
        del session.documents[held.key]
        return Response(status_code=204)

    async def text(self, request: Request) -> Response:
        """The document as the page's viewer reads it."""
        return Response(self._held(request)[1].raw, media_type="application/json")

    # ------------------------------------------------------------ work

    async def cut(self, request: Request) -> Response:
        """Cut with each chunker: a stream of JSON lines, a lane in each."""
        asked = await json_object(request, self.limits.request_bytes)
        check_keys(asked, "chunkers")
        session, held = self._held(request)
        try:
            specs = served_specs(asked.get("chunkers"), self.limits)
        except FaircutError as error:
            raise HTTPException(400, str(error)) from error
        check_amount(held.characters, len(specs), self.limits)
        return self._stream({"do": "cut", "chunkers": specs}, held, session)

    async def ask(self, request: Request) -> Response:
        """Ask a question of the chunks of one or two chunkers: a stream of JSON lines, an answer in each."""
        asked = await json_object(request, self.limits.request_bytes)
        check_keys(asked, "chunkers", "question", "search", "budget")
        session, held = self._held(request)
        try:
            specs = served_specs(asked.get("chunkers"), self.limits)
            for spec in specs:
                served_chunker(spec)
            search = served_search(asked.get("search", "dense"))
        except FaircutError as error:
            raise HTTPException(400, str(error)) from error
        check_amount(held.characters, len(specs), self.limits)
        question, budget = self._question(asked)
        work = {"do": "ask", "chunkers": specs, "search": str(search), "question": question, "budget": budget}
        return self._stream(work, held, session)

    def _question(self, asked: dict[str, Any]) -> tuple[str, int]:
        question, budget = asked.get("question"), asked.get("budget", 1000)
        if not isinstance(question, str) or not question.strip():
            raise HTTPException(400, "the question is empty.")
        if len(question) > self.limits.question:
            raise HTTPException(400, f"a question has at most {self.limits.question:,} characters here.")
        if isinstance(budget, bool) or not isinstance(budget, int) or not 1 <= budget <= self.limits.budget:
            raise HTTPException(400, f"the budget is a whole number of tokens up to {self.limits.budget:,}.")
        return plain(question), budget

    def _stream(self, work: dict[str, Any], held: Held, session: Session) -> StreamingResponse:
        self.workers.check_room(session.turn)
        lines = self._lines(work | {"digest": held.key}, held, session)
        return StreamingResponse(lines, media_type="application/x-ndjson")

    async def _lines(self, work: dict[str, Any], held: Held, session: Session) -> AsyncIterator[bytes]:
        """What a worker says, as JSON lines; when the reader leaves, the work is dropped."""
        async with aclosing(self.workers.run(work, held.raw, session.turn)) as frames:
            async for said, raw in frames:
                facts = {key: value for key, value in said.items() if key != "number"}
                line = json.dumps(facts, ensure_ascii=False).encode("utf-8", "replace")
                yield (line[:-1] + b', "values": ' + raw + b"}" if raw else line) + b"\n"

    # ------------------------------------------------------------ users

    async def _opened(self, request: Request, coming: Any, session: Session) -> Response:
        held: Held = await coming
        answer = JSONResponse({"address": f"/documents/{held.key}", "title": held.title}, 201)
        if request.cookies.get(self.cookie) != session.id:
            answer.set_cookie(self.cookie, session.id, httponly=True, samesite="strict", path="/")
        return answer

    def _session(self, request: Request) -> Session | None:
        return self.sessions.find(request.cookies.get(self.cookie))

    def _user(self, request: Request) -> Session:
        return self._session(request) or self.sessions.create()

    def _held(self, request: Request) -> tuple[Session, Held]:
        """The document of the address, which only the user who opened it has."""
        session = self._session(request)
        held = session.documents.get(request.path_params["key"]) if session else None
        if session is None or held is None:
            raise HTTPException(
                404,
                "this document is not here any more: the explorer forgets what it is not asked to keep; open it again.",
            )
        return session, held
