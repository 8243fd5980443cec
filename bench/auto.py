"""How `auto` was found: a search on one half of the documents, one judgement on the other: `docs/results/auto.md`.

Needs the labelled corpora beside the repository (../shared/data); takes about two hours on two cores without a cache of
vectors, about twenty minutes with one. qmsum_val and the xquad sets stay out of it.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

import numpy as np

from faircut.evaluation.significance import holm
from faircut.evaluation.statistics import Contrast, compare_pairs
from labelled import SETS, Compared, Half, compared

OUT = Path(__file__).resolve().parent.parent / "docs" / "results" / "auto.md"
SEARCHES = ("dense", "zscore")
SIMPLE = ("recursive(256)", "recursive(128)", "sentence(max=128)")
CANDIDATES = (
    "structure(max=256)",
    "optimal(max=256)",
    "optimal(mean=100, max=256)",
    "optimal(max=256, vectors=true)",
    "hybrid(max=256t)",
    "semantic(max=256)",
)
"""Ceilings are what the embedder reads. A candidate must not be worse than the best of ``SIMPLE`` anywhere."""

Scores = dict[tuple[str, str], Compared]


def main() -> None:
    work = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    with TemporaryDirectory() as temporary:
        folder = work or Path(temporary)
        searched = run_all("search", (*SIMPLE, *CANDIDATES), folder)
        simple = {search: best_simple(searched, search) for search in SEARCHES}
        found = chosen(searched, simple)
        judged = run_all("judge", tuple(dict.fromkeys((*simple.values(), found, *SIMPLE[:2]))), folder)
    pages = [HEAD, *search_tables(searched, simple), said(simple, found), *judge_tables(judged, simple, found)]
    OUT.write_text("\n".join(pages), encoding="utf-8")
    print("\n".join(pages))


def run_all(half: Half, chunkers: tuple[str, ...], work: Path) -> Scores:
    return {(name, search): compared(name, half, chunkers, work, search=search) for name in SETS for search in SEARCHES}


def macro(scores: Scores, search: str, chunker: str) -> float:
    """Mean over the sets of the mean over their questions."""
    return mean(float(scores[name, search].scores(chunker).mean()) for name in SETS)


def best_simple(scores: Scores, search: str) -> str:
    return max(SIMPLE, key=lambda chunker: macro(scores, search, chunker))


def contrasts(scores: Scores, simple: dict[str, str], chunker: str) -> dict[tuple[str, str], Contrast]:
    """A chunker against the best simple one with the same search, on each set; corrected over all of them."""
    found = {}
    for search in SEARCHES:
        for name in SETS:
            here = scores[name, search]
            pair = {f"{name} {search}": (here.scores(simple[search]), here.scores(chunker))}
            [found[name, search]] = compare_pairs(pair, here.clusters)
    return found


def chosen(scores: Scores, simple: dict[str, str]) -> str:
    """Of the candidates that are nowhere worse, the one with the most sets where it is better, then the highest mean."""

    def key(chunker: str) -> tuple[int, int, float]:
        verdicts = [c.verdict for c in contrasts(scores, simple, chunker).values()]
        return -verdicts.count("worse"), verdicts.count("better"), mean(macro(scores, s, chunker) for s in SEARCHES)

    return max(CANDIDATES, key=key)


def search_tables(scores: Scores, simple: dict[str, str]) -> list[str]:
    lines = ["## The search, on half of the documents\n"]
    for search in SEARCHES:
        lines += [
            f"### {search}\n",
            f"| chunker | {' | '.join(SETS)} | mean | worse / better than `{simple[search]}` |",
        ]
        lines.append("|---|" + "---|" * (len(SETS) + 2))
        for chunker in (*SIMPLE, *CANDIDATES):
            values = [f"{scores[name, search].scores(chunker).mean():.3f}" for name in SETS]
            against = [contrasts(scores, simple, chunker)[name, search].verdict for name in SETS]
            counts = "-" if chunker == simple[search] else f"{against.count('worse')} / {against.count('better')}"
            lines.append(f"| `{chunker}` | {' | '.join(values)} | {macro(scores, search, chunker):.3f} | {counts} |")
        lines.append("")
    return lines


def judge_tables(scores: Scores, simple: dict[str, str], found: str) -> list[str]:
    """Against the best simple chunker with the same search, which decides, and against the other one beside it."""
    lines = ["## The judgement, once, on the other half\n"]
    others = {search: next(c for c in SIMPLE if c != simple[search]) for search in SEARCHES}
    titles = ("against the best simple chunker with the same search", "beside it: against the other size")
    for title, rivals in zip(titles, (simple, others), strict=True):
        pairs = {
            (search, name): judged(scores[name, search], rivals[search], found) for search in SEARCHES for name in SETS
        }
        verdicts = corrected(pairs)
        lines += [
            f"### {title}\n",
            f"| search | rival | {' | '.join(SETS)} | mean |",
            "|---|---|" + "---|" * (len(SETS) + 1),
        ]
        for search in SEARCHES:
            cells = [shown(pairs[search, name], verdicts[search, name]) for name in SETS]
            average = mean(pairs[search, name].difference for name in SETS)
            lines.append(f"| {search} | `{rivals[search]}` | {' | '.join(cells)} | {average:+.3f} |")
        lines.append("")
    lines += [
        f"### recall@1000t of `{found}` itself\n",
        f"| search | {' | '.join(SETS)} | mean |",
        "|---|" + "---|" * (len(SETS) + 1),
    ]
    for search in SEARCHES:
        values = [float(scores[name, search].scores(found).mean()) for name in SETS]
        lines.append(f"| {search} | {' | '.join(f'{v:.3f}' for v in values)} | {np.mean(values):.3f} |")
    return [*lines, ""]


def judged(here: Compared, rival: str, found: str) -> Contrast:
    [contrast] = compare_pairs({found: (here.scores(rival), here.scores(found))}, here.clusters)
    return contrast


def corrected(found: Mapping[tuple[str, str], Contrast], alpha: float = 0.05) -> dict[tuple[str, str], str]:
    """Verdicts corrected for all contrasts in a table: what is no longer significant is no measured difference."""
    p_values = dict(zip(found, holm([c.p for c in found.values()]), strict=True))
    sure = {key for key, c in found.items() if c.verdict == "equivalent" or p_values[key] < alpha}
    return {key: c.verdict if key in sure else "no measured difference" for key, c in found.items()}


def shown(contrast: Contrast, verdict: str) -> str:
    low, high = contrast.interval.low, contrast.interval.high
    return f"{contrast.difference:+.3f} [{low:+.3f}, {high:+.3f}], {verdict}"


def said(simple: dict[str, str], found: str) -> str:
    best = " and ".join(f"`{simple[search]}` for {search}" for search in SEARCHES)
    return f"Best of the simple ones here: {best}. Chosen for judgement: `{found}`.\n"


HEAD = """# How `auto` was found

Made by `bench/auto.py`: recall@1000t with all-MiniLM-L6-v2, exact search, five labelled sets. Every choice was made on the
half of the documents called *search*; the chosen configuration was then judged once on the other half. The rule: never
significantly worse than the best simple chunker with the same search, then significantly better on as many sets as
possible, then the highest mean. `dense` is the vectors alone, `zscore` adds BM25. Intervals are 95 %, paired and by document
where a set has at least 20 of them (chroma has 3 and 2); verdicts of the judgement are corrected for the ten contrasts of
their table (Holm), those of the search are not, since they only choose.
"""

if __name__ == "__main__":
    main()
