"""``faircut audit`` says how many chunks one edited sentence changes, on a sample that it states."""

import json
import re
import subprocess
import sys

import pytest

PROGRAM = [sys.executable, "-c", "from faircut.cli import main; main()"]


def faircut(*arguments):
    return subprocess.run([*PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    for name, count in {"long": 120, "short": 3}.items():
        sentences = (f"Tenant {n} pays for the {n % 7}th copy of the report." for n in range(count))
        (folder / f"{name}.txt").write_text(" ".join(sentences))
    return folder


def test_the_figure_and_its_sample_are_printed_for_each_chunker(corpus):
    done = faircut("audit", corpus, "-c", "structure(max=60t)", "-c", "fixed(size=200c)")
    assert done.returncode == 0, done.stderr
    said = re.findall(r"replaced .*inserted .*removed .*; 1 document of at most 20,000 characters", done.stdout)
    assert len(said) == 2
    worst = [max(map(int, re.findall(r"at most (\d+)\)", line))) for line in said]
    assert worst[0] <= 3 < 10 < worst[1]


def test_the_figure_is_in_the_json_and_can_be_left_out(corpus):
    found = json.loads(faircut("audit", corpus, "-c", "fixed(size=200c)", "--json").stdout)["fixed(size=200c)"]
    assert set(found["stability"]) == {"documents", "chunks", "replaced", "inserted", "removed", "worst", "words"}
    assert found["stability"]["documents"] == 1
    assert found["stability"]["inserted"]["worst"] > 10
    assert set(found) >= {
        "lost", "duplicated", "out_of_order", "offsets_wrong", "over_ceiling", "beyond_limit", "tables_cut", "code_cut",
        "headings_orphaned", "begin_inside_sentence",
    }  # fmt: skip
    without = faircut("audit", corpus, "-c", "fixed(size=200c)", "--json", "--no-stability")
    assert json.loads(without.stdout)["fixed(size=200c)"]["stability"] is None
    assert "sentence replaced" not in faircut("audit", corpus, "-c", "fixed(size=200c)", "--no-stability").stdout


def test_a_file_of_chunks_has_no_chunker_and_so_no_figure(corpus, tmp_path):
    assert faircut("chunk", corpus, "-c", "fixed(size=200c)", "--out", tmp_path / "c.jsonl").returncode == 0
    done = faircut("audit", corpus, "--chunks", tmp_path / "c.jsonl", "--json")
    assert json.loads(done.stdout)[str(tmp_path / "c.jsonl")]["stability"] is None
