"""Why questions are missed, by chunker, on the chroma corpora: `docs/results/causes.md`.

Needs the labelled corpora beside the repository (../shared/data/chroma); takes about half an hour on two cores without a
cache of vectors, two minutes with one.
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from faircut import Plan, run
from faircut.evaluation.misses import CAUSES

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data" / "chroma"
OUT = ROOT / "docs" / "results" / "causes.md"
CHUNKERS = ("recursive", "semantic", "paragraph_500", "fixed_512", "structure", "hybrid", "optimal")


def main() -> None:
    plan = Plan(
        corpus=str(DATA / "corpus.jsonl.gz"),
        questions=str(DATA / "questions.jsonl.gz"),
        chunkers=CHUNKERS,
        baseline="recursive",
    )
    with TemporaryDirectory() as folder:
        board = run(plan, Path(folder) / "chroma")
        found = facts(Path(folder) / "chroma")
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(page(board, found), encoding="utf-8")
    print(OUT.read_text(encoding="utf-8"))


def facts(folder: Path) -> dict[str, dict]:
    """What the run folder knows of each row's misses."""
    rows = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["rows"]
    return {
        row["row"]: json.loads((folder / "diagnosis" / f"{row['scores']}.json").read_text(encoding="utf-8"))
        for row in rows
    }


def page(board: dict, found: dict[str, dict]) -> str:
    rows = [(row, found[row["row"]]) for row in board["rows"]]
    shown = [cause for cause in CAUSES if any(known["causes"][cause] for _, known in rows)]
    never = [cause for cause in CAUSES if cause not in shown]
    lines = [HEAD.format(questions=board["questions"], documents=board["corpus"]["documents"])]
    lines.append(f"| chunker | recall@1000t | missed | {' | '.join(shown)} |")
    lines.append("|---|---|---|" + "---|" * len(shown))
    lines += [cause_line(row, known, shown) for row, known in rows]
    lines.append(f"\nNo miss of these chunkers was {' or '.join(never)}." if never else "")
    lines.append(MOVED_HEAD)
    lines += [moved_line(row, known) for row, known in rows]
    lines.append(cost(rows))
    return "\n".join(lines) + "\n"


def cause_line(row: dict, known: dict, shown: list[str]) -> str:
    missed = known["missed"]
    shares = " | ".join(
        f"{100 * known['causes'][c] / missed:.0f} % ({known['causes'][c]})" if known["causes"][c] else "-"
        for c in shown
    )
    return f"| `{row['chunker']}` | {row['score']['mean']:.3f} | {missed} | {shares} |"


def moved_line(row: dict, known: dict) -> str:
    moved = known["moved"]
    counts = " | ".join(str(moved[name]) for name in ("hit", "still a miss", "not possible"))
    return f"| `{row['chunker']}` | {known['causes']['cut']} | {counts} |"


def cost(rows: list[tuple[dict, dict]]) -> str:
    seconds = sorted(known["seconds"] for _, known in rows)
    return (
        f"\nThe diagnosis of a row, its moved boundaries included, took {seconds[0]:.1f} to {seconds[-1]:.1f} s of "
        "processor time."
    )


HEAD = """# Why questions are missed, by chunker

Made by `bench/causes.py` on the chroma corpora: {questions} questions, {documents} documents searched together,
all-MiniLM-L6-v2, exact search. A miss is `hit@1000t` of 0: no piece of the evidence was delivered to 95 % within 1,000
tokens. Each miss has one cause, the first that holds in this order; [Diagnosis](../diagnosis.md) defines them.
"""

MOVED_HEAD = """
## Would another boundary have helped?

For each miss whose evidence is cut, every boundary inside it was moved by one sentence, back and forward; the two changed
chunks were embedded and ranked again. A move that breaks the chunker's own ceiling is not possible.

| chunker | cut | a hit with one boundary moved | still a miss | not possible |
|---|---|---|---|---|"""

if __name__ == "__main__":
    main()
