"""One document or one user cannot stop the explorer: crashes, hangs, slow work and users who left."""

import asyncio
import json
import os
import signal
import threading
import time
from contextlib import aclosing, suppress

import httpx
import pytest

from faircut.documents.native import native_document
from faircut.serve.allowed import served_chunker
from faircut.serve.amounts import least_chunks
from faircut.serve.documents import document_from, stored
from faircut.serve.limits import Limits
from faircut.serve.sessions import Sessions
from faircut.serve.workers import BusyError, Turn, Workers
from small_server import SMALL, serving

TEXT = "The harbour closes at noon. It opens at six.\n"
SLOW = "".join(
    f"Sentence {n} tells of the {n * n} boats that came in year {n}, and where each of them lay.\n" for n in range(6000)
)


def document_bytes(text):
    return stored(native_document(json.dumps({"id": "d", "text": text}).encode(), "d"))


def cut(*specs, digest="d"):
    return {"do": "cut", "chunkers": list(specs), "digest": digest}


async def frames_of(workers, header, payload, turn=None):
    async with aclosing(workers.run(header, payload, turn or Turn())) as frames:
        return [frame async for frame in frames]


def with_workers(body, limits=SMALL):
    async def main():
        workers = Workers(limits)
        try:
            return await asyncio.wait_for(body(workers), 120)
        finally:
            await workers.close()

    return asyncio.run(main())


def test_a_document_comes_back_as_it_was():
    document = native_document(
        b'{"id": "d", "title": "T", "text": "# A\\n\\nb \\ud83d\\ude00\\n", "media_type": "text/markdown"}', "d"
    )
    again = document_from(stored(document))
    assert (again.text, again.blocks, again.id, again.title) == (document.text, document.blocks, "d", "T")


@pytest.mark.slow
def test_a_process_that_crashes_fails_one_request_and_the_next_is_answered():
    async def body(workers):
        raw = document_bytes(SLOW)
        async with aclosing(workers.run(cut("semantic(min_sentences=1)"), raw, Turn())) as frames:
            said = []
            async for header, _ in frames:
                if header["is"] == "progress" and not said:
                    (worker,) = workers._all
                    os.kill(worker.process.pid, signal.SIGKILL)
                said.append(header)
        assert said[-1]["is"] == "failed"
        assert "crashed" in said[-1]["reason"]
        after = await frames_of(workers, cut("recursive"), document_bytes(TEXT))
        assert [h["is"] for h, _ in after] == ["lane", "done"]

    with_workers(body, Limits(workers=1))


TEXTS = [TEXT * 40, "ein und zwei\u00a0drei " * 50, "港は正午に閉まる。" * 60, "x" * 500, "a b\n\nc d  " * 99]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
@pytest.mark.parametrize(
    "spec",
    [
        "fixed(5c)", "fixed(9c, overlap=4c)", "fixed(3w)", "fixed(4t)", "recursive(20c)", "recursive(6w, overlap=2w)",
        "sentence(12t)", "paragraph(30c)", "structure(20t)", "hybrid(max=90c, min=20c)", "shuffled(fixed(7c))",
        "semantic(max=none)",
    ],
)  # fmt: skip
def test_the_least_number_of_chunks_is_known_before_cutting_and_never_too_high(spec, text):
    from faircut.chunkers.contract import Models
    from faircut.embedding import EMBEDDERS

    document = native_document(json.dumps({"id": "d", "text": text}).encode(), "d")
    chunker = served_chunker(spec)
    made = len(chunker.chunk(document, Models.of(EMBEDDERS.build("minilm"))))
    assert least_chunks(chunker, text) <= made
    if spec == "fixed(5c)":
        assert least_chunks(chunker, text) >= made / 3


@pytest.mark.slow
def test_what_takes_too_long_is_stopped_and_the_next_is_answered():
    async def body(workers):
        slow = await frames_of(workers, cut("semantic(min_sentences=1)"), document_bytes(SLOW))
        assert slow[-1][0]["is"] == "failed"
        assert "took longer than 3 seconds" in slow[-1][0]["reason"]
        return len(workers._all)

    assert with_workers(body, Limits(workers=1, seconds=3)) == 0


def test_a_request_that_nobody_waits_for_is_dropped_and_its_process_serves_on():
    async def body(workers):
        turn = Turn()
        async with aclosing(workers.run(cut("semantic(min_sentences=1)"), document_bytes(SLOW), turn)) as frames:
            async for header, _ in frames:
                if header["is"] == "progress":
                    break
        (worker,) = workers._all
        after = await frames_of(workers, cut("recursive", digest="e"), document_bytes(TEXT), turn)
        assert [h["is"] for h, _ in after] == ["lane", "done"]
        assert workers._all == {worker}

    with_workers(body, Limits(workers=1))


def test_a_defect_is_told_without_a_traceback():
    async def body(workers):
        ((said, _),) = await frames_of(workers, {"do": "nothing that is known"}, b"")
        assert said["is"] == "failed"
        assert "unexpected KeyError" in said["reason"]
        assert "Traceback" not in said["reason"]

    with_workers(body)


def test_too_much_that_waits_is_refused():
    async def body(workers):
        turn, limits = Turn(), Limits()
        turn.waiting = limits.waiting_each
        with pytest.raises(BusyError) as own:
            await frames_of(workers, cut("recursive"), b"", turn)
        workers._waiting = limits.waiting
        with pytest.raises(BusyError) as others:
            await frames_of(workers, cut("recursive"), b"", Turn())
        workers._waiting = 0
        assert (own.value.is_own, others.value.is_own) == (True, False)

    with_workers(body)


@pytest.mark.slow
def test_a_slow_user_does_not_keep_another_from_being_answered():
    with serving(limits=Limits()) as served, served.user() as slow, served.user() as quick:
        long, short = slow.paste(SLOW), quick.paste(TEXT)
        ended = threading.Event()

        def wait():
            with suppress(httpx.HTTPError):
                slow.lanes(long, "semantic(min_sentences=1)")
            ended.set()

        thread = threading.Thread(target=wait)
        thread.start()
        time.sleep(1.0)
        for _ in range(5):
            (lane,) = quick.lanes(short, "recursive")
            assert lane["lane"]["starts"] == [0]
        assert not ended.is_set()
        slow.client.close()
        thread.join(60)


# ---------------------------------------------------------------- sessions


def test_users_are_forgotten_when_they_were_away_and_when_there_are_too_many():
    clock = [0.0]
    sessions = Sessions(Limits(sessions=3, idle_seconds=100), now=lambda: clock[0])
    first = sessions.create()
    clock[0] = 50
    second = sessions.create()
    assert sessions.find(first.id) is first
    clock[0] = 149
    assert sessions.find(first.id) is first
    clock[0] = 151
    assert sessions.find(second.id) is None
    assert [len(sessions.create().id) >= 32 for _ in range(3)] == [True] * 3
    assert sessions.find(first.id) is None
    assert sessions.find(None) is sessions.find("") is None


def test_documents_make_room_for_new_ones_and_users_for_others():
    sessions = Sessions(Limits(documents=3, held_bytes=1000))
    one, two = sessions.create(), sessions.create()

    def hold(session, size):
        return sessions.hold(session, b"x" * size, title="", characters=1, warnings=())

    held = [hold(one, 10) for _ in range(4)]
    assert list(one.documents) == [h.key for h in held[1:]]
    hold(two, 990)
    assert sessions.find(one.id) is None
    last = hold(two, 500)
    assert list(two.documents) == [last.key]
