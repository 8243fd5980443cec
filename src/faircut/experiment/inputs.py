"""What all rows of a comparison share: documents, questions and the one tokenizer that counts the budget.

A plan in, the same objects for every chunker out. What is done with them is left to ``stages.py``.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from faircut.documents import Unread, read_documents
from faircut.embedding import EMBEDDERS
from faircut.errors import FaircutWarning
from faircut.evaluation.context import Passage, passage
from faircut.evaluation.sampling import document_of
from faircut.experiment.plan import Plan
from faircut.questions import read_questions
from faircut.questions.document_level import check_measures, count_document_level
from faircut.records import Chunk, Document, Question, content_id
from faircut.text.contract import TokenCounter, TokenIndex

__all__ = ["Inputs", "load_inputs"]


@dataclass(frozen=True)
class Inputs:
    """The corpus, the questions, and the budget's tokenizer.

    Attributes:
        documents: by id, in the order of the corpus.
        questions: in the order of their file.
        budget: counts the tokens of every budget, whatever the embedder.
        corpus_id, questions_id: hashes of the content.
        unread: documents that could not be read and are left out; empty unless the plan allows it.
        left_out: ids of the questions that are left out because their evidence lies in those.
        smoke_tests: how many of the questions were made without a model or a person.
    """

    documents: dict[str, Document]
    questions: tuple[Question, ...]
    budget: TokenCounter
    corpus_id: str
    questions_id: str
    unread: tuple[Unread, ...] = ()
    left_out: tuple[str, ...] = ()
    smoke_tests: int = 0
    _indexes: dict[str, TokenIndex] = field(default_factory=dict, repr=False, compare=False)

    @property
    def clusters(self) -> list[str]:
        """The document of each question: where it searches, else that of its first piece of evidence."""
        return [document_of(q) for q in self.questions]

    @property
    def document_level(self) -> int:
        """How many questions only name a document; where there are some, nothing that needs a place is measured."""
        return count_document_level(self.questions)

    def token_index(self, document_id: str) -> TokenIndex:
        """The budget tokens of one document, counted at the first call."""
        if document_id not in self._indexes:
            self._indexes[document_id] = self.budget.index(self.documents[document_id].text)
        return self._indexes[document_id]

    def document_tokens(self) -> int:
        """Budget tokens of all documents."""
        return sum(self.token_index(d).total for d in self.documents)

    def passages(self, chunks: Sequence[Chunk], sizes: Sequence[int] | None = None) -> list[Passage]:
        """The chunks as the scores see them, with their budget tokens; ``sizes`` are those with context, if known."""
        whole = self.budget.count_many([c.embedded_text for c in chunks]) if sizes is None else sizes
        after_context = iter(self.budget.count_many([c.text for c in chunks if c.context]))
        texts = [next(after_context) if c.context else w for c, w in zip(chunks, whole, strict=True)]
        return [
            passage(c, tokens=t, context_tokens=max(w - t, 0), verbatim=c.is_verbatim(self.documents[c.document_id]))
            for c, t, w in zip(chunks, texts, whole, strict=True)
        ]

    def evidence_texts(self) -> dict[str, list[str]]:
        """For each question's id the text of each piece of its evidence."""
        return {
            q.id: [self.documents[e.document_id].text[e.span.start : e.span.end] for e in q.evidence]
            for q in self.questions
        }


def load_inputs(plan: Plan, advance: Callable[[str, int, int], None]) -> Inputs:
    """Read and check the corpus and the questions.

    Warns:
        FaircutWarning: documents, and questions with them, are left out as the plan allows.

    Raises:
        DocumentError, QuestionError: with the place and what to do.
        PlanError: a measure needs places of answers, and questions name only documents.
    """
    unread: list[Unread] = []
    left_out: list[str] = []
    smoke_tests: list[str] = []
    told = unread.append if plan.skip_unreadable else None
    documents = read_documents(plan.corpus, lambda count: advance("documents read", count, count), on_unread=told)
    missing = {one.id for one in unread} - documents.keys()
    asked = read_questions(
        plan.questions, documents, unread=missing, on_left_out=left_out.append, on_smoke_test=smoke_tests.append
    )
    questions = tuple(asked)
    if unread:
        warnings.warn(_about_unread(unread, documents, left_out), FaircutWarning, stacklevel=2)
    check_measures([plan.measure, *plan.measures], questions)
    budget = EMBEDDERS.build(plan.budget_tokenizer).tokenizer
    ids = _corpus_id(documents), _questions_id(questions)
    return Inputs(documents, questions, budget, *ids, tuple(unread), tuple(left_out), len(smoke_tests))


def _about_unread(unread: Sequence[Unread], documents: Mapping[str, Document], left_out: Sequence[str]) -> str:
    total = len(documents) + len(unread)
    questions = f", and with them {len(left_out):,} questions whose evidence is there" if left_out else ""
    return (
        f"{len(unread):,} of {total:,} documents cannot be read and are left out{questions}; the result names each "
        f"with the reason. The first: {unread[0].id}: {unread[0].reason}"
    )


def _corpus_id(documents: dict[str, Document]) -> str:
    parts: list[str] = []
    for d in documents.values():
        blocks = ";".join(f"{b.kind},{b.span.start},{b.span.end},{b.level},{b.page}" for b in d.blocks)
        parts += [d.id, d.text, d.language or "", d.title, blocks]
    return content_id(*parts)


def _questions_id(questions: Sequence[Question]) -> str:
    return content_id(*map(repr, questions))
