"""Documents and a model in, questions whose evidence was found in the text out, with a count of what was refused.

Windows are drawn, asked about and judged in rounds, until there are enough questions. The same documents, settings and
answers give the same questions: with a model that keeps its answers, a run that was killed goes on without asking
anything twice.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Literal

from faircut.chunkers.asking import one_line
from faircut.errors import QuestionError
from faircut.llm.contract import Answer, LanguageModel, Request
from faircut.llm.faults import BudgetReached, LlmStopped
from faircut.questions.dangling import dangling_reference
from faircut.questions.filters import MAX_OVERLAP, NearDuplicates, is_answered, word_overlap
from faircut.questions.locate import find_everywhere, is_telling, locate_quotes
from faircut.questions.made import MadeQuestion, question_id
from faircut.questions.places import Places
from faircut.questions.prompts import STYLES, Passage, about_window, elsewhere, rewording, without_text
from faircut.questions.windows import Window, draw_windows
from faircut.records import Document, Evidence, Question, Span

__all__ = ["REASONS", "WINDOWS_EACH", "Draft", "Generated", "Settings", "generate", "planned_requests"]

REASONS = {
    "no answer": "the model gave no answer that can be used",
    "no question": "the model found nothing to ask about the window",
    "quote not found": "a quote is not in the window",
    "one place only": "several places were wanted, and the quotes are in one",
    "dangling reference": "the question points at a text that its reader does not see",
    "near-duplicate": "it nearly repeats another question",
    "word overlap": "it repeats the words of its evidence, also after it was reworded",
    "several places": "other places answer it too",
    "answerable without the text": "the model answers it without the text",
    "not needed": "there are enough already: some more windows are drawn than are needed if all are kept",
}
"""Why a window gave no question, in the order in which it is found out."""

_ROUND = 16  # windows of a round at most: what a stop finds begun, paid for and not yet judged is small
_SPARE = 1.3  # windows drawn for each question that is still missing
_MOST_COPIES = 10  # places of one text: beyond, not all of them can be listed
WINDOWS_EACH = 8
"""Windows for a question wanted, after which a run ends with fewer."""

Advance = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """How questions are made.

    Args:
        count: questions wanted.
        window: characters of a window; twice as many where several places are wanted.
        seed: of the windows.
        styles: taken in turn.
        multi: the share of questions that need several places together.
        language: a code such as ``de`` for all questions; None asks in the language of the document.
        max_overlap: the share of a question's content words that may stand in its evidence.
        several: what becomes of a question that other places answer: ``list`` them as alternatives, or ``drop`` it.

    Raises:
        QuestionError: a value out of range, or an unknown style.
    """

    count: int
    window: int = 1600
    seed: int = 0
    styles: tuple[str, ...] = ("plain",)
    multi: float = 0.0
    language: str | None = None
    max_overlap: float = MAX_OVERLAP
    several: Literal["list", "drop"] = "list"

    def __post_init__(self) -> None:
        unknown = [style for style in self.styles if style not in STYLES]
        if unknown or not self.styles:
            raise QuestionError(f"no style {', '.join(map(repr, unknown))}; possible: {', '.join(STYLES)}.")
        if self.count < 1 or not 0 <= self.multi <= 1 or not 0 < self.max_overlap <= 1:
            raise QuestionError(
                "questions need a count of 1 or more, a share of multi-evidence questions from 0 to 1 and a limit of "
                f"word overlap above 0, up to 1; found {self.count}, {self.multi:g} and {self.max_overlap:g}."
            )

    def style(self, number: int) -> str:
        """The style of the window with this number, from 0."""
        return self.styles[number % len(self.styles)]

    def is_multi(self, number: int) -> bool:
        """Whether several places are wanted of the window with this number; spread evenly."""
        return int((number + 1) * self.multi) > int(number * self.multi)


@dataclass(frozen=True, slots=True)
class Draft:
    """A question under way."""

    window: Window
    style: str
    multi: bool
    text: str = ""
    spans: tuple[Span, ...] = ()
    alternatives: tuple[Evidence, ...] = ()
    reworded: bool = False

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Its own places, without alternatives."""
        return tuple(Evidence(self.window.document.id, span) for span in self.spans)

    @property
    def quotes(self) -> list[str]:
        """The text of its own places."""
        return [self.window.document.text[span.start : span.end] for span in self.spans]


@dataclass
class Generated:
    """What came out.

    Attributes:
        made: the questions.
        windows: how many were asked about.
        refused: how many gave no question, by the names of ``REASONS``.
        reworded: questions that were reworded once and kept.
        with_alternatives: questions with several places as alternatives.
        stopped: why nothing more could be asked (budget, server); None where the run came to its end.
        begun: windows that a stop found half judged; their answers are kept, and the next run goes on with them.
        example: what the model answered about the first window, or why there is no answer; untrusted.
    """

    made: list[MadeQuestion] = field(default_factory=list)
    windows: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    reworded: int = 0
    with_alternatives: int = 0
    stopped: LlmStopped | None = None
    begun: int = 0
    example: str = ""


def generate(
    model: LanguageModel,
    documents: Mapping[str, Document],
    settings: Settings,
    *,
    places: Places,
    advance: Advance = lambda _what, _done, _total: None,
) -> Generated:
    """Make questions until there are ``settings.count``, or eight times as many windows gave too few.

    Args:
        model: what is asked.
        documents: the corpus, by id.
        settings: how many, and of what kind.
        places: where else in the corpus an answer is looked for.
        advance: told of what is done.

    Raises:
        QuestionError: the documents have nothing to ask about.
        LlmError, StoreError: as ``LanguageModel.complete``, but for a stop, which ends the run with what is made.
    """
    run = _Run(model, documents, settings, places, advance)
    drafts = _drafts(documents, settings)
    found = run.found
    while not found.stopped and len(found.made) < settings.count and found.windows < WINDOWS_EACH * settings.count:
        missing = settings.count - len(found.made)
        rest = WINDOWS_EACH * settings.count - found.windows
        run.round(list(islice(drafts, min(_ROUND, rest, int(missing * _SPARE) + 1))))
        advance("questions made", len(found.made), settings.count)
    if found.stopped and len(found.made) == settings.count:  # it stopped what was not needed
        found.refused["not needed"] += found.begun
        found.windows, found.begun, found.stopped = found.windows + found.begun, 0, None
    return found


def _drafts(documents: Mapping[str, Document], settings: Settings) -> Iterator[Draft]:
    """Windows with what is wanted of each; large ones come from a stream of their own."""
    listed = list(documents.values())
    plain = draw_windows(listed, settings.window, settings.seed)
    large = draw_windows(listed, 2 * settings.window, settings.seed + 1)
    number = 0
    while True:
        multi = settings.is_multi(number)
        yield Draft(next(large if multi else plain), settings.style(number), multi)
        number += 1


def planned_requests(documents: Mapping[str, Document], settings: Settings, *, reworded: bool = False) -> list[Request]:
    """The requests that ``settings.count`` questions take when none is refused, for a dry run.

    With ``reworded``, each question is worded anew as well, which is all that a window can take. Requests about the
    first windows are the real ones; those that judge stand for questions that are not there yet.
    """
    drafts = list(islice(_drafts(documents, settings), settings.count))
    requests = [_first(draft, settings) for draft in drafts]
    for number, draft in enumerate(drafts):
        stand_in = f"{number} {draft.window.text[:100]}"
        passages = [Passage(n, draft.window.text[:700]) for n in (1, 2, 3)]
        requests += [without_text(stand_in), elsewhere(stand_in, passages)]
        requests += [rewording(stand_in, [draft.window.text[:300]])] if reworded else []
    return requests


def _first(draft: Draft, settings: Settings) -> Request:
    language = settings.language or draft.window.document.language
    return about_window(draft.window, draft.style, several=draft.multi, language=language)


@dataclass
class _Run:
    """The questions so far; each step takes drafts, and gives back those that are still in."""

    model: LanguageModel
    documents: Mapping[str, Document]
    settings: Settings
    places: Places
    advance: Advance
    found: Generated = field(default_factory=Generated)
    seen: NearDuplicates = field(default_factory=NearDuplicates)
    refused: Counter[str] = field(default_factory=Counter)

    def round(self, drafts: Sequence[Draft]) -> None:
        """Take windows through all steps. After a stop, those go on that need nothing more, or have it in the cache."""
        self.refused = Counter()
        before = len(self.found.made)
        worded = self._not_repeated(self._reworded(self._written(drafts)))
        for draft in self._unanswered(self._alone(worded)):
            self._keep(draft)
        judged = self.refused.total() + len(self.found.made) - before
        self.found.windows += judged
        self.found.begun += len(drafts) - judged
        self.found.refused += self.refused

    def _ask(self, what: str, requests: Sequence[Request]) -> list[Answer | None]:
        """The answers; None for what was not asked because of a stop. A gone server is not asked a second time."""
        if self.found.stopped and not isinstance(self.found.stopped, BudgetReached):
            return [None] * len(requests)
        try:
            answers = self.model.complete(requests, progress=lambda done, total: self.advance(what, done, total))
        except LlmStopped as stop:
            self.found.stopped = stop
            return [_asked(answer) for answer in stop.answers] or [None] * len(requests)
        return list(answers)

    def _refuse(self, reason: str) -> None:
        self.refused[reason] += 1

    # ------------------------------------------------------------ question and quotes

    def _written(self, drafts: Sequence[Draft]) -> list[Draft]:
        answers = self._ask("windows asked about", [_first(draft, self.settings) for draft in drafts])
        kept = []
        for draft, answer in zip(drafts, answers, strict=True):
            if answer is None:
                continue
            written = self._located(draft, answer)
            if isinstance(written, Draft):
                kept.append(written)
            else:
                self._refuse(written)
            if not self.found.example:
                self.found.example = answer.text or _said(answer)
        return kept

    def _located(self, draft: Draft, answer: Answer) -> Draft | str:
        """The draft with its question and places, or why there is none."""
        if not answer.ok:
            return "no answer"
        text, quotes = one_line(answer.parsed["question"]), [q for q in answer.parsed["quotes"] if q.strip()]
        if not text or not quotes:
            return "no question"
        spans = locate_quotes(draft.window.document.text, draft.window.span, quotes)
        if spans is None:
            return "quote not found"
        if draft.multi and len(spans) < 2:
            return "one place only"
        written = replace(draft, text=text, spans=spans)
        return "dangling reference" if dangling_reference(text) else written

    # ------------------------------------------------------------ words

    def _reworded(self, drafts: Sequence[Draft]) -> list[Draft]:
        """Those whose words differ enough from the evidence's, some after one rewording; in the order given."""
        close = [draft for draft in drafts if self._is_close(draft)]
        answers = self._ask("questions reworded", [rewording(draft.text, draft.quotes) for draft in close])
        mended = {id(draft): self._mended(draft, answer) for draft, answer in zip(close, answers, strict=True)}
        return [kept for draft in drafts if (kept := mended.get(id(draft), draft)) is not None]

    def _is_close(self, draft: Draft) -> bool:
        return word_overlap(draft.text, draft.quotes) > self.settings.max_overlap

    def _mended(self, draft: Draft, answer: Answer | None) -> Draft | None:
        if answer is None:
            return None
        text = one_line(answer.parsed["question"]) if answer.ok else ""
        again = replace(draft, text=text or draft.text, reworded=True)
        if self._is_close(again):
            self._refuse("word overlap")
            return None
        if dangling_reference(again.text):
            self._refuse("dangling reference")
            return None
        return again

    def _not_repeated(self, drafts: Sequence[Draft]) -> list[Draft]:
        kept = [draft for draft in drafts if self.seen.add(draft.text) is None]
        self.refused["near-duplicate"] += len(drafts) - len(kept)
        return kept

    # ------------------------------------------------------------ other places

    def _alone(self, drafts: Sequence[Draft]) -> list[Draft]:
        """Those that no other place answers, or with the other places as alternatives."""
        copies = self._copies(drafts)
        near = [self.places.candidates(draft.text, (*draft.evidence, *copies[n])) for n, draft in enumerate(drafts)]
        judged = [n for n, passages in enumerate(near) if passages]
        requests = [elsewhere(drafts[n].text, self._numbered(near[n])) for n in judged]
        answers = dict(zip(judged, self._ask("other places judged", requests), strict=True))
        kept = []
        for n, draft in enumerate(drafts):
            if n in answers and answers[n] is None:
                continue
            others = copies[n] + (self._quoted(near[n], answers[n]) if n in answers else [])
            unlisted = self.settings.several == "drop" or len(draft.spans) > 1 or len(copies[n]) >= _MOST_COPIES - 1
            if others and unlisted:
                self._refuse("several places")
            else:
                kept.append(replace(draft, alternatives=tuple(others)))
        return kept

    def _copies(self, drafts: Sequence[Draft]) -> list[list[Evidence]]:
        """Where the evidence of a question with one place stands again, word for word."""
        alone = [draft.quotes[0] if len(draft.spans) == 1 else "" for draft in drafts]
        quotes = [quote if is_telling(quote) else "" for quote in alone]
        everywhere = find_everywhere(self.documents, quotes, limit=_MOST_COPIES)
        return [
            [place for place in places if not _touches(place, draft.evidence)]
            for draft, places in zip(drafts, everywhere, strict=True)
        ]

    def _numbered(self, passages: Sequence[Evidence]) -> list[Passage]:
        texts = [self.documents[p.document_id].text[p.span.start : p.span.end] for p in passages]
        return [Passage(number, text) for number, text in enumerate(texts, start=1)]

    def _quoted(self, passages: Sequence[Evidence], answer: Answer | None) -> list[Evidence]:
        """The places that the model quoted from the passages; what is not in them does not count."""
        found: list[Evidence] = []
        for place in answer.parsed["places"] if answer and answer.ok else ():
            if 1 <= place["passage"] <= len(passages) and place["quote"].strip():
                passage = passages[place["passage"] - 1]
                spans = locate_quotes(self.documents[passage.document_id].text, passage.span, [place["quote"]]) or ()
                if len(spans) == 1 and not _touches(new := Evidence(passage.document_id, spans[0]), found):
                    found.append(new)
        return found

    # ------------------------------------------------------------ without the text

    def _unanswered(self, drafts: Sequence[Draft]) -> list[Draft]:
        answers = self._ask("asked without the text", [without_text(draft.text) for draft in drafts])
        kept = []
        for draft, answer in zip(drafts, answers, strict=True):
            if answer is None:
                continue
            if answer.ok and is_answered(draft.text, answer.parsed["answer"], draft.quotes):
                self._refuse("answerable without the text")
            else:
                kept.append(draft)
        return kept

    def _keep(self, draft: Draft) -> None:
        if len(self.found.made) == self.settings.count:
            self._refuse("not needed")
            return
        self.found.reworded += draft.reworded
        self.found.with_alternatives += bool(draft.alternatives)
        self.found.made.append(_made(draft, self.model.model))


def _made(draft: Draft, model: str) -> MadeQuestion:
    evidence = (*draft.evidence, *draft.alternatives)
    match: Literal["all", "any"] = "any" if draft.alternatives else "all"
    question = Question(question_id(draft.text, evidence), draft.text, evidence, match)
    about: dict[str, Any] = {"made_by": "model", "model": model, "style": draft.style}
    return MadeQuestion(question, about | ({"reworded": True} if draft.reworded else {}))


def _asked(answer: Answer) -> Answer | None:
    """The answer, or None when a stop came before its request."""
    return None if answer.failure is not None and answer.failure.kind == "not_asked" else answer


def _said(answer: Answer) -> str:
    """Why the model itself gave nothing usable; empty where a connection or server failed."""
    failure = answer.failure
    return failure.message if failure and failure.kind in ("unusable", "invalid", "truncated") else ""


def _touches(place: Evidence, others: Sequence[Evidence]) -> bool:
    return any(
        place.document_id == other.document_id
        and place.span.start < other.span.end
        and other.span.start < place.span.end
        for other in others
    )
