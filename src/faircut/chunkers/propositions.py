"""Text rewritten as standalone statements: a document in; statements, alone or in groups, with their sources out.

Every statement keeps the spans of the sentences that it was made of, and is judged by them. How statements are written
is left to ``statements`` (a language model) and ``propositionizer`` (T5), whether they are true to their sources to
``faithfulness``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np

from faircut.chunkers.asking import language_model_for, tally_of
from faircut.chunkers.boundaries import WHOLE, block_at
from faircut.chunkers.contract import Models, Tally
from faircut.chunkers.cuts import CutRule, cut_rule, gap_similarities
from faircut.chunkers.faithfulness import unfounded
from faircut.chunkers.packing import Ruler, check_document, check_size, to_chunk, trim
from faircut.chunkers.sources import Source, packs_of, sources_of
from faircut.chunkers.statements import PROMPT, Statement, Writer, all_statements, ask_for_statements
from faircut.errors import EmbeddingError, SpecError
from faircut.records import Chunk, Document, Span
from faircut.specs import Percentile, Size, spec_text
from faircut.text.language import guess_language

__all__ = ["PropositionParagraph", "PropositionSemantic", "Propositions"]

_T5 = "t5"


def _asks(chunker: "_Rewriter") -> bool:
    """Whether a language model of ``Models`` is asked."""
    return chunker.model is None


def _loads(chunker: "_Rewriter") -> bool:
    """Whether a propositionizer runs here."""
    return chunker.model is not None


def _fingerprint(chunker: "_Rewriter") -> str:
    """How it is asked; of a T5 model also its files. Raises LlmError when they are not there."""
    if chunker.model is None:
        return PROMPT
    from faircut.chunkers.propositionizer import t5_fingerprint

    return t5_fingerprint(chunker.model.removeprefix(f"{_T5}:"))


@dataclass(frozen=True)
class Propositions:
    """Standalone statements written by a language model, each with its sources: `propositions(max=512t, pack=100)`.

    Sentences of one section are given to the model in packs of about ``pack`` words with the document's title and the
    headings above; it answers with statements and the numbers of the sentences that each comes from. An answer that
    cannot be used is asked for again in halves, down to one sentence, which then stands for itself. A statement with a
    content word or number that is not in its sources, their headings or the title, one without a source, and one above
    ``max`` give way to their sources. Sentences that no statement cites, tables and code stand for themselves. So
    nothing of the text is lost. A heading belongs to the sentence after it.

    ``model``: none asks the language model of ``Models``; ``"t5:NAME"`` runs a propositionizer of that name or folder
    here (extra t5).

    Raises:
        SpecError: a size or number below 1, or a ``model`` that is none of the two.
    """

    name: ClassVar[str] = "propositions"
    rewrites: ClassVar[bool] = True

    max: Size = Size(512, "t")
    pack: int = 100
    model: str | None = None

    def __post_init__(self) -> None:
        _check(self)

    __str__ = spec_text

    needs_language_model = property(_asks)
    loads_model = property(_loads)
    fingerprint = property(_fingerprint)

    def chunk(self, document: Document, models: Models) -> list[Chunk]:
        """The statements in the order of their sources; see ``Chunker``. Text and spans differ.

        Raises:
            LlmError: there is no language model, or it cannot be asked any more.
        """
        check_document(document)
        return _chunks(document, ([part] for part in _parts(self, document, models)))


@dataclass(frozen=True)
class PropositionParagraph:
    """Statements as of `propositions`, put together in the order of the text: `proposition_paragraph(max=500c)`.

    As the "proposition + paragraph" row of a published comparison on EUR-Lex, whose paragraphs have 500 characters.
    Parameters and fall-backs are those of ``propositions``; a table or code block stays alone.

    Raises:
        SpecError: as of ``propositions``.
    """

    name: ClassVar[str] = "proposition_paragraph"
    rewrites: ClassVar[bool] = True

    max: Size = Size(500, "c")
    pack: int = 100
    model: str | None = None

    def __post_init__(self) -> None:
        _check(self)

    __str__ = spec_text

    needs_language_model = property(_asks)
    loads_model = property(_loads)
    fingerprint = property(_fingerprint)

    def chunk(self, document: Document, models: Models) -> list[Chunk]:
        """Groups of statements in the order of their sources; see ``Chunker``. Raises as ``propositions``."""
        check_document(document)
        ruler = Ruler.of(document, self.max, models)
        return _chunks(document, _packed(ruler, _parts(self, document, models)))


@dataclass(frozen=True)
class PropositionSemantic:
    """Statements as of `propositions`, put together until their meaning turns: `proposition_semantic(threshold=p85)`.

    As the "proposition + semantic" row of a published comparison on EUR-Lex: neighbouring statements are compared by
    their vectors. ``threshold`` is one of ``semantic``'s: a cosine, a percentile or a rule. ``max`` holds besides. The
    other parameters and the fall-backs are those of ``propositions``; a table or code block stays alone.

    Raises:
        SpecError: as of ``propositions``, or a threshold out of range.
    """

    name: ClassVar[str] = "proposition_semantic"
    rewrites: ClassVar[bool] = True

    threshold: float | Percentile | CutRule = Percentile(85)
    max: Size = Size(512, "t")
    pack: int = 100
    model: str | None = None

    def __post_init__(self) -> None:
        cut_rule(self.threshold)
        _check(self)

    __str__ = spec_text

    needs_language_model = property(_asks)
    loads_model = property(_loads)
    fingerprint = property(_fingerprint)

    def chunk(self, document: Document, models: Models) -> list[Chunk]:
        """Groups of statements in the order of their sources; see ``Chunker``. Raises as ``propositions``.

        Raises:
            EmbeddingError: ``models`` has no embedder.
        """
        check_document(document)
        if models.embedder is None:
            raise EmbeddingError(f"{self} needs an embedder for its statements; give one, such as minilm.")
        parts = _parts(self, document, models)
        if not parts:
            return []
        vectors = models.embedder.embed([part.text for part in parts], "sentence")
        cuts = cut_rule(self.threshold).judge(gap_similarities(vectors)).cuts
        turns = [0, *(int(gap) + 1 for gap in np.flatnonzero(cuts)), len(parts)]
        ruler = Ruler.of(document, self.max, models)
        groups = (group for first, last in pairwise(turns) for group in _packed(ruler, parts[first:last]))
        return _chunks(document, groups)


_Rewriter = Propositions | PropositionParagraph | PropositionSemantic


def _check(chunker: _Rewriter) -> None:
    check_size(chunker.name, "max", chunker.max)
    if isinstance(chunker.pack, bool) or not isinstance(chunker.pack, int) or chunker.pack < 1:
        raise SpecError(f"{chunker.name}: pack must be a whole number of words of at least 1, found {chunker.pack}.")
    scheme, _, name = (chunker.model or "").partition(":")
    if chunker.model is not None and not (scheme == _T5 and name.strip()):
        raise SpecError(f'{chunker.name}: model must be none or "{_T5}:NAME", found {chunker.model!r}.')


# ---------------------------------------------------------------- parts


class _Part(NamedTuple):
    """A statement, or a source that stands for itself; ``alone`` ones are never put together with others."""

    spans: tuple[Span, ...]
    text: str
    context: str = ""
    alone: bool = False


def _parts(chunker: _Rewriter, document: Document, models: Models) -> list[_Part]:
    """The statements and the sources that stand for themselves, by where they begin; together they cover the text."""
    ruler = Ruler.of(document, chunker.max, models)
    write = _writer(chunker, document, models)
    sources = sources_of(ruler)
    packs = packs_of(ruler, sources, chunker.pack)
    statements, given_up = all_statements(packs, write)
    tally = tally_of(models)
    tally.asked += sum(len(pack.numbers) for pack in packs)
    tally.fallbacks += len(given_up)
    tally.statements += len(statements)
    kept, replaced = _judged(ruler, sources, statements, tally)
    told = {number for statement in kept for number in statement.sources} | replaced
    rest = set(range(len(sources))) - told
    tally.uncited += sum(number not in given_up and not sources[number].kept for number in rest)
    parts = [_Part(_spans(document, sources, one.sources), one.text) for one in kept]
    parts += [part for number in sorted(rest | replaced) if (part := _itself(document, sources[number]))]
    return sorted(dict.fromkeys(parts), key=lambda part: part.spans[0].start)


def _writer(chunker: _Rewriter, document: Document, models: Models) -> Writer:
    if chunker.model is None:
        return ask_for_statements(language_model_for(chunker, models))
    from faircut.chunkers.propositionizer import t5_writer

    return t5_writer(chunker.model.removeprefix(f"{_T5}:"), _language(document))


def _language(document: Document) -> str | None:
    return document.language or guess_language(document.text)


def _judged(
    ruler: Ruler, sources: Sequence[Source], statements: Sequence[Statement], tally: Tally
) -> tuple[list[Statement], set[int]]:
    """The statements that may stand, and the numbers of the sources that stand in for the others."""
    language = _language(ruler.document)
    kept: list[Statement] = []
    replaced: set[int] = set()
    for statement in statements:
        texts = [ruler.text[sources[n].start : sources[n].end] for n in statement.sources]
        above = [ruler.document.title, *(title for n in statement.sources for title in sources[n].path)]
        if not (texts and statement.text) or unfounded(statement.text, [*texts, *above], language):
            tally.unfaithful += 1
            replaced.update(statement.sources)
        elif ruler.counter.count(statement.text) > ruler.limit:
            tally.overlong += 1
            replaced.update(statement.sources)
        else:
            kept.append(statement)
    return kept, replaced


def _spans(document: Document, sources: Sequence[Source], numbers: Sequence[int]) -> tuple[Span, ...]:
    """The places of sources, those of neighbours as one."""
    ranges: list[tuple[int, int]] = []
    for number in numbers:
        start, end = sources[number].start, sources[number].end
        if ranges and ranges[-1][1] == start:
            ranges[-1] = (ranges[-1][0], end)
        else:
            ranges.append((start, end))
    return tuple(Span(*trim(document, start, end)) for start, end in ranges)


def _itself(document: Document, source: Source) -> _Part | None:
    chunk = to_chunk(document, source.start, source.end, source.context)
    if chunk is None:
        return None
    block = block_at(document, source.text_start)
    is_whole = block is not None and block.kind in WHOLE
    return _Part(chunk.spans, chunk.text, chunk.context, is_whole)


# ---------------------------------------------------------------- groups


def _packed(ruler: Ruler, parts: Sequence[_Part]) -> list[list[_Part]]:
    """Neighbours together as long as their joined text fits."""
    groups: list[list[_Part]] = []
    text = ""
    for part in parts:
        joined = f"{text} {part.text}"
        apart = not groups or part.alone or groups[-1][-1].alone
        if apart or ruler.counter.count(joined) > ruler.limit:
            groups.append([part])
            text = part.text
        else:
            groups[-1].append(part)
            text = joined
    return groups


def _chunks(document: Document, groups: Iterable[Sequence[_Part]]) -> list[Chunk]:
    chunks = [
        Chunk(document.id, _union(group), " ".join(part.text for part in group), group[0].context) for group in groups
    ]
    return list(dict.fromkeys(chunks))


def _union(group: Sequence[_Part]) -> tuple[Span, ...]:
    spans: list[Span] = []
    for span in sorted(span for part in group for span in part.spans):
        if spans and span.start <= spans[-1].end:
            spans[-1] = Span(spans[-1].start, max(spans[-1].end, span.end))
        else:
            spans.append(span)
    return tuple(spans)
