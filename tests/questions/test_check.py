"""A user's own questions: what weakens the set is told with its line, in linear time, and the set is described."""

import json
import time

import pytest

from faircut.questions.check import KINDS, Placed, find_problems
from faircut.questions.document_level import WholeDocument
from faircut.questions.formats import read_foreign
from faircut.questions.report import report_lines, report_set
from faircut.records import Document, Evidence, Question, Span

TEXT = (
    "Boats longer than nine metres moor at the outer quay. Nobody moors there at night. Every guest pays the fee at "
    "the green kiosk. Long before that, every guest pays the fee at the green kiosk."
)
DOCUMENTS = {"a": Document("a", TEXT), "b": Document("b", f"Again: {TEXT[:53]}")}


def at(quote, document="a"):
    start = DOCUMENTS[document].text.index(quote)
    return Evidence(document, Span(start, start + len(quote)))


def found(*questions, **options):
    placed = [Placed(f"q.jsonl:{n}", question) for n, question in enumerate(questions, start=1)]
    return [(f.kind, f.line) for f in find_problems(placed, DOCUMENTS, **options)]


def test_overlapping_evidence_is_told():
    pieces = (at("Nobody moors there at night."), at("there at night. Every"))
    ((kind, line),) = found(Question("1", "Is it quiet?", pieces))
    assert kind == "overlapping evidence"
    assert found(Question("1", "Is it quiet?", pieces, "any")) == []
    assert line == "q.jsonl:1: evidence [54, 82) and [67, 88) overlap in 'a'; make one piece of the two, or drop one."


def test_evidence_that_stands_elsewhere_is_told_unless_the_search_is_limited():
    moor = Question("1", "Where do big vessels tie up?", (at("Boats longer than nine metres moor at the outer quay"),))
    ((kind, line),) = found(moor)
    assert kind == "several places"
    assert "[7, 59) of 'b' too" in line
    assert found(Question("1", moor.text, moor.evidence, within="a")) == []
    twice = Question("2", "Who gets the money?", (at("very guest pays the fee at the green kiosk."),), within="a")
    assert [kind for kind, _ in found(twice)] == []
    ((kind, line),) = found(Question("2", "Who gets it?", (at("guest pays the fee at the green kiosk."),), within="a"))
    assert kind == "several places"
    assert found(Question("3", "Who?", (at("the fee"),))) == []


def test_words_duplicates_and_dangling_references_are_told_with_their_lines():
    kinds = found(
        Question("1", "Do boats longer than nine metres moor at the outer quay?", (at(TEXT[:52]),), within="a"),
        Question("2", "What does this section say?", (at("Nobody moors there at night."),)),
        Question("3", "What does this section say??", (at("Nobody moors there at night."),)),
    )
    assert [kind for kind, _ in kinds] == ["near-duplicate", "dangling reference", "dangling reference", "word overlap"]
    assert kinds[0][1].startswith("q.jsonl:3: nearly the same question as q.jsonl:2; ")
    assert "what 'this section' means" in kinds[1][1]
    assert kinds[3][1].startswith("q.jsonl:1: 100 % of the question's words")
    assert {kind for kind, _ in kinds} <= set(KINDS)
    assert len(found(Question("1", "Do boats moor?", (at(TEXT[:52]),)), max_overlap=1.0)) == 1


def test_a_set_is_described_by_positions_overlap_and_lengths():
    whole = Question("w", "Which document?", (WholeDocument("b", Span(0, 60)),))
    several = Question("s", "Two things?", (at("Nobody moors there at night."), at("Long before")))
    either = Question("e", "Either boats or guests?", (at("Boats"), at("guest")), "any")
    report = report_set([whole, several, either], DOCUMENTS)
    assert (report.questions, report.documents, report.corpus) == (3, 2, 2)
    assert sum(report.positions) == 4
    assert report.positions[0] == 1
    assert sum(report.overlap) == 2
    assert (report.several_pieces, report.alternatives, report.document_level) == (1, 1, 1)
    lines = report_lines(report, blocks=False)
    assert lines[0] == "questions: 3, on 2 of 2 documents; 1 needs several places together, 1 has alternatives"
    assert any("begin to end of the document: 1 0 0 1 1 0 0 1 0 0" in line for line in lines), lines
    assert "█" in "\n".join(report_lines(report))
    assert report_set([], DOCUMENTS).questions == 0


def large(tmp_path, count):
    """A corpus of about 3 MB and a file of questions."""
    sentences = [
        f"The owner of plot {n} pays {n * 7 % 1009} crowns to fund {n % 17} before week {n % 52}." for n in range(count)
    ]
    documents = {}
    lines = []
    for first in range(0, count, 50):
        text = " ".join(
            f"{s} Nothing more is known about that plot, whoever asks for it and why."
            for s in sentences[first : first + 50]
        )
        documents[f"d{first}"] = Document(f"d{first}", text)
        for n in range(first, min(first + 50, count)):
            gold = [{"document": f"d{first}", "quote": sentences[n]}]
            lines.append({"id": str(n), "question": f"What sum is due for parcel {n} and to whom?", "gold": gold})
    path = tmp_path / f"{count}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path, documents


def test_ten_thousand_questions_are_checked_in_under_thirty_seconds(tmp_path):
    path, documents = large(tmp_path, 10_000)
    start = time.process_time()
    reading = read_foreign(path, documents)
    findings = find_problems(reading.placed, documents)
    report_set(reading.questions, documents)
    spent = time.process_time() - start
    assert len(reading.questions) == 10_000
    assert findings == []
    assert spent < 30


@pytest.mark.slow
def test_checking_is_linear(tmp_path):
    def seconds(count):
        path, documents = large(tmp_path, count)
        start = time.process_time()
        find_problems(read_foreign(path, documents).placed, documents)
        return time.process_time() - start

    few = seconds(2_000)
    assert seconds(16_000) < 20 * few
