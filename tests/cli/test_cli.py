"""The command line as a person meets it: results on stdout, one clear sentence on stderr, the right exit code."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import polars as pl
import pytest

PROGRAM = [sys.executable, "-c", "from faircut.cli import main; main()"]


def faircut(*arguments, **options):
    return subprocess.run([*PROGRAM, *map(str, arguments)], capture_output=True, text=True, **options)


def refused(done, code, said):
    """The failure is said in one piece, without a traceback."""
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert re.search(said, done.stderr), done.stderr
    assert done.stdout == ""


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "a.md").write_text("# Title\n\nFirst sentence here. Second sentence there.\n")
    return tmp_path


def questions(path, *lines):
    path.write_text("".join(json.dumps(line) + "\n" if isinstance(line, dict) else line for line in lines))
    return path


GOOD = {"id": "1", "question": "What is first?", "gold": [{"document": "a.md", "quote": "First sentence here."}]}


def test_compare_prints_the_leaderboard_with_a_verdict_in_words(small, tmp_path):
    done = faircut(
        "compare", small / "corpus", small / "questions.jsonl", "-c", "recursive(max=60t)", "-c", "sentence(max=40t)",
        "--baseline", "recursive(max=60t)", "--measure", "recall@250t", "--runs", tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Against minilm::recursive(max=60t) by recall@250t" in done.stdout
    assert re.search(r"minilm::sentence\(max=40t\).*(better|worse|equivalent|no measured difference)", done.stdout)
    assert "80 % power" in done.stderr


def test_compare_json_is_the_leaderboard_of_the_run_folder(small, tmp_path):
    done = faircut(
        "compare", small / "corpus", small / "questions.jsonl", "-c", "sentence(max=40t)", "--runs", tmp_path,
        "--name", "x", "--json",
    )  # fmt: skip
    assert json.loads(done.stdout) == json.loads((tmp_path / "x" / "leaderboard.json").read_text())


def test_compare_takes_a_plan_and_flags_win_over_it(small, tmp_path):
    (small / "plan.toml").write_text('corpus = "corpus"\nquestions = "questions.jsonl"\nchunkers = ["recursive"]\n')
    done = faircut("compare", "--plan", small / "plan.toml", "-c", "sentence(30t)", "--json", "--runs", tmp_path)
    assert [r["chunker"] for r in json.loads(done.stdout)["rows"]] == ["sentence(30t)"]


def test_chunk_writes_the_same_records_as_jsonl_and_as_parquet(small, tmp_path):
    for name in ("chunks.jsonl", "chunks.parquet"):
        done = faircut("chunk", small / "corpus", "--chunker", "recursive(max=30t)", "--out", tmp_path / name)
        assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in (tmp_path / "chunks.jsonl").read_text().splitlines()]
    table = pl.read_parquet(tmp_path / "chunks.parquet").to_dicts()
    assert len(lines) == len(table) > 5
    for line, row in zip(lines, table, strict=True):
        assert line == {key: value for key, value in row.items() if value is not None}


def test_chunk_records_are_exact_and_carry_lines_and_headings(small):
    done = faircut("chunk", small / "corpus", "--chunker", "recursive(max=30t)")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    for record in records:
        text = (small / "corpus" / record["document"]).read_text()
        assert "".join(text[a:b] for a, b in record["spans"]) == record["text"]
        first, last = record["lines"]
        assert record["text"].split("\n")[0] in text.split("\n")[first - 1]
        assert record["text"].split("\n")[-1] in text.split("\n")[last - 1]
    fee = next(r for r in records if "eleven crowns" in r["text"])
    assert fee["headings"] == ["Harbour rules", "Fees"]


def test_audit_reports_each_chunker_and_a_file_of_chunks(small, tmp_path):
    faircut("chunk", small / "corpus", "-c", "sentence(30t)", "--out", tmp_path / "chunks.jsonl")
    kept = (tmp_path / "chunks.jsonl").read_text().splitlines(keepends=True)[1:]
    (tmp_path / "chunks.jsonl").write_text("".join(kept))
    done = faircut("audit", small / "corpus", "-c", "sentence(30t)", "--chunks", tmp_path / "chunks.jsonl", "--json")
    found = json.loads(done.stdout)
    assert found["sentence(30t)"]["ok"]
    assert found[str(tmp_path / "chunks.jsonl")]["lost"] > 0
    strict = faircut("audit", small / "corpus", "--chunks", tmp_path / "chunks.jsonl", "--strict")
    assert strict.returncode == 1


def test_audit_reads_the_parquet_that_chunk_writes(small, tmp_path):
    faircut("chunk", small / "corpus", "-c", "sentence(30t)", "--out", tmp_path / "chunks.parquet")
    done = faircut("audit", small / "corpus", "--chunks", tmp_path / "chunks.parquet", "--json")
    assert json.loads(done.stdout)[str(tmp_path / "chunks.parquet")]["ok"]
    (tmp_path / "chunks.parquet").write_bytes(b"PAR1")
    refused(faircut("audit", small / "corpus", "--chunks", tmp_path / "chunks.parquet"), 1, "cannot be read")


def test_all_bad_files_of_a_folder_are_named_at_once(corpus, tmp_path):
    path = questions(tmp_path / "q.jsonl", GOOD)
    (corpus / "b.txt").write_bytes(b"")
    (corpus / "c.pdf").write_bytes(b"not a pdf")
    done = faircut("compare", corpus, path, "-c", "recursive", "--runs", tmp_path.parent / "elsewhere")
    refused(done, 1, r"2 documents cannot be read; nothing was run\.\n.*b\.txt.*\n.*c\.pdf")


def test_list_names_every_kind_with_one_line_each():
    done = faircut("list")
    for name in ("recursive(", "semantic_p85", "minilm", "e5-small", "qdrant", "recall", "python:..."):
        assert re.search(rf"^  {re.escape(name)}", done.stdout, re.MULTILINE), name
    assert set(json.loads(faircut("list", "--json").stdout)) >= {"chunkers", "presets", "measures", "embedders"}


def test_help_is_fast_and_loads_nothing_heavy():
    heavy = "numpy onnxruntime scipy polars qdrant_edge tokenizers nupunkt torch"
    code = (
        "import sys, faircut.cli as c\nsys.argv = ['faircut', '--help']\n"
        "try: c.main()\nexcept SystemExit: pass\n"
        f"print([m for m in '{heavy}'.split() if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")


# ---------------------------------------------------------------- bad input


def test_an_empty_corpus_is_refused(tmp_path):
    path = questions(tmp_path / "q.jsonl", GOOD)
    (tmp_path / "empty").mkdir()
    refused(faircut("compare", tmp_path / "empty", path, "-c", "recursive"), 1, "the corpus is empty")
    refused(faircut("compare", tmp_path / "nowhere", path, "-c", "recursive"), 1, "no such file or folder")


@pytest.mark.parametrize(
    ("content", "said"), [(b"", "empty"), (b" \n\n ", "empty|white space"), (b"\x7fELF\x00\x01\xff\xfe", "not text")]
)
def test_an_empty_or_binary_document_is_refused(corpus, content, said):
    (corpus / "b.txt").write_bytes(content)
    out = corpus.parent / f"{corpus.name}-out"
    refused(faircut("chunk", corpus, "--out", out / "chunks.jsonl"), 3, rf"b\.txt.*({said})")
    assert sorted(p.name for p in corpus.iterdir()) == ["a.md", "b.txt"]
    assert {json.loads(line)["document"] for line in (out / "chunks.jsonl").read_text().splitlines()} == {"a.md"}


def test_broken_json_is_named_with_its_line(corpus, tmp_path):
    path = questions(tmp_path / "q.jsonl", GOOD, "{broken\n")
    refused(faircut("compare", corpus, path, "-c", "recursive"), 1, r"q\.jsonl:2")
    (tmp_path / "c.jsonl").write_text('{"id": "x", "text": "Some text."}\n{"id": }\n')
    refused(faircut("chunk", tmp_path / "c.jsonl", "--out", tmp_path / "out.jsonl"), 3, r"c\.jsonl:2")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"gold": []}, "evidence"),
        ({"gold": [{"document": "b.md", "start": 0, "end": 3}]}, "no document 'b.md'"),
        ({"gold": [{"document": "a.md", "start": 0, "end": 999}]}, "outside"),
        ({"gold": [{"document": "a.md", "quote": "sentence"}]}, "more than once"),
        ({"gold": [{"document": "a.md", "quote": "third"}]}, "is not in"),
    ],
)
def test_questions_that_do_not_fit_are_named_with_their_line(corpus, tmp_path, change, said):
    path = questions(tmp_path / "q.jsonl", GOOD, GOOD | {"id": "2"} | change)
    refused(faircut("compare", corpus, path, "-c", "recursive"), 1, rf"q\.jsonl:2.*{said}")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("recursiv", "did you mean 'recursive'"),
        ("recursive(maks=3)", "no parameter 'maks'"),
        ("recursive(max=0)", "at least|must be"),
        ("fixed(size=64, overlap=64)", "overlap must be below the size"),
        ("fixed(size=64, overlap=-1)", "overlap"),
        ("semantic(threshold=2)", "threshold"),
        ("recursive(", "cannot read the spec"),
        ("python:no_such_module:split", "cannot import"),
    ],
)
def test_a_wrong_chunker_is_a_usage_error_said_before_work(corpus, spec, said):
    refused(faircut("chunk", corpus, "--chunker", spec), 2, said)


def test_an_unknown_embedder_or_measure_names_the_nearest(corpus, tmp_path):
    path = questions(tmp_path / "q.jsonl", GOOD)
    refused(faircut("compare", corpus, path, "-c", "recursive", "-e", "minilmm"), 2, "did you mean 'minilm'")
    refused(faircut("compare", corpus, path, "-c", "recursive", "-m", "recal@5"), 2, "did you mean 'recall'")


def test_a_missing_argument_or_option_is_a_usage_error(tmp_path):
    refused(faircut("compare"), 2, "needs 'corpus'")
    refused(faircut("chunk"), 2, "path")
    refused(faircut("chunk", tmp_path, "--no-such"), 2, "No such option")
    refused(faircut("chunk", tmp_path, "--out", "chunks.csv"), 2, r"\.jsonl or \.parquet")
    refused(faircut("compare", "a", "b", "-c", "recursive", "--name", "../x"), 2, "name of a folder")


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))


@pytest.mark.parametrize("name", ["chunks.jsonl", "chunks.parquet"])
def test_a_full_disk_is_said_and_leaves_nothing_half_written(small, tmp_path, name):
    done = faircut("chunk", small / "corpus", "--out", tmp_path / "out" / name, preexec_fn=limit_files)
    refused(done, 1, "cannot write")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("size", [300, 1000])
def test_a_full_disk_ends_a_comparison_with_one_sentence(small, tmp_path, size):
    done = faircut(
        "compare", small / "corpus", small / "questions.jsonl", "-c", "recursive(max=60t)", "--runs", tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
    )  # fmt: skip
    refused(done, 1, "cannot write: File too large")
    assert not list(tmp_path.rglob("*.tmp"))


def test_a_folder_that_cannot_be_made_is_said(small, tmp_path):
    (tmp_path / "taken").write_text("a file")
    done = faircut(
        "compare", small / "corpus", small / "questions.jsonl", "-c", "recursive", "--runs", tmp_path / "taken"
    )
    assert done.returncode == 1
    assert "cannot create" in done.stderr
    assert "Traceback" not in done.stderr


def test_ctrl_c_is_one_sentence_and_keeps_what_was_finished(small, tmp_path):
    program = [
        *PROGRAM, "compare", str(small / "corpus"), str(small / "questions.jsonl"),
        "--runs", str(tmp_path), "--name", "x",
        "--cache", str(tmp_path / "vectors.sqlite"), *(f"-crecursive(max={n}t)" for n in range(20, 60)),
    ]  # fmt: skip
    with subprocess.Popen(program, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        for _ in range(400):
            time.sleep(0.05)
            if list((tmp_path / "x").glob("scores/*.parquet")):
                break
        os.kill(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "stopped; what was finished is kept" in said
    assert "Traceback" not in said
    assert list((tmp_path / "x" / "scores").glob("*.parquet"))
    assert not list(tmp_path.rglob("*.tmp"))


CTRL_C = """
import signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            {how}
sys.meta_path.insert(0, Finder())
from faircut.cli import main
sys.argv = ["faircut", "list"]
main()
"""
IN_A_CALLBACK = (
    "type('C', (), {'__del__': lambda self: signal.raise_signal(signal.SIGINT)})(); import time; time.sleep(9)"
)


@pytest.mark.parametrize("module", ["faircut.cli.app", "typer", "faircut.index"])
@pytest.mark.parametrize("how", ["signal.raise_signal(signal.SIGINT)", IN_A_CALLBACK], ids=["import", "callback"])
def test_ctrl_c_while_libraries_load_is_the_same_sentence(module, how):
    code = CTRL_C.format(module=module, how=how)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=8)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "faircut: stopped; what was finished is kept, run the same command again to continue.\n"


def test_the_entrance_loads_next_to_nothing_so_that_ctrl_c_can_hardly_fall_into_it():
    code = "import sys; before = set(sys.modules); import faircut; between = set(sys.modules); import faircut.cli; "
    code += "print(sorted(set(sys.modules) - between))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['faircut.cli']\n"


def test_control_characters_in_names_do_nothing_in_the_terminal(tmp_path):
    (tmp_path / "bad\x1b[31m\u202e.txt").write_bytes(b"\x00\x01\xff")
    done = faircut("chunk", tmp_path)
    assert done.returncode == 3
    assert "\x1b" not in done.stderr
    assert "\u202e" not in done.stderr


# ---------------------------------------------------------------- outputs and places


def run_in_shell(command, **names):
    if (bash := shutil.which("bash")) is None:
        pytest.skip("no bash here")
    return subprocess.run([bash, "-c", command], capture_output=True, text=True, env=os.environ | names, check=False)


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "faircut"
    path.write_text(f"#!/bin/sh\nexec {sys.executable} -c 'from faircut.cli import main; main()' \"$@\"\n")
    path.chmod(0o700)
    return str(path)


def test_a_reader_that_has_seen_enough_ends_the_program_quietly(tmp_path, program):
    (tmp_path / "long.txt").write_text("".join(f"Sentence number {n} stands here.\n" for n in range(4000)))
    command = '"$P" chunk "$F" -c "sentence(8t)" | head -1; echo "${PIPESTATUS[0]}"'
    done = run_in_shell(command, P=program, F=str(tmp_path / "long.txt"))
    assert done.stderr == ""
    first, status = done.stdout.splitlines()
    assert json.loads(first)["document"] == "long.txt"
    assert status == "141"
    done = run_in_shell('"$P" list | true; echo "${PIPESTATUS[0]}"', P=program)
    assert (done.stderr, done.stdout) == ("", "141\n")


def test_a_closed_stdout_is_said_before_work_and_is_no_matter_where_a_file_is_written(small, tmp_path, program):
    names = {"P": program, "C": str(small / "corpus"), "O": str(tmp_path / "out.jsonl")}
    done = run_in_shell('"$P" chunk "$C" >&-', **names)
    refused(done, 1, "the standard output is closed.*--out")
    done = run_in_shell('"$P" chunk "$C" --out "$O" >&-', **names)
    assert (done.returncode, (tmp_path / "out.jsonl").exists()) == (0, True)
    for command in ('"$P" list >&-', '"$P" audit "$C" -c recursive >&-', '"$P" chunk "$C" 2>&- | cat >/dev/null'):
        done = run_in_shell(command, **names)
        assert (done.returncode, done.stderr) == (0, ""), command


def test_a_comparison_may_run_without_stdout_or_stderr(small, tmp_path, program):
    names = {"P": program, "C": str(small), "R": str(tmp_path)}
    command = '"$P" compare "$C/corpus" "$C/questions.jsonl" -c "sentence(40t)" --runs "$R" --name x'
    assert "Traceback" not in (done := run_in_shell(f"{command} >&-", **names)).stderr
    assert done.returncode == 0
    assert (tmp_path / "x" / "leaderboard.json").exists()
    assert run_in_shell(f"{command} 2>&-", **names).returncode == 0
    assert run_in_shell(f"{command} --seed -1 2>&-", **names).returncode == 2


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device here that is always full")
@pytest.mark.parametrize("command", ["list", 'chunk "$C"', 'audit "$C" -c recursive'])
def test_a_full_stdout_is_one_sentence(small, program, command):
    done = run_in_shell(f'"$P" {command} >/dev/full', P=program, C=str(small / "corpus"))
    refused(done, 1, r"^faircut: .*No space left on device\.\n$")


def test_chunks_are_never_written_over_the_documents_or_among_them(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("native")
    native = folder / "c.jsonl"
    native.write_text('{"id": "a", "text": "Some text."}\n')
    (folder / "link.jsonl").symlink_to(native)
    before = native.read_bytes()
    refused(faircut("chunk", native, "--out", native), 2, "is .*which is read")
    refused(faircut("chunk", native, "--out", folder / "link.jsonl"), 2, "is .*which is read")
    refused(faircut("chunk", folder / "link.jsonl", "--out", native), 2, "is .*which is read")
    refused(faircut("chunk", folder / "*.jsonl", "--out", native), 2, "is .*which is read")
    refused(faircut("chunk", corpus, "--out", corpus / "sub" / "x.parquet"), 2, "lies inside .*outside of it")
    refused(faircut("chunk", ".", "--out", "x.jsonl", cwd=corpus), 2, "lies inside")
    (folder / "x.jsonl").mkdir()
    refused(faircut("chunk", corpus, "--out", folder / "x.jsonl"), 2, "is a file, found the folder")
    assert native.read_bytes() == before
    assert [p.name for p in corpus.iterdir()] == ["a.md"]


def test_a_run_is_never_written_among_the_documents(corpus, tmp_path_factory):
    path = questions(tmp_path_factory.mktemp("q") / "q.jsonl", GOOD)
    refused(faircut("compare", ".", path, "-c", "recursive", cwd=corpus), 2, "the run's folder .* lies inside")
    assert [p.name for p in corpus.iterdir()] == ["a.md"]


def test_a_cache_that_is_no_cache_is_refused_before_any_work(small, tmp_path):
    (tmp_path / "mine.jsonl").write_text('{"id": "a", "text": "The only copy."}\n')
    base = ["compare", small / "corpus", small / "questions.jsonl", "-c", "recursive", "--runs", tmp_path / "runs"]
    refused(faircut(*base, "--cache", tmp_path), 1, "a folder or device, not a file")
    refused(faircut(*base, "--cache", "."), 1, "a folder or device, not a file")
    refused(faircut(*base, "--cache", tmp_path / "mine.jsonl"), 1, "not a cache of vectors")
    assert (tmp_path / "mine.jsonl").read_text() == '{"id": "a", "text": "The only copy."}\n'
    assert [p.name for p in tmp_path.iterdir()] == ["mine.jsonl"]


@pytest.mark.parametrize("option", ["--runs", "--cache", "--plan"])
def test_an_empty_path_is_not_the_current_folder(corpus, tmp_path, option):
    path = questions(tmp_path / "q.jsonl", GOOD)
    refused(faircut("compare", corpus, path, "-c", "recursive", option, "", cwd=tmp_path), 2, "the path is empty")


def test_an_empty_name_of_the_documents_is_not_the_current_folder(corpus, tmp_path):
    path = questions(tmp_path / "q.jsonl", GOOD)
    refused(faircut("chunk", "", cwd=corpus), 1, "the path of the documents is empty")
    refused(faircut("audit", "", "-c", "recursive", cwd=corpus), 1, "the path of the documents is empty")
    refused(faircut("compare", "", path, "-c", "recursive", cwd=corpus), 2, "needs 'corpus'")
    refused(faircut("compare", ".", "", "-c", "recursive", cwd=corpus), 2, "needs 'questions'")
    refused(faircut("chunk", ".", "--out", "", cwd=corpus), 2, "the path is empty")
    refused(faircut("audit", ".", "--chunks", "", cwd=corpus), 2, "the path is empty")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--seed", "-1"], "the seed is a whole number from 0"),
        (["--band", "1e-300"], "band and alpha lie between"),
        (["--band", "nan"], "band and alpha lie between"),
        (["--name", "a\udcff"], "name: .* rename it"),
        (["-c", "fixed(size=1e999)"], "is too large"),
        (["-c", "fixed(" + "9" * 5000 + "t)"], "at most 15 digits"),
        (["-c", "semantic(window=99999999999999999999)"], "at most 15 digits"),
    ],
)
def test_a_number_or_name_that_cannot_work_is_a_usage_error(corpus, tmp_path, arguments, said):
    path = questions(tmp_path / "q.jsonl", GOOD)
    refused(faircut("compare", corpus, path, "-c", "recursive", *arguments), 2, said)


@pytest.mark.parametrize("size", ["-5", "0", "0t", "1e9", "p5", "x"])
def test_a_ceiling_that_is_no_size_is_a_usage_error(corpus, size):
    refused(faircut("audit", corpus, "-c", "recursive", "--ceiling", size), 2, "--ceiling is")


def test_names_cannot_write_lines_of_their_own_or_move_the_cursor(small, tmp_path):
    evil = tmp_path / "x\nfaircut: all is well.txt"
    evil.write_bytes(b"")
    refused(faircut("chunk", evil), 3, r"x\\nfaircut: all is well\.txt: .*empty")
    name = "n\x1b]0;pwn\x07\nResult: forged"
    done = faircut(
        "compare", small / "corpus", small / "questions.jsonl", "-c", "sentence(40t)", "--runs", tmp_path / "runs",
        "--name", name,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not {"\x1b", "\x07"} & set(done.stdout + done.stderr)
    (result,) = [line for line in done.stdout.splitlines() if line.startswith("Result:")]
    assert result.startswith(f"Result: {tmp_path}/runs/n\\x1b]0;pwn\\x07\\nResult: forged (")


def test_help_without_arguments_is_help_and_nothing_else():
    done = faircut()
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("faircut: Usage: faircut ")
    assert "is possible" not in done.stderr


def test_compare_without_a_chunker_says_how_to_name_one(corpus):
    refused(faircut("compare", corpus, "q.jsonl"), 2, r"name the chunkers with --chunker \(-c\).*faircut list")


def test_compare_does_not_replace_another_run_unless_told_so(corpus, tmp_path_factory):
    asked, runs = questions(tmp_path_factory.mktemp("q") / "q.jsonl", GOOD), tmp_path_factory.mktemp("runs")
    command = ("compare", corpus, asked, "--runs", runs, "--name", "x", "--json")
    assert faircut(*command, "-c", "fixed(6w)", "-c", "fixed(4w)").returncode == 0
    refused(faircut(*command, "-c", "fixed(6w)"), 2, r"1 row that this plan lacks \(minilm::fixed\(4w\)\); .*--replace")
    done = faircut(*command, "-c", "fixed(6w)", "--replace")
    assert [r["row"] for r in json.loads(done.stdout)["rows"]] == ["minilm::fixed(6w)"]


@pytest.mark.parametrize("name", ["q.csv", "q.md", "q.xlsx"])
def test_questions_that_are_no_json_lines_are_told_once_with_the_command_that_makes_them(corpus, name):
    path = corpus.parent / f"{corpus.name}-{name}"
    path.write_bytes(b"question,quote\n" + b"What?,First sentence here.\n" * 30)
    done = faircut("compare", corpus, path, "-c", "recursive")
    refused(done, 1, "is not JSON lines; `faircut questions convert FILE --corpus CORPUS --to native --out")
    assert len(done.stderr.splitlines()) == 1


def test_audit_prints_counts_of_a_language_model_only_where_there_is_one(corpus):
    done = faircut("audit", corpus, "-c", "fixed(6w)")
    assert "headings orphaned" in done.stdout
    assert not re.search("rewritten|statements|unfaithful|model asked", done.stdout)
    assert "rewritten" in json.loads(faircut("audit", corpus, "-c", "fixed(6w)", "--json").stdout)["fixed(6w)"]


def test_audit_says_once_that_the_embedder_did_not_read_all_while_cutting(corpus):
    for name in "bc":
        (corpus / f"{name}.txt").write_text("\n\n".join(f"{'word ' * 400}{n}." for n in range(3)))
    done = faircut("audit", corpus, "-c", "semantic(max=500t)", "-c", "fixed(100t)")
    assert done.stderr.count("warning") == 1, done.stderr
    assert "semantic(max=500t) gave minilm texts longer than it reads while cutting 2 of 3 documents" in done.stderr
