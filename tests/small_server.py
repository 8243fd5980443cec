"""A running explorer for tests: a real server in a thread, with real worker processes, on a port of its own."""

import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from faircut.serve.app import Settings
from faircut.serve.limits import Limits
from faircut.serve.running import address_of, bound, server_of

SMALL = Limits(upload_bytes=300_000, characters=400_000, seconds=60.0)


@dataclass
class User:
    """A browser without a browser: it keeps its cookie and sends the origin that a page would have."""

    client: httpx.Client
    url: str

    def post(self, address, json=None, **options):
        headers = {"origin": self.url} | options.pop("headers", {})
        return self.client.post(address, json=json, headers=headers, **options)

    def paste(self, text, kind="text/markdown"):
        """The address of a pasted text."""
        answer = self.post("/texts", {"text": text, "kind": kind})
        assert answer.status_code == 201, answer.text
        return answer.json()["address"]

    def upload(self, name, content):
        return self.post(
            "/documents", params={"name": name}, content=content, headers={"content-type": "application/octet-stream"}
        )

    def stream(self, address, value):
        """All lines of a streamed answer."""
        answer = self.post(address, value)
        assert answer.status_code == 200, answer.text
        return [httpx.Response(200, text=line).json() for line in answer.text.splitlines()]

    def lanes(self, address, *specs):
        """For each spec what the server says of it."""
        lines = self.stream(f"{address}/cut", {"chunkers": list(specs)})
        assert lines[-1]["is"] == "done", lines
        found = {line["row"]: line for line in lines if line["is"] == "lane"}
        return [found[row].get("values") or found[row] for row in range(len(specs))]

    def answers(self, address, question, *specs, **more):
        lines = self.stream(f"{address}/ask", {"chunkers": list(specs), "question": question} | more)
        assert lines[-1]["is"] == "done", lines
        return [line["values"] for line in lines if line["is"] == "answer"]


@dataclass
class Served:
    """A server that runs."""

    url: str
    port: int

    @contextmanager
    def user(self):
        with httpx.Client(base_url=self.url, timeout=90) as client:
            yield User(client, self.url)


@contextmanager
def serving(**settings):
    """Run an explorer with these settings."""
    listening, made = bound(Settings(**{"port": 0, "limits": SMALL} | settings))
    server = server_of(made)
    thread = threading.Thread(target=lambda: server.run(sockets=[listening]))
    with listening:
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.02)
        try:
            yield Served(address_of(made).rstrip("/"), made.port)
        finally:
            server.should_exit = True
            thread.join(30)
    assert not thread.is_alive()


@pytest.fixture(scope="session")
def explorer():
    """One explorer for all tests that change nothing in it."""
    with serving(runs=Path("no-such-folder")) as served:
        yield served


@pytest.fixture
def user(explorer):
    with explorer.user() as one:
        yield one
