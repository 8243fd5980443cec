"""Late pooling against ordinary vectors of the same chunks: `docs/results/late.md`.

Needs the labelled corpora beside the repository (../shared/data); about half an hour on two cores. A folder may be named
to continue in.
"""

import sys
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

from faircut.evaluation.statistics import Contrast, compare_pairs
from labelled import Compared, compared

OUT = Path(__file__).resolve().parent.parent / "docs" / "results" / "late.md"
SETS = ("covidqa", "contractnli_dev", "cuad_open", "qasper_dev")
CHUNKERS = ("recursive(128)", "recursive(256)", "hybrid")
ORDINARY, LATE = "minilm", "late(minilm)"
HALF = "judge"


def main() -> None:
    with TemporaryDirectory() as temporary:
        work = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(temporary)
        runs = {
            embedder: {name: compared(name, HALF, CHUNKERS, work, embedders=(embedder,)) for name in SETS}
            for embedder in (ORDINARY, LATE)
        }
    pages = [HEAD, *(line(chunker, runs) for chunker in CHUNKERS), "", ORDER, *(order(name, runs) for name in SETS), ""]
    OUT.write_text("\n".join(pages), encoding="utf-8")
    print("\n".join(pages))


def line(chunker: str, runs: dict[str, dict[str, Compared]]) -> str:
    found = [contrast(chunker, runs[ORDINARY][name], runs[LATE][name]) for name in SETS]
    return f"| `{chunker}` | {' | '.join(map(shown, found))} | {mean(c.difference for c in found):+.3f} |"


def contrast(chunker: str, ordinary: Compared, late: Compared) -> Contrast:
    [found] = compare_pairs({chunker: (ordinary.scores(chunker), late.scores(chunker))}, ordinary.clusters)
    return found


def shown(found: Contrast) -> str:
    return f"{found.difference:+.3f} [{found.interval.low:+.3f}, {found.interval.high:+.3f}] {found.verdict}"


def order(name: str, runs: dict[str, dict[str, Compared]]) -> str:
    """The means of all chunkers with both kinds of vectors."""
    cells = [f"{runs[kind][name].scores(chunker).mean():.3f}" for kind in (ORDINARY, LATE) for chunker in CHUNKERS]
    return f"| {name} | {' | '.join(cells)} |"


HEAD = f"""# Late pooling against ordinary vectors

Made by `bench/late.py`: recall@1000t with all-MiniLM-L6-v2 and exact search, on the half of each set's documents that no
search for a configuration has seen. The same chunks and questions; only the chunks' vectors differ: `late(minilm)` pools
the vectors that a chunk's tokens have in windows of the whole document. Each cell: late minus ordinary, paired 95 %
interval by document, verdict (of each contrast by itself, not corrected for their number). This model was trained on
passages that stand alone and sees 256 tokens at a time; models with windows of thousands of tokens may gain where it does not.

| chunker | {" | ".join(SETS)} | mean |
|---|{"---|" * (len(SETS) + 1)}"""

ORDER = f"""Means with ordinary vectors, then with late ones:

| set | {" | ".join(f"`{c}`" for c in CHUNKERS)} | {" | ".join(f"`{c}`, late" for c in CHUNKERS)} |
|---|{"---|" * (2 * len(CHUNKERS))}"""

if __name__ == "__main__":
    main()
