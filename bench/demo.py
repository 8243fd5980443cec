"""The result of `make demo` as the README shows it: `docs/results/demo.md`. Run with an empty cache of vectors."""

import re
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from faircut import load_plan, run
from faircut.report.data import results_of
from faircut.report.terminal import print_results

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "docs" / "results" / "demo.md"


def main() -> None:
    plan = load_plan(ROOT / "examples" / "demo.toml")
    with TemporaryDirectory() as folder:
        board = run(plan, Path(folder) / "demo", cache=Path(folder) / "vectors.sqlite")
    console = Console(file=StringIO(), width=124)
    print_results(results_of(board), console)
    shown = "\n".join(line.rstrip() for line in console.file.getvalue().splitlines())
    shown = re.sub(r"\n{2,}", "\n\n", shown)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(f"{HEAD}\n```text\n{shown}\n```\n", encoding="utf-8")
    print(OUT.read_text(encoding="utf-8"))


HEAD = """# The sample comparison

Made by `bench/demo.py`: the plan of `make demo`, eight chunkers on the sample corpus (`examples/`), with nothing cached.
Seconds are of one run on two cores.
"""

if __name__ == "__main__":
    main()
