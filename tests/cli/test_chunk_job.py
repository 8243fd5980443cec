"""``faircut chunk`` as a job: many files, some of them bad, stopped and continued, with the same bytes in the end."""

import gzip
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

import polars as pl
import pytest

PROGRAM = [sys.executable, "-c", "from faircut.cli import main; main()"]
ALL_WORDS = "sentence(8w)"

SPLITTER = '''
"""A splitter whose behaviour is asked for by the text, and which notes what it was given."""

import os
import pathlib
import signal
import time

LOG = pathlib.Path(__file__).with_name("log")


def split(text):
    with LOG.open("a") as log:
        log.write(f"{os.getpid()} {text.split()[0]}\\n")
    if "CRASHES" in text:
        os.kill(os.getpid(), signal.SIGSEGV)
    if "KILLED" in text:
        os.kill(os.getpid(), signal.SIGKILL)
    if "HANGS" in text:
        time.sleep(600)
    if "SLOW" in text:
        time.sleep(0.2)
    if "PRINTS" in text:
        os.write(1, b"noise on stdout")
    return [piece for piece in text.split("\\n") if piece.strip()]
'''


def faircut(*arguments, **options):
    return subprocess.run([*PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False, **options)


def files(folder, **texts):
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text)
    return folder


@pytest.fixture
def bench(tmp_path):
    """A working directory with a splitter of the user's in it."""
    (tmp_path / "cutter.py").write_text(SPLITTER)
    return tmp_path


def job(bench, *arguments, **options):
    command = ("chunk", "docs", "-c", "python:cutter:split", "--out", "out.jsonl", *arguments)
    return faircut(*command, cwd=bench, timeout=100, **options)


def cut_since(bench):
    """The first words of the texts that were cut since the last call."""
    log = bench / "log"
    found = sorted(line.split()[1] for line in log.read_text().splitlines()) if log.exists() else []
    log.unlink(missing_ok=True)
    return found


def documents(path):
    return list(dict.fromkeys(json.loads(line)["document"] for line in path.read_text().splitlines()))


# ---------------------------------------------------------------- some fail


def test_what_cannot_be_read_is_told_at_the_end_and_all_else_is_written_in_order(bench):
    files(bench / "docs", a="Alpha is here.", b="", c="Gamma is here.", e="Epsilon is here.")
    (bench / "docs" / "d.pdf").write_bytes(b"%PDF-1.7 broken")
    done = job(bench)
    assert done.returncode == 3
    assert documents(bench / "out.jsonl") == ["a.txt", "c.txt", "e.txt"]
    summary = done.stderr.splitlines()
    assert summary[0] == "faircut: 3 chunks of 3 documents in out.jsonl, cut by python:cutter:split."
    assert summary[1] == "faircut: 2 of 5 documents failed, the rest is written:"
    assert summary[2].startswith("  docs/b.txt: ")
    assert summary[3].startswith("  docs/d.pdf: ")
    assert len(summary) == 4


def test_when_all_fail_nothing_is_written_and_what_was_there_stays(bench):
    files(bench / "docs", a="", b=" \n")
    (bench / "out.jsonl").write_text("mine\n")
    done = job(bench)
    assert done.returncode == 3
    assert "2 of 2 documents failed, nothing is written:" in done.stderr
    assert (bench / "out.jsonl").read_text() == "mine\n"
    assert not (bench / "out.jsonl.parts").exists()


def test_without_out_the_readable_documents_go_to_stdout(bench):
    files(bench / "docs", a="Alpha is here.", b="", c="Gamma is here.")
    done = faircut("chunk", bench / "docs", "-c", ALL_WORDS)
    assert done.returncode == 3
    assert [json.loads(line)["text"] for line in done.stdout.splitlines()] == ["Alpha is here.", "Gamma is here."]
    assert sorted(p.name for p in bench.iterdir()) == ["cutter.py", "docs"]


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_worker_that_crashes_or_hangs_is_a_failed_document_and_the_job_goes_on(bench):
    files(bench / "docs", a="Alpha", b="Bad CRASHES", c="Gamma", d="Dead KILLED", e="Endless HANGS", f="Phi", g="Good")
    done = job(bench, "--timeout", "2", "--workers", "2")
    assert done.returncode == 3
    assert documents(bench / "out.jsonl") == ["a.txt", "c.txt", "f.txt", "g.txt"]
    assert "docs/b.txt: the process that read it crashed (SIGSEGV)" in done.stderr
    assert "docs/d.txt: the process that read it was killed (SIGKILL), perhaps for want of memory." in done.stderr
    assert "docs/e.txt: took longer than 2 seconds and was stopped; --timeout sets the limit." in done.stderr
    assert "3 of 7 documents failed" in done.stderr


def test_what_a_library_prints_is_not_taken_for_an_answer(bench):
    files(bench / "docs", a="Alpha PRINTS", b="Beta PRINTS")
    done = job(bench)
    assert (done.returncode, done.stdout) == (0, "")
    assert documents(bench / "out.jsonl") == ["a.txt", "b.txt"]


@pytest.mark.skipif(os.name != "posix", reason="names that are not UTF-8")
def test_hostile_names_are_escaped_in_errors_and_warnings(bench):
    folder = files(bench / "docs", ok="Fine.")
    for name in (b"a\nfaircut: all is well.txt", b"b\x1b[31m.txt", b"c\xff.txt", "d\u202e.txt".encode()):
        with open(os.path.join(os.fsencode(folder), name), "wb") as file:
            file.write(b"" if name[:1] != b"c" else b"text")
    done = job(bench)
    assert done.returncode == 3
    assert "4 of 5 documents failed" in done.stderr
    assert len(done.stderr.splitlines()) == 6
    assert not {"\x1b", "\u202e", "\udcff"} & set(done.stderr)
    for escaped in (r"a\nfaircut", r"b\x1b[31m", r"c\udcff", r"d\u202e"):
        assert escaped in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--workers", "0"], "--workers is at least 1"),
        (["--timeout", "0"], "above 0"),
        (["--timeout", "nan"], "above 0"),
    ],
)
def test_impossible_settings_are_refused_before_work(bench, arguments, said):
    files(bench / "docs", a="Alpha")
    done = job(bench, *arguments)
    assert (done.returncode, cut_since(bench)) == (2, [])
    assert said in done.stderr


# ---------------------------------------------------------------- the same bytes


@pytest.mark.slow
@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
def test_the_number_of_workers_makes_no_difference(bench, name):
    files(
        bench / "docs",
        **{f"f{n:02}": "\n".join(f"{n} {'SLOW' * (n % 5 == 0)} {m}" for m in range(5)) for n in range(11)},
    )
    results = []
    for workers in (1, 3):
        done = job(bench, "--workers", workers, "--out", f"{workers}-{name}")
        assert done.returncode == 0, done.stderr
        results.append((bench / f"{workers}-{name}").read_bytes())
    assert results[0] == results[1]


def test_unchanged_documents_are_not_cut_again_and_the_result_is_that_of_a_fresh_run(bench):
    folder = files(bench / "docs", a="Alpha\nOne.", b="Beta\nTwo.", c="Gamma\nThree.")
    assert job(bench).returncode == 0
    assert cut_since(bench) == ["Alpha", "Beta", "Gamma"]
    first = (bench / "out.jsonl").read_bytes()
    done = job(bench)
    assert "6 chunks of 3 documents in out.jsonl (3 unchanged since the last run), cut by" in done.stderr
    assert cut_since(bench) == []
    assert (bench / "out.jsonl").read_bytes() == first

    (folder / "a.txt").unlink()
    files(folder, b="Better\nTwo.", d="Delta\nFour.")
    assert job(bench).returncode == 0
    assert cut_since(bench) == ["Better", "Delta"]
    assert documents(bench / "out.jsonl") == ["b.txt", "c.txt", "d.txt"]
    assert job(bench, "--out", "fresh.jsonl").returncode == 0
    assert (bench / "fresh.jsonl").read_bytes() == (bench / "out.jsonl").read_bytes()
    cut_since(bench)
    assert job(bench, "--fresh").returncode == 0
    assert cut_since(bench) == ["Better", "Delta", "Gamma"]
    assert (bench / "fresh.jsonl").read_bytes() == (bench / "out.jsonl").read_bytes()


@pytest.mark.slow
def test_what_failed_is_tried_again_and_warnings_are_told_again(bench):
    folder = files(bench / "docs", a="Alpha", b="")
    page = "<nav>Home, About, Contact, Help</nav><main><p>Some text of the page.</p></main>"
    (folder / "c.html").write_text(f"<html><body>{page}</body></html>")
    first = job(bench)
    assert first.returncode == 3
    assert "docs/c.html: left out navigation" in first.stderr
    files(folder, b="Beta")
    second = job(bench)
    assert second.returncode == 0
    assert "docs/c.html: left out navigation" in second.stderr
    assert documents(bench / "out.jsonl") == ["a.txt", "b.txt", "c.html"]


@pytest.mark.slow
def test_another_spec_or_splitter_cuts_all_again(bench):
    files(bench / "docs", a="Alpha\nOne.")
    job(bench)
    assert cut_since(bench) == ["Alpha"]
    (bench / "cutter.py").write_text(SPLITTER + "# changed\n")
    job(bench)
    assert cut_since(bench) == ["Alpha"]
    done = faircut("chunk", "docs", "-c", ALL_WORDS, "--out", "out.jsonl", cwd=bench)
    assert "unchanged" not in done.stderr


def test_lines_of_a_corpus_are_documents_of_the_job(bench):
    lines = [
        {"id": "a", "text": "Alpha is here."},
        {"id": "b", "text": " "},
        {"id": "c", "text": "Gamma is here.", "source": "https://example.org/c"},
        {"id": "a", "text": "Another a."},
        {"id": "c", "text": "Gamma is here.", "source": "https://example.org/c"},
    ]
    corpus = bench / "corpus.jsonl.gz"
    corpus.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))
    done = faircut("chunk", corpus, "-c", ALL_WORDS, "--out", bench / "out.jsonl")
    assert done.returncode == 3
    records = [json.loads(line) for line in (bench / "out.jsonl").read_text().splitlines()]
    assert [(r["document"], r["text"], r.get("source")) for r in records] == [
        ("a", "Alpha is here.", None),
        ("c", "Gamma is here.", "https://example.org/c"),
    ]
    assert "corpus.jsonl.gz:2: the document 'b' has no text" in done.stderr
    assert "corpus.jsonl.gz:4: the id 'a' is taken by" in done.stderr
    assert "corpus.jsonl.gz:5: the id 'c' is taken by" in done.stderr
    lines[0]["text"] = "Alpha has changed."
    lines.insert(0, {"id": "new", "text": "New is here."})
    corpus.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))
    done = faircut("chunk", corpus, "-c", ALL_WORDS, "--out", bench / "out.jsonl")
    assert "3 chunks of 3 documents" in done.stderr
    assert "(1 unchanged since the last run)" in done.stderr  # line numbers moved, c did not change


# ---------------------------------------------------------------- stopped


def started(bench, *arguments):
    command = [*PROGRAM, "chunk", "docs", "-c", "python:cutter:split", "--out", "out.jsonl", *arguments]
    return subprocess.Popen(command, cwd=bench, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for_cuts(bench, count):
    for _ in range(1200):
        if (bench / "log").exists() and len((bench / "log").read_text().splitlines()) >= count:
            return
        time.sleep(0.05)
    pytest.fail("the job did not begin")


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="looks at processes in /proc")
@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_job_leaves_no_process_and_the_next_run_continues(bench, stop):
    files(bench / "docs", **{f"f{n:02}": f"N{n:02} SLOW\ntext" for n in range(20)})
    process = started(bench, "--workers", "2")
    wait_for_cuts(bench, 6)
    process.send_signal(stop)
    _, said = process.communicate(timeout=30)
    assert process.returncode == (-9 if stop == signal.SIGKILL else 130)
    if stop == signal.SIGINT:
        assert said == "faircut: stopped; what was finished is kept, run the same command again to continue.\n"
    assert not (bench / "out.jsonl").exists()
    workers = {int(line.split()[0]) for line in (bench / "log").read_text().splitlines()}
    for _ in range(100):
        if not any(map(is_running, workers)):
            break
        time.sleep(0.1)
    assert not [pid for pid in workers if is_running(pid)]
    before = len(cut_since(bench))
    assert job(bench).returncode == 0
    again = len(cut_since(bench))
    assert again <= 20 - before + 2 + 2  # those that the two workers were at, and those done but not noted yet
    assert documents(bench / "out.jsonl") == [f"f{n:02}.txt" for n in range(20)]
    assert job(bench, "--out", "fresh.jsonl", "--workers", "4").returncode == 0
    assert (bench / "fresh.jsonl").read_bytes() == (bench / "out.jsonl").read_bytes()


@pytest.mark.slow
def test_ctrl_c_while_the_file_is_written_leaves_the_old_file(bench):
    files(bench / "docs", a="Alpha", b="Beta")
    (bench / "out.parquet").write_text("old")
    code = (
        "import signal, polars as pl\n"
        "sink = pl.LazyFrame.sink_parquet\n"
        "def interrupted(*a, **k):\n"
        "    signal.raise_signal(signal.SIGINT)\n"
        "    return sink(*a, **k)\n"
        "pl.LazyFrame.sink_parquet = interrupted\n"
        "import sys; sys.argv = ['faircut', 'chunk', 'docs', '--out', 'out.parquet']\n"
        "from faircut.cli import main; main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=bench, capture_output=True, text=True, check=False)
    assert done.returncode == 130, done.stderr
    assert (bench / "out.parquet").read_text() == "old"
    assert not list(bench.glob(".*.tmp"))
    done = faircut("chunk", "docs", "--out", "out.parquet", cwd=bench)
    assert "(2 unchanged since the last run)" in done.stderr
    assert pl.read_parquet(bench / "out.parquet")["document"].to_list() == ["a.txt", "b.txt"]


@pytest.mark.slow
def test_two_jobs_do_not_write_to_one_place_at_once(bench):
    files(bench / "docs", a="Alpha HANGS")
    process = started(bench)
    try:
        wait_for_cuts(bench, 1)
        done = job(bench)
        assert done.returncode == 1
        assert "out.jsonl.parts: another job is writing here" in done.stderr
    finally:
        process.kill()
        process.communicate()


# ---------------------------------------------------------------- the folder of finished documents


def test_finished_documents_are_never_kept_among_the_documents(bench):
    (bench / "x.jsonl.parts").mkdir()
    files(bench / "x.jsonl.parts", a="Alpha")
    done = faircut("chunk", bench / "x.jsonl.parts", "--out", bench / "x.jsonl")
    assert done.returncode == 2
    assert "the folder of finished documents" in done.stderr
    assert [p.name for p in (bench / "x.jsonl.parts").iterdir()] == ["a.txt"]


def test_a_folder_or_file_of_others_is_not_taken_for_it(bench):
    files(bench / "docs", a="Alpha")
    other = files(bench / "out.jsonl.parts", mine="the only copy")
    done = job(bench)
    assert done.returncode == 1
    assert "not a folder of faircut, it holds 'mine.txt'" in done.stderr
    assert (other / "mine.txt").read_text() == "the only copy"
    (bench / "b.jsonl.parts").write_text("a file")
    assert "a file, but finished documents are kept" in job(bench, "--out", "b.jsonl").stderr


@pytest.mark.slow
def test_a_damaged_store_is_begun_anew(bench):
    files(bench / "docs", a="Alpha", b="Beta")
    assert job(bench).returncode == 0
    store = bench / "out.jsonl.parts" / "parts.sqlite"
    store.write_bytes(b"nonsense" * 1000)
    cut_since(bench)
    assert job(bench).returncode == 0
    assert cut_since(bench) == ["Alpha", "Beta"]
    with sqlite3.connect(store) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    done = job(bench)
    assert done.returncode == 1
    assert "of another version of faircut; delete it or use --fresh" in done.stderr
    assert job(bench, "--fresh").returncode == 0


def test_one_file_leaves_nothing_but_the_result(bench):
    files(bench / "docs", a="Alpha")
    assert faircut("chunk", "docs/a.txt", "-c", ALL_WORDS, "--out", "one.jsonl", cwd=bench).returncode == 0
    assert sorted(p.name for p in bench.iterdir()) == ["cutter.py", "docs", "one.jsonl"]


# ---------------------------------------------------------------- memory

PEAK = """
import resource, sys
from faircut.cli import main
try:
    main()
finally:
    peaks = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(*peaks)
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
def test_four_times_the_files_take_about_the_same_memory(bench, name):
    def peaks(count):
        text = "\n\n".join(f"Paragraph {n} says that the {n % 97}th lease is kept in the archive." for n in range(4000))
        folder = files(bench / f"docs{count}", **{f"f{n:03}": f"{n} {text}" for n in range(count)})
        command = [sys.executable, "-c", PEAK, "chunk", str(folder), "-c", "recursive(64t)", "--out", f"{count}-{name}"]
        done = subprocess.run(command, cwd=bench, capture_output=True, text=True, check=True)
        return [int(kilobytes) / 1024 for kilobytes in done.stdout.split()]

    small, large = peaks(40), peaks(160)
    print(small, large)
    assert large[0] < 1.2 * small[0] + 20
    assert large[1] < 1.2 * small[1] + 20


# ---------------------------------------------------------------- what the embedder does not see


def test_chunks_that_the_embedder_does_not_read_whole_are_counted_also_when_they_are_kept(tmp_path):
    files(tmp_path / "docs", a="The ship sails at noon. " * 100, b='Short. "tokens": 9000')
    for state in (", cut by fixed(size=400t).", " (2 unchanged since the last run), cut by fixed(size=400t)."):
        done = faircut("chunk", "docs", "-c", "fixed(400t)", "-o", "out.jsonl", cwd=tmp_path)
        tokens = [json.loads(line)["tokens"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
        over = sum(count > 254 for count in tokens)
        assert 0 < over < len(tokens)
        are = "is" if over == 1 else "are"
        assert done.stderr.splitlines() == [
            f"faircut: warning: {over} of {len(tokens)} chunks {are} longer than minilm reads (256 tokens); "
            "choose size=256t or another embedder.",
            f"faircut: {len(tokens)} chunks of 2 documents in out.jsonl{state}",
        ]
    done = faircut("chunk", "docs/b.txt", "-c", "fixed(256t)", cwd=tmp_path)
    assert done.stderr == "faircut: 1 chunk of 1 document, cut by fixed(size=256t).\n"


def test_two_chunkers_at_once_are_a_mistake_of_usage(tmp_path):
    files(tmp_path / "docs", a="Alpha is here.")
    done = faircut("chunk", "docs", "-c", "recursive", "-c", "auto", cwd=tmp_path)
    assert done.returncode == 2
    assert "one chunker at a time; found 2" in done.stderr
    assert done.stdout == ""
