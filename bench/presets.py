"""The six presets and their size-matched controls on three labelled sets: `docs/results/presets.md`.

Needs the labelled corpora beside the repository (../shared/data); takes about half an hour on two cores without a cache
of vectors, a minute with one.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from faircut import Plan, run

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"
OUT = ROOT / "docs" / "results" / "presets.md"
SETS = ("chroma", "covidqa", "contractnli_dev")
PRESETS = ("recursive", "simple_500", "paragraph_500", "fixed_512", "semantic", "semantic_p85")
BUDGETS = ("250", "500", "1000", "2000")


def main() -> None:
    pages = [HEAD]
    for name in SETS:
        pages.append(section(name, compared(name)))
        OUT.write_text("\n".join(pages), encoding="utf-8")
        print(pages[-1], flush=True)


def compared(name: str) -> dict:
    plan = Plan(
        corpus=str(DATA / name / "corpus.jsonl.gz"),
        questions=str(DATA / name / "questions.jsonl.gz"),
        chunkers=PRESETS,
        baseline="recursive",
        controls=True,
    )
    with TemporaryDirectory() as folder:
        return run(plan, Path(folder) / name)


def section(name: str, board: dict) -> str:
    planned = board["planned"]
    control = {c["name"]: c for c in board["controls"]}
    own = [r for r in board["rows"] if not r["chunker"].startswith("shuffled")]
    lines = [
        f"## {name}\n",
        f"{board['questions']:,} questions, {board['corpus']['documents']} documents; tested by {planned['unit']}, "
        f"{planned['units']} of them.\n",
        TABLE,
        *(score_line(r, control[r["row"]]) for r in own),
        "",
        COST_TABLE,
        *(cost_line(r) for r in own),
        "",
    ]
    return "\n".join(lines)


def score_line(row: dict, control: dict) -> str:
    curve = " | ".join(f"{row['curve'][b]:.3f}" for b in BUDGETS)
    score, contrast = row["score"], row["contrast"]
    verdict = f"{contrast['difference']:+.3f}, p {contrast['p_holm']:.4f}, {contrast['verdict']}" if contrast else "-"
    shuffled = f"{control['difference']:+.3f}, p {control['p_holm']:.4f}, {control['verdict']}"
    return f"| `{row['chunker']}` | {curve} | {score['low']:.3f} to {score['high']:.3f} | {verdict} | {shuffled} |"


def cost_line(row: dict) -> str:
    size, cost = row["size"], row["cost"]
    return (
        f"| `{row['chunker']}` | {row['chunks']:,} | {size['p5']:.0f} / {size['median']:.0f} / {size['p95']:.0f} "
        f"| {row['beside']['recall@5']['mean']:.3f} at {row['tokens_at']['5']:,.0f} "
        f"| {cost['embedded_per_document_token']:.2f} | {row['integrity']['words']} |"
    )


HEAD = """# The six presets against their size-matched controls

Made by `bench/presets.py`; all-MiniLM-L6-v2, exact search, recall at equal budgets of tokens. The baseline is `recursive`
with its 512 tokens, of which the embedder sees 256, as in many set-ups; p is corrected for the eleven contrasts with it
(Holm), and for the six contrasts with a control. A control has the same chunk lengths in shuffled order: a chunker that
is not better than its control owes its score to its sizes, not to where it cuts. Differences inside 0.03 are equivalent.
"""

TABLE = """| chunker | @250t | @500t | @1000t | @2000t | 95 % of @1000t | against `recursive` | against its control |
|---|---|---|---|---|---|---|---|"""

COST_TABLE = """| chunker | chunks | tokens 5 / 50 / 95 % | recall@5 at tokens | embedded per document token | integrity |
|---|---|---|---|---|---|"""

if __name__ == "__main__":
    main()
