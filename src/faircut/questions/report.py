"""A set of questions -> what is to be known of it before it decides anything: positions, overlap, lengths, sources.

What the set can show (its power) belongs to the statistics, and is put beside this by the command line.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import quantiles

from faircut.index.words import terms
from faircut.questions.counting import counted
from faircut.questions.document_level import DOCUMENT_MEASURES, is_document_level
from faircut.questions.filters import word_overlap
from faircut.records import Document, Evidence, Question

__all__ = ["SetReport", "report_lines", "report_set"]

_ONLY = f"of measures, only {', '.join(DOCUMENT_MEASURES)} can be taken"
_BINS = 10
_STRATA = ("below 25 %", "25 to 50 %", "50 to 75 %", "75 % and more")
_BARS = " ▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class SetReport:
    """Counts over the questions of a set.

    Attributes:
        questions: how many.
        documents: how many of the corpus have evidence.
        corpus: how many documents there are.
        positions: pieces of evidence by where their middle is in their document, in ten bins from begin to end.
        overlap: questions by the share of their content words that stands in their evidence, in four strata.
        question_words: quartiles of the words of a question.
        evidence_characters: quartiles of the characters of a piece of evidence.
        several_pieces: questions whose pieces of evidence are needed together.
        alternatives: questions whose pieces of evidence are alternatives.
        document_level: questions that only name the document.
    """

    questions: int
    documents: int
    corpus: int
    positions: tuple[int, ...]
    overlap: tuple[int, ...]
    question_words: tuple[float, float, float]
    evidence_characters: tuple[float, float, float]
    several_pieces: int
    alternatives: int
    document_level: int


def report_set(questions: Sequence[Question], documents: Mapping[str, Document]) -> SetReport:
    """The counts of a set; all of its evidence must be in the documents. Linear in the questions and their evidence."""
    pieces = [p for q in questions if not is_document_level(q) for p in q.evidence]
    several = [q for q in questions if len(q.evidence) > 1]
    return SetReport(
        questions=len(questions),
        documents=len({piece.document_id for question in questions for piece in question.evidence}),
        corpus=len(documents),
        positions=_histogram((_position(piece, documents) for piece in pieces), _BINS),
        overlap=_histogram((_overlap(q, documents) for q in questions if not is_document_level(q)), len(_STRATA)),
        question_words=_quartiles([len(terms(question.text)) for question in questions]),
        evidence_characters=_quartiles([len(piece.span) for piece in pieces]),
        several_pieces=sum(question.match == "all" for question in several),
        alternatives=sum(question.match == "any" for question in several),
        document_level=sum(map(is_document_level, questions)),
    )


def _position(piece: Evidence, documents: Mapping[str, Document]) -> float:
    return (piece.span.start + piece.span.end) / 2 / len(documents[piece.document_id].text)


def _overlap(question: Question, documents: Mapping[str, Document]) -> float:
    texts = [documents[p.document_id].text[p.span.start : p.span.end] for p in question.evidence]
    return word_overlap(question.text, texts)


def _histogram(values: Iterable[float], bins: int) -> tuple[int, ...]:
    counts = [0] * bins
    for value in values:
        counts[min(int(value * bins), bins - 1)] += 1
    return tuple(counts)


def _quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    if len(values) < 2:
        only = float(values[0]) if values else 0.0
        return only, only, only
    low, middle, high = quantiles(values, n=4, method="inclusive")
    return low, middle, high


def report_lines(report: SetReport, *, blocks: bool = True) -> list[str]:
    """The report for a terminal.

    Args:
        report: the counts.
        blocks: draw the histogram with block characters beside its numbers.
    """
    needing = f"{report.several_pieces:,} {'needs' if report.several_pieces == 1 else 'need'} several places together"
    kinds = f"{needing}, {report.alternatives:,} {'has' if report.alternatives == 1 else 'have'} alternatives"
    lines = [
        f"questions: {report.questions:,}, on {report.documents:,} of {counted(report.corpus, 'documents')}; {kinds}",
        f"words of a question: {_three(report.question_words)}",
    ]
    if report.document_level:
        whole = counted(report.document_level, "questions with only the document named")
        lines.append(f"document level: {whole}; {_ONLY}")
    if report.document_level < report.questions:
        strata = ", ".join(f"{name} {count:,}" for name, count in zip(_STRATA, report.overlap, strict=True))
        lines += [
            f"characters of a piece of evidence: {_three(report.evidence_characters)}",
            f"position of evidence, begin to end of the document: {_drawn(report.positions, blocks)}",
            f"words shared with the evidence: {strata}",
        ]
    return lines


def _three(quartiles: tuple[float, float, float]) -> str:
    low, middle, high = quartiles
    return f"median {middle:g}, half of them {low:g} to {high:g}"


def _drawn(counts: Sequence[int], blocks: bool) -> str:
    numbers = " ".join(f"{count:,}" for count in counts)
    if not blocks:
        return numbers
    most = max(max(counts), 1)
    bars = "".join(_BARS[-(-count * (len(_BARS) - 1) // most)] for count in counts)
    return f"{bars} ({numbers})"
