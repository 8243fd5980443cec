"""`propositions` over every document of the chroma set with a real small model: docs/results/proposition_coverage.md.

Run `python bench/proposition_coverage.py [ANSWERS]`; needs the two packages of ``small_model`` and the labelled corpora
beside the repository (../shared/data), and takes hours of two cores. ANSWERS is a file in which the model's answers are
kept, so that a run that was stopped goes on. A model of 135 million parameters writes poor statements: what is measured
is that nothing of the text is lost, and what becomes of its answers.
"""

import sys
import tempfile
from pathlib import Path

from faircut.chunkers import CHUNKERS
from faircut.chunkers.contract import Models, Tally
from faircut.documents import read_corpus
from faircut.embedding import EMBEDDERS
from faircut.experiment.asking import MeteredModel
from faircut.llm import ChatModel, Endpoint, Timeouts
from small_model import NAME, missing, serving

REPOSITORY = Path(__file__).resolve().parent.parent
RESULT = REPOSITORY / "docs" / "results" / "proposition_coverage.md"
CORPUS = REPOSITORY.parent / "shared" / "data" / "chroma" / "corpus.jsonl.gz"
PENALTY, PARALLEL = 1.1, 8


def main():
    if lacking := missing():
        sys.exit(f"needs {' and '.join(lacking)}: `make test-all` installs them")
    with tempfile.TemporaryDirectory() as temporary:
        answers = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(temporary) / "answers.sqlite"
        with serving(parallel=PARALLEL, threads=2, penalty=PENALTY) as url:
            lines = rows(Endpoint(url, NAME, timeouts=Timeouts(read=900, total=900), concurrency=PARALLEL), answers)
    RESULT.write_text(PAGE.format(rows="\n".join(lines), penalty=PENALTY, model=NAME), encoding="utf-8")
    print(RESULT.read_text(encoding="utf-8"))


def rows(endpoint, answers):
    chunker, minilm = CHUNKERS.build("propositions"), EMBEDDERS.build("minilm")
    lines, sums = [], []
    for document in sorted(read_corpus(str(CORPUS)), key=lambda d: len(d.text)):
        tally = Tally()
        with ChatModel(endpoint, cache=answers) as model:
            metered = MeteredModel(model)  # counts what an earlier run paid for as well
            chunks = chunker.chunk(document, Models(minilm.tokenizer, minilm.overhead("passage"), None, metered, tally))
            taken = metered.account
        written = sum(chunk.text != document.text[chunk.spans[0].start : chunk.spans[-1].end] for chunk in chunks)
        numbers = (
            *not_blank(document.text, chunks), tally.asked, tally.statements, tally.unfaithful, tally.overlong,
            tally.fallbacks, tally.uncited, len(chunks), written, taken.prompt_tokens + taken.completion_tokens,
        )  # fmt: skip
        sums.append(numbers)
        lines.append(line(document.id, numbers))
        print(lines[-1], flush=True)
    return [*lines, line("**all**", tuple(map(sum, zip(*sums, strict=True))))]


def not_blank(text, chunks):
    """The characters of the text that are not blank, and how many of them are in no chunk."""
    covered = bytearray(len(text))
    for chunk in chunks:
        for span in chunk.spans:
            covered[span.start : span.end] = b"\1" * len(span)
    return (
        sum(not c.isspace() for c in text),
        sum(not c.isspace() and not seen for c, seen in zip(text, covered, strict=True)),
    )


def line(name, numbers):
    characters, lost, asked, statements, unfaithful, overlong, fallbacks, uncited, chunks, written, tokens = numbers
    share = f"{unfaithful:,} ({unfaithful / statements:.1%})" if statements else "0"
    return (
        f"| {name} | {characters:,} | {lost:,} ({1 - lost / characters:.2%}) | {asked:,} | {statements:,} | {share} "
        f"| {overlong:,} | {fallbacks:,} | {uncited:,} | {chunks:,} | {written:,} | {tokens:,} |"
    )


PAGE = """\
# Propositions by a small model: nothing lost, and what becomes of its statements

Made by `bench/proposition_coverage.py`: `propositions` with its defaults over every document of the chroma set, by
{model} on a llama.cpp server on the same machine (JSON schema, temperature 0, repetition penalty {penalty}). A model of
135 million parameters answers badly, which is the point: what it leaves out, makes up or breaks off must not cost a
character. Nothing here says how good propositions are by a model that can write them.

A statement is unfaithful when a content word or number of it is in none of its sources, nor in the title and the
headings above; it then gives way to its sources, as one above the ceiling does. Sentences without any usable answer,
asked down to one alone, and those that no statement cites stand for themselves.

| document | characters | in no chunk (covered) | sentences | statements | unfaithful | too long | without an answer | cited by none | chunks | of them written by the model | tokens, prompts and answers |
|---|---|---|---|---|---|---|---|---|---|---|---|
{rows}
"""

if __name__ == "__main__":
    main()
