"""Cuts chosen by a language model: a document in; chunks that begin where the model says so out.

What the model is asked and how its answers are read is left to ``windows``, what a unit is to ``units``. Where there is
no usable answer ``optimal`` cuts instead.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import ClassVar

from faircut.chunkers.asking import answers_of, language_model_for, tally_of
from faircut.chunkers.boundaries import blocks_first, line_starts, paragraph_starts, sentence_starts
from faircut.chunkers.contract import Models
from faircut.chunkers.optimal import Optimal
from faircut.chunkers.packing import Piece, Ruler, check_document, check_size, split_levels, to_chunks
from faircut.chunkers.sections import blocks_of
from faircut.chunkers.units import Unit, document_units
from faircut.chunkers.windows import PROMPT, Window, again, excerpt, request_for, starts_in, windows_of
from faircut.errors import SpecError
from faircut.llm.contract import LanguageModel
from faircut.records import Chunk, Document
from faircut.specs import Size, spec_text

__all__ = ["Llm"]

_MEAN = 0.3  # of the ceiling: what ``optimal`` aims at where it stands in


@dataclass(frozen=True)
class Llm:
    """Cuts where a language model says that a new passage begins: `llm(max=512t, window=120, words=8)`.

    The model sees ``window`` numbered sentences at a time and answers with the numbers at which passages begin, never
    with text, so it cannot change or lose any. Neighbouring windows share ``shared`` of them. Of a long sentence it
    sees the first and the last words, ``words`` in all (none: all of them): that is what makes it cheap. Headings,
    tables and code blocks are one line each. An answer with numbers that do not ascend or do not exist is asked for
    once more; then ``optimal`` cuts that window. A passage above ``max`` is cut by the rules of ``recursive``, a longer
    table between rows with its header repeated.

    Raises:
        SpecError: a size or number below 1, or ``shared`` not below half of the window.
    """

    name: ClassVar[str] = "llm"
    cuts_at_sentences: ClassVar[bool] = True
    needs_language_model: ClassVar[bool] = True
    fingerprint: ClassVar[str] = PROMPT

    max: Size = Size(512, "t")
    window: int = 120
    shared: int = 8
    words: int | None = 8

    def __post_init__(self) -> None:
        check_size(self.name, "max", self.max)
        for field, value, least in (("window", self.window, 2), ("shared", self.shared, 0), ("words", self.words, 3)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
                raise SpecError(f"{self.name}: {field} must be a whole number of at least {least}, found {value}.")
        if 2 * self.shared >= self.window:
            raise SpecError(f"{self.name}: shared must be below half of window, found {self.shared} and {self.window}.")

    __str__ = spec_text

    def chunk(self, document: Document, models: Models) -> list[Chunk]:
        """The chunks of the document; see ``Chunker``.

        Raises:
            LlmError: there is no language model, or it cannot be asked any more.
        """
        check_document(document)
        model = language_model_for(self, models)
        ruler = Ruler.of(document, self.max, models)
        units = document_units(ruler, blocks_of(document))
        if not units:
            return []
        windows = windows_of(len(units), self.window, self.shared)
        answered = self._asked(ruler, units, windows, model)
        tally = tally_of(models)
        tally.asked += len(windows)
        tally.fallbacks += sum(found is None for found in answered)
        spare = self._by_rule(document, models, units) if None in answered else []
        starts = {0}
        for window, found in zip(windows, answered, strict=True):
            starts.update(at for at in (spare if found is None else found) if window.begin <= at < window.end)
        return to_chunks(document, _pieces(ruler, units, starts))

    def _asked(
        self, ruler: Ruler, units: Sequence[Unit], windows: Sequence[Window], model: LanguageModel
    ) -> list[list[int] | None]:
        """For each window the numbers of the units that begin a passage, None without a usable answer."""
        lines = [excerpt(ruler.text[unit.start : unit.end], self.words) for unit in units]
        requests = [request_for(lines[window.first : window.last]) for window in windows]
        answers = answers_of(model, requests)
        found = [starts_in(answer, w.last - w.first) for answer, w in zip(answers, windows, strict=True)]
        # JSON of another form was asked for twice already, by the client.
        wrong = [at for at, (_, problem) in enumerate(found) if problem and (answers[at].ok or answers[at].truncated)]
        if wrong:
            second = answers_of(model, [again(requests[at], answers[at], found[at][1]) for at in wrong])
            for at, answer in zip(wrong, second, strict=True):
                found[at] = starts_in(answer, windows[at].last - windows[at].first)
        return [
            None if problem else [window.first + start for start in starts]
            for window, (starts, problem) in zip(windows, found, strict=True)
        ]

    def _by_rule(self, document: Document, models: Models, units: Sequence[Unit]) -> list[int]:
        """The numbers of the units at which ``optimal`` begins a chunk."""
        mean = Size(max(1, int(_MEAN * self.max.amount)), self.max.unit)
        firsts = [unit.start for unit in units]
        chunks = Optimal(mean=mean, max=self.max).chunk(document, models)
        return [bisect_right(firsts, chunk.spans[0].start) - 1 for chunk in chunks]


def _pieces(ruler: Ruler, units: Sequence[Unit], starts: set[int]) -> Iterator[Piece]:
    """The passages that begin at these units; one that is too long in pieces, a part of a cut table by itself."""
    alone = {at + side for at, unit in enumerate(units) if unit.context for side in (0, 1)}
    levels = (
        blocks_first(ruler.document, partial(paragraph_starts, ruler.text)),
        partial(line_starts, ruler.text),
        partial(sentence_starts, ruler.document),
    )
    for first, last in pairwise(sorted({0, len(units)} | starts | alone)):
        start, end = units[first].start, units[last - 1].end
        if units[first].context:
            yield Piece(start, end, units[first].context)
        else:
            yield from split_levels(ruler, start, end, levels)
