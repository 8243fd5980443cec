"""The explorer does nothing for other pages, other hosts and other users, and never more than it says it takes."""

import asyncio
import json
import os
import socket
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from faircut.errors import FaircutError, SpecError
from faircut.serve.allowed import SERVED, served_chunker
from faircut.serve.app import Settings, application
from faircut.serve.guard import allowed_hosts
from faircut.serve.running import bound
from small_server import SMALL, serving

TEXT = "The harbour closes at noon. It opens at six.\n"


def raw(served, request, body=()):
    """What comes back to bytes as they are; the body is sent as long as nobody answers."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as connection:
        connection.sendall(request)
        sent = 0
        try:
            for part in body:
                connection.sendall(part)
                sent += len(part)
        except OSError:
            pass
        answer = b""
        try:
            while block := connection.recv(65536):
                answer += block
        except OSError:
            pass
    return answer, sent


# ---------------------------------------------------------------- who may ask


def test_it_listens_at_this_computer_alone_unless_told_otherwise():
    listening, settings = bound(Settings(port=0))
    with listening:
        assert listening.getsockname()[0] == "127.0.0.1"
        with pytest.raises(FaircutError, match="--port"):
            bound(settings)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "localhost.evil:{port}",
        "127.0.0.1:{port}@evil",
        "10.0.0.1:{port}",
        "",
    ],
)
def test_a_host_header_that_is_not_ours_is_refused(explorer, host):
    """Else a page could make a name of its own lead to this computer (DNS rebinding)."""
    for method in ("GET", "POST"):
        line = f"{method} / HTTP/1.1\r\nHost: {host.format(port=explorer.port)}\r\nConnection: close\r\n\r\n"
        answer, _ = raw(explorer, line.encode())
        assert answer.startswith(b"HTTP/1.1 421 "), answer[:80]
        assert b"faircut</title>" not in answer


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "LOCALHOST:{port}", "[::1]:{port}"])
def test_the_names_of_this_computer_are_answered(explorer, host):
    line = f"GET / HTTP/1.1\r\nHost: {host.format(port=explorer.port)}\r\nConnection: close\r\n\r\n"
    assert raw(explorer, line.encode())[0].startswith(b"HTTP/1.1 200 ")


def test_listening_everywhere_answers_to_addresses_and_never_to_a_strangers_name():
    hosts = allowed_hosts("0.0.0.0", 8765)  # noqa: S104
    assert hosts.fits("192.168.1.7:8765")
    assert hosts.fits("[fe80::1]:8765")
    assert not hosts.fits("evil.example:8765")
    assert allowed_hosts("box.local", 80).fits("box.local")
    assert not allowed_hosts("127.0.0.1", 8765).fits("192.168.1.7:8765")


FOREIGN = [
    {"origin": "http://evil.example"},
    {"origin": "null"},
    {"origin": "http://127.0.0.1:1"},
    {"origin": "https://127.0.0.1:{port}"},
    {"origin": "http://localhost:{port}"},
    {},
    {"origin": "http://127.0.0.1:{port}", "sec-fetch-site": "cross-site"},
    {"origin": "http://127.0.0.1:{port}", "sec-fetch-site": "same-site"},
]


@pytest.mark.parametrize("headers", FOREIGN)
def test_what_changes_anything_is_refused_to_other_origins(explorer, user, headers):
    mine = user.paste(TEXT)
    sent = {name: value.format(port=explorer.port) for name, value in headers.items()}
    for method, address in [
        ("POST", "/texts"),
        ("POST", "/documents?name=a.txt"),
        ("POST", "/shared"),
        ("DELETE", mine),
        ("POST", f"{mine}/cut"),
        ("POST", f"{mine}/ask"),
    ]:
        answer = user.client.request(
            method, address, headers=sent | {"content-type": "application/json"}, content=b"{}"
        )
        assert answer.status_code == 403, (method, address)
        assert not any(name.startswith("access-control") for name in answer.headers)
    assert user.client.get(mine).status_code == 200


def test_other_pages_may_link_here_and_not_load_anything(user):
    for site in ("cross-site", "same-site"):
        for mode, dest in (("no-cors", "image"), ("no-cors", "script"), ("cors", "empty"), ("navigate", "iframe")):
            headers = {"sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": dest}
            assert user.client.get("/", headers=headers).status_code == 403
        linked = {"sec-fetch-site": site, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
        assert user.client.get("/", headers=linked).status_code == 200


def test_no_other_page_is_told_that_it_may(user):
    answer = user.client.options(
        "/texts", headers={"origin": "http://evil.example", "access-control-request-method": "POST"}
    )
    assert answer.status_code == 403
    assert not any(name.startswith("access-control") for name in answer.headers)


def test_a_document_is_only_for_the_user_who_opened_it(explorer):
    with explorer.user() as one, explorer.user() as two:
        address = one.paste(TEXT)
        two.paste(TEXT)
        assert one.client.get(address).status_code == 200
        for answer in (
            two.client.get(address),
            two.client.get(f"{address}/text"),
            two.post(f"{address}/cut", {"chunkers": ["recursive"]}),
        ):
            assert answer.status_code == 404
        assert two.client.delete(address, headers={"origin": two.url}).status_code == 404
        cookie = one.client.cookies.jar
        assert all(
            c.has_nonstandard_attr("HttpOnly") and c.get_nonstandard_attr("SameSite") == "strict" for c in cookie
        )


# ---------------------------------------------------------------- headers and addresses


@pytest.mark.parametrize(
    "address", ["/", "/runs", "/static/page.css", "/nothing", "/documents/none", "/report?run=x", "/texts"]
)
def test_every_answer_carries_the_headers_that_protect_it(user, address):
    headers = user.client.get(address, headers={"accept": "text/html"}).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    policy = headers["content-security-policy"]
    assert "frame-ancestors 'none'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "server" not in headers


@pytest.mark.parametrize(
    "address",
    [
        "/static/",
        "/static/../html.py",
        "/static/..%2fhtml.py",
        "/static/%2e%2e/%2e%2e/errors.py",
        "/static//etc/passwd",
        "/static/page.css%00.js",
        "/static/C:%5cx",
        "/../../etc/passwd",
        "/static",
    ],
)
def test_no_path_leads_out_of_the_known_files(explorer, address):
    line = f"GET {address} HTTP/1.1\r\nHost: 127.0.0.1:{explorer.port}\r\nConnection: close\r\n\r\n"
    answer, _ = raw(explorer, line.encode())
    assert answer.split(b" ")[1] == b"404", answer[:200]


@pytest.mark.parametrize(
    "name", ["../outside", "..", ".", "/etc", "", "inside/../../outside", "%2e%2e/outside", "C:\\x", ".hidden"]
)
def test_no_name_of_a_run_leads_out_of_the_folder(tmp_path, name):
    from faircut.serve.runs import Runs

    for folder in ("outside", "runs/inside", "runs/.hidden"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "leaderboard.json").write_text("{}", encoding="utf-8")
    with pytest.raises(FaircutError, match="no such run here"):
        Runs(tmp_path / "runs").report([name])


def test_methods_and_kinds_of_content_are_checked(explorer, user):
    address = user.paste(TEXT)
    for method, place in [
        ("PUT", "/texts"),
        ("PATCH", address),
        ("POST", "/"),
        ("POST", "/report"),
        ("DELETE", "/static/page.css"),
        ("GET", "/texts"),
        ("TRACE", "/"),
    ]:
        assert user.client.request(method, place, headers={"origin": user.url}).status_code == 405, (method, place)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
        for place in ("/texts", f"{address}/cut", f"{address}/ask", "/documents?name=a.txt"):
            assert user.post(place, content=b"{}", headers={"content-type": kind}).status_code == 415
    for body in (b"[]", b"{", b'"x"', b"[" * 40_000, b"\xff"):
        assert (
            user.post(f"{address}/cut", content=body, headers={"content-type": "application/json"}).status_code == 400
        )


# ---------------------------------------------------------------- how much


def test_a_body_that_says_it_is_too_large_is_refused_before_it_is_read(explorer):
    for size in ("300001", "9" * 30, "-5", "1e3"):
        head = (
            f"POST /documents?name=a.txt HTTP/1.1\r\nHost: 127.0.0.1:{explorer.port}\r\nOrigin: {explorer.url}\r\n"
            f"Content-Type: application/octet-stream\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n"
        )
        answer, _ = raw(explorer, head.encode())
        assert answer.split(b" ")[1] in (b"413", b"400"), answer[:100]
        if size == "300001":
            assert b"larger than 300 kB" in answer


@pytest.mark.parametrize("address", ["/documents?name=a.txt", "/texts"])
def test_a_body_without_a_size_is_refused_as_soon_as_it_is_too_large(explorer, address):
    kind = "application/json" if address == "/texts" else "application/octet-stream"
    head = (
        f"POST {address} HTTP/1.1\r\nHost: 127.0.0.1:{explorer.port}\r\nOrigin: {explorer.url}\r\n"
        f"Content-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    part = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    answer, sent = raw(explorer, head.encode(), (part for _ in range(4000)))
    assert sent < 100 * 0x10000  # what lies in the system's buffers, not 260 MB
    assert answer.split(b" ")[1:2] in ([b"413"], [])  # or the connection was closed while it was still sending


def test_who_stops_in_the_middle_of_a_request_is_told_and_holds_no_connection(monkeypatch):
    monkeypatch.setattr("faircut.serve.bodies._PAUSE_SECONDS", 0.3)
    with serving(limits=replace(SMALL, silent_seconds=0.3)) as served:
        head = (
            f"POST /documents?name=a.txt HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nOrigin: {served.url}\r\n"
            "Content-Type: application/octet-stream\r\nContent-Length: 100\r\n\r\nabc"
        )
        answer, _ = raw(served, head.encode())
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"nothing more of this came" in answer
        whole = f"GET /static/none HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n\r\n".encode()
        for silent in (b"", b"GET / HTTP/1.1\r\nHost: 12", whole, whole + b"GET / HTTP/1.1\r\nHo"):
            with socket.create_connection(("127.0.0.1", served.port), timeout=20) as connection:
                connection.sendall(silent)
                while connection.recv(4096):  # until it is closed from there
                    pass


@pytest.mark.parametrize("limits", [{"connections": 12}, {"connections_each": 12}])
def test_connections_that_ask_nothing_make_room_for_those_that_do(limits):
    with serving(limits=replace(SMALL, **limits)) as served, served.user() as one, ExitStack() as held:
        address = ("127.0.0.1", served.port)
        silent = [held.enter_context(socket.create_connection(address, timeout=20)) for _ in range(60)]
        silent[-1].sendall(b"GET / HTTP/1.1\r\n")
        for _ in range(5):
            assert one.client.get("/").status_code == 200
            assert one.client.get("/", headers={"connection": "close"}).status_code == 200
        assert silent[0].recv(100) == b""


def test_more_that_is_asked_at_once_from_one_address_is_told_to_wait():
    with serving(limits=replace(SMALL, connections_each=4)) as served, ExitStack() as held:
        head = (
            f"POST /documents?name=a.txt HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nOrigin: {served.url}\r\n"
            "Content-Type: application/octet-stream\r\nContent-Length: 100\r\n\r\nabc"
        )
        for _ in range(4):
            busy = held.enter_context(socket.create_connection(("127.0.0.1", served.port), timeout=20))
            busy.sendall(head.encode())
        time.sleep(0.3)
        answer, _ = raw(served, b"GET / HTTP/1.1\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 429 ")
        assert b"retry-after: 2" in answer


def test_more_cutting_than_one_request_may_ask_for_is_refused_before_work():
    with serving(limits=replace(SMALL, cut_characters=len(TEXT) * 2)) as served, served.user() as one:
        address = one.paste(TEXT)
        answer = one.post(f"{address}/cut", {"chunkers": ["recursive"] * 3})
        assert (answer.status_code, "at most 2 side by side" in answer.json()["error"]) == (413, True)
        asked = one.post(f"{address}/ask", {"chunkers": ["recursive"] * 3, "question": "When?"})
        assert asked.status_code == 413
        assert len(one.lanes(address, "recursive", "sentence")) == 2


def test_who_asks_for_more_while_much_of_it_is_not_done_is_told_when_to_come_back(user):
    async def ask():
        app = application(Settings(limits=replace(SMALL, waiting_each=0)))
        async with app.app.router.lifespan_context(app.app):
            transport = httpx.ASGITransport(app=app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as client:
                return await client.post("/texts", json={"text": "x"}, headers={"origin": "http://127.0.0.1:8765"})

    answer = asyncio.run(ask())
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "2")


def test_who_leaves_in_the_middle_of_an_upload_is_no_error_in_the_terminal(explorer, user, capfd):
    head = (
        f"POST /documents?name=a.txt HTTP/1.1\r\nHost: 127.0.0.1:{explorer.port}\r\nOrigin: {explorer.url}\r\n"
        "Content-Type: application/octet-stream\r\nContent-Length: 100\r\n\r\nabc"
    )
    with socket.create_connection(("127.0.0.1", explorer.port), timeout=20) as connection:
        connection.sendall(head.encode())
        time.sleep(0.3)  # it waits for more
    time.sleep(0.3)
    assert user.upload("a.txt", TEXT.encode()).status_code == 201
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("method", "address", "said"),
    [
        ("GET", "/nothing", "there is no such page here."),
        ("PUT", "/runs", "this address does not take PUT."),
        ("GET", "/report", "no run was chosen; choose one or more in the list."),
        ("GET", "/report?run=", "the empty name: no such run here."),
        ("GET", f"/report?run={'x' * 5000}", f"{'x' * 80}: no such run here."),
    ],
)
def test_what_is_not_there_is_told_in_a_short_sentence(explorer, user, method, address, said):
    answer = user.client.request(method, address, headers={"origin": explorer.url})
    assert answer.json() == {"error": said}


def test_the_largest_that_is_taken_is_taken(user):
    assert user.upload("a.txt", b"word " * 60_000).status_code == 201
    answer = user.upload("a.txt", b"word " * 60_000 + b"x")
    assert answer.status_code == 413
    assert "300 kB" in answer.json()["error"]


def test_lists_and_lengths_are_bounded(user):
    address = user.paste(TEXT)
    for value in ([], ["recursive"] * 9, "recursive", [1], [None], ["x" * 301], None):
        assert user.post(f"{address}/cut", {"chunkers": value}).status_code == 400, value
    good = {"chunkers": ["recursive"], "question": "When?", "budget": 100}
    for bad in (
        {"question": ""},
        {"question": "x" * 2001},
        {"question": 3},
        {"budget": 0},
        {"budget": 10**9},
        {"budget": True},
        {"budget": "9"},
        {"search": 1},
        {"search": "x" * 200},
        {"search": "nope"},
    ):
        assert user.post(f"{address}/ask", good | bad).status_code == 400, bad
    assert user.post(f"{address}/cut", {"chunkers": ["recursive"], "pad": "x" * 70_000}).status_code == 413


@pytest.mark.slow
def test_more_chunks_than_are_shown_are_refused_in_words(user):
    with serving(limits=type(SMALL)(chunks=50)) as served, served.user() as one:
        (lane,) = one.lanes(one.paste(TEXT * 20), "fixed(3c)")
        assert "more than the 50" in lane["problem"]


# ---------------------------------------------------------------- what may be run


@pytest.fixture
def trap(tmp_path, monkeypatch):
    """A module whose import leaves a file behind, on the path of the server and of its processes."""
    (tmp_path / "trap_module.py").write_text(
        f"open({str(tmp_path / 'sprung')!r}, 'w').close()\ndef split(text): return [text]\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path / "sprung"


CODE = [
    "python:trap_module:split",
    "python:trap_module:split()",
    "shuffled(python:trap_module:split)",
    "shuffled(chunker=python:trap_module:split)",
    "shuffled(shuffled(python:trap_module:split))",
    "python",
    "shuffled(python)",
]
PAID = [
    "llm",
    "propositions",
    "contextual(recursive)",
    "shuffled(llm)",
    "proposition_semantic",
    "contextual(python:trap_module:split)",
]


@pytest.mark.parametrize("spec", CODE + PAID)
def test_a_page_cannot_run_code_or_ask_a_language_model(user, trap, spec):
    with pytest.raises(SpecError):
        served_chunker(spec)
    address = user.paste(TEXT)
    (row,) = user.lanes(address, spec)
    assert "lane" not in row
    assert "problem" in row
    assert user.post(f"{address}/ask", {"chunkers": [spec], "question": "When?"}).status_code == 400
    assert not trap.exists()
    assert "trap_module" not in sys.modules


def test_a_page_cannot_choose_an_embedder(user):
    address = user.paste(TEXT)
    for more in ({"embedder": 'st("some/model")'}, {"embedder": "minilm"}):
        answer = user.post(f"{address}/ask", {"chunkers": ["recursive"], "question": "When?"} | more)
        assert answer.status_code == 400
        assert "embedder" in answer.json()["error"]
    assert (
        user.post(f"{address}/ask", {"chunkers": ["recursive"], "question": "When?", "search": 'st("x")'}).status_code
        == 400
    )


def test_every_chunker_is_either_served_or_refused_by_decision():
    from faircut.chunkers import CHUNKERS

    refused = {"llm", "contextual", "propositions", "proposition_paragraph", "proposition_semantic", "python"}
    assert {c.name for c in CHUNKERS.classes} == {c.name for c in SERVED} | refused


# ---------------------------------------------------------------- what comes out


HOSTILE = '<script>window.owned=1</script>"><img src=x onerror=window.owned=1> \u202egnirts javascript:x'


def test_names_and_texts_are_escaped_in_every_page(user):
    answer = user.upload(HOSTILE + ".md", f"# {HOSTILE}\n\n{HOSTILE}\n".encode())
    assert answer.status_code == 201
    pasted = user.paste(HOSTILE)
    for address in ("/", answer.json()["address"], pasted):
        page = user.client.get(address).text
        assert "<script>window" not in page
        assert "<img" not in page
        assert "\u202e" not in page
    missing = user.client.get("/report", params={"run": HOSTILE}, headers={"accept": "text/html"})
    assert missing.headers["content-type"].startswith("text/html")
    assert "<script>window" not in missing.text


def test_an_unexpected_error_is_a_sentence_without_a_traceback(capfd):
    async def ask():
        app = application(Settings(limits=SMALL))
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as client:
            return await client.get("/")  # its lifespan was never begun

    answer = asyncio.run(ask())
    assert answer.status_code == 500
    assert "Traceback" not in answer.text
    assert ".py" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "unexpected AttributeError" in capfd.readouterr().err


def test_names_of_files_lead_nowhere(user):
    for name in (
        "../../etc/evil.txt",
        "/etc/evil.txt",
        "..\\..\\evil.txt",
        "C:\\evil.txt",
        "a\x00b.txt",
        "x" * 5000 + ".txt",
        "con.txt",
        "é😀.txt",
    ):
        answer = user.upload(name, TEXT.encode())
        assert answer.status_code == 201, (name, answer.text)
    assert not Path(tempfile.gettempdir(), "evil.txt").exists()


def test_json_of_documents_is_no_page(user):
    answer = user.client.get(user.paste(HOSTILE) + "/text")
    assert answer.headers["content-type"] == "application/json"
    assert json.loads(answer.text)["text"] == HOSTILE
    assert os.sep not in answer.json()["source"]
