import json
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from faircut.embedding.cache import CachedEmbedder, check_cache, default_cache
from faircut.embedding.checks import OverlongWarning, report_overlong, unit_rows
from faircut.errors import EmbeddingError, FaircutWarning, StoreError


class _Words:
    name = "words"

    def count(self, text):
        return len(text.split())

    def count_many(self, texts):
        return [self.count(text) for text in texts]


@dataclass(frozen=True)
class Hashing:
    """A small real embedder: a vector drawn from the hash of prefix and text. Records what it was asked."""

    fingerprint: str = "hashing-1"
    prefixed: str = ""
    max_tokens: int = 20
    dimensions: int = 8
    asked: list = field(default_factory=list, compare=False)
    tokenizer: ClassVar = _Words()

    def __str__(self):
        return "hashing"

    def prefix(self, role):
        return self.prefixed

    def overhead(self, role):
        return 2

    def embed(self, texts, role, *, progress=None):
        self.asked.append(list(texts))
        report_overlong([self.tokenizer.count(t) + 2 for t in texts], self.max_tokens, "hashing")
        vectors = np.array([self.vector(t) for t in texts]).reshape(len(texts), self.dimensions)
        if progress:
            progress(len(texts), len(texts))
        return unit_rows(vectors)

    def vector(self, text):
        data = (self.prefixed + text).encode("utf-8", "surrogatepass")
        raw = b"".join(blake2b(data, salt=bytes([i])).digest() for i in range(1 + self.dimensions // 32))
        return np.frombuffer(raw, dtype="<i2")[: self.dimensions].astype(np.float64) + 0.5


@pytest.fixture
def path(tmp_path):
    return tmp_path / "vectors.db"


@pytest.fixture
def cached(path):
    made = []

    def make(inner=None, where=path):
        made.append(CachedEmbedder(inner or Hashing(), where))
        return made[-1]

    yield make
    for embedder in made:
        embedder.close()


def test_the_cache_gives_the_models_own_bits_and_embeds_a_text_once(minilm, cached):
    texts = ["One sentence.", "Another one, longer.", "One sentence.", "", "lone \ud800\x00"]
    first = cached(minilm)
    expected = minilm.embed(texts, "passage")
    assert first.embed(texts, "passage").tobytes() == expected.tobytes()
    assert (first.stats.hits, first.stats.embedded) == (0, 4)
    second = cached(minilm)
    assert second.embed(texts[::-1], "passage").tobytes() == expected[::-1].tobytes()
    assert (second.stats.hits, second.stats.embedded, second.stats.seconds) == (4, 0, 0.0)
    assert (
        second.stats.tokens_from_cache
        == first.stats.tokens_embedded
        == sum(minilm.tokenizer.count(t) + 2 for t in ["One sentence.", "Another one, longer.", "", "lone \ufffd\x00"])
    )


def test_it_stands_for_its_inner_embedder_in_everything(minilm, cached):
    outer = cached(minilm)
    assert str(outer) == "minilm"
    assert (outer.fingerprint, outer.dimensions, outer.max_tokens) == (minilm.fingerprint, 384, 256)
    assert outer.tokenizer.count("two words") == 2
    assert (outer.prefix("query"), outer.overhead("query")) == ("", 2)


@pytest.mark.parametrize(
    ("change", "role"),
    [({"fingerprint": "hashing-2"}, "passage"), ({"prefixed": "query: "}, "passage"), ({}, "query")],
    ids=["fingerprint", "prefix", "role"],
)
def test_another_fingerprint_prefix_or_role_is_another_vector(cached, change, role):
    cached(Hashing()).embed(["text"], "passage")
    other = cached(Hashing(**change))
    other.embed(["text"], role)
    assert (other.stats.hits, other.stats.embedded) == (0, 1)


def test_only_unknown_texts_are_embedded_longest_first_in_moderate_slices(cached):
    texts = [f"{'word ' * (i % 7)}{i}" for i in range(3000)]
    cached().embed(texts[:500], "passage")
    inner = Hashing()
    outer = cached(inner)
    vectors = outer.embed(texts, "passage")
    asked = [text for batch in inner.asked for text in batch]
    assert sorted(asked) == sorted(texts[500:])
    assert [len(t) for t in asked] == sorted((len(t) for t in asked), reverse=True)
    assert max(len(batch) for batch in inner.asked) <= 2000
    assert (outer.stats.hits, outer.stats.embedded) == (500, 2500)
    np.testing.assert_array_equal(vectors, unit_rows(np.array([inner.vector(t) for t in texts])))


def test_progress_begins_with_what_is_known_and_ends_at_all(cached):
    texts = [f"text {i}" for i in range(2500)]
    cached().embed(texts[:100], "passage")
    seen = []
    cached().embed([*texts, *texts[:10]], "passage", progress=lambda done, count: seen.append((done, count)))
    assert seen[0] == (110, 2510)
    assert seen[-1] == (2510, 2510)
    assert seen == sorted(seen)


def test_over_long_text_is_reported_once_a_call_from_the_cache_too(cached):
    texts = ["word " * 30, "short", *(f"{'word ' * 40}{i}" for i in range(2500))]
    for _ in range(2):
        with pytest.warns(OverlongWarning, match="2501 of 2502 texts") as caught:
            cached().embed(texts, "passage")
        assert len(caught) == 1


def test_no_text_gives_no_vectors(cached):
    assert cached().embed([], "query").shape == (0, 8)


def test_a_wrong_answer_of_the_model_is_an_error_and_is_not_kept(cached):
    class Broken(Hashing):
        def embed(self, texts, role, *, progress=None):
            return np.full((len(texts), 8), np.nan, dtype=np.float32)

    with pytest.raises(EmbeddingError, match="not finite"):
        cached(Broken()).embed(["text"], "passage")
    assert cached().embed(["text"], "passage").shape == (1, 8)


PROGRAM = """
import sys, time
sys.path.insert(0, {folder!r})
from test_cache import CachedEmbedder, Hashing, Path
class Slow(Hashing):
    def embed(self, texts, role, *, progress=None):
        time.sleep({pause})
        return super().embed(texts, role)
embedder = CachedEmbedder(Slow(), Path({path!r}))
texts = [f"{{'word ' * 9}}{{i}}" for i in range({start}, {stop})]
print("ready", flush=True)
vectors = embedder.embed(texts, "passage")
print(vectors.tobytes().hex()[:64], embedder.stats.embedded, flush=True)
"""


def _process(path, start, stop, pause=0.0):
    program = PROGRAM.format(folder=str(Path(__file__).parent), path=str(path), start=start, stop=stop, pause=pause)
    return subprocess.Popen([sys.executable, "-W", "error", "-c", program], stdout=subprocess.PIPE, text=True)


def _rows(path):
    connection = sqlite3.connect(path)
    try:
        return connection.execute("SELECT count(*) FROM vectors").fetchone()[0]
    finally:
        connection.close()


def test_a_killed_run_keeps_all_but_its_last_slice_and_ends_with_the_same_bits(path, cached):
    process = _process(path, 0, 20_000, pause=0.1)
    process.stdout.readline()
    while not path.exists() or _rows_or_none(path) < 3000:
        time.sleep(0.02)
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    kept = _rows(path)
    texts = [f"{'word ' * 9}{i}" for i in range(20_000)]
    outer = cached()
    vectors = outer.embed(texts, "passage")
    assert (outer.stats.hits, outer.stats.embedded) == (kept, 20_000 - kept)
    assert 3000 <= kept < 20_000
    np.testing.assert_array_equal(vectors, unit_rows(np.array([Hashing().vector(t) for t in texts])))


def _rows_or_none(path):
    try:
        return _rows(path)
    except sqlite3.Error:
        return 0


def test_processes_may_share_one_file_from_its_first_moment(path):
    processes = [_process(path, 0, 6000), _process(path, 3000, 9000), _process(path, 0, 9000)]
    outputs = [process.communicate(timeout=60)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert outputs[0].split()[1] == outputs[2].split()[1]
    assert _rows(path) == 9000


@pytest.fixture
def default(tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRCUT_CACHE", str(tmp_path / "cache"))
    default_cache().parent.mkdir()
    return default_cache()


@pytest.mark.parametrize("content", [b"this is not a database" * 1000, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_the_default_file_damaged_beyond_recognition_is_moved_aside_and_begun_again(default, cached, content):
    default.write_bytes(content)
    check_cache(default)
    outer = cached(where=default)
    with pytest.warns(FaircutWarning, match=r"damaged .* moved to vectors.sqlite.damaged-1"):
        outer.embed(["text"], "passage")
    assert default.with_name("vectors.sqlite.damaged-1").read_bytes() == content
    again = cached(where=default)
    again.embed(["text"], "passage")
    assert again.stats.hits == 1


def _foreign_database(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE vectors (mine)")
    connection.execute("PRAGMA user_version = 1")
    connection.close()


@pytest.mark.parametrize(
    "make",
    [
        lambda path: path.write_text('{"id": "a", "text": "the corpus"}'),
        lambda path: path.write_bytes(b"SQLite format 3\x00" + b"\xff" * 5000),
        _foreign_database,
    ],
    ids=["corpus", "damaged", "database"],
)
def test_a_file_of_the_users_is_refused_and_left_as_it_is(path, cached, make):
    make(path)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"vectors\.db: not a cache of vectors of faircut; name another file"):
        check_cache(path)
    with pytest.raises(StoreError, match="not a cache of vectors"):
        cached().embed(["text"], "passage")
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["vectors.db"]


def test_a_folder_or_device_is_refused(tmp_path, cached):
    for place in (tmp_path, Path("/dev/null")):
        with pytest.raises(StoreError, match="name a file"):
            check_cache(place)
    with pytest.raises(StoreError, match="a folder or device"):
        cached(where=tmp_path).embed(["text"], "passage")


def test_what_is_ours_new_or_empty_passes_and_looking_changes_nothing(path, cached):
    check_cache(path)
    assert not path.exists()
    path.touch()
    check_cache(path)
    outer = cached()
    outer.embed(["text"], "passage")
    check_cache(path)  # still open: the mark is in the file itself, not only in its log
    outer.close()
    check_cache(path)
    assert path.read_bytes()[68:72] == b"fcut"


def test_a_file_from_before_the_mark_is_still_ours(path, cached):
    first = cached()
    first.embed(["text"], "passage")
    first.close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA application_id = 0")
    connection.close()
    again = cached()
    again.embed(["text"], "passage")
    assert again.stats.hits == 1


def test_damage_inside_the_file_is_found_and_the_vectors_are_made_again(path, cached):
    texts = [f"text {i}" for i in range(4000)]
    first = cached()
    expected = first.embed(texts, "passage")
    first.close()
    data = bytearray(path.read_bytes())
    for page in range(2, len(data) // 16_384):
        data[page * 16_384 : page * 16_384 + 64] = b"\xa5" * 64
    path.write_bytes(data)
    with pytest.warns(FaircutWarning, match="damaged"):
        np.testing.assert_array_equal(cached().embed(texts, "passage"), expected)
    assert _rows(path) > 0


def test_a_stored_vector_that_is_not_a_unit_vector_is_made_again(path, cached):
    first = cached()
    expected = first.embed(["a", "b", "c"], "passage")
    first.close()
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE vectors SET vector = zeroblob(32) WHERE rowid = 1")
        connection.execute("UPDATE vectors SET vector = zeroblob(7) WHERE rowid = 2")
    connection.close()
    outer = cached()
    np.testing.assert_array_equal(outer.embed(["a", "b", "c"], "passage"), expected)
    assert (outer.stats.hits, outer.stats.embedded) == (1, 2)


def test_a_file_of_another_format_is_moved_aside(path, cached):
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA application_id = {int.from_bytes(b'fcut')}")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.warns(FaircutWarning, match="format 99, expected 1"):
        cached().embed(["text"], "passage")


def test_a_path_that_cannot_be_used_costs_one_warning_and_no_result(tmp_path, cached):
    (tmp_path / "file").write_text("in the way")
    outer = cached(where=tmp_path / "file" / "vectors.db")
    texts = [f"text {i}" for i in range(4500)]
    with pytest.warns(FaircutWarning, match="going on without it") as caught:
        vectors = outer.embed(texts, "passage")
    assert len(caught) == 1
    outer.embed(texts[:10], "passage")  # warnings are errors here: a second one would fail
    np.testing.assert_array_equal(vectors, unit_rows(np.array([Hashing().vector(t) for t in texts])))


def test_a_full_disk_costs_one_warning_and_no_result(path):
    pytest.importorskip("resource", reason="file sizes cannot be limited on this system")
    program = """
import resource, sys, warnings
sys.path.insert(0, sys.argv[1])
from test_cache import CachedEmbedder, Hashing, Path, np, unit_rows
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
texts = [f"text {i}" for i in range(9000)]
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    vectors = CachedEmbedder(Hashing(), Path(sys.argv[2])).embed(texts, "passage")
np.testing.assert_array_equal(vectors, unit_rows(np.array([Hashing().vector(t) for t in texts])))
print(*[w.message for w in caught], sep="\\n")
"""
    command = [sys.executable, "-c", program, str(Path(__file__).parent), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("going on without it") == 1, done.stdout


@pytest.mark.slow
def test_a_hundred_thousand_known_texts_are_looked_up_in_under_three_cpu_seconds(path, cached):
    texts = [f"{'word ' * 15}{i}" for i in range(100_000)]
    cached(Hashing(dimensions=384)).embed(texts, "passage")
    outer = cached(Hashing(dimensions=384))
    started = time.process_time()
    outer.embed(texts, "passage")
    assert time.process_time() - started < 3
    assert json.dumps(outer.stats.hits) == "100000"
