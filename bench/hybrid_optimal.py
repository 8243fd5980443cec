"""`hybrid` and `optimal` against `recursive` at one ceiling, with their size-matched controls: `docs/results/hybrid_optimal.md`.

Needs the labelled corpora beside the repository (../shared/data); takes about two hours on two cores without a cache of
vectors, about fifteen minutes with one. A folder may be named to continue in.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from labelled import SETS, compared

OUT = Path(__file__).resolve().parent.parent / "docs" / "results" / "hybrid_optimal.md"
CHUNKERS = ("recursive(256)", "hybrid(max=256t)", "optimal(max=256)")
BUDGETS = ("250", "500", "1000", "2000")


def main() -> None:
    pages = [HEAD]
    with TemporaryDirectory() as temporary:
        work = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(temporary)
        for name in SETS:
            board = compared(name, "whole", CHUNKERS, work, baseline=CHUNKERS[0], controls=True).board
            pages.append(section(name, board))
            print(pages[-1], flush=True)
    OUT.write_text("\n".join(pages), encoding="utf-8")


def section(name: str, board: dict) -> str:
    planned, controls = board["planned"], {c["name"]: c for c in board["controls"]}
    rows = {row["chunker"]: row for row in board["rows"]}
    lines = [
        f"## {name}\n",
        f"{board['questions']:,} questions, {board['corpus']['documents']} documents; tested by {planned['unit']}.\n",
        TABLE,
    ]
    for chunker in CHUNKERS:
        own, shuffled = rows[chunker], rows[f"shuffled({chunker})"]
        lines.append(score_line(chunker, own, controls[own["row"]]))
        lines.append(score_line("its control", shuffled, None))
    return "\n".join([*lines, ""])


def score_line(title: str, row: dict, control: dict | None) -> str:
    curve = " | ".join(f"{row['curve'][budget]:.3f}" for budget in BUDGETS)
    name = f"`{title}`" if control else f"*{title}*"
    size = f"{row['chunks']:,} | {row['size']['median']:.0f}"
    return f"| {name} | {size} | {curve} | {said(row['contrast'])} | {said(control)} | {row['integrity']['words']} |"


def said(contrast: dict | None) -> str:
    if contrast is None:
        return "-"
    low, high = contrast["interval"]["low"], contrast["interval"]["high"]
    return f"{contrast['difference']:+.3f} [{low:+.3f}, {high:+.3f}], {contrast['verdict']}"


HEAD = """# `hybrid` and `optimal` against `recursive` at the same ceiling

Made by `bench/hybrid_optimal.py`: recall at equal budgets of tokens with all-MiniLM-L6-v2, exact dense search. Every ceiling
is 256 tokens, what the embedder reads. A control has its chunker's lengths in shuffled order. Differences are of
recall@1000t with their paired 95 % intervals; verdicts are corrected for the five contrasts with `recursive(256)` (Holm),
those with the controls for the three of them.
"""

TABLE = """| chunker | chunks | median tokens | @250t | @500t | @1000t | @2000t | against `recursive(256)` | against its control | integrity |
|---|---|---|---|---|---|---|---|---|---|"""

if __name__ == "__main__":
    main()
