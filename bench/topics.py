"""Do cuts fall where people see a new topic? Pk and WindowDiff on meetings with known topics: `docs/results/topics.md`.

Needs the labelled corpora beside the repository (../shared/data); takes about three minutes on two cores.
"""

import gzip
import json
from pathlib import Path
from statistics import mean

import numpy as np

from faircut.chunkers import build
from faircut.chunkers.contract import Models
from faircut.documents import read_corpus
from faircut.embedding import EMBEDDERS
from faircut.embedding.cache import CachedEmbedder, default_cache
from faircut.evaluation.boundaries import nearest_units, pk, window_diff
from faircut.evaluation.statistics import compare_pairs
from labelled import DATA

OUT = Path(__file__).resolve().parent.parent / "docs" / "results" / "topics.md"
CORPUS = DATA / "qmsum_val" / "corpus.jsonl.gz"
SIZES = (150, 2000)


def chunkers(size: int) -> list[str]:
    """Chunkers of about one mean size; the ceiling is that of the true topics' spread."""
    limits = f"max={3 * size}t"
    return [
        f"recursive({size}t)",
        f"structure(max={2 * size}t)",
        f"semantic(threshold=p{95 if size < 1000 else 99}, max={3 * size}t)",
        f"hybrid(threshold=0.2, {limits})" if size < 1000 else f"hybrid(threshold=0.0, {limits})",
        f"optimal(mean={size}t, {limits})",
        f"optimal(mean={size}t, {limits}, vectors=true)",
    ]


def main() -> None:
    models = Models.of(CachedEmbedder(EMBEDDERS.build("minilm"), default_cache()))
    documents = list(read_corpus(str(CORPUS)))
    topics = read_topics()
    pages = [HEAD.format(documents=len(documents), segments=mean(len(t) + 1 for t in topics.values()))]
    for size in SIZES:
        pages.append(TABLE.format(size=size))
        for spec in chunkers(size):
            pages.append(line(spec, documents, topics, models))
            print(pages[-1], flush=True)
        pages.append("")
    OUT.write_text("\n".join(pages), encoding="utf-8")


def read_topics() -> dict[str, set[int]]:
    """For each meeting the utterances that begin or follow a stretch of one topic."""
    found = {}
    with gzip.open(CORPUS, "rt", encoding="utf-8") as file:
        for raw in file:
            record = json.loads(raw)
            places = {place for topic in record["topics"] for span in topic["spans"] for place in span}
            found[record["id"]] = nearest_units(places, utterances(record["text"])) - {0}
    return found


def utterances(text: str) -> list[int]:
    """Where each line of a meeting begins: one utterance each."""
    return [0, *(i + 1 for i, c in enumerate(text[:-1]) if c == "\n")]


def errors(spec: str, documents, topics, models) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Pk and WindowDiff of each meeting, and how many chunks there are."""
    pks, diffs, counts = [], [], []
    for document in documents:
        edges = utterances(document.text)
        chunks = build(spec).chunk(document, models)
        found = nearest_units([c.spans[0].start for c in chunks], edges)
        pks.append(pk(topics[document.id], found, len(edges)))
        diffs.append(window_diff(topics[document.id], found, len(edges)))
        counts.append(len(chunks))
    return np.array(pks), np.array(diffs), counts


def line(spec: str, documents, topics, models) -> str:
    own, control = errors(spec, documents, topics, models), errors(f"shuffled({spec})", documents, topics, models)
    cells = [f"`{spec}`", f"{mean(own[2]):.1f}"]
    ids = [d.id for d in documents]
    for mine, shuffled in zip(own[:2], control[:2], strict=True):
        [paired] = compare_pairs({spec: (shuffled, mine)}, ids)
        cells += [f"{mine.mean():.3f}", f"{shuffled.mean():.3f}"]
        cells += [f"{paired.difference:+.3f} ({paired.interval.low:+.3f} to {paired.interval.high:+.3f})"]
    return f"| {' | '.join(cells)} |"


HEAD = """# Cuts and topics: Pk and WindowDiff

Made by `bench/topics.py` on the {documents} meetings of qmsum_val, whose topics people marked: on average {segments:.1f} stretches a
meeting. Units are utterances, the window is half the mean true stretch; both measures are error rates, 0 is perfect. The
control has the same chunk lengths in shuffled order; the difference is paired by meeting, with its 95 % interval, and
negative when the chunker's cuts are nearer to the topics than its lengths alone explain.
"""

TABLE = """
## Chunks of about {size:,} tokens

| chunker | chunks a meeting | Pk | control | difference | WindowDiff | control | difference |
|---|---|---|---|---|---|---|---|"""

if __name__ == "__main__":
    main()
