"""Does a cosine above 0.7 mean "found"? Evidence against unrelated sentences, by embedder: `docs/results/cosines.md`.

    python bench/cosines.py [LABEL=SPEC ...]

Always measures `minilm`; other embedders are named with the label that the table shows, such as
`e5='openai("multilingual-e5-small", dimensions=384, url="http://127.0.0.1:8080/v1")'`. Needs the labelled corpora
beside the repository (../shared/data); about two minutes on two cores for `minilm`.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from faircut.chunkers import build
from faircut.chunkers.contract import Models
from faircut.documents import read_corpus
from faircut.embedding import EMBEDDERS
from faircut.embedding.cache import CachedEmbedder, default_cache
from faircut.embedding.contract import Embedder
from faircut.questions import read_questions
from faircut.records import Document, Evidence
from faircut.text.sentences import sentence_spans
from labelled import DATA

OUT = Path(__file__).resolve().parent.parent / "docs" / "results" / "cosines.md"
SETS = ("chroma", "covidqa", "qasper_dev")
CHUNKER = "recursive(200t)"
SAMPLED = 200  # pieces of evidence, sentences and true chunks of each set
DOCUMENTS = 20  # that sentences and evidence are drawn from, of each set
RULE = 0.7
PASSING = 0.01  # of unrelated pairs that may pass


@dataclass(frozen=True)
class Sample:
    """Texts of one set: pieces of evidence with the chunk that holds each, sentences; and which document each is of."""

    evidence: list[str]
    chunks: list[str]
    evidence_documents: np.ndarray
    sentences: list[str]
    sentence_documents: np.ndarray


def main() -> None:
    samples = {name: sample(name) for name in SETS}
    named = [("minilm", "minilm"), *(word.split("=", 1) for word in sys.argv[1:])]
    pages = [HEAD]
    for label, spec in named:
        embedder = CachedEmbedder(EMBEDDERS.build(spec), default_cache())
        for name in SETS:
            pages.append(line(label, name, samples[name], embedder))
            print(pages[-1], flush=True)
        embedder.close()
    OUT.write_text("\n".join([*pages, TAIL]), encoding="utf-8")


def sample(name: str) -> Sample:
    documents = {d.id: d for d in read_corpus(str(DATA / name / "corpus.jsonl.gz"))}
    questions = read_questions(DATA / name / "questions.jsonl.gz", documents)
    chance = np.random.default_rng(0)
    pieces = sorted({piece for question in questions for piece in question.evidence})
    ids = sorted({piece.document_id for piece in pieces})
    kept = {ids[at] for at in chance.permutation(len(ids))[:DOCUMENTS]}
    holders = [(piece, chunk) for piece in pieces if piece.document_id in kept and (chunk := holder(piece, documents))]
    drawn = [holders[at] for at in chance.permutation(len(holders))[:SAMPLED]]
    sentences = [(s, d) for d in sorted(kept) for s in sentences_of(documents[d])]
    others = [sentences[at] for at in chance.permutation(len(sentences))[:SAMPLED]]
    return Sample(
        [text_of(piece, documents) for piece, _ in drawn],
        [chunk for _, chunk in drawn],
        np.array([piece.document_id for piece, _ in drawn]),
        [text for text, _ in others],
        np.array([document for _, document in others]),
    )


def text_of(piece: Evidence, documents: dict[str, Document]) -> str:
    return documents[piece.document_id].text[piece.span.start : piece.span.end]


_CUT: dict[str, list] = {}
MODELS = Models.of(EMBEDDERS.build("minilm"))


def holder(piece: Evidence, documents: dict[str, Document]) -> str | None:
    """The chunk that holds a piece of evidence whole, and is not the evidence itself."""
    if piece.document_id not in _CUT:
        _CUT[piece.document_id] = build(CHUNKER).chunk(documents[piece.document_id], MODELS)
    for chunk in _CUT[piece.document_id]:
        if chunk.spans[0].start <= piece.span.start and piece.span.end <= chunk.spans[-1].end:
            return chunk.embedded_text if chunk.text.strip() != text_of(piece, documents).strip() else None
    return None


def sentences_of(document: Document) -> list[str]:
    """Sentences of 5 words and more."""
    found = (document.text[a:b].strip() for a, b in sentence_spans(document.text, document.language))
    return [text for text in found if len(text.split()) >= 5]


def line(label: str, name: str, drawn: Sample, embedder: Embedder) -> str:
    evidence = embedder.embed(drawn.evidence, "passage")
    chunks = embedder.embed(drawn.chunks, "passage")
    sentences = embedder.embed(drawn.sentences, "passage")
    apart = drawn.evidence_documents[:, None] != drawn.sentence_documents[None, :]
    unrelated = (evidence @ sentences.T)[apart]
    elsewhere = (evidence @ chunks.T)[drawn.evidence_documents[:, None] != drawn.evidence_documents[None, :]]
    true = np.einsum("nd,nd->n", evidence, chunks)
    threshold = float(np.quantile(unrelated, 1 - PASSING))
    values = [
        share(unrelated > RULE), share(elsewhere > RULE), share(true > RULE), f"{threshold:.2f}",
        share(elsewhere > threshold), share(true > threshold),
    ]  # fmt: skip
    return f"| {label} | {name} | {unrelated.size:,} | {' | '.join(values)} |"


def share(passing: np.ndarray) -> str:
    return f"{float(passing.mean()):.1%}".replace("%", " %")


HEAD = f"""# Cosine above {RULE}: what passes

Made by `bench/cosines.py`: up to {SAMPLED} pieces of evidence from up to {DOCUMENTS} documents of each set, each with
the `{CHUNKER}` chunk that holds it whole (the true chunk), and up to {SAMPLED} sentences of the same documents. A pair
is unrelated when its two texts are of different documents. The calibrated threshold is the cosine that {PASSING:.0%}
of the (evidence, unrelated sentence) pairs exceed. Vectors are those of passages, as `semantic_hit` compares them.
Embedders besides `minilm` were named on the command line: a static model through `model2vec`, a server of this machine
through `openai`.

| embedder | set | unrelated pairs | unrelated sentences above {RULE} | unrelated chunks above {RULE} | true chunks above {RULE} | calibrated threshold | unrelated chunks above it | true chunks above it |
|---|---|---|---|---|---|---|---|---|""".replace("1%", "1 %")


TAIL = """
A threshold belongs to one embedder and one kind of text: `semantic_hit(0.86)@5` takes another one than 0.7. And no
threshold finds all true chunks without unrelated ones, since a chunk says more than the evidence in it. `hit`, `recall`
and all other measures here go by where the evidence stands, so they need no threshold.
"""


if __name__ == "__main__":
    main()
