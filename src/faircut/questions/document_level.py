"""Evidence that names a document and no place in it (BEIR's qrels), and the measures that cannot be taken with it.

Comes in: questions and measures. Goes out: what can be measured, why the rest cannot, and an error before work is
spent on it. Such a question has one whole document as a piece of evidence; nobody said where the answer stands.
"""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from faircut.errors import FaircutWarning, PlanError
from faircut.records import Evidence, Question

__all__ = [
    "DOCUMENT_MEASURES", "WholeDocument", "check_measures", "count_document_level", "is_document_level", "needs_places",
    "why_no_places",
]  # fmt: skip

_ALL = "These questions only name a document"

DOCUMENT_MEASURES = ("document_recall", "document_mrr", "context_precision")
"""The measures that ask only which document a chunk comes from."""


@dataclass(frozen=True, slots=True, order=True)
class WholeDocument(Evidence):
    """A document that answers, without the place; its span is all of the text."""


def is_document_level(question: Question) -> bool:
    """Whether a piece of the question's evidence is a whole document."""
    return any(isinstance(piece, WholeDocument) for piece in question.evidence)


def count_document_level(questions: Iterable[Question]) -> int:
    """How many of the questions only name a document. With one of them, the whole set is judged by documents: all
    measures of a comparison are taken on the same questions.
    """
    return sum(map(is_document_level, questions))


def needs_places(measure: str) -> bool:
    """Whether a measure, as printed, needs to know where in a document the answer stands."""
    return measure.split("@")[0].split("(")[0] not in DOCUMENT_MEASURES


def why_no_places(count: int, total: int) -> str:
    """What is not measured, why, and what to do: the sentence that stands where those measures would.

    Args:
        count: questions that only name a document, at least 1.
        total: all questions.
    """
    mixed = count < total
    which = f"{count:,} of {total:,} questions only name a document, and all are judged alike" if mixed else _ALL
    instead = " (or compare with a file of those that have one)" if mixed else ""
    return (
        f"{which}, so nothing that needs the place of the answer is measured: no recall, precision, IoU, hit by "
        f"coverage, curve or cause of a miss. Give each question its start and end or a quote{instead}, or make "
        "questions from the documents with `faircut questions`."
    )


def check_measures(measures: Iterable[str], questions: Sequence[Question]) -> None:
    """Refuse measures that need the place of the answer where questions do not have it.

    Args:
        measures: those that were asked for, as printed, such as ``recall@1000t``.
        questions: all that will be asked.

    Warns:
        FaircutWarning: some questions only name documents; says what is not measured then.

    Raises:
        PlanError: names the measures, how many questions have no place, and what is possible.
    """
    count = count_document_level(questions)
    if not count:
        return
    refused = list(dict.fromkeys(filter(needs_places, measures)))
    if refused:
        possible = ", ".join(f"{name}@k" for name in DOCUMENT_MEASURES)
        raise PlanError(
            f"{', '.join(refused)}: needs to know where in a document the answer stands, and {count:,} of "
            f"{len(questions):,} questions only name the document. Possible with them: {possible} (such as --measure "
            "document_recall@5); or give the evidence start and end, or a quote."
        )
    warnings.warn(why_no_places(count, len(questions)), FaircutWarning, stacklevel=2)
