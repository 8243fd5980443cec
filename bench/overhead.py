"""What a comparison costs besides the embedder, and how long commands take to start: `docs/results/overhead.md`.

Needs ../shared/data/covidqa. Run on a machine that does nothing else; the first run embeds everything.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from faircut import Plan, run
from faircut.embedding.minilm import Minilm

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data" / "covidqa"
OUT = ROOT / "docs" / "results" / "overhead.md"
CHUNKERS = ("recursive(max=256t)", "paragraph_500", "simple_500", "semantic")
COMMANDS = {
    "`import faircut`": "import faircut",
    "`faircut --help`": "import sys; sys.argv = ['faircut', '--help']; from faircut.cli import main; main()",
    "`python -c pass`, for comparison": "pass",
}


class Clock:
    """Wall seconds inside the embedder's own `embed`."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.inner = Minilm.embed

    def embed(self, model, texts, role, *, progress=None):
        started = time.perf_counter()
        vectors = self.inner(model, texts, role, progress=progress)
        self.seconds += time.perf_counter() - started
        return vectors


def main() -> None:
    clock = Clock()
    Minilm.embed = lambda model, texts, role, *, progress=None: clock.embed(model, texts, role, progress=progress)
    plan = Plan(str(DATA / "corpus.jsonl.gz"), str(DATA / "questions.jsonl.gz"), CHUNKERS)
    with TemporaryDirectory() as folder:
        first = timed(plan, Path(folder), "first")
        embedding = clock.seconds
        second = timed(plan, Path(folder), "second")
        again = embedded(Path(folder) / "second")
    OUT.write_text(page(first, embedding, second, again), encoding="utf-8")
    print(OUT.read_text(encoding="utf-8"))


def timed(plan: Plan, folder: Path, name: str) -> float:
    started = time.perf_counter()
    run(plan, folder / name, cache=folder / "vectors.sqlite")
    return time.perf_counter() - started


def embedded(folder: Path) -> int:
    return sum(json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["embedded_texts"].values())


def starts(code: str) -> float:
    """The fastest of seven starts, in seconds of wall time."""
    times = []
    for _ in range(7):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
        times.append(time.perf_counter() - started)
    return min(times)


def page(first: float, embedding: float, second: float, again: int) -> str:
    share = 100 * (first - embedding) / first
    lines = [
        "# What a comparison costs besides the embedder\n",
        f"Made by `bench/overhead.py` on {os.cpu_count()} cores: covidqa, 98 papers, 1,380 questions, four chunkers",
        f"({', '.join(f'`{c}`' for c in CHUNKERS)}), nothing cached.\n",
        "| | wall seconds |",
        "|---|---|",
        f"| first run, all of it | {first:.1f} |",
        f"| of which inside the embedder | {embedding:.1f} |",
        f"| everything else | {first - embedding:.1f} ({share:.1f} %) |",
        f"| second run, other folder, vectors from the cache: {again} texts embedded | {second:.1f} |\n",
        "## Starting\n",
        "| | seconds, fastest of seven |",
        "|---|---|",
        *(f"| {name} | {starts(code):.2f} |" for name, code in COMMANDS.items()),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
