"""Evidence that names a document and no place in it (BEIR's qrels), and the measures that cannot be taken with it.

Comes in: questions and measures. Goes out: an error before work is spent. Such a question has one whole document as
a piece of evidence; nobody said where the answer stands.
"""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from faircut.errors import FaircutWarning, PlanError
from faircut.records import Evidence, Question

__all__ = ["DOCUMENT_MEASURES", "WholeDocument", "check_measures", "is_document_level"]

DOCUMENT_MEASURES = ("document_recall", "document_mrr", "context_precision")
"""The measures that ask only which document a chunk comes from."""


@dataclass(frozen=True, slots=True, order=True)
class WholeDocument(Evidence):
    """A document that answers, without the place; its span is all of the text."""


def is_document_level(question: Question) -> bool:
    """Whether a piece of the question's evidence is a whole document."""
    return any(isinstance(piece, WholeDocument) for piece in question.evidence)


def check_measures(measures: Iterable[str], questions: Sequence[Question]) -> None:
    """Refuse measures that need the place of the answer where questions do not have it.

    Tables that always show such measures beside the others are warned of.

    Args:
        measures: as printed, such as ``recall@1000t``.
        questions: all that will be asked.

    Warns:
        FaircutWarning: some questions only name documents; says what cannot be read from the tables then.

    Raises:
        PlanError: names the measures, how many questions have no place, and what is possible.
    """
    count = sum(map(is_document_level, questions))
    if not count:
        return
    refused = [measure for measure in measures if measure.split("@")[0].split("(")[0] not in DOCUMENT_MEASURES]
    if refused:
        possible = ", ".join(f"{name}@k" for name in DOCUMENT_MEASURES)
        raise PlanError(
            f"{', '.join(refused)}: needs to know where in a document the answer stands, and {count:,} of "
            f"{len(questions):,} questions only name the document. Possible with them: {possible}; or give the "
            "evidence start and end, or a quote."
        )
    warnings.warn(
        f"{count:,} of {len(questions):,} questions only name a document: recall, its curve, precision, hits and "
        "causes shown beside take all of the document for the answer, and say nothing about where it stands.",
        FaircutWarning,
        stacklevel=2,
    )
