"""What helps retrieval besides the cut: BM25, fusion, units beyond the chunk, best sentences: `docs/results/retrieval.md`.

Needs the labelled corpora beside the repository (../shared/data); takes about an hour on two cores without a cache of
vectors, about twenty minutes with one. A folder may be named to continue in.
"""

import sys
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

import numpy as np

from faircut.documents import read_corpus
from faircut.evaluation.statistics import Contrast, compare_pairs
from faircut.index.words import terms
from faircut.questions import read_questions
from labelled import SETS, Compared, compared, corpus_and_questions

OUT = Path(__file__).resolve().parent.parent / "docs" / "results" / "retrieval.md"
CHUNKERS = ("recursive(256)", "recursive(128)")
OPTIONS: tuple[tuple[str, dict], ...] = (
    ("BM25 alone", {"search": "bm25"}),
    ("dense + BM25, reciprocal ranks", {"search": "rrf"}),
    ("dense + BM25, z-scores", {"search": "zscore"}),
    ("dense, one neighbour on each side", {"deliver": "window(1)"}),
    ("dense, parent sections to 1,024 tokens", {"deliver": "parent(1024t)"}),
    ("dense, merged into parents from half of them", {"deliver": "merge(share=0.5, size=1024t)"}),
    ("dense, best sentence", {"best_sentence": True}),
)
HALF = "judge"
FUSED = "dense + BM25, z-scores"
SHARED = 0.5  # of the words of a question that stand in its evidence: from here, it uses the text's words


def main() -> None:
    with TemporaryDirectory() as temporary:
        work = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(temporary)
        pages = [HEAD]
        strata: list[str] = []
        for chunker in CHUNKERS:
            plain = {name: compared(name, HALF, (chunker,), work) for name in SETS}
            pages += [f"## `{chunker}`\n", TABLE, own_line(chunker, plain)]
            for title, options in OPTIONS:
                other = {n: compared(n, HALF, (chunker,), work, **options) for n in SETS}
                pages.append(line(title, chunker, plain, other))
                print(pages[-1], flush=True)
                if title == FUSED:
                    strata += [by_overlap(chunker, n, plain[n], other[n], overlaps(n, work)) for n in SETS]
            pages.append("")
    pages += [STRATA, *strata, ""]
    OUT.write_text("\n".join(pages), encoding="utf-8")


def own_line(chunker: str, plain: dict[str, Compared]) -> str:
    values = [float(plain[name].scores(chunker).mean()) for name in SETS]
    return f"| *dense, as it is* | {' | '.join(f'{v:.3f}' for v in values)} | {np.mean(values):.3f} | 1.0 |"


def line(title: str, chunker: str, plain: dict[str, Compared], other: dict[str, Compared]) -> str:
    found = {name: against(chunker, plain[name], other[name]) for name in SETS}
    cells = [shown(found[name]) for name in SETS]
    cost = mean(tokens(other[name], chunker) / tokens(plain[name], chunker) for name in SETS)
    return f"| {title} | {' | '.join(cells)} | {mean(c.difference for c in found.values()):+.3f} | {cost:.1f} |"


def overlaps(name: str, work: Path) -> np.ndarray:
    """For each question the share of its words of four letters and more that its evidence holds."""
    corpus, questions = corpus_and_questions(name, HALF, work / "halves")
    documents = {document.id: document for document in read_corpus(str(corpus))}
    shares = []
    for question in read_questions(str(questions), documents):
        words = {word for word in terms(question.text) if len(word) > 3}
        places = [documents[e.document_id].text[e.span.start : e.span.end] for e in question.evidence]
        shares.append(len(words & {word for text in places for word in terms(text)}) / max(len(words), 1))
    return np.array(shares)


def by_overlap(chunker: str, name: str, plain: Compared, other: Compared, shares: np.ndarray) -> str:
    cells = []
    for chosen in (shares >= SHARED, shares < SHARED):
        clusters = [c for c, keep in zip(plain.clusters, chosen, strict=True) if keep]
        pair = {name: (plain.scores(chunker)[chosen], other.scores(chunker)[chosen])}
        cells += [f"{chosen.sum():,}", shown(compare_pairs(pair, clusters)[0]) if len(clusters) > 1 else "-"]
    return f"| `{chunker}` | {name} | {' | '.join(cells)} |"


def against(chunker: str, plain: Compared, other: Compared) -> Contrast:
    [found] = compare_pairs({chunker: (plain.scores(chunker), other.scores(chunker))}, plain.clusters)
    return found


def tokens(result: Compared, chunker: str) -> float:
    return float(result.row(chunker)["cost"]["embedded_tokens"])


def shown(contrast: Contrast) -> str:
    low, high = contrast.interval.low, contrast.interval.high
    return f"{contrast.difference:+.3f} [{low:+.3f}, {high:+.3f}] {contrast.verdict}"


HEAD = """# What helps besides the cut: BM25, fusion, larger units, best sentences

Made by `bench/retrieval.py`: recall@1000t with all-MiniLM-L6-v2 and exact search, on the half of each set's documents that
no search for a configuration has seen. Each line is the same chunks, found or handed over in another way, against plain
dense search: difference, paired 95 % interval and verdict for each set, then the mean over sets. Everything that is
delivered is charged, and a place is delivered once. Verdicts are of each contrast by itself, not corrected for their number.
The last column is what is embedded, against plain chunks.
"""

TABLE = f"""| what | {" | ".join(SETS)} | mean | embedded |
|---|{"---|" * (len(SETS) + 2)}"""

STRATA = """## BM25's gain by the words that question and evidence share

Dense + BM25 by z-scores against dense, for questions of which at least half of the words (of four letters and more) stand in
the evidence, and for the others.

| chunker | set | questions | at least half | questions | fewer |
|---|---|---|---|---|---|"""

if __name__ == "__main__":
    main()
