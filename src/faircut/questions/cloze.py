"""Questions without a model: a sentence with a word blanked, and what a section says. A smoke test, nothing more.

They repeat the words of their evidence, so every search finds them: they show that a comparison runs, not which
chunker is better. Each is labelled so in its record.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from random import Random

from faircut.errors import QuestionError
from faircut.index.words import terms
from faircut.questions.made import MadeQuestion, question_id
from faircut.questions.native import SMOKE_TEST
from faircut.records import Document, Evidence, Question, Span
from faircut.text.sentences import sentence_spans

__all__ = ["smoke_test"]

BLANK = "____"
_SHORTEST, _LONGEST = 40, 400  # characters of a sentence
_LONGEST_SECTION = 3000
_HEADINGS = 5  # one question in so many is about a heading, where there are enough
_WORD = re.compile(r"[^\W_]+")
_MARKUP = re.compile(r"^[\s#>*=-]+|[\s#*=-]+$")


def smoke_test(documents: Mapping[str, Document], count: int, seed: int = 0) -> list[MadeQuestion]:
    """At most ``count`` questions, drawn over all sentences and headings; the same seed gives the same ones.

    Raises:
        QuestionError: no document has a sentence of 40 to 400 characters, or the count is below 1.
    """
    if count < 1:
        raise QuestionError(f"at least one question is wanted, found {count}.")
    rng = Random(seed)  # noqa: S311  # a draw, no secret
    headings = [(document, *found) for document in documents.values() for found in _headings(document)]
    sentences = [(document, span) for document in documents.values() for span in _sentences(document)]
    if not sentences:
        raise QuestionError(f"no document has a sentence of {_SHORTEST} to {_LONGEST} characters to blank a word in.")
    titled = rng.sample(headings, min(len(headings), count // _HEADINGS))
    blanked = rng.sample(sentences, min(len(sentences), count - len(titled)))
    rare = Counter(word for document in documents.values() for word in terms(document.text))
    made = [_about_heading(*one) for one in titled] + [_cloze(*one, rare) for one in blanked]
    return list({one.question.id: one for one in made}.values())


def _sentences(document: Document) -> Iterator[Span]:
    blocks = [block for block in document.blocks if block.kind in ("paragraph", "list", "quote", "other")]
    ranges = [(b.span.start, b.span.end) for b in blocks] if document.blocks else [(0, len(document.text))]
    for first, last in ranges:
        for start, end in sentence_spans(document.text, document.language, start=first, end=last):
            text = document.text[start:end]
            span = Span(start + len(text) - len(text.lstrip()), start + len(text.rstrip())) if text.strip() else None
            if span and _SHORTEST <= len(span) <= _LONGEST and _words(document.text, span):
                yield span


def _words(text: str, span: Span) -> list[tuple[int, int]]:
    """The words of a sentence but the first that can be blanked."""
    found = [m.span() for m in _WORD.finditer(text, span.start, span.end)]
    return [place for place in found[1:] if place[1] - place[0] >= 3 or text[slice(*place)].isdigit()]


def _cloze(document: Document, span: Span, rare: Counter[str]) -> MadeQuestion:
    """The sentence with the word blanked that the corpus uses least."""
    text = document.text

    def use(place: tuple[int, int]) -> tuple[int, int]:
        return min((rare[word] for word in terms(text[slice(*place)])), default=0), -place[1]

    start, end = min(_words(text, span), key=use)
    asked = f"{text[span.start : start]}{BLANK}{text[end : span.end]}"
    return _labelled(asked, Evidence(document.id, span), "cloze")


def _headings(document: Document) -> Iterator[tuple[str, Span]]:
    """Headings with the text below them, up to the next heading."""
    edges = [n for n, block in enumerate(document.blocks) if block.kind == "heading"]
    for place, after in pairwise([*edges, len(document.blocks)]):
        below = document.blocks[place + 1 : after]
        block = document.blocks[place]
        title = " ".join(_MARKUP.sub("", document.text[block.span.start : block.span.end]).split())
        span = _filled(document.text, [b.span for b in below])
        if title and span and len(span) <= _LONGEST_SECTION:
            yield title, span


def _filled(text: str, spans: Sequence[Span]) -> Span | None:
    if not spans:
        return None
    whole = text[spans[0].start : spans[-1].end]
    start = spans[0].start + len(whole) - len(whole.lstrip())
    return Span(start, spans[0].start + len(whole.rstrip())) if whole.strip() else None


def _about_heading(document: Document, title: str, span: Span) -> MadeQuestion:
    return _labelled(title, Evidence(document.id, span), "heading")


def _labelled(text: str, evidence: Evidence, kind: str) -> MadeQuestion:
    plain = " ".join(text.split())
    question = Question(question_id(plain, [evidence]), plain, (evidence,))
    return MadeQuestion(question, {"made_by": kind, "label": SMOKE_TEST})
