"""Files appear whole or not at all; a full disk is told as such whatever library writes; nothing stays behind."""

import os
import re
import signal
import subprocess
import sys
import threading

import numpy as np
import polars as pl
import pytest

from faircut.errors import StoreError
from faircut.files import is_utf8, remove_leftovers, write_atomically

TABLE = pl.DataFrame({"n": range(20_000)})
WRITERS = {
    "bytes": lambda file: file.write(b"x" * 50_000),
    "parquet": lambda file: TABLE.write_parquet(file),
    "array": lambda file: np.save(file, np.arange(20_000)),
}


def leftovers(folder):
    return sorted(p.name for p in folder.rglob("*.tmp"))


@pytest.mark.parametrize("writer", WRITERS)
def test_a_file_is_written_whole(tmp_path, writer):
    write_atomically(tmp_path / "sub" / "x", WRITERS[writer])
    assert (tmp_path / "sub" / "x").stat().st_size >= 10_000
    assert [p.name for p in (tmp_path / "sub").iterdir()] == ["x"]


def test_a_table_reads_back_as_it_was_written(tmp_path):
    write_atomically(tmp_path / "t.parquet", WRITERS["parquet"])
    assert pl.read_parquet(tmp_path / "t.parquet").equals(TABLE)


FULL = """
import resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_files import WRITERS, StoreError, write_atomically
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_atomically(Path(sys.argv[2]), WRITERS[sys.argv[3]])
except StoreError as error:
    print(error)
"""


@pytest.mark.parametrize("writer", WRITERS)
def test_a_full_disk_is_a_store_error_whatever_writes_and_the_earlier_file_stays(tmp_path, writer):
    pytest.importorskip("resource", reason="file sizes cannot be limited on this system")
    (tmp_path / "x").write_text("earlier")
    command = [sys.executable, "-c", FULL, os.path.dirname(__file__), str(tmp_path / "x"), writer]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert re.search(r"x: cannot write: File too large; free some space", done.stdout), done
    assert [p.name for p in tmp_path.iterdir()] == ["x"]
    assert (tmp_path / "x").read_text() == "earlier"


def test_what_fails_while_reading_is_not_told_as_writing(tmp_path):
    def copy(file):
        file.write((tmp_path / "not-there").read_bytes())

    with pytest.raises(FileNotFoundError, match="not-there"):
        write_atomically(tmp_path / "x", copy)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["x" * 250, "河" * 80, "with [brackets] and *.txt"])
def test_names_of_every_length_and_script_can_be_written(tmp_path, name):
    for content in (b"1", b"2"):
        write_atomically(tmp_path / name, lambda file, content=content: file.write(content))
    assert (tmp_path / name).read_bytes() == b"2"
    assert [p.name for p in tmp_path.iterdir()] == [name]


KILLED = """
import os, signal, sys
from pathlib import Path
from faircut.files import write_atomically
write_atomically(Path(sys.argv[1]), lambda file: (file.write(b"half"), os.kill(os.getpid(), int(sys.argv[2]))))
"""


def die_while_writing(path, number=signal.SIGKILL):
    subprocess.run([sys.executable, "-c", KILLED, str(path), str(int(number))], check=False)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_what_a_killed_process_left_goes_when_the_file_is_written_again(tmp_path, number):
    die_while_writing(tmp_path / "x", number)
    die_while_writing(tmp_path / "other", number)
    assert len(leftovers(tmp_path)) == 2
    write_atomically(tmp_path / "x", lambda file: file.write(b"all"))
    assert (tmp_path / "x").read_bytes() == b"all"
    assert [name[:7] for name in leftovers(tmp_path)] == [".other."]


def test_all_that_killed_processes_left_below_a_folder_is_removed_and_nothing_else(tmp_path):
    (tmp_path / "scores").mkdir()
    kept = [tmp_path / ".x.12345678.tmp", tmp_path / "x.tmp", tmp_path / ".lock", tmp_path / "scores" / "x.parquet"]
    for path in kept:
        path.write_text("the user's")
    die_while_writing(tmp_path / "x")
    die_while_writing(tmp_path / "scores" / "x.parquet")
    remove_leftovers(tmp_path)
    remove_leftovers(tmp_path / "nowhere")
    assert sorted(p for p in tmp_path.rglob("*") if p.is_file()) == sorted(kept)


def test_a_file_that_is_being_written_is_not_taken_as_left_over(tmp_path):
    writing, finish = threading.Event(), threading.Event()

    def slow(file):
        file.write(b"slow")
        writing.set()
        assert finish.wait(20)

    thread = threading.Thread(target=write_atomically, args=(tmp_path / "x", slow))
    thread.start()
    assert writing.wait(20)
    code = "import sys; from pathlib import Path; from faircut.files import *; remove_leftovers(Path(sys.argv[1])); "
    code += "write_atomically(Path(sys.argv[1]) / 'x', lambda file: file.write(b'fast'))"
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    assert (tmp_path / "x").read_bytes() == b"fast"
    finish.set()
    thread.join()
    assert (tmp_path / "x").read_bytes() == b"slow"
    assert leftovers(tmp_path) == []


def test_a_read_only_folder_is_a_store_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="cannot write"):
        write_atomically(tmp_path / "file" / "x", lambda file: file.write(b"x"))


@pytest.mark.parametrize(
    ("text", "can"), [("", True), ("a\0河👩‍🚀", True), ("a\ud800", False), (os.fsdecode(b"\xff"), False)]
)
def test_a_text_with_half_a_character_cannot_be_stored(text, can):
    assert is_utf8(text) is can
