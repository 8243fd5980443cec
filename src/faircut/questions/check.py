"""Questions that were read -> what a person should look at, each with its place in the file and what to do.

Comes in: questions whose evidence is in the documents. Goes out: findings, bounded a kind. No model is asked: these are
the rules by which made questions are refused, as advice. What cannot be read at all is told by the readers.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from faircut.questions.dangling import dangling_reference
from faircut.questions.document_level import is_document_level
from faircut.questions.filters import MAX_OVERLAP, near_duplicates, word_overlap
from faircut.questions.locate import find_everywhere, is_telling
from faircut.records import Document, Evidence, Question
from faircut.text.percent import percent

__all__ = ["KINDS", "Finding", "Placed", "find_problems"]

KINDS = {
    "overlapping evidence": "make one piece of the two, or drop one",
    "near-duplicate": "drop one of the two, or ask something else",
    "dangling reference": "name what is meant",
    "word overlap": "ask in other words: a search for words finds it without understanding",
    "several places": 'list all places and set "gold_is": "any", or ask more precisely',
}
"""What is looked for, and what to do about it."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A question and where it stands (``file:line``)."""

    place: str
    question: Question


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to look at; ``kind`` is one of ``KINDS``."""

    kind: str
    place: str
    what: str

    @property
    def line(self) -> str:
        """One sentence with its place and what to do."""
        return f"{self.place}: {self.what}; {KINDS[self.kind]}."


def find_problems(
    placed: Sequence[Placed], documents: Mapping[str, Document], *, max_overlap: float = MAX_OVERLAP
) -> list[Finding]:
    """All findings, by kind and then by place. Linear in the questions and in the documents.

    Args:
        placed: the questions.
        documents: the corpus, by id.
        max_overlap: the share of a question's content words that may stand in its evidence.
    """
    found = [finding for one in placed for finding in _alone(one, documents, max_overlap)]
    found += [*_repeated(placed), *_elsewhere(placed, documents)]
    return sorted(found, key=lambda finding: list(KINDS).index(finding.kind))


def _alone(one: Placed, documents: Mapping[str, Document], max_overlap: float) -> Iterator[Finding]:
    question = one.question
    overlapping = _overlapping(question.evidence) if question.match == "all" else None
    if overlapping:  # alternatives may overlap: a long and a short form of one answer
        first, second = overlapping
        what = f"evidence [{first.span.start}, {first.span.end}) and [{second.span.start}, {second.span.end}) overlap"
        yield Finding("overlapping evidence", one.place, f"{what} in {first.document_id!r}")
    if words := dangling_reference(question.text, within=question.within is not None):
        yield Finding("dangling reference", one.place, f"the reader does not see what {words!r} means")
    if not is_document_level(question):
        share = word_overlap(question.text, _texts(question, documents))
        if share > max_overlap:
            yield Finding("word overlap", one.place, f"{percent(share)} of the question's words stand in its evidence")


def _overlapping(evidence: Iterable[Evidence]) -> tuple[Evidence, Evidence] | None:
    furthest: Evidence | None = None
    for piece in sorted(evidence):
        if furthest and furthest.document_id == piece.document_id and piece.span.start < furthest.span.end:
            return furthest, piece
        furthest = piece
    return None


def _texts(question: Question, documents: Mapping[str, Document]) -> list[str]:
    return [documents[p.document_id].text[p.span.start : p.span.end] for p in question.evidence]


def _repeated(placed: Sequence[Placed]) -> Iterator[Finding]:
    earlier = near_duplicates([p.question.text for p in placed], [p.question.within for p in placed])
    for one, number in zip(placed, earlier, strict=True):
        if number is not None:
            yield Finding("near-duplicate", one.place, f"nearly the same question as {placed[number].place}")


def _elsewhere(placed: Sequence[Placed], documents: Mapping[str, Document]) -> Iterator[Finding]:
    """Evidence of a question with one piece that stands elsewhere too, word for word."""
    alone = [one for one in placed if len(one.question.evidence) == 1 and not is_document_level(one.question)]
    quotes = [text if is_telling(text := _texts(one.question, documents)[0]) else "" for one in alone]
    for one, places in zip(alone, find_everywhere(documents, quotes, limit=3), strict=True):
        own, within = one.question.evidence[0], one.question.within
        for place in places:
            apart = place.document_id != own.document_id or place.span.end <= own.span.start
            if (apart or place.span.start >= own.span.end) and within in (None, place.document_id):
                where = f"[{place.span.start}, {place.span.end}) of {place.document_id!r}"
                yield Finding("several places", one.place, f"its evidence stands at {where} too")
                break
